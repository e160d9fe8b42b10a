/* kept_build.c -- see kept_build.h. */
#include "run/kept_build.h"

#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "run/child.h"
#include "run/tables.h"
#include "worker/identity.h"

extern char **environ;

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* ---- by its hashes ---- */

static bool has_kernel(const struct kg_module *module, const char *part, size_t length)
{
    const char *colon = memchr(part, ':', length);
    for (size_t i = 0; i < module->n_kernels && colon; i++) {
        const kg_kernel *kernel = &module->kernels[i];
        const size_t name = (size_t)(colon - part);
        if (strlen(kernel->name) == name && !memcmp(kernel->name, part, name) &&
            strlen(kernel->code_hash) == length - name - 1 && !memcmp(kernel->code_hash, colon + 1, length - name - 1))
            return true;
    }
    return false;
}

static bool has_text(const struct kg_loaded *loaded, const char *part, size_t length)
{
    char code[40];
    uint64_t hash = 0;
    if (kg_identity_elf_code(loaded->path, loaded->root->git_sha ? loaded->root->git_sha : "", &hash))
        return false;
    snprintf(code, sizeof code, "module code %016" PRIx64, hash);
    return strlen(code) == length && !memcmp(code, part, length);
}

/* Every part of the golden's identity that has a hash, and at least one. What was compiled at run time has one that no
 * module holds. */
static bool has_code_of(const char *path, const struct kg_options *options, const struct kg_golden *golden)
{
    struct kg_loaded loaded;
    bool found = false, differs = false;
    if (kg_tables_open(path, options, &loaded, NULL))
        return false;
    for (const char *part = golden->identity; *part && !differs;) {
        const char *end = strstr(part, "; ");
        const size_t length = end ? (size_t)(end - part) : strlen(part);
        const bool is_text = !strncmp(part, "module code ", strlen("module code "));
        if (is_text || memchr(part, ':', length)) {
            found = is_text ? has_text(&loaded, part, length) : has_kernel(loaded.root, part, length);
            differs = !found;
        }
        part += length + (end ? 2 : 0);
    }
    kg_tables_close(&loaded);
    return found;
}

/* ---- places ---- */

/* A commit is kept once for each way to build it. */
struct wanted {
    bool commit, code; /* of the golden */
};

static bool is_wanted(const struct wanted *wanted, const char *name, const char *path, const struct kg_options *options,
                      const struct kg_golden *golden)
{
    const char *sha = golden->provenance.git_sha;
    return *name != '.' && (!wanted->commit || (*sha && !strncmp(name, sha, strlen(sha)))) && !access(path, R_OK) &&
           (!wanted->code || has_code_of(path, options, golden));
}

static bool in_folder(const char *folder, const struct kg_options *options, const struct kg_golden *golden,
                      const char *file, const struct wanted *wanted, char ret_path[4096])
{
    struct dirent **entries = NULL;
    bool found = false;
    const int count = scandir(folder, &entries, NULL, alphasort);
    for (int i = 0; i < count; i++) {
        const char *name = entries[i]->d_name;
        if (!found && snprintf(ret_path, 4096, "%s/%s/%s", folder, name, file) < 4096)
            found = is_wanted(wanted, name, ret_path, options, golden);
        free(entries[i]);
    }
    free(entries);
    return found;
}

static bool is_over(const struct kg_stop *stop)
{
    return *stop->signalled || (stop->deadline_s > 0 && kg_now_s() > stop->deadline_s);
}

static bool has_ended(pid_t pid)
{
    siginfo_t info = { .si_pid = 0 };
    return !waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT) && info.si_pid == pid;
}

/* The last line of what the program says until its end; what it leaves running may hold the pipe for longer. false: the
 * run is to stop, or a line is too long. */
