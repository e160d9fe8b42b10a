/* cudnn.c -- the backends `cudnn` and `cudnn_best`: attention by NVIDIA's library, the baseline to beat.
 *
 * The two differ in one thing: `cudnn` runs the first configuration that the library's heuristics propose, `cudnn_best`
 * the fastest of all that they propose. The graph is in cudnn_sdpa.c; what cuDNN refuses becomes a skip with its words.
 */
#include <cuda_runtime_api.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cudnn/cudnn_common.h"
#include "cudnn/cudnn_sdpa.h"
#include "op/cuda_timer.h"
#include "op/sdpa.h"

#define MAX_PLANS 16

struct state {
    struct cudnn_plan plan;
    struct cudnn_modifiers modifiers;
    bool causal, bottom_right;
    float scale, hidden, before; /* every launch reads these through pointers, and the modifiers' numbers */
    int32_t keys, queries, after;
};

static struct cudnn_modifiers modifiers_of(const kg_backend *self, const void *problem)
{
    const struct cudnn_variant *variant = self->data;
    return variant->modifiers ? variant->modifiers(problem) : (struct cudnn_modifiers){ 0 };
}

int cudnn_sdpa_supports(const kg_backend *self, const kg_device *device, const void *problem, kg_error *ret_error)
{
    const struct sdpa *p = problem;
    (void)self;
    const enum kg_dtype dtype = sdpa_tensor_dtype(p);
    if (dtype != KG_F16 && dtype != KG_BF16)
        return kg_fail(ret_error, KG_EUNSUPPORTED, "cuDNN's fused attention takes f16 and bf16 only");
    if (p->bottom_right && p->S > sdpa_kv_length(p))
        return kg_fail(ret_error, KG_EUNSUPPORTED,
                       "cuDNN's bottom-right mask is for as many keys as queries or more, not %lld and %lld",
                       (long long)sdpa_kv_length(p), (long long)p->S);
    if (device->cc_major < 8)
        return kg_fail(ret_error, KG_EUNSUPPORTED,
                       "cuDNN's fused attention needs compute capability 8.0, this device has %d.%d", device->cc_major,
                       device->cc_minor);
    return KG_OK;
}

/* ---- launch ------------------------------------------------------------------------------------------------ */

/* What a call binds. */
struct bound {
    int64_t ids[SDPA_TENSORS + 8];
    const void *data[SDPA_TENSORS + 8];
    int count;
};

static void bind(struct bound *bound, bool wanted, int64_t id, const void *data)
{
    if (!wanted)
        return;
    bound->ids[bound->count] = id;
    bound->data[bound->count++] = data;
}

/* Binds the tensors to the plan and runs it. Whatever happens on the device happens on `stream`. */
static int execute(const struct state *state, const kg_tensor *tensors, const void *workspace, cudaStream_t stream,
                   kg_error *ret_error)
{
    const struct cudnn_modifiers *m = &state->modifiers;
    struct bound bound = { .count = 0 };
    for (int i = 0; i < SDPA_TENSORS; i++)
        bind(&bound, true, cudnn_sdpa_id((enum sdpa_tensor)i), tensors[i].data);
    bind(&bound, true, CUDNN_SDPA_SCALE, &state->scale);
    bind(&bound, state->causal || m->window, CUDNN_SDPA_HIDDEN, &state->hidden);
    bind(&bound, state->bottom_right, CUDNN_SDPA_KEYS, &state->keys);
    bind(&bound, state->bottom_right, CUDNN_SDPA_QUERIES, &state->queries);
    bind(&bound, m->cap > 0, CUDNN_SDPA_CAP, &m->cap);
    bind(&bound, m->window, CUDNN_SDPA_BEFORE, &state->before);
    bind(&bound, m->window && !state->causal, CUDNN_SDPA_AFTER, &state->after);
    bind(&bound, m->slopes, CUDNN_SDPA_SLOPES, tensors[m->slopes].data);
    return cudnn_plan_execute(&state->plan, bound.ids, bound.data, bound.count, workspace, stream, ret_error);
}

