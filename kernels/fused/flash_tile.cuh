/* flash_tile.cuh -- a tile of fused attention: what its warps do step by step. Shared by the kernels of flash.cu and
 * flex; it includes no header of the toolkit, since NVRTC compiles it at run time.
 *
 * A block owns ROWS query rows of one head and walks over the keys in steps of GROUPS * COLS. A warp owns STRIPS
 * strips of 16 rows and COLS keys of the step. With GROUPS > 1 several warps share rows, each with keys of its own,
 * and their results are joined at the end: short sequences have too few rows to fill the device otherwise.
 */
#ifndef FLASH_TILE_CUH
#define FLASH_TILE_CUH

#include "fused/flash_args.h"
#include "op/softmax_row.cuh"

#ifdef __CUDACC_RTC__
typedef unsigned int uint32_t;
typedef long long int64_t;
#else
#include <stdint.h>
#endif

/* Names of the dtypes; they may stay incomplete. */
struct __half;
struct __nv_bfloat16;

template <int D_, int WARPS_, int STRIPS_, int GROUPS_, int COLS_, bool KEEP_Q_, int BLOCKS_> struct flash_tile {
    static constexpr int D = D_;           /* head dimension */
    static constexpr int WARPS = WARPS_;   /* warps along the rows */
    static constexpr int STRIPS = STRIPS_; /* 16-row strips of a warp: 2 halve the reads of shared memory */
    static constexpr int GROUPS = GROUPS_;
    static constexpr int COLS = COLS_;
    static constexpr bool KEEP_Q = KEEP_Q_; /* Q in registers; else read again from shared memory at every step */
    static constexpr int BLOCKS = BLOCKS_;  /* blocks that a multiprocessor shall hold */

    static constexpr int ROWS = WARPS * STRIPS * 16;
    static constexpr int THREADS = WARPS * GROUPS * 32;
    static constexpr int ROW_BYTES = D * 2;
    static constexpr int PIECES = ROW_BYTES / 16;
    static constexpr bool SWIZZLED = PIECES % 8 == 0;
    static constexpr int PITCH = ROW_BYTES + (SWIZZLED ? 0 : 16); /* from row to row in shared memory */
    static constexpr int Q_BYTES = ROWS * PITCH;
    static constexpr int KEYS = GROUPS * COLS;         /* of one step */
    static constexpr int HALF_BYTES = KEYS * PITCH;    /* K or V of one step */
    static constexpr int STAGE_BYTES = 2 * HALF_BYTES; /* K, then V */
    static constexpr int SHARED_BYTES = Q_BYTES + 2 * STAGE_BYTES;
    static_assert(SWIZZLED || PITCH / 16 % 2 == 1, "a piece of eight rows touches every bank once");
    static_assert(SHARED_BYTES <= 99 * 1024, "what a block of sm_86 may have");
};

/* ---- one instruction each ----------------------------------------------------------------------------------- */

__device__ __forceinline__ void copy_16_bytes(uint32_t shared, const void *global, bool inside)
{
    int bytes = inside ? 16 : 0; /* the rest becomes zeros */
    asm volatile("cp.async.cg.shared.global.L2::128B [%0], [%1], 16, %2;" ::"r"(shared), "l"(global), "r"(bytes)
                 : "memory");
}

__device__ __forceinline__ void copies_commit()
{
    asm volatile("cp.async.commit_group;" ::: "memory");
}

__device__ __forceinline__ void copies_wait()
{
    asm volatile("cp.async.wait_all;" ::: "memory");
}

__device__ __forceinline__ void copies_wait_but_last()
{
    asm volatile("cp.async.wait_group 1;" ::: "memory");
}

/* Lets the launch that follows begin, where it asked to: its blocks take what room there is. */
__device__ __forceinline__ void begin_next_launch()
{
#if __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.launch_dependents;");
#endif
}

/* Ends when the launch before has ended and what it wrote is seen. */
__device__ __forceinline__ void await_launch_before()
{
#if __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

/* Four 8x8 matrices; lane i gives the address of row i % 8 of matrix i / 8. */
__device__ __forceinline__ void load_matrices(uint32_t (&r)[4], uint32_t shared)
{
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
                 : "r"(shared)
                 : "memory");
}

