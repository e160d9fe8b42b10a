/* board.c -- one piece of work done once, eight times and, as the third in the field, twice: for who is faster, in
 * goldens (kgate leaderboard) and in one run (a contest). Factors are so far apart that no busy machine turns them. */
#include "broken.h"

#include "module.h"

/* .data points at how often the work is done. */
static int launch(const kg_backend *self, void *state, const kg_tensor *tensors, void *stream, kg_error *ret_error)
{
    const float *x = tensors[SERIES_X].data;
    float *y = tensors[SERIES_Y].data;
    const int64_t n = kg_tensor_count(&tensors[SERIES_Y]);
    (void)state, (void)stream, (void)ret_error;
    for (int pass = 0; pass < *(const volatile int *)self->data; pass++) {
        for (int64_t i = 0; i < n; i++) {
            float sum = 0;
            for (int t = 0; t < TERMS; t++)
                sum = sum * 0.5f + x[i];
            ((volatile float *)y)[i] = sum;
        }
    }
    return KG_OK;
}

static const volatile int once = 1, twice = 2, eight = 8;
static const kg_backend quick = { .name = "quick", .device = KG_CPU, .data = (const void *)&once, .launch = launch };
static const kg_backend middling = {
    .name = "middling", .device = KG_CPU, .data = (const void *)&twice, .launch = launch
};
static const kg_backend heavy = { .name = "heavy", .device = KG_CPU, .data = (const void *)&eight, .launch = launch };
static const kg_backend *const backends[] = { &heavy, &quick, &middling };
static const struct series shapes[] = { { "one", .n = 2048 }, { "two", .n = 1024 }, { "three", .n = 512 } };
static const uint64_t seeds[] = { 0, 1 };

#define BOARD(suite_name)                                                                                              \
    .name = (suite_name), .op = &series_op, .shapes = KG_TABLE(shapes), .seeds = KG_LIST(seeds),                       \
    .backends = KG_LIST(backends),                                                                                     \
    .gates = { .max_abs = 0.1, .mean_abs = 0.01, .bad_abs = 0.02, .bad_pct = 1.0, .rel_l2 = 0.05 }

static const kg_suite board = { BOARD("board"), .contest = { .ours = &quick, .baseline = &heavy } };
static const kg_suite plain = { BOARD("plain") };
static const kg_suite *const suites[] = { &board, &plain };

MODULE_ROOT("board");
