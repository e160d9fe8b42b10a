/* flex_wgmma.cuh -- a step's two products by wgmma, where the four warps of a block are a warpgroup of 64 rows with 64
 * keys of D 64: the tensor cores read Q, K and V from shared memory themselves, without a warp's loads before them.
 * Needs sm_90a; elsewhere FLEX_BY_WGMMA is false and the rest is never asked for.
 *
 * Q stays in shared memory: as registers that live from step to step beside packed weights, ptxas 13.0 gave both the
 * same ones.
 */
#ifndef FLEX_WGMMA_CUH
#define FLEX_WGMMA_CUH

#include "fused/flash_tile.cuh"

#ifdef __CUDA_ARCH_FEAT_SM90_ALL
template <typename TILE>
constexpr bool FLEX_BY_WGMMA =
    TILE::D == 64 && TILE::WARPS == 4 && TILE::STRIPS == 1 && TILE::GROUPS == 1 && TILE::COLS == 64;
#else
template <typename TILE> constexpr bool FLEX_BY_WGMMA = false;
#endif

/* A matrix in shared memory, as wgmma is told of it: 64 rows of 128 bytes in the 128-byte swizzle, which is place() of
 * flash_tile.cuh, eight rows 1024 bytes from the next eight; its first byte at a multiple of 1024. PTX ISA, matrix
 * descriptor. 16 columns further on are WGMMA_COLUMNS more, 16 rows WGMMA_ROWS. */
typedef unsigned long long wgmma_matrix;
#define WGMMA_COLUMNS 2
#define WGMMA_ROWS 128

__device__ __forceinline__ wgmma_matrix wgmma_matrix_at(uint32_t shared)
{
    const wgmma_matrix address = shared >> 4, stride = 1024 >> 4, swizzle_128 = 1;
    return address | stride << 32 | swizzle_128 << 62;
}

#define WGMMA_FOUR(c) "+f"((c)[0]), "+f"((c)[1]), "+f"((c)[2]), "+f"((c)[3])
#define WGMMA_SUMS(c)                                                                                                  \
    WGMMA_FOUR((c)[0]), WGMMA_FOUR((c)[1]), WGMMA_FOUR((c)[2]), WGMMA_FOUR((c)[3]), WGMMA_FOUR((c)[4]),                \
        WGMMA_FOUR((c)[5]), WGMMA_FOUR((c)[6]), WGMMA_FOUR((c)[7])
#define WGMMA_32                                                                                                       \
    "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20, %21, %22, %23, "  \
    "%24, %25, %26, %27, %28, %29, %30, %31}"

/* c[64, 64] += a[64, 16] * b[64, 16]^T, both in shared memory; without `add` c is overwritten. */
template <typename T>
__device__ __forceinline__ void wgmma_by_rows(float (&c)[8][4], wgmma_matrix a, wgmma_matrix b, int add);

/* c[64, 64] += a[64, 16] * b[16, 64], of which b is in shared memory. */
template <typename T>
__device__ __forceinline__ void wgmma_by_columns(float (&c)[8][4], const uint32_t (&a)[4], wgmma_matrix b);

#ifdef __CUDA_ARCH_FEAT_SM90_ALL
#define WGMMA(T, type)                                                                                                 \
    template <>                                                                                                        \
    __device__ __forceinline__ void wgmma_by_rows<T>(float(&c)[8][4], wgmma_matrix a, wgmma_matrix b, int add)         \
    {                                                                                                                  \
        asm volatile("{.reg .pred add; setp.ne.b32 add, %34, 0; wgmma.fence.sync.aligned; "                            \
                     "wgmma.mma_async.sync.aligned.m64n64k16.f32." type "." type " " WGMMA_32                          \
                     ", %32, %33, add, 1, 1, 0, 0;}"                                                                   \
                     : WGMMA_SUMS(c)                                                                                   \
                     : "l"(a), "l"(b), "r"(add)                                                                        \
                     : "memory");                                                                                      \
    }                                                                                                                  \
    template <>                                                                                                        \
    __device__ __forceinline__ void wgmma_by_columns<T>(float(&c)[8][4], const uint32_t(&a)[4], wgmma_matrix b)        \
    {                                                                                                                  \
        asm volatile("{.reg .pred add; setp.ne.b32 add, 1, 0; wgmma.fence.sync.aligned; "                              \
                     "wgmma.mma_async.sync.aligned.m64n64k16.f32." type "." type " " WGMMA_32                          \
                     ", {%32, %33, %34, %35}, %36, add, 1, 1, 1;}"                                                     \
                     : WGMMA_SUMS(c)                                                                                   \
                     : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b)                                              \
                     : "memory");                                                                                      \
    }
WGMMA(__half, "f16")
WGMMA(__nv_bfloat16, "bf16")
#endif

/* Ends when the products are in c. */
__device__ __forceinline__ void wgmma_await(float (&c)[8][4])
{
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
    asm volatile("wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;" : WGMMA_SUMS(c) : : "memory");
#endif
}

/* A thread's own copies, when they have come, are seen by wgmma of all that meet it at the barrier after this. */
template <typename TILE> __device__ __forceinline__ void wgmma_sees_copies()
{
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
    if (FLEX_BY_WGMMA<TILE>)
        asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
#endif
}

/* s[rows, 64] = Q K^T; addresses are of matrices, not of a lane. */
template <typename T>
__device__ __forceinline__ void wgmma_scores(float (&s)[1][8][4], uint32_t q_shared, uint32_t k_shared)
{
    const wgmma_matrix q = wgmma_matrix_at(q_shared), k = wgmma_matrix_at(k_shared);
#pragma unroll
    for (int i = 0; i < 4; i++)
        wgmma_by_rows<T>(s[0], q + i * WGMMA_COLUMNS, k + i * WGMMA_COLUMNS, i > 0);
    wgmma_await(s[0]);
}

/* o[rows, 64] += P V */
template <typename T, typename TILE>
__device__ __forceinline__ void wgmma_output(flash_rows<TILE> &rows, const float (&s)[1][8][4], uint32_t v_shared,
                                             float scale_log2)
{
    const wgmma_matrix v = wgmma_matrix_at(v_shared);
    uint32_t p[4][1][4]; /* the products read them as long as they last */
#pragma unroll
    for (int k = 0; k < 4; k++) {
        weights<T, TILE>(p[k], rows, s, k, scale_log2);
        wgmma_by_columns<T>(rows.o[0], p[k][0], v + k * WGMMA_ROWS);
    }
    wgmma_await(rows.o[0]);
}

#endif
