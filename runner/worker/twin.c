/* twin.c -- the worker's side: a backend whose functions ask the other build's process, and a context whose windows are
 * there. The calls of a window are noted down, where another context captures them, by the buffer sets that they walk.
 */
#include "worker/twin.h"

#include <cjson/cJSON.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "measure/block.h"
#include "base/socket.h"
#include "worker/twin_ask.h"
#include "worker/wire.h"
#include "worker/worker.h"

#define ENDS_S 5           /* what a process that lost its pipe may take to end */
#define PATIENCE_SHARE 0.9 /* of --case-timeout: after that much the build is late, after all of it the worker is */

extern char **environ;

/* Another build's backend; its state is itself. */
struct proxy {
    kg_backend backend; /* first: what its functions are given */
    struct kg_twin *twin;
    int arm, n_tensors;
    const struct kg_job_case *one;
    char only[64], pin[480];
    struct kg_twin_answer answer; /* when it was prepared */
};

struct kg_twin {
    kg_context base; /* of windows there */
    kg_context *own; /* the worker's, whose memory is shared */
    const struct kg_job *job;
    pid_t pid;
    int pipe;
    char death[200]; /* "": it lives */
    struct proxy proxies[KG_TWIN_ARMS];
    const void **blocks; /* that it has mapped */
    size_t n_blocks, room_blocks;
    struct {
        const struct proxy *proxy; /* NULL: nothing has been noted yet */
        struct kg_twin_set *sets;
        int count, room;
        bool on, all; /* all: the first set came again */
    } notes;
    struct kg_twin_ask in_flight[KG_MAX_IN_FLIGHT];
    int n_in_flight;
};

/* ---- asking ---- */

static void say_how(struct kg_twin *t, int how)
{
    if (WIFSIGNALED(how))
        snprintf(t->death, sizeof t->death, "the worker died: signal %d (%s)", WTERMSIG(how), strsignal(WTERMSIG(how)));
    else
        snprintf(t->death, sizeof t->death, "the worker died: exited with status %d", WEXITSTATUS(how));
}

/* Waits for its end. Returns how it ended. */
static int bury(struct kg_twin *t)
{
    int how = 0;
    close(t->pipe);
    t->pipe = -1;
    for (const double until_s = kg_now_s() + ENDS_S; waitpid(t->pid, &how, WNOHANG) == 0; usleep(200))
        if (kg_now_s() > until_s)
            kill(t->pid, SIGKILL);
    t->pid = -1;
    return how;
}

static void lose(struct kg_twin *t, bool late)
{
    if (late)
        kill(t->pid, SIGKILL);
    const int how = bury(t);
    if (late)
        snprintf(t->death, sizeof t->death, "hangs: no progress in %g s", t->job->timeout_s);
    else
        say_how(t, how);
}

const char *kg_twin_death(const struct kg_twin *twin)
{
    return twin && *twin->death ? twin->death : NULL;
}

/* `sets`: asked->n_sets of them. The worker has nothing on the device meanwhile. */
static int ask(struct kg_twin *t, const struct kg_twin_ask *asked, const struct kg_twin_set *sets,
               struct kg_twin_answer *ret_answer, kg_error *ret_error)
{
    int status = *t->death ? KG_OK : t->own->ops->synchronize(t->own, ret_error);
    if (status)
        return status;
    const double timeout_s = t->job->timeout_s;
    const double deadline_s = timeout_s > 0 ? kg_wire_said_s() + PATIENCE_SHARE * timeout_s : 0;
    if (!*t->death && !(kg_socket_send(t->pipe, asked, sizeof *asked) &&
                        kg_socket_send(t->pipe, sets, (size_t)asked->n_sets * sizeof *sets) &&
                        kg_socket_receive(t->pipe, ret_answer, sizeof *ret_answer, deadline_s)))
        lose(t, deadline_s > 0 && kg_now_s() >= deadline_s);
    if (*t->death)
        return kg_fail(ret_error, KG_EDEVICE, "%s", t->death);
    if (ret_answer->status && ret_error)
        *ret_error = ret_answer->error;
    return ret_answer->status;
}

static void forget_block(void *twin, const void *block)
{
    struct kg_twin *t = twin;
    struct kg_twin_answer answer;
    const struct kg_twin_ask asked = { .what = KG_TWIN_UNMAP, .block = block };
    for (size_t i = 0; i < t->n_blocks; i++) {
        if (t->blocks[i] != block)
            continue;
        t->blocks[i] = t->blocks[--t->n_blocks];
        (void)ask(t, &asked, NULL, &answer, NULL);
        return;
    }
}

