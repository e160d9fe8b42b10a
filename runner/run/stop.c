/* stop.c -- the handler notes the first signal and takes itself away. Nobody else sets handlers. */
#include "run/stop.h"

#include "base/clock.h"

static const int signals[] = { SIGINT, SIGTERM, SIGHUP };
#define N_SIGNALS (sizeof signals / sizeof *signals)

static volatile sig_atomic_t signalled;

static void note(int number)
{
    (void)number;
    for (size_t i = 0; i < N_SIGNALS; i++)
        signal(signals[i], SIG_DFL);
    signalled = 1;
}

struct kg_stop kg_stop_arm(double timeout_s)
{
    for (size_t i = 0; i < N_SIGNALS; i++) {
        struct sigaction now, wanted = { .sa_handler = note, .sa_flags = SA_RESTART };
        sigemptyset(&wanted.sa_mask);
        if (!sigaction(signals[i], NULL, &now) && now.sa_handler == SIG_DFL)
            sigaction(signals[i], &wanted, NULL);
    }
    return (struct kg_stop){ .signalled = &signalled,
                             .timeout_s = timeout_s,
                             .deadline_s = timeout_s > 0 ? kg_now_s() + timeout_s : 0 };
}

void kg_stop_at_failure(struct kg_stop *stop)
{
    stop->failed = stop->fail_fast;
}

void kg_stop_why(const struct kg_stop *stop, char *ret_text, size_t size)
{
    if (stop->failed)
        snprintf(ret_text, size, "--fail-fast");
    else if (*stop->signalled)
        snprintf(ret_text, size, "interrupted");
    else
        snprintf(ret_text, size, "timeout of %g s", stop->timeout_s);
}
