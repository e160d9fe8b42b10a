/* test_sdpa_error.c -- the error scale of attention: that it follows the outputs, that honest arithmetic stays under
 * the suites' limit of it, and that what is wrong does not. Honest is a tensor core's arithmetic, written out below:
 * weights rounded to the dtype beside a running maximum that may lag, sums in FP32, the output rounded. A regime that
 * honest kernels once failed becomes a row of `shapes`, another mistake one of `mistakes`.
 *
 *     test_sdpa_error MODULE.so
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "fp8/fp8_codec.h"
#include "op/half.h"
#include "op/sdpa.h"
#include "op/sdpa_error.h"
#include "plan/module.h"

static double limit; /* of the module's suites */

/* ---- one call -------------------------------------------------------------------------------------------------- */

struct call {
    struct sdpa problem;
    kg_tensor tensors[KG_MAX_TENSORS]; /* the reference's, and the error scale */
    float *q, *k, *v;                  /* as they are rounded */
    int64_t rows, n_keys;              /* of all heads */
};

static float *values_of(const kg_tensor *tensor)
{
    float *values = malloc((size_t)kg_tensor_count(tensor) * sizeof *values);
    assert_non_null(values);
    half_load_row(tensor, 0, kg_tensor_count(tensor), 1, values);
    return values;
}

/* Normal inputs; V times `factor`, plus `mean`. All logits get `shift` more, which 16 elements of 8 carry. */
static void call_new(struct call *c, const struct sdpa *p, uint64_t seed, float factor, float mean, float shift)
{
    int count = 0;
    *c = (struct call){ .problem = *p,
                        .rows = p->B * p->H * p->S,
                        .n_keys = p->B * sdpa_kv_heads(p) * sdpa_kv_length(p) };
    assert_int_equal(sdpa_forward.tensors(p, c->tensors, &count), KG_OK);
    for (int t = SDPA_Q; t < SDPA_O; t++) {
        const int64_t n = kg_tensor_count(&c->tensors[t]);
        const uint64_t key = kg_random_key(seed, (uint32_t)t);
        c->tensors[t].data = malloc((size_t)n * sizeof(uint16_t));
        assert_non_null(c->tensors[t].data);
        for (int64_t i = 0; i < n; i++) {
            float x = kg_random_value(key, (uint64_t)i, kg_random_scale(1));
            if (t == SDPA_V)
                x = x * factor + mean;
            else if (shift != 0 && i % p->D < 16)
                x = t == SDPA_Q ? 8 : shift / (float)(16 * 8 * sdpa_scale(p));
            half_store_row(&c->tensors[t], i, 1, &x, 1);
        }
    }
    c->q = values_of(&c->tensors[SDPA_Q]);
    c->k = values_of(&c->tensors[SDPA_K]);
    c->v = values_of(&c->tensors[SDPA_V]);
    c->tensors[SDPA_ERROR] = c->tensors[SDPA_O];
    for (int t = SDPA_O; t <= SDPA_ERROR; t++) {
        c->tensors[t].dtype = KG_F32;
        c->tensors[t].data = malloc(kg_tensor_bytes(&c->tensors[t]));
        assert_non_null(c->tensors[t].data);
    }
    kg_error error;
    assert_int_equal(sdpa_reference_cpu(p, c->tensors, &error), KG_OK);
    assert_int_equal(sdpa_error_scale_cpu(p, NULL, c->tensors, &error), KG_OK);
}

static void call_done(struct call *c)
{
    for (int t = SDPA_Q; t <= SDPA_ERROR; t++)
        free(c->tensors[t].data);
    free(c->q);
    free(c->k);
    free(c->v);
}

static const float *expected_of(const struct call *c)
{
    return c->tensors[SDPA_O].data;
}

static const float *scale_of(const struct call *c)
{
    return c->tensors[SDPA_ERROR].data;
}

/* ---- honest arithmetic, and mistakes -------------------------------------------------------------------------- */

enum { TILE = 64 };

struct kernel {
    float slack;   /* how far the maximum may lag behind, in powers of two */
    float first;   /* what it is before the first key */
    int64_t lost;  /* a key that counts in no sum; -1: none */
    float largest; /* weight that the dtype holds */
};

static const struct kernel honest = { .slack = 8, .first = -INFINITY, .lost = -1, .largest = INFINITY };

