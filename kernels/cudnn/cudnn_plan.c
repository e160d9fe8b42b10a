/* cudnn_plan.c -- from an operation graph to an execution plan, by heuristics, by pin, or from text kept earlier; and
 * its run. */
#include "cudnn/cudnn_plan.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

void cudnn_plan_done(struct cudnn_plan *plan)
{
    if (plan->descriptor)
        plan->library->call.BackendDestroyDescriptor(plan->descriptor);
    plan->descriptor = NULL;
}

/* ---- pins -------------------------------------------------------------------------------------------------- */

#define MAX_KNOBS 64

struct choice {
    char version[16];
    int64_t engine;
    int n_knobs;
    struct {
        cudnnBackendKnobType_t type;
        int64_t value;
    } knobs[MAX_KNOBS];
};

/* Appends to text of `size` bytes; false when it does not fit. */
KG_PRINTF(4, 5)
static bool append(char *text, size_t size, size_t *length, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int written = vsnprintf(text + *length, size - *length, format, arguments);
    va_end(arguments);
    if (written < 0 || (size_t)written >= size - *length)
        return false;
    *length += (size_t)written;
    return true;
}

static bool choice_write(const struct choice *choice, char *ret_pin, size_t size)
{
    size_t length = 0;
    bool fits = append(ret_pin, size, &length, "%s:e%" PRId64, choice->version, choice->engine);
    for (int i = 0; fits && i < choice->n_knobs; i++)
        fits = append(ret_pin, size, &length, "%sk%d=%" PRId64, i ? "," : ":", (int)choice->knobs[i].type,
                      choice->knobs[i].value);
    return fits;
}

static bool number_read(const char **text, int64_t *ret_number)
{
    char *end = NULL;
    long long number = strtoll(*text, &end, 10);
    if (end == *text)
        return false;
    *text = end;
    *ret_number = number;
    return true;
}

static bool choice_read(const char *pin, struct choice *ret_choice)
{
    struct choice choice = { .n_knobs = 0 };
    size_t length = strcspn(pin, ":");
    if (length == 0 || length >= sizeof choice.version || strncmp(pin + length, ":e", 2) != 0)
        return false;
    memcpy(choice.version, pin, length);

    const char *at = pin + length + 2;
    if (!number_read(&at, &choice.engine))
        return false;
    for (char separator = ':'; *at; separator = ',') {
        int64_t type = 0;
        if (choice.n_knobs == MAX_KNOBS || *at++ != separator || *at++ != 'k' || !number_read(&at, &type) ||
            *at++ != '=' || !number_read(&at, &choice.knobs[choice.n_knobs].value))
            return false;
        choice.knobs[choice.n_knobs++].type = (cudnnBackendKnobType_t)type;
    }
    *ret_choice = choice;
    return true;
}

void cudnn_pin_describe(const char *pin, char *ret_text, size_t size)
{
    struct choice choice;
    if (!choice_read(pin, &choice)) {
        (void)snprintf(ret_text, size, "cuDNN %s", pin);
        return;
    }
    size_t length = 0;
    bool fits = append(ret_text, size, &length, "cuDNN %s engine %" PRId64, choice.version, choice.engine);
    for (int i = 0; fits && i < choice.n_knobs; i++)
        fits = append(ret_text, size, &length, "%s%d=%" PRId64, i ? "," : " knobs ", (int)choice.knobs[i].type,
                      choice.knobs[i].value);
}

/* ---- one configuration ------------------------------------------------------------------------------------- */

static void choice_of_plan(struct cudnn_build *build, cudnnBackendDescriptor_t plan, struct choice *ret_choice)
{
    struct choice choice = { .n_knobs = 0 };
    memcpy(choice.version, build->library->version, sizeof choice.version);
    cudnnBackendDescriptor_t config = cudnn_make(build, CUDNN_BACKEND_ENGINECFG_DESCRIPTOR);
    cudnn_get(build, plan, CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, NULL, &config);
    cudnnBackendDescriptor_t engine = cudnn_make(build, CUDNN_BACKEND_ENGINE_DESCRIPTOR);
    cudnn_get(build, config, CUDNN_ATTR_ENGINECFG_ENGINE, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, NULL, &engine);
    cudnn_get(build, engine, CUDNN_ATTR_ENGINE_GLOBAL_INDEX, CUDNN_TYPE_INT64, 1, NULL, &choice.engine);

    /* Asked with no room, cuDNN 9.19 counts no knobs; so it gets room for as many as there can be. */
    int64_t count = 0;
    cudnnBackendDescriptor_t knobs[MAX_KNOBS] = { NULL };
    for (int i = 0; i < MAX_KNOBS; i++)
        knobs[i] = cudnn_make(build, CUDNN_BACKEND_KNOB_CHOICE_DESCRIPTOR);
    cudnn_get(build, config, CUDNN_ATTR_ENGINECFG_KNOB_CHOICES, CUDNN_TYPE_BACKEND_DESCRIPTOR, MAX_KNOBS, &count,
              knobs);
    choice.n_knobs = count < MAX_KNOBS ? (int)count : MAX_KNOBS;
    for (int i = 0; i < choice.n_knobs; i++) {
        cudnn_get(build, knobs[i], CUDNN_ATTR_KNOB_CHOICE_KNOB_TYPE, CUDNN_TYPE_KNOB_TYPE, 1, NULL,
                  &choice.knobs[i].type);
        cudnn_get(build, knobs[i], CUDNN_ATTR_KNOB_CHOICE_KNOB_VALUE, CUDNN_TYPE_INT64, 1, NULL,
                  &choice.knobs[i].value);
    }
    if (build->status == KG_OK)
        *ret_choice = choice;
}

