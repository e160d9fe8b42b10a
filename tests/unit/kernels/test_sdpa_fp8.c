/* test_sdpa_fp8.c -- the op in 8 bits with a scale a tensor: what its tensors are, what it costs, how a workspace lies,
 * and cpu_fp8 on numbers worked out by hand. How much codes err is for tests/cli/fp8_cudnn.sh. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <string.h>

#include "backends.h"
#include "fp8/cpu_fp8.h"
#include "plan/field.h"
#include "fp8/fp8_codec.h"
#include "op/half.h"

static const struct sdpa_fp8 shape = { .attention = { "p", .B = 2, .H = 6, .Hkv = 3, .S = 7, .Skv = 5, .D = 16 },
                                       .o_scale = 64 };

static void tensors_are_half_in_and_e4m3_out(void **state)
{
    (void)state;
    kg_tensor t[KG_MAX_TENSORS] = { 0 };
    int count = 0;
    assert_int_equal(sdpa_fp8_forward.tensors(&shape, t, &count), KG_OK);
    assert_int_equal(count, SDPA_TENSORS);
    for (int i = SDPA_Q; i < SDPA_O; i++)
        assert_true(t[i].dtype == KG_F16 && t[i].role == KG_INPUT && t[i].unit == 0);
    assert_true(t[SDPA_Q].std == 1 && t[SDPA_K].std == 1 && t[SDPA_V].std == 0.5);
    assert_true(t[SDPA_O].dtype == KG_E4M3 && t[SDPA_O].role == KG_OUTPUT && t[SDPA_O].unit == 1.0 / 64);
    const int64_t q[] = { 2, 6, 7, 16 }, k[] = { 2, 3, 5, 16 };
    for (int i = SDPA_Q; i < SDPA_TENSORS; i++)
        assert_memory_equal(t[i].dims, i == SDPA_K || i == SDPA_V ? k : q, sizeof q);
}

/* Inputs reach 4.9 standard deviations, and an output is at most the largest of V. */
static void no_output_is_beyond_the_largest_code(void **state)
{
    (void)state;
    struct sdpa_fp8 p = shape;
    p.o_scale = 0;
    kg_fields_fall_back(sdpa_fp8_forward.fields, &p);
    assert_true(p.o_scale * 4.9 * 0.5 <= (double)FP8_LARGEST);
    assert_true(p.o_scale * 4.9 * 0.5 > (double)FP8_LARGEST / 2);
}

static void costs_are_of_bytes(void **state)
{
    (void)state;
    assert_true(sdpa_fp8_forward.bytes(&shape) == 2.0 * (2 * 6 * 7 + 2 * 3 * 5) * 16);
    assert_true(sdpa_fp8_forward.flops(&shape) == 4.0 * 2 * 6 * 7 * 5 * 16);
    assert_true(sdpa_fp8_forward.queries(&shape) == 2 * 6 * 7);
    assert_true(sdpa_fp8_forward.peak_ratio(&shape) == 2);
}

static void what_cannot_be_is_refused(void **state)
{
    (void)state;
    struct sdpa_fp8 p = shape;
    kg_error error = { 0 };
    assert_int_equal(sdpa_fp8_forward.check(&p, &error), KG_OK);
    p.attention.H = 5;
    assert_int_equal(sdpa_fp8_forward.check(&p, &error), KG_EINVAL);
    assert_string_equal(error.text, "H is 5, not divisible by Hkv = 3");
}

static void pieces_of_a_workspace_do_not_touch(void **state)
{
    (void)state;
    const struct sdpa_fp8_layout layout = sdpa_fp8_layout_of(&shape);
    size_t end = 0;
    for (int t = SDPA_Q; t < SDPA_O; t++) {
        assert_true(layout.codes[t] >= end && layout.codes[t] % 256 == 0);
        end = layout.codes[t] + (size_t)layout.counts[t];
    }
    for (int t = SDPA_Q; t < SDPA_O; t++) {
        assert_true(layout.descales[t] >= end && layout.descales[t] % 256 == 0);
        end = layout.descales[t] + sizeof(float);
    }
    assert_true(layout.bytes >= end);
}

/* ---- cpu_fp8 ----------------------------------------------------------------------------------------------- */

/* Two queries, two keys, D = 2, one head; returns the values of the outputs. The largest magnitudes are 1.75, so that
 * scales are 2^-8. */
