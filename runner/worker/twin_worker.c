/* twin_worker.c -- the process of the build that is judged: answers what the worker asks (twin_ask.h) until the pipe is
 * closed. Buffers are the worker's; of its memory only what was handed over is mapped here. */
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "worker/case_run.h"
#include "worker/identity.h"
#include "worker/twin.h"
#include "base/socket.h"
#include "worker/twin_ask.h"
#include "worker/wire.h"
#include "worker/worker.h"

/* A block of the worker's, as it is mapped here. */
struct mapping {
    struct mapping *next;
    const void *block;
    void *data;
    size_t bytes;
};

/* Buffer sets as calls take them: tensors and workspaces are in the worker's memory. */
struct sets {
    int count;
    struct kg_buffers *buffers, *workspaces;
};

struct window {
    struct kg_prepared prepared; /* a copy that walks these sets */
    struct sets sets;
    kg_window *window;
};

struct twin {
    struct kg_worker worker; /* of which no case runs */
    struct mapping *mappings;
    struct {
        struct kg_prepared prepared;
        struct sets sets; /* that it was prepared on */
        char pin[480];
    } arms[KG_TWIN_ARMS];
};

/* ---- the worker's memory ---- */

static int map_block(struct twin *t, const struct kg_twin_tensor *tensor, void **ret_data, kg_error *ret_error)
{
    kg_context *context = t->worker.context;
    for (struct mapping *m = t->mappings; m; m = m->next)
        if (m->block == tensor->block) {
            *ret_data = m->data;
            return KG_OK;
        }
    struct mapping *m = malloc(sizeof *m);
    if (!m)
        return kg_fail(ret_error, KG_ENOMEM, "no host memory for a mapping");
    *m = (struct mapping){ .next = t->mappings, .block = tensor->block, .bytes = tensor->shared.bytes };
    int status = context->ops->map(context, &tensor->shared, &m->data, ret_error);
    if (status) {
        free(m);
        return status;
    }
    t->mappings = m;
    *ret_data = m->data;
    return KG_OK;
}

static void unmap_block(struct twin *t, const void *block)
{
    for (struct mapping **at = &t->mappings; *at; at = &(*at)->next) {
        struct mapping *m = *at;
        if (m->block != block)
            continue;
        t->worker.context->ops->unmap(t->worker.context, m->data, m->bytes);
        *at = m->next;
        free(m);
        return;
    }
}

static int place_tensor(struct twin *t, struct kg_twin_tensor *from, kg_tensor *ret_tensor, kg_error *ret_error)
{
    void *data = NULL;
    int status = map_block(t, from, &data, ret_error);
    *ret_tensor = from->as;
    ret_tensor->data = (char *)data + ((const char *)from->as.data - (const char *)from->block);
    return status;
}

static void drop_sets(struct sets *sets)
{
    free(sets->buffers);
    free(sets->workspaces);
    *sets = (struct sets){ 0 };
}

/* Names are `own`, those of the op here; NULL: of no case yet. */
static int receive_sets(struct twin *t, const struct kg_twin_ask *ask, struct sets *ret_sets, kg_error *ret_error)
{
    struct kg_twin_set set;
    struct sets sets = { .count = ask->n_sets };
    sets.buffers = calloc((size_t)ask->n_sets + 1, sizeof *sets.buffers);
    sets.workspaces = calloc((size_t)ask->n_sets + 1, sizeof *sets.workspaces);
    int status = sets.buffers && sets.workspaces ? KG_OK : kg_fail(ret_error, KG_ENOMEM, "no host memory for sets");
    for (int i = 0; i < ask->n_sets; i++) {
        if (!kg_socket_receive(KG_TWIN_PIPE, &set, sizeof set, 0))
            _exit(0);
        const int tensors = set.count - ask->has_workspace;
        for (int j = 0; j < set.count && !status; j++) {
            struct kg_buffers *to = j < tensors ? &sets.buffers[i] : &sets.workspaces[i];
            to->context = t->worker.context;
            status = place_tensor(t, &set.tensors[j], &to->tensors[to->count++], ret_error);
        }
    }
    if (status)
        drop_sets(&sets);
    else
        *ret_sets = sets;
    return status;
}

