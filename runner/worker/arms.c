/* lineup.c -- which build's backend is prepared for whom. Inputs, reference and gates are always the fixture's. */
#include "worker/arms.h"

#include <string.h>

#include "worker/identity.h"

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
    for (int lane = KG_LANES - 1; lane >= 0; lane--) /* the case last: others use its buffers */
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
    const struct kg_ring_plan plan = { .cold = timing->l2 == KG_L2_COLD,
                                       .placements = timing->placements,
                                       .shared = 1u << KG_LANE_BASELINE | 1u << KG_LANE_PLANTED,
                                       .seed = seed };
    return kg_subjects_make_rings(subjects, KG_LANES, l->fixture, &plan, ret_error);
}

int kg_lineup_launch(struct kg_lineup *l, int lane, kg_error *ret_error)
{
    kg_context *context = l->fixture->context;
    int status = kg_subject_launch(&l->subjects[lane], 0, context->ops->stream(context), ret_error);
    return status ? status : context->ops->synchronize(context, ret_error);
}

/* A module's code on the CPU is no one backend's: an anchor's identity leaves it out, or ratios would go stale with
 * every change of the module. A baseline that `auto` resolved to another backend says so. */
int kg_lineup_identity(struct kg_lineup *l, int lane, char *ret_text, size_t size, kg_error *ret_error)
{
    struct kg_subject *subject = &l->subjects[lane];
    kg_context *context = l->fixture->context;
    const char *running = l->subjects[KG_LANE_CASE].backend->name;
    struct kg_launch_info launch;
    char text[1024];
    int status = kg_lineup_launch(l, lane, ret_error);
    if (status)
        return status;
    if (lane == KG_LANE_ANCHOR && l->one->of.kind == KG_CPU) {
        snprintf(ret_text, size, "%s", subject->identity.text);
        return KG_OK;
    }
    status =
        kg_identity_of(context, l->baseline ? l->baseline : l->module, subject, &launch, text, sizeof text, ret_error);
    if (status)
        return status;
    const bool other = lane == KG_LANE_BASELINE && strcmp(subject->backend->name, running);
    snprintf(ret_text, size, "%s%s%s", other ? subject->backend->name : "", other ? ": " : "", text);
    return KG_OK;
}
