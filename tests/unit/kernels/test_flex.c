/* test_flex.c -- the op flex_attention: what its masks hide, told anew, its cost, its arrays, its block mask. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>

#include "flex/flex.h"
#include "flex/flex_args.h"
#include "op/half.h"

#define ATTENTION .B = 6, .H = 2, .Hkv = 1, .S = 150, .D = 8, .dtype = KG_F16
#define NUMBERS                                                                                                        \
    .softcap = 30, .window = 20, .prefix_keys = 40, .doc_span = 30, .reach = 12, .block_size = 64, .compile_mode = 0

static const struct flex full = { .attention = { "full", ATTENTION }, NUMBERS };

/* Uneven: of 40 and 20 tokens where the span is 30, numbered 0, 1, 2, 0, 1 and so on. */
static int64_t document_of(const struct flex *p, int64_t at)
{
    const int64_t pair = at / (2 * p->doc_span), rest = at % (2 * p->doc_span);
    const int64_t document = 2 * pair + (rest >= (p->uneven ? p->doc_span + p->doc_span / 3 : p->doc_span));
    return p->uneven ? document % 3 : document;
}

/* As docs/modifiers.md has them. */
static bool sees(const struct flex *p, int64_t b, int64_t i, int64_t j)
{
    const int64_t shift = b % 4 * (p->doc_span / 4) + b / 4, Skv = p->attention.Skv ? p->attention.Skv : p->attention.S;
    bool seen = true;
    if (p->attention.causal)
        seen = seen && j <= i + (p->attention.bottom_right ? Skv - p->attention.S : 0);
    if (p->prefix)
        seen = seen && (j < p->prefix_keys || j <= i);
    if (p->sliding)
        seen = seen && llabs(i - j) < p->window;
    if (p->document)
        seen = seen && document_of(p, i + shift) == document_of(p, j + shift);
    return seen;
}

static double pairs_of(const struct flex *p)
{
    const int64_t Skv = p->attention.Skv ? p->attention.Skv : p->attention.S;
    int64_t pairs = 0;
    for (int64_t b = 0; b < p->attention.B; b++)
        for (int64_t i = 0; i < p->attention.S; i++)
            for (int64_t j = 0; j < Skv; j++)
                pairs += sees(p, b, i, j);
    return (double)(pairs * p->attention.H);
}

/* Number `n` of all sets of masks, over three lengths of keys. */
enum { SETS = 3 << 5 };

static struct flex problem(int n)
{
    static const int64_t lengths[] = { 0, 100, 333 };
    struct flex p = full;
    p.attention.Skv = lengths[n >> 5];
    p.attention.causal = n & 1;
    p.attention.bottom_right = (n & 3) == 3;
    p.prefix = n >> 2 & 1;
    p.sliding = n >> 3 & 1;
    p.document = n >> 4 & 1;
    p.uneven = p.document && n >> 5 == 1;
    return p;
}

static void masks_hide_what_they_say(void **state)
{
    (void)state;
    for (int n = 0; n < SETS; n++) {
        const struct flex p = problem(n);
        struct flex_aux *aux = flex_aux_new(&p);
        assert_non_null(aux);
        for (int64_t b = 0; b < p.attention.B; b++)
            for (int64_t i = 0; i < p.attention.S; i++)
                for (int64_t j = 0; j < sdpa_kv_length(&p.attention); j++) {
                    assert_int_equal(flex_sees(aux, b, 0, i, j), sees(&p, b, i, j));
                    /* or its bit is missing in FLEX_MASKS_BY_HEAD, and one block mask serves all heads */
                    assert_int_equal(flex_sees(aux, b, p.attention.H - 1, i, j), sees(&p, b, i, j));
                }
        free(aux);
    }
}

/* Asked twice: the second answer is one that was kept. */
static void only_visible_pairs_cost(void **state)
{
    (void)state;
    for (int twice = 0; twice < 2; twice++)
        for (int n = 0; n < SETS; n++) {
            const struct flex p = problem(n);
            assert_true(flex_attention_op.flops(&p) == 4 * 8 * pairs_of(&p));
            assert_true(flex_attention_op.flops(&p) == 4 * 8 * pairs_of(&p));
        }
}

