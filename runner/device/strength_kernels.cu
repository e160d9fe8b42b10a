/* strength_kernels.cu -- a reference's wrong answers on a GPU: two passes for the facts, then one kernel in which a row
 * of blocks makes and compares each answer. What an element adds is in wrong_answers.h, shared with cpu_strength.c. */
#include "device/device_kernels.h"

#define THREADS 128

static __device__ void merge(struct kg_wrong_sizes *into, const struct kg_wrong_sizes *part)
{
    kg_wrong_sizes_merge(into, part);
}

static __device__ void merge(struct kg_wrong_places *into, const struct kg_wrong_places *part)
{
    kg_wrong_places_merge(into, part);
}

static __device__ void merge(struct kg_error_sums *into, const struct kg_error_sums *part)
{
    kg_error_sums_merge(into, part);
}

/* What the block's threads found, merged in a fixed order. */
template <typename T> static __device__ void put_merged(const T &mine, T *ret_part)
{
    __shared__ T found[THREADS];
    found[threadIdx.x] = mine;
    __syncthreads();
    for (unsigned int step = 1; step < THREADS; step *= 2) {
        if (threadIdx.x % (2 * step) == 0)
            merge(&found[threadIdx.x], &found[threadIdx.x + step]);
        __syncthreads();
    }
    if (threadIdx.x == 0)
        *ret_part = found[0];
}

/* A thread's elements, over the grid's first dimension. */
#define FOR_ELEMENTS(i, count)                                                                                         \
    for (uint64_t i = (uint64_t)blockIdx.x * THREADS + threadIdx.x; i < (count); i += (uint64_t)gridDim.x * THREADS)

static __global__ void sizes_kernel(struct kg_wrong_terms terms, struct kg_wrong_sizes *ret_parts)
{
    struct kg_wrong_sizes sizes = {};
    FOR_ELEMENTS(i, terms.facts.count)
    kg_wrong_sizes_add(&sizes, terms.expected, i);
    put_merged(sizes, &ret_parts[blockIdx.x]);
}

static __global__ void places_kernel(struct kg_wrong_terms terms, struct kg_wrong_places *ret_parts)
{
    struct kg_wrong_places places = { KG_WRONG_NOWHERE, KG_WRONG_NOWHERE, KG_WRONG_NOWHERE };
    FOR_ELEMENTS(i, terms.facts.count)
    kg_wrong_places_add(&places, &terms.facts, terms.expected, i);
    put_merged(places, &ret_parts[blockIdx.x]);
}

static __global__ void answers_kernel(struct kg_wrong_terms terms, struct kg_error_sums *ret_parts)
{
    struct kg_error_sums sums = {};
    FOR_ELEMENTS(i, terms.facts.count)
    kg_wrong_add(&sums, (enum kg_wrong)blockIdx.y, &terms, i);
    put_merged(sums, &ret_parts[blockIdx.y * gridDim.x + blockIdx.x]);
}

cudaError_t kg_kernel_wrong_sizes(const struct kg_wrong_terms *terms, struct kg_wrong_sizes *ret_parts,
                                  cudaStream_t stream)
{
    sizes_kernel<<<KG_ERROR_SUMS_PARTS, THREADS, 0, stream>>>(*terms, ret_parts);
    return cudaGetLastError();
}

cudaError_t kg_kernel_wrong_places(const struct kg_wrong_terms *terms, struct kg_wrong_places *ret_parts,
                                   cudaStream_t stream)
{
    places_kernel<<<KG_ERROR_SUMS_PARTS, THREADS, 0, stream>>>(*terms, ret_parts);
    return cudaGetLastError();
}

cudaError_t kg_kernel_wrong_answers(const struct kg_wrong_terms *terms, struct kg_error_sums *ret_parts,
                                    cudaStream_t stream)
{
    const dim3 blocks(KG_ERROR_SUMS_PARTS, KG_WRONGS);
    answers_kernel<<<blocks, THREADS, 0, stream>>>(*terms, ret_parts);
    return cudaGetLastError();
}
