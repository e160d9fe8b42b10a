/* test_sdpa.c -- the op and its CPU backends: what a call costs, the reference by hand, and every CPU backend of the
 * module's suites by the reference. A shape that a backend once got wrong becomes a row of `shapes`.
 *
 *     test_sdpa MODULE.so
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
#include "op/half.h"
#include "op/row_sums.h"
#include "op/sdpa.h"
#include "plan/field.h"
#include "plan/module.h"

/* ---- sums of rows ------------------------------------------------------------------------------------------- */

ROW_SUMS(sums_of_floats, float, AS_IT_IS)
ROW_SUMS(sums_of_squares, double, SQUARED)

enum { MOST_ROWS = 9, MOST_COLUMNS = 35 };

/* Small whole numbers, whose sums are exact in any order; a row whose factor is 0 holds NaN. */
static void check_sums(int64_t n_rows, int64_t n)
{
    float rows[MOST_ROWS * MOST_COLUMNS], factors[MOST_ROWS], sums[MOST_COLUMNS + 1];
    double wide[MOST_ROWS], squares[MOST_COLUMNS];
    for (int64_t j = 0; j < n_rows; j++) {
        wide[j] = factors[j] = (float)(j == 6 && n % 2 ? 0 : j + 1);
        for (int64_t i = 0; i < MOST_COLUMNS; i++)
            rows[j * MOST_COLUMNS + i] = factors[j] == 0 ? NAN : (float)(j * 5 + i);
    }
    sums[n] = -1;
    sums_of_floats(factors, rows, n_rows, MOST_COLUMNS, n, sums);
    sums_of_squares(wide, rows, n_rows, MOST_COLUMNS, n, squares);
    for (int64_t i = 0; i < n; i++) {
        double sum = 0, square = 0;
        for (int64_t j = 0; j < n_rows; j++) {
            sum += factors[j] == 0 ? 0 : wide[j] * (double)(j * 5 + i);
            square += factors[j] == 0 ? 0 : wide[j] * (double)((j * 5 + i) * (j * 5 + i));
        }
        assert_true(sums[i] == sum && squares[i] == square);
    }
    assert_true(sums[n] == -1);
}

static void rows_are_summed(void **state)
{
    (void)state;
    for (int64_t n_rows = 0; n_rows <= MOST_ROWS; n_rows++)
        for (int64_t n = 0; n <= MOST_COLUMNS; n++)
            check_sums(n_rows, n);
}

static void keys_lie_by_columns(void **state)
{
    enum { HEADS = 2, D = 3 };
    (void)state;
    for (int64_t n = 1; n <= MOST_COLUMNS; n++) {
        float rows[HEADS * MOST_COLUMNS * D];
        for (int64_t i = 0; i < HEADS * n * D; i++)
            rows[i] = (float)i;
        float *columns = new_columns(rows, HEADS, n, D);
        assert_non_null(columns);
        for (int64_t i = 0; i < HEADS * n * D; i++)
            assert_true(columns[(i / (n * D) * D + i % D) * whole_vectors(n) + i / D % n] == (float)i);
        free(columns);
    }
}

/* ---- 16-bit floats ----------------------------------------------------------------------------------------- */

static bool same_float(float a, float b)
{
    return (isnan(a) && isnan(b)) || float_bits(a) == float_bits(b);
}

static void every_half_is_read_as_the_inputs_are(void **state)
{
    (void)state;
    for (uint32_t bits = 0; bits < 65536; bits++) {
        uint16_t half = (uint16_t)bits;
        assert_true(same_float(float_from_f16(half), kg_float_from_f16(half)));
        assert_true(same_float(float_from_bf16(half), kg_float_from_bf16(half)));
        bool f16_nan = (half & 0x7fff) > 0x7c00, bf16_nan = (half & 0x7fff) > 0x7f80;
        assert_int_equal(isnan(float_from_f16(half)), f16_nan);
        assert_true(f16_nan || f16_from_float(float_from_f16(half)) == half);
        assert_true(bf16_nan || bf16_from_float(float_from_bf16(half)) == half);
    }
    assert_true(float_from_f16(0x3c00) == 1 && float_from_f16(0x0001) == 0x1p-24f && float_from_f16(0x7bff) == 65504);
    assert_true(float_from_f16(0xc100) == -2.5f && float_from_bf16(0x3f80) == 1 && float_from_bf16(0xc020) == -2.5f);
}