int cudnn_sdpa_launch(const kg_backend *self, void *state, const kg_tensor *tensors, void *stream, kg_error *ret_error)
{
    (void)self;
    const struct state *s = state;
    const int place = s->modifiers.workspace ? s->modifiers.workspace : SDPA_WORKSPACE;
    return execute(s, tensors, s->plan.workspace_bytes > 0 ? tensors[place].data : NULL, stream, ret_error);
}

size_t cudnn_sdpa_workspace(const kg_backend *self, const void *state)
{
    (void)self;
    const struct state *s = state;
    return s->plan.workspace_bytes > 0 ? (size_t)s->plan.workspace_bytes : 0;
}

/* ---- states ------------------------------------------------------------------------------------------------ */

static struct state state_of(const kg_backend *self, const kg_call *call, const struct cudnn_plan *plan)
{
    const struct sdpa *p = call->problem;
    const struct cudnn_modifiers modifiers = modifiers_of(self, p);
    return (struct state){ .plan = *plan,
                           .modifiers = modifiers,
                           .causal = p->causal,
                           .bottom_right = p->bottom_right,
                           .scale = (float)sdpa_scale(p),
                           .hidden = -INFINITY,
                           .before = (float)modifiers.window,
                           .after = modifiers.window - 1,
                           .keys = (int32_t)sdpa_kv_length(p),
                           .queries = (int32_t)p->S };
}

void cudnn_sdpa_release(const kg_backend *self, void *state)
{
    (void)self;
    struct state *s = state;
    if (s)
        cudnn_plan_done(&s->plan);
    free(s);
}

/* ---- the fastest of several plans -------------------------------------------------------------------------- */

struct timed {
    const struct state *state;
    const kg_tensor *tensors;
    void *workspace;
};

static int timed_launch(const void *context, cudaStream_t stream, kg_error *ret_error)
{
    const struct timed *timed = context;
    return execute(timed->state, timed->tensors, timed->workspace, stream, ret_error);
}

/* Leaves the plan as it is; the workspace lives for the measurement only. */
static int plan_time(const kg_backend *self, const kg_call *call, const struct cudnn_plan *plan, double *ret_time_us,
                     kg_error *ret_error)
{
    const struct state state = state_of(self, call, plan);
    struct timed timed = { .state = &state, .tensors = call->tensors };
    if (plan->workspace_bytes > 0) {
        cudaError_t cuda = cudaMalloc(&timed.workspace, (size_t)plan->workspace_bytes);
        if (cuda != cudaSuccess) {
            (void)cudaGetLastError(); /* running out of memory is not sticky: the next call must not report it again */
            return kg_fail(ret_error, cuda == cudaErrorMemoryAllocation ? KG_ENOMEM : KG_EDEVICE,
                           "cuDNN's workspace of %" PRId64 " bytes: %s", plan->workspace_bytes,
                           cudaGetErrorString(cuda));
        }
    }
    int status = cuda_timer_run(timed_launch, &timed, call->stream, ret_time_us, ret_error);
    (void)cudaFree(timed.workspace);
    return status;
}

/* Index of the fastest; plans that cannot be timed are out. */
static int fastest_find(const kg_backend *self, const kg_call *call, const struct cudnn_plan *plans, int count,
                        int *ret_best, kg_error *ret_error)
{
    const struct sdpa *p = call->problem;
    double best_us = INFINITY, first_us = NAN;
    int best = -1, status = KG_OK;
    for (int i = 0; i < count; i++) {
        double time_us = 0;
        kg_error error = { 0 };
        int timed = plan_time(self, call, &plans[i], &time_us, &error);
        if (timed != KG_OK) {
            call->host->log(call->host, "%s: %s left out: %s", p->name, plans[i].pin, error.text);
            if (status == KG_OK)
                status = kg_fail(ret_error, timed, "%s", error.text);
            continue;
        }
        if (i == 0)
            first_us = time_us;
        if (time_us < best_us) {
            best_us = time_us;
            best = i;
        }
    }
    if (best < 0)
        return status;
    call->host->log(call->host, "%s: %s is the fastest of %d configurations, %.2f us; cuDNN's first takes %.2f us",
                    p->name, plans[best].pin, count, best_us, first_us);
    *ret_best = best;
    return KG_OK;
}

