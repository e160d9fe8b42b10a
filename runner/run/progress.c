/* progress.c -- the estimate is pure; what shows it looks at the clock and at where stderr goes. */
#include "run/progress.h"

#include <math.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"

#define BAR 24
#define LINE_EVERY_S 30.0
#define ENOUGH_CASES 3      /* the first ones load libraries and make fixtures */
#define NOMINAL_BLOCK_S 0.5 /* until one was timed */

/* ---- the estimate ---- */

double kg_outlook_left_s(const struct kg_outlook *o)
{
    double case_s = o->timing ? o->block_s : 0;
    if (o->done >= ENOUGH_CASES)
        case_s = o->round_s / (double)o->done;
    if (!(case_s > 0))
        return NAN;
    double block_s = o->timing ? case_s : NOMINAL_BLOCK_S;
    size_t rest = o->total > o->done ? o->total - o->done : 0;
    return (double)rest * case_s + (double)o->later * block_s;
}

/* To 5 s below a minute, to 10 s below an hour, to a minute above. */
void kg_outlook_say(double left_s, char *ret_text, size_t size)
{
    *ret_text = '\0';
    if (isnan(left_s))
        return;
    long fives = lround(fmin(left_s, 1e8) / 5), tens = lround(fmin(left_s, 1e8) / 10);
    long minutes = lround(fmin(left_s, 1e8) / 60);
    if (fives < 12)
        snprintf(ret_text, size, "about %ld s left", fives > 0 ? 5 * fives : 5);
    else if (tens < 360 && tens % 6)
        snprintf(ret_text, size, "about %ld min %ld s left", tens / 6, tens % 6 * 10);
    else if (tens < 360)
        snprintf(ret_text, size, "about %ld min left", tens / 6);
    else
        snprintf(ret_text, size, "about %ld h %ld min left", minutes / 60, minutes % 60);
}

/* ---- showing it ---- */

void kg_progress_begin(struct kg_progress *p, const char *stage, bool timing, size_t total, size_t later)
{
    p->stage = stage;
    p->outlook = (struct kg_outlook){ .total = total, .timing = timing, .later = later };
    p->outlook.block_s = p->n_blocks ? p->timed_s / (double)p->n_blocks : 0;
    p->began_s = kg_now_s();
    if (!(p->said_s > 0))
        p->said_s = p->began_s;
}

static void show_bar(struct kg_progress *p, const char *left, const char *id)
{
    const struct kg_outlook *o = &p->outlook;
    char bar[BAR + 1];
    size_t filled = o->total ? BAR * o->done / o->total : 0;
    memset(bar, ' ', BAR);
    memset(bar, '#', filled < BAR ? filled : BAR);
    bar[BAR] = '\0';
    fprintf(stderr, "\r\033[K[%s] %zu/%zu %s%s%s  %.60s", bar, o->done, o->total, p->stage, *left ? ", " : "", left,
            id);
    p->shown = true;
}

static void say_line(struct kg_progress *p, const char *left, double now_s)
{
    if (now_s - p->said_s < LINE_EVERY_S)
        return;
    fprintf(stderr, "kgate: %s, %zu of %zu cases%s%s\n", p->stage, p->outlook.done, p->outlook.total, *left ? ", " : "",
            left);
    p->said_s = now_s;
}

void kg_progress_step(void *argument, size_t index, enum kg_phase phase)
{
    struct kg_progress *p = argument;
    char left[64];
    double now_s = kg_now_s();
    p->outlook.done += phase == KG_DONE;
    p->outlook.round_s = now_s - p->began_s;
    kg_outlook_say(kg_outlook_left_s(&p->outlook), left, sizeof left);
    if (isatty(STDERR_FILENO))
        show_bar(p, left, p->results[index].id);
    else
        say_line(p, left, now_s);
}

void kg_progress_end(struct kg_progress *p)
{
    if (p->shown)
        fputs("\r\033[K", stderr);
    p->shown = false;
    if (p->outlook.timing) {
        p->timed_s += kg_now_s() - p->began_s;
        p->n_blocks += p->outlook.done;
    }
}
