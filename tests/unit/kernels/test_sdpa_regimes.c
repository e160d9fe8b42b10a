/* test_sdpa_regimes.c -- attention's regimes: that inputs, as rounded, are what each says, by logits in double
 * precision; and that known answers are the reference's. A new regime gets its property here; what holds of all is
 * checked of it by its row. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#ifdef _OPENMP
#include <omp.h>
#endif
#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "op/half.h"
#include "op/sdpa_fp8.h"
#include "plan/field.h"
#include "plan/regime.h"

/* ---- calls ------------------------------------------------------------------------------------------------------ */

struct call {
    const kg_op *op;
    struct sdpa_fp8 problem;                                /* of sdpa_forward too: its own comes first */
    kg_tensor floats[KG_MAX_TENSORS], halves[SDPA_TENSORS]; /* as a regime sees them; as the reference does */
    int status;
};

static float rounded(const kg_tensor *tensor, float value)
{
    return tensor->dtype == KG_BF16 ? kg_float_from_bf16(kg_bf16_from_float(value))
                                    : kg_float_from_f16(kg_f16_from_float(value));
}

/* Inputs are changed by the regime, where it is not NULL, and rounded; outputs are NaN. */
static struct call call_of(const kg_op *op, const struct sdpa_fp8 *problem, const kg_regime *regime, uint64_t seed)
{
    struct call c = { .op = op, .problem = *problem };
    int count = 0;
    assert_int_equal(op->check(&c.problem, NULL), KG_OK);
    assert_int_equal(op->tensors(&c.problem, c.floats, &count), KG_OK);
    memcpy(c.halves, c.floats, sizeof c.halves);
    for (uint32_t t = 0; t < SDPA_O; t++) {
        float *values = c.floats[t].data = malloc((size_t)kg_tensor_count(&c.floats[t]) * sizeof *values);
        const float scale = kg_random_scale(c.floats[t].std);
        for (int64_t i = 0; i < kg_tensor_count(&c.floats[t]); i++)
            values[i] = kg_random_value(kg_random_key(seed, t), (uint64_t)i, scale);
    }
    if (regime && regime->change)
        c.status = regime->change(regime->data, &c.problem, seed, c.floats, NULL);
    for (int t = 0; t < SDPA_O; t++) {
        uint16_t *half = c.halves[t].data = malloc(kg_tensor_bytes(&c.halves[t]));
        float *values = c.floats[t].data;
        for (int64_t i = 0; i < kg_tensor_count(&c.floats[t]); i++) {
            values[i] = rounded(&c.halves[t], values[i]);
            half[i] = c.halves[t].dtype == KG_BF16 ? bf16_from_float(values[i]) : f16_from_float(values[i]);
        }
    }
    return c;
}

static struct call made(struct sdpa problem, const char *name, uint64_t seed)
{
    const struct sdpa_fp8 p = { .attention = problem };
    struct call c = call_of(&sdpa_forward, &p, name ? kg_regime_find(&sdpa_forward, name) : NULL, seed);
    assert_int_equal(c.status, KG_OK);
    return c;
}

static void done(struct call *c)
{
    for (int t = 0; t < SDPA_O; t++) {
        free(c->floats[t].data);
        free(c->halves[t].data);
    }
}

static int64_t n_outputs(const struct call *c)
{
    return kg_tensor_count(&c->floats[SDPA_O]);
}

static float *outputs_of(const struct call *c, float fill)
{
    float *o = malloc((size_t)n_outputs(c) * sizeof *o);
    assert_non_null(o);
    for (int64_t i = 0; i < n_outputs(c); i++)
        o[i] = fill;
    return o;
}

static float *reference(const struct call *c)
{
    kg_tensor tensors[SDPA_TENSORS];
    float *o = outputs_of(c, NAN);
    memcpy(tensors, c->halves, sizeof tensors);
    tensors[SDPA_O].dtype = KG_F32;
    tensors[SDPA_O].data = o;
    assert_int_equal(c->op->reference_cpu(&c->problem, tensors, NULL), KG_OK);
    return o;
}

/* What `answer` or `same` writes. */
static float *told(const struct call *c, const kg_regime *regime, uint64_t seed, bool answer)
{
    kg_tensor tensors[KG_MAX_TENSORS];
    float *o = outputs_of(c, answer ? NAN : 0);
    memcpy(tensors, c->floats, sizeof tensors);
    tensors[SDPA_O].data = o;
    assert_int_equal((answer ? regime->answer : regime->same)(regime->data, &c->problem, seed, tensors, NULL), KG_OK);
    return o;
}

/* Of query row `row` of [B * H * S] against the key, after the scale; the head map is the op's own. */
static double logit(const struct call *c, int64_t row, int64_t key)
{
    const struct sdpa *p = &c->problem.attention;
    const int64_t head = row / p->S, first = head / p->H * sdpa_kv_heads(p) + head % p->H / sdpa_group(p);
    const float *q = (const float *)c->floats[SDPA_Q].data + row * p->D;
    const float *k = (const float *)c->floats[SDPA_K].data + (first * sdpa_kv_length(p) + key) * p->D;
    double dot = 0;
    for (int64_t d = 0; d < p->D; d++)
        dot += (double)q[d] * (double)k[d];
    return dot * sdpa_scale(p);
}

