/* build_meta.c -- build_meta.json: what ran where. The commit, the build with its toggles, the device, and each kernel
 * with what the compiler made of it. Field names are an interface: names are added and never changed. */
#include "reports/report.h"

#include <string.h>

#include "plan/axis.h"
#include "reports/facts.h"
#include "reports/json_parts.h"
#include "resources/resources_file.h"

#define SCHEMA 1

static void add_device(cJSON *root, const struct kg_run *run)
{
    const kg_device *from = &run->device;
    cJSON *device = cJSON_AddObjectToObject(root, "device");
    char sm[32] = "";
    if (from->kind == KG_CUDA)
        (void)snprintf(sm, sizeof sm, "sm_%d%d", from->cc_major, from->cc_minor);
    kg_json_add_text(device, "kind", from->kind == KG_CUDA ? "cuda" : "cpu");
    kg_json_add_count(device, "index", (uint64_t)from->index);
    kg_json_add_text(device, "name", from->name);
    kg_json_add_text(device, "arch", from->arch);
    kg_json_add_text(device, "uuid", from->uuid);
    kg_json_add_text(device, "cuda_version", run->cuda_runtime);
    kg_json_add_text(device, "nvml_version", run->nvml);
    kg_json_add_text(device, "sm_version", sm);
    kg_json_add_text(device, "driver", from->driver);
    kg_json_add_count(device, "driver_version", (uint64_t)from->driver_version);
    kg_json_add_count(device, "units", (uint64_t)from->units);
    kg_json_add_count(device, "clock_mhz_max", (uint64_t)from->clock_mhz_max);
    kg_json_add_count(device, "memory_bytes", from->memory_bytes);
    kg_json_add_count(device, "l2_bytes", from->l2_bytes);
    kg_json_add_count(device, "shared_bytes", from->shared_bytes);
    kg_json_add_real(device, "peak_flops", from->peak_flops);
    kg_json_add_real(device, "peak_bytes_per_s", from->peak_bytes_per_s);
    kg_json_add_state(device, "state_before", &run->state_before);
    kg_json_add_state(device, "state_after", &run->state_after);
}

static void add_kernel(cJSON *array, const char *name, const kg_kernel *kernel)
{
    cJSON *item = cJSON_CreateObject();
    cJSON_AddItemToArray(array, item);
    kg_json_add_text(item, "name", name);
    cJSON_AddBoolToObject(item, "of_module", kernel != NULL);
    if (!kernel)
        return; /* a library's */
    kg_json_add_text(item, "arch", kernel->arch);
    kg_kernel_add_json(item, kernel);
}

/* "BLOCK_M=64,stages=2" as an object. */
static void add_knobs(cJSON *object, const char *name, const char *knobs)
{
    cJSON *item = cJSON_AddObjectToObject(object, name);
    for (const char *at = knobs; *at;) {
        size_t length = strcspn(at, ","), key_length = strcspn(at, "=,");
        char key[128], value[128] = "";
        (void)snprintf(key, sizeof key, "%.*s", (int)key_length, at);
        if (key_length < length)
            (void)snprintf(value, sizeof value, "%.*s", (int)(length - key_length - 1), at + key_length + 1);
        if (!cJSON_GetObjectItemCaseSensitive(item, key))
            kg_json_add_text(item, key, value);
        at += length + (at[length] == ',');
    }
}

/* How the backend was compiled, and its knobs as they took effect. */
static void add_toggles(cJSON *object, const struct kg_result *result)
{
    const char *name = kg_fact_resolved(result);
    const char *compiled = result->of.backend ? result->of.backend->toggles : NULL;
    char text[512];
    (void)snprintf(text, sizeof text, "%s%s%s", compiled ? compiled : "", compiled && *result->knobs ? "," : "",
                   result->knobs);
    if (*text && !cJSON_GetObjectItemCaseSensitive(object, name))
        add_knobs(object, name, text);
}

static cJSON *add_module(cJSON *root, const char *name, const struct kg_module *module, const char *path)
{
    cJSON *build = cJSON_AddObjectToObject(root, name);
    kg_json_add_text(build, "module", module->name);
    kg_json_add_text(build, "module_path", path);
    kg_json_add_text(build, "git_sha", module->git_sha);
    cJSON_AddBoolToObject(build, "git_dirty", module->git_dirty);
    kg_json_add_text(build, "flags", module->flags);
    return build;
}

static void add_build(cJSON *root, const struct kg_run *run)
{
    const struct kg_module *module = run->module;
    cJSON *build = add_module(root, "build", module, run->module_path);
    cJSON *toggles = cJSON_AddObjectToObject(build, "toggles");
    for (size_t i = 0; i < run->n_results; i++)
        add_toggles(toggles, &run->results[i]);
    cJSON *archs = cJSON_AddArrayToObject(build, "arch");
    for (size_t i = 0; i < module->n_kernels; i++) {
        bool told = false;
        for (size_t k = 0; k < i && !told; k++)
            told = !strcmp(module->kernels[k].arch, module->kernels[i].arch);
        if (!told)
            cJSON_AddItemToArray(archs, cJSON_CreateString(module->kernels[i].arch));
    }
}

