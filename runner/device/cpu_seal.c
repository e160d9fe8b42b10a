/* cpu_seal.c -- memory that is only to be read for a while: a write to it is noted, and goes on. */
#include "device/device_parts.h"

#include <signal.h>
#include <sys/mman.h>

#define MOST_SEALED 64

static struct {
    char *data;
    size_t bytes;
} sealed[MOST_SEALED];
static volatile sig_atomic_t n_sealed, written;
static struct sigaction before;

/* Another fault than a write to what is sealed takes its usual way when the instruction is tried again; what was sent
 * is sent once more. */
static void note(int signal, siginfo_t *info, void *context)
{
    (void)context;
    for (int i = 0; i < n_sealed; i++) {
        const char *at = info->si_addr;
        if (at < sealed[i].data || at >= sealed[i].data + sealed[i].bytes)
            continue;
        written = 1;
        if (mprotect(sealed[i].data, sealed[i].bytes, PROT_READ | PROT_WRITE) == 0)
            return;
    }
    (void)sigaction(signal, &before, NULL);
    if (info->si_code <= 0)
        (void)raise(signal);
}

int kg_cpu_seal(void *data, size_t bytes, kg_error *ret_error)
{
    struct sigaction action = { .sa_sigaction = note, .sa_flags = SA_SIGINFO | SA_NODEFER };
    if (n_sealed == MOST_SEALED)
        return kg_fail(ret_error, KG_EINVAL, "more than %d buffers to be read alone", MOST_SEALED);
    if (n_sealed == 0) {
        written = 0;
        (void)sigaction(SIGSEGV, &action, &before);
    }
    sealed[n_sealed].data = data;
    sealed[n_sealed].bytes = kg_cpu_whole_pages(bytes);
    n_sealed++;
    if (mprotect(data, kg_cpu_whole_pages(bytes), PROT_READ) != 0)
        return kg_fail(ret_error, KG_EIO, "cannot protect a buffer of %zu bytes", bytes);
    return KG_OK;
}

bool kg_cpu_unseal(void)
{
    const bool any = n_sealed > 0;
    for (int i = 0; i < n_sealed; i++)
        (void)mprotect(sealed[i].data, sealed[i].bytes, PROT_READ | PROT_WRITE);
    n_sealed = 0;
    if (any)
        (void)sigaction(SIGSEGV, &before, NULL);
    return any && written;
}
