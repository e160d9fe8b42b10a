/* fp8_encode.h -- FP16 numbers on the GPU to 8-bit codes, before anything is timed: a scale a head (fp8_encode.cu) or
 * one for the whole tensor (fp8_encode_tensor.cu). The CPU's is in cpu_fp8.h. All enqueue on a cudaStream_t and return
 * a cudaError_t. */
#ifndef FP8_ENCODE_H
#define FP8_ENCODE_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct fp8_encode_args {
    const void *x; /* heads of `length` FP16 numbers */
    uint8_t *codes;
    float *scales; /* a head */
    int64_t length;
    int heads;
};

typedef int fp8_encode_fn(const struct fp8_encode_args *args, void *stream);
fp8_encode_fn fp8_encode_linear, fp8_encode_e4m3;

struct fp8_encode_tensor_args {
    const void *x; /* FP16 */
    uint8_t *codes;
    float *descale; /* what a code of 1 stands for */
    int64_t count;
};

int fp8_encode_tensor(const struct fp8_encode_tensor_args *args, void *stream);

#ifdef __cplusplus
}
#endif

#endif
