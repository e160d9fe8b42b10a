/* bench.c -- how long a command takes, or how much memory it needs at most; fails over a limit.
 *
 *     bench time LIMIT_MS RUNS COMMAND...      the median of RUNS
 *     bench memory LIMIT_MIB COMMAND...        of the command's own process, not of those that it starts
 *
 * The command's output goes to /dev/null. Its exit status must be 0. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MAX_RUNS 1000
#define SKIPPED 77

static double now_ms(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return 1e3 * (double)now.tv_sec + 1e-6 * (double)now.tv_nsec;
}

static void die(const char *what)
{
    fprintf(stderr, "bench: %s: %s\n", what, strerror(errno));
    exit(2);
}

/* A traced command stops before its first instruction. */
static pid_t start(char *const command[], int traced)
{
    pid_t child = fork();
    if (child < 0)
        die("fork");
    if (child)
        return child;
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    if (null < 0 || dup2(null, STDIN_FILENO) < 0 || dup2(null, STDOUT_FILENO) < 0)
        _exit(127);
    if (traced && ptrace(PTRACE_TRACEME, 0, NULL, NULL))
        _exit(SKIPPED);
    execv(command[0], command);
    _exit(127);
}

static void check(int status, const char *command)
{
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
        return;
    fprintf(stderr, "bench: %s ended with status %d\n", command, WIFEXITED(status) ? WEXITSTATUS(status) : -1);
    exit(2);
}

static int ascending(const void *a, const void *b)
{
    double left = *(const double *)a, right = *(const double *)b;
    return (left > right) - (left < right);
}

static double median_ms(char *const command[], int runs)
{
    double times_ms[MAX_RUNS];
    for (int i = 0; i < runs; i++) {
        int status = 0;
        double started_ms = now_ms();
        pid_t child = start(command, 0);
        if (waitpid(child, &status, 0) < 0)
            die("waitpid");
        times_ms[i] = now_ms() - started_ms;
        check(status, command[0]);
    }
    qsort(times_ms, (size_t)runs, sizeof *times_ms, ascending);
    return (times_ms[(runs - 1) / 2] + times_ms[runs / 2]) / 2;
}

/* The most that was ever resident, in MiB. */
static double peak_mib(pid_t process)
{
    char path[64], line[256];
    double kib = -1;
    (void)snprintf(path, sizeof path, "/proc/%ld/status", (long)process);
    FILE *file = fopen(path, "r");
    if (!file)
        die(path);
    while (fgets(line, sizeof line, file))
        if (sscanf(line, "VmHWM: %lf kB", &kib) == 1)
            break;
    (void)fclose(file);
    if (kib < 0) {
        fprintf(stderr, "bench: no VmHWM in %s\n", path);
        exit(2);
    }
    return kib / 1024;
}

/* rusage of a child counts the children that it has waited for, too. So it is stopped where it exits, while its own
 * peak can still be read. */
static double traced_peak_mib(char *const command[])
{
    int status = 0;
    double mib = -1;
    pid_t child = start(command, 1);
    if (waitpid(child, &status, 0) < 0)
        die("waitpid");
    if (WIFEXITED(status)) {
        fprintf(stderr, "bench: %s cannot be %s\n", command[0], WEXITSTATUS(status) == SKIPPED ? "traced" : "run");
        exit(WEXITSTATUS(status) == SKIPPED ? SKIPPED : 2);
    }
    if (ptrace(PTRACE_SETOPTIONS, child, NULL, (void *)(PTRACE_O_TRACEEXIT | PTRACE_O_EXITKILL)) ||
        ptrace(PTRACE_CONT, child, NULL, NULL))
        die("ptrace");
    while (waitpid(child, &status, 0) == child && WIFSTOPPED(status)) {
        const int exits = status >> 8 == (SIGTRAP | PTRACE_EVENT_EXIT << 8);
        const int signal = exits || WSTOPSIG(status) == SIGTRAP ? 0 : WSTOPSIG(status);
        if (exits)
            mib = peak_mib(child);
        if (ptrace(PTRACE_CONT, child, NULL, (void *)(long)signal))
            die("ptrace");
    }
    check(status, command[0]);
    return mib;
}

static int judge(const char *unit, double value, double limit, char *const command[])
{
    const int fine = value >= 0 && value <= limit;
    printf("%s: %.3g %s, limit %g %s:", fine ? "ok" : "FAILED", value, unit, limit, unit);
    for (; *command; command++)
        printf(" %s", *command);
    printf("\n");
    return fine ? 0 : 1;
}

int main(int argc, char *argv[])
{
    if (argc >= 5 && !strcmp(argv[1], "time")) {
        int runs = atoi(argv[3]);
        if (runs >= 1 && runs <= MAX_RUNS)
            return judge("ms", median_ms(argv + 4, runs), atof(argv[2]), argv + 4);
    }
    if (argc >= 4 && !strcmp(argv[1], "memory"))
        return judge("MiB", traced_peak_mib(argv + 3), atof(argv[2]), argv + 3);
    fputs("bench time LIMIT_MS RUNS COMMAND... | bench memory LIMIT_MIB COMMAND...\n", stderr);
    return 2;
}
