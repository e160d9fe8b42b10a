/* wire_job.c -- the job as JSON: cases by name, resolved against the modules that the worker loads. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "plan/module.h"
#include "plan/plan.h"
#include "plan/problem.h"
#include "plan/regime.h"
#include "worker/wire.h"

enum { GATES = sizeof(kg_gates) / sizeof(double), PROBLEM_SIZE = 2048 };

static void add_list(cJSON *root, const char *name, const char *const *items, size_t count)
{
    cJSON *list = cJSON_AddArrayToObject(root, name);
    for (size_t i = 0; i < count; i++)
        cJSON_AddItemToArray(list, cJSON_CreateString(items[i]));
}

/* Of the policy, what a worker asks. */
static cJSON *policy_to_json(const struct kg_policy *policy)
{
    cJSON *o = cJSON_CreateObject();
    cJSON_AddBoolToObject(o, "timed", policy->timed);
    cJSON_AddNumberToObject(o, "timer", policy->timer);
    cJSON_AddNumberToObject(o, "l2", policy->l2);
    cJSON_AddNumberToObject(o, "warmup", policy->warmup);
    cJSON_AddNumberToObject(o, "samples", policy->samples);
    cJSON_AddNumberToObject(o, "sets", policy->sets);
    kg_json_add_real(o, "window_us", policy->window_us);
    kg_json_add_real(o, "arm_us", policy->arm_us);
    kg_json_add_real(o, "threshold_pct", policy->threshold_pct);
    return o;
}

static cJSON *case_to_json(const struct kg_job_case *one)
{
    char seed[32], digest[32], other_digest[32], problem[PROBLEM_SIZE];
    cJSON *o = cJSON_CreateObject();
    kg_problem_format(one->of.suite->op, one->of.problem, problem, sizeof problem);
    snprintf(seed, sizeof seed, "%" PRIu64, one->of.seed);
    snprintf(digest, sizeof digest, "%" PRIu64, one->digest);
    snprintf(other_digest, sizeof other_digest, "%" PRIu64, one->other_digest);
    cJSON_AddNumberToObject(o, "index", (double)one->index);
    cJSON_AddStringToObject(o, "suite", one->of.suite->name);
    cJSON_AddStringToObject(o, "shape", one->of.shape);
    cJSON_AddStringToObject(o, "problem", problem);
    cJSON_AddNumberToObject(o, "tensors", one->of.tensors);
    cJSON_AddStringToObject(o, "seed", seed);
    cJSON_AddStringToObject(o, "regime", one->of.regime ? one->of.regime->name : "");
    cJSON_AddStringToObject(o, "case_backend", one->of.backend->name);
    cJSON_AddBoolToObject(o, "check", one->check);
    cJSON_AddBoolToObject(o, "time", one->time);
    cJSON_AddBoolToObject(o, "check_baseline", one->check_baseline);
    cJSON_AddBoolToObject(o, "again", one->again);
    cJSON_AddBoolToObject(o, "strength_only", one->strength_only);
    cJSON_AddStringToObject(o, "digest", digest);
    cJSON_AddStringToObject(o, "other_digest", other_digest);
    cJSON_AddStringToObject(o, "backend", one->backend);
    cJSON_AddStringToObject(o, "pin", one->pin);
    cJSON_AddStringToObject(o, "anchor_pin", one->anchor_pin);
    cJSON_AddStringToObject(o, "baseline_pin", one->baseline_pin);
    cJSON_AddBoolToObject(o, "is_new", one->is_new);
    if (one->is_new)
        cJSON_AddItemToObject(o, "gates", cJSON_CreateDoubleArray((const double *)&one->of.suite->gates, GATES));
    cJSON_AddItemToObject(o, "policy", policy_to_json(&one->of.policy));
    kg_json_add_real(o, "planted_pct", one->planted_pct);
    return o;
}