static void check_rounding(uint32_t bits)
{
    float value = float_of_bits(bits);
    if (f16_from_float(value) != kg_f16_from_float(value) || bf16_from_float(value) != kg_bf16_from_float(value))
        fail_msg("%a: f16 %04x and %04x, bf16 %04x and %04x", value, f16_from_float(value), kg_f16_from_float(value),
                 bf16_from_float(value), kg_bf16_from_float(value));
}

/* All exponents and signs, with mantissas about every rounding boundary, and a million drawn ones. */
static void floats_are_rounded_as_the_inputs_are(void **state)
{
    (void)state;
    for (uint32_t top = 0; top < 512; top++)
        for (int bit = -1; bit < 23; bit++)
            for (uint32_t odd = 0; odd < 4; odd++) {
                uint32_t mantissa = (bit < 0 ? 0 : 1u << bit) + (odd >> 1 << 13);
                check_rounding(top << 23 | ((mantissa + (odd & 1)) & 0x7fffff));
                check_rounding(top << 23 | ((mantissa - (odd & 1)) & 0x7fffff));
            }
    for (uint64_t i = 0; i < 1000000; i++)
        check_rounding((uint32_t)kg_mix64(i));
    assert_true(f16_from_float(65519.996f) == 0x7bff &&
                f16_from_float(65520) == 0x7c00); /* halfway rounds to infinity */
    assert_true(f16_from_float(0x1p-25f) == 0 && f16_from_float(0x1.002p-25f) == 1);
    assert_true(f16_from_float(1 + 0x1p-11f) == 0x3c00 && f16_from_float(1 + 0x3p-11f) == 0x3c02); /* to even */
    assert_true(bf16_from_float(1 + 0x1p-8f) == 0x3f80 && bf16_from_float(1 + 0x3p-8f) == 0x3f82);
    assert_true(bf16_from_float(float_of_bits(0x7f7fffff)) == 0x7f80);
    assert_true(isnan(float_from_bf16(bf16_from_float(float_of_bits(0x7fffffff)))));
    assert_true(isnan(float_from_f16(f16_from_float(float_of_bits(0x7f800001)))));
}

/* ---- the op ------------------------------------------------------------------------------------------------ */

static void scales(void **state)
{
    (void)state;
    assert_true(sdpa_scale(&(struct sdpa){ .D = 64 }) == 0.125);
    assert_true(sdpa_scale(&(struct sdpa){ .D = 256 }) == 0.0625);
    assert_true(fabs(sdpa_scale(&(struct sdpa){ .D = 128 }) - 0.08838834764831845) < 1e-16);
    assert_true(sdpa_scale(&(struct sdpa){ .D = 64, .scale = 0.3 }) == 0.3);
}

static double pairs_by_counting(const struct sdpa *p)
{
    double pairs = 0;
    for (int64_t head = 0; head < p->B * p->H; head++)
        for (int64_t i = 0; i < p->S; i++)
            for (int64_t j = 0; j < sdpa_kv_length(p); j++)
                pairs += !p->causal || j <= (p->bottom_right ? i + sdpa_kv_length(p) - p->S : i);
    return pairs;
}

static void costs_of_a_call(void **state)
{
    (void)state;
    for (int64_t S = 1; S < 12; S++)
        for (int64_t Skv = 0; Skv < 12; Skv++)
            for (int mask = 0; mask < 3; mask++) {
                struct sdpa p = { .B = 2,
                                  .H = 3,
                                  .S = S,
                                  .Skv = Skv,
                                  .D = 8,
                                  .dtype = KG_F16,
                                  .causal = mask > 0,
                                  .bottom_right = mask > 1 };
                assert_true(sdpa_visible_pairs(&p) == pairs_by_counting(&p));
                assert_true(sdpa_forward.flops(&p) == 4 * pairs_by_counting(&p) * 8);
            }
    struct sdpa p = { .B = 2, .H = 8, .Hkv = 2, .S = 16, .Skv = 32, .D = 64, .dtype = KG_BF16 };
    assert_true(sdpa_forward.bytes(&p) == 2.0 * 64 * (2 * (2 * 8 * 16) + 2 * (2 * 2 * 32)));
    assert_true(sdpa_forward.queries(&p) == 2 * 8 * 16);
    assert_true(sdpa_forward.peak_ratio(&p) == 1);
    p.dtype = KG_E4M3; /* what is read has a byte an element, what is written two */
    assert_true(sdpa_forward.peak_ratio(&p) == 2);
    assert_true(sdpa_forward.bytes(&p) == 64 * (3.0 * (2 * 8 * 16) + 2 * (2 * 2 * 32)));
}

