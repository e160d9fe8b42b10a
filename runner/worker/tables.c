/* tables.c -- tables and answers as lines, and the process that tells them. */
#include "worker/tables.h"

#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>

#include "plan/module.h"
#include "plan/module_image.h"
#include "worker/worker.h"

#define NAME_SIZE 64

/* ---- lines ----------------------------------------------------------------------------------------------------- */

char *kg_hex_of(const void *bytes, size_t size)
{
    static const char digits[] = "0123456789abcdef";
    const unsigned char *from = bytes;
    char *hex = malloc(2 * size + 1);
    for (size_t i = 0; hex && i < size; i++) {
        hex[2 * i] = digits[from[i] >> 4];
        hex[2 * i + 1] = digits[from[i] & 15];
    }
    if (hex)
        hex[2 * size] = '\0';
    return hex;
}

static int digit_of(char c)
{
    return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

bool kg_hex_read(const char *hex, void *ret_bytes, size_t size)
{
    unsigned char *to = ret_bytes;
    for (size_t i = 0; i < size; i++) {
        const int high = digit_of(hex[2 * i]), low = high < 0 ? -1 : digit_of(hex[2 * i + 1]);
        if (low < 0)
            return false;
        to[i] = (unsigned char)(high << 4 | low);
    }
    return digit_of(hex[2 * size]) < 0;
}

/* A name for each tensor, then all of them as they are. */
static char *format_tensors(const struct kg_answers *answers)
{
    char *text = NULL, *hex = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    if (!out)
        return NULL;
    const int count = answers->n_tensors < 0 || answers->n_tensors > KG_MAX_TENSORS ? 0 : answers->n_tensors;
    fprintf(out, "%d", answers->n_tensors);
    for (int i = 0; i < count; i++) {
        char name[NAME_SIZE] = "-"; /* no name: an op's mistake, which is refused elsewhere */
        if (answers->tensors[i].name)
            (void)snprintf(name, sizeof name, "=%s", answers->tensors[i].name);
        hex = kg_hex_of(name, strlen(name) + 1);
        fprintf(out, " %s", hex ? hex : "");
        free(hex);
    }
    hex = kg_hex_of(answers->tensors, sizeof answers->tensors);
    fprintf(out, " %s", hex ? hex : "");
    free(hex);
    return fclose(out) ? NULL : text;
}

char *kg_answers_format(enum kg_question question, const struct kg_answers *answers)
{
    const struct kg_work *work = &answers->work;
    char *text = NULL;
    if (question == KG_ASK_TENSORS)
        return format_tensors(answers);
    if (question == KG_ASK_CHECK)
        return strdup("0");
    const int length =
        asprintf(&text, "%a %a %a %a %d", work->flops, work->bytes, work->queries, work->peak_ratio, work->tensors);
    return length < 0 ? NULL : text;
}

/* Tensors are described again and again: each name once. */
static const char *keep(const char *name)
{
    static char **names;
    static size_t count;
    for (size_t i = 0; i < count; i++)
        if (!strcmp(names[i], name))
            return names[i];
    char **grown = realloc(names, (count + 1) * sizeof *names);
    if (!grown)
        return NULL;
    names = grown;
    names[count] = strdup(name);
    return names[count] ? names[count++] : NULL;
}

static bool parse_tensors(const char *line, struct kg_answers *ret_answers)
{
    char *rest = NULL;
    const char *names[KG_MAX_TENSORS] = { 0 };
    ret_answers->n_tensors = (int)strtol(line, &rest, 10);
    const int count =
        ret_answers->n_tensors < 0 || ret_answers->n_tensors > KG_MAX_TENSORS ? 0 : ret_answers->n_tensors;
    for (int i = 0; i < count; i++) {
        char name[NAME_SIZE] = "";
        const size_t digits = strspn(rest, " ") ? strspn(rest + 1, "0123456789abcdef") : 0;
        if (digits < 2 || digits / 2 > sizeof name || !kg_hex_read(rest + 1, name, digits / 2) || name[digits / 2 - 1])
            return false;
        names[i] = *name == '=' ? keep(name + 1) : NULL;
        rest += 1 + digits;
    }
    if (*rest != ' ' || !kg_hex_read(rest + 1, ret_answers->tensors, sizeof ret_answers->tensors))
        return false;
    for (int i = 0; i < KG_MAX_TENSORS; i++) {
        ret_answers->tensors[i].name = names[i];
        ret_answers->tensors[i].data = NULL;
    }
    return true;
}

int kg_answers_parse(enum kg_question question, const char *line, struct kg_answers *ret_answers, kg_error *ret_error)
{
    struct kg_work *work = &ret_answers->work;
    int code = 0, at = 0;
    if (sscanf(line, "error %d %n", &code, &at) == 1 && at && code < 0)
        return kg_fail(ret_error, code, "%.490s", line + at);
    if (question == KG_ASK_CHECK && !strcmp(line, "0"))
        return KG_OK;
    if (question == KG_ASK_TENSORS && parse_tensors(line, ret_answers))
        return KG_OK;
    if (question == KG_ASK_WORK && sscanf(line, "%la %la %la %la %d", &work->flops, &work->bytes, &work->queries,
                                          &work->peak_ratio, &work->tensors) == 5)
        return KG_OK;
    return kg_fail(ret_error, KG_EINVAL, "the module's process answers what was not asked");
}

/* ---- the process ----------------------------------------------------------------------------------------------- */

static void tell_error(FILE *out, int code, const kg_error *error)
{
    char text[sizeof error->text];
    (void)snprintf(text, sizeof text, "%s", *error->text ? error->text : "no reason given");
    for (char *c = text; *c; c++)
        if (*c == '\n')
            *c = ' ';
    fprintf(out, "error %d %s\n", code < 0 ? code : KG_EINVAL, text);
}

/* Of a question's line, from its second word on. The problem's name is this process's own again. */
static int answer(const struct kg_module_image *image, char *line, enum kg_question *ret_question,
                  struct kg_answers *ret_answers, kg_error *ret_error)
{
    unsigned question = 0;
    size_t at = 0;
    int name = 0, end = 0, bytes = 0;
    const bool read = sscanf(line, "%u %zu %n%*s%n %n", &question, &at, &name, &end, &bytes) == 2 && bytes;
    const kg_op *op = read && question < KG_QUESTIONS ? kg_module_image_op(image, at) : NULL;
    char *problem = op ? malloc(op->problem_size) : NULL;
    if (!problem || !kg_hex_read(line + bytes, problem, op->problem_size)) {
        free(problem);
        return kg_fail(ret_error, KG_EINVAL, "a question that nobody asks");
    }
    line[end] = '\0';
    const char *own_name = line + name;
    memcpy(problem, &own_name, sizeof own_name);
    *ret_question = (enum kg_question)question;
    int status = kg_op_answer(op, *ret_question, problem, ret_answers, ret_error);
    free(problem);
    return status;
}

static void answer_all(const struct kg_module_image *image, FILE *in, FILE *out)
{
    char *line = NULL;
    size_t room = 0;
    while (getline(&line, &room, in) > 0) {
        struct kg_answers answers = { 0 };
        enum kg_question question = KG_ASK_CHECK;
        kg_error error = { 0 };
        const int turn = (int)strcspn(line, " ");
        int status = answer(image, line + turn, &question, &answers, &error);
        char *text = status ? NULL : kg_answers_format(question, &answers);
        fprintf(out, "%.*s ", turn, line);
        if (text)
            fprintf(out, "%s\n", text);
        else
            tell_error(out, status, &error);
        free(text);
        fflush(out);
    }
    free(line);
}

int kg_worker_tables(const char *path, const char *name)
{
    FILE *in = fdopen(KG_WORKER_JOB, "r"), *out = fdopen(KG_WORKER_MESSAGES, "w");
    struct kg_loaded loaded = { .root = NULL };
    struct kg_module_image image = { 0 };
    kg_error error = { 0 };
    if (!in || !out)
        return 2;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    fcntl(KG_WORKER_MESSAGES, F_SETFD, FD_CLOEXEC);
    signal(SIGINT, SIG_IGN); /* the parent decides when a run ends */
    signal(SIGTERM, SIG_IGN);
    signal(SIGHUP, SIG_IGN);
    snprintf(loaded.path, sizeof loaded.path, "%s", path);
    int status = kg_module_load(&loaded, name, &error);
    if (!status)
        status = kg_module_image_make(loaded.root, &image, &error);
    char *hex = status ? NULL : kg_hex_of(image.bytes, image.size);
    char *links = kg_hex_of(loaded.links, strlen(loaded.links) + 1);
    if (hex && links)
        fprintf(out, "tables %s %s\n", links, hex);
    else
        tell_error(out, status, &error);
    free(links);
    free(hex);
    fflush(out);
    if (!status)
        answer_all(&image, in, out);
    kg_module_image_done(&image);
    return status ? 2 : 0;
}