static void use_sets(struct kg_prepared *prepared, const struct kg_twin_ask *ask, const struct sets *sets)
{
    prepared->ring = sets->buffers;
    prepared->n_ring = sets->count;
    prepared->workspaces = ask->has_workspace ? sets->workspaces : NULL;
    prepared->rotates = sets->count > 1;
    prepared->set = 0;
}

/* ---- what is asked ---- */

static void release(struct twin *t, int arm)
{
    struct kg_prepared *prepared = &t->arms[arm].prepared;
    prepared->workspaces = NULL; /* which are not its own */
    kg_prepared_done(prepared);
    drop_sets(&t->arms[arm].sets);
}

static int prepare(struct twin *t, const struct kg_twin_ask *ask, struct sets *sets, struct kg_twin_answer *ret_answer,
                   kg_error *ret_error)
{
    struct kg_worker *w = &t->worker;
    struct kg_prepared *prepared = &t->arms[ask->arm].prepared;
    const struct kg_job_case *one = &w->job->cases[ask->place];
    const struct kg_fixture fixture = { .context = w->context, .buffers = sets->buffers[0] };
    const kg_call call = { .problem = one->of.problem,
                           .tensors = sets->buffers[0].tensors,
                           .n_tensors = sets->buffers[0].count,
                           .pin = *ask->pin ? t->arms[ask->arm].pin : NULL };
    snprintf(t->arms[ask->arm].pin, sizeof t->arms[ask->arm].pin, "%s", ask->pin);
    int status = kg_fixture_admits(&fixture, &one->of, ret_error);
    if (!status)
        status =
            kg_prepared_open(&w->host, w->context, kg_arms_choice(&one->of, ask->only), &call, prepared, ret_error);
    if (status)
        return status;
    t->arms[ask->arm].sets = *sets;
    *sets = (struct sets){ 0 };
    snprintf(ret_answer->name, sizeof ret_answer->name, "%s", prepared->backend->name);
    if (prepared->knobs)
        kg_knobs_format(prepared->backend, prepared->knobs, ret_answer->knobs, sizeof ret_answer->knobs);
    ret_answer->identity = prepared->identity;
    ret_answer->prepare_ms = prepared->prepare_ms;
    ret_answer->workspace = prepared->backend->workspace;
    ret_answer->workspace_bytes = prepared->workspace_bytes;
    ret_answer->stages = prepared->backend->stage;
    return KG_OK;
}

static int stage(struct twin *t, const struct kg_twin_ask *ask, kg_error *ret_error)
{
    kg_context *context = t->worker.context;
    int status = kg_prepared_stage(&t->arms[ask->arm].prepared, 0, context->ops->stream(context), ret_error);
    return status ? status : context->ops->synchronize(context, ret_error);
}

/* The worker's own protection of inputs does not hold for these mappings. */
static int seal_inputs(struct twin *t, const struct kg_buffers *set, kg_error *ret_error)
{
    kg_context *context = t->worker.context;
    int status = KG_OK;
    for (int i = 0; i < set->count && context->ops->seal; i++)
        for (struct mapping *m = t->mappings; m && !status && set->tensors[i].role == KG_INPUT; m = m->next) {
            const char *at = set->tensors[i].data, *start = m->data;
            if (at >= start && at < start + m->bytes)
                status = context->ops->seal(context, m->data, m->bytes, ret_error);
        }
    return status;
}

static int launch(struct twin *t, const struct kg_twin_ask *ask, kg_error *ret_error)
{
    struct kg_prepared *prepared = &t->arms[ask->arm].prepared;
    kg_context *context = t->worker.context;
    int status = context->ops->spoil(context, ret_error);
    if (!status)
        status = seal_inputs(t, &prepared->ring[0], ret_error);
    if (!status)
        status = kg_prepared_launch(prepared, 0, context->ops->stream(context), ret_error);
    context->ops->spoil_end(context);
    const bool written = context->ops->unseal && context->ops->unseal(context);
    if (!status && written)
        status = kg_fail(ret_error, KG_EDEVICE, "wrote into its inputs");
    return status ? status : context->ops->synchronize(context, ret_error);
}