static void tensors_of_8_bit_problems_are_fp16(void **state)
{
    (void)state;
    const struct sdpa p = { .B = 1, .H = 2, .S = 3, .D = 64, .dtype = KG_E4M3 };
    kg_tensor tensors[KG_MAX_TENSORS] = { 0 };
    int count = 0;
    assert_int_equal(sdpa_forward.tensors(&p, tensors, &count), KG_OK);
    for (int i = 0; i < SDPA_TENSORS; i++)
        assert_int_equal(tensors[i].dtype, KG_F16);
}

static void check_says(struct sdpa p, const char *why)
{
    kg_error error = { 0 };
    int status = kg_fields_check(sdpa_forward.fields, &p, &error);
    if (!status)
        status = sdpa_forward.check(&p, &error);
    assert_int_equal(status, why ? KG_EINVAL : KG_OK);
    assert_string_equal(error.text, why ? why : "");
}

static void problems_that_cannot_be(void **state)
{
    (void)state;
    const struct sdpa good = { .B = 1, .H = 6, .Hkv = 3, .S = 7, .D = 64, .dtype = KG_BF16 };
    struct sdpa p = good;
    check_says(p, NULL);
    p.Hkv = 4;
    check_says(p, "H is 6, not divisible by Hkv = 4");
    p.Hkv = 12;
    check_says(p, "H is 6, not divisible by Hkv = 12");
    p = good;
    p.dtype = KG_F32;
    check_says(p, "dtype must be f16, bf16 or e4m3");
    p.dtype = (enum kg_dtype)0;
    check_says(p, "dtype is not given");
    p = good;
    p.bottom_right = true;
    check_says(p, "bottom_right is said of causal masks, and this problem has none");
    p.causal = true;
    check_says(p, NULL);
    p = good;
    p.D = 257;
    check_says(p, "D=257 is outside 1 to 256");
    p = good;
    p.S = 0;
    check_says(p, "S=0 is outside 1 to 1048576");
    p = (struct sdpa){ .B = 64, .H = 64, .S = 4096, .D = 256, .dtype = KG_F16 };
    check_says(p, NULL); /* 2^32 elements */
    p.B = 65;
    check_says(p, "a tensor would have more than 4294967296 elements");
    p = (struct sdpa){ .B = 65535, .H = 65535, .S = 1 << 20, .D = 256, .dtype = KG_F16 };
    check_says(p, "a tensor would have more than 4294967296 elements"); /* and no overflow */
    p = (struct sdpa){ .B = 65, .H = 64, .S = 1, .Skv = 4096, .D = 256, .dtype = KG_F16 };
    check_says(p, "a tensor would have more than 4294967296 elements"); /* K and V too */
}

static void tensors_of_a_call(void **state)
{
    (void)state;
    struct sdpa p = { .B = 2, .H = 6, .Hkv = 3, .S = 7, .Skv = 5, .D = 16, .dtype = KG_BF16 };
    const int64_t q[] = { 2, 6, 7, 16 }, k[] = { 2, 3, 5, 16 };
    static const char *const names[] = { "q", "k", "v", "o" };
    kg_tensor t[KG_MAX_TENSORS];
    int count = 0;
    assert_int_equal(sdpa_forward.tensors(&p, t, &count), KG_OK);
    assert_int_equal(count, 4);
    for (int i = 0; i < 4; i++) {
        assert_string_equal(t[i].name, names[i]);
        assert_int_equal(t[i].role, i == SDPA_O ? KG_OUTPUT : KG_INPUT);
        assert_true(t[i].dtype == KG_BF16 && t[i].rank == 4);
        assert_memory_equal(t[i].dims, i == SDPA_Q || i == SDPA_O ? q : k, sizeof q);
    }
}

