/* arms.c -- which build's backend is prepared for whom. Inputs, reference and gates are always the fixture's. */
#include "worker/arms.h"

#include <stdlib.h>
#include <string.h>

#include "worker/identity.h"
#include "worker/twin.h"

/* `only`: of the candidates of `auto`, the one to take; "" : any. */
const kg_backend *kg_arms_choice(const struct kg_case *of, const char *only)
{
    for (const kg_backend *const *c = of->backend->candidates; c && *c && *only; c++)
        if (!strcmp(only, (*c)->name))
            return *c;
    return of->backend;
}

static int prepare(struct kg_arms *a, int arm, const struct kg_case *of, const char *only, const char *pin,
                   kg_error *ret_error)
{
    return kg_prepared_new(a->host, a->fixture, kg_arms_choice(of, only), of->problem, pin, &a->prepared[arm],
                           ret_error);
}

int kg_arms_case(struct kg_arms *a, kg_error *ret_error)
{
    const struct kg_job_case *one = a->one;
    if (!a->twin)
        return prepare(a, KG_ARM_CASE, &one->of, one->backend, one->pin, ret_error);
    return kg_twin_prepare(a->twin, KG_ARM_CASE, one, one->backend, one->pin, a->host, a->fixture,
                           &a->prepared[KG_ARM_CASE], ret_error);
}

int kg_arms_baseline(struct kg_arms *a, kg_error *ret_error)
{
    return prepare(a, KG_ARM_BASELINE, &a->one->of, "", a->one->baseline_pin, ret_error);
}

int kg_arms_planted(struct kg_arms *a, kg_error *ret_error)
{
    const struct kg_prepared *its = &a->prepared[KG_ARM_CASE];
    if (!a->twin)
        return prepare(a, KG_ARM_PLANTED, &a->one->of, its->backend->name, its->identity.pin, ret_error);
    return kg_twin_prepare(a->twin, KG_ARM_PLANTED, a->one, its->backend->name, its->identity.pin, a->host, a->fixture,
                           &a->prepared[KG_ARM_PLANTED], ret_error);
}

int kg_arms_anchor(struct kg_arms *a, kg_error *ret_error)
{
    struct kg_case of;
    struct kg_fixture *fixture = a->fixture;
    int status = kg_plan_anchor(a->module->root, &a->one->of, a->prepared[KG_ARM_CASE].backend->name, &of,
                                &a->beside_problem, ret_error);
    if (!status && a->beside_problem) {
        fixture = &a->beside;
        status = kg_fixture_new(a->fixture->context, &of, fixture, ret_error);
    }
    if (!status)
        status = kg_prepared_new(a->host, fixture, of.backend, of.problem, a->one->anchor_pin,
                                 &a->prepared[KG_ARM_ANCHOR], ret_error);
    if (status)
        kg_arms_drop(a, KG_ARM_ANCHOR);
    return status;
}

void kg_arms_drop(struct kg_arms *a, int arm)
{
    kg_prepared_done(&a->prepared[arm]);
    if (arm != KG_ARM_ANCHOR)
        return;
    kg_fixture_done(&a->beside);
    free(a->beside_problem);
    a->beside_problem = NULL;
}

void kg_arms_done(struct kg_arms *a)
{
    for (int arm = KG_ARMS - 1; arm >= 0; arm--) /* the case last: others use its buffers */
        kg_arms_drop(a, arm);
}

void kg_arms_prepared(struct kg_arms *a, struct kg_prepared *ret_prepared[KG_ARMS])
{
    for (int arm = 0; arm < KG_ARMS; arm++)
        ret_prepared[arm] = a->prepared[arm].backend ? &a->prepared[arm] : NULL;
}

int kg_arms_make_rings(struct kg_arms *a, const struct kg_policy *policy, uint64_t seed, kg_error *ret_error)
{
    struct kg_prepared *prepared[KG_ARMS];
    kg_arms_prepared(a, prepared);
    const struct kg_ring_plan plan = {
        .cold = policy->l2 == KG_L2_COLD, .sets = policy->sets, .shared = 1u << KG_ARM_PLANTED, .seed = seed
    };
    return kg_prepared_make_rings(prepared, KG_ARMS, &plan, ret_error);
}

int kg_arms_launch(struct kg_arms *a, int arm, kg_error *ret_error)
{
    kg_context *context = a->fixture->context;
    int status = kg_prepared_launch(&a->prepared[arm], 0, context->ops->stream(context), ret_error);
    return status ? status : context->ops->synchronize(context, ret_error);
}

/* A module's code on the CPU is no one backend's: an anchor's identity leaves it out, or ratios would go stale with
 * every change of the module. A baseline that `auto` resolved to another backend says so. */
int kg_arms_identity(struct kg_arms *a, int arm, char *ret_text, size_t size, kg_error *ret_error)
{
    struct kg_prepared *prepared = &a->prepared[arm];
    kg_context *context = a->fixture->context;
    const char *running = a->prepared[KG_ARM_CASE].backend->name;
    struct kg_launch_info launch;
    char text[1024];
    int status = kg_arms_launch(a, arm, ret_error);
    if (status)
        return status;
    if (arm == KG_ARM_ANCHOR && a->one->of.kind == KG_CPU) {
        snprintf(ret_text, size, "%s", prepared->identity.text);
        return KG_OK;
    }
    struct kg_loaded module = *a->module;
    if (arm == KG_ARM_ANCHOR)
        module.links[0] = '\0';
    status = kg_identity_of(context, &module, prepared, &launch, text, sizeof text, ret_error);
    if (status)
        return status;
    const bool other = arm == KG_ARM_BASELINE && strcmp(prepared->backend->name, running);
    snprintf(ret_text, size, "%s%s%s", other ? prepared->backend->name : "", other ? ": " : "", text);
    return KG_OK;
}
