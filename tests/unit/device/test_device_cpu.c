/* test_device_cpu.c -- the CPU device: inputs, guards, digests, comparison, windows, and the names of architectures.
 * The CUDA device is held against this one in tests/cuda/test_device_cuda.c. */
#include "cpu_context.h"
#include "device/cpu_info.h"
#include "device/device.h"
#include "base/random.h"

#include <math.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include <sys/stat.h>
#include <time.h>

#include <cmocka.h>

#include "scratch.h"

#ifdef _OPENMP
#include <omp.h>
#endif

static void *allocate(size_t bytes)
{
    void *data = NULL;
    kg_error error;
    assert_int_equal(context->ops->allocate(context, bytes, &data, &error), KG_OK);
    return data;
}

static void release(void *data)
{
    context->ops->release(context, data);
}

static kg_tensor vector(enum kg_dtype dtype, int64_t count, void *data)
{
    return (kg_tensor){ .name = "v", .dtype = dtype, .rank = 1, .dims = { count }, .data = data };
}

static uint64_t digest_of(const void *data, size_t bytes)
{
    uint64_t digest = 0;
    kg_error error;
    assert_int_equal(context->ops->digest(context, data, bytes, &digest, &error), KG_OK);
    return digest;
}

static uint64_t digest_of_fill(enum kg_dtype dtype, int64_t count, double std, uint64_t seed, uint32_t ordinal)
{
    kg_tensor tensor = vector(dtype, count, allocate((size_t)count * 4));
    kg_error error;
    tensor.std = std;
    assert_int_equal(context->ops->fill(context, &tensor, seed, ordinal, &error), KG_OK);
    uint64_t digest = digest_of(tensor.data, kg_tensor_bytes(&tensor));
    release(tensor.data);
    return digest;
}

/* ---- inputs ------------------------------------------------------------------------------------------------ */

/* Goldens were measured on these values: another digest needs another name for the generator in the contract.
 * The numbers come from a separate program, written from random.h's comments in another language. */
static void fill_gives_the_frozen_bits(void **state)
{
    (void)state;
    assert_int_equal(digest_of_fill(KG_F32, 1001, 1, 0, 0), 0xc84ccdae111711b1);
    assert_int_equal(digest_of_fill(KG_F32, 1001, 1, 1, 0), 0x3e1523b9606a705b);
    assert_int_equal(digest_of_fill(KG_F32, 1001, 1, 0, 1), 0xc96c8ff41e768d59);
    assert_int_equal(digest_of_fill(KG_F16, 1001, 0, 0, 0), 0x30009e3cb784c02c);
    assert_int_equal(digest_of_fill(KG_F16, 1001, 1e-4, 7, 2), 0xbbc967b65262f6d4);
    assert_int_equal(digest_of_fill(KG_BF16, 1001, 0.5, 0, 0), 0x5eb507ad2c58f739);
    assert_int_equal(digest_of_fill(KG_BF16, 1001, 1, 0xffffffffffffffff, 7), 0x36965af0a9a6b8f4);
}

static void fill_does_not_depend_on_threads(void **state)
{
    (void)state;
#ifdef _OPENMP
    int threads = omp_get_max_threads();
    omp_set_num_threads(1);
    uint64_t one = digest_of_fill(KG_F16, 300001, 1, 3, 0);
    omp_set_num_threads(5);
    uint64_t five = digest_of_fill(KG_F16, 300001, 1, 3, 0);
    omp_set_num_threads(threads);
    assert_int_equal(one, five);
#endif
}

static void values_have_the_moments_asked_for(void **state)
{
    (void)state;
    enum { COUNT = 1000000 };
    kg_tensor tensor = vector(KG_F32, COUNT, allocate(COUNT * sizeof(float)));
    kg_error error;
    for (int power = -1; power <= 1; power++) {
        tensor.std = pow(10, power);
        assert_int_equal(context->ops->fill(context, &tensor, 42, (uint32_t)(power + 1), &error), KG_OK);
        double sum = 0, squares = 0, fourths = 0, largest = 0;
        for (int i = 0; i < COUNT; i++) {
            double value = ((float *)tensor.data)[i] / tensor.std;
            sum += value;
            squares += value * value;
            fourths += value * value * value * value;
            largest = fmax(largest, fabs(value));
        }
        assert_true(fabs(sum / COUNT) < 0.004);                  /* 4 standard errors */
        assert_true(fabs(squares / COUNT - 1) < 0.006);          /* likewise */
        assert_true(fabs(fourths / COUNT - (3 - 0.15)) < 0.035); /* excess kurtosis of eight uniforms: -1.2 / 8 */
        assert_true(largest > 3.9 && largest <= 4.9);
    }
    release(tensor.data);
}

/* ---- rounding ---------------------------------------------------------------------------------------------- */

/* Value of a 16-bit float with that many mantissa bits, from the definition. Not for NaN and infinity. */
static double decode(uint16_t bits, int mantissa_bits)
{
    int exponent_bits = 15 - mantissa_bits, bias = (1 << (exponent_bits - 1)) - 1;
    int exponent = (bits & 0x7fff) >> mantissa_bits, mantissa = bits & ((1 << mantissa_bits) - 1);
    double value = exponent ? ldexp((1 << mantissa_bits) + mantissa, exponent - bias - mantissa_bits)
                            : ldexp(mantissa, 1 - bias - mantissa_bits);
    return bits & 0x8000 ? -value : value;
}

/* Nearest by search over all magnitudes; the all-ones exponent counts as the next power of two, so that halfway past
 * the largest finite value ties into infinity, whose mantissa is even. */
static uint16_t round_slowly(float value, int mantissa_bits)
{
    double magnitude = fabs((double)value);
    uint16_t infinity = (uint16_t)(0x7fff >> mantissa_bits << mantissa_bits);
    int low = 0, high = infinity;
    while (high - low > 1) {
        int middle = (low + high) / 2;
        if (decode((uint16_t)middle, mantissa_bits) <= magnitude)
            low = middle;
        else
            high = middle;
    }
    double down = magnitude - decode((uint16_t)low, mantissa_bits);
    double up = decode((uint16_t)high, mantissa_bits) - magnitude;
    int nearest = down < up || (down == up && low % 2 == 0) ? low : high;
    return (uint16_t)(nearest | (signbit(value) ? 0x8000 : 0));
}