/* ---- calls ------------------------------------------------------------------------------------------------- */

struct call {
    struct sdpa problem;
    kg_tensor tensors[KG_MAX_TENSORS];
    float *expected;
    int64_t n_out;
};

/* Inputs as the runner draws them; outputs poisoned. */
static struct call call_new(struct sdpa problem)
{
    struct call c = { .problem = problem };
    int count = 0;
    assert_int_equal(sdpa_forward.tensors(&c.problem, c.tensors, &count), KG_OK);
    for (int i = 0; i < count; i++) {
        kg_tensor *t = &c.tensors[i];
        uint64_t key = kg_random_key(7, (uint32_t)i);
        uint16_t *data = t->data = malloc(kg_tensor_bytes(t));
        assert_non_null(data);
        for (int64_t j = 0; j < kg_tensor_count(t); j++) {
            float value = kg_random_value(key, (uint64_t)j, kg_random_scale(1));
            data[j] = t->dtype == KG_BF16 ? bf16_from_float(value) : f16_from_float(value);
        }
    }
    c.n_out = kg_tensor_count(&c.tensors[SDPA_O]);
    memset(c.tensors[SDPA_O].data, 0xff, kg_tensor_bytes(&c.tensors[SDPA_O]));
    c.expected = malloc((size_t)c.n_out * sizeof *c.expected);
    memset(c.expected, 0xff, (size_t)c.n_out * sizeof *c.expected);
    return c;
}

static void call_free(struct call *c)
{
    for (int i = 0; i < SDPA_TENSORS; i++)
        free(c->tensors[i].data);
    free(c->expected);
}

static void run_reference(struct call *c)
{
    kg_tensor tensors[SDPA_TENSORS];
    memcpy(tensors, c->tensors, sizeof tensors);
    tensors[SDPA_O].dtype = KG_F32;
    tensors[SDPA_O].data = c->expected;
    assert_int_equal(sdpa_forward.reference_cpu(&c->problem, tensors, NULL), KG_OK);
}

static float value_of(const kg_tensor *t, int64_t index)
{
    uint16_t half = ((const uint16_t *)t->data)[index];
    return t->dtype == KG_BF16 ? float_from_bf16(half) : float_from_f16(half);
}

static void put(kg_tensor *t, const float *values)
{
    for (int64_t i = 0; i < kg_tensor_count(t); i++)
        ((uint16_t *)t->data)[i] = t->dtype == KG_BF16 ? bf16_from_float(values[i]) : f16_from_float(values[i]);
}

/* ---- the reference, by hand -------------------------------------------------------------------------------- */

/* D = 2, scale 1. Keys (0, 0), (1, 0), (0, 2); values (1, 2), (3, 4), (5, 8). Query (1, 0) has the scores 0, 1, 0, so
 * weights 1, e, 1; query (0, 1) has 0, 0, 2, so 1, 1, e^2. */
static void the_reference_by_hand(void **state)
{
    (void)state;
    const float q[] = { 1, 0, 0, 1 }, k[] = { 0, 0, 1, 0, 0, 2 }, v[] = { 1, 2, 3, 4, 5, 8 };
    const double e = exp(1), e2 = exp(2);
    for (int causal = 0; causal < 2; causal++) {
        struct call c = call_new(
            (struct sdpa){ .B = 1, .H = 1, .S = 2, .Skv = 3, .D = 2, .dtype = KG_F16, .causal = causal, .scale = 1 });
        put(&c.tensors[SDPA_Q], q);
        put(&c.tensors[SDPA_K], k);
        put(&c.tensors[SDPA_V], v);
        run_reference(&c);
        /* Under the mask query 0 sees the first key, query 1 two, of equal scores. */
        const double full[] = { (1 + 3 * e + 5) / (2 + e), (2 + 4 * e + 8) / (2 + e), (1 + 3 + 5 * e2) / (2 + e2),
                                (2 + 4 + 8 * e2) / (2 + e2) };
        const double masked[] = { 1, 2, 2, 3 };
        for (int i = 0; i < 4; i++)
            assert_true(fabs(c.expected[i] - (causal ? masked : full)[i]) < 1e-6);
        call_free(&c);
    }
}