static int64_t rows_of(const struct sdpa *p)
{
    return p->B * p->H * p->S;
}

static int64_t visible_of(const struct sdpa *p, int64_t row)
{
    const int64_t Skv = sdpa_kv_length(p), last = row % p->S + (p->bottom_right ? Skv - p->S : 0);
    return p->causal && last < Skv ? (last < 0 ? 0 : last + 1) : Skv;
}

/* ---- all of them ------------------------------------------------------------------------------------------------ */

static const struct sdpa shapes[] = {
    { "one", .B = 1, .H = 1, .S = 1, .D = 8, .dtype = KG_F16 },
    { "odd", .B = 2, .H = 3, .S = 77, .Skv = 33, .D = 72, .dtype = KG_F16, .causal = true },
    { "mha", .B = 1, .H = 2, .S = 130, .D = 64, .dtype = KG_BF16 },
    { "groups_of_3", .B = 2, .H = 6, .Hkv = 2, .S = 33, .Skv = 129, .D = 64, .dtype = KG_F16 },
    { "groups_of_4", .B = 2, .H = 8, .Hkv = 2, .S = 77, .D = 80, .dtype = KG_BF16, .causal = true },
    { "groups_of_7", .B = 2, .H = 14, .Hkv = 2, .S = 33, .Skv = 17, .D = 64, .dtype = KG_F16, .causal = true },
    { "groups_of_8", .B = 2, .H = 16, .Hkv = 2, .S = 31, .Skv = 65, .D = 32, .dtype = KG_BF16 },
    { "wide", .B = 1, .H = 1, .S = 12, .Skv = 300, .D = 256, .dtype = KG_F16, .scale = 0.3 },
    { "one_query", .B = 3, .H = 2, .S = 1, .Skv = 200, .D = 64, .dtype = KG_BF16, .causal = true },
    { "empty_rows", .B = 1, .H = 2, .S = 90, .Skv = 40, .D = 64, .dtype = KG_F16, .causal = true,
      .bottom_right = true },
    { "codes", .B = 1, .H = 3, .S = 64, .D = 64, .dtype = KG_E4M3 },
};
enum { SHAPES = sizeof shapes / sizeof *shapes, REGIMES = sizeof sdpa_regimes / sizeof *sdpa_regimes };

static bool same_inputs(const struct call *a, const struct call *b)
{
    bool same = true;
    for (int t = 0; t < SDPA_O; t++)
        same = same && !memcmp(a->floats[t].data, b->floats[t].data, kg_tensor_bytes(&a->floats[t]) * 2);
    return same;
}

static void check_values(const struct call *c, float largest_output)
{
    float *o = reference(c);
    for (int t = 0; t < SDPA_O; t++)
        for (int64_t i = 0; i < kg_tensor_count(&c->floats[t]); i++)
            assert_true(isfinite(((float *)c->floats[t].data)[i]));
    for (int64_t i = 0; i < n_outputs(c); i++)
        assert_true(fabsf(o[i]) <= largest_output);
    free(o);
}

static void check_one(const kg_op *op, const struct sdpa_fp8 *p, const kg_regime *regime, float largest_output)
{
    struct call first = call_of(op, p, regime, 11), again = call_of(op, p, regime, 11);
    struct call other = call_of(op, p, regime, 12), normal = call_of(op, p, NULL, 11);
    assert_true(first.status == again.status && first.status == other.status);
    assert_true(first.status == KG_OK || first.status == KG_EUNSUPPORTED);
    if (first.status == KG_OK) {
        assert_true(same_inputs(&first, &again) && !same_inputs(&first, &other));
        assert_true(!same_inputs(&first, &normal) || p->attention.S == 1);
        check_values(&first, largest_output);
    } else {
        assert_true(same_inputs(&first, &normal)); /* left as it was */
    }
    done(&first), done(&again), done(&other), done(&normal);
}

static void seeds_decide_and_values_stay_in_range(void **state)
{
    (void)state;
    for (int r = 0; r < REGIMES; r++)
        for (int s = 0; s < SHAPES; s++) {
            struct sdpa_fp8 p = { .attention = shapes[s], .o_scale = 128 };
            check_one(&sdpa_forward, &p, &sdpa_regimes[r], shapes[s].dtype == KG_BF16 ? 0x1p120f : 60000);
            if (s < 3)
                check_one(&sdpa_fp8_forward, &p, &sdpa_regimes[r], 3.5f);
        }
}

