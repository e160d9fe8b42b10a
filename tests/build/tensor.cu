// tensor.cu -- kernels for kernel_table.sh: tensor-core instructions of two families, launch bounds, a spill, and a
// note of ptxas that names no kernel.
#include <cuda_fp16.h>
#include <mma.h>

extern "C" __global__ void __launch_bounds__(96) two_mma(float4 *out, uint4 a, uint2 b)
{
    float4 d = out[threadIdx.x];
    for (int i = 0; i < 2; i++)
        asm volatile("{ mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, "
                     "{%0,%1,%2,%3}; } // not mma.sync.aligned, nor wmma.mma"
                     : "+f"(d.x), "+f"(d.y), "+f"(d.z), "+f"(d.w)
                     : "r"(a.x), "r"(a.y), "r"(a.z), "r"(a.w), "r"(b.x), "r"(b.y));
    out[threadIdx.x] = d;
}

extern "C" __global__ void one_wmma(const half *a, float *out)
{
    using namespace nvcuda::wmma;
#if __CUDA_ARCH__ == 900
    asm volatile(
        "setmaxnreg.dec.sync.aligned.u32 24;"); // ignored without launch bounds, in a note that does not say where
#endif
    fragment<matrix_a, 16, 16, 16, half, row_major> x;
    fragment<matrix_b, 16, 16, 16, half, col_major> y;
    fragment<accumulator, 16, 16, 16, float> z;
    fill_fragment(z, 0.0f);
    load_matrix_sync(x, a, 16);
    load_matrix_sync(y, a, 16);
    mma_sync(z, x, y, z);
    store_matrix_sync(out, z, 16, mem_row_major);
}

extern "C" __global__ void __launch_bounds__(1024, 2) spills(float *x)
{
    float kept[64];
    for (int i = 0; i < 64; i++)
        kept[i] = ((volatile float *)x)[i * threadIdx.x];
    __syncthreads();
    for (int i = 0; i < 64; i++)
        ((volatile float *)x)[i * threadIdx.x] = kept[i];
}