/* Keys all alike, and values 1, 2, 4, …, so that an output tells which keys were seen. */
static void the_reference_sees_what_the_mask_leaves(void **state)
{
    (void)state;
    for (int64_t S = 1; S < 8; S++)
        for (int64_t Skv = 1; Skv < 8; Skv++)
            for (int mask = 0; mask < 3; mask++) {
                float zeros[8] = { 0 }, v[8];
                struct call c = call_new((struct sdpa){ .B = 1,
                                                        .H = 1,
                                                        .S = S,
                                                        .Skv = Skv,
                                                        .D = 1,
                                                        .dtype = KG_F16,
                                                        .causal = mask > 0,
                                                        .bottom_right = mask > 1 });
                for (int64_t j = 0; j < Skv; j++)
                    v[j] = (float)(1 << j);
                put(&c.tensors[SDPA_Q], zeros);
                put(&c.tensors[SDPA_V], v);
                run_reference(&c);
                for (int64_t i = 0; i < S; i++) {
                    double sum = 0, seen = 0;
                    for (int64_t j = 0; j < Skv; j++)
                        if (mask == 0 || j <= (mask == 1 ? i : i + Skv - S)) {
                            sum += v[j];
                            seen++;
                        }
                    assert_true(c.expected[i] == (seen > 0 ? (float)(sum / seen) : 0));
                    assert_int_equal(sdpa_visible_keys(&c.problem, i), (int64_t)seen);
                }
                call_free(&c);
            }
}

/* Values that name their batch, head and key; scores all equal, so a row is the mean over what it sees. */
static void the_reference_reads_the_right_heads(void **state)
{
    (void)state;
    struct call c =
        call_new((struct sdpa){ .B = 2, .H = 6, .Hkv = 2, .S = 3, .Skv = 4, .D = 1, .dtype = KG_BF16, .causal = true });
    float zeros[2 * 6 * 3] = { 0 }, v[2 * 2 * 4];
    for (int i = 0; i < 16; i++)
        v[i] = (float)(i / 4 * 16 + i % 4);
    put(&c.tensors[SDPA_Q], zeros);
    put(&c.tensors[SDPA_V], v);
    run_reference(&c);
    for (int b = 0; b < 2; b++)
        for (int h = 0; h < 6; h++)
            for (int i = 0; i < 3; i++)
                assert_true(c.expected[(b * 6 + h) * 3 + i] == (float)((b * 2 + h / 3) * 16 + i / 2.0));
    call_free(&c);
}

/* Scores of some thousands: the largest is taken off before the exponential. */
static void the_reference_does_not_overflow(void **state)
{
    (void)state;
    const float q[] = { 100 }, k[] = { 100, 99, -100 }, v[] = { 3, 7, 9 };
    struct call c = call_new((struct sdpa){ .B = 1, .H = 1, .S = 1, .Skv = 3, .D = 1, .dtype = KG_F16, .scale = 1 });
    put(&c.tensors[SDPA_Q], q);
    put(&c.tensors[SDPA_K], k);
    put(&c.tensors[SDPA_V], v);
    run_reference(&c);
    assert_true(c.expected[0] == 3);
    call_free(&c);
}

/* ---- the backends, by the reference ------------------------------------------------------------------------ */

static struct kg_loaded module; /* whose suites say which backends there are */