static void sixteen_bits_go_to_float_and_back(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < 65536; i++) {
        uint16_t bits = (uint16_t)i;
        float f16 = kg_float_from_f16(bits), bf16 = kg_float_from_bf16(bits);
        if ((bits & 0x7fff) > 0x7c00)
            assert_true(isnan(f16) && isnan(kg_float_from_f16(kg_f16_from_float(f16))));
        else
            assert_int_equal(kg_f16_from_float(f16), bits);
        if ((bits & 0x7fff) < 0x7c00)
            assert_true(f16 == decode(bits, 10));
        if ((bits & 0x7fff) > 0x7f80)
            assert_true(isnan(bf16) && isnan(kg_float_from_bf16(kg_bf16_from_float(bf16))));
        else
            assert_int_equal(kg_bf16_from_float(bf16), bits);
    }
}

static void check_rounding(float value)
{
    if (isfinite(value)) {
        assert_int_equal(kg_f16_from_float(value), round_slowly(value, 10));
        assert_int_equal(kg_bf16_from_float(value), round_slowly(value, 7));
    }
}

static void floats_round_to_nearest_even(void **state)
{
    (void)state;
    for (uint64_t i = 0; i < 300000; i++) /* every exponent alike */
        check_rounding(kg_float_from_bits((uint32_t)kg_mix64(i)));
    for (uint64_t i = 0; i < 300000; i++) /* halves' range, subnormals included */
        check_rounding((float)ldexp((double)(int64_t)kg_mix64(i), -48 - (int)(i % 46)));
    for (uint32_t i = 0; i < 0x7c00; i++) { /* ties and their neighbours */
        float tie = (float)((decode((uint16_t)i, 10) + decode((uint16_t)(i + 1), 10)) / 2);
        check_rounding(tie);
        check_rounding(-nextafterf(tie, 0));
        check_rounding(nextafterf(tie, INFINITY));
    }
    for (uint32_t i = 0; i < 0x7f80; i++) {
        uint32_t tie = i << 16 | 0x8000;
        check_rounding(kg_float_from_bits(tie));
        check_rounding(kg_float_from_bits(tie - 1));
        check_rounding(kg_float_from_bits(tie + 1));
    }
}

/* ---- guards and digests ------------------------------------------------------------------------------------ */

static uint64_t changed(const void *data, size_t bytes, uint32_t pattern)
{
    uint64_t count = UINT64_MAX;
    kg_error error;
    assert_int_equal(context->ops->count_changed(context, &(struct kg_span){ data, bytes, pattern }, 1, &count, &error),
                     KG_OK);
    return count;
}

static void changed_bytes_are_counted(void **state)
{
    (void)state;
    enum { BYTES = 100003, PATTERN = 0x0403a5ff };
    uint8_t *data = allocate(BYTES);
    kg_error error;
    assert_int_equal(context->ops->paint(context, data, BYTES, PATTERN, &error), KG_OK);
    assert_int_equal(changed(data, BYTES, PATTERN), 0);
    assert_int_equal(changed(data, BYTES, ~(uint32_t)PATTERN), BYTES);
    data[0] ^= 1;
    data[4097] = 0;
    data[BYTES - 1] ^= 0x80;
    assert_int_equal(changed(data, BYTES, PATTERN), 3);
    assert_int_equal(changed(data + 1, BYTES - 2, PATTERN), 1);
    assert_int_equal(changed(data + 1, 0, PATTERN), 0);
    release(data);
}

/* From any place on, of any size, and nothing beside. */
static void bytes_are_painted_by_address(void **state)
{
    (void)state;
    enum { PATTERN = 0x0403a5ff };
    kg_error error;
    for (size_t first = 1; first < 6; first++)
        for (size_t count = 0; count < 20; count++) {
            _Alignas(4) uint8_t data[32] = { 0 };
            assert_int_equal(context->ops->paint(context, data + first, count, PATTERN, &error), KG_OK);
            for (size_t i = 0; i < sizeof data; i++) {
                const bool painted = i >= first && i < first + count;
                assert_int_equal(data[i], painted ? (uint8_t)(PATTERN >> 8 * (i & 3)) : 0);
            }
            assert_int_equal(changed(data + first, count, PATTERN), 0);
        }
}

static void digest_sees_every_bit_and_place(void **state)
{
    (void)state;
    uint8_t data[67];
    for (size_t i = 0; i < sizeof data; i++)
        data[i] = (uint8_t)(31 * i + 7);
    for (size_t bytes = 1; bytes <= sizeof data; bytes++) {
        uint64_t digest = digest_of(data, bytes);
        assert_int_equal(digest_of(data, bytes), digest);
        for (size_t bit = 0; bit < 8 * bytes; bit++) {
            data[bit / 8] ^= (uint8_t)(1 << bit % 8);
            assert_int_not_equal(digest_of(data, bytes), digest);
            data[bit / 8] ^= (uint8_t)(1 << bit % 8);
        }
    }
    uint64_t words[4] = { 1, 2, 3, 0 }, swapped[4] = { 2, 1, 3, 0 };
    assert_int_not_equal(digest_of(words, 32), digest_of(swapped, 32));
    assert_int_not_equal(digest_of(words, 32), digest_of(words, 24)); /* a word of zeros counts */
}

/* The sum by definition, over more data than one thread takes. */
static void digest_is_the_sum_of_its_words(void **state)
{
    (void)state;
    enum { BYTES = 200005 };
    uint8_t *data = allocate(BYTES);
    for (size_t i = 0; i < BYTES; i++)
        data[i] = (uint8_t)kg_mix64(i);
    uint64_t sum = 0;
    for (size_t i = 0; 8 * i < BYTES; i++) {
        uint64_t word = 0;
        for (size_t k = 0; k < 8 && 8 * i + k < BYTES; k++)
            word |= (uint64_t)data[8 * i + k] << 8 * k;
        sum += kg_digest_word(word, i);
    }
    assert_int_equal(digest_of(data, BYTES), sum);
    assert_int_equal(digest_of(data, 0), 0);
    release(data);
}