static cudnnBackendDescriptor_t plan_begin(struct cudnn_build *build)
{
    cudnnBackendDescriptor_t plan = cudnn_make(build, CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR);
    if (build->library->handle)
        cudnn_set(build, plan, CUDNN_ATTR_EXECUTION_PLAN_HANDLE, CUDNN_TYPE_HANDLE, 1, &build->library->handle);
    if (build->library->device)
        cudnn_set_descriptor(build, plan, CUDNN_ATTR_EXECUTION_PLAN_DEVICEPROP, build->library->device);
    return plan;
}

/* Finalises a plan that lacks nothing else; the plan then leaves the build. */
static void plan_end(struct cudnn_build *build, cudnnBackendDescriptor_t descriptor, struct cudnn_plan *ret_plan)
{
    int64_t workspace_bytes = 0;
    cudnn_finalize(build, descriptor, "execution plan");
    cudnn_get(build, descriptor, CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE, CUDNN_TYPE_INT64, 1, NULL, &workspace_bytes);
    if (build->status == KG_OK)
        *ret_plan = (struct cudnn_plan){ .library = build->library,
                                         .descriptor = cudnn_take(build, descriptor),
                                         .workspace_bytes = workspace_bytes };
}

static int plan_from_config(const struct cudnn_library *library, cudnnBackendDescriptor_t config,
                            struct cudnn_plan *ret_plan, kg_error *ret_error)
{
    struct cudnn_build build;
    struct choice choice;
    struct cudnn_plan plan = { .descriptor = NULL };
    cudnn_build_init(&build, library);
    cudnn_build_listen(&build);
    cudnnBackendDescriptor_t descriptor = plan_begin(&build);
    cudnn_set_descriptor(&build, descriptor, CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, config);
    plan_end(&build, descriptor, &plan);
    choice_of_plan(&build, plan.descriptor, &choice);

    int status = cudnn_build_status(&build, ret_error);
    if (status == KG_OK && !choice_write(&choice, plan.pin, sizeof plan.pin))
        status = kg_fail(ret_error, KG_EINVAL, "cuDNN %s: the knobs of engine %" PRId64 " do not fit a pin",
                         library->version, choice.engine);
    if (status == KG_OK)
        *ret_plan = plan;
    else
        cudnn_plan_done(&plan);
    cudnn_build_done(&build);
    return status;
}

static cudnnBackendDescriptor_t config_from_choice(struct cudnn_build *build, cudnnBackendDescriptor_t graph,
                                                   const struct choice *choice)
{
    cudnnBackendDescriptor_t engine = cudnn_make(build, CUDNN_BACKEND_ENGINE_DESCRIPTOR);
    cudnn_set_descriptor(build, engine, CUDNN_ATTR_ENGINE_OPERATION_GRAPH, graph);
    cudnn_set(build, engine, CUDNN_ATTR_ENGINE_GLOBAL_INDEX, CUDNN_TYPE_INT64, 1, &choice->engine);
    if (build->library->device)
        cudnn_set_descriptor(build, engine, CUDNN_ATTR_ENGINE_DEVICEPROP, build->library->device);
    cudnn_finalize(build, engine, "engine");

    cudnnBackendDescriptor_t knobs[MAX_KNOBS] = { NULL };
    for (int i = 0; i < choice->n_knobs; i++) {
        knobs[i] = cudnn_make(build, CUDNN_BACKEND_KNOB_CHOICE_DESCRIPTOR);
        cudnn_set(build, knobs[i], CUDNN_ATTR_KNOB_CHOICE_KNOB_TYPE, CUDNN_TYPE_KNOB_TYPE, 1, &choice->knobs[i].type);
        cudnn_set(build, knobs[i], CUDNN_ATTR_KNOB_CHOICE_KNOB_VALUE, CUDNN_TYPE_INT64, 1, &choice->knobs[i].value);
        cudnn_finalize(build, knobs[i], "knob");
    }
    cudnnBackendDescriptor_t config = cudnn_make(build, CUDNN_BACKEND_ENGINECFG_DESCRIPTOR);
    cudnn_set_descriptor(build, config, CUDNN_ATTR_ENGINECFG_ENGINE, engine);
    if (choice->n_knobs > 0)
        cudnn_set(build, config, CUDNN_ATTR_ENGINECFG_KNOB_CHOICES, CUDNN_TYPE_BACKEND_DESCRIPTOR, choice->n_knobs,
                  knobs);
    cudnn_finalize(build, config, "engine configuration");
    return config;
}

