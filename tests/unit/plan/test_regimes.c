/* test_regimes.c -- the host's regimes: what their elements are like, in any rank; and how a regime is found. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "plan/field.h"
#include "plan/regime.h"

static const kg_op bare = { .name = "bare" };

struct call {
    kg_tensor tensors[KG_MAX_TENSORS];
};

/* Two inputs of the given shape and an output between them, which has no data. */
static struct call normal(int rank, const int64_t *dims, double std, uint64_t seed)
{
    struct call call = { .tensors = { { .role = KG_INPUT }, { .role = KG_OUTPUT }, { .role = KG_INPUT } } };
    for (uint32_t t = 0; t < 3; t++) {
        kg_tensor *tensor = &call.tensors[t];
        tensor->dtype = KG_F32;
        tensor->rank = rank;
        memcpy(tensor->dims, dims, (size_t)rank * sizeof *dims);
        if (tensor->role == KG_OUTPUT)
            continue;
        float *values = tensor->data = malloc(kg_tensor_bytes(tensor));
        assert_non_null(values);
        tensor->std = std;
        for (int64_t i = 0; i < kg_tensor_count(tensor); i++)
            values[i] = kg_random_value(kg_random_key(seed, t), (uint64_t)i, kg_random_scale(std != 0 ? std : 1));
    }
    return call;
}

static struct call made_of(const char *name, int rank, const int64_t *dims, double std, uint64_t seed)
{
    struct call call = normal(rank, dims, std, seed);
    const kg_regime *regime = kg_regime_find(&bare, name);
    assert_non_null(regime);
    assert_int_equal(regime->change(regime->data, NULL, seed, call.tensors, NULL), KG_OK);
    return call;
}

static void done(struct call *call)
{
    for (int t = 0; t < KG_MAX_TENSORS; t++)
        free(call->tensors[t].data);
}

static const float *values_of(const struct call *call, int tensor)
{
    return call->tensors[tensor].data;
}

static bool same_inputs(const struct call *a, const struct call *b)
{
    return !memcmp(values_of(a, 0), values_of(b, 0), kg_tensor_bytes(&a->tensors[0])) &&
           !memcmp(values_of(a, 2), values_of(b, 2), kg_tensor_bytes(&a->tensors[2]));
}

/* ---- found by name --------------------------------------------------------------------------------------------- */

static void an_ops_own_comes_first(void **state)
{
    (void)state;
    const kg_regime own[] = { { .name = "other" }, { .name = "ones" } };
    const kg_op op = { .name = "op", .regimes = KG_LIST(own) };
    assert_ptr_equal(kg_regime_find(&op, "ones"), &own[1]);
    assert_ptr_equal(kg_regime_find(&op, "other"), &own[0]);
    assert_ptr_equal(kg_regime_find(&bare, "ones"), kg_regime_find(&(kg_op){ .name = "op" }, "ones"));
    assert_ptr_not_equal(kg_regime_find(&bare, "ones"), &own[1]);
    assert_null(kg_regime_find(&bare, "other"));
    assert_null(kg_regime_find(&op, "one"));
    assert_null(kg_regime_find(&op, ""));
    assert_null(kg_regime_find(&op, "normal")); /* names no regime */
}

static void names_are_valid_and_different(void **state)
{
    (void)state;
    assert_int_equal(kg_host_regimes.count, 11);
    for (size_t i = 0; i < kg_host_regimes.count; i++) {
        const kg_regime *regime = &kg_host_regimes.items[i];
        assert_true(kg_name_valid(regime->name) && regime->help && *regime->help);
        assert_ptr_equal(kg_regime_find(&bare, regime->name), regime);
        assert_int_equal(regime->change == NULL, !strcmp(regime->name, "poison"));
    }
}

/* ---- every one of them ------------------------------------------------------------------------------------------ */

static const struct {
    int rank;
    int64_t dims[KG_MAX_RANK];
} shapes[] = {
    { 1, { 1 } },
    { 1, { 4099 } },
    { 2, { 3, 1 } },
    { 2, { 1, 300 } },
    { 3, { 2, 70, 33 } },
    { 4, { 2, 3, 17, 64 } },
    { 5, { 2, 3, 2, 19, 30 } },
    { 3, { 3, 200, 128 } },
};