static const struct sdpa shapes[] = {
    { "one", .B = 1, .H = 1, .S = 1, .D = 8, .dtype = KG_F16 },
    { "one_key", .B = 1, .H = 2, .S = 5, .Skv = 1, .D = 8, .dtype = KG_F16 },
    { "one_query", .B = 3, .H = 2, .S = 1, .Skv = 77, .D = 16, .dtype = KG_BF16 },
    { "one_query_causal", .B = 1, .H = 2, .S = 1, .Skv = 77, .D = 16, .dtype = KG_BF16,
      .causal = true },                                                              /* sees key 0 */
    { "tile", .B = 1, .H = 1, .S = 32, .Skv = 64, .D = 64, .dtype = KG_F16 },        /* cpu_flash's own */
    { "over_a_tile", .B = 1, .H = 1, .S = 33, .Skv = 65, .D = 64, .dtype = KG_F16 }, /* and one more of each */
    { "under_a_tile", .B = 1, .H = 1, .S = 31, .Skv = 63, .D = 72, .dtype = KG_F16 },
    { "odd", .B = 2, .H = 3, .S = 37, .D = 24, .dtype = KG_F16 },
    { "odd_causal", .B = 2, .H = 3, .S = 101, .D = 40, .dtype = KG_BF16, .causal = true },
    { "more_keys_causal", .B = 1, .H = 2, .S = 40, .Skv = 131, .D = 32, .dtype = KG_F16, .causal = true },
    { "fewer_keys_causal", .B = 1, .H = 2, .S = 131, .Skv = 40, .D = 32, .dtype = KG_F16, .causal = true },
    { "decode", .B = 2, .H = 2, .S = 1, .Skv = 131, .D = 16, .dtype = KG_F16, .causal = true, .bottom_right = true },
    { "bottom_right", .B = 1, .H = 4, .Hkv = 2, .S = 40, .Skv = 131, .D = 32, .dtype = KG_F16, .causal = true,
      .bottom_right = true },
    { "empty_rows", .B = 2, .H = 2, .S = 131, .Skv = 40, .D = 32, .dtype = KG_BF16, .causal = true,
      .bottom_right = true }, /* two tiles without a key, and one with rows of both kinds */
    { "gqa", .B = 2, .H = 6, .Hkv = 2, .S = 19, .Skv = 70, .D = 16, .dtype = KG_F16 },
    { "mqa_causal", .B = 2, .H = 5, .Hkv = 1, .S = 70, .D = 16, .dtype = KG_BF16, .causal = true },
    { "widest", .B = 1, .H = 1, .S = 9, .Skv = 66, .D = 256, .dtype = KG_F16 },
    { "sharp", .B = 1, .H = 1, .S = 40, .Skv = 90, .D = 64, .dtype = KG_F16, .scale = 30 }, /* nearly one-hot */
    { "flat", .B = 1, .H = 1, .S = 40, .Skv = 90, .D = 64, .dtype = KG_F16, .scale = 1e-6 },
    { "threads", .B = 1, .H = 4, .S = 260, .D = 128, .dtype = KG_F16, .causal = true },
};

/* Half a unit in the last place of the output's dtype, and single precision's share. */
static void check_against_reference(const struct call *c, const char *what)
{
    const double unit = c->problem.dtype == KG_BF16 ? 0x1p-8 : 0x1p-11;
    for (int64_t i = 0; i < c->n_out; i++) {
        double got = value_of(&c->tensors[SDPA_O], i), wanted = c->expected[i];
        double share = 1e-5 * fmax(1, fabs(c->problem.scale));
        if (!(fabs(got - wanted) <= unit * fabs(wanted) * 1.01 + share))
            fail_msg("%s of %s: element %lld is %.9g, not %.9g", what, c->problem.name, (long long)i, got, wanted);
    }
}

/* Prepared as a worker does it; without a `prepare` the state is the call. Released by backend_done. */
static void *backend_begin(struct call *c, const kg_backend *backend, const kg_call *call)
{
    kg_identity identity = { .text = "" };
    kg_tensor *workspace = &c->tensors[SDPA_WORKSPACE];
    void *state = (void *)(uintptr_t)call;
    if (backend->prepare)
        assert_int_equal(backend->prepare(backend, call, &state, &identity, NULL), KG_OK);
    if (backend->workspace)
        assert_non_null(workspace->data = malloc(backend->workspace(backend, state)));
    if (backend->stage)
        assert_int_equal(backend->stage(backend, state, c->tensors, NULL, NULL), KG_OK);
    return state;
}

static void backend_done(struct call *c, const kg_backend *backend, void *state)
{
    if (backend->release)
        backend->release(backend, state);
    free(c->tensors[SDPA_WORKSPACE].data);
    c->tensors[SDPA_WORKSPACE].data = NULL;
}