int cudnn_plan_pinned(const struct cudnn_library *library, cudnnBackendDescriptor_t graph, const char *pin,
                      struct cudnn_plan *ret_plan, kg_error *ret_error)
{
    struct choice choice;
    if (!choice_read(pin, &choice))
        return kg_fail(ret_error, KG_EINVAL, "'%s' is no configuration of cuDNN", pin);
    if (strcmp(choice.version, library->version) != 0)
        return kg_fail(ret_error, KG_EINVAL, "the configuration was made by cuDNN %s, this is %s", choice.version,
                       library->version);

    struct cudnn_build build;
    cudnn_build_init(&build, library);
    cudnn_build_listen(&build);
    cudnnBackendDescriptor_t config = config_from_choice(&build, graph, &choice);
    int status = cudnn_build_status(&build, ret_error);
    if (status == KG_OK)
        status = plan_from_config(library, config, ret_plan, ret_error);
    cudnn_build_done(&build);
    return status;
}

/* ---- heuristics -------------------------------------------------------------------------------------------- */

#define MAX_CONFIGS 32

/* Asks one mode; the configurations belong to the build. */
static int configs_query(struct cudnn_build *build, cudnnBackendDescriptor_t graph, cudnnBackendHeurMode_t mode,
                         cudnnBackendDescriptor_t ret_configs[MAX_CONFIGS])
{
    const struct cudnn_library *library = build->library;
    cudnnBackendDescriptor_t heuristics = cudnn_make(build, CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR);
    cudnn_set_descriptor(build, heuristics, CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH, graph);
    cudnn_set(build, heuristics, CUDNN_ATTR_ENGINEHEUR_MODE, CUDNN_TYPE_HEUR_MODE, 1, &mode);
    if (library->device)
        cudnn_set_descriptor(build, heuristics, CUDNN_ATTR_ENGINEHEUR_DEVICEPROP, library->device);
    cudnn_finalize(build, heuristics, "heuristics");

    int64_t count = 0;
    cudnn_get(build, heuristics, CUDNN_ATTR_ENGINEHEUR_RESULTS, CUDNN_TYPE_BACKEND_DESCRIPTOR, 0, &count, NULL);
    int room = count < MAX_CONFIGS ? (int)count : MAX_CONFIGS;
    for (int i = 0; i < room; i++)
        ret_configs[i] = cudnn_make(build, CUDNN_BACKEND_ENGINECFG_DESCRIPTOR);
    if (room > 0)
        cudnn_get(build, heuristics, CUDNN_ATTR_ENGINEHEUR_RESULTS, CUDNN_TYPE_BACKEND_DESCRIPTOR, room, &count,
                  ret_configs);
    if (build->status == KG_OK && count == 0)
        build->status = kg_fail(&build->error, KG_EUNSUPPORTED, "cuDNN %s has no engine for this: %s", library->version,
                                *build->listener.reason ? build->listener.reason : "it gives no reason");
    return build->status == KG_OK ? (count < room ? (int)count : room) : 0;
}

int cudnn_plans_propose(const struct cudnn_library *library, cudnnBackendDescriptor_t graph, int limit,
                        struct cudnn_plan *ret_plans, int *ret_count, int *ret_proposed, kg_error *ret_error)
{
    static const cudnnBackendHeurMode_t modes[] = { CUDNN_HEUR_MODE_A, CUDNN_HEUR_MODE_B, CUDNN_HEUR_MODE_FALLBACK };
    kg_error first = { 0 };
    int count = 0;
    for (size_t m = 0; m < sizeof modes / sizeof *modes && count == 0; m++) {
        struct cudnn_build build;
        cudnnBackendDescriptor_t configs[MAX_CONFIGS] = { NULL };
        kg_error error = { 0 };
        cudnn_build_init(&build, library);
        cudnn_build_listen(&build);
        int proposed = configs_query(&build, graph, modes[m], configs);
        (void)cudnn_build_status(&build, &error);
        for (int i = 0; i < proposed && count < limit; i++)
            if (plan_from_config(library, configs[i], &ret_plans[count], &error) == KG_OK)
                count++;
        cudnn_build_done(&build);
        if (first.code == KG_OK)
            first = error;
        if (count > 0)
            *ret_proposed = proposed;
    }
    if (count == 0)
        return kg_fail(ret_error, first.code, "%s", first.text);
    *ret_count = count;
    return KG_OK;
}