static void attend(const float q[4], const float k[4], const float v[4], double scale, bool causal, float ret_o[4])
{
    const struct sdpa_fp8 p = { .attention = { "p", .B = 1, .H = 1, .S = 2, .D = 2, .causal = causal, .scale = scale },
                                .o_scale = 128 };
    const float *inputs[] = { q, k, v };
    uint16_t halves[SDPA_O][4];
    uint8_t o[4] = { 0xff, 0xff, 0xff, 0xff }, workspace[6 * 256];
    kg_tensor tensors[KG_MAX_TENSORS] = { 0 };
    int count = 0;
    assert_int_equal(sdpa_fp8_forward.tensors(&p, tensors, &count), KG_OK);
    for (int t = SDPA_Q; t < SDPA_O; t++) {
        for (int i = 0; i < 4; i++)
            halves[t][i] = f16_from_float(inputs[t][i]);
        tensors[t].data = halves[t];
    }
    tensors[SDPA_O].data = o;
    tensors[SDPA_WORKSPACE] = (kg_tensor){ .role = KG_WORKSPACE, .data = workspace };

    const kg_device device = { .kind = KG_CPU, .units = 1 };
    const kg_call call = { .device = &device, .problem = &p, .tensors = tensors, .n_tensors = count };
    void *opaque = NULL;
    kg_identity identity = { 0 };
    kg_error error = { 0 };
    assert_int_equal(cpu_fp8.prepare(&cpu_fp8, &call, &opaque, &identity, &error), KG_OK);
    assert_true(cpu_fp8.workspace(&cpu_fp8, opaque) <= sizeof workspace);
    assert_int_equal(cpu_fp8.stage(&cpu_fp8, opaque, tensors, NULL, &error), KG_OK);
    memset(halves, 0xff, sizeof halves); /* a launch reads what was staged */
    assert_int_equal(cpu_fp8.launch(&cpu_fp8, opaque, tensors, NULL, &error), KG_OK);
    cpu_fp8.release(&cpu_fp8, opaque);
    for (int i = 0; i < 4; i++)
        ret_o[i] = fp8_e4m3_value(o[i]) / 128;
}

static const float v[] = { 1.75f, -0.5f, 0.25f, 0.5f };

static void equal_scores_give_the_mean(void **state)
{
    (void)state;
    const float q[] = { 0, 0, 0, 0 }, k[] = { 1.75f, 0, 0, 1.75f };
    const float full[] = { 1, 0, 1, 0 }, causal[] = { 1.75f, -0.5f, 1, 0 };
    float o[4];
    attend(q, k, v, 1, false, o);
    assert_memory_equal(o, full, sizeof o);
    attend(q, k, v, 1, true, o);
    assert_memory_equal(o, causal, sizeof o);
}

/* The second key weighs 0.32 of the first, 81.92 of 256, which is coded as 80: 1.75 * 80/256 / 1.32 * 128 is 53.03, and
 * the nearest code 52. A weight that is not coded gives 54.30 and 56. */
static void weights_are_coded(void **state)
{
    (void)state;
    const float q[] = { 1.75f, 0, 0, 0 }, k[] = { 1.75f, 0, 0, 1.75f }, apart[] = { 1.75f, 0, 0, 1.75f };
    float o[4];
    attend(q, k, apart, log(1 / 0.32) / (1.75 * 1.75), false, o);
    assert_true(o[0] == 176.0f / 128 && o[1] == 52.0f / 128);
    assert_true(o[2] == 0.875f && o[3] == 0.875f);
}

static void largest_code_is_the_end(void **state)
{
    (void)state;
    const float q[] = { 0, 0, 0, 0 }, k[] = { 1, 1, 1, 1 }, large[] = { 7, 7, -7, 7 };
    float o[4];
    attend(q, k, large, 1, true, o); /* 7 * 128 is 896 */
    assert_true(o[0] == 3.5f && o[1] == 3.5f && o[2] == 0 && o[3] == 3.5f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tensors_are_half_in_and_e4m3_out),
        cmocka_unit_test(no_output_is_beyond_the_largest_code),
        cmocka_unit_test(costs_are_of_bytes),
        cmocka_unit_test(what_cannot_be_is_refused),
        cmocka_unit_test(pieces_of_a_workspace_do_not_touch),
        cmocka_unit_test(equal_scores_give_the_mean),
        cmocka_unit_test(weights_are_coded),
        cmocka_unit_test(largest_code_is_the_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
