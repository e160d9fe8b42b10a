/* wire_job.c -- the job as JSON: cases by name, resolved against the module that the worker loads. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "module.h"
#include "plan.h"
#include "wire.h"

static void add_list(cJSON *root, const char *name, const char *const *items, size_t count)
{
    cJSON *list = cJSON_AddArrayToObject(root, name);
    for (size_t i = 0; i < count; i++)
        cJSON_AddItemToArray(list, cJSON_CreateString(items[i]));
}

static cJSON *case_to_json(const struct kg_job_case *one)
{
    char seed[32], digest[32];
    cJSON *o = cJSON_CreateObject();
    snprintf(seed, sizeof seed, "%" PRIu64, one->of.seed);
    snprintf(digest, sizeof digest, "%" PRIu64, one->digest);
    cJSON_AddNumberToObject(o, "index", (double)one->index);
    cJSON_AddStringToObject(o, "suite", one->of.suite->name);
    cJSON_AddStringToObject(o, "shape", one->of.shape);
    cJSON_AddStringToObject(o, "seed", seed);
    cJSON_AddStringToObject(o, "case_backend", one->of.backend->name);
    cJSON_AddBoolToObject(o, "check", one->check);
    cJSON_AddBoolToObject(o, "time", one->time);
    cJSON_AddStringToObject(o, "digest", digest);
    cJSON_AddStringToObject(o, "backend", one->backend);
    cJSON_AddStringToObject(o, "pin", one->pin);
    cJSON_AddStringToObject(o, "anchor_pin", one->anchor_pin);
    return o;
}

static char *job_to_text(const struct kg_job *job)
{
    char seed[32];
    cJSON *root = cJSON_CreateObject();
    snprintf(seed, sizeof seed, "%" PRIu64, job->order_seed);
    cJSON_AddStringToObject(root, "module", job->module);
    cJSON_AddNumberToObject(root, "kind", job->kind);
    cJSON_AddNumberToObject(root, "device", job->device);
    cJSON_AddNumberToObject(root, "round", job->round);
    cJSON_AddStringToObject(root, "order_seed", seed);
    cJSON_AddNumberToObject(root, "timer", job->timing.timer);
    cJSON_AddNumberToObject(root, "l2", job->timing.l2);
    cJSON_AddNumberToObject(root, "warmup", job->timing.warmup);
    cJSON_AddNumberToObject(root, "samples", job->timing.samples);
    cJSON_AddNumberToObject(root, "threshold_pct", job->timing.threshold_pct);
    cJSON_AddStringToObject(root, "cache", job->cache);
    add_list(root, "library_paths", job->library_paths, job->n_library_paths);
    add_list(root, "knobs", job->knobs, job->n_knobs);
    cJSON *cases = cJSON_AddArrayToObject(root, "cases");
    for (size_t i = 0; i < job->n_cases; i++)
        cJSON_AddItemToArray(cases, case_to_json(&job->cases[i]));
    char *text = cJSON_PrintUnformatted(root);
    cJSON_Delete(root);
    return text;
}

int kg_wire_write_job(int file, const struct kg_job *job, kg_error *ret_error)
{
    char *text = job_to_text(job);
    if (!text)
        return kg_fail(ret_error, KG_ENOMEM, "out of memory for a job");
    size_t length = strlen(text), done = 0;
    int status = KG_OK;
    while (done < length && !status) {
        ssize_t wrote = write(file, text + done, length - done);
        if (wrote >= 0)
            done += (size_t)wrote;
        else if (errno != EINTR)
            status = kg_fail(ret_error, KG_EIO, "cannot write a job: %s", strerror(errno));
    }
    free(text);
    return status;
}

/* Strings stay in the JSON tree, which the job keeps. */
static int get_list(const cJSON *root, const char *name, const char ***ret_items, size_t *ret_count)
{
    const cJSON *list = cJSON_GetObjectItemCaseSensitive(root, name), *item;
    size_t count = 0;
    const char **items = calloc((size_t)cJSON_GetArraySize(list) + 1, sizeof *items);
    if (!items)
        return KG_ENOMEM;
    cJSON_ArrayForEach(item, list) if (cJSON_IsString(item)) items[count++] = item->valuestring;
    *ret_items = items;
    *ret_count = count;
    return KG_OK;
}

static double number_of(const cJSON *object, const char *name)
{
    double value = cJSON_GetNumberValue(cJSON_GetObjectItemCaseSensitive(object, name));
    return value == value ? value : 0; /* not a number: not there */
}

static const char *text_of(const cJSON *object, const char *name)
{
    const char *text = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(object, name));
    return text ? text : "";
}

static char *read_all(FILE *in, size_t *ret_length)
{
    char *text = NULL;
    size_t length = 0, room = 0, got = 0;
    do {
        length += got;
        if (room - length < 65536) {
            char *grown = realloc(text, room += 65536 + room);
            if (!grown) {
                free(text);
                return NULL;
            }
            text = grown;
        }
    } while ((got = fread(text + length, 1, room - length, in)) > 0);
    *ret_length = length;
    return text;
}

