/* child.c -- as a subreaper this process is given what its workers leave running; known are the children that it
 * started or had before, and all others are killed. */
#include "run/child.h"

#include <dirent.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"

#define PATIENCE_S 2 /* with what was killed and does not end, as where a driver holds it */
#define LOOK_US 1000 /* between two looks for it */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* a child is known before anybody looks for orphans */
static struct {
    pid_t *pids;
    size_t count, room;
    bool begun;
} known;

/* ---- who is known ---- */

static size_t place_of(pid_t pid)
{
    size_t place = 0;
    while (place < known.count && known.pids[place] != pid)
        place++;
    return place;
}

static bool make_room(void)
{
    const size_t wanted = 2 * known.room + 16;
    if (known.count < known.room)
        return true;
    pid_t *grown = realloc(known.pids, wanted * sizeof *grown);
    if (!grown)
        return false;
    known.pids = grown;
    known.room = wanted;
    return true;
}

static bool know(pid_t pid)
{
    if (!make_room())
        return false;
    known.pids[known.count++] = pid;
    return true;
}

/* ---- children, by /proc ---- */

/* The name of a program stands between brackets and may hold any. */
static bool is_child(const char *process)
{
    char path[300], line[512];
    int parent = 0;
    snprintf(path, sizeof path, "/proc/%s/stat", process);
    FILE *file = fopen(path, "re");
    if (!file)
        return false;
    const size_t length = fread(line, 1, sizeof line - 1, file);
    (void)fclose(file);
    line[length] = '\0';
    const char *name_end = strrchr(line, ')');
    return name_end && sscanf(name_end, ") %*c %d", &parent) == 1 && parent == (int)getpid();
}

/* How many unknown children `deed` was done to; the kernel's own lists of children are an option of its build. */
static size_t each_unknown(bool (*deed)(pid_t pid))
{
    size_t count = 0;
    DIR *folder = opendir("/proc");
    if (!folder)
        return 0;
    for (const struct dirent *entry = readdir(folder); entry; entry = readdir(folder)) {
        const pid_t pid = (pid_t)strtol(entry->d_name, NULL, 10);
        count += pid > 0 && place_of(pid) == known.count && is_child(entry->d_name) && deed(pid);
    }
    (void)closedir(folder);
    return count;
}

/* Its number is nobody else's before it is waited for. One of another user's is out of reach. */
static bool kill_orphan(pid_t pid)
{
    const bool killed = !kill(pid, SIGKILL);
    (void)waitpid(pid, NULL, WNOHANG | __WALL);
    return killed;
}

/* What an orphan has started comes here when that has ended. */
static void kill_orphans(void)
{
    const double until_s = kg_now_s() + PATIENCE_S;
    while (each_unknown(kill_orphan) && kg_now_s() < until_s)
        usleep(LOOK_US);
}

/* ---- starting and ending ---- */

int kg_child_start(pid_t *ret_pid, const char *path, const posix_spawn_file_actions_t *actions,
                   const posix_spawnattr_t *attributes, char *const *arguments, char *const *environment)
{
    int failed = ENOMEM;
    pthread_mutex_lock(&lock);
    if (!known.begun)
        (void)each_unknown(know);
    known.begun = true;
    (void)prctl(PR_SET_CHILD_SUBREAPER, 1);
    if (make_room())
        failed = posix_spawn(ret_pid, path, actions, attributes, arguments, environment);
    if (!failed)
        (void)know(*ret_pid);
    pthread_mutex_unlock(&lock);
    return failed;
}

int kg_child_end(pid_t pid)
{
    int status = 0;
    kill(pid, SIGKILL);  /* it may have left its group */
    kill(-pid, SIGKILL); /* all at once, however fast they fork */
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
    }
    pthread_mutex_lock(&lock);
    const size_t place = place_of(pid);
    if (place < known.count)
        known.pids[place] = known.pids[--known.count];
    kill_orphans();
    pthread_mutex_unlock(&lock);
    return status;
}

void kg_child_adopt_none(void)
{
    (void)prctl(PR_SET_CHILD_SUBREAPER, 0);
}
