/* softmax.h -- the softmax of the backend `math` (math.c): scores in memory to probabilities in memory (softmax.cu). */
#ifndef SOFTMAX_H
#define SOFTMAX_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct softmax_args {
    float *scores; /* [rows, pitch], unscaled */
    void *p;             /* [rows, pitch] of the dtype given at launch */
    int64_t rows;
    int64_t pitch;    /* a multiple of 8, at least Skv; what lies beyond Skv is read and written, never meant */
    int S, Skv;       /* row r is query r % S */
    int first_keys;   /* that query 0 sees, and each query after it one more; may be negative */
    float scale_log2; /* scale * log2(e) */
};

/* `dtype` is an enum kg_dtype. Returns a cudaError_t. */
int softmax_launch(const struct softmax_args *args, int dtype, void *stream);

#ifdef __cplusplus
}
#endif

#endif