/* ---- comparison -------------------------------------------------------------------------------------------- */

static struct kg_comparison compare(enum kg_dtype dtype, void *got, float *expected, int64_t count, double bad_abs,
                                    double bad_rel)
{
    kg_tensor got_tensor = vector(dtype, count, got), expected_tensor = vector(KG_F32, count, expected);
    kg_gates gates = { .bad_abs = bad_abs, .bad_rel = bad_rel };
    struct kg_comparison comparison;
    kg_error error;
    memset(&comparison, 0x55, sizeof comparison);
    assert_int_equal(context->ops->compare(context, &got_tensor, &expected_tensor, NULL, &gates, &comparison, &error),
                     KG_OK);
    return comparison;
}

static void close_to(double a, double b)
{
    assert_true(fabs(a - b) <= 1e-12 * fabs(b));
}

static void figures_are_those_worked_out_by_hand(void **state)
{
    (void)state;
    float got[] = { 1, 2.5f, -3, 0, 8 }, expected[] = { 1, 2, -4, 0, 10 }; /* errors 0, .5, 1, 0, -2 */
    struct kg_comparison f = compare(KG_F32, got, expected, 5, 0.5, 0);
    assert_int_equal(f.count, 5);
    assert_int_equal(f.nonfinite, 0);
    assert_int_equal(f.unwritten, 0);
    assert_int_equal(f.bad, 2); /* 0.5 is on the limit, so it is good */
    close_to(f.bad_pct, 40);
    close_to(f.max_abs, 2);
    close_to(f.mean_abs, 3.5 / 5);
    close_to(f.max_rel, 0.25);
    close_to(f.rel_l2, sqrt(5.25 / 121));
    close_to(f.bias, -0.5 / 5);
    assert_int_equal(f.worst_index, 4);
    close_to(f.worst_got, 8);
    close_to(f.worst_expected, 10);
    assert_int_equal(compare(KG_F32, got, expected, 5, 0, 0.2).bad, 2);   /* 0.5 of 2 and 1 of 4 */
    assert_int_equal(compare(KG_F32, got, expected, 5, 0.1, 0.2).bad, 1); /* 0.5 <= 0.1 + 0.4 */
    assert_int_equal(compare(KG_F32, got, expected, 5, INFINITY, 0).bad, 0);
    assert_int_equal(compare(KG_F32, got, expected, 5, (double)NAN, 0).bad, 5);
}

/* Errors 0, .5, 1, 0, -2 over scales of .1, .25, 4, 0 and 1. */
static void errors_are_held_over_their_scale(void **state)
{
    (void)state;
    float got[] = { 1, 2.5f, -3, 0, 8 }, expected[] = { 1, 2, -4, 0, 10 }, scales[] = { 0.1f, 0.25f, 4, 0, 1 };
    kg_tensor a = vector(KG_F32, 5, got), b = vector(KG_F32, 5, expected), c = vector(KG_F32, 5, scales);
    kg_gates gates = { .bad_abs = 1 };
    struct kg_comparison f;
    assert_int_equal(context->ops->compare(context, &a, &b, &c, &gates, &f, NULL), KG_OK);
    close_to(f.max_scaled, 2);
    close_to(f.scale_l2, sqrt(((double)0.1f * 0.1f + 0.0625 + 16 + 1) / 121));
    close_to(f.slope_scale, sqrt((double)0.1f * 0.1f + 0.25 + 256 + 100) / 121);
    close_to(f.slope, (1 + 5 + 12 + 80) / 121.0);
    close_to(f.largest, 10);
    close_to(f.expected_rms, sqrt(121 / 5.0));
    scales[3] = NAN; /* a right element needs no scale */
    assert_int_equal(context->ops->compare(context, &a, &b, &c, &gates, &f, NULL), KG_OK);
    close_to(f.max_scaled, 2);
    scales[1] = 0;
    assert_int_equal(context->ops->compare(context, &a, &b, &c, &gates, &f, NULL), KG_OK);
    assert_true(isinf(f.max_scaled));
}

static void gates_in_force(void **state)
{
    (void)state;
    const kg_gates own = {
        .max_abs = 1, .mean_abs = 2, .bad_abs = 3, .bad_rel = 4, .rel_l2 = 5, .scaled = 6, .slope = 7
    };
    kg_gates g = kg_gates_in_force(&own, false, true, 100);
    assert_memory_equal(&g, &own, sizeof g);
    g = kg_gates_in_force(&own, true, true, 100); /* a regime, by the error scale */
    assert_true(isinf(g.max_abs) && isinf(g.mean_abs) && isinf(g.bad_abs) && isinf(g.rel_l2));
    assert_true(g.bad_rel == 4 && g.scaled == 6 && g.slope == 7);
    g = kg_gates_in_force(&own, true, false, 100); /* by the size of the outputs */
    assert_true(g.max_abs == 100 && g.mean_abs == 200 && g.bad_abs == 300 && g.rel_l2 == 5 && g.scaled == 0);
    g = kg_gates_in_force(&own, true, false, 0.01);
    assert_true(g.max_abs == 1 && g.mean_abs == 2 && g.bad_abs == 3);
    g = kg_gates_in_force(&own, false, false, 100);
    assert_true(g.max_abs == 1 && g.scaled == 0);
}

static bool slope_passes(double slope, double scale_l2, double limit)
{
    const struct kg_comparison f = { .slope = slope, .scale_l2 = scale_l2, .slope_scale = scale_l2 / 800 };
    const kg_gates gates = { .slope = limit };
    return kg_comparison_mark(&f, &gates).slope;
}

