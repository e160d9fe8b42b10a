/* test_flex.c -- the op flex_attention: what its masks hide, told anew, its cost, its arrays, its block mask. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>

#include "flex/flex.h"

#define ATTENTION .B = 3, .H = 2, .Hkv = 1, .S = 150, .D = 8, .dtype = KG_F16
#define NUMBERS                                                                                                        \
    .softcap = 30, .window = 20, .prefix_keys = 40, .doc_span = 30, .reach = 12, .block_size = 64, .compile_mode = 0

static const struct flex full = { .attention = { "full", ATTENTION }, NUMBERS };

/* As docs/modifiers.md has them. */
static bool sees(const struct flex *p, int64_t b, int64_t i, int64_t j)
{
    const int64_t shift = b % 4 * (p->doc_span / 4), Skv = p->attention.Skv ? p->attention.Skv : p->attention.S;
    bool seen = true;
    if (p->attention.causal)
        seen = seen && j <= i + (p->attention.bottom_right ? Skv - p->attention.S : 0);
    if (p->prefix)
        seen = seen && (j < p->prefix_keys || j <= i);
    if (p->sliding)
        seen = seen && llabs(i - j) < p->window;
    if (p->document)
        seen = seen && (i + shift) / p->doc_span == (j + shift) / p->doc_span;
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
                for (int64_t j = 0; j < sdpa_kv_length(&p.attention); j++)
                    assert_int_equal(flex_sees(aux, b, 0, i, j), sees(&p, b, i, j));
        free(aux);
    }
}

/* Asked twice: the second answer is one that was kept. More problems than are kept. */
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
    assert_int_equal(kg_tensor_count(&tensors[document]), 3 * 150);
    assert_string_equal(tensors[bias].name, "bias");
    assert_int_equal(kg_tensor_count(&tensors[bias]), 2 * 25);
    p.document = false;
    assert_int_equal(flex_array_place(&p, FLEX_DOCUMENT), -1);
    assert_int_equal(flex_array_place(&p, FLEX_BIAS), bias - 1);
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(masks_hide_what_they_say),  cmocka_unit_test(only_visible_pairs_cost),
        cmocka_unit_test(blocks_are_of_three_kinds), cmocka_unit_test(arrays_stand_behind_the_output),
        cmocka_unit_test(what_cannot_be_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