static int remember_block(struct kg_twin *t, const void *block, kg_error *ret_error)
{
    if (t->n_blocks == t->room_blocks) {
        const size_t room = 2 * t->room_blocks + 64;
        const void **blocks = realloc(t->blocks, room * sizeof *blocks);
        if (!blocks)
            return kg_fail(ret_error, KG_ENOMEM, "no host memory for a list of buffers");
        t->blocks = blocks;
        t->room_blocks = room;
    }
    t->blocks[t->n_blocks++] = block;
    return KG_OK;
}

static int describe_tensor(struct kg_twin *t, const kg_tensor *tensor, struct kg_twin_tensor *ret, kg_error *ret_error)
{
    size_t bytes = 0;
    *ret = (struct kg_twin_tensor){ .as = *tensor, .block = kg_buffers_block(tensor, &bytes) };
    ret->as.name = NULL;
    for (size_t i = 0; i < t->n_blocks; i++)
        if (t->blocks[i] == ret->block)
            return KG_OK;
    int status = t->own->ops->share(t->own, ret->block, bytes, &ret->shared, ret_error);
    return status ? status : remember_block(t, ret->block, ret_error);
}

static int describe_set(struct kg_twin *t, const kg_tensor *tensors, int count, struct kg_twin_set *ret_set,
                        kg_error *ret_error)
{
    int status = KG_OK;
    ret_set->count = count;
    for (int i = 0; i < count && !status; i++)
        status = describe_tensor(t, &tensors[i], &ret_set->tensors[i], ret_error);
    return status;
}

/* ---- the backend ---- */

static bool has_workspace(const struct proxy *p)
{
    return p->answer.workspace_bytes > 0;
}

static int ask_on(struct proxy *p, struct kg_twin_ask *asked, const kg_tensor *tensors, int count,
                  struct kg_twin_answer *ret_answer, kg_error *ret_error)
{
    struct kg_twin_set set;
    asked->arm = p->arm;
    asked->n_sets = 1;
    asked->has_workspace = count > p->n_tensors;
    int status = describe_set(p->twin, tensors, count, &set, ret_error);
    return status ? status : ask(p->twin, asked, &set, ret_answer, ret_error);
}

static size_t workspace(const kg_backend *self, const void *state)
{
    (void)self;
    return ((const struct proxy *)state)->answer.workspace_bytes;
}

static int stage(const kg_backend *self, void *state, const kg_tensor *tensors, void *stream, kg_error *ret_error)
{
    struct proxy *p = state;
    struct kg_twin_answer answer;
    struct kg_twin_ask asked = { .what = KG_TWIN_STAGE };
    (void)self, (void)stream;
    return ask_on(p, &asked, tensors, p->n_tensors + has_workspace(p), &answer, ret_error);
}

static int prepare(const kg_backend *self, const kg_call *call, void **ret_state, kg_identity *ret_identity,
                   kg_error *ret_error)
{
    struct proxy *p = (struct proxy *)self;
    struct kg_twin_ask asked = { .what = KG_TWIN_PREPARE, .place = (size_t)(p->one - p->twin->job->cases) };
    snprintf(asked.only, sizeof asked.only, "%s", p->only);
    snprintf(asked.pin, sizeof asked.pin, "%s", p->pin);
    p->n_tensors = call->n_tensors;
    int status = ask_on(p, &asked, call->tensors, call->n_tensors, &p->answer, ret_error);
    if (status)
        return status;
    p->backend.name = p->answer.name;
    p->backend.workspace = p->answer.workspace ? workspace : NULL;
    p->backend.stage = p->answer.stages ? stage : NULL;
    *ret_state = p;
    *ret_identity = p->answer.identity;
    return KG_OK;
}

static void release(const kg_backend *self, void *state)
{
    const struct proxy *p = state;
    struct kg_twin_answer answer;
    const struct kg_twin_ask asked = { .what = KG_TWIN_RELEASE, .arm = p->arm };
    (void)self;
    (void)ask(p->twin, &asked, NULL, &answer, NULL);
}

