/* process.c -- starting a worker and reading its lines with a time limit. */
#include "run/process.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "run/child.h"
#include "worker/worker.h"

#define MAX_ARGUMENTS 8
#define LOOK_S 0.1          /* how often a waiting parent looks whether it was told to stop, or the worker has ended */
#define END_S 0.001         /* the same once the pipe is closed, which is the last that most workers do */
#define MOST_LOG (16 << 20) /* bytes */
#define MOST_BYTES (64u << 20) /* of a line: more is no message */

extern char **environ;

bool kg_patience_over(const struct kg_patience *patience)
{
    return (patience->stop && *patience->stop) || (patience->deadline_s > 0 && kg_now_s() >= patience->deadline_s);
}

static bool is_set(const char *setting)
{
    const size_t name = strcspn(setting, "=") + 1;
    for (size_t i = 0; environ[i]; i++)
        if (!strncmp(environ[i], setting, name))
            return true;
    return false;
}

/* The environment with the settings that it does not have; free() it. NULL: no memory. */
static const char **environment_with(const char *const *settings)
{
    size_t count = 0, more = 0;
    while (environ[count])
        count++;
    while (settings && settings[more])
        more++;
    const char **with = calloc(count + more + 1, sizeof *with);
    for (size_t i = 0; with && i < count; i++)
        with[i] = environ[i];
    for (size_t i = 0; with && i < more; i++)
        if (!is_set(settings[i]))
            with[count++] = settings[i];
    return with;
}

static int spawn(const char *const *arguments, const char *const *settings, const char *log_path, int job, int messages,
                 pid_t *ret_pid)
{
    const char *argv[MAX_ARGUMENTS + 3] = { "kgate", "worker" };
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    const char **environment = environment_with(settings);
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
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
    posix_spawnattr_setpgroup(&attributes, 0);
    int status = kg_child_start(ret_pid, "/proc/self/exe", &actions, &attributes, (char *const *)argv,
                                (char *const *)environment);
    posix_spawnattr_destroy(&attributes);
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

int kg_process_start(const char *const *arguments, const char *const *settings, const char *log_path,
                     struct kg_process *ret_process, kg_error *ret_error)
{
    int job[2] = { -1, -1 }, messages[2] = { -1, -1 };
    pid_t pid = 0;
    if (make_pipe(job) || make_pipe(messages))
        return kg_fail(ret_error, KG_EIO, "cannot make a pipe: %s", strerror(errno));
    int status = spawn(arguments, settings, log_path, job[0], messages[1], &pid);
    close(job[0]);
    close(messages[1]);
    if (status) {
        close(job[1]);
        close(messages[0]);
        return kg_fail(ret_error, KG_EIO, "cannot start a worker: %s", strerror(status));
    }
    *ret_process = (struct kg_process){ .pid = pid, .job = job[1], .messages = messages[0], .log = log_path };
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
    char *grown = p->room < MOST_BYTES ? realloc(p->line, wanted) : NULL;
    if (!grown)
        return false;
    p->line = grown;
    p->room = wanted;
    return true;
}

/* A kernel that prints without end would fill the disk. */
static void cut_log(const char *path)
{
    static const char note[] = "\nkgate: the rest is cut\n";
    struct stat about;
    if (!path || stat(path, &about) || about.st_size <= MOST_LOG + (off_t)sizeof note)
        return;
    const int file = open(path, O_WRONLY | O_APPEND | O_CLOEXEC);
    if (file >= 0 && !ftruncate(file, MOST_LOG))
        (void)!write(file, note, sizeof note - 1);
    if (file >= 0)
        close(file);
}

/* It stays a zombie, whose number nobody else gets. */
static bool has_ended(const struct kg_process *p)
{
    siginfo_t info = { 0 };
    return waitid(P_PID, (id_t)p->pid, &info, WEXITED | WNOHANG | WNOWAIT) || info.si_pid;
}

/* Waits until there is something to read; false: a while has passed without. */
static bool wait_readable(const struct kg_process *p, double seconds)
{
    struct pollfd one = { .fd = p->closed ? -1 : p->messages, .events = POLLIN };
    return poll(&one, 1, (int)ceil(seconds * 1000)) > 0;
}

enum kg_read kg_process_read_line(struct kg_process *p, const struct kg_patience *patience, const char **ret_line,
                                  size_t *ret_length)
{
    const double end_s = kg_now_s() + patience->timeout_s;
    drop_line(p);
    size_t scanned = 0;
    bool ended = false;
    while (!take_line(p, scanned, ret_line, ret_length)) {
        scanned = p->used;
        cut_log(p->log);
        if (kg_patience_over(patience))
            return KG_READ_STOPPED;
        if (!make_room(p))
            return KG_READ_END;
        double left_s = end_s - kg_now_s();
        if (left_s <= 0)
            return KG_READ_TIMEOUT;
        /* A signal between the look at `stop` and the wait would go unseen for long: the wait is short. */
        if (!wait_readable(p, ended ? 0 : fmin(left_s, p->closed ? END_S : LOOK_S))) {
            if (ended)
                return KG_READ_END;
            ended = has_ended(p);
            continue;
        }
        ssize_t got = read(p->messages, p->line + p->used, p->room - p->used);
        p->closed = got <= 0;
        p->used += got > 0 ? (size_t)got : 0;
    }
    return KG_READ_LINE;
}

void kg_process_finish(struct kg_process *process, char *ret_how, size_t size)
{
    if (process->job >= 0)
        close(process->job);
    close(process->messages);
    free(process->line);
    const int status = kg_child_end(process->pid);
    cut_log(process->log);
    if (WIFSIGNALED(status))
        snprintf(ret_how, size, "signal %d (%s)", WTERMSIG(status), strsignal(WTERMSIG(status)));
    else
        snprintf(ret_how, size, "exited with status %d", WEXITSTATUS(status));
    *process = (struct kg_process){ .pid = -1, .job = -1, .messages = -1 };
}