__device__ __forceinline__ void load_matrices_transposed(uint32_t (&r)[4], uint32_t shared)
{
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0,%1,%2,%3}, [%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
                 : "r"(shared)
                 : "memory");
}

/* c[16, 8] += a[16, 16] * b[16, 8] */
template <typename T>
__device__ __forceinline__ void multiply_add(float (&c)[4], const uint32_t (&a)[4], uint32_t b0, uint32_t b1);

template <>
__device__ __forceinline__ void multiply_add<__half>(float (&c)[4], const uint32_t (&a)[4], uint32_t b0, uint32_t b1)
{
    asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
        : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

template <>
__device__ __forceinline__ void multiply_add<__nv_bfloat16>(float (&c)[4], const uint32_t (&a)[4], uint32_t b0,
                                                            uint32_t b1)
{
    asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
        : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

template <typename T> __device__ __forceinline__ uint32_t pack(float low, float high);

template <> __device__ __forceinline__ uint32_t pack<__half>(float low, float high)
{
    uint32_t r;
    asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(r) : "f"(high), "f"(low));
    return r;
}

template <> __device__ __forceinline__ uint32_t pack<__nv_bfloat16>(float low, float high)
{
    uint32_t r;
    asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(r) : "f"(high), "f"(low));
    return r;
}

__device__ __forceinline__ float power_of_two(float x)
{
    float r;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(x));
    return r;
}

/* Hides where x comes from, so that what is derived from it is not kept in registers from step to step. */
__device__ __forceinline__ uint32_t forget_origin(uint32_t x)
{
    asm volatile("" : "+r"(x));
    return x;
}

/* Tells the compiler what it cannot see, so that uniform registers hold what follows from x. */
__device__ __forceinline__ int same_in_warp(int x)
{
    return __shfl_sync(~0u, x, 0);
}

/* ---- steps of the kernel ------------------------------------------------------------------------------------ */

/* Where a row's 16-byte pieces lie in shared memory, so that eight lanes that read one piece of eight rows touch every
 * bank once. Pieces that come in eights are permuted: piece c of row r is at c ^ (r % 8). Else they follow each other,
 * and the rows are an odd number of pieces apart. */
template <typename TILE> __device__ __forceinline__ uint32_t place(int row, int piece)
{
    return row * TILE::PITCH + (TILE::SWIZZLED ? (piece ^ (row & 7)) << 4 : piece << 4);
}

/* From the place of piece 0 or 1 to that of an even number of pieces further on, in the same row. */
template <typename TILE> __device__ __forceinline__ uint32_t further(uint32_t address, int pieces)
{
    return TILE::SWIZZLED ? address ^ (pieces * 16) : address + pieces * 16;
}

/* copy_rows below, of PIECES pieces of a row from piece FIRST on: so many that the threads are whole rows */
template <typename TILE, int ROWS, int FIRST, int PIECES, bool CUT>
__device__ __forceinline__ void copy_pieces(uint32_t shared, const void *base, int64_t offset, int first, int end,
                                            unsigned thread)
{
    constexpr int ROWS_AT_ONCE = TILE::THREADS / PIECES;
    static_assert(TILE::THREADS % PIECES == 0 && (!TILE::SWIZZLED || ROWS_AT_ONCE % 8 == 0) &&
                      (ROWS % ROWS_AT_ONCE == 0 || ROWS < ROWS_AT_ONCE),
                  "a thread's place in a row never changes");
    int of_row = forget_origin(thread), row = of_row / PIECES, piece = FIRST + of_row % PIECES;
    if (ROWS < ROWS_AT_ONCE && row >= ROWS)
        return;
    shared += place<TILE>(row, piece);
    const char *global = (const char *)base + (offset + (int64_t)(first + row) * TILE::ROW_BYTES + piece * 16);
#pragma unroll
    for (int i = 0; i < ROWS; i += ROWS_AT_ONCE) {
        bool inside = !CUT || first + row + i < end;
        copy_16_bytes(shared + i * TILE::PITCH, inside ? global + i * TILE::ROW_BYTES : base, inside);
    }
}

/* shared[0 .. ROWS, :] = source[first .. first + ROWS, :], zeros from row `end` on; source is at base + offset. By
 * TILE::THREADS threads, of which this is number `thread`. CUT false: `end` is not met. */
