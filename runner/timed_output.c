/* timed_output.c -- compares by digest first: the reference is asked only for an output that is new. */
#include "timed_output.h"

/* `digest`: of an output that is known to be right; 0: none is. */
static int check(struct kg_fixture *fixture, const struct kg_subject *subject, uint64_t digest, const char *wrong,
                 kg_error *ret_error)
{
    for (int i = 0; i < subject->n_used; i++) { /* few calls may not go all the way round */
        struct kg_figures figures;
        uint64_t timed = 0;
        int status = kg_buffers_check_guards(&subject->ring[i], ret_error);
        if (!status)
            status = kg_subject_check_workspace(subject, i, ret_error);
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
    int status =
        check(t->fixture, t->subject, t->digest, "the timed calls gave another output than the checked one", ret_error);
    if (!status && t->baseline) {
        status = check(t->fixture, t->baseline, t->digest, "its output is wrong by its own gates", ret_error);
        t->baseline_wrong = status != KG_OK;
    }
    return status || !t->other ? status : kg_subject_exchange_inputs(t->subject, t->other, ret_error);
}

int kg_timed_output_check_other(const struct kg_timed_output *t, kg_error *ret_error)
{
    return t->other ? check(t->other, t->subject, 0, "on other inputs the timed calls gave a wrong output", ret_error)
                    : KG_OK;
}