static float rounded(const kg_tensor *like, float x)
{
    return like->dtype == KG_BF16 ? float_from_bf16(bf16_from_float(x)) : float_from_f16(f16_from_float(x));
}

static float score_of(const struct call *c, int64_t row, int64_t key)
{
    const int64_t D = c->problem.D;
    float dot = 0;
    for (int64_t d = 0; d < D; d++)
        dot += c->q[row * D + d] * c->k[key * D + d];
    return dot * sdpa_scale_log2(&c->problem);
}

/* Row `row` of [B * H * S]. */
static void attend_row(const struct call *c, const struct kernel *kernel, int64_t row, float *ret_o)
{
    const struct sdpa *p = &c->problem;
    const int64_t i = row % p->S, h = row / p->S % p->H, b = row / p->S / p->H, keys = sdpa_visible_keys(p, i);
    const int64_t first_key = (b * sdpa_kv_heads(p) + h / sdpa_group(p)) * sdpa_kv_length(p);
    float row_max = kernel->first, row_sum = 0, sums[256] = { 0 };
    for (int64_t first = 0; first < keys; first += TILE) {
        const int64_t end = first + TILE < keys ? first + TILE : keys;
        float tile_max = -INFINITY, scores[TILE];
        for (int64_t j = first; j < end; j++) {
            scores[j - first] = score_of(c, row, first_key + j);
            tile_max = fmaxf(tile_max, scores[j - first]);
        }
        if (tile_max > row_max + kernel->slack) {
            row_sum *= exp2f(row_max - tile_max);
            for (int64_t d = 0; d < p->D; d++)
                sums[d] *= exp2f(row_max - tile_max);
            row_max = tile_max;
        }
        for (int64_t j = first; j < end; j++) {
            const float weight = exp2f(scores[j - first] - row_max);
            if (j == kernel->lost)
                continue;
            row_sum += weight;
            for (int64_t d = 0; d < p->D; d++)
                sums[d] +=
                    rounded(&c->tensors[SDPA_Q], fminf(weight, kernel->largest)) * c->v[(first_key + j) * p->D + d];
        }
    }
    for (int64_t d = 0; d < p->D; d++)
        ret_o[d] = rounded(&c->tensors[SDPA_Q], row_sum != 0 ? sums[d] / row_sum : 0);
}

/* The largest error over its scale. */
static double worst_of(const struct call *c, const struct kernel *kernel)
{
    const int64_t D = c->problem.D;
    double worst = 0;
    for (int64_t row = 0; row < c->rows; row++) {
        float o[256];
        attend_row(c, kernel, row, o);
        for (int64_t d = 0; d < D; d++)
            worst = fmax(worst,
                         fabs((double)o[d] - (double)expected_of(c)[row * D + d]) / (double)scale_of(c)[row * D + d]);
    }
    return worst;
}

/* ---- tests ----------------------------------------------------------------------------------------------------- */

/* V rounded to BF16 is, times a power of two, rounded alike; FP16 has a floor. */
static void it_follows_the_values(void **state)
{
    (void)state;
    static const struct sdpa p = { "p", .B = 1, .H = 2, .Hkv = 1, .S = 40, .Skv = 300, .D = 64, .dtype = KG_BF16 };
    static const float factors[] = { 0x1p10f, 0x1p-10f, 0x1p40f };
    struct call plain, scaled;
    call_new(&plain, &p, 1, 1, 0, 0);
    for (size_t f = 0; f < sizeof factors / sizeof *factors; f++) {
        call_new(&scaled, &p, 1, factors[f], 0, 0);
        for (int64_t i = 0; i < plain.rows * p.D; i++)
            assert_true(fabsf(scale_of(&scaled)[i] / (scale_of(&plain)[i] * factors[f]) - 1) < 1e-6f);
        call_done(&scaled);
    }
    call_done(&plain);
}