static void a_slope_is_held_both_ways(void **state)
{
    (void)state;
    assert_true(slope_passes(1.0009, 0.01, 0.001) && slope_passes(0.9991, 0.01, 0.001));
    assert_false(slope_passes(1.0011, 0.01, 0.001) || slope_passes(0.9989, 0.01, 0.001));
    assert_false(slope_passes(NAN, 0.01, 0.001) || slope_passes(INFINITY, 0.01, 0.001));
    assert_true(slope_passes(5, 0.01, 0));         /* no limit */
    assert_true(slope_passes(1.007, 0.19, 0.001)); /* what rounding does to 10000 rows of 64: 4 * 0.19 / 100 */
    assert_false(slope_passes(1.008, 0.19, 0.001));
    assert_true(slope_passes(5, 0.21, 0.001)); /* outputs are lost in rounding */

    const struct kg_comparison far = { .slope = 1.1, .scale_l2 = 0.15, .slope_scale = 0.15 / 800 };
    const kg_gates normal = { .slope = 0.001 }, in_regime = { .slope = 0.001, .max_abs = INFINITY };
    assert_true(kg_comparison_mark(&far, &in_regime).slope && !kg_comparison_mark(&far, &normal).slope);
    const struct kg_comparison f = { .count = 1, .max_scaled = 4.1 };
    assert_false(kg_comparison_mark(&f, &(kg_gates){ .scaled = 4 }).scaled);
    assert_true(kg_comparison_mark(&f, &(kg_gates){ .scaled = 4.2 }).scaled);
    assert_true(kg_comparison_mark(&f, &(kg_gates){ .scaled = 0 }).scaled);
}

static void worst_is_the_first_of_the_largest(void **state)
{
    (void)state;
    enum { COUNT = 5000 };
    static float got[COUNT], expected[COUNT];
    memset(got, 0, sizeof got);
    memset(expected, 0, sizeof expected);
    assert_int_equal(compare(KG_F32, got, expected, COUNT, 0, 0).worst_index, 0);
    got[4321] = -3;
    got[1234] = 3;
    got[4999] = 3;
    assert_int_equal(compare(KG_F32, got, expected, COUNT, 0, 0).worst_index, 1234);
    got[4444] = INFINITY;
    got[3333] = NAN;
    struct kg_comparison f = compare(KG_F32, got, expected, COUNT, 0, 0);
    assert_int_equal(f.worst_index, 3333);
    assert_true(isnan(f.worst_got));
    assert_int_equal(f.nonfinite, 2);
    assert_int_equal(f.bad, 5);
    close_to(f.max_abs, 3); /* over the finite ones */
    close_to(f.mean_abs, 9.0 / (COUNT - 2));
    assert_true(isinf(f.rel_l2));
}

static void poison_and_infinities_count(void **state)
{
    (void)state;
    uint16_t f16[] = { 0x3c00, 0xffff, 0x7c00, 0x7e00 }, bf16[] = { 0x3f80, 0xffff, 0x7f80, 0xfffe };
    float expected[] = { 1, 1, INFINITY, 1 }, unwritten[2];
    struct kg_comparison f = compare(KG_F16, f16, expected, 4, 1, 0);
    assert_int_equal(f.nonfinite, 3); /* an infinity that is expected too */
    assert_int_equal(f.unwritten, 1);
    assert_int_equal(f.bad, 3);
    assert_int_equal(f.worst_index, 1);
    f = compare(KG_BF16, bf16, expected, 4, 1, 0);
    assert_int_equal(f.nonfinite, 3);
    assert_int_equal(f.unwritten, 1);
    close_to(f.max_abs + 1, 1);
    memset(unwritten, KG_POISON, sizeof unwritten);
    f = compare(KG_F32, unwritten, expected, 2, 1, 0);
    assert_int_equal(f.unwritten, 2);
    assert_int_equal(f.nonfinite, 2);
    assert_true(f.mean_abs == 0 && f.bias == 0 && f.rel_l2 == 0); /* means over nothing; `finite` fails */
}

static void codes_count_as_their_values(void **state)
{
    (void)state;
    uint8_t e4m3[] = { 0x38, 0xb8, 0x7e, 0x01, 0x08, 0xff, 0x7f }; /* 1, -1, 448, 2^-9, 2^-6, unwritten, NaN */
    float expected[] = { 1, -1, 448, 0x1p-9f, 0x1p-6f, 1, 1 };
    struct kg_comparison f = compare(KG_E4M3, e4m3, expected, 5, 0, 0);
    assert_true(f.bad == 0 && f.nonfinite == 0 && f.unwritten == 0);
    f = compare(KG_E4M3, e4m3, expected, 7, 0, 0);
    assert_true(f.bad == 2 && f.nonfinite == 2 && f.unwritten == 1);
}

static void every_e4m3_code_has_its_value(void **state)
{
    (void)state;
    for (int code = 0; code < 256; code++) {
        int exponent = code >> 3 & 15, mantissa = code & 7;
        double value = exponent ? ldexp(8 + mantissa, exponent - 10) : ldexp(mantissa, -9);
        float got = kg_float_from_e4m3((uint8_t)code);
        assert_true((code & 0x7f) == 0x7f ? isnan(got) : got == (float)(code & 0x80 ? -value : value));
    }
}

static void outputs_are_compared_in_their_unit(void **state)
{
    (void)state;
    uint8_t e4m3[] = { 0x38, 0x40 }; /* 1, 2 */
    float f32[] = { 1, 2 }, expected[] = { 0.25f, 0.5f };
    kg_tensor of = vector(KG_F32, 2, expected), got[] = { vector(KG_E4M3, 2, e4m3), vector(KG_F32, 2, f32) };
    kg_gates gates = { .bad_abs = 0 };
    struct kg_comparison comparison;
    kg_error error;
    for (int i = 0; i < 2; i++) {
        got[i].unit = 0.25;
        assert_int_equal(context->ops->compare(context, &got[i], &of, NULL, &gates, &comparison, &error), KG_OK);
        assert_true(comparison.bad == 0 && comparison.max_abs == 0);
        got[i].unit = 0; /* stands for 1 */
        assert_int_equal(context->ops->compare(context, &got[i], &of, NULL, &gates, &comparison, &error), KG_OK);
        assert_true(comparison.bad == 2 && comparison.max_abs == 1.5 && comparison.worst_got == 2);
    }
}