/* What each case launched, joined with what the compiler made of it, and what was compiled for it at run time. */
static void add_launches(cJSON *root, const struct kg_run *run)
{
    cJSON *launches = cJSON_AddArrayToObject(root, "launches");
    for (size_t i = 0; i < run->n_results; i++) {
        const struct kg_result *result = &run->results[i];
        if (!result->launch.kernels && !result->launch.n_launched && !result->n_compiled)
            continue;
        cJSON *item = cJSON_CreateObject();
        cJSON_AddItemToArray(launches, item);
        kg_json_add_text(item, "id", result->id);
        kg_json_add_text(item, "backend", kg_fact_resolved(result));
        cJSON_AddNumberToObject(item, "prepare_ms", result->prepare_ms);
        cJSON_AddNumberToObject(item, "kernel_nodes", result->launch.kernels);
        cJSON_AddNumberToObject(item, "memory_nodes", result->launch.memory_nodes);
        cJSON_AddNumberToObject(item, "other_nodes", result->launch.other_nodes);
        cJSON *kernels = cJSON_AddArrayToObject(item, "kernels");
        for (int k = 0; k < result->launch.n_launched; k++)
            add_kernel(kernels, result->launch.launched[k].name, kg_fact_kernel(run, result->launch.launched[k].name));
        kg_compiled_add_json(item, result);
    }
}

/* The variables that its suites declare and that are in force; what they changed is said at each result. */
static void add_environment(cJSON *root, const struct kg_run *run)
{
    cJSON *object = cJSON_AddObjectToObject(root, "environment");
    for (size_t i = 0; i < run->n_results && run->selection; i++) {
        const kg_suite *suite = run->results[i].of.suite;
        for (size_t v = 0; suite && v < suite->environment.count; v++) {
            const kg_variable *variable = &suite->environment.items[v];
            const char *text = kg_selection_variable(run->selection, variable);
            if (text && !cJSON_GetObjectItemCaseSensitive(object, variable->name))
                kg_json_add_text(object, variable->name, text);
        }
    }
}

static void add_run(cJSON *root, const struct kg_run *run)
{
    cJSON_AddNumberToObject(root, "schema", SCHEMA);
    kg_json_add_text(root, "run_id", run->id);
    kg_json_add_text(root, "version", run->version);
    kg_json_add_text(root, "timestamp", run->started);
    kg_json_add_real(root, "seconds", run->seconds);
    kg_json_add_real(root, "correctness_seconds", run->checked_s);
    kg_json_add_text(root, "command", run->command);
    add_environment(root, run);
    kg_json_add_text(root, "expectations", run->expectations_exist ? run->expectations : "");
    kg_json_add_text(root, "partial", run->partial);
    cJSON_AddBoolToObject(root, "timed", kg_fact_run_timed(run));
    cJSON_AddBoolToObject(root, "blessed", run->blessed);
    cJSON_AddBoolToObject(root, "allow_undecided", run->allow_undecided);
    kg_json_add_count(root, "shuffle_seed", run->shuffle_seed);
    cJSON *contract = cJSON_AddObjectToObject(root, "contract");
    kg_json_add_text(contract, "timer", run->contract.timer);
    kg_json_add_text(contract, "l2", run->contract.l2);
    kg_json_add_real(contract, "window_us", run->contract.window_us);
    kg_json_add_text(contract, "data", run->contract.data);
}

void kg_json_fill_build_meta(const struct kg_run *run, cJSON *root)
{
    add_run(root, run);
    kg_json_add_use(root, run);
    add_build(root, run);
    if (run->baseline)
        (void)add_module(root, "baseline", run->baseline, run->baseline_path);
    cJSON *git = cJSON_AddObjectToObject(root, "git");
    kg_json_add_text(git, "sha", run->git.sha);
    kg_json_add_text(git, "branch", run->git.branch);
    cJSON_AddBoolToObject(git, "dirty", run->git.dirty);
    kg_json_add_text(git, "why", run->git.why);
    add_device(root, run);
    cJSON *ptxas = cJSON_AddArrayToObject(root, "ptxas");
    for (size_t i = 0; i < run->module->n_kernels; i++)
        add_kernel(ptxas, run->module->kernels[i].name, &run->module->kernels[i]);
    add_launches(root, run);
}

int kg_report_build_meta(const struct kg_run *run, FILE *out, kg_error *ret_error)
{
    return kg_json_put_document(run, kg_json_fill_build_meta, out, ret_error);
}