/* ---- plans as text: the pin, a newline, cuDNN's JSON -------------------------------------------------------- */

int cudnn_plan_save(const struct cudnn_plan *plan, char **ret_text, kg_error *ret_error)
{
    struct cudnn_build build;
    cudnn_build_init(&build, plan->library);
    int64_t json_bytes = 0;
    char *text = NULL;
    cudnn_get(&build, plan->descriptor, CUDNN_ATTR_EXECUTION_PLAN_JSON_REPRESENTATION, CUDNN_TYPE_CHAR, 0, &json_bytes,
              NULL);
    int status = cudnn_build_status(&build, ret_error);
    if (status != KG_OK)
        goto out;

    size_t pin_length = strlen(plan->pin);
    text = calloc(1, pin_length + 1 + (size_t)json_bytes + 1);
    if (!text) {
        status = kg_fail(ret_error, KG_ENOMEM, "out of memory");
        goto out;
    }
    memcpy(text, plan->pin, pin_length);
    text[pin_length] = '\n';
    cudnn_get(&build, plan->descriptor, CUDNN_ATTR_EXECUTION_PLAN_JSON_REPRESENTATION, CUDNN_TYPE_CHAR, json_bytes,
              NULL, text + pin_length + 1);
    status = cudnn_build_status(&build, ret_error);
    if (status == KG_OK) {
        *ret_text = text;
        text = NULL;
    }
out:
    free(text);
    cudnn_build_done(&build);
    return status;
}

int cudnn_plan_restore(const struct cudnn_library *library, const char *text, struct cudnn_plan *ret_plan,
                       kg_error *ret_error)
{
    struct choice choice;
    struct cudnn_plan plan = { .descriptor = NULL };
    char pin[CUDNN_PIN_BYTES] = "";
    size_t length = strcspn(text, "\n");
    if (text[length] == '\0' || length >= sizeof pin)
        return kg_fail(ret_error, KG_EINVAL, "the kept plan is cut short");
    memcpy(pin, text, length);
    if (!choice_read(pin, &choice))
        return kg_fail(ret_error, KG_EINVAL, "the kept plan does not begin with its configuration");

    const char *json = text + length + 1;
    struct cudnn_build build;
    cudnn_build_init(&build, library);
    cudnnBackendDescriptor_t descriptor = plan_begin(&build);
    cudnn_set(&build, descriptor, CUDNN_ATTR_EXECUTION_PLAN_JSON_REPRESENTATION, CUDNN_TYPE_CHAR, (int64_t)strlen(json),
              json);
    plan_end(&build, descriptor, &plan);
    int status = cudnn_build_status(&build, ret_error);
    if (status == KG_OK) {
        memcpy(plan.pin, pin, sizeof pin);
        *ret_plan = plan;
    }
    cudnn_build_done(&build);
    return status;
}

/* ---- running ----------------------------------------------------------------------------------------------- */

int cudnn_plan_execute(const struct cudnn_plan *plan, const int64_t *ids, const void *const *data, int count,
                       const void *workspace, cudaStream_t stream, kg_error *ret_error)
{
    const struct cudnn_library *library = plan->library;
    struct cudnn_build build;
    cudnn_build_init(&build, library);
    cudnnBackendDescriptor_t pack = cudnn_make(&build, CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR);
    cudnn_set(&build, pack, CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, CUDNN_TYPE_INT64, count, ids);
    cudnn_set(&build, pack, CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS, CUDNN_TYPE_VOID_PTR, count, data);
    cudnn_set(&build, pack, CUDNN_ATTR_VARIANT_PACK_WORKSPACE, CUDNN_TYPE_VOID_PTR, 1, &workspace);
    cudnn_finalize(&build, pack, "variant pack");
    int status = cudnn_build_status(&build, ret_error);
    if (status == KG_OK) {
        const char *what = "cudnnSetStream";
        cudnnStatus_t run = library->call.SetStream(library->handle, stream);
        if (run == CUDNN_STATUS_SUCCESS) {
            what = "execute";
            run = library->call.BackendExecute(library->handle, plan->descriptor, pack);
        }
        if (run != CUDNN_STATUS_SUCCESS)
            status = cudnn_fail(library, run, what, ret_error);
    }
    cudnn_build_done(&build);
    return status;
}
