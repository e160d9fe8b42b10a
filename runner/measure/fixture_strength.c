/* fixture_strength.c -- wrong answers of each output of a fixture, as the gates would see them. */
#include "measure/fixture_strength.h"

#include "device/wrong_answers.h"

/* The outputs beside one that is wrong are right: as they would be compared. */
static int merge_others(struct kg_fixture *fixture, int wrong_output, const kg_gates *gates,
                        const struct kg_comparison answers[KG_WRONGS], struct kg_comparison ret_judged[KG_WRONGS],
                        kg_error *ret_error)
{
    const struct kg_buffers *expected = &fixture->expected;
    int status = KG_OK;
    for (int wrong = 0; wrong < KG_WRONGS; wrong++)
        ret_judged[wrong] = answers[wrong];
    for (int i = 0; i < expected->count && !status; i++) {
        struct kg_comparison right;
        const kg_tensor *scale = fixture->scale.count ? &fixture->scale.tensors[i] : NULL;
        if (i == wrong_output)
            continue;
        status = fixture->context->ops->compare(fixture->context, &expected->tensors[i], &expected->tensors[i], scale,
                                                gates, &right, ret_error);
        for (int wrong = 0; wrong < KG_WRONGS && !status; wrong++)
            kg_comparison_merge(&ret_judged[wrong], &right);
    }
    return status;
}

static int judge_output(struct kg_fixture *fixture, int index, const kg_tensor *output, const kg_gates *gates,
                        struct kg_strength *strength, kg_error *ret_error)
{
    const kg_tensor *scale = fixture->scale.count ? &fixture->scale.tensors[index] : NULL;
    const struct kg_wrong_terms terms =
        kg_wrong_terms_of(output, &fixture->expected.tensors[index], scale, gates, fixture->of.seed);
    struct kg_comparison answers[KG_WRONGS], seen[KG_WRONGS], judged[KG_WRONGS];
    int status = fixture->context->ops->strength(fixture->context, &terms, answers, ret_error);
    for (int wrong = 0; wrong < KG_WRONGS && !status; wrong++) {
        seen[wrong] = answers[wrong];
        if (!terms.scale) /* no gate goes by the rounding that stood in for it */
            seen[wrong].max_scaled = seen[wrong].scale_l2 = seen[wrong].slope_scale = 0;
    }
    if (!status)
        status = merge_others(fixture, index, gates, seen, judged, ret_error);
    if (!status)
        kg_strength_add(strength, answers, judged, gates);
    return status;
}

int kg_fixture_strength(struct kg_fixture *fixture, kg_error *ret_error)
{
    struct kg_strength strength = { .normal = !fixture->of.regime };
    if (fixture->strength.judged)
        return KG_OK;
    int status = kg_fixture_reference(fixture, ret_error);
    const kg_gates gates = kg_case_gates(&fixture->of, fixture->largest);
    for (int i = 0, o = 0; i < fixture->buffers.count && !status; i++)
        if (fixture->buffers.tensors[i].role == KG_OUTPUT)
            status = judge_output(fixture, o++, &fixture->buffers.tensors[i], &gates, &strength, ret_error);
    if (!status)
        fixture->strength = strength;
    return status;
}