static void rel_l2_of_zeros(void **state)
{
    (void)state;
    float zeros[] = { 0, -0.0f }, ones[] = { 1, 1 };
    assert_true(compare(KG_F32, zeros, zeros, 2, 0, 0).rel_l2 == 0);
    assert_true(isinf(compare(KG_F32, ones, zeros, 2, 0, 0).rel_l2));
    assert_true(compare(KG_F32, zeros, ones, 2, 0, 0).rel_l2 == 1);
    close_to(compare(KG_F32, ones, zeros, 2, 0, 0).max_rel, 1e6);
}

static void sums_repeat_whatever_the_threads(void **state)
{
    (void)state;
    enum { COUNT = 70001 };
    kg_tensor got = vector(KG_F32, COUNT, allocate(COUNT * 4)), expected = vector(KG_F32, COUNT, allocate(COUNT * 4));
    kg_error error;
    assert_int_equal(context->ops->fill(context, &got, 1, 0, &error), KG_OK);
    assert_int_equal(context->ops->fill(context, &expected, 1, 1, &error), KG_OK);
    struct kg_comparison first = compare(KG_F32, got.data, expected.data, COUNT, 1, 0);
    assert_int_equal(first.count, COUNT);
    assert_true(fabs(first.rel_l2 - sqrt(2)) < 0.02); /* independent: twice the variance */
    assert_true(fabs(first.mean_abs - 1.13) < 0.02);  /* 2 / sqrt(pi), nearly */
#ifdef _OPENMP
    int threads = omp_get_max_threads();
    omp_set_num_threads(3);
    struct kg_comparison again = compare(KG_F32, got.data, expected.data, COUNT, 1, 0);
    omp_set_num_threads(threads);
    assert_memory_equal(&first, &again, sizeof first);
#endif
    release(got.data);
    release(expected.data);
}

static void marks_fail_on_nan_and_on_nothing(void **state)
{
    (void)state;
    kg_gates gates = { .max_abs = 1, .mean_abs = 1, .bad_pct = 0, .rel_l2 = 1 };
    struct kg_comparison good = { .count = 1, .max_abs = 1, .mean_abs = 1, .rel_l2 = 1 };
    assert_true(kg_gate_marks_all(kg_comparison_mark(&good, &gates)));
    struct kg_comparison f = good;
    f.max_abs = nextafter(1, 2);
    assert_false(kg_comparison_mark(&f, &gates).max_abs);
    f = good;
    f.mean_abs = (double)NAN;
    assert_false(kg_comparison_mark(&f, &gates).mean_abs);
    f = good;
    f.bad_pct = 1e-9;
    assert_false(kg_comparison_mark(&f, &gates).bad_pct);
    f = good;
    f.rel_l2 = INFINITY;
    assert_false(kg_comparison_mark(&f, &gates).rel_l2);
    f = good;
    f.nonfinite = 1;
    assert_false(kg_comparison_mark(&f, &gates).finite);
    f = good;
    f.count = 0;
    assert_false(kg_comparison_mark(&f, &gates).finite);
    assert_false(kg_gate_marks_all(kg_comparison_mark(&f, &gates)));
}

/* ---- windows ----------------------------------------------------------------------------------------------- */

struct work {
    int rounds, calls;
    int last_index;
    int fail_at; /* -1: never */
};

static int busy(void *argument, int index, void *stream, kg_error *ret_error)
{
    struct work *work = argument;
    assert_null(stream);
    volatile double x = 1;
    for (int i = 0; i < work->rounds; i++)
        x = x * 1.0000001 + 1e-9;
    work->calls++;
    work->last_index = index;
    return index == work->fail_at ? kg_fail(ret_error, KG_EDEVICE, "planted") : KG_OK;
}

static double wall_us(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e6 + (double)now.tv_nsec * 1e-3;
}

static void windows_run_in_order_and_are_timed(void **state)
{
    (void)state;
    struct work small = { .rounds = 20000, .fail_at = -1 }, large = { .rounds = 160000, .fail_at = -1 };
    kg_window *windows[2];
    kg_error error;
    assert_int_equal(context->ops->window_new(context, busy, &small, 3, false, -1, &windows[0], &error), KG_OK);
    assert_int_equal(context->ops->window_new(context, busy, &large, 3, true, -1, &windows[1], &error), KG_OK);
    kg_window *order[] = { windows[0], windows[1], windows[0], windows[1], windows[0], windows[1] };
    double times_us[6], small_us = INFINITY, large_us = INFINITY;
    for (int batch = 0; batch < 5; batch++) {
        double start_us = wall_us(), sum_us = 0;
        assert_int_equal(kg_device_measure(context, order, 6, times_us, &error), KG_OK);
        for (int i = 0; i < 6; i++)
            sum_us += times_us[i];
        assert_true(sum_us <= wall_us() - start_us + 1); /* no time is in two windows */
        for (int i = 0; i < 6; i += 2) {
            small_us = fmin(small_us, times_us[i]);
            large_us = fmin(large_us, times_us[i + 1]);
        }
    }
    assert_int_equal(small.calls, 5 * 3 * 3);
    assert_int_equal(large.calls, 5 * 3 * 3);
    assert_int_equal(small.last_index, 2);
    assert_true(small_us > 3); /* 60,000 dependent operations take longer on anything */
    assert_true(large_us > 4 * small_us && large_us < 16 * small_us);
    context->ops->window_free(context, windows[0]);
    context->ops->window_free(context, windows[1]);
    context->ops->window_free(context, NULL);
}