/* ---- prepare ----------------------------------------------------------------------------------------------- */

static int plan_choose(const kg_backend *self, const kg_call *call, cudnnBackendDescriptor_t graph,
                       struct cudnn_plan *ret_plan, kg_error *ret_error)
{
    const struct cudnn_variant *variant = self->data;
    const struct sdpa *p = call->problem;
    struct cudnn_plan plans[MAX_PLANS];
    int count = 0, proposed = 0, chosen = 0;
    int status = cudnn_plans_propose(call->library, graph, variant->n_plans, plans, &count, &proposed, ret_error);
    if (status != KG_OK)
        return status;
    if (variant->n_plans > 1 && proposed > variant->n_plans)
        call->host->log(call->host, "%s: only %d of %d proposed configurations are looked at", p->name, count,
                        proposed);
    if (variant->n_plans > 1)
        status = fastest_find(self, call, plans, count, &chosen, ret_error);
    for (int i = 0; i < count; i++) {
        if (status == KG_OK && i == chosen)
            *ret_plan = plans[i];
        else
            cudnn_plan_done(&plans[i]);
    }
    return status;
}

static cudnnBackendDescriptor_t make_graph(const kg_backend *self, struct cudnn_build *build, const void *problem)
{
    const struct cudnn_modifiers modifiers = modifiers_of(self, problem);
    return cudnn_sdpa_graph(build, problem, &modifiers);
}

int cudnn_sdpa_prepare(const kg_backend *self, const kg_call *call, void **ret_state, kg_identity *ret_identity,
                       kg_error *ret_error)
{
    const struct sdpa *p = call->problem;
    struct cudnn_plan plan;
    struct state *state = calloc(1, sizeof *state);
    if (!state)
        return kg_fail(ret_error, KG_ENOMEM, "out of memory");
    const struct cudnn_modifiers m = modifiers_of(self, p);
    char revision[64];
    (void)snprintf(revision, sizeof revision, "%s%s%s%s", CUDNN_SDPA_REVISION, m.cap > 0 ? " cap" : "",
                   m.slopes ? " slopes" : "", m.window ? " window" : "");
    const struct cudnn_wanted wanted = {
        .revision = revision,
        .shape = p,
        .dtype = KG_DTYPE_NAMES[sdpa_tensor_dtype(p)],
        .choice = ((const struct cudnn_variant *)self->data)->name,
        .graph = make_graph,
        .choose = plan_choose,
    };
    int status = cudnn_common_plan(self, call, &wanted, &plan, ret_identity, ret_error);
    if (status != KG_OK) {
        free(state);
        return status;
    }
    *state = state_of(self, call, &plan);
    *ret_state = state;
    return KG_OK;
}

const kg_backend sdpa_cudnn = {
    .name = "cudnn",
    .help = "cuDNN's fused attention, the first configuration its heuristics propose",
    .supports = cudnn_sdpa_supports,
    CUDNN_FIRST,
};

const kg_backend sdpa_cudnn_best = {
    .name = "cudnn_best",
    .help = "cuDNN's fused attention, the fastest of all configurations its heuristics propose",
    .supports = cudnn_sdpa_supports,
    .data = &(const struct cudnn_variant){ .name = "best", .n_plans = MAX_PLANS },
    CUDNN_BACKEND,
};