static void run_backend(struct call *c, const kg_backend *backend, const void *knobs, int units)
{
    const kg_device device = { .kind = KG_CPU, .units = units };
    const kg_call call = {
        .device = &device, .problem = &c->problem, .knobs = knobs, .tensors = c->tensors, .n_tensors = SDPA_TENSORS
    };
    kg_error error = { 0 };
    void *state = backend_begin(c, backend, &call);
    for (int again = 0; again < 2; again++) { /* the second call finds the first one's scratch */
        memset(c->tensors[SDPA_O].data, 0xff, kg_tensor_bytes(&c->tensors[SDPA_O]));
        assert_int_equal(backend->launch(backend, state, c->tensors, NULL, &error), KG_OK);
        check_against_reference(c, backend->name);
    }
    backend_done(c, backend, state);
    if (backend->release)
        backend->release(backend, NULL);
}

/* Memory for a backend's knobs, at their fallbacks but for what is given. */
static void *knobs_new(const kg_backend *backend, const char *first, const char *second)
{
    void *knobs = calloc(1, backend->knobs_size + 1);
    kg_fields_fall_back(backend->knobs, knobs);
    assert_true(!first || !kg_field_set(&backend->knobs.items[0], knobs, first, NULL));
    assert_true(!second || !kg_field_set(&backend->knobs.items[1], knobs, second, NULL));
    return knobs;
}

/* Calls `check` with each CPU backend that a suite of this op names, once. */
static void each_backend(void (*check)(const kg_backend *backend))
{
    const kg_backend *seen[64];
    size_t count = 0;
    for (size_t i = 0; i < module.root->n_suites; i++) {
        const kg_suite *suite = module.root->suites[i];
        for (size_t j = 0; j < suite->backends.count && !strcmp(suite->op->name, sdpa_forward.name); j++) {
            const kg_backend *backend = suite->backends.items[j];
            size_t k = 0;
            while (k < count && seen[k] != backend)
                k++;
            if (k < count || backend->device != KG_CPU)
                continue;
            assert_true(count < sizeof seen / sizeof *seen);
            seen[count++] = backend;
            check(backend);
        }
    }
    assert_true(count >= 2);
}

static const kg_backend *backend_of(const char *name)
{
    const kg_backend *backend = kg_suite_backend(kg_module_suite(module.root, "sdpa_parity"), name);
    assert_non_null(backend);
    return backend;
}

static bool is_supported(const kg_backend *backend, const struct sdpa *problem)
{
    const kg_device device = { .kind = KG_CPU, .units = 2 };
    return !backend->supports || backend->supports(backend, &device, problem, NULL) == KG_OK;
}

static void check_shapes(const kg_backend *backend)
{
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        if (!is_supported(backend, &shapes[i]))
            continue;
        struct call c = call_new(shapes[i]);
        void *knobs = knobs_new(backend, NULL, NULL);
        assert_int_equal(kg_fields_check(sdpa_forward.fields, &shapes[i], NULL), KG_OK);
        assert_int_equal(sdpa_forward.check(&shapes[i], NULL), KG_OK);
        run_reference(&c);
        run_backend(&c, backend, knobs, 2);
        free(knobs);
        call_free(&c);
    }
}

static void backends_give_what_the_reference_gives(void **state)
{
    (void)state;
    each_backend(check_shapes);
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
        assert_true(is_supported(backend_of("cpu_math"), &shapes[i]) &&
                    is_supported(backend_of("cpu_flash"), &shapes[i]));
}

/* Tiles of all sizes about the micro-tile's, odd ones and one larger than the problem. */
static void cpu_flash_with_any_tile(void **state)
{
    static const char *const tiles_q[] = { "1", "3", "4", "5", "256" }, *const tiles_k[] = { "1", "7", "8", "9",
                                                                                             "1024" };
    const kg_backend *cpu_flash = backend_of("cpu_flash");
    (void)state;
    for (int mask = 0; mask < 4; mask++) {
        struct call c =
            call_new((struct sdpa){ "tiles", .B = 1, .H = 2, .Hkv = 1, .S = mask == 3 ? 31 : 21, .Skv = 26, .D = 8,
                                    .dtype = KG_F16, .causal = mask > 0, .bottom_right = mask > 1 });
        run_reference(&c);
        for (size_t i = 0; i < 25; i++) {
            void *knobs = knobs_new(cpu_flash, tiles_q[i / 5], tiles_k[i % 5]);
            run_backend(&c, cpu_flash, knobs, 1);
            free(knobs);
        }
        call_free(&c);
    }
}