int kg_wire_read_job(FILE *in, struct kg_wire_job *ret_job, kg_error *ret_error)
{
    size_t length = 0;
    char *text = read_all(in, &length);
    if (!text)
        return kg_fail(ret_error, KG_ENOMEM, "out of memory for the job");
    struct kg_wire_job w = { 0 };
    int status = kg_json_parse(text, length, &w.root, ret_error);
    free(text);
    if (status)
        return status;
    w.job = (struct kg_job){ .kind = (enum kg_device_kind)number_of(w.root, "kind"),
                             .device = (int)number_of(w.root, "device"),
                             .round = (int)number_of(w.root, "round"),
                             .order_seed = strtoull(text_of(w.root, "order_seed"), NULL, 10),
                             .timing = { .timer = (int)number_of(w.root, "timer"),
                                         .l2 = (int)number_of(w.root, "l2"),
                                         .warmup = (int)number_of(w.root, "warmup"),
                                         .samples = (int)number_of(w.root, "samples"),
                                         .threshold_pct = number_of(w.root, "threshold_pct") } };
    snprintf(w.job.module, sizeof w.job.module, "%s", text_of(w.root, "module"));
    snprintf(w.job.cache, sizeof w.job.cache, "%s", text_of(w.root, "cache"));
    status = get_list(w.root, "library_paths", &w.lists[0], &w.job.n_library_paths);
    if (!status)
        status = get_list(w.root, "knobs", &w.lists[1], &w.job.n_knobs);
    w.job.library_paths = w.lists[0];
    w.job.knobs = w.lists[1];
    if (status) {
        kg_wire_job_done(&w);
        return kg_fail(ret_error, status, "out of memory for the job");
    }
    *ret_job = w;
    return KG_OK;
}

/* Cases of one shape share the problem, so that a fixture serves them. */
static int resolve_problem(struct kg_job *job, struct kg_job_case *one, const char *shape, kg_error *ret_error)
{
    if (job->n_cases > 0) {
        const struct kg_case *last = &job->cases[job->n_cases - 1].of;
        if (last->suite == one->of.suite && last->kind == one->of.kind && !strcmp(last->shape, shape)) {
            one->of.problem = last->problem;
            one->of.shape = last->shape;
            one->of.shape_ordinal = last->shape_ordinal;
            return KG_OK;
        }
    }
    void *problem = NULL;
    int status = kg_plan_problem(one->of.suite, one->of.kind, shape, &problem, ret_error);
    one->of.problem = problem; /* lives as long as the worker */
    one->of.shape = shape;
    one->of.shape_ordinal = job->n_cases;
    return status;
}

static int resolve_case(struct kg_job *job, const cJSON *o, const struct kg_module *module, kg_error *ret_error)
{
    struct kg_job_case *one = &job->cases[job->n_cases];
    *one = (struct kg_job_case){ .index = (size_t)number_of(o, "index"),
                                 .check = cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(o, "check")),
                                 .time = cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(o, "time")),
                                 .digest = strtoull(text_of(o, "digest"), NULL, 10) };
    snprintf(one->backend, sizeof one->backend, "%s", text_of(o, "backend"));
    snprintf(one->pin, sizeof one->pin, "%s", text_of(o, "pin"));
    snprintf(one->anchor_pin, sizeof one->anchor_pin, "%s", text_of(o, "anchor_pin"));
    one->of.seed = strtoull(text_of(o, "seed"), NULL, 10);
    one->of.suite = kg_module_suite(module, text_of(o, "suite"));
    one->of.backend = one->of.suite ? kg_suite_backend(one->of.suite, text_of(o, "case_backend")) : NULL;
    if (!one->of.backend)
        return kg_fail(ret_error, KG_EINVAL, "the job names a case that the module does not have");
    one->of.kind = one->of.backend->device;
    int status = resolve_problem(job, one, text_of(o, "shape"), ret_error);
    if (!status)
        job->n_cases++;
    return status;
}

int kg_wire_resolve_job(struct kg_wire_job *w, const struct kg_module *module, kg_error *ret_error)
{
    const cJSON *list = cJSON_GetObjectItemCaseSensitive(w->root, "cases"), *item;
    w->job.cases = calloc((size_t)cJSON_GetArraySize(list) + 1, sizeof *w->job.cases);
    if (!w->job.cases)
        return kg_fail(ret_error, KG_ENOMEM, "out of memory for the job");
    cJSON_ArrayForEach(item, list)
    {
        int status = resolve_case(&w->job, item, module, ret_error);
        if (status)
            return status;
    }
    return KG_OK;
}

void kg_wire_job_done(struct kg_wire_job *w)
{
    for (size_t i = 0; i < w->job.n_cases; i++)
        if (i == 0 || w->job.cases[i].of.problem != w->job.cases[i - 1].of.problem)
            free((void *)w->job.cases[i].of.problem);
    free(w->job.cases);
    free(w->lists[0]);
    free(w->lists[1]);
    cJSON_Delete(w->root);
    *w = (struct kg_wire_job){ 0 };
}