/* Two batches may wait; the times come in the order in which the batches went. */
static void batches_are_collected_in_their_order(void **state)
{
    (void)state;
    struct work work = { .rounds = 10, .fail_at = -1 };
    kg_window *plain, *spun, *three[3];
    kg_error error;
    double first_us[3], second_us[1];
    assert_int_equal(context->ops->window_new(context, busy, &work, 1, false, 0, &plain, &error), KG_OK);
    assert_int_equal(context->ops->window_new(context, busy, &work, 1, false, 20000, &spun, &error), KG_OK);
    three[0] = three[1] = three[2] = spun;
    assert_int_equal(context->ops->enqueue(context, three, 3, &error), KG_OK);
    assert_int_equal(context->ops->enqueue(context, &plain, 1, &error), KG_OK);
    assert_int_equal(context->ops->collect(context, first_us, &error), KG_OK);
    assert_int_equal(context->ops->collect(context, second_us, &error), KG_OK);
    assert_int_equal(work.calls, 4);
    for (int i = 0; i < 3; i++)
        assert_true(first_us[i] >= 20000); /* the spin is at least as long as it was told to be */
    assert_true(second_us[0] < first_us[0]);
    context->ops->window_free(context, plain);
    context->ops->window_free(context, spun);
}

static void measure_passes_failures_on(void **state)
{
    (void)state;
    struct work work = { .rounds = 10, .fail_at = 1 };
    kg_window *window, *many[KG_MAX_BATCH + 1];
    kg_error error = { 0 };
    double times_us[KG_MAX_BATCH] = { -5 };
    assert_int_equal(context->ops->window_new(context, busy, &work, 4, false, -1, &window, &error), KG_OK);
    assert_int_equal(kg_device_measure(context, &window, 1, times_us, &error), KG_EDEVICE);
    assert_string_equal(error.text, "planted");
    assert_int_equal(work.calls, 2);
    assert_true(times_us[0] == -5);
    for (int i = 0; i <= KG_MAX_BATCH; i++)
        many[i] = window;
    assert_int_equal(kg_device_measure(context, many, KG_MAX_BATCH + 1, times_us, &error), KG_EINVAL);
    assert_int_equal(kg_device_measure(context, many, 0, times_us, &error), KG_EINVAL);
    work.fail_at = -1;
    assert_int_equal(kg_device_measure(context, many, KG_MAX_BATCH, times_us, &error), KG_OK);
    context->ops->window_free(context, window);
}

static void tick_and_state_are_plausible(void **state)
{
    (void)state;
    double tick_us = context->ops->timer_tick_us(context);
    assert_true(tick_us > 0 && tick_us < 100);
    struct kg_device_state health;
    context->ops->state(context, &health);
    assert_true(health.power_w == -1 && health.other_processes == -1 && health.throttle_reasons == -1);
    struct kg_launch_info info;
    struct work work = { .fail_at = -1 };
    kg_error error;
    memset(&info, 1, sizeof info);
    assert_int_equal(context->ops->inspect(context, busy, &work, &info, &error), KG_OK);
    assert_true(info.kernels == 0 && info.n_launched == 0 && work.calls == 0);
}

/* ---- memory and names -------------------------------------------------------------------------------------- */

static void memory_is_aligned_and_freed_on_close(void **state)
{
    (void)state;
    kg_context *other;
    kg_error error;
    assert_int_equal(kg_device_open(KG_CPU, 0, &other, &error), KG_OK);
    for (size_t i = 0; i < 100; i++) { /* left to close; the address sanitizer sees a leak */
        void *data;
        assert_int_equal(other->ops->allocate(other, 3 * i, &data, &error), KG_OK);
        assert_int_equal((uintptr_t)data % 256, 0);
        assert_int_equal(other->ops->paint(other, data, 3 * i, 1, &error), KG_OK);
        if (i % 3 == 0)
            other->ops->release(other, data);
    }
    int own = 0;
    other->ops->release(other, &own); /* not its own: left alone */
    other->ops->release(other, NULL);
    other->ops->close(other);
    context->ops->close(NULL);
}

static const void *released;

static void note_released(void *argument, const void *data)
{
    assert_ptr_equal(argument, &released);
    released = data;
}

/* What is handed over, and not its neighbour. */
static void memory_is_shared_by_the_buffer(void **state)
{
    (void)state;
    struct kg_shared shared;
    kg_context *own = NULL;
    void *first, *second;
    int how = -1;
    assert_int_equal(kg_device_open(KG_CPU, 0, &own, NULL), KG_OK);
    own->released = note_released;
    own->released_argument = &released;
    assert_int_equal(own->ops->allocate(own, 100000, &first, NULL), KG_OK);
    assert_int_equal(own->ops->allocate(own, 4, &second, NULL), KG_OK);
    assert_true((uintptr_t)first % 256 == 0 && (uintptr_t)second % 256 == 0);
    memset(first, 1, 100000);
    assert_int_equal(own->ops->share(own, first, 100000, &shared, NULL), KG_OK);
    const pid_t child = fork();
    if (child == 0) {
        char *data = NULL;
        if (own->ops->map(own, &shared, (void **)&data, NULL) || data == first || data[99999] != 1)
            _exit(1);
        data[99999] = 2;
        own->ops->unmap(own, data, shared.bytes);
        _exit(0);
    }
    assert_int_equal(waitpid(child, &how, 0), child);
    assert_int_equal(how, 0);
    assert_true(((char *)first)[99999] == 2 && ((char *)first)[99998] == 1 && shared.bytes < 110000);
    own->ops->release(own, first);
    assert_ptr_equal(released, first);
    own->ops->close(own);
}

/* Of whose addresses a kernel has protected: each way to write, from anywhere in a page. */
static void protected_pages_are_written_unseen(void **state)
{
    (void)state;
    enum { BYTES = 100000, AT = 5000 };
    static const char written[] = "what is written";
    kg_context *own = NULL;
    char *data;
    assert_int_equal(kg_device_open(KG_CPU, 0, &own, NULL), KG_OK);
    own->unseen_writes = true;
    assert_int_equal(own->ops->allocate(own, BYTES, (void **)&data, NULL), KG_OK);
    memset(data, 1, BYTES);
    assert_int_equal(mprotect(data, BYTES, PROT_READ), 0);
    kg_tensor tensor = vector(KG_F32, 64, data + 4096);
    tensor.std = 1;
    assert_int_equal(own->ops->fill(own, &tensor, 3, 0, NULL), KG_OK);
    assert_true(digest_of(data + 4096, 256) == digest_of_fill(KG_F32, 64, 1, 3, 0));
    assert_int_equal(own->ops->copy(own, data + AT, written, sizeof written, NULL), KG_OK);
    assert_string_equal(data + AT, written);
    assert_int_equal(own->ops->paint(own, data + AT + 100, 9000, 0x07070707, NULL), KG_OK);
    assert_true(data[AT + 99] == 1 && data[AT + 100] == 7 && data[AT + 9099] == 7 && data[AT + 9100] == 1);
    own->ops->release(own, data);
    own->ops->close(own);
}