static void names_are_valid_and_different(void **state)
{
    (void)state;
    for (int r = 0; r < REGIMES; r++) {
        assert_true(kg_name_valid(sdpa_regimes[r].name) && sdpa_regimes[r].help && sdpa_regimes[r].change);
        assert_ptr_equal(kg_regime_find(&sdpa_forward, sdpa_regimes[r].name), &sdpa_regimes[r]);
        assert_ptr_equal(kg_regime_find(&sdpa_fp8_forward, sdpa_regimes[r].name), &sdpa_regimes[r]);
    }
}

static void check_answer(const struct sdpa *p, const kg_regime *regime, uint64_t seed)
{
    const struct sdpa_fp8 problem = { .attention = *p };
    struct call c = call_of(&sdpa_forward, &problem, regime, seed);
    if (c.status == KG_OK) {
        float *o = reference(&c), *answer = told(&c, regime, seed, true);
        for (int64_t i = 0; i < n_outputs(&c); i++)
            assert_true(fabsf(o[i] - answer[i]) <= 1e-6f * fmaxf(1, fabsf(o[i])));
        free(o), free(answer);
    }
    done(&c);
}

static void known_answers_are_the_references(void **state)
{
    (void)state;
    int known = 0;
    for (int r = 0; r < REGIMES; r++)
        for (int s = 0; s < SHAPES && sdpa_regimes[r].answer; s++, known++)
            for (uint64_t seed = 0; seed < 2; seed++)
                check_answer(&shapes[s], &sdpa_regimes[r], seed);
    assert_int_equal(known, 4 * SHAPES);
}

static void who_is_not_for_what(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        struct sdpa problem;
        bool codes; /* in 8 bits */
    } refused[] = {
        { "hidden", { .B = 1, .H = 1, .S = 32, .D = 64, .dtype = KG_F16 }, false },
        { "hidden", { .B = 1, .H = 1, .S = 1, .D = 64, .dtype = KG_F16, .causal = true }, false },
        { "hidden", { .B = 1, .H = 1, .S = 32, .D = 64, .dtype = KG_E4M3, .causal = true }, false },
        { "hidden", { .B = 1, .H = 1, .S = 32, .D = 64, .causal = true }, true },
        { "sixty_four", { .B = 1, .H = 1, .S = 32, .D = 64 }, true },
        { "huge_v", { .B = 1, .H = 1, .S = 32, .D = 64 }, true },
        { "coded", { .B = 1, .H = 1, .S = 32, .D = 4, .dtype = KG_F16 }, false }, /* 2^4 signs for 32 keys */
        { "winner", { .B = 1, .H = 1, .S = 32, .D = 64, .dtype = KG_F16, .scale = 1e-5 }, false },
    };
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        const struct sdpa_fp8 p = { .attention = refused[i].problem, .o_scale = 128 };
        const kg_op *op = refused[i].codes ? &sdpa_fp8_forward : &sdpa_forward;
        struct call c = call_of(op, &p, kg_regime_find(op, refused[i].name), 1);
        assert_int_equal(c.status, KG_EUNSUPPORTED);
        done(&c);
    }
}

/* ---- logits ----------------------------------------------------------------------------------------------------- */

static void check_shift(const struct sdpa *p, const char *name, double shift, double slack)
{
    struct call c = made(*p, name, 5);
    double sum = 0, squares = 0, n = 0;
    for (int64_t row = 0; row < rows_of(p); row += 7)
        for (int64_t j = 0; j < sdpa_kv_length(p); j++, n++) {
            double off = logit(&c, row, j) - shift;
            sum += off, squares += off * off;
        }
    double mean = sum / n, std = sqrt(squares / n - mean * mean), normal = sdpa_scale(p) * sqrt((double)p->D);
    assert_true(fabs(mean) < slack);
    assert_true(std > 0.7 * normal && std < 1.05 * normal); /* rows differ as they did */
    done(&c);
}

static void shifts_are_reached_and_logits_vary(void **state)
{
    (void)state;
    for (int s = 0; s < SHAPES; s++) {
        const struct sdpa *p = &shapes[s];
        if (p->S * sdpa_kv_length(p) < 200)
            continue;
        check_shift(p, "low", -120, 1);
        check_shift(p, "high", 120, 1);
        check_shift(p, "bottom", -6e4, 6e4 / 250);
        check_shift(p, "lowest", -6e4 * sdpa_scale(p), 6e4 * sdpa_scale(p) / 250 + 1);
    }
}

/* Largest logit, in powers of two, of the row with the keys of one step; the mean over a key head's rows. */
static double step_maximum(const struct call *c, int64_t width, int64_t step)
{
    const struct sdpa *p = &c->problem.attention;
    double mean = 0;
    for (int64_t row = 0; row < p->S; row++) {
        double largest = -INFINITY;
        for (int64_t j = step * width; j < (step + 1) * width; j++)
            largest = fmax(largest, logit(c, row, j));
        mean += largest / log(2) / (double)p->S;
    }
    return mean;
}

