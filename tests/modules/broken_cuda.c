/* broken_cuda.c -- a module of CUDA kernels that are wrong in one way each; broken.c is its like for the CPU. */
#include <cuda_runtime_api.h>
#include <stdlib.h>
#include <string.h>

#include "broken_cuda.h"
#include "module.h"

static int launch(const kg_backend *self, void *state, const kg_tensor *tensors, void *stream, kg_error *ret_error)
{
    const enum flaw flaw = ((const struct flawed *)self->data)->flaw;
    if (flaw == FLAW_ERROR)
        return kg_fail(ret_error, KG_EDEVICE, "the launch was refused");
    if (flaw == FLAW_EXIT)
        exit(0);
    if (flaw == FLAW_OLD_STREAM)
        stream = ((const kg_call *)state)->stream;
    int status = broken_cuda_launch(flaw, tensors[SERIES_X].data, tensors[SERIES_Y].data,
                                    kg_tensor_count(&tensors[SERIES_Y]), stream);
    if (status)
        return kg_fail(ret_error, KG_EDEVICE, "launch: %s", cudaGetErrorString((cudaError_t)status));
    return KG_OK;
}

static int refuse(const kg_backend *self, const kg_device *device, const void *problem, kg_error *ret_error)
{
    (void)self;
    (void)device;
    (void)problem;
    return kg_fail(ret_error, KG_EUNSUPPORTED, "refuses every problem");
}

/* Kernels of `good` and `slow` differ in nothing but the work, so a golden of one judges the other: `slow` is chosen by
 * a knob of `good`. */
struct speed_knobs {
    bool slow;
};

static const kg_field speed_fields[] = {
    { "slow", offsetof(struct speed_knobs, slow), KG_BOOL, .help = "30% more work" },
};

static int launch_speed(const kg_backend *self, void *state, const kg_tensor *tensors, void *stream, kg_error *ret_error)
{
    const struct speed_knobs *knobs = ((const kg_call *)state)->knobs;
    (void)self;
    int status = broken_cuda_launch(knobs->slow ? FLAW_SLOW : FLAW_NONE, tensors[SERIES_X].data, tensors[SERIES_Y].data,
                                    kg_tensor_count(&tensors[SERIES_Y]), stream);
    if (status)
        return kg_fail(ret_error, KG_EDEVICE, "launch: %s", cudaGetErrorString((cudaError_t)status));
    return KG_OK;
}

#define BACKEND(id, its_flaw)                                                                                        \
    static const kg_backend id = { .name = #id, .device = KG_CUDA, .data = &(const struct flawed){ its_flaw },        \
                                   .launch = launch }

BACKEND(good, FLAW_NONE);
BACKEND(nan_one, FLAW_NAN);
BACKEND(inf_one, FLAW_INF);
BACKEND(nothing, FLAW_NOTHING);
BACKEND(half, FLAW_HALF);
BACKEND(zero, FLAW_ZERO);
BACKEND(one_off, FLAW_ONE_OFF);
BACKEND(bias, FLAW_BIAS);
BACKEND(some_off, FLAW_SOME_OFF);
BACKEND(overrun, FLAW_OVERRUN);
BACKEND(underrun, FLAW_UNDERRUN);
BACKEND(input, FLAW_INPUT);
BACKEND(crash, FLAW_CRASH);
BACKEND(hang, FLAW_HANG);
BACKEND(exits, FLAW_EXIT);
BACKEND(remembers, FLAW_REMEMBERS);
BACKEND(leaves, FLAW_LEAVES);
BACKEND(alternates, FLAW_ALTERNATES);
BACKEND(same_place, FLAW_SAME_PLACE);
BACKEND(lazy, FLAW_LAZY);
BACKEND(knows_last, FLAW_KNOWS_LAST);
BACKEND(dirty_shared, FLAW_DIRTY_SHARED);
BACKEND(old_stream, FLAW_OLD_STREAM);
BACKEND(error, FLAW_ERROR);
static const kg_backend refuses = { .name = "refuses", .device = KG_CUDA, .supports = refuse, .launch = launch,
                                    .data = &(const struct flawed){ FLAW_NONE } };
static const kg_backend knobbed = { .name = "knobbed", .device = KG_CUDA, .knobs = KG_LIST(speed_fields),
                                    .knobs_size = sizeof(struct speed_knobs), .launch = launch_speed };

static const struct series shapes[] = {
    { "plain", .n = 65536 },
    { "faint", .n = 65536, .std = 0.002 }, /* zeros are within every absolute limit: only rel_l2 sees them */
};
static const struct series one_shape[] = { { "plain", .n = 65536 } };
static const struct series big_shape[] = { { "big", .n = 1 << 24 } };
static const uint64_t seeds[] = { 0 };

#define GATES { .max_abs = 0.1, .mean_abs = 0.01, .bad_abs = 0.02, .bad_pct = 1.0, .rel_l2 = 0.05 }

static const kg_backend *const output_backends[] = { &good, &nan_one, &inf_one, &nothing, &half, &zero,
                                                     &one_off, &bias, &some_off };
static const kg_excuse excuses[] = { FAINT_EXCUSES };
static const kg_suite output = { .name = "output", .op = &series_op, .shapes = KG_TABLE(shapes),
                                 .seeds = KG_LIST(seeds), .backends = KG_LIST(output_backends), .gates = GATES,
                                 .time = { .off = true }, .excuses = KG_LIST(excuses) };
/* `good` last: it must run although the one before it broke the context. */
static const kg_backend *const process_backends[] = { &overrun, &underrun, &input, &crash, &hang,
                                                      &exits, &error, &refuses, &good };
static const kg_suite process = { .name = "process", .op = &series_op, .shapes = KG_TABLE(one_shape),
                                  .seeds = KG_LIST(seeds), .backends = KG_LIST(process_backends), .gates = GATES,
                                  .time = { .off = true } };
static const kg_backend *const speed_backends[] = { &good, &knobbed };
static const kg_suite speed = { .name = "speed", .op = &series_op, .shapes = KG_TABLE(big_shape),
                                .seeds = KG_LIST(seeds), .backends = KG_LIST(speed_backends), .anchor = &good,
                                .gates = GATES };

static const kg_backend *const late_backends[] = { &good,       &remembers, &leaves,    &alternates,
                                                   &same_place, &lazy,      &knows_last };
static const kg_suite late = { .name = "late", .op = &series_op, .shapes = KG_TABLE(one_shape),
                               .seeds = KG_LIST(seeds), .backends = KG_LIST(late_backends), .gates = GATES };

static const kg_backend *const state_backends[] = { &good, &dirty_shared, &old_stream };
static const kg_suite state = { .name = "state", .op = &series_op, .shapes = KG_TABLE(one_shape),
                                .seeds = KG_LIST(seeds), .backends = KG_LIST(state_backends), .gates = GATES,
                                .time = { .off = true } };

static const kg_suite *const suites[] = { &output, &process, &speed, &late, &state };

int series_reference_cuda(const void *problem, const kg_device *device, const kg_tensor *tensors, void *stream,
                          kg_error *ret_error)
{
    const struct series *p = problem;
    (void)device;
    int status = series_cuda_launch(tensors[SERIES_X].data, tensors[SERIES_Y].data, p->n, TERMS, stream);
    return status ? kg_fail(ret_error, KG_EDEVICE, "reference: %s", cudaGetErrorString((cudaError_t)status)) : KG_OK;
}

MODULE_ROOT("broken_cuda");