static void free_memory_is_what_the_system_says(void **state)
{
    char root[SCRATCH_SIZE], folder[SCRATCH_SIZE + 8];
    uint64_t here = 0;
    (void)state;
    scratch_new(root);
    assert_true(kg_cpu_free_bytes(root) == UINT64_MAX);
    (void)snprintf(folder, sizeof folder, "%s/proc", root);
    assert_int_equal(mkdir(folder, 0700), 0);
    scratch_write(folder, "meminfo", "MemTotal:       32780000 kB\nMemFree:         1000000 kB\n");
    assert_true(kg_cpu_free_bytes(root) == UINT64_MAX);
    scratch_write(folder, "meminfo", "MemTotal:       32780000 kB\nMemAvailable:   24000001 kB\nBuffers: 7 kB\n");
    assert_true(kg_cpu_free_bytes(root) == UINT64_C(24000001) * 1024);
    scratch_free(root);
    assert_int_equal(context->ops->free_bytes(context, &here, NULL), KG_OK);
    assert_true(here > 1 << 20 && (here == UINT64_MAX || here <= context->device.memory_bytes));
}

static void copies_copy(void **state)
{
    (void)state;
    char from[] = "0123456789", to[11] = "", back[11] = "";
    kg_error error;
    assert_int_equal(context->ops->copy(context, to, from, sizeof from, &error), KG_OK);
    assert_int_equal(context->ops->copy_to_host(context, back, to, sizeof to, &error), KG_OK);
    assert_string_equal(back, from);
}

static void busy_threads_work_until_they_are_stopped(void **state)
{
    (void)state;
    kg_error error = { 0 };
    const struct timespec a_while = { .tv_nsec = 50000000 };
    uint8_t *data = allocate(KG_COMPETING_BYTES);
    assert_int_equal(context->ops->paint(context, data, KG_COMPETING_BYTES, 0, &error), KG_OK);
    for (int turn = 0; turn < 3; turn++) {
        const uint64_t before = digest_of(data, KG_COMPETING_BYTES);
        assert_int_equal(context->ops->compete(context, data, 20, 0, &error), KG_OK);
        nanosleep(&a_while, NULL);
        assert_int_equal(context->ops->compete_end(context, &error), KG_OK);
        const uint64_t changed = digest_of(data, KG_COMPETING_BYTES);
        assert_true(changed != before);
        nanosleep(&a_while, NULL);
        assert_true(digest_of(data, KG_COMPETING_BYTES) == changed);
    }
    release(data);
}

static void architectures_have_these_names(void **state)
{
    (void)state;
    static const struct {
        const char *name, *arch;
    } rows[] = {
        { "NVIDIA H200", "h200" },
        { "NVIDIA B200", "b200" },
        { "NVIDIA GB10", "gb10" },
        { "NVIDIA L4", "l4" },
        { "NVIDIA H100 80GB HBM3", "h100_80gb_hbm3" },
        { "NVIDIA A100-SXM4-80GB", "a100_sxm4_80gb" },
        { "NVIDIA GeForce RTX 4090", "geforce_rtx_4090" },
        { "NVIDIA H200 MIG 1g.18gb", "h200_mig_1g_18gb" }, /* a slice is not the whole card */
        { "NVIDIA A100-SXM4-40GB MIG 1g.5gb", "a100_sxm4_40gb_mig_1g_5gb" },
        { "Tesla T4", "tesla_t4" },
        { "  NVIDIA H200  ", "h200" },
        { "NVIDIA", "nvidia" }, /* nothing would be left */
        { "NVIDIA ", "unknown" },
        { "Gr\xc3\xbcn 1", "gr__n_1" }, /* a file's name: ASCII only */
        { "../x", "___x" },
        { "", "unknown" },
        { "cpu_GenuineIntel_6_207", "cpu_genuineintel_6_207" },
    };
    char arch[64];
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        kg_device_arch_name(rows[i].name, arch, sizeof arch);
        assert_string_equal(arch, rows[i].arch);
    }
    kg_device_arch_name("NVIDIA H100 80GB HBM3", arch, 6);
    assert_string_equal(arch, "h100");
}

static void launches_as_text(void **state)
{
    static const struct kg_launched kernel = { "k", { 64, 8, 1 }, { 256, 1, 1 }, { 0 }, 49152, 0 },
                                    small = { "k", { 512, 1, 3 }, { 128, 1, 1 }, { 2, 1, 1 }, 0, 0 };
    char text[1024];
    (void)state;
    struct kg_launch_info info = { .n_launched = 0 };
    kg_launch_format(&info, text, sizeof text);
    assert_string_equal(text, "host");
    info.staged = 0x1234567;
    kg_launch_format(&info, text, sizeof text);
    assert_string_equal(text, "host; staged 01234567");
    info = (struct kg_launch_info){
        .kernels = 3, .memory_nodes = 1, .other_nodes = 2, .n_launched = 2, .launched = { kernel, small }
    };
    kg_launch_format(&info, text, sizeof text);
    assert_string_equal(text, "grid 64x8 block 256 shared 49152; grid 512x1x3 block 128 cluster 2; 1 more kernel; "
                              "1 memory node; 2 other nodes");
    info = (struct kg_launch_info){
        .kernels = 2, .early_starts = 1, .given = 0xff, .n_launched = 2, .launched = { kernel, small }
    };
    info.launched[0].arguments = 0x5f3a9c01;
    info.launched[1].arguments = -1;
    kg_launch_format(&info, text, sizeof text);
    assert_string_equal(text, "grid 64x8 block 256 shared 49152 arguments 5f3a9c01; "
                              "grid 512x1x3 block 128 cluster 2; 1 early start; given 000000ff");
    info = (struct kg_launch_info){ .kernels = KG_MAX_KERNELS + 2, .n_launched = KG_MAX_KERNELS };
    for (int i = 0; i < KG_MAX_KERNELS; i++)
        info.launched[i] = small;
    kg_launch_format(&info, text, sizeof text);
    assert_non_null(strstr(text, "cluster 2; 2 more kernels"));
}

