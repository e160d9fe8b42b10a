/* process.c -- starting a worker and reading its lines with a time limit. */
#include "run/process.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "worker/worker.h"

#define MAX_ARGUMENTS 8
#define LOOK_S 0.1 /* how often a waiting parent looks whether it was told to stop */

extern char **environ;

double kg_process_now_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

bool kg_patience_over(const struct kg_patience *patience)
{
    return (patience->stop && *patience->stop) ||
           (patience->deadline_s > 0 && kg_process_now_s() >= patience->deadline_s);
}

/* The environment with a setting more, unless it has one of that name; free() it. NULL: no memory. */
static const char **environment_with(const char *setting)
{
    size_t count = 0, name = setting ? strcspn(setting, "=") + 1 : 0;
    bool there = !setting;
    for (; environ[count]; count++)
        there = there || !strncmp(environ[count], setting, name);
    const char **with = calloc(count + 2, sizeof *with);
    for (size_t i = 0; with && i < count; i++)
        with[i] = environ[i];
    if (with && !there)
        with[count] = setting;
    return with;
}

static int spawn(const char *const *arguments, const char *setting, const char *log_path, int job, int messages,
                 pid_t *ret_pid)
{
    const char *argv[MAX_ARGUMENTS + 3] = { "kgate", "worker" };
    posix_spawn_file_actions_t actions;
    const char **environment = environment_with(setting);
    if (!environment)
        return ENOMEM;
    for (int i = 0; i < MAX_ARGUMENTS && arguments[i]; i++)
        argv[2 + i] = arguments[i];
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&actions, 1, log_path ? log_path : "/dev/null", O_WRONLY | O_CREAT | O_APPEND,
                                     0666);
    posix_spawn_file_actions_adddup2(&actions, 1, 2);
    posix_spawn_file_actions_adddup2(&actions, job, KG_WORKER_JOB);
    posix_spawn_file_actions_adddup2(&actions, messages, KG_WORKER_MESSAGES);
    int status =
        posix_spawn(ret_pid, "/proc/self/exe", &actions, NULL, (char *const *)argv, (char *const *)environment);
    posix_spawn_file_actions_destroy(&actions);
    free(environment);
    return status;
}

/* Ends above the descriptors that the worker gets, so that no dup2 there overwrites one. */
static int make_pipe(int ret_ends[2])
{
    int low[2];
    if (pipe2(low, O_CLOEXEC))
        return -1;
    for (int i = 0; i < 2; i++) {
        ret_ends[i] = fcntl(low[i], F_DUPFD_CLOEXEC, 10);
        close(low[i]);
    }
    return ret_ends[0] < 0 || ret_ends[1] < 0 ? -1 : 0;
}

int kg_process_start(const char *const *arguments, const char *setting, const char *log_path,
                     struct kg_process *ret_process, kg_error *ret_error)
{
    int job[2] = { -1, -1 }, messages[2] = { -1, -1 };
    pid_t pid = 0;
    if (make_pipe(job) || make_pipe(messages))
        return kg_fail(ret_error, KG_EIO, "cannot make a pipe: %s", strerror(errno));
    int status = spawn(arguments, setting, log_path, job[0], messages[1], &pid);
    close(job[0]);
    close(messages[1]);
    if (status) {
        close(job[1]);
        close(messages[0]);
        return kg_fail(ret_error, KG_EIO, "cannot start a worker: %s", strerror(status));
    }
    *ret_process = (struct kg_process){ .pid = pid, .job = job[1], .messages = messages[0] };
    return KG_OK;
}

/* A line is handed out where it lies; what follows it is moved down at the next call. */
static bool take_line(struct kg_process *p, size_t scanned, const char **ret_line, size_t *ret_length)
{
    char *end = p->used > scanned ? memchr(p->line + scanned, '\n', p->used - scanned) : NULL;
    if (!end)
        return false;
    *end = '\0';
    *ret_line = p->line;
    *ret_length = (size_t)(end - p->line);
    return true;
}

static void drop_line(struct kg_process *p)
{
    char *end = p->used ? memchr(p->line, '\0', p->used) : NULL;
    if (!end)
        return;
    size_t length = (size_t)(end - p->line) + 1;
    memmove(p->line, p->line + length, p->used - length);
    p->used -= length;
}

static bool make_room(struct kg_process *p)
{
    if (p->room - p->used >= 65536)
        return true;
    size_t wanted = 2 * p->room + 131072;
    char *grown = realloc(p->line, wanted);
    if (!grown)
        return false;
    p->line = grown;
    p->room = wanted;
    return true;
}

enum kg_read kg_process_read_line(struct kg_process *p, const struct kg_patience *patience, const char **ret_line,
                                  size_t *ret_length)
{
    const double end_s = kg_process_now_s() + patience->timeout_s;
    drop_line(p);
    size_t scanned = 0;
    while (!take_line(p, scanned, ret_line, ret_length)) {
        scanned = p->used;
        if (kg_patience_over(patience))
            return KG_READ_STOPPED;
        if (!make_room(p))
            return KG_READ_END;
        double left_s = end_s - kg_process_now_s();
        if (left_s <= 0)
            return KG_READ_TIMEOUT;
        /* A signal between the look at `stop` and the wait would go unseen for long: the wait is short. */
        struct pollfd poll_one = { .fd = p->messages, .events = POLLIN };
        int ready = poll(&poll_one, 1, (int)((left_s < LOOK_S ? left_s : LOOK_S) * 1000) + 1);
        if (ready == 0 || (ready < 0 && errno == EINTR))
            continue;
        ssize_t got = read(p->messages, p->line + p->used, p->room - p->used);
        if (got <= 0)
            return KG_READ_END;
        p->used += (size_t)got;
    }
    return KG_READ_LINE;
}

void kg_process_kill(struct kg_process *process)
{
    if (process->pid > 0)
        kill(process->pid, SIGKILL);
}

void kg_process_finish(struct kg_process *process, char *ret_how, size_t size)
{
    int status = 0;
    if (process->job >= 0)
        close(process->job);
    close(process->messages);
    free(process->line);
    while (waitpid(process->pid, &status, 0) < 0 && errno == EINTR) {
    }
    if (WIFSIGNALED(status))
        snprintf(ret_how, size, "signal %d (%s)", WTERMSIG(status), strsignal(WTERMSIG(status)));
    else
        snprintf(ret_how, size, "exited with status %d", WEXITSTATUS(status));
    *process = (struct kg_process){ .pid = -1, .job = -1, .messages = -1 };
}
