/* sdpa_reference.h -- the reference on the CPU, which the op in sdpa.c names. Its GPU twin is declared in sdpa.h. */
#ifndef SDPA_REFERENCE_H
#define SDPA_REFERENCE_H

#include "op/sdpa.h"

/* Double-precision accumulation, output FP32. */
int sdpa_reference_cpu(const void *problem, const kg_tensor *tensors, kg_error *ret_error);

#endif
