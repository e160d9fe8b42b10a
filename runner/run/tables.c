/* tables.c -- the parent's side of worker/tables.h. */
#include "run/tables.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "base/clock.h"
#include "plan/module_image.h"
#include "run/process.h"
#include "worker/tables.h"

/* Stays until exit, as its tables do. */
struct server {
    struct kg_op_server of; /* first */
    struct kg_process process;
    char *name;
    double timeout_s;  /* of an answer */
    double deadline_s; /* of all while the run is planned; 0: none */
    uint32_t turn;     /* from anywhere: what the module writes beside is told from an answer */
    bool dead;
    bool opening; /* rows were checked where they come from */
    struct server *next;
};
static struct server *servers;

/* Nothing that a module leaves behind outlives the parent. */
static void end_all(void)
{
    char how[128];
    for (struct server *s = servers; s; s = s->next) {
        if (!s->dead)
            kg_process_finish(&s->process, how, sizeof how);
        s->dead = true;
    }
}

/* KG_EINVAL, and how it went. */
static int end(struct server *s, enum kg_read got, const char *during, kg_error *ret_error)
{
    char how[128];
    s->dead = true;
    kg_process_finish(&s->process, how, sizeof how);
    if (got == KG_READ_STOPPED)
        return kg_fail(ret_error, KG_EINVAL, "module %.200s is slow: the run's time is over while %s", s->name, during);
    if (got == KG_READ_TIMEOUT)
        return kg_fail(ret_error, KG_EINVAL, "module %.200s hangs while %s: no answer in %g s", s->name, during,
                       s->timeout_s);
    return kg_fail(ret_error, KG_EINVAL, "module %.200s: its process died while %s: %s", s->name, during, how);
}

static int read_line(struct server *s, const char *during, double deadline_s, const char **ret_line, size_t *ret_length,
                     kg_error *ret_error)
{
    const struct kg_patience patience = { .timeout_s = s->timeout_s, .deadline_s = deadline_s };
    const enum kg_read got = kg_process_read_line(&s->process, &patience, ret_line, ret_length);
    return got == KG_READ_LINE ? KG_OK : end(s, got, during, ret_error);
}

static bool write_all(int file, const char *text, size_t size)
{
    while (size > 0) {
        const ssize_t wrote = write(file, text, size);
        if (wrote <= 0)
            return false;
        text += wrote;
        size -= (size_t)wrote;
    }
    return true;
}

static int ask(struct kg_op_server *of, const kg_op *op, enum kg_question question, const void *problem,
               struct kg_answers *ret_answers, kg_error *ret_error)
{
    static const char *const during[KG_QUESTIONS] = { "its op checks a problem", "its op counts the work of a problem",
                                                      "its op describes tensors" };
    struct server *s = (struct server *)of;
    const char *line = NULL;
    char *text = NULL;
    size_t length = 0;
    if (s->opening && question == KG_ASK_CHECK)
        return KG_OK;
    if (s->dead)
        return kg_fail(ret_error, KG_EINVAL, "module %.200s: its process died", s->name);
    char *hex = kg_hex_of(problem, op->problem_size);
    s->turn++;
    const int size = hex ? asprintf(&text, "%" PRIu32 " %d %zu %s %s\n", s->turn, (int)question,
                                    (size_t)((const char *)op - of->begin), kg_row_name(problem), hex)
                         : -1;
    free(hex);
    if (size < 0)
        return kg_fail(ret_error, KG_ENOMEM, "out of memory for a question");
    (void)write_all(s->process.job, text, (size_t)size); /* a process that is gone shows below */
    free(text);
    /* Reports ask for tensors when the time is over. */
    const double deadline_s = question == KG_ASK_TENSORS ? 0 : s->deadline_s;
    int status = read_line(s, during[question], deadline_s, &line, &length, ret_error);
    if (status)
        return status;
    char *rest = NULL;
    const bool own = strtoul(line, &rest, 10) == s->turn && *rest == ' ';
    return kg_answers_parse(question, own ? rest + 1 : "", ret_answers, ret_error);
}