template <typename TILE, int ROWS, bool CUT = true>
__device__ __forceinline__ void copy_rows(uint32_t shared, const void *base, int64_t offset, int first, int end,
                                          unsigned thread = threadIdx.x)
{
    constexpr int PIECES = TILE::PIECES, REST = PIECES % 8;
    copy_pieces<TILE, ROWS, 0, PIECES - REST, CUT>(shared, base, offset, first, end, thread);
    if constexpr (REST > 0)
        copy_pieces<TILE, ROWS, PIECES - REST, REST, CUT>(shared, base, offset, first, end, thread);
}

/* K and V of the step whose first key is `first`. */
template <typename TILE, bool CUT = true>
__device__ __forceinline__ void copy_keys(uint32_t stage, const flash_args &args, int64_t k_offset, int first,
                                          unsigned thread = threadIdx.x)
{
    copy_rows<TILE, TILE::KEYS, CUT>(stage, args.k, k_offset, first, args.Skv, thread);
    copy_rows<TILE, TILE::KEYS, CUT>(stage + TILE::HALF_BYTES, args.v, k_offset, first, args.Skv, thread);
    copies_commit();
}

/* Fragments of Q: rows of all strips, dims k*16 .. k*16+15. `address` is that of the lane, for k = 0. */
template <typename TILE> __device__ __forceinline__ void load_q(uint32_t (&q)[TILE::STRIPS][4], uint32_t address, int k)
{
#pragma unroll
    for (int strip = 0; strip < TILE::STRIPS; strip++)
        load_matrices(q[strip], further<TILE>(address, k * 2) + strip * 16 * TILE::PITCH);
}

/* s[rows, COLS] = Q K^T */
template <typename T, typename TILE>
__device__ __forceinline__ void scores_qk(float (&s)[TILE::STRIPS][TILE::COLS / 8][4],
                                          const uint32_t (&kept)[TILE::KEEP_Q ? TILE::D / 16 : 1][TILE::STRIPS][4],
                                          uint32_t q_address, uint32_t k_address)
{
#pragma unroll
    for (int strip = 0; strip < TILE::STRIPS; strip++)
#pragma unroll
        for (int n = 0; n < TILE::COLS / 8; n++)
#pragma unroll
            for (int i = 0; i < 4; i++)
                s[strip][n][i] = 0;
#pragma unroll
    for (int k = 0; k < TILE::D / 16; k++) {
        uint32_t fresh[TILE::STRIPS][4];
        if (!TILE::KEEP_Q)
            load_q<TILE>(fresh, q_address, k);
        const uint32_t(*q)[4] = TILE::KEEP_Q ? kept[TILE::KEEP_Q ? k : 0] : fresh;
#pragma unroll
        for (int n = 0; n < TILE::COLS / 8; n += 2) {
            uint32_t keys[4];
            load_matrices(keys, further<TILE>(k_address, k * 2) + n * 8 * TILE::PITCH);
#pragma unroll
            for (int strip = 0; strip < TILE::STRIPS; strip++) {
                multiply_add<T>(s[strip][n], q[strip], keys[0], keys[1]);
                multiply_add<T>(s[strip][n + 1], q[strip], keys[2], keys[3]);
            }
        }
    }
}

/* A row's probabilities are 2^(s * scale - row_max), its sum is over this thread's columns only. */
template <typename TILE> struct flash_rows {
    float row_max[TILE::STRIPS][2];
    float row_sum[TILE::STRIPS][2];
    float o[TILE::STRIPS][TILE::D / 8][4];
};

/* Of no keys yet. */
template <typename TILE> __device__ __forceinline__ flash_rows<TILE> no_rows()
{
    flash_rows<TILE> rows;
#pragma unroll
    for (int strip = 0; strip < TILE::STRIPS; strip++) {
        rows.row_max[strip][0] = rows.row_max[strip][1] = -3.4028235e38f; /* finite: differences stay numbers */
        rows.row_sum[strip][0] = rows.row_sum[strip][1] = 0;
#pragma unroll
        for (int n = 0; n < TILE::D / 8; n++)
#pragma unroll
            for (int i = 0; i < 4; i++)
                rows.o[strip][n][i] = 0;
    }
    return rows;
}

/* `row_max` may lag behind the true maximum by a factor of 2^8, which neither the dtype nor the sum minds: the rescale,
 * and the shuffles that find the maximum, then happen in the first step and hardly ever after. */
