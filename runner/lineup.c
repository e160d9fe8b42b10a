/* lineup.c -- which build's backend is prepared for whom. Inputs, reference and gates are always the fixture's. */
#include "lineup.h"

#include <string.h>

#include "identity.h"
#include "order.h"

/* The first of a backend's candidates that prepares; what the others said is kept for the reason. */
static int prepare_any(struct kg_lineup *l, const struct kg_case *of, const char *only, const char *pin,
                       struct kg_subject *ret_subject, kg_error *ret_error)
{
    char reasons[400] = "";
    for (const kg_backend *const *c = of->backend->candidates; *c; c++) {
        kg_error cause = { 0 };
        if (*only && strcmp(only, (*c)->name))
            continue;
        int status = kg_subject_new(l->host, l->fixture, *c, of->problem, pin, ret_subject, &cause);
        if (status != KG_EUNSUPPORTED) {
            if (status)
                *ret_error = cause;
            return status;
        }
        size_t used = strlen(reasons);
        snprintf(reasons + used, sizeof reasons - used, "%s%s: %.120s", used ? "; " : "", (*c)->name, cause.text);
    }
    return kg_fail(ret_error, KG_EUNSUPPORTED, "no candidate runs here: %s", reasons);
}

/* `only`: of the candidates of `auto`, the one to take; "" : any. */
static int prepare(struct kg_lineup *l, int lane, const struct kg_case *of, const char *only, const char *pin,
                   kg_error *ret_error)
{
    if (of->backend->candidates)
        return prepare_any(l, of, only, pin, &l->subjects[lane], ret_error);
    return kg_subject_new(l->host, l->fixture, of->backend, of->problem, pin, &l->subjects[lane], ret_error);
}

int kg_lineup_case(struct kg_lineup *l, kg_error *ret_error)
{
    int status = l->baseline ? kg_fixture_admits(l->fixture, &l->one->candidate, ret_error) : KG_OK;
    return status ? status : prepare(l, KG_LANE_CASE, &l->one->candidate, l->one->backend, l->one->pin, ret_error);
}

int kg_lineup_baseline(struct kg_lineup *l, kg_error *ret_error)
{
    return prepare(l, KG_LANE_BASELINE, &l->one->of, "", l->one->baseline_pin, ret_error);
}

int kg_lineup_planted(struct kg_lineup *l, kg_error *ret_error)
{
    const struct kg_subject *its = &l->subjects[KG_LANE_CASE];
    return prepare(l, KG_LANE_PLANTED, &l->one->candidate, its->backend->name, its->identity.pin, ret_error);
}

int kg_lineup_anchor(struct kg_lineup *l, kg_error *ret_error)
{
    struct kg_case of = l->one->of;
    of.backend = kg_suite_anchor(of.suite, of.kind);
    if (!of.backend || !strcmp(of.backend->name, l->subjects[KG_LANE_CASE].backend->name))
        return KG_ENOTFOUND;
    return prepare(l, KG_LANE_ANCHOR, &of, "", l->one->anchor_pin, ret_error);
}

void kg_lineup_drop(struct kg_lineup *l, int lane)
{
    kg_subject_done(&l->subjects[lane]);
}

void kg_lineup_done(struct kg_lineup *l)
{
    for (int lane = 0; lane < KG_LANES; lane++)
        kg_lineup_drop(l, lane);
}

void kg_lineup_subjects(struct kg_lineup *l, struct kg_subject *ret_subjects[KG_LANES])
{
    for (int lane = 0; lane < KG_LANES; lane++)
        ret_subjects[lane] = l->subjects[lane].backend ? &l->subjects[lane] : NULL;
}

int kg_lineup_make_rings(struct kg_lineup *l, const struct kg_timing *timing, uint64_t seed, kg_error *ret_error)
{
    struct kg_subject *subjects[KG_LANES];
    kg_lineup_subjects(l, subjects);
    return kg_subjects_make_rings(subjects, KG_LANES, l->fixture, timing->l2 == KG_L2_COLD, timing->placements, seed,
                                  ret_error);
}

/* ---- instances ---------------------------------------------------------------------------------------------- */

int kg_instances_of(const struct kg_launch_info *launch, enum kg_device_kind kind, const struct kg_timing *timing)
{
    const int nodes = launch->kernels + launch->memory_nodes + launch->other_nodes;
    const bool by_sets = timing->timer == KG_TIMER_GRAPH && timing->l2 == KG_L2_WARM;
    return kind == KG_CUDA && by_sets && nodes > 1 ? KG_INSTANCES : 1;
}

static bool is_its(int lane)
{
    return lane == KG_LANE_CASE || lane == KG_LANE_PLANTED;
}

static struct kg_loaded *module_of(const struct kg_lineup *l, int lane)
{
    return l->baseline && !is_its(lane) ? l->baseline : l->module;
}

/* A lane's backend in another image of its module; NULL: it is not there. */
static const kg_backend *backend_in(const struct kg_lineup *l, int lane, const struct kg_module *image)
{
    const struct kg_case *of = is_its(lane) ? &l->one->candidate : &l->one->of;
    const char *name = l->subjects[lane].backend->name;
    const kg_suite *suite = kg_module_suite(image, of->suite->name);
    if (!suite)
        return NULL;
    const kg_backend *its =
        lane == KG_LANE_ANCHOR ? kg_suite_anchor(suite, of->kind) : kg_suite_backend(suite, of->backend->name);
    if (!its || !its->candidates)
        return its;
    for (const kg_backend *const *c = its->candidates; *c; c++)
        if (!strcmp(name, (*c)->name))
            return *c;
    return NULL;
}