/* The libraries that the line says were loaded. Returns how much of it was read; 0: it does not say. */
static size_t take_links(const char *line, char ret_links[KG_PATH_SIZE])
{
    const size_t digits = strcspn(line, " "), size = digits / 2;
    const bool read = size && size <= KG_PATH_SIZE && line[digits] && kg_hex_read(line, ret_links, size);
    return read && !ret_links[size - 1] ? digits + 1 : 0;
}

/* The tables of the line, in memory of their own, and the stamps of the libraries that came with them. */
static int take(struct server *s, const char *line, size_t length, struct kg_loaded *loaded, kg_error *ret_error)
{
    static const char word[] = "tables ";
    const size_t skip = sizeof word - 1;
    struct kg_answers none = { 0 };
    if (strncmp(line, word, skip) != 0)
        return kg_answers_parse(KG_QUESTIONS, line, &none, ret_error);
    const size_t links = take_links(line + skip, loaded->links), size = (length - skip - links) / 2;
    char *bytes = aligned_alloc(64, (size + 16 + 63) / 64 * 64);
    if (!bytes)
        return kg_fail(ret_error, KG_ENOMEM, "out of memory for a module's tables");
    memset(bytes, 0, (size + 16 + 63) / 64 * 64);
    kg_error cause = { 0 };
    int status = links && kg_hex_read(line + skip + links, bytes, size)
                     ? kg_module_image_read(bytes, size, &loaded->root, &cause)
                     : kg_fail(&cause, KG_EINVAL, "its tables are cut");
    if (status) {
        free(bytes);
        return kg_fail(ret_error, status, "module %.200s: %.200s", s->name, cause.text);
    }
    s->of = (struct kg_op_server){ .begin = bytes, .size = size, .ask = ask };
    kg_module_stamp(loaded, loaded->links);
    return KG_OK;
}

static double deadline_of(const struct kg_options *options)
{
    return options->timeout_s > 0 ? kg_now_s() + options->timeout_s : 0;
}

int kg_tables_open(const char *name, const struct kg_options *options, struct kg_loaded *ret_loaded,
                   kg_error *ret_error)
{
    static const char *const settings[] = { "OMP_WAIT_POLICY=passive", NULL };
    struct kg_loaded loaded = { 0 };
    const char *line = NULL;
    size_t length = 0;
    int status = kg_module_find(name, loaded.path, ret_error);
    if (status)
        return status;
    struct server *s = calloc(1, sizeof *s);
    if (!s)
        return kg_fail(ret_error, KG_ENOMEM, "out of memory for a module's tables");
    kg_module_stamp(&loaded, loaded.path);
    *s = (struct server){ .timeout_s = options->case_timeout_s, .deadline_s = deadline_of(options) };
    s->name = strdup(name);
    (void)!getrandom(&s->turn, sizeof s->turn / 2, 0);
    const char *const arguments[] = { "tables", loaded.path, name, NULL };
    status = s->name ? kg_process_start(arguments, settings, NULL, &s->process, ret_error)
                     : kg_fail(ret_error, KG_ENOMEM, "out of memory for a module's name");
    if (status) {
        free(s->name);
        free(s);
        return status;
    }
    if (!servers)
        (void)atexit(end_all);
    s->next = servers;
    servers = s;
    (void)signal(SIGPIPE, SIG_IGN);
    status = read_line(s, "its tables are read", s->deadline_s, &line, &length, ret_error);
    if (!status)
        status = take(s, line, length, &loaded, ret_error);
    if (status)
        return status;
    s->opening = true;
    kg_op_server_add(&s->of);
    status = kg_module_check(loaded.root, ret_error);
    s->opening = false;
    if (!status)
        status = kg_module_is_same(&loaded, ret_error);
    if (!status)
        *ret_loaded = loaded;
    return status;
}

void kg_tables_close(const struct kg_loaded *loaded)
{
    const char *root = (const char *)loaded->root;
    char how[128];
    for (struct server *s = servers; s; s = s->next)
        if (!s->dead && root >= s->of.begin && root < s->of.begin + s->of.size) {
            kg_process_finish(&s->process, how, sizeof how);
            s->dead = true;
        }
}
