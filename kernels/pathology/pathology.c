/* pathology.c -- what the pathology backends share: which problems they take, and what the kernel is given. Which there
 * are says pathology.h.
 */
#include "pathology/pathology.h"

#include <limits.h>

#define MAX_HEADS 65535 /* the second side of a grid */

int pathology_supports(const kg_backend *self, const kg_device *device, const void *problem, kg_error *ret_error)
{
    const struct sdpa *p = problem;
    if (p->dtype != KG_F16 || p->D != PATHOLOGY_D || p->causal)
        return kg_fail(ret_error, KG_EUNSUPPORTED, "%s takes f16, D %d and no mask", self->name, PATHOLOGY_D);
    if (!(sdpa_scale(p) > 0))
        return kg_fail(ret_error, KG_EUNSUPPORTED, "%s needs a scale above 0", self->name);
    if (p->B * p->H > MAX_HEADS || p->S > INT_MAX / 2 || sdpa_kv_length(p) > INT_MAX / 2)
        return kg_fail(ret_error, KG_EUNSUPPORTED, "%s takes at most %d heads and fewer than 2^30 rows", self->name,
                       MAX_HEADS);
    return sdpa_cuda_supports(self, device, ret_error);
}

int pathology_prepare(const kg_backend *self, const kg_call *call, void **ret_state, kg_identity *ret_identity,
                      kg_error *ret_error)
{
    const struct sdpa *problem = call->problem;
    const struct pathology_kernel found = ((const struct pathology_variant *)self->data)->find();
    const struct pathology_args args = {
        .heads = (int)(problem->B * problem->H),
        .group = (int)sdpa_group(problem),
        .S = (int)problem->S,
        .Skv = (int)sdpa_kv_length(problem),
        .scale_log2 = sdpa_scale_log2(problem),
    };
    const struct sdpa_cuda_kernel kernel = {
        .function = found.function,
        .blocks = { (unsigned)((args.S + found.rows - 1) / found.rows), found.serial ? 1 : (unsigned)args.heads, 1 },
        .threads = found.threads,
    };
    (void)ret_identity; /* the kernel's hash says it all */
    return sdpa_cuda_prepare(self, call, kernel, &args, sizeof args, ret_state, ret_error);
}