/* Of a window's calls it is enough to know the sets that they walk round. */
static int note(struct proxy *p, const kg_tensor *tensors, kg_error *ret_error)
{
    struct kg_twin *t = p->twin;
    t->notes.proxy = p;
    t->notes.all = t->notes.count > 0 && t->notes.sets[0].tensors[0].as.data == tensors[0].data;
    if (t->notes.all)
        return KG_OK;
    if (t->notes.count == t->notes.room) {
        const int room = 2 * t->notes.room + 4;
        struct kg_twin_set *sets = realloc(t->notes.sets, (size_t)room * sizeof *sets);
        if (!sets)
            return kg_fail(ret_error, KG_ENOMEM, "no host memory for a window");
        t->notes.sets = sets;
        t->notes.room = room;
    }
    return describe_set(t, tensors, p->n_tensors + has_workspace(p), &t->notes.sets[t->notes.count++], ret_error);
}

static int launch(const kg_backend *self, void *state, const kg_tensor *tensors, void *stream, kg_error *ret_error)
{
    struct proxy *p = state;
    struct kg_twin_answer answer;
    struct kg_twin_ask asked = { .what = KG_TWIN_LAUNCH };
    (void)self, (void)stream;
    return p->twin->notes.on ? note(p, tensors, ret_error)
                             : ask_on(p, &asked, tensors, p->n_tensors + has_workspace(p), &answer, ret_error);
}

int kg_twin_prepare(struct kg_twin *twin, int arm, const struct kg_job_case *one, const char *only, const char *pin,
                    struct kg_host_state *host, struct kg_fixture *fixture, struct kg_prepared *ret_prepared,
                    kg_error *ret_error)
{
    const int slot = arm == KG_ARM_PLANTED;
    struct proxy *p = &twin->proxies[slot];
    *p = (struct proxy){ .twin = twin, .arm = slot, .one = one };
    p->backend =
        (kg_backend){ .name = "", .device = one->of.kind, .prepare = prepare, .launch = launch, .release = release };
    snprintf(p->only, sizeof p->only, "%s", only);
    snprintf(p->pin, sizeof p->pin, "%s", pin);
    int status = kg_prepared_new(host, fixture, &p->backend, one->of.problem, pin, ret_prepared, ret_error);
    if (!status) {
        ret_prepared->context = &twin->base;
        ret_prepared->prepare_ms = p->answer.prepare_ms;
    }
    return status;
}

int kg_twin_identity(const struct kg_prepared *prepared, struct kg_launch_info *ret_launch, char *ret_text, size_t size,
                     kg_error *ret_error)
{
    struct proxy *p = prepared->state;
    struct kg_twin_answer answer;
    struct kg_twin_ask asked = { .what = KG_TWIN_IDENTITY };
    kg_tensor room[KG_MAX_TENSORS + 1];
    const kg_tensor *tensors;
    const int count = kg_prepared_call(prepared, 0, room, &tensors);
    int status = ask_on(p, &asked, tensors, count, &answer, ret_error);
    if (status)
        return status;
    *ret_launch = answer.launch;
    snprintf(ret_text, size, "%s", answer.text);
    return KG_OK;
}

const char *kg_twin_knobs(const struct kg_prepared *prepared)
{
    return ((const struct proxy *)prepared->state)->answer.knobs;
}

/* ---- its windows ---- */

static struct kg_twin *twin_of(kg_context *context)
{
    return (struct kg_twin *)context;
}

static int window_new(kg_context *context, kg_launch_fn *calls_launch, void *argument, int calls, bool graph,
                      double spin_us, kg_window **ret_window, kg_error *ret_error)
{
    struct kg_twin *t = twin_of(context);
    struct kg_twin_answer answer;
    int status = KG_OK;
    t->notes.on = true;
    t->notes.all = false;
    t->notes.count = 0;
    for (int i = 0; i < calls && !t->notes.all && !status; i++)
        status = calls_launch(argument, i, NULL, ret_error);
    t->notes.on = false;
    if (status)
        return status;
    const struct kg_twin_ask asked = { .what = KG_TWIN_WINDOW,
                                       .arm = t->notes.proxy->arm,
                                       .n_sets = t->notes.count,
                                       .has_workspace = has_workspace(t->notes.proxy),
                                       .calls = calls,
                                       .graph = graph,
                                       .spin_us = spin_us };
    status = ask(t, &asked, t->notes.sets, &answer, ret_error);
    if (!status)
        *ret_window = answer.window;
    return status;
}

static void window_free(kg_context *context, kg_window *window)
{
    struct kg_twin_answer answer;
    const struct kg_twin_ask asked = { .what = KG_TWIN_DROP, .windows = { window }, .n_windows = 1 };
    if (window)
        (void)ask(twin_of(context), &asked, NULL, &answer, NULL);
}