static void more_problems_than_are_kept(void **state)
{
    (void)state;
    for (int twice = 0; twice < 2; twice++)
        for (int n = 0; n < 1200; n++) {
            struct flex p = full;
            p.attention.S = 1;
            p.attention.Skv = n + 1;
            assert_true(flex_attention_op.flops(&p) == 4 * 8 * pairs_of(&p));
        }
}

static void blocks_are_of_three_kinds(void **state)
{
    int found[3] = { 0 };
    (void)state;
    for (int n = 0; n < SETS; n++) {
        const struct flex p = problem(n);
        const int64_t Skv = sdpa_kv_length(&p.attention), S = p.attention.S;
        struct flex_aux *aux = flex_aux_new(&p);
        struct flex_blocks blocks;
        assert_int_equal(flex_blocks_new(&p, aux, &blocks, NULL), KG_OK);
        for (int64_t i = 0; i < S; i++)
            for (int64_t j = 0; j < Skv; j++) {
                const enum flex_block kind = flex_block_of(&blocks, 2, i, j);
                found[kind]++;
                if (kind != FLEX_BLOCK_PARTIAL)
                    assert_int_equal(sees(&p, 1, i, j), kind == FLEX_BLOCK_FULL);
            }
        flex_blocks_done(&blocks);
        free(aux);
    }
    assert_true(found[0] && found[1] && found[2]);
}

static void arrays_stand_behind_the_output(void **state)
{
    struct flex p = full;
    kg_tensor tensors[KG_MAX_TENSORS];
    int count = 0;
    (void)state;
    assert_int_equal(flex_attention_op.tensors(&p, tensors, &count), KG_OK);
    assert_int_equal(count, SDPA_TENSORS);
    p.relative = p.document = p.alibi = true;
    assert_int_equal(flex_attention_op.tensors(&p, tensors, &count), KG_OK);
    assert_int_equal(count, SDPA_TENSORS + 3);
    const int document = flex_array_place(&p, FLEX_DOCUMENT), bias = flex_array_place(&p, FLEX_BIAS);
    assert_string_equal(tensors[document].name, "document");
    assert_true(tensors[document].given && tensors[document].dtype == KG_I32);
    assert_int_equal(kg_tensor_count(&tensors[document]), 6 * 150);
    assert_string_equal(tensors[bias].name, "bias");
    assert_int_equal(kg_tensor_count(&tensors[bias]), 2 * 25);
    p.document = false;
    assert_int_equal(flex_array_place(&p, FLEX_DOCUMENT), -1);
    assert_int_equal(flex_array_place(&p, FLEX_BIAS), bias - 1);
}

/* ---- scores ------------------------------------------------------------------------------------------------------ */

/* A modifier's files are the kernels' and the references': what they compute is told anew here, with numbers. */
static double score_of(const struct flex *p, double score, int64_t h, int64_t i, int64_t j, const float *bias)
{
    const double distance = fabs((double)(i - j)), slopes[] = { 1.0 / 16, 1.0 / 256 }; /* of two heads */
    if (p->cap)
        score = 30 * tanh(score / 30);
    if (p->alibi)
        score -= slopes[h] * distance;
    if (p->relative)
        score += bias[h * 25 + (j - i < -12 ? 0 : j - i > 12 ? 24 : j - i + 12)];
    if (p->decay)
        score += exp(-distance / 30);
    return score;
}

/* One channel and V = place of the key: o is a mean of places by weights. */
static double mean_place(const struct flex *p, const float *q, const float *k, int64_t h, int64_t i, const float *bias)
{
    double sum = 0, weighed = 0;
    for (int64_t j = 0; j < p->attention.S; j++) {
        const double weight = exp(score_of(p, q[i] * k[j] / sqrt(8), h, i, j, bias));
        sum += weight;
        weighed += weight * (double)j;
    }
    return weighed / sum;
}

struct inputs {
    uint16_t q[2 * 40 * 8], k[40 * 8], v[40 * 8];
    float q_first[2 * 40], k_first[40], slopes[2], bias[2 * 25], o[2 * 40 * 8];
};