static bool read_last_line(int from, pid_t pid, const struct kg_stop *stop, char ret_line[4096])
{
    size_t length = 0;
    bool ended = false;
    ret_line[0] = 0;
    for (char c; !is_over(stop) && length < 4095;) {
        struct pollfd ready = { .fd = from, .events = POLLIN };
        if (poll(&ready, 1, 200) <= 0) {
            if (has_ended(pid))
                return true;
            continue;
        }
        if (read(from, &c, 1) != 1)
            return true;
        if (ended)
            length = 0;
        ended = c == '\n';
        if (ended)
            continue;
        ret_line[length++] = c;
        ret_line[length] = 0;
    }
    return false;
}

/* It may have closed the pipe long before. false: the run is to stop. */
static bool await_end(pid_t pid, const struct kg_stop *stop)
{
    while (!has_ended(pid)) {
        if (is_over(stop))
            return false;
        usleep(10000);
    }
    return true;
}

/* What it says of its work goes to stderr. In a process group of its own, so that what it started ends with it. */
static pid_t start(const char *program, const char *sha, int out)
{
    pid_t pid = 0;
    char *const arguments[] = { (char *)(uintptr_t)program, (char *)(uintptr_t)sha, NULL };
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    posix_spawn_file_actions_init(&actions);
    posix_spawnattr_init(&attributes);
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0); /* nobody is asked anything */
    posix_spawn_file_actions_adddup2(&actions, out, STDOUT_FILENO);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
    kg_child_adopt_none(); /* a compiler's cache, say, may be served on */
    if (posix_spawn(&pid, program, &actions, &attributes, arguments, environ))
        pid = 0;
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
    return pid;
}

static bool ask_program(const char *program, const struct kg_stop *stop, const char *sha, char ret_path[4096])
{
    int ends[2] = { -1, -1 }, status = -1;
    if (!*sha || pipe2(ends, O_CLOEXEC))
        return false;
    const pid_t pid = start(program, sha, ends[1]);
    close(ends[1]);
    const bool heard = pid > 0 && read_last_line(ends[0], pid, stop, ret_path) && await_end(pid, stop);
    if (pid > 0 && !heard)
        kill(-pid, SIGKILL);
    close(ends[0]);
    if (pid > 0) {
        siginfo_t ended;
        (void)waitid(P_PID, (id_t)pid, &ended, WEXITED | WNOWAIT); /* so that the number stays its own */
        kill(-pid, SIGKILL);
        (void)waitpid(pid, &status, 0);
    }
    return heard && status == 0 && *ret_path && !access(ret_path, R_OK);
}

static bool in_folders(const struct kg_options *options, const struct kg_golden *golden, const char *file,
                       struct wanted wanted, char ret_path[4096])
{
    for (size_t i = 0; i < options->n_duels; i++)
        if (kg_folder_exists(options->duels[i]) &&
            in_folder(options->duels[i], options, golden, file, &wanted, ret_path))
            return true;
    return false;
}

static bool by_programs(const struct kg_options *options, const struct kg_stop *stop, const struct kg_golden *golden,
                        char ret_path[4096])
{
    for (size_t i = 0; i < options->n_duels; i++)
        if (!kg_folder_exists(options->duels[i]) &&
            ask_program(options->duels[i], stop, golden->provenance.git_sha, ret_path))
            return true;
    return false;
}

int kg_kept_build_find(const struct kg_options *options, const struct kg_stop *stop, const struct kg_golden *golden,
                       const char *module_path, char ret_path[4096], kg_error *ret_error)
{
    const char *file = base_name(module_path);
    /* Code that is compiled at run time is in no module: then the commit alone. */
    if (in_folders(options, golden, file, (struct wanted){ .commit = true, .code = true }, ret_path) ||
        by_programs(options, stop, golden, ret_path) ||
        in_folders(options, golden, file, (struct wanted){ .commit = true }, ret_path) ||
        in_folders(options, golden, file, (struct wanted){ .code = true }, ret_path))
        return KG_OK;
    return kg_fail(ret_error, KG_ENOTFOUND, "no build of %.12s",
                   *golden->provenance.git_sha ? golden->provenance.git_sha : "an unknown commit");
}