static char *job_to_text(const struct kg_job *job)
{
    char seed[32];
    cJSON *root = cJSON_CreateObject();
    snprintf(seed, sizeof seed, "%" PRIu64, job->order_seed);
    cJSON_AddStringToObject(root, "token", job->token);
    cJSON_AddStringToObject(root, "module", job->module);
    cJSON_AddStringToObject(root, "baseline", job->baseline);
    cJSON_AddStringToObject(root, "module_stamps", job->module_stamps);
    cJSON_AddStringToObject(root, "baseline_stamps", job->baseline_stamps);
    cJSON_AddBoolToObject(root, "anchors", job->anchors);
    cJSON_AddNumberToObject(root, "kind", job->kind);
    cJSON_AddNumberToObject(root, "device", job->device);
    cJSON_AddNumberToObject(root, "round", job->round);
    cJSON_AddStringToObject(root, "order_seed", seed);
    cJSON_AddNumberToObject(root, "repeat", job->repeat);
    kg_json_add_real(root, "timeout_s", job->timeout_s);
    cJSON_AddStringToObject(root, "cache", job->cache);
    add_list(root, "library_paths", job->library_paths, job->n_library_paths);
    add_list(root, "knobs", job->knobs, job->n_knobs);
    add_list(root, "baseline_library_paths", job->baseline_library_paths, job->n_baseline_library_paths);
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

static bool is_true(const cJSON *object, const char *name)
{
    return cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(object, name));
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
    w.job = (struct kg_job){ .anchors = is_true(w.root, "anchors"),
                             .kind = (enum kg_device_kind)number_of(w.root, "kind"),
                             .device = (int)number_of(w.root, "device"),
                             .round = (int)number_of(w.root, "round"),
                             .repeat = (int)number_of(w.root, "repeat"),
                             .timeout_s = number_of(w.root, "timeout_s"),
                             .order_seed = strtoull(text_of(w.root, "order_seed"), NULL, 10) };
    snprintf(w.job.token, sizeof w.job.token, "%s", text_of(w.root, "token"));
    snprintf(w.job.module, sizeof w.job.module, "%s", text_of(w.root, "module"));
    snprintf(w.job.baseline, sizeof w.job.baseline, "%s", text_of(w.root, "baseline"));
    snprintf(w.job.module_stamps, sizeof w.job.module_stamps, "%s", text_of(w.root, "module_stamps"));
    snprintf(w.job.baseline_stamps, sizeof w.job.baseline_stamps, "%s", text_of(w.root, "baseline_stamps"));
    snprintf(w.job.cache, sizeof w.job.cache, "%s", text_of(w.root, "cache"));
    status = get_list(w.root, "library_paths", &w.lists[0], &w.job.n_library_paths);
    if (!status)
        status = get_list(w.root, "knobs", &w.lists[1], &w.job.n_knobs);
    if (!status)
        status = get_list(w.root, "baseline_library_paths", &w.lists[2], &w.job.n_baseline_library_paths);
    w.job.library_paths = w.lists[0];
    w.job.knobs = w.lists[1];
    w.job.baseline_library_paths = w.lists[2];
    if (status) {
        kg_wire_job_done(&w);
        return kg_fail(ret_error, status, "out of memory for the job");
    }
    *ret_job = w;
    return KG_OK;
}

/* Cases of one shape share the problem, so that a fixture serves them. It lives as long as the worker. */
static int resolve_problem(struct kg_case *of, const struct kg_case *last, const char *shape, size_t ordinal,
                           kg_error *ret_error)
{
    if (last && last->suite == of->suite && last->kind == of->kind && !strcmp(last->shape, shape)) {
        of->problem = last->problem;
        of->shape = last->shape;
        of->shape_ordinal = last->shape_ordinal;
        return KG_OK;
    }
    void *problem = NULL;
    int status = kg_plan_problem(of->suite, of->kind, shape, &problem, ret_error);
    of->problem = problem;
    of->shape = shape;
    of->shape_ordinal = ordinal;
    return status;
}

static struct kg_policy policy_of(const cJSON *o)
{
    return (struct kg_policy){ .timed = is_true(o, "timed"),
                               .timer = (enum kg_timer)number_of(o, "timer"),
                               .l2 = (enum kg_l2)number_of(o, "l2"),
                               .warmup = (int)number_of(o, "warmup"),
                               .samples = (int)number_of(o, "samples"),
                               .sets = (int)number_of(o, "sets"),
                               .window_us = number_of(o, "window_us"),
                               .arm_us = number_of(o, "arm_us"),
                               .threshold_pct = number_of(o, "threshold_pct") };
}