/* With one key the output is a value: nothing but rounding is left. */
static void one_key_leaves_the_rounding_of_the_output(void **state)
{
    (void)state;
    for (int bf16 = 0; bf16 < 2; bf16++) {
        const struct sdpa p = { "one", .B = 1, .H = 1, .S = 1, .D = 64, .dtype = bf16 ? KG_BF16 : KG_F16 };
        const double half_ulp = bf16 ? 0x1p-8 : 0x1p-11;
        struct call c;
        call_new(&c, &p, 1, 1, 3, 0);
        for (int64_t d = 0; d < p.D; d++) {
            const double in_half_ulps = (double)scale_of(&c)[d] / (half_ulp * fabs((double)expected_of(&c)[d]));
            assert_true(in_half_ulps > 1.35 && in_half_ulps < 1.5); /* and of a weight, which might be off as much */
        }
        call_done(&c);
    }
}

/* A gate of 4 then lets pass what rounds, by half an ulp at most, and not what cuts, by up to a whole one. */
static void beside_fp32_weights_rounding_passes_and_cutting_does_not(void **state)
{
    (void)state;
    const kg_tensor q = { .dtype = KG_BF16, .rank = 4, .dims = { 1, 1, 1, 64 } }, o = { .dtype = KG_BF16 };
    const struct sdpa_error_model exact = sdpa_error_model_of(1, &sdpa_fp32_weights, &q, &o);
    const struct sdpa_error_model plain = sdpa_error_model_of(1, NULL, &q, &o);
    assert_true(limit * exact.output > 0x1p-8 && limit * exact.output < 1.5 * 0x1p-8);
    assert_true(plain.output == 0x1p-8);
}

static void a_row_without_keys_has_the_floor(void **state)
{
    (void)state;
    const struct sdpa_error_model m = { .output = 1, .output_floor = 0x1p-26, .largest = INFINITY, .sum = 1 };
    assert_true(sdpa_error_scale(&m, 0, 0, 0, 0, 0) == 0x1p-26f);
}

static const struct {
    struct sdpa problem;
    float factor, mean, shift;
} shapes[] = {
    { { "f16", .B = 1, .H = 2, .Hkv = 1, .S = 40, .Skv = 300, .D = 64, .dtype = KG_F16 }, 1, 0, 0 },
    { { "bf16", .B = 1, .H = 1, .S = 70, .D = 128, .dtype = KG_BF16, .causal = true }, 1, 0, 0 },
    { { "few", .B = 2, .H = 2, .S = 3, .D = 80, .dtype = KG_BF16 }, 1, 0, 0 },
    { { "long", .B = 1, .H = 1, .S = 2, .Skv = 16384, .D = 64, .dtype = KG_F16 }, 1, 0, 0 },
    { { "huge", .B = 1, .H = 1, .S = 40, .D = 64, .dtype = KG_F16 }, 5000, 25000, 0 },
    { { "tiny", .B = 1, .H = 1, .S = 40, .D = 64, .dtype = KG_F16 }, 0x1p-20f, 0, 0 },
    { { "low", .B = 1, .H = 1, .S = 40, .Skv = 200, .D = 64, .dtype = KG_F16 }, 1, 0, -120 },
    { { "lowest", .B = 1, .H = 1, .S = 40, .Skv = 200, .D = 64, .dtype = KG_F16 }, 1, 0, -7500 },
    { { "mean", .B = 1, .H = 1, .S = 40, .Skv = 200, .D = 64, .dtype = KG_BF16 }, 1, 100, 0 },
};

static void honest_arithmetic_is_under_the_limit(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
        for (uint64_t seed = 0; seed < 3; seed++) {
            struct call c;
            call_new(&c, &shapes[i].problem, seed, shapes[i].factor, shapes[i].mean, shapes[i].shift);
            const double worst = worst_of(&c, &honest);
            if (!(worst <= limit / 1.3))
                fail_msg("%s, seed %d: %.2f of at most %.2f", shapes[i].problem.name, (int)seed, worst, limit / 1.3);
            assert_true(worst > limit / 12); /* or the scale says little */
            call_done(&c);
        }
}