/* Head dimensions that are no multiple of a vector: plain loops take them, tiles say no. */
static void odd_head_dimensions(void **state)
{
    const kg_backend *cpu_flash = backend_of("cpu_flash");
    const kg_device device = { .kind = KG_CPU, .units = 1 };
    (void)state;
    for (int64_t D = 1; D < 20; D++) {
        struct call c = call_new((struct sdpa){ "odd", .B = 1, .H = 2, .S = 5, .Skv = 9, .D = D, .dtype = KG_BF16 });
        kg_error error = { 0 };
        int status = cpu_flash->supports(cpu_flash, &device, &c.problem, &error);
        assert_int_equal(status, D % 8 ? KG_EUNSUPPORTED : KG_OK);
        assert_int_equal(strlen(error.text) > 0, D % 8 != 0);
        run_reference(&c);
        run_backend(&c, backend_of("cpu_math"), NULL, 1);
        call_free(&c);
    }
}

/* A NaN among the inputs must reach the output, or a gate could not see it. */
static void check_nan(const kg_backend *backend)
{
    static const enum sdpa_tensor inputs[] = { SDPA_Q, SDPA_K, SDPA_V };
    const kg_device device = { .kind = KG_CPU, .units = 1 };
    for (size_t i = 0; i < 3; i++) {
        struct call c = call_new((struct sdpa){ "nan", .B = 1, .H = 1, .S = 8, .D = 8, .dtype = KG_F16 });
        void *knobs = knobs_new(backend, NULL, NULL);
        const kg_call call = { .device = &device, .problem = &c.problem, .knobs = knobs, .tensors = c.tensors };
        if (is_supported(backend, &c.problem)) {
            ((uint16_t *)c.tensors[inputs[i]].data)[3 * 8] = 0x7e00;
            void *prepared = backend_begin(&c, backend, &call);
            assert_int_equal(backend->launch(backend, prepared, c.tensors, NULL, NULL), KG_OK);
            run_reference(&c);
            int bad = 0, bad_reference = 0;
            for (int64_t j = 0; j < c.n_out; j++) {
                bad += isnan(value_of(&c.tensors[SDPA_O], j));
                bad_reference += isnan(c.expected[j]);
            }
            assert_true(bad > 0 && bad == bad_reference);
            backend_done(&c, backend, prepared);
        }
        free(knobs);
        call_free(&c);
    }
}

static void nan_is_not_swallowed(void **state)
{
    (void)state;
    each_backend(check_nan);
}

int main(int argc, char *argv[])
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_are_summed),
        cmocka_unit_test(keys_lie_by_columns),
        cmocka_unit_test(every_half_is_read_as_the_inputs_are),
        cmocka_unit_test(floats_are_rounded_as_the_inputs_are),
        cmocka_unit_test(scales),
        cmocka_unit_test(costs_of_a_call),
        cmocka_unit_test(tensors_of_8_bit_problems_are_fp16),
        cmocka_unit_test(problems_that_cannot_be),
        cmocka_unit_test(tensors_of_a_call),
        cmocka_unit_test(the_reference_by_hand),
        cmocka_unit_test(the_reference_sees_what_the_mask_leaves),
        cmocka_unit_test(the_reference_reads_the_right_heads),
        cmocka_unit_test(the_reference_does_not_overflow),
        cmocka_unit_test(backends_give_what_the_reference_gives),
        cmocka_unit_test(cpu_flash_with_any_tile),
        cmocka_unit_test(odd_head_dimensions),
        cmocka_unit_test(nan_is_not_swallowed),
    };
    kg_error error = { 0 };
    if (argc != 2 || kg_module_open(argv[1], &module, &error)) {
        fprintf(stderr, "test_sdpa MODULE.so: %s\n", error.text);
        return 2;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