/* One head: seed 0 has steps of 64 keys, 1 of 16, 2 of 128, 3 of 32. */
static void maxima_rise_and_fall_by_tiles(void **state)
{
    (void)state;
    static const int64_t widths[] = { 64, 16, 128, 32 };
    static const double rises[] = { 7.25, 20, 15.5, 7.25 };
    for (uint64_t seed = 0; seed < 4; seed++) {
        struct sdpa p = { .B = 1, .H = 1, .S = 50, .Skv = 1000, .D = 64, .dtype = seed % 2 ? KG_BF16 : KG_F16 };
        struct call up = made(p, "rising", seed), down = made(p, "falling", seed), climb = made(p, "climbing", seed);
        for (int64_t step = 0; step < 4; step++) {
            double rise = step_maximum(&up, widths[seed], step + 1) - step_maximum(&up, widths[seed], step);
            double fall = step_maximum(&down, widths[seed], step) - step_maximum(&down, widths[seed], step + 1);
            assert_true(fabs(rise - rises[step]) < 0.5);
            assert_true(fabs(fall - 4 * rises[step]) < 1.5);
            rise = step_maximum(&climb, widths[seed], step + 1) - step_maximum(&climb, widths[seed], step);
            assert_true(fabs(rise - 7.25) < 0.75);
        }
        assert_true(fabs(step_maximum(&up, widths[seed], 4) - step_maximum(&up, widths[seed], 5)) < 0.5);
        done(&up), done(&down), done(&climb);
        p.Skv = 128; /* short rows rise too */
        up = made(p, "rising", seed);
        assert_true(step_maximum(&up, 16, 7) - step_maximum(&up, 16, 0) > 41);
        done(&up);
        p.Skv = 2600; /* long ones to the end, if in steps of eight bits */
        up = made(p, "rising", seed);
        for (int64_t step = 2; step < 5; step++)
            assert_true(fabs(step_maximum(&up, 512, step) - step_maximum(&up, 512, step - 1) - 20) < 1.5);
        done(&up);
    }
}

/* `least` to `most`: of the other keys' weights beside that of key `at`. */
static void check_sink_at(int64_t at, const char *name, double least, double most)
{
    struct sdpa p = { .B = 1, .H = 2, .S = 300, .D = 64, .dtype = KG_F16 };
    struct call c = made(p, name, 3), normal = made(p, NULL, 3);
    for (int64_t row = 0; row < rows_of(&p); row++) {
        double rest = 0, sink = logit(&c, row, at);
        for (int64_t j = 0; j < p.S; j++)
            rest += j == at ? 0 : exp(logit(&c, row, j) - sink);
        assert_true(rest > least && rest < most);
    }
    const float *v = c.floats[SDPA_V].data, *was = normal.floats[SDPA_V].data;
    for (int64_t i = 0; i < p.S * p.D; i++)
        assert_true(v[i] == (i / p.D == at ? 0 : was[i]));
    done(&c), done(&normal);
}

static void check_sink(const char *name, double least, double most)
{
    check_sink_at(0, name, least, most);
}

static void the_sink_has_most_weight_and_no_value(void **state)
{
    (void)state;
    check_sink("sink", 1e-5, 0.01);
    check_sink("sink_near", 3e-4, 0.3);
    check_sink("sink_mid", 5e-17, 5e-14);
    check_sink("sink_far", 5e-30, 5e-27);
    check_sink_at(299, "sink_last", 1e-23, 1e-20);
}

/* Weights below FP32's least number, and values that a weight at the least one would be seen by. */
static void the_small_sink_has_all_weight(void **state)
{
    (void)state;
    for (int dtype = KG_F16; dtype <= KG_BF16; dtype++) {
        struct sdpa p = { .B = 1, .H = 2, .S = 33, .D = 64, .dtype = (enum kg_dtype)dtype };
        struct call c = made(p, "sink_small", 3), normal = made(p, NULL, 3);
        const float *v = c.floats[SDPA_V].data, *was = normal.floats[SDPA_V].data;
        const float wide = dtype == KG_BF16 ? 0x1p100f : 1, small = dtype == KG_BF16 ? 0x1p-20f : 1;
        for (int64_t row = 0; row < rows_of(&p); row++)
            for (int64_t j = 1; j < p.S; j++)
                assert_true(logit(&c, row, j) - logit(&c, row, 0) < -127 * log(2));
        for (int64_t i = 0; i < p.S * p.D; i++)
            assert_true(v[i] == was[i] * (i < p.D ? small : wide));
        done(&c), done(&normal);
    }
}

/* ---- one key that takes all weight ------------------------------------------------------------------------------ */

/* The row's key whose logit is over all others, by `gap` or more. */
static int64_t winner_of(const struct call *c, int64_t row, double gap)
{
    int64_t best = 0;
    double first = -INFINITY, second = -INFINITY;
    for (int64_t j = 0; j < visible_of(&c->problem.attention, row); j++) {
        double one = logit(c, row, j);
        if (one > first)
            best = j, second = first, first = one;
        else if (one > second)
            second = one;
    }
    assert_true(first - second >= gap - 1e-9);
    return best;
}

