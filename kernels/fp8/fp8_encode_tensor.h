/* fp8_encode_tensor.h -- the coder of tensors to e4m3 with one scale each (fp8_encode_tensor.cu). Head by head:
 * fp8_stage_c.h. */
#ifndef FP8_ENCODE_TENSOR_H
#define FP8_ENCODE_TENSOR_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct fp8_encode_tensor_args {
    const void *x; /* FP16 */
    uint8_t *codes;
    float *descale; /* what a code of 1 stands for */
    int64_t count;
};

/* Enqueues on a cudaStream_t and returns a cudaError_t. */
int fp8_encode_tensor(const struct fp8_encode_tensor_args *args, void *stream);

#ifdef __cplusplus
}
#endif

#endif
