/* flex_regimes.c -- sdpa's regimes by the masks and modifiers of a flex problem. */
#include <math.h>
#include <stdlib.h>

#include "flex/flex.h"
#include "op/sdpa_regimes.h"

struct view {
    const struct flex *p;
    struct flex_aux *aux;
};

static int open_view(const void *problem, void **ret_of, kg_error *ret_error)
{
    struct view *view = calloc(1, sizeof *view);
    if (view)
        *view = (struct view){ problem, flex_aux_new(problem) };
    if (!view || !view->aux) {
        free(view);
        return kg_fail(ret_error, KG_ENOMEM, "no memory for the arrays of modifiers");
    }
    *ret_of = view;
    return KG_OK;
}

static void close_view(void *of)
{
    struct view *view = of;
    free(view->aux);
    free(view);
}

static bool sees(const struct view *view, int64_t head, int64_t i, int64_t j)
{
    const int64_t H = view->p->attention.H;
    return flex_sees(view->aux, head / H, head % H, i, j);
}

static int64_t count(const void *of, int64_t head, int64_t i)
{
    const struct view *view = of;
    int64_t seen = 0;
    for (int64_t j = 0; j < sdpa_kv_length(&view->p->attention); j++)
        seen += sees(view, head, i, j);
    return seen;
}

static int64_t nth(const void *of, int64_t head, int64_t i, int64_t n)
{
    const struct view *view = of;
    int64_t j = 0;
    for (int64_t seen = sees(view, head, i, 0); seen <= n; seen += sees(view, head, i, j))
        j++;
    return j;
}

/* Biases lie within -2 and 2, decays within 0 and 1, and the steepest slope is below 1. */
static double spread(const void *problem)
{
    const struct flex *p = problem;
    const int64_t Skv = sdpa_kv_length(&p->attention), furthest = p->attention.S > Skv ? p->attention.S : Skv;
    if (p->cap)
        return INFINITY;
    return (p->relative ? 4 : 0) + (p->decay ? 1 : 0) + (p->alibi ? (double)furthest : 0);
}

static const struct sdpa_view flex_view = { open_view, close_view, count, nth, spread };

const kg_regime flex_regimes[SDPA_REGIMES] = { SDPA_REGIME_ROWS(&flex_view) };
