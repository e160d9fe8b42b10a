/* phase.c -- messages and ranges of a case's phases. Never called between the windows of a block: NVTX is inert without
 * a tool, but a tool takes time. */
#include "worker/phase.h"

#include "worker/wire.h"

#ifdef KG_WITH_NVTX
#include <nvtx3/nvToolsExt.h>

static nvtxDomainHandle_t domain; /* NULL where no tool is attached */

static void push_range(const struct kg_case *of, const char *what)
{
    char id[KG_ID_SIZE], text[KG_ID_SIZE + 40];
    if (!domain)
        domain = nvtxDomainCreateA("kgate");
    kg_case_id(of, id, sizeof id);
    snprintf(text, sizeof text, "%.38s %s", what, id);
    const nvtxEventAttributes_t range = { .version = NVTX_VERSION,
                                          .size = NVTX_EVENT_ATTRIB_STRUCT_SIZE,
                                          .messageType = NVTX_MESSAGE_TYPE_ASCII,
                                          .message.ascii = text };
    nvtxDomainRangePushEx(domain, &range);
}

static void pop_range(void)
{
    nvtxDomainRangePop(domain);
}
#else
static void push_range(const struct kg_case *of, const char *what)
{
    (void)of;
    (void)what;
}

static void pop_range(void)
{
}
#endif

static void change(enum kg_phase *open, enum kg_phase to, const struct kg_case *of)
{
    if (*open == to)
        return;
    if (*open != KG_NOT_RUN)
        pop_range();
    if (to != KG_NOT_RUN)
        push_range(of, kg_phase_name(to));
    *open = to;
}

static void end_told(struct kg_worker *w)
{
    if (w->told)
        pop_range();
    w->told = false;
}

void kg_phase_part(void *worker, const char *what)
{
    struct kg_worker *w = worker;
    end_told(w);
    if (!what || !w->running)
        return;
    push_range(&w->running->of, what);
    w->told = true;
}

void kg_phase_begin(struct kg_worker *w, const struct kg_job_case *one, enum kg_phase phase)
{
    const bool after = phase >= KG_BASELINE_RELEASE; /* which has no range */
    const bool whole = phase == KG_PREPARE || phase == KG_CORRECTNESS || phase == KG_TIMING || after;
    end_told(w);
    w->running = after ? NULL : one;
    w->said = phase;
    kg_wire_begin(w->out, one->index, phase);
    change(&w->part, whole ? KG_NOT_RUN : phase, &one->of);
    if (whole)
        change(&w->phase, after ? KG_NOT_RUN : phase, &one->of);
}

void kg_phase_end(struct kg_worker *w, const struct kg_job_case *one)
{
    end_told(w);
    change(&w->part, KG_NOT_RUN, &one->of);
    change(&w->phase, KG_NOT_RUN, &one->of);
    w->running = NULL;
    kg_wire_end(w->out, one->index);
}