template <typename TILE>
__device__ __forceinline__ void raise_max(flash_rows<TILE> &rows, const float (&s)[TILE::STRIPS][TILE::COLS / 8][4],
                                          float scale_log2)
{
    constexpr float SLACK = 8;
    float row_max[TILE::STRIPS][2];
    bool grown = false;
#pragma unroll
    for (int strip = 0; strip < TILE::STRIPS; strip++)
#pragma unroll
        for (int half = 0; half < 2; half++) {
            float max = fmaxf(s[strip][0][half * 2], s[strip][0][half * 2 + 1]);
#pragma unroll
            for (int n = 1; n < TILE::COLS / 8; n++)
                max = fmaxf(max, fmaxf(s[strip][n][half * 2], s[strip][n][half * 2 + 1]));
            row_max[strip][half] = max * scale_log2;
            grown |= row_max[strip][half] > rows.row_max[strip][half] + SLACK;
        }
    if (!__any_sync(~0u, grown))
        return;
#pragma unroll
    for (int strip = 0; strip < TILE::STRIPS; strip++)
#pragma unroll
        for (int half = 0; half < 2; half++) {
            /* a row goes by its own scores: the bits of its output depend on no other row of the warp */
            const float max = quad_max(row_max[strip][half]), lag = rows.row_max[strip][half];
            const float raised = max > lag + SLACK ? max : lag;
            float rescale = power_of_two(lag - raised);
            rows.row_max[strip][half] = raised;
            rows.row_sum[strip][half] *= rescale;
#pragma unroll
            for (int n = 0; n < TILE::D / 8; n++) {
                rows.o[strip][n][half * 2] *= rescale;
                rows.o[strip][n][half * 2 + 1] *= rescale;
            }
        }
}

/* p[rows, 16] = weights of the keys k*16 .. k*16+15: the accumulators of the scores are, once packed, an A operand. */
template <typename T, typename TILE>
__device__ __forceinline__ void weights(uint32_t (&p)[TILE::STRIPS][4], flash_rows<TILE> &rows,
                                        const float (&s)[TILE::STRIPS][TILE::COLS / 8][4], int k, float scale_log2)
{
#pragma unroll
    for (int strip = 0; strip < TILE::STRIPS; strip++)
#pragma unroll
        for (int i = 0; i < 4; i++) {
            const float *pair = &s[strip][k * 2 + (i >> 1)][(i & 1) * 2];
            float low = power_of_two(fmaf(pair[0], scale_log2, -rows.row_max[strip][i & 1]));
            float high = power_of_two(fmaf(pair[1], scale_log2, -rows.row_max[strip][i & 1]));
            rows.row_sum[strip][i & 1] += low + high;
            p[strip][i] = pack<T>(low, high);
        }
}

/* o[rows, D] += P V, 16 keys at a time */
template <typename T, typename TILE>
__device__ __forceinline__ void output_pv(flash_rows<TILE> &rows, const float (&s)[TILE::STRIPS][TILE::COLS / 8][4],
                                          uint32_t v_address, float scale_log2)
{
#pragma unroll
    for (int k = 0; k < TILE::COLS / 16; k++) {
        uint32_t p[TILE::STRIPS][4];
        weights<T, TILE>(p, rows, s, k, scale_log2);
#pragma unroll
        for (int n = 0; n < TILE::D / 8; n += 2) {
            uint32_t values[4];
            load_matrices_transposed(values, further<TILE>(v_address, n) + k * 16 * TILE::PITCH);
#pragma unroll
            for (int strip = 0; strip < TILE::STRIPS; strip++) {
                multiply_add<T>(rows.o[strip][n], p[strip], values[0], values[1]);
                multiply_add<T>(rows.o[strip][n + 1], p[strip], values[2], values[3]);
            }
        }
    }
}

/* Group 0 adds what the other groups found for the same rows: they leave it in shared memory, a word of each thread
 * side by side. */