static void check_shape(const char *name, int rank, const int64_t *dims)
{
    struct call first = made_of(name, rank, dims, 0.5, 7), again = made_of(name, rank, dims, 0.5, 7);
    struct call other = made_of(name, rank, dims, 0.5, 8), untouched = normal(rank, dims, 0.5, 7);
    assert_true(same_inputs(&first, &again));
    if (kg_tensor_count(&first.tensors[0]) > 100) {
        assert_int_equal(same_inputs(&first, &other), !strcmp(name, "ones"));
        assert_false(same_inputs(&first, &untouched));
    }
    for (int t = 0; t < 3; t += 2)
        for (int64_t i = 0; i < kg_tensor_count(&first.tensors[t]); i++) {
            float value = values_of(&first, t)[i];
            assert_true(isfinite(kg_float_from_f16(kg_f16_from_float(value))));
            assert_true(isfinite(kg_float_from_bf16(kg_bf16_from_float(value))));
        }
    done(&first), done(&again), done(&other), done(&untouched);
}

static void seeds_decide_and_values_are_finite_in_any_dtype(void **state)
{
    (void)state;
    for (size_t r = 0; r < kg_host_regimes.count; r++)
        for (size_t s = 0; s < sizeof shapes / sizeof *shapes && kg_host_regimes.items[r].change; s++)
            check_shape(kg_host_regimes.items[r].name, shapes[s].rank, shapes[s].dims);
}

/* ---- one by one ------------------------------------------------------------------------------------------------- */

static const int64_t matrix[] = { 3, 200, 128 }; /* of which 600 rows of 128 */
enum { ROWS = 600, CHANNELS = 128, COUNT = ROWS * CHANNELS };

static void ones_and_constants(void **state)
{
    (void)state;
    struct call ones = made_of("ones", 3, matrix, 0.5, 1), constant = made_of("constant", 3, matrix, 0.5, 1);
    for (int t = 0; t < 3; t += 2)
        for (int64_t i = 0; i < COUNT; i++) {
            float value = values_of(&constant, t)[i];
            assert_true(values_of(&ones, t)[i] == 1);
            assert_true(value == values_of(&constant, t)[0] && fabsf(value) >= 0.25f && fabsf(value) <= 1);
            assert_true(kg_float_from_bf16(kg_bf16_from_float(value)) == value);
        }
    assert_true(values_of(&constant, 0)[0] != values_of(&constant, 2)[0]);
    done(&ones), done(&constant);
}

/* A step of one, of a tile, and an exchange of two places show; values are exact in every dtype. */
static void codes_tell_places_apart(void **state)
{
    (void)state;
    const int64_t dims[] = { 4, 4, 64, 64 }, strides[] = { 4 * 64 * 64, 64 * 64, 64, 1 };
    struct call call = made_of("coded", 4, dims, 0.5, 3);
    const float *v = values_of(&call, 0);
    for (int64_t i = 0; i < kg_tensor_count(&call.tensors[0]); i++) {
        assert_true(kg_float_from_bf16(kg_bf16_from_float(v[i])) == v[i] && fabsf(v[i]) < 2);
        for (int d = 0; d < 4; d++)
            for (int64_t step = 1; step <= 32; step *= 2)
                if (i / strides[d] % dims[d] + step < dims[d])
                    assert_true(v[i] != v[i + step * strides[d]]);
        int64_t row = i / 64 % 64, channel = i % 64;
        assert_true(row == channel || v[i] != v[i - row * 64 - channel + channel * 64 + row]);
    }
    assert_true(v[0] != values_of(&call, 2)[0]);
    done(&call);
}

