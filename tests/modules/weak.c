/* weak.c -- suites whose gates let wrong answers pass, for tests/cli/weak.sh: meson.build makes one of each WEAK_…. */
#include "broken.h"

#define WEAK_WIDE 0    /* limits so wide that zeros are within them */
#define WEAK_EXCUSED 1 /* and its table says why */
#define WEAK_UNKNOWN 2 /* and its table excuses what there is not */

#ifndef WEAK
#error "WEAK is one of the names above"
#endif

static int launch(const kg_backend *self, void *state, const kg_tensor *tensors, void *stream, kg_error *ret_error)
{
    const float *x = tensors[SERIES_X].data;
    float *y = tensors[SERIES_Y].data;
    (void)state, (void)stream, (void)ret_error;
    for (int64_t i = 0; i < kg_tensor_count(&tensors[SERIES_Y]); i++) {
        float sum = 0;
        for (int t = 0; t < TERMS; t++)
            sum = sum * 0.5f + x[i];
        y[i] = self->data ? 0 : sum;
    }
    return KG_OK;
}

static const kg_backend right = { .name = "right", .device = KG_CPU, .launch = launch };
static const kg_backend zeros = { .name = "zeros", .device = KG_CPU, .data = "zeros", .launch = launch };
static const kg_backend *const backends[] = { &right, &zeros };
/* Faint, so that all of it is within limits in the output's unit. */
static const struct series rows[] = { { "faint", .n = 8192, .std = 0.002 } };
static const uint64_t seeds[] = { 0, 1 };

#define EXCUSE(wrong)                                                                                                  \
    {                                                                                                                  \
        wrong, "wide/faint/s*", "zeros are as good here"                                                               \
    }
static const kg_excuse excuses[] = {
    EXCUSE("zeros"),       EXCUSE("noise"),
    EXCUSE("factor"),      EXCUSE("bias"),
    EXCUSE("dropped_row"), EXCUSE("swapped_rows"),
    EXCUSE("stale_tile"),  EXCUSE("largest_zeroed"),
    EXCUSE("cut_tail"),    { WEAK == WEAK_UNKNOWN ? "ones" : "nan", "*", "every gate sees it" }
};

static const kg_suite wide = {
    .name = "wide",
    .op = &series_op,
    .shapes = KG_TABLE(rows),
    .seeds = KG_LIST(seeds),
    .backends = KG_LIST(backends),
    .gates = { .max_abs = 1, .mean_abs = 1, .bad_abs = 1, .bad_rel = 1, .bad_pct = 100, .rel_l2 = 10 },
    .excuses = { excuses, WEAK == WEAK_WIDE ? 0 : sizeof excuses / sizeof *excuses },
};
static const kg_suite *const suites[] = { &wide };

KG_EXPORT const struct kg_module kg_module = {
    KG_MODULE_SIZES, .name = "weak", .git_sha = "", .flags = "", .suites = suites, .n_suites = 1,
};