template <typename TILE> __device__ __forceinline__ void join_groups(flash_rows<TILE> &rows, float *shared, int group)
{
    constexpr int THREADS = TILE::WARPS * 32, WORDS = sizeof(flash_rows<TILE>) / sizeof(float);
    static_assert((TILE::GROUPS - 1) * THREADS * WORDS * sizeof(float) <= 2 * TILE::STAGE_BYTES, "room to join");
    float *mine = shared + threadIdx.x % THREADS;
    __syncthreads();
    if (group > 0) {
        float *words = mine + (group - 1) * WORDS * THREADS;
#pragma unroll
        for (int strip = 0; strip < TILE::STRIPS; strip++)
#pragma unroll
            for (int half = 0; half < 2; half++) {
                *words = rows.row_max[strip][half], words += THREADS;
                *words = rows.row_sum[strip][half], words += THREADS;
#pragma unroll
                for (int n = 0; n < TILE::D / 4; n++)
                    *words = rows.o[strip][n / 2][half * 2 + n % 2], words += THREADS;
            }
    }
    __syncthreads();
    if (group > 0)
        return;
#pragma unroll
    for (int other = 1; other < TILE::GROUPS; other++) {
        const float *words = mine + (other - 1) * WORDS * THREADS;
#pragma unroll
        for (int strip = 0; strip < TILE::STRIPS; strip++)
#pragma unroll
            for (int half = 0; half < 2; half++) {
                float row_max = fmaxf(rows.row_max[strip][half], words[0]);
                float own = power_of_two(rows.row_max[strip][half] - row_max), its = power_of_two(words[0] - row_max);
                rows.row_max[strip][half] = row_max;
                rows.row_sum[strip][half] = rows.row_sum[strip][half] * own + words[THREADS] * its;
                words += 2 * THREADS;
#pragma unroll
                for (int n = 0; n < TILE::D / 4; n++) {
                    float &o = rows.o[strip][n / 2][half * 2 + n % 2];
                    o = o * own + *words * its, words += THREADS;
                }
            }
    }
}

/* Ends when group 0 has the whole of its rows. Where no row sees a key no step has waited for the copies, and rows are
 * written to where they land. */
template <typename TILE>
__device__ __forceinline__ void end_steps(flash_rows<TILE> &rows, float *shared, int group, int steps)
{
    if (steps <= 0) {
        copies_wait();
        __syncthreads();
    }
    if (TILE::GROUPS > 1)
        join_groups<TILE>(rows, shared, group);
}

/* o[first .. first + strips * 16, :] = rows / row_sum, through the warp's own rows of Q in shared memory, so that
 * global memory gets whole rows. */
template <typename T, typename TILE>
__device__ __forceinline__ void store(flash_rows<TILE> &rows, unsigned char *shared, char *o, int count)
{
    int lane = threadIdx.x % 32;
    __syncwarp(); /* every lane has its Q */
#pragma unroll
    for (int strip = 0; strip < TILE::STRIPS; strip++)
#pragma unroll
        for (int half = 0; half < 2; half++) {
            float row_sum = quad_sum(rows.row_sum[strip][half]);
            float factor = row_sum == 0 ? 0 : 1 / row_sum; /* a row that sees no key gives zeros */
            int row = strip * 16 + half * 8 + lane / 4;
#pragma unroll
            for (int n = 0; n < TILE::D / 8; n++)
                *(uint32_t *)(shared + place<TILE>(row, n) + lane % 4 * 4) =
                    pack<T>(rows.o[strip][n][half * 2] * factor, rows.o[strip][n][half * 2 + 1] * factor);
        }
    __syncwarp();
#pragma unroll
    for (int i = lane; i < TILE::STRIPS * 16 * TILE::PIECES; i += 32) {
        int row = i / TILE::PIECES, piece = i % TILE::PIECES;
        if (row < count)
            *(uint4 *)(o + row * TILE::ROW_BYTES + piece * 16) = *(const uint4 *)(shared + place<TILE>(row, piece));
    }
}

/* Returns the tile, and of which head: chunks of heads one after another, within a chunk tile by tile over all its
 * heads, the last rows first, because with a causal mask they have the most keys. */
__device__ __forceinline__ int find_work(const flash_args &args, int *ret_head)
{
    int chunk = blockIdx.x / (args.head_chunk * args.tiles);
    int i = blockIdx.x - chunk * args.head_chunk * args.tiles;
    int heads = min(args.head_chunk, args.heads - chunk * args.head_chunk);
    *ret_head = same_in_warp(chunk * args.head_chunk + i % heads);
    return same_in_warp(args.tiles - 1 - i / heads);
}

#endif
