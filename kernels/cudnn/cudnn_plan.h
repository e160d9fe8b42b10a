/* cudnn_plan.h -- cuDNN's execution plans: proposed by the heuristics, named by a pin, or kept as text.
 *
 * The pin names a configuration: 9.19.0:e8:k3=1,k7=2 is engine 8 of cuDNN 9.19.0 with knob 3 at 1 and knob 7 at 2.
 */
#ifndef CUDNN_PLAN_H
#define CUDNN_PLAN_H

#include "cudnn/cudnn_library.h"

#define CUDNN_PIN_BYTES 480

struct cudnn_plan {
    const struct cudnn_library *library;
    cudnnBackendDescriptor_t descriptor; /* finalised */
    int64_t workspace_bytes;
    char pin[CUDNN_PIN_BYTES];
};

void cudnn_plan_done(struct cudnn_plan *plan);

/* Finalises the plans that the heuristics propose for the graph, best guess first, until `limit` of them stand; those
 * that cuDNN then refuses are left out. No plan at all is a failure, with cuDNN's first reason. `ret_proposed` may
 * exceed `limit`. */
int cudnn_plans_propose(const struct cudnn_library *library, cudnnBackendDescriptor_t graph, int limit,
                        struct cudnn_plan *ret_plans, int *ret_count, int *ret_proposed, kg_error *ret_error);

/* The configuration that the pin names. KG_EINVAL: the pin cannot be read, or is of another version of cuDNN. */
int cudnn_plan_pinned(const struct cudnn_library *library, cudnnBackendDescriptor_t graph, const char *pin,
                      struct cudnn_plan *ret_plan, kg_error *ret_error);

/* Text that makes the same plan again without compiling; to free(). */
int cudnn_plan_save(const struct cudnn_plan *plan, char **ret_text, kg_error *ret_error);
int cudnn_plan_restore(const struct cudnn_library *library, const char *text, struct cudnn_plan *ret_plan,
                       kg_error *ret_error);

/* Runs the plan on tensors bound by their ids; by-value ones are read before it returns. Whatever happens on the device
 * happens on `stream`. */
int cudnn_plan_execute(const struct cudnn_plan *plan, const int64_t *ids, const void *const *data, int count,
                       const void *workspace, cudaStream_t stream, kg_error *ret_error);

/* cuDNN 9.19.0 engine 8 knobs 3=1,7=2 */
void cudnn_pin_describe(const char *pin, char *ret_text, size_t size);

#endif
