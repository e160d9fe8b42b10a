/* inputs.h -- the values of a case's inputs: normal ones drawn on the device, those of a regime on the host and copied.
 */
#ifndef KG_INPUTS_H
#define KG_INPUTS_H

#include "measure/buffer.h"
#include "plan/plan.h"

/* Writes the inputs of `buffers`. KG_EUNSUPPORTED: the regime is not for this problem. */
int kg_inputs_draw(const struct kg_case *of, const struct kg_buffers *buffers, kg_error *ret_error);

/* The same of normal inputs, for another seed; what is given stays. */
int kg_inputs_fill(const struct kg_buffers *buffers, uint64_t seed, kg_error *ret_error);

/* A call's tensors in host memory, all KG_F32: inputs as they are on the device, and room for outputs. */
struct kg_host_tensors {
    int count;
    kg_tensor items[KG_MAX_TENSORS];
};

/* Outputs are filled with `outputs`. */
int kg_host_tensors_new(const struct kg_buffers *buffers, float outputs, struct kg_host_tensors *ret_tensors,
                        kg_error *ret_error);
void kg_host_tensors_done(struct kg_host_tensors *tensors); /* a zeroed one is accepted */

/* The elements of a tensor on the device, times its unit, `ret_values` having room for them. */
int kg_tensor_read(kg_context *context, const kg_tensor *tensor, float *ret_values, kg_error *ret_error);

#endif