/* Of a case that the baseline lacks the gates are told: the baseline's, where it has the suite. */
static int hold_to_gates(const cJSON *o, const struct kg_case *last, struct kg_case *of, kg_error *ret_error)
{
    const cJSON *told = cJSON_GetObjectItemCaseSensitive(o, "gates"), *item;
    double gates[GATES] = { 0 };
    int count = 0;
    if (!told)
        return KG_OK;
    if (last && !strcmp(last->suite->name, of->suite->name)) {
        of->suite = last->suite;
        return KG_OK;
    }
    cJSON_ArrayForEach(item, told) if (count < GATES) gates[count++] = cJSON_GetNumberValue(item);
    of->suite = kg_suite_with_gates(of->suite, (const kg_gates *)gates);
    return of->suite ? KG_OK : kg_fail(ret_error, KG_ENOMEM, "out of memory for the job");
}

/* `last`: the case before it; NULL: none. */
static int resolve_in(const struct kg_module *module, const cJSON *o, const struct kg_case *last, size_t ordinal,
                      struct kg_case *ret_case, kg_error *ret_error)
{
    struct kg_case of = { .seed = strtoull(text_of(o, "seed"), NULL, 10),
                          .tensors = (int)number_of(o, "tensors"),
                          .suite = kg_module_suite(module, text_of(o, "suite")) };
    of.backend = of.suite ? kg_suite_backend(of.suite, text_of(o, "case_backend")) : NULL;
    if (!of.backend)
        return kg_fail(ret_error, KG_EINVAL, "the job names a case that the module does not have");
    const char *regime = text_of(o, "regime");
    if (*regime && !(of.regime = kg_regime_find(of.suite->op, regime)))
        return kg_fail(ret_error, KG_EINVAL, "the job names a regime that the module does not have");
    of.kind = of.backend->device;
    of.policy = policy_of(cJSON_GetObjectItemCaseSensitive(o, "policy"));
    int status = hold_to_gates(o, last, &of, ret_error);
    if (!status)
        status = resolve_problem(&of, last, text_of(o, "shape"), ordinal, ret_error);
    if (!status)
        *ret_case = of;
    return status;
}

/* What is judged is what the parent was told: a table that this process has otherwise is no other work under its name.
 */
static int same_problem(const cJSON *o, const struct kg_case *of, kg_error *ret_error)
{
    const char *told = text_of(o, "problem");
    char own[PROBLEM_SIZE], change[300];
    kg_problem_format(of->suite->op, of->problem, own, sizeof own);
    if (!strcmp(own, told) || !kg_problem_differs(of->suite->op, of->problem, told, change, sizeof change))
        return KG_OK;
    return kg_fail(ret_error, KG_EINVAL, "%s/%s is another problem in a worker: %s", of->suite->name, of->shape,
                   change);
}

static int resolve_case(struct kg_job *job, const cJSON *o, const struct kg_module *module, kg_error *ret_error)
{
    const size_t n = job->n_cases;
    struct kg_job_case *one = &job->cases[n];
    *one = (struct kg_job_case){ .index = (size_t)number_of(o, "index"),
                                 .check = is_true(o, "check"),
                                 .time = is_true(o, "time"),
                                 .check_baseline = is_true(o, "check_baseline"),
                                 .again = is_true(o, "again"),
                                 .strength_only = is_true(o, "strength_only"),
                                 .digest = strtoull(text_of(o, "digest"), NULL, 10),
                                 .other_digest = strtoull(text_of(o, "other_digest"), NULL, 10),
                                 .is_new = is_true(o, "is_new"),
                                 .planted_pct = number_of(o, "planted_pct") };
    snprintf(one->backend, sizeof one->backend, "%s", text_of(o, "backend"));
    snprintf(one->pin, sizeof one->pin, "%s", text_of(o, "pin"));
    snprintf(one->anchor_pin, sizeof one->anchor_pin, "%s", text_of(o, "anchor_pin"));
    snprintf(one->baseline_pin, sizeof one->baseline_pin, "%s", text_of(o, "baseline_pin"));
    int status = resolve_in(module, o, n ? &one[-1].of : NULL, n, &one->of, ret_error);
    job->n_cases += !status; /* its problem is to be freed from here on */
    return status ? status : same_problem(o, &one->of, ret_error);
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
    for (size_t i = 0; i < w->job.n_cases; i++) {
        const struct kg_job_case *one = &w->job.cases[i], *last = i ? one - 1 : NULL;
        if (!last || one->of.problem != last->of.problem)
            free((void *)one->of.problem);
    }
    free(w->job.cases);
    for (size_t i = 0; i < sizeof w->lists / sizeof *w->lists; i++)
        free(w->lists[i]);
    cJSON_Delete(w->root);
    *w = (struct kg_wire_job){ 0 };
}