/* Scores of 8 channels are those of the first; places up to 40 are numbers of FP16. */
static void fill(struct inputs *in)
{
    *in = (struct inputs){ .o = { 0 } };
    for (int i = 0; i < 2 * 40; i++)
        in->q[8 * i] = f16_from_float(in->q_first[i] = (float)(i * 7 % 13 - 6));
    for (int j = 0; j < 40; j++) {
        in->k[8 * j] = f16_from_float(in->k_first[j] = (float)(j * 5 % 11 - 5));
        in->v[8 * j] = f16_from_float((float)j);
    }
}

static void check_scores(const struct flex *p)
{
    static struct inputs in;
    kg_tensor tensors[KG_MAX_TENSORS];
    void *const data[] = { in.q, in.k, in.v, in.o };
    int count;
    fill(&in);
    assert_int_equal(flex_attention_op.tensors(p, tensors, &count), KG_OK);
    for (int t = 0; t < SDPA_TENSORS; t++)
        tensors[t].data = data[t];
    tensors[SDPA_O].dtype = KG_F32;
    if (p->alibi)
        tensors[flex_array_place(p, FLEX_SLOPES)].data = in.slopes;
    if (p->relative)
        tensors[flex_array_place(p, FLEX_BIAS)].data = in.bias;
    assert_int_equal(flex_attention_op.give(p, tensors, NULL), KG_OK);
    assert_int_equal(flex_attention_op.reference_cpu(p, tensors, NULL), KG_OK);
    for (int64_t h = 0; h < 2; h++)
        for (int64_t i = 0; i < 40; i++) {
            const double expected = mean_place(p, in.q_first + h * 40, in.k_first, h, i, in.bias);
            assert_true(fabs(in.o[(h * 40 + i) * 8] - expected) < 1e-4);
        }
}

/* All sets of score modifiers, and so their order. */
static void scores_are_what_they_say(void **state)
{
    (void)state;
    for (int set = 0; set < 16; set++) {
        struct flex p = full;
        p.attention.B = 1, p.attention.S = 40;
        p.cap = set & 1, p.alibi = set & 2, p.relative = set & 4, p.decay = set & 8;
        check_scores(&p);
    }
}

static void what_cannot_be_is_refused(void **state)
{
    struct flex p = full;
    kg_error error = { 0 };
    (void)state;
    assert_int_equal(flex_attention_op.check(&p, &error), KG_OK);
    p.block_size = 96;
    assert_int_equal(flex_attention_op.check(&p, &error), KG_EINVAL);
    assert_string_equal(error.text, "block_size is 96, no multiple of the tile, 64");
    p = full;
    p.attention.dtype = KG_E4M3;
    assert_int_equal(flex_attention_op.check(&p, &error), KG_EINVAL);
    p = full;
    p.attention.bottom_right = true;
    assert_int_equal(flex_attention_op.check(&p, &error), KG_EINVAL);
}

/* Beside each multiple of a number, from the first ones to the last that an int holds. */
static void check_quotients(int number)
{
    const struct flex_divisor by = flex_divisor_of(number);
    const int last = INT_MAX / number;
    for (int step = 0; step < 64; step++)
        for (int beside = -1; beside <= 1; beside++) {
            const long long many = step < 32 ? step : last - (step - 32), n = many * number + beside;
            if (many >= 0 && n >= 0 && n <= INT_MAX)
                assert_int_equal(flex_divide((int)n, by), n / number);
        }
    assert_int_equal(flex_divide(INT_MAX, by), last);
}

static void quotients_are_rounded_down(void **state)
{
    (void)state;
    for (int number = 1; number < 5000; number++)
        check_quotients(number);
    for (int bits = 12; bits < 31; bits++)
        for (int beside = -1; beside <= 1; beside++)
            check_quotients((1 << bits) + beside);
    check_quotients(INT_MAX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(masks_hide_what_they_say),       cmocka_unit_test(only_visible_pairs_cost),
        cmocka_unit_test(more_problems_than_are_kept),    cmocka_unit_test(blocks_are_of_three_kinds),
        cmocka_unit_test(arrays_stand_behind_the_output), cmocka_unit_test(scores_are_what_they_say),
        cmocka_unit_test(what_cannot_be_is_refused),      cmocka_unit_test(quotients_are_rounded_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