static void check_winners(struct sdpa p, const char *name, double gap, int *ret_won)
{
    struct call c = made(p, name, 4);
    memset(ret_won, 0, (size_t)sdpa_kv_length(&p) * sizeof *ret_won);
    for (int64_t row = 0; row < rows_of(&p); row++)
        ret_won[winner_of(&c, row, gap)]++;
    done(&c);
}

static void every_edge_of_every_tile_wins(void **state)
{
    (void)state;
    enum { SKV = 270 };
    for (int causal = 0; causal < 2; causal++)
        for (int dtype = KG_F16; dtype <= KG_BF16; dtype++) {
            int won[SKV];
            check_winners(
                (struct sdpa){
                    .B = 2, .H = 4, .Hkv = 2, .S = SKV, .D = 64, .dtype = (enum kg_dtype)dtype, .causal = causal },
                "winner", 200, won);
            for (int edge = 0; edge < SKV; edge += 16)
                assert_true(won[edge] && (edge + 15 >= SKV || won[edge + 15]));
            assert_true(won[SKV - 1]);
        }
}

static void every_key_wins_once_it_is_coded(void **state)
{
    (void)state;
    enum { SKV = 150 };
    for (int causal = 0; causal < 2; causal++) {
        int won[SKV];
        check_winners((struct sdpa){ .B = 1, .H = 3, .Hkv = 1, .S = SKV, .D = 40, .dtype = KG_BF16, .causal = causal },
                      "coded", log(1e9), won);
        for (int key = 0; key < SKV; key++)
            assert_true(won[key]);
    }
}

static void codes_of_values_differ_from_their_neighbours(void **state)
{
    (void)state;
    struct sdpa p = { .B = 3, .H = 4, .S = 64, .D = 64, .dtype = KG_BF16 };
    const int64_t strides[] = { p.H * p.S * p.D, p.S * p.D, p.D, 1 }, dims[] = { p.B, p.H, p.S, p.D };
    for (uint64_t seed = 0; seed < 3; seed++) {
        struct call c = made(p, "coded", seed);
        const float *v = c.floats[SDPA_V].data;
        for (int64_t i = 0; i < kg_tensor_count(&c.floats[SDPA_V]); i++)
            for (int d = 0; d < 4; d++)
                for (int64_t step = 1; step <= 32; step *= 2)
                    if (i / strides[d] % dims[d] + step < dims[d])
                        assert_true(v[i] != v[i + step * strides[d]]);
        done(&c);
    }
}

/* Query head h reading key head h % Hkv is a mistake that a reference may share with a kernel. */
static void a_wrong_map_of_heads_gives_other_answers(void **state)
{
    (void)state;
    const kg_regime *coded = kg_regime_find(&sdpa_forward, "coded");
    static const int64_t groups[] = { 3, 4, 7, 8 };
    for (int g = 0; g < 4; g++) {
        struct sdpa p = { .B = 2, .H = 3 * groups[g], .Hkv = 3, .S = 33, .D = 64, .dtype = KG_F16 };
        struct call c = made(p, "coded", 2);
        const float *k = c.floats[SDPA_K].data;
        float *answer = told(&c, coded, 2, true);
        for (int64_t head = 1; head < 6; head++) /* nor does the same key win there */
            assert_memory_not_equal(k, k + head * p.S * p.D, (size_t)p.D * sizeof(float));
        for (int64_t row = 0; row < rows_of(&p); row++) {
            int64_t b = row / p.S / p.H, h = row / p.S % p.H, other = b * 3 + h % 3;
            if (h % 3 == h / groups[g])
                continue;
            for (int64_t j = 0; j < p.S; j++) /* the row of no key of that head */
                assert_true(answer[row * p.D] != ((float *)c.floats[SDPA_V].data)[(other * p.S + j) * p.D] ||
                            memcmp(&answer[row * p.D], &((float *)c.floats[SDPA_V].data)[(other * p.S + j) * p.D],
                                   (size_t)p.D * sizeof(float)));
        }
        free(answer);
        done(&c);
    }
}

/* ---- keys and values -------------------------------------------------------------------------------------------- */

static void ties_and_equal_keys(void **state)
{
    (void)state;
    struct sdpa p = { .B = 2, .H = 4, .Hkv = 2, .S = 77, .D = 64, .dtype = KG_F16 };
    struct call ties = made(p, "ties", 3), equal = made(p, "sixty_four", 3), k32 = made(p, "k32", 3),
                large_q = made(p, "large_q", 3), normal = made(p, NULL, 3);
    double largest = 0;
    for (int64_t i = 0; i < kg_tensor_count(&large_q.floats[SDPA_Q]); i++)
        largest = fmax(largest, fabs((double)((const float *)large_q.floats[SDPA_Q].data)[i]));
    assert_true(largest > 4096 && largest < 65504);
    for (int64_t row = 0; row < rows_of(&p); row++)
        for (int64_t j = 0; j < p.S; j++) {
            assert_true(logit(&ties, row, j) == logit(&ties, row, j % 5));
            assert_true(j % 5 == 0 || logit(&ties, row, j) != logit(&ties, row, 0));
            assert_true(logit(&equal, row, j) == logit(&equal, row, 0));
            assert_true(fabs(logit(&k32, row, j) - 32 * logit(&normal, row, j)) < 1e-9);
        }
    done(&ties), done(&equal), done(&k32), done(&large_q), done(&normal);
}

