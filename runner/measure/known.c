/* known.c -- answers that are known, and outputs that must stay as they are. */
#include "measure/known.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "measure/inputs.h"

/* ---- answers ---- */

/* What single precision may err of a value, where there is no error scale. */
static float allowance(const float *scale, int64_t i, float answer)
{
    return scale ? scale[i] : 1e-5f * fmaxf(fabsf(answer), 1e-30f);
}

static int check_answers(const kg_tensor *answers, const float *expected, const float *scale, kg_error *ret_error)
{
    const float *answer = answers->data;
    for (int64_t i = 0; i < kg_tensor_count(answers); i++)
        if (!isnan(answer[i]) && !(fabsf(expected[i] - answer[i]) <= allowance(scale, i, answer[i])))
            return kg_fail(ret_error, KG_EINVAL,
                           "the reference is wrong, or the regime: %s[%lld] must be %.9g, the reference has %.9g",
                           answers->name, (long long)i, (double)answer[i], (double)expected[i]);
    return KG_OK;
}

static int check_output(const struct kg_fixture *fixture, int output, const kg_tensor *answers, kg_error *ret_error)
{
    const size_t count = (size_t)kg_tensor_count(answers);
    const bool scaled = fixture->scale.count != 0;
    float *expected = malloc(2 * count * sizeof *expected);
    if (!expected)
        return kg_fail(ret_error, KG_ENOMEM, "no host memory for tensor %s", answers->name);
    int status = kg_tensor_read(fixture->context, &fixture->expected.tensors[output], expected, ret_error);
    if (!status && scaled)
        status = kg_tensor_read(fixture->context, &fixture->scale.tensors[output], expected + count, ret_error);
    if (!status)
        status = check_answers(answers, expected, scaled ? expected + count : NULL, ret_error);
    free(expected);
    return status;
}

int kg_known_check_reference(const struct kg_fixture *fixture, kg_error *ret_error)
{
    const kg_regime *regime = fixture->of.regime;
    struct kg_host_tensors host;
    if (!regime || !regime->answer)
        return KG_OK;
    int status = kg_host_tensors_new(&fixture->buffers, NAN, &host, ret_error);
    if (status)
        return status;
    status = regime->answer(regime->data, fixture->of.problem, fixture->of.seed, host.items, ret_error);
    for (int i = 0, o = 0; i < host.count && !status; i++)
        if (host.items[i].role == KG_OUTPUT)
            status = check_output(fixture, o++, &host.items[i], ret_error);
    kg_host_tensors_done(&host);
    return status;
}

/* ---- outputs that must stay ---- */

static int launch(struct kg_prepared *prepared, const struct kg_fixture *inputs, const struct kg_buffers *set,
                  struct kg_host_tensors *ret_outputs, kg_error *ret_error)
{
    kg_context *context = set->context;
    int status = kg_prepared_exchange_inputs(prepared, 0, 1, inputs, ret_error);
    if (!status)
        status = kg_buffers_poison(set, ret_error);
    if (!status)
        status = kg_prepared_launch(prepared, 0, context->ops->stream(context), ret_error);
    if (!status)
        status = context->ops->synchronize(context, ret_error);
    for (int i = 0; i < set->count && !status; i++)
        if (set->tensors[i].role == KG_OUTPUT)
            status = kg_tensor_read(context, &set->tensors[i], ret_outputs->items[i].data, ret_error);
    return status;
}

static int compare(const kg_tensor *flags, const kg_tensor *was, const kg_tensor *is, kg_error *ret_error)
{
    const float *flag = flags->data, *before = was->data, *after = is->data;
    for (int64_t i = 0; i < kg_tensor_count(flags); i++)
        if (flag[i] != 0 && memcmp(&before[i], &after[i], sizeof *before) != 0)
            return kg_fail(ret_error, KG_EDEVICE,
                           "%s[%lld] is %.9g, and %.9g where only inputs were changed that do not count for it",
                           flags->name, (long long)i, (double)before[i], (double)after[i]);
    return KG_OK;
}

/* Flags, outputs on normal inputs, outputs on the regime's. */
static int check_same(struct kg_prepared *prepared, const struct kg_fixture *normal, const struct kg_fixture *changed,
                      const struct kg_buffers *set, struct kg_host_tensors host[3], kg_error *ret_error)
{
    const kg_regime *regime = changed->of.regime;
    int status = KG_OK;
    for (int i = 0; i < 3 && !status; i++)
        status = kg_host_tensors_new(set, 0, &host[i], ret_error);
    if (!status)
        status = regime->same(regime->data, changed->of.problem, changed->of.seed, host[0].items, ret_error);
    if (!status)
        status = launch(prepared, normal, set, &host[1], ret_error);
    if (!status)
        status = launch(prepared, changed, set, &host[2], ret_error);
    for (int i = 0; i < set->count && !status; i++)
        if (set->tensors[i].role == KG_OUTPUT)
            status = compare(&host[0].items[i], &host[1].items[i], &host[2].items[i], ret_error);
    return status;
}

/* Equal bits are of outputs that were written: what a later call leaves is equal too. */
static int check_written(struct kg_fixture *fixture, kg_error *ret_error)
{
    struct kg_comparison comparison;
    int status = kg_fixture_compare(fixture, &fixture->buffers, &comparison, ret_error);
    if (!status && !kg_fixture_accepts(fixture, &comparison))
        status = kg_fail(ret_error, KG_EDEVICE, "called once more, on the same inputs, it gave a wrong output");
    return status;
}

int kg_known_check_same(struct kg_prepared *prepared, struct kg_fixture *fixture, kg_error *ret_error)
{
    struct kg_host_tensors host[3] = { 0 };
    struct kg_fixture normal = { 0 }, changed = { 0 };
    struct kg_case of_normal = fixture->of;
    if (!fixture->of.regime || !fixture->of.regime->same)
        return KG_OK;
    of_normal.regime = NULL;
    int status = kg_fixture_new(fixture->context, &of_normal, &normal, ret_error);
    if (!status)
        status = kg_fixture_new(fixture->context, &fixture->of, &changed, ret_error);
    if (!status)
        status = check_same(prepared, &normal, &changed, &fixture->buffers, host, ret_error);
    if (!status)
        status = check_written(fixture, ret_error);
    for (int i = 0; i < 3; i++)
        kg_host_tensors_done(&host[i]);
    kg_fixture_done(&normal);
    kg_fixture_done(&changed);
    return status;
}
