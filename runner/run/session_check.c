/* session_check.c -- what of the command line only the plan and the machine can refuse. */
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "plan/field.h"
#include "run/session.h"

/* Says whether the backend has the knob. KG_EINVAL: the knob cannot have this value. */
static int check_knob(const kg_backend *backend, const char *knob, bool *ret_known, kg_error *ret_error)
{
    size_t length = strcspn(knob, "=");
    const kg_field *field = kg_fields_find(backend->knobs, knob, length);
    kg_error cause = { 0 };
    if (!field)
        return KG_OK;
    void *record = calloc(1, backend->knobs_size);
    int status = record ? kg_field_set(field, record, knob + length + 1, &cause) : KG_ENOMEM;
    free(record);
    if (status)
        return kg_fail(ret_error, status, "--knob %.400s", cause.text);
    *ret_known = true;
    return KG_OK;
}

/* A knob may be of either build's backends. The plan repeats each of them, and it is asked once. */
static int check_knobs(const struct kg_session *s, kg_error *ret_error)
{
    for (size_t i = 0; i < s->options->n_knobs; i++) {
        const char *knob = s->options->knobs[i];
        const kg_backend *checked[2] = { NULL, NULL };
        bool known = false;
        for (size_t c = 0; c < s->plan.count; c++) {
            const kg_backend *const backends[] = { s->plan.cases[c].backend,
                                                   s->pairs.count ? s->pairs.items[c].candidate.backend : NULL };
            for (size_t b = 0; b < 2; b++) {
                int status = KG_OK;
                if (backends[b] && backends[b] != checked[b])
                    status = check_knob(backends[b], knob, &known, ret_error);
                if (status)
                    return status;
                checked[b] = backends[b];
            }
        }
        if (!known)
            return kg_fail(ret_error, KG_EINVAL, "--knob %.*s: no selected backend has it (kgate list --verbose)",
                           (int)strcspn(knob, "="), knob);
    }
    return KG_OK;
}

/* A threshold that the machine's own noise exceeds would be judged by luck. */
static int check_threshold(const struct kg_session *s, kg_error *ret_error)
{
    if (s->options->command != KG_COMMAND_RUN || s->options->timing.threshold_pct < 0)
        return KG_OK;
    for (size_t i = 0; i < s->n_results; i++) {
        const struct kg_result *r = &s->results[i];
        const struct kg_policy *policy = &r->of.policy;
        const struct kg_expectation e = kg_session_expectation(s, r);
        if (!kg_result_is_timed(r) || r->outcome != KG_RAN || !e.floor || (!e.golden && !policy->against))
            continue;
        double floor_pct = e.floor->floor_pct[policy->against ? KG_QUANTITY_AGAINST : e.golden->quantity];
        if (policy->threshold_pct < floor_pct)
            return kg_fail(ret_error, KG_EINVAL,
                           "--threshold %g is under the noise floor of %s on this machine: %.2g%% (kgate selfcheck)",
                           policy->threshold_pct, r->id, floor_pct);
    }
    return KG_OK;
}

/* A library that is looked for nowhere would be the default one, beside itself under --against. */
static int check_folders(const char *option, const char *const *paths, size_t count, kg_error *ret_error)
{
    for (size_t i = 0; i < count; i++)
        if (!kg_folder_exists(paths[i]))
            return kg_fail(ret_error, KG_EINVAL, "%s %.400s: there is no such folder", option, paths[i]);
    return KG_OK;
}

int kg_session_check(const struct kg_session *s, kg_error *ret_error)
{
    const struct kg_options *o = s->options;
    int status = check_folders("--library-path", o->library_paths, o->n_library_paths, ret_error);
    if (!status)
        status =
            check_folders("--baseline-library-path", o->baseline_library_paths, o->n_baseline_library_paths, ret_error);
    if (!status)
        status = check_knobs(s, ret_error);
    return status ? status : check_threshold(s, ret_error);
}