static int instances_wanted(struct kg_lineup *l, int lane, const struct kg_timing *timing, int *ret_wanted,
                            kg_error *ret_error)
{
    struct kg_subject *subject = &l->subjects[lane];
    kg_context *context = l->fixture->context;
    struct kg_launch_info launch = { 0 };
    int status = context->ops->inspect(context, kg_subject_launch, subject, &launch, ret_error);
    if (status)
        return status;
    const int wanted = kg_instances_of(&launch, l->one->of.kind, timing);
    *ret_wanted = wanted < subject->n_ring ? wanted : subject->n_ring;
    return KG_OK;
}

static int add_instance(struct kg_lineup *l, int lane, int n, kg_error *ret_error)
{
    struct kg_loaded *module = module_of(l, lane);
    const struct kg_module *image = NULL;
    kg_error cause = { 0 };
    int status = kg_module_image(module, n, &image, ret_error);
    if (status)
        return status;
    const kg_backend *backend = backend_in(l, lane, image);
    if (!backend)
        return kg_fail(ret_error, KG_EINVAL, "%.300s changed while the run was under way", module->path);
    status = kg_subject_add_instance(l->host, &l->subjects[lane], backend, &cause);
    if (!status)
        return KG_OK;
    /* What ran once is not skipped the next time. */
    return kg_fail(ret_error, status == KG_EUNSUPPORTED ? KG_EINVAL : status, "in image %d of %d: %.400s", n + 1,
                   KG_INSTANCES, cause.text);
}

/* Launches it first, since a first launch should not stand in a capture; and forgets what it wrote, or a timed call
 * that writes nothing would look right. */
static int instance_identity(struct kg_lineup *l, int lane, int n, char *ret_text, size_t size, kg_error *ret_error)
{
    struct kg_subject *subject = &l->subjects[lane];
    kg_context *context = l->fixture->context;
    struct kg_launch_info launch;
    struct kg_loaded image = *module_of(l, lane);
    int status = kg_module_image(module_of(l, lane), n, &image.root, ret_error);
    subject->place = (unsigned)n;
    if (!status)
        status = kg_subject_launch(subject, 0, context->ops->stream(context), ret_error);
    if (!status)
        status = context->ops->synchronize(context, ret_error);
    if (!status)
        status = kg_identity_of(context, &image, subject, &launch, ret_text, size, ret_error);
    if (!status)
        status = kg_buffers_poison(&subject->ring[n], ret_error);
    subject->place = 0;
    return status;
}

static int check_instances(struct kg_lineup *l, int lane, kg_error *ret_error)
{
    char first[1024], text[1024];
    int status = KG_OK;
    for (int n = 0; n <= l->subjects[lane].n_more && !status; n++) {
        status = instance_identity(l, lane, n, n ? text : first, sizeof text, ret_error);
        if (!status && n && strcmp(text, first))
            status = kg_fail(ret_error, KG_EINVAL, "image %d of %d runs other code: %.200s, not %.200s", n + 1,
                             KG_INSTANCES, text, first);
    }
    return status;
}

int kg_lineup_add_instances(struct kg_lineup *l, const struct kg_timing *timing, uint64_t seed, int *ret_lane,
                            kg_error *ret_error)
{
    int there[KG_LANES], wanted[KG_LANES] = { 0 }, n = 0, status = KG_OK;
    uint8_t orders[KG_INSTANCES - 1];
    for (int lane = 0; lane < KG_LANES && !status; lane++) {
        *ret_lane = lane;
        if (lane == KG_LANE_PLANTED && l->subjects[lane].backend)
            wanted[lane] = wanted[KG_LANE_CASE];
        else if (l->subjects[lane].backend)
            status = instances_wanted(l, lane, timing, &wanted[lane], ret_error);
        if (wanted[lane] > 1)
            there[n++] = lane;
    }
    if (n)
        kg_order_balanced(seed, n, orders, KG_INSTANCES - 1);
    for (int i = 0; i < n * (KG_INSTANCES - 1) && !status; i++) {
        const int instance = 1 + i / n;
        *ret_lane = there[kg_order_lane(n, orders[i / n], i % n)];
        if (instance < wanted[*ret_lane])
            status = add_instance(l, *ret_lane, instance, ret_error);
    }
    for (int i = 0; i < n && !status; i++) {
        *ret_lane = there[i];
        status = check_instances(l, there[i], ret_error);
    }
    return status;
}

/* ---- identity ----------------------------------------------------------------------------------------------- */

/* A module's code on the CPU is no one backend's: an anchor's identity leaves it out, or ratios would go stale with
 * every change of the module. A baseline that `auto` resolved to another backend says so. */
int kg_lineup_identity(struct kg_lineup *l, int lane, char *ret_text, size_t size, kg_error *ret_error)
{
    struct kg_subject *subject = &l->subjects[lane];
    kg_context *context = l->fixture->context;
    const char *running = l->subjects[KG_LANE_CASE].backend->name;
    struct kg_launch_info launch;
    char text[1024];
    int status = kg_subject_launch(subject, 0, context->ops->stream(context), ret_error);
    if (!status)
        status = context->ops->synchronize(context, ret_error);
    if (status)
        return status;
    if (lane == KG_LANE_ANCHOR && l->one->of.kind == KG_CPU) {
        snprintf(ret_text, size, "%s", subject->identity.text);
        return KG_OK;
    }
    status = kg_identity_of(context, module_of(l, lane), subject, &launch, text, sizeof text, ret_error);
    if (status)
        return status;
    const bool other = lane == KG_LANE_BASELINE && strcmp(subject->backend->name, running);
    snprintf(ret_text, size, "%s%s%s", other ? subject->backend->name : "", other ? ": " : "", text);
    return KG_OK;
}