static void huge_and_tiny_outputs(void **state)
{
    (void)state;
    struct sdpa p = { .B = 1, .H = 2, .S = 500, .D = 64, .dtype = KG_F16 }, wide = p;
    wide.dtype = KG_BF16;
    struct call huge = made(p, "huge_v", 3), tiny = made(p, "tiny_v", 3), wider = made(wide, "huge_v", 3);
    float *huge_o = reference(&huge), *tiny_o = reference(&tiny), *wider_o = reference(&wider);
    int negative = 0;
    for (int64_t j = 0; j < p.S; j++)
        assert_true(fabs(logit(&huge, 7, j) - 78) < 6 && fabs(logit(&wider, 7, j) - 22.5) < 6);
    for (int64_t i = 0; i < n_outputs(&huge); i++) {
        assert_true(fabsf(huge_o[i]) > 15000 && fabsf(huge_o[i]) < 35000);
        assert_true(fabsf(tiny_o[i]) > 64 * 0x1p-24f && fabsf(tiny_o[i]) < 0x1p-14f); /* 64 subnormal steps */
        assert_true(fabsf(wider_o[i]) > 15000 * 0x1p80f && fabsf(wider_o[i]) < 35000 * 0x1p80f);
        negative += huge_o[i] < 0;
    }
    assert_true(negative > n_outputs(&huge) / 4 && negative < n_outputs(&huge) * 3 / 4);
    free(huge_o), free(tiny_o), free(wider_o);
    done(&huge), done(&tiny), done(&wider);
}

static double rms_of_head(const struct call *c, int tensor, int64_t head)
{
    const int64_t n = c->floats[tensor].dims[2] * c->floats[tensor].dims[3];
    double squares = 0;
    for (int64_t i = 0; i < n; i++)
        squares += pow((double)((float *)c->floats[tensor].data)[head * n + i], 2) / (double)n;
    return sqrt(squares);
}

static void heads_differ_in_scale_and_scores_do_not(void **state)
{
    (void)state;
    struct sdpa_fp8 p = { .attention = { .B = 1, .H = 14, .S = 64, .D = 64, .dtype = KG_F16 }, .o_scale = 128 };
    for (int arm = 0; arm < 3; arm++) {
        const bool codes = arm == 1;
        if (arm == 2)
            p.attention.dtype = KG_BF16;
        const kg_op *op = codes ? &sdpa_fp8_forward : &sdpa_forward;
        struct call c = call_of(op, &p, kg_regime_find(op, "head_scales"), 1), normal = call_of(op, &p, NULL, 1);
        assert_int_equal(c.status, KG_OK);
        double smallest = INFINITY, largest = 0, above = 0;
        for (int64_t head = 0; head < 14; head++) {
            double factor = rms_of_head(&c, SDPA_Q, head) / rms_of_head(&normal, SDPA_Q, head);
            double of_v = log2(rms_of_head(&c, SDPA_V, head) / rms_of_head(&normal, SDPA_V, head));
            assert_true(fabs(factor * rms_of_head(&c, SDPA_K, head) / rms_of_head(&normal, SDPA_K, head) - 1) < 1e-3);
            assert_true(fabs(logit(&c, head * 64, 3) - logit(&normal, head * 64, 3)) < (arm < 2 ? 0.01 : 0.06));
            assert_true(fabs(of_v - round(of_v) + (head % 2 ? 1 - log2(1.99) : 0)) < 1e-3);
            smallest = fmin(smallest, factor), largest = fmax(largest, factor), above += of_v > 0;
        }
        assert_true(smallest < (arm < 2 ? 0.13 : 0x1p-23) && largest > (arm < 2 ? 15.8 : 0x1p24));
        assert_true((above > 5) == !codes);
        done(&c), done(&normal);
    }
}

/* ---- zeros and outliers ------------------------------------------------------------------------------------------ */

static void one_tensor_of_a_head_is_zero(void **state)
{
    (void)state;
    struct call c = made((struct sdpa){ .B = 1, .H = 6, .S = 16, .D = 16, .dtype = KG_F16 }, "zero_heads", 2);
    for (int64_t head = 0; head < 6; head++)
        for (int t = SDPA_Q; t <= SDPA_V; t++) {
            const bool zero = t == (int[]){ SDPA_V, SDPA_K, SDPA_Q }[(head + 2) % 3];
            assert_int_equal(rms_of_head(&c, t, head) == 0, zero);
        }
    done(&c);
}