static int enqueue(kg_context *context, kg_window *const *order, int count, kg_error *ret_error)
{
    struct kg_twin *t = twin_of(context);
    struct kg_twin_ask *asked = &t->in_flight[t->n_in_flight++];
    (void)ret_error;
    *asked = (struct kg_twin_ask){ .what = KG_TWIN_RUN, .n_windows = count };
    for (int i = 0; i < count; i++)
        asked->windows[i] = order[i];
    return KG_OK;
}

static int collect(kg_context *context, double *ret_us, kg_error *ret_error)
{
    struct kg_twin *t = twin_of(context);
    struct kg_twin_answer answer;
    int status = ask(t, &t->in_flight[0], NULL, &answer, ret_error);
    memcpy(ret_us, answer.us, (size_t)t->in_flight[0].n_windows * sizeof *ret_us);
    t->in_flight[0] = t->in_flight[1];
    t->n_in_flight = status ? 0 : t->n_in_flight - 1;
    return status;
}

static const struct kg_device_ops window_ops = {
    .window_new = window_new, .window_free = window_free, .enqueue = enqueue, .collect = collect
};

/* ---- the process ---- */

/* Above the descriptors that it gets, so that no dup2 there overwrites one. */
static int move_up(int file)
{
    const int moved = file < 0 ? -1 : fcntl(file, F_DUPFD_CLOEXEC, 10);
    if (file >= 0)
        close(file);
    return moved;
}

static int spawn(int job, int pipe, pid_t *ret_pid)
{
    char *const arguments[] = { "kgate", "worker", "twin", NULL };
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, job, KG_WORKER_JOB);
    posix_spawn_file_actions_adddup2(&actions, pipe, KG_TWIN_PIPE);
    const int failed = posix_spawn(ret_pid, "/proc/self/exe", &actions, NULL, arguments, environ);
    posix_spawn_file_actions_destroy(&actions);
    return failed;
}

/* The job but for the baseline, and for the token that messages to the parent are signed with. */
static void write_job(const cJSON *as_json, int file)
{
    cJSON *root = cJSON_Duplicate(as_json, true);
    static const char *const without[] = { "baseline", "token" };
    for (size_t i = 0; i < sizeof without / sizeof *without; i++)
        cJSON_DeleteItemFromObjectCaseSensitive(root, without[i]);
    char *text = cJSON_PrintUnformatted(root);
    const size_t length = text ? strlen(text) : 0;
    for (size_t done = 0; done < length;) { /* a process that is gone already shows at the first ask */
        const ssize_t wrote = write(file, text + done, length - done);
        if (wrote <= 0)
            break;
        done += (size_t)wrote;
    }
    free(text);
    cJSON_Delete(root);
}

int kg_twin_start(const cJSON *as_json, const struct kg_job *job, struct kg_twin **ret_twin, kg_error *ret_error)
{
    int ends[2] = { -1, -1 }, jobs[2] = { -1, -1 };
    struct kg_twin *t = calloc(1, sizeof *t);
    if (!t)
        return kg_fail(ret_error, KG_ENOMEM, "no host memory for another build");
    *t = (struct kg_twin){ .job = job, .base = { .ops = &window_ops } };
    int failed = socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) || pipe2(jobs, O_CLOEXEC);
    const int theirs = move_up(ends[1]), to_read = move_up(jobs[0]);
    if (!failed)
        failed = spawn(to_read, theirs, &t->pid);
    close(theirs);
    close(to_read);
    if (failed) {
        free(t);
        return kg_fail(ret_error, KG_EIO, "cannot start a process for the other build");
    }
    write_job(as_json, jobs[1]);
    close(jobs[1]);
    t->pipe = ends[0];
    *ret_twin = t;
    return KG_OK;
}

void kg_twin_share(struct kg_twin *twin, kg_context *context)
{
    twin->own = context;
    twin->base.device = context->device;
    context->released = forget_block;
    context->released_argument = twin;
}

void kg_twin_close(struct kg_twin *twin)
{
    struct kg_twin_answer answer;
    const struct kg_twin_ask asked = { .what = KG_TWIN_CLOSE };
    (void)ask(twin, &asked, NULL, &answer, NULL);
    if (*twin->death)
        return;
    twin->n_blocks = 0;
    const int how = bury(twin);
    if (how != 0)
        say_how(twin, how);
}
