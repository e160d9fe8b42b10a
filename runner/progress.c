/* progress.c -- one line, rewritten in place. */
#include "progress.h"

#include <string.h>
#include <unistd.h>

#define BAR 24

void kg_progress_step(void *argument, size_t index, enum kg_phase phase)
{
    struct kg_progress *p = argument;
    char bar[BAR + 1];
    p->done += phase == KG_DONE;
    if (!isatty(STDERR_FILENO))
        return;
    size_t filled = p->total ? BAR * p->done / p->total : 0;
    memset(bar, ' ', BAR);
    memset(bar, '#', filled < BAR ? filled : BAR);
    bar[BAR] = '\0';
    fprintf(stderr, "\r\033[K[%s] %zu/%zu %s  %.60s", bar, p->done, p->total, p->stage, p->results[index].id);
    p->shown = true;
}

void kg_progress_clear(struct kg_progress *p)
{
    if (p->shown)
        fputs("\r\033[K", stderr);
    p->shown = false;
    p->done = 0;
}