static const struct {
    struct sdpa problem;
    float shift;
    struct kernel kernel;
    double times; /* the limit, at least */
} mistakes[] = {
    /* One key of 1024, and of 4096, counts in no sum. */
    { { "lost", .B = 1, .H = 1, .S = 16, .Skv = 1024, .D = 64, .dtype = KG_F16 }, 0, { 8, -INFINITY, 5, INFINITY }, 3 },
    { { "lost of 4096", .B = 1, .H = 1, .S = 4, .Skv = 4096, .D = 64, .dtype = KG_F16 },
      0,
      { 8, -INFINITY, 4000, INFINITY },
      1.5 },
    /* Weights are cut where the maximum lags behind; their sum is not. */
    { { "cut", .B = 1, .H = 1, .S = 16, .Skv = 640, .D = 64, .dtype = KG_F16 }, 0, { 8, -INFINITY, -1, 1.75f }, 3 },
    /* The maximum begins at 0: weights of logits near -120 are 0. */
    { { "begins at 0", .B = 1, .H = 1, .S = 16, .Skv = 200, .D = 64, .dtype = KG_F16 },
      -120,
      { 0, 0, -1, INFINITY },
      50 },
};

static void mistakes_are_over_the_limit(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof mistakes / sizeof *mistakes; i++) {
        struct call c;
        call_new(&c, &mistakes[i].problem, 1, 1, 0, mistakes[i].shift);
        const double worst = worst_of(&c, &mistakes[i].kernel);
        if (!(worst > limit * mistakes[i].times))
            fail_msg("%s: %.2f is not over %g times %g", mistakes[i].problem.name, worst, mistakes[i].times, limit);
        call_done(&c);
    }
}

/* With codes the scale holds what they do to the output, and beside that what FP16 does, and no more. */
static void codes_are_known(void **state)
{
    (void)state;
    const struct sdpa p = { "codes", .B = 1, .H = 2, .S = 20, .Skv = 100, .D = 64, .dtype = KG_E4M3 };
    struct call c;
    kg_error error;
    call_new(&c, &p, 1, 1, 0, 0);
    const size_t count = (size_t)(c.rows * p.D);
    float *plain = malloc(count * sizeof *plain);
    assert_non_null(plain);
    memcpy(plain, scale_of(&c), count * sizeof *plain);
    assert_int_equal(sdpa_error_scale_cpu(&p, &sdpa_e4m3_codes, c.tensors, &error), KG_OK);

    double squares = 0, all = 0;
    for (size_t i = 0; i < count; i++) {
        assert_true(scale_of(&c)[i] > plain[i] / 2);
        squares += (double)scale_of(&c)[i] * (double)scale_of(&c)[i];
        all += (double)expected_of(&c)[i] * (double)expected_of(&c)[i];
    }
    assert_true(sqrt(squares / all) > 0.03 && sqrt(squares / all) < 0.07); /* as fp8_sdpa_e4m3's rel_l2 */
    free(plain);
    call_done(&c);
}

/* Told twice, in the same words: every FP16 number, by scales that are exact and that are not. */
static void codes_are_those_of_the_codec(void **state)
{
    (void)state;
    static const float largest[] = { 448, 4.9f, 65504, 0x1p-24f };
    for (int l = 0; l < 4; l++)
        for (uint32_t half = 0; half < 0x7c00; half++)
            for (int sign = -1; sign <= 1; sign += 2) {
                const float x = sign * float_from_f16((uint16_t)half), scale = fp8_scale(largest[l]);
                const float linear = fp8_linear_value(fp8_linear_code(x / scale)) * (FP8_LINEAR_STEP * scale);
                const float e4m3 = fp8_e4m3_value(fp8_e4m3_code(x / scale)) * scale;
                assert_true(sdpa_error_coded(SDPA_LINEAR_HEAD, x, largest[l]) == linear);
                assert_true(sdpa_error_coded(SDPA_E4M3_HEAD, x, largest[l]) == e4m3);
            }
}

int main(int argc, char *argv[])
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_follows_the_values),
        cmocka_unit_test(one_key_leaves_the_rounding_of_the_output),
        cmocka_unit_test(beside_fp32_weights_rounding_passes_and_cutting_does_not),
        cmocka_unit_test(a_row_without_keys_has_the_floor),
        cmocka_unit_test(honest_arithmetic_is_under_the_limit),
        cmocka_unit_test(mistakes_are_over_the_limit),
        cmocka_unit_test(codes_are_known),
        cmocka_unit_test(codes_are_those_of_the_codec),
    };
    struct kg_loaded module;
    kg_error error = { 0 };
    if (argc != 2 || kg_module_open(argv[1], &module, &error)) {
        fprintf(stderr, "test_sdpa_error MODULE.so: %s\n", error.text);
        return 2;
    }
    limit = kg_module_suite(module.root, "sdpa_parity")->gates.scaled;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