static void describe(const char *text, const char *name, const char *arch)
{
    kg_device device = { 0 };
    FILE *file = text ? fmemopen((void *)(uintptr_t)text, strlen(text), "r") : NULL;
    kg_cpu_describe_text(file, &device);
    if (file)
        (void)fclose(file);
    assert_string_equal(device.name, name);
    assert_string_equal(device.arch, arch);
}

static void processors_have_these_names(void **state)
{
    (void)state;
    describe("processor\t: 0\nvendor_id\t: AuthenticAMD\ncpu family\t: 25\nmodel\t\t: 17\n"
             "model name\t: AMD EPYC 9654\nprocessor\t: 1\nvendor_id\t: Other\nmodel\t\t: 99\n",
             "AMD EPYC 9654", "cpu_authenticamd_25_17");
    describe("processor\t: 0\nBogoMIPS\t: 2000\nCPU implementer\t: 0x41\nCPU part\t: 0xd85\n", "cpu_arm_0x41_0xd85",
             "cpu_arm_0x41_0xd85");
    describe("processor : 0\nno colon here\n", "cpu_unknown", "cpu_unknown");
    describe(NULL, "cpu_unknown", "cpu_unknown");
}

static void probe_describes_this_machine(void **state)
{
    (void)state;
    kg_device device;
    int count = 0;
    kg_error error;
    assert_int_equal(kg_device_probe(KG_CPU, &device, 1, &count, &error), KG_OK);
    assert_int_equal(count, 1);
    assert_int_equal(device.kind, KG_CPU);
    assert_int_equal(strncmp(device.arch, "cpu_", 4), 0);
    assert_true(device.units >= 1 && device.fp64_ratio == 1 && device.cc_major == 0);
    assert_true(device.memory_bytes > 1 << 20 && device.l2_bytes >= 1 << 16);
    assert_true(device.peak_flops >= 6.4e11 * device.units);
    assert_string_equal(device.uuid, context->device.uuid);
    assert_true(strlen(device.uuid) > 0 && device.driver[0] == '\0');
    assert_int_equal(kg_device_probe(KG_CPU, &device, 0, &count, &error), KG_EINVAL);
    kg_context *none = NULL;
    assert_int_equal(kg_device_open(KG_CPU, 1, &none, &error), KG_ENOTFOUND);
    assert_int_equal(kg_device_open((enum kg_device_kind)9, 0, &none, &error), KG_EINVAL);
    assert_null(none);
}

#if !KG_WITH_CUDA
static void a_build_without_cuda_says_so(void **state)
{
    (void)state;
    kg_device device;
    kg_context *none = NULL;
    int count = -1;
    kg_error error;
    assert_int_equal(kg_device_probe(KG_CUDA, &device, 1, &count, &error), KG_EUNSUPPORTED);
    assert_string_equal(error.text, "this build has no CUDA");
    assert_int_equal(kg_device_open(KG_CUDA, 0, &none, &error), KG_EUNSUPPORTED);
    assert_int_equal(count, -1);
    assert_null(none);
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fill_gives_the_frozen_bits),
        cmocka_unit_test(fill_does_not_depend_on_threads),
        cmocka_unit_test(values_have_the_moments_asked_for),
        cmocka_unit_test(sixteen_bits_go_to_float_and_back),
        cmocka_unit_test(floats_round_to_nearest_even),
        cmocka_unit_test(changed_bytes_are_counted),
        cmocka_unit_test(bytes_are_painted_by_address),
        cmocka_unit_test(digest_sees_every_bit_and_place),
        cmocka_unit_test(digest_is_the_sum_of_its_words),
        cmocka_unit_test(figures_are_those_worked_out_by_hand),
        cmocka_unit_test(errors_are_held_over_their_scale),
        cmocka_unit_test(gates_in_force),
        cmocka_unit_test(a_slope_is_held_both_ways),
        cmocka_unit_test(worst_is_the_first_of_the_largest),
        cmocka_unit_test(poison_and_infinities_count),
        cmocka_unit_test(codes_count_as_their_values),
        cmocka_unit_test(every_e4m3_code_has_its_value),
        cmocka_unit_test(outputs_are_compared_in_their_unit),
        cmocka_unit_test(rel_l2_of_zeros),
        cmocka_unit_test(sums_repeat_whatever_the_threads),
        cmocka_unit_test(marks_fail_on_nan_and_on_nothing),
        cmocka_unit_test(windows_run_in_order_and_are_timed),
        cmocka_unit_test(batches_are_collected_in_their_order),
        cmocka_unit_test(measure_passes_failures_on),
        cmocka_unit_test(tick_and_state_are_plausible),
        cmocka_unit_test(memory_is_aligned_and_freed_on_close),
        cmocka_unit_test(memory_is_shared_by_the_buffer),
        cmocka_unit_test(protected_pages_are_written_unseen),
        cmocka_unit_test(free_memory_is_what_the_system_says),
        cmocka_unit_test(copies_copy),
        cmocka_unit_test(busy_threads_work_until_they_are_stopped),
        cmocka_unit_test(architectures_have_these_names),
        cmocka_unit_test(launches_as_text),
        cmocka_unit_test(processors_have_these_names),
        cmocka_unit_test(probe_describes_this_machine),
#if !KG_WITH_CUDA
        cmocka_unit_test(a_build_without_cuda_says_so),
#endif
    };
    return cmocka_run_group_tests(tests, open_device, close_device);
}
