/* test_fp8_codec.c -- the 8-bit codes: what each stands for, that encoders and decoders match, and where they end.
 * A code that a kernel once got wrong becomes a line here. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>

#include "fp8/fp8_codec.h"
#include "fp8/fp8_layout.h"
#include "op/half.h"

static uint8_t nearest(float (*value)(uint8_t), float step, int n, float scaled)
{
    int best = 0;
    for (int code = 1; code < n; code++)
        if (fabsf(value((uint8_t)code) * step - scaled) < fabsf(value((uint8_t)best) * step - scaled))
            best = code;
    return (uint8_t)best;
}

static void linear_codes_and_values_are_inverse(void **state)
{
    (void)state;
    for (int code = 0; code < 256; code++)
        assert_int_equal(fp8_linear_code(fp8_linear_value((uint8_t)code) * FP8_LINEAR_STEP), code);
    assert_int_equal(fp8_linear_code(0), 128);
    assert_true(fp8_linear_value(128) == 0);
    assert_true(fp8_linear_value(255) * FP8_LINEAR_STEP == 448);
    assert_true(fp8_linear_value(1) * FP8_LINEAR_STEP == -448);
}

static void linear_codes_are_the_nearest(void **state)
{
    (void)state;
    for (int i = -4480; i <= 4480; i++) {
        float scaled = (float)i / 10 + 0.01f, step = FP8_LINEAR_STEP;
        uint8_t code = fp8_linear_code(scaled);
        assert_int_equal(code, nearest(fp8_linear_value, step, 256, scaled));
        assert_true(fabsf(fp8_linear_value(code) * step - scaled) <= step * 0.5001f);
    }
}

/* A constant bias was what the stage-C task's codecs had. */
static void neither_code_has_a_bias(void **state)
{
    (void)state;
    double linear = 0, e4m3 = 0;
    for (int i = -44800; i <= 44800; i++) {
        float scaled = (float)i / 100;
        linear += (double)(fp8_linear_value(fp8_linear_code(scaled)) * FP8_LINEAR_STEP - scaled);
        e4m3 += (double)(fp8_e4m3_value(fp8_e4m3_code(scaled)) - scaled);
    }
    assert_true(fabs(linear / 89601) < 1e-3 && fabs(e4m3 / 89601) < 1e-3);
}

static void e4m3_values_are_those_of_the_format(void **state)
{
    (void)state;
    for (int code = 0; code < 0x7f; code++) {
        int exponent = code >> 3, mantissa = code & 7;
        double value = exponent ? ldexp(1 + mantissa / 8.0, exponent - 7) : ldexp(mantissa, -9);
        assert_true((double)fp8_e4m3_value((uint8_t)code) == value);
        assert_true((double)fp8_e4m3_value((uint8_t)(code | 0x80)) == -value);
    }
    assert_true(fp8_e4m3_value(0x7e) == 448 && fp8_e4m3_value(0x01) == 0x1p-9f && fp8_e4m3_value(0x38) == 1);
}

static void e4m3_codes_and_values_are_inverse(void **state)
{
    (void)state;
    for (int code = 0; code < 256; code++)
        if ((code & 0x7f) != 0x7f && code != 0x80) /* NaN is never made, nor is a negative zero */
            assert_int_equal(fp8_e4m3_code(fp8_e4m3_value((uint8_t)code)), code);
    assert_int_equal(fp8_e4m3_code(-0.0f), 0);
}

static void e4m3_codes_are_the_nearest(void **state)
{
    (void)state;
    for (int i = 0; i < 20000; i++) {
        float scaled = 448 * expf(-(float)i / 1300); /* down to a tenth of the smallest */
        assert_int_equal(fp8_e4m3_code(scaled), nearest(fp8_e4m3_value, 1, 0x7f, scaled));
    }
    for (int code = 0; code < 0x7e; code++) { /* halfway: the even one */
        float halfway = (fp8_e4m3_value((uint8_t)code) + fp8_e4m3_value((uint8_t)(code + 1))) / 2;
        assert_int_equal(fp8_e4m3_code(halfway), code + (code & 1));
    }
}

static void codes_end_where_the_largest_is(void **state)
{
    (void)state;
    const float beyond = nextafterf(448, INFINITY);
    assert_int_equal(fp8_linear_code(beyond), 255);
    assert_int_equal(fp8_linear_code(1e30f), 255);
    assert_int_equal(fp8_linear_code(-beyond), 1);
    assert_int_equal(fp8_linear_code(-1e30f), 0);
    assert_int_equal(fp8_e4m3_code(beyond), 0x7e);
    assert_int_equal(fp8_e4m3_code(1e30f), 0x7e);
    assert_int_equal(fp8_e4m3_code(-INFINITY), 0xfe);
}

static void scales(void **state)
{
    (void)state;
    assert_true(fp8_scale(448) == 1 && fp8_scale(4.48f) == 4.48f / 448);
    assert_true(fp8_scale(0) == 1 && fp8_scale(1e-6f) == 1 && fp8_scale(1.1e-6f) < 1e-8f);
}

/* So that tensor cores multiply what was coded. */
static void values_are_exact_in_fp16(void **state)
{
    (void)state;
    for (int code = 0; code < 256; code++) {
        float linear = fp8_linear_value((uint8_t)code), e4m3 = fp8_e4m3_value((uint8_t)code);
        assert_true(float_from_f16(f16_from_float(linear)) == linear);
        assert_true(float_from_f16(f16_from_float(e4m3)) == e4m3);
    }
}

static void pieces_of_the_workspace_do_not_overlap(void **state)
{
    (void)state;
    const struct sdpa p = { .B = 2, .H = 3, .S = 5, .Skv = 7, .D = 64, .dtype = KG_E4M3 };
    const struct fp8_layout l = fp8_layout_of(&p);
    assert_true(l.heads == 6 && l.lengths[SDPA_Q] == 5 * 64 && l.lengths[SDPA_K] == 7 * 64 &&
                l.lengths[SDPA_V] == 7 * 64);
    assert_true(l.codes[SDPA_Q] == 0 && l.codes[SDPA_K] == 2048 && l.codes[SDPA_V] == 2048 + 2816);
    assert_true(l.scales[SDPA_Q] == 2048 + 2 * 2816 && l.scales[SDPA_K] == l.scales[SDPA_Q] + 256);
    assert_true(l.bytes == l.scales[SDPA_V] + 256);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(linear_codes_and_values_are_inverse),
        cmocka_unit_test(linear_codes_are_the_nearest),
        cmocka_unit_test(neither_code_has_a_bias),
        cmocka_unit_test(e4m3_values_are_those_of_the_format),
        cmocka_unit_test(e4m3_codes_and_values_are_inverse),
        cmocka_unit_test(e4m3_codes_are_the_nearest),
        cmocka_unit_test(codes_end_where_the_largest_is),
        cmocka_unit_test(scales),
        cmocka_unit_test(values_are_exact_in_fp16),
        cmocka_unit_test(pieces_of_the_workspace_do_not_overlap),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
