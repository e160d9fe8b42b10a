/* timed_output.c -- compares by digest first: the reference is asked only for an output that is new. */
#include "timed_output.h"

static int check_surroundings(const struct kg_fixture *fixture, const struct kg_subject *subject, int at,
                              kg_error *ret_error)
{
    uint64_t inputs = 0;
    int status = kg_buffers_check_guards(&subject->ring[at], ret_error);
    if (!status)
        status = kg_subject_check_workspace(subject, at, ret_error);
    if (!status)
        status = kg_buffers_digest(&subject->ring[at], KG_INPUT, &inputs, ret_error);
    if (!status && inputs != fixture->input_digest)
        status = kg_fail(ret_error, KG_EDEVICE, "the timed calls wrote into their inputs");
    return status;
}

/* The first `sets`. `digest`: of an output that is known to be right; 0: none is. */
static int check(struct kg_fixture *fixture, const struct kg_subject *subject, int sets, uint64_t digest,
                 const char *wrong, kg_error *ret_error)
{
    for (int i = 0; i < sets; i++) {
        struct kg_figures figures;
        uint64_t timed = 0;
        int status = check_surroundings(fixture, subject, i, ret_error);
        if (!status)
            status = kg_buffers_digest(&subject->ring[i], KG_OUTPUT, &timed, ret_error);
        if (!status && timed == digest)
            continue;
        if (!status)
            status = kg_fixture_compare(fixture, &subject->ring[i], &figures, ret_error);
        if (status)
            return status;
        if (!kg_gate_marks_all(kg_figures_mark(&figures, &fixture->of.suite->gates)))
            return kg_fail(ret_error, KG_EDEVICE, "%s: max |err| %.3g, %llu unwritten", wrong, figures.max_abs,
                           (unsigned long long)figures.unwritten);
        digest = timed; /* is right too */
    }
    return KG_OK;
}

int kg_timed_output_check(void *timed_output, kg_error *ret_error)
{
    struct kg_timed_output *t = timed_output;
    int status = check(t->fixture, t->subject, t->subject->n_used, t->digest,
                       "the timed calls gave another output than the checked one", ret_error);
    if (!status && t->baseline) {
        status = check(t->fixture, t->baseline, t->baseline->n_used, t->digest, "its output is wrong by its own gates",
                       ret_error);
        t->baseline_wrong = status != KG_OK;
    }
    return status || !t->other ? status : kg_subject_exchange_inputs(t->subject, t->other, ret_error);
}

int kg_timed_output_check_other(const struct kg_timed_output *t, kg_error *ret_error)
{
    const int sets = t->single ? 1 : t->subject->n_used; /* few calls may not go all the way round */
    return t->other
               ? check(t->other, t->subject, sets, 0, "on other inputs the timed calls gave a wrong output", ret_error)
               : KG_OK;
}