static void whole_tiles_of_keys_are_zero(void **state)
{
    (void)state;
    const struct sdpa p = { .B = 1, .H = 4, .S = 8, .Skv = 600, .D = 16, .dtype = KG_F16 };
    struct call c = made(p, "zero_tiles", 1), normal = made(p, NULL, 1);
    for (int64_t head = 0; head < 4; head += 2) {
        int64_t zeros = 0, longest = 0, run = 0;
        for (int64_t key = 0; key < p.Skv; key++) {
            const int64_t at = (head * p.Skv + key) * p.D;
            const float *k = (float *)c.floats[SDPA_K].data + at, *was = (float *)normal.floats[SDPA_K].data + at;
            bool zero = true;
            for (int64_t d = 0; d < p.D; d++)
                zero = zero && k[d] == 0;
            assert_true(zero || !memcmp(k, was, (size_t)p.D * sizeof *k));
            run = zero ? run + 1 : 0;
            zeros += zero;
            longest = run > longest ? run : longest;
        }
        assert_true(zeros > 200 && zeros < 400);
        assert_true(longest == 16 || longest == 32 || longest == 64 || longest == 128);
    }
    for (int64_t head = 0; head < 4; head++)
        for (int64_t i = head * 9600; i < (head + 1) * 9600; i++) {
            const float k = ((float *)c.floats[SDPA_K].data)[i], v = ((float *)c.floats[SDPA_V].data)[i];
            assert_true(head % 2 == 0 || k == ((float *)normal.floats[SDPA_K].data)[i]);
            assert_true(v == (head % 2 && i % 9600 < 8000 ? 0 : ((float *)normal.floats[SDPA_V].data)[i]));
        }
    done(&c), done(&normal);
}

static void one_value_of_a_head_is_large(void **state)
{
    (void)state;
    const struct sdpa p = { .B = 1, .H = 3, .S = 8, .Skv = 50, .D = 16, .dtype = KG_F16 };
    struct call c = made(p, "outlier_v", 1), normal = made(p, NULL, 1);
    for (int64_t head = 0; head < 3; head++) {
        int changed = 0;
        for (int64_t i = head * 800; i < head * 800 + 800; i++) {
            const float v = ((float *)c.floats[SDPA_V].data)[i];
            changed += v != ((float *)normal.floats[SDPA_V].data)[i];
            assert_true(v == 20000 || fabsf(v) < 10);
        }
        assert_int_equal(changed, 1);
    }
    done(&c), done(&normal);
}

/* It counts for no score. */
static void one_element_of_a_heads_queries_or_keys_is_large(void **state)
{
    (void)state;
    const struct sdpa p = { .B = 1, .H = 4, .Hkv = 2, .S = 8, .Skv = 50, .D = 16, .dtype = KG_F16 };
    static const int64_t length[] = { [SDPA_Q] = 256, [SDPA_K] = 800 }; /* of a key head */
    for (int of = SDPA_Q; of <= SDPA_K; of++) {
        struct call c = made(p, of == SDPA_Q ? "outlier_q" : "outlier_k", 1), normal = made(p, NULL, 1);
        const int other = SDPA_Q + SDPA_K - of;
        for (int64_t head = 0; head < 2; head++) {
            int64_t at = -1, changed = 0;
            for (int64_t i = head * length[of]; i < (head + 1) * length[of]; i++)
                if (((float *)c.floats[of].data)[i] != ((float *)normal.floats[of].data)[i])
                    at = i, changed++;
            assert_true(changed == 1 && ((float *)c.floats[of].data)[at] == 40000);
            for (int64_t i = head * length[other]; i < (head + 1) * length[other]; i++) {
                const float x = ((float *)c.floats[other].data)[i], was = ((float *)normal.floats[other].data)[i];
                assert_true(x == (i % 16 == at % 16 ? 0 : was));
            }
        }
        done(&c), done(&normal);
    }
}

/* What FP32 cannot hold where no maximum is taken off, by the dtype that can hold the values; with one that lags by 2^8
 * it can. */
static void sums_pass_what_fp32_holds(void **state)
{
    (void)state;
    const struct sdpa p = { .B = 1, .H = 2, .S = 300, .D = 64, .dtype = KG_BF16 };
    struct call huge = made(p, "huge_sums", 3), tiny = made(p, "tiny_sums", 3), rising = made(p, "rising_huge", 3);
    for (int64_t j = 0; j < p.S; j++) {
        const double v = fabs(((float *)huge.floats[SDPA_V].data)[j * 64]);
        const double small = fabs(((float *)tiny.floats[SDPA_V].data)[j * 64]);
        assert_true(fabs(logit(&huge, 7, j) - 16.5) < 6 && v * exp(10) > 0x1p123 && 0x1p8 * 300 * v < 0x1p127);
        assert_true(fabs(logit(&tiny, 7, j) + 50) < 6 && small * exp(-44) < 0x1p-126 && small > 0x1p-90);
        const double last = fabs(((float *)rising.floats[SDPA_V].data)[j * 64]), above = j >= 250 ? 17.6 : 0;
        assert_true(fabs(logit(&rising, 7, j) - above) < 3 && last * 0x1p25 > 0x1p127 && last < 0x1p107);
    }
    done(&huge), done(&tiny), done(&rising);
}