static int make_window(struct twin *t, const struct kg_twin_ask *ask, struct sets *sets,
                       struct kg_twin_answer *ret_answer, kg_error *ret_error)
{
    kg_context *context = t->worker.context;
    struct window *w = malloc(sizeof *w);
    if (!w)
        return kg_fail(ret_error, KG_ENOMEM, "no host memory for a window");
    *w = (struct window){ .prepared = t->arms[ask->arm].prepared, .sets = *sets };
    use_sets(&w->prepared, ask, sets);
    int status = context->ops->window_new(context, kg_prepared_launch, &w->prepared, ask->calls, ask->graph,
                                          ask->spin_us, &w->window, ret_error);
    if (status) {
        free(w);
        return status;
    }
    *sets = (struct sets){ 0 };
    ret_answer->window = w;
    return KG_OK;
}

static int run_windows(struct twin *t, const struct kg_twin_ask *ask, double *ret_us, kg_error *ret_error)
{
    kg_window *windows[KG_MAX_BATCH];
    for (int i = 0; i < ask->n_windows; i++)
        windows[i] = ((const struct window *)ask->windows[i])->window;
    return kg_device_measure(t->worker.context, windows, ask->n_windows, ret_us, ret_error);
}

static void drop_window(struct twin *t, struct window *w)
{
    t->worker.context->ops->window_free(t->worker.context, w->window);
    drop_sets(&w->sets);
    free(w);
}

static int do_asked(struct twin *t, const struct kg_twin_ask *ask, struct sets *sets, struct kg_twin_answer *ret_answer,
                    kg_error *ret_error)
{
    struct kg_prepared *prepared = &t->arms[ask->arm].prepared;
    if (sets->count && prepared->backend && ask->what != KG_TWIN_WINDOW)
        use_sets(prepared, ask, sets);
    switch (ask->what) {
    case KG_TWIN_PREPARE:
        return prepare(t, ask, sets, ret_answer, ret_error);
    case KG_TWIN_STAGE:
        return stage(t, ask, ret_error);
    case KG_TWIN_LAUNCH:
        return launch(t, ask, ret_error);
    case KG_TWIN_IDENTITY:
        return kg_identity_of(t->worker.context, &t->worker.module, prepared, &ret_answer->launch, ret_answer->text,
                              sizeof ret_answer->text, ret_error);
    case KG_TWIN_WINDOW:
        return make_window(t, ask, sets, ret_answer, ret_error);
    case KG_TWIN_RUN:
        return run_windows(t, ask, ret_answer->us, ret_error);
    case KG_TWIN_DROP:
        drop_window(t, ask->windows[0]);
        return KG_OK;
    case KG_TWIN_RELEASE:
        release(t, ask->arm);
        return KG_OK;
    case KG_TWIN_UNMAP:
        unmap_block(t, ask->block);
        return KG_OK;
    case KG_TWIN_CLOSE:
        kg_host_done(&t->worker.host);
        return KG_OK;
    }
    return KG_EINVAL;
}

static void serve(struct twin *t)
{
    static struct kg_twin_ask ask;
    static struct kg_twin_answer answer;
    while (kg_socket_receive(KG_TWIN_PIPE, &ask, sizeof ask, 0)) {
        struct sets sets = { 0 };
        memset(&answer, 0, sizeof answer);
        answer.status = receive_sets(t, &ask, &sets, &answer.error);
        if (!answer.status)
            answer.status = do_asked(t, &ask, &sets, &answer, &answer.error);
        drop_sets(&sets);
        if (!kg_socket_send(KG_TWIN_PIPE, &answer, sizeof answer))
            return;
    }
}

int kg_twin_worker(void)
{
    struct twin t = { 0 };
    struct kg_wire_job wire = { 0 };
    kg_error error = { 0 };
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    fcntl(KG_TWIN_PIPE, F_SETFD, FD_CLOEXEC);
    signal(SIGINT, SIG_IGN);
    signal(SIGTERM, SIG_IGN);
    signal(SIGHUP, SIG_IGN);
    if (kg_worker_open(&t.worker, &wire, &error)) {
        fprintf(stderr, "kgate worker: %s\n", error.text);
        return 2;
    }
    serve(&t);
    t.worker.context->ops->close(t.worker.context);
    kg_wire_job_done(&wire);
    return 0;
}