static void outliers_are_whole_channels(void **state)
{
    (void)state;
    struct call call = made_of("outliers", 3, matrix, 0.5, 5);
    int off = 0, far_off = 0;
    for (int64_t c = 0; c < CHANNELS; c++) {
        double mean = 0, square = 0;
        for (int64_t row = 0; row < ROWS; row++) {
            double value = (double)values_of(&call, 0)[row * CHANNELS + c] / 0.5;
            mean += value / ROWS, square += value * value / ROWS;
        }
        assert_true(fabs(square - mean * mean - 1) < 0.3);
        off += fabs(mean) > 8.5 && fabs(mean) < 101.5;
        far_off += fabs(mean - 300) < 0.5;
        assert_true(fabs(mean - 1) < 0.3 || (fabs(mean) > 8.5 && fabs(mean) < 300.5));
    }
    assert_true(far_off == 1 && off >= 3 && off <= 5);
    done(&call);
}

static void sizes(void **state)
{
    (void)state;
    struct call plain = normal(3, matrix, 0.5, 2), large = made_of("large", 3, matrix, 0.5, 2);
    struct call tiny = made_of("tiny", 3, matrix, 0.5, 2), sparse = made_of("sparse", 3, matrix, 0.5, 2);
    int64_t kept = 0, f16 = 0, f32 = 0;
    for (int64_t i = 0; i < COUNT; i++) {
        float small = values_of(&tiny, 0)[i], rare = values_of(&sparse, 0)[i], x = values_of(&plain, 0)[i];
        assert_true(values_of(&large, 0)[i] == x * 1024);
        assert_true(rare == 0 || rare == x);
        assert_true(fabsf(small) < 0x1p-14f && (i % 2 == 0 || fabsf(small) < 0x1p-126f));
        kept += rare != 0;
        f16 += i % 2 == 0 && kg_float_from_f16(kg_f16_from_float(small)) != 0;
        f32 += i % 2 == 1 && kg_float_from_bf16(kg_bf16_from_float(small)) != 0;
    }
    assert_true(kept > COUNT / 9 && kept < COUNT / 7);
    assert_true(f16 > COUNT * 48 / 100 && f32 > COUNT * 46 / 100);
    done(&plain), done(&large), done(&tiny), done(&sparse);
}

static double mean_of_row(const struct call *call, int64_t row)
{
    double mean = 0;
    for (int64_t c = 0; c < CHANNELS; c++)
        mean += (double)values_of(call, 0)[row * CHANNELS + c] / CHANNELS / 0.5;
    return mean;
}

static void rows_rise_and_fall(void **state)
{
    (void)state;
    struct call up = made_of("ascending", 3, matrix, 0.5, 2), down = made_of("descending", 3, matrix, 0.5, 2);
    for (int64_t row = 0; row < ROWS; row++) {
        double place = (double)(row % 200) / 199 * 4 - 2;
        assert_true(fabs(mean_of_row(&up, row) - place) < 0.15);
        assert_true(fabs(mean_of_row(&down, row) + place) < 0.15);
    }
    done(&up), done(&down);
    const int64_t line[] = { 1000 };
    up = made_of("ascending", 1, line, 1, 2);
    assert_true(values_of(&up, 0)[0] < -0.5f && values_of(&up, 0)[999] > 0.5f);
    done(&up);
}

static void signs_alternate(void **state)
{
    (void)state;
    struct call plain = normal(3, matrix, 0.5, 2), call = made_of("alternating", 3, matrix, 0.5, 2);
    for (int64_t i = 0; i < COUNT; i++) {
        float value = values_of(&call, 2)[i];
        assert_true(fabsf(value) == fabsf(values_of(&plain, 2)[i]));
        assert_true(value == 0 || (value < 0) == ((i / CHANNELS % 200 + i % CHANNELS) % 2 == 1));
    }
    done(&plain), done(&call);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_ops_own_comes_first),
        cmocka_unit_test(names_are_valid_and_different),
        cmocka_unit_test(seeds_decide_and_values_are_finite_in_any_dtype),
        cmocka_unit_test(ones_and_constants),
        cmocka_unit_test(codes_tell_places_apart),
        cmocka_unit_test(outliers_are_whole_channels),
        cmocka_unit_test(sizes),
        cmocka_unit_test(rows_rise_and_fall),
        cmocka_unit_test(signs_alternate),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