/* In FP16 both factors stay in its range. */
static void the_deepest_logits_are_past_finite_sentinels(void **state)
{
    (void)state;
    for (int wide = 0; wide < 2; wide++) {
        const struct sdpa p = { .B = 1, .H = 2, .S = 20, .D = 136, .dtype = wide ? KG_BF16 : KG_F16 };
        struct call c = made(p, "deepest", 3);
        const double first = logit(&c, 7, 0), most = wide ? 1e31 : 0x1p30 * sdpa_scale(&p) * 34;
        assert_true(fabs(first / most + 0.5) < 0.01 && first < -1e9);
        for (int64_t j = 1; j < p.S; j++)
            assert_true(fabs(logit(&c, 7, j) / most + 1) < 0.01);
        for (int64_t i = 0; i < p.H * p.S * p.D; i++)
            assert_true(wide || fabsf(((float *)c.floats[SDPA_K].data)[i]) <= 65504);
        done(&c);
    }
}

/* ---- keys that some queries do not see -------------------------------------------------------------------------- */

static void check_hidden(struct sdpa p)
{
    const kg_regime *regime = kg_regime_find(&sdpa_forward, "hidden");
    struct call c = made(p, "hidden", 6), normal = made(p, NULL, 6);
    float *o = reference(&c), *before = reference(&normal), *same = told(&c, regime, 6, false);
    int64_t kept = 0, changed = 0;
    for (int64_t i = 0; i < n_outputs(&c); i++) {
        assert_true(same[i] == 0 || same[i] == 1);
        assert_true(same[i] == 0 || float_bits(o[i]) == float_bits(before[i]));
        kept += same[i] == 1, changed += o[i] != before[i];
    }
    assert_true(kept > n_outputs(&c) / 5 && (kept + changed == n_outputs(&c) || p.S < sdpa_kv_length(&p)));
    assert_true(changed > 0 || sdpa_kv_length(&p) > p.S);
    assert_true(kept / p.D / p.B / p.H % 16 != 0); /* the line runs through tiles */
    free(o), free(before), free(same);
    done(&c), done(&normal);
}

static void hidden_keys_do_not_count(void **state)
{
    (void)state;
    check_hidden((struct sdpa){ .B = 2, .H = 4, .Hkv = 2, .S = 77, .D = 64, .dtype = KG_F16, .causal = true });
    check_hidden((struct sdpa){
        .B = 1, .H = 2, .S = 90, .Skv = 50, .D = 32, .dtype = KG_F16, .causal = true, .bottom_right = true });
    check_hidden((struct sdpa){ .B = 1, .H = 2, .S = 24, .D = 64, .dtype = KG_F16, .causal = true }); /* 16 and one */
    check_hidden((struct sdpa){ .B = 1, .H = 2, .S = 40, .Skv = 200, .D = 32, .dtype = KG_BF16, .causal = true });
    check_hidden((struct sdpa){ .B = 1, .H = 2, .S = 100, .Skv = 40, .D = 32, .dtype = KG_BF16, .causal = true });
}

int main(void)
{
#ifdef _OPENMP
    omp_set_num_threads(1); /* shapes are small, and threads that wait for each other slow down the tests beside */
#endif
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(seeds_decide_and_values_stay_in_range),
        cmocka_unit_test(names_are_valid_and_different),
        cmocka_unit_test(known_answers_are_the_references),
        cmocka_unit_test(who_is_not_for_what),
        cmocka_unit_test(shifts_are_reached_and_logits_vary),
        cmocka_unit_test(maxima_rise_and_fall_by_tiles),
        cmocka_unit_test(the_sink_has_most_weight_and_no_value),
        cmocka_unit_test(the_small_sink_has_all_weight),
        cmocka_unit_test(every_edge_of_every_tile_wins),
        cmocka_unit_test(every_key_wins_once_it_is_coded),
        cmocka_unit_test(codes_of_values_differ_from_their_neighbours),
        cmocka_unit_test(a_wrong_map_of_heads_gives_other_answers),
        cmocka_unit_test(ties_and_equal_keys),
        cmocka_unit_test(huge_and_tiny_outputs),
        cmocka_unit_test(heads_differ_in_scale_and_scores_do_not),
        cmocka_unit_test(one_tensor_of_a_head_is_zero),
        cmocka_unit_test(whole_tiles_of_keys_are_zero),
        cmocka_unit_test(one_value_of_a_head_is_large),
        cmocka_unit_test(one_element_of_a_heads_queries_or_keys_is_large),
        cmocka_unit_test(sums_pass_what_fp32_holds),
        cmocka_unit_test(the_deepest_logits_are_past_finite_sentinels),
        cmocka_unit_test(hidden_keys_do_not_count),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
