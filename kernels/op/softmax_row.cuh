/* softmax_row.cuh -- the online softmax of a row: what is kept of the keys so far, and a row that four neighbouring
 * lanes share. */
#ifndef SOFTMAX_ROW_CUH
#define SOFTMAX_ROW_CUH

/* The largest score, and the sum of the weights by it, in powers of two. */
struct softmax_row {
    float row_max, row_sum;
};

/* Takes a tile in, whose weights are by `row_max`, the largest score so far. Returns the factor on earlier sums. */
__device__ __forceinline__ float softmax_row_add(softmax_row &row, float row_max, float tile_sum)
{
    float rescale = exp2f(row.row_max - row_max);
    row.row_sum = row.row_sum * rescale + tile_sum;
    row.row_max = row_max;
    return rescale;
}

__device__ __forceinline__ float quad_max(float x)
{
    x = fmaxf(x, __shfl_xor_sync(~0u, x, 1));
    return fmaxf(x, __shfl_xor_sync(~0u, x, 2));
}

__device__ __forceinline__ float quad_sum(float x)
{
    x += __shfl_xor_sync(~0u, x, 1);
    return x + __shfl_xor_sync(~0u, x, 2);
}

#endif
