/* fp8_stage_c.cu -- attention on 8-bit codes by the stage-C contract: D 64, tiles of 32 queries x 32 keys, 4 warps,
 * WMMA 16x16x16 with FP32 accumulation, softmax online in FP32, FP16 output. Grid (ceil(S / 32), H, B).
 *
 * One source, a binary for each setting of the switches below: kernels/meson.build compiles it once for each backend of
 * fp8_variants.c, with a name of its own. A new switch gets a default here, its flag there and its backends in that
 * list.
 *
 * Codes become FP16 values in shared memory, exactly; the products' FP32 results are multiplied by step and scales. A
 * step of the loop: [codes of the tile -> k, v] [scores = q k^T] [softmax: p, rescale] [o = rescale * o + p v], a
 * barrier after each.
 */
#include <cuda_fp16.h>
#include <math_constants.h>
#include <mma.h>

#include "fp8/fp8_codec.h"
#include "fp8/fp8_stage_c.h"
#include "op/softmax_row.cuh"

#ifndef STAGE_C_E4M3
#define STAGE_C_E4M3 0 /* else the linear code */
#endif
#ifndef STAGE_C_KV_LUT
#define STAGE_C_KV_LUT 0 /* K and V decoded by a table in shared memory, else by arithmetic */
#endif
#ifndef STAGE_C_CP_ASYNC
#define STAGE_C_CP_ASYNC                                                                                               \
    1 /* the next tile's codes are copied while this one is worked on, else loaded when it is due */
#endif
#ifndef STAGE_C_DEBUG_PRINT
#define STAGE_C_DEBUG_PRINT 0
#endif
/* Defects that tests/modules plants: a table filled in part, and a last tile that is not waited for. */
#ifndef STAGE_C_TABLE_FILLED
#define STAGE_C_TABLE_FILLED 256
#endif
#ifndef STAGE_C_LAST_UNAWAITED
#define STAGE_C_LAST_UNAWAITED 0
#endif

#define JOIN_(a, b) a##b
#define JOIN(a, b) JOIN_(a, b)
#define KERNEL JOIN(STAGE_C_NAME, _kernel)
#define ENQUEUE JOIN(STAGE_C_NAME, _enqueue)
#define TOGGLES JOIN(STAGE_C_NAME, _toggles)

/* What reports say of the binary is what it was compiled with. */
#define TEXT_(x) #x
#define TEXT(x) TEXT_(x)
#if STAGE_C_E4M3
#define CODE "e4m3"
#else
#define CODE "linear"
#endif
#if STAGE_C_DEBUG_PRINT
#define PRINTS ",debug_print=1"
#else
#define PRINTS ""
#endif
extern "C" {
extern const char TOGGLES[];
const char TOGGLES[] = "code=" CODE ",kv_lut=" TEXT(STAGE_C_KV_LUT) ",cp_async=" TEXT(STAGE_C_CP_ASYNC) PRINTS;
}

#define D STAGE_C_D
#define TILE STAGE_C_TILE
#define WARPS 4
#define THREADS (WARPS * 32)
#define STEP (STAGE_C_E4M3 ? FP8_E4M3_STEP : FP8_LINEAR_STEP)

/* Row lengths in shared memory. WMMA wants 16-row blocks to start at 32 bytes; the rest is against bank conflicts. */
#define VALUE_PITCH (D + 8)
#define SCORE_PITCH (TILE + 4)
#define P_PITCH (TILE + 8)
#define RESCALE_PITCH (16 + 4)
#define O_PITCH (D + 4)

using namespace nvcuda;
using accumulator = wmma::fragment<wmma::accumulator, 16, 16, 16, float>;

struct shared_tiles {
    __half q[TILE * VALUE_PITCH];
    union {
        struct {
            __half k[TILE * VALUE_PITCH], v[TILE * VALUE_PITCH];
        };
        float o[TILE * O_PITCH]; /* after the last step */
    };
    float scores[TILE * SCORE_PITCH];
    __half p[TILE * P_PITCH];
    float rescale[TILE * RESCALE_PITCH]; /* of a row, 16 times: an accumulator's worth of columns */
#if STAGE_C_CP_ASYNC
    uint4 codes[2][THREADS]; /* K, V of the next tile: 16 a thread */
#endif
#if STAGE_C_KV_LUT
    __half table[256];
#endif
};

/* ---- codes to values ---------------------------------------------------------------------------------------- */

/* Two codes, in the low bytes of each half of `pair`, to two values. */
__device__ __forceinline__ __half2 decode_pair(uint32_t pair)
{
#if STAGE_C_E4M3
    /* The exponent's bias is 7 in place of 15, so the bits read as FP16 are the value / 2^8, subnormals included. */
    uint32_t bits = (pair & 0x00800080) << 8 | (pair & 0x007f007f) << 7;
    const uint32_t factor = 0x5c005c00; /* 256 */
    return __hmul2(*(__half2 *)&bits, *(const __half2 *)&factor);
#else
    uint32_t bits = pair | 0x64006400;  /* 1024 + code */
    const uint32_t offset = 0x64806480; /* 1152 */
    return __hsub2(*(__half2 *)&bits, *(const __half2 *)&offset);
#endif
}

/* Sixteen codes to sixteen values. */
__device__ __forceinline__ void decode(uint4 codes, __half *to)
{
    const uint32_t words[4] = { codes.x, codes.y, codes.z, codes.w };
    __half2 values[8];
#pragma unroll
    for (int i = 0; i < 4; i++) {
        values[2 * i] = decode_pair(__byte_perm(words[i], 0, 0x4140));
        values[2 * i + 1] = decode_pair(__byte_perm(words[i], 0, 0x4342));
    }
    ((uint4 *)to)[0] = ((const uint4 *)values)[0];
    ((uint4 *)to)[1] = ((const uint4 *)values)[1];
}

#if STAGE_C_KV_LUT
/* 256 entries by 128 threads: two each. */
__device__ __forceinline__ void fill_table(shared_tiles &tiles)
{
    for (int code = threadIdx.x; code < STAGE_C_TABLE_FILLED; code += THREADS)
        tiles.table[code] = __low2half(decode_pair(code));
}

__device__ __forceinline__ void decode_kv(const shared_tiles &tiles, uint4 codes, __half *to)
{
    const uint32_t words[4] = { codes.x, codes.y, codes.z, codes.w };
    __half2 values[8];
#pragma unroll
    for (int i = 0; i < 8; i++) {
        uint32_t pair = words[i / 2] >> (i % 2 * 16);
        values[i] = __halves2half2(tiles.table[pair & 0xff], tiles.table[pair >> 8 & 0xff]);
    }
    ((uint4 *)to)[0] = ((const uint4 *)values)[0];
    ((uint4 *)to)[1] = ((const uint4 *)values)[1];
}
#else
__device__ __forceinline__ void decode_kv(const shared_tiles &, uint4 codes, __half *to)
{
    decode(codes, to);
}
#endif

/* ---- memory to shared memory -------------------------------------------------------------------------------- */

/* A tile is 32 rows of 64 codes: thread t has codes t % 4 * 16 … + 15 of row t / 4. */
__device__ __forceinline__ int row_of_thread()
{
    return threadIdx.x / 4;
}

__device__ __forceinline__ int place_of_thread() /* in a tile of values */
{
    return row_of_thread() * VALUE_PITCH + threadIdx.x % 4 * 16;
}

/* Its codes of the tile that begins at row `first`; zeros from row `end` on. */
__device__ __forceinline__ uint4 load_codes(const uint8_t *head, int first, int end)
{
    if (first + row_of_thread() >= end)
        return make_uint4(0, 0, 0, 0);
    return ((const uint4 *)(head + (int64_t)first * D))[threadIdx.x];
}

#if STAGE_C_CP_ASYNC
__device__ __forceinline__ void copy_codes(uint4 *to, const uint8_t *head, int first, int end)
{
    bool inside = first + row_of_thread() < end;
    const uint4 *from = (const uint4 *)(inside ? head + (int64_t)first * D : head) + (inside ? threadIdx.x : 0);
    int bytes = inside ? 16 : 0; /* the rest becomes zeros */
    asm volatile(
        "cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"((uint32_t)__cvta_generic_to_shared(to + threadIdx.x)),
        "l"(from), "r"(bytes)
        : "memory");
}

__device__ __forceinline__ void copy_tile(shared_tiles &tiles, const uint8_t *k, const uint8_t *v, int first, int end)
{
    copy_codes(tiles.codes[0], k, first, end);
    copy_codes(tiles.codes[1], v, first, end);
    asm volatile("cp.async.commit_group;" ::: "memory");
}
#endif

/* k, v = values of the tile at key `first`. Ends with a barrier; the caller has none to add. */
__device__ __forceinline__ void take_tile(shared_tiles &tiles, const uint8_t *k, const uint8_t *v, int first, int end)
{
#if STAGE_C_CP_ASYNC
    const bool early = STAGE_C_LAST_UNAWAITED && first + TILE >= end; /* its copy lands after it was read, surely */
    if (!early)
        asm volatile("cp.async.wait_all;" ::: "memory");
    __syncthreads(); /* everyone's copies are there, and nobody reads the tile before any more */
    decode_kv(tiles, tiles.codes[0][threadIdx.x], tiles.k + place_of_thread());
    decode_kv(tiles, tiles.codes[1][threadIdx.x], tiles.v + place_of_thread());
    __syncthreads();
    int next = first + TILE;
    if (early)
        copy_tile(tiles, k, v, first, end);
    else if (next < end && !(STAGE_C_LAST_UNAWAITED && next + TILE >= end))
        copy_tile(tiles, k, v, next, end);
#else
    uint4 k_codes = load_codes(k, first, end), v_codes = load_codes(v, first, end);
    __syncthreads(); /* nobody reads the tile before any more */
    decode_kv(tiles, k_codes, tiles.k + place_of_thread());
    decode_kv(tiles, v_codes, tiles.v + place_of_thread());
    __syncthreads();
#endif
}

/* ---- steps of the kernel ------------------------------------------------------------------------------------ */

/* scores = q k^T: warp w has rows w / 2 * 16 … and keys w % 2 * 16 … */
__device__ __forceinline__ void scores_qk(shared_tiles &tiles, int warp)
{
    int row = warp / 2 * 16, key = warp % 2 * 16;
    accumulator scores;
    wmma::fill_fragment(scores, 0);
#pragma unroll
    for (int d = 0; d < D; d += 16) {
        wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, wmma::row_major> q;
        wmma::fragment<wmma::matrix_b, 16, 16, 16, __half, wmma::col_major> k;
        wmma::load_matrix_sync(q, tiles.q + row * VALUE_PITCH + d, VALUE_PITCH);
        wmma::load_matrix_sync(k, tiles.k + key * VALUE_PITCH + d, VALUE_PITCH);
        wmma::mma_sync(scores, q, k, scores);
    }
    wmma::store_matrix_sync(tiles.scores + row * SCORE_PITCH + key, scores, SCORE_PITCH, wmma::mem_row_major);
}

/* scores -> p and rescale, of a row by four neighbouring lanes. `score_step` makes powers of two of them; `visible`
 * keys of the tile are there. */
__device__ __forceinline__ void softmax(shared_tiles &tiles, softmax_row &state, float score_step, int visible)
{
    int row = row_of_thread(), first = threadIdx.x % 4 * 8;
    float s[8], row_max = state.row_max, tile_sum = 0;
#pragma unroll
    for (int i = 0; i < 8; i++) {
        s[i] = first + i < visible ? tiles.scores[row * SCORE_PITCH + first + i] * score_step : -CUDART_INF_F;
        row_max = fmaxf(row_max, s[i]);
    }
    row_max = quad_max(row_max);
#pragma unroll
    for (int i = 0; i < 8; i++) {
        float weight = exp2f(s[i] - row_max); /* at least one key of a tile is visible, so `row_max` is finite */
        tiles.p[row * P_PITCH + first + i] = __float2half(weight);
        tile_sum += weight;
    }
    float rescale = softmax_row_add(state, row_max, quad_sum(tile_sum));
#pragma unroll
    for (int i = 0; i < 4; i++)
        tiles.rescale[row * RESCALE_PITCH + threadIdx.x % 4 * 4 + i] = rescale;
}

/* o = rescale * o + p v: warp w has rows w / 2 * 16 … and dims w % 2 * 32 … + 31. Fragments of one type hold the same
 * elements in the same places, so a product by elements needs no knowledge of the layout. */
__device__ __forceinline__ void output_pv(const shared_tiles &tiles, accumulator (&o)[2], int warp)
{
    int row = warp / 2 * 16, d = warp % 2 * 32;
    accumulator rescale;
    wmma::load_matrix_sync(rescale, tiles.rescale + row * RESCALE_PITCH, RESCALE_PITCH, wmma::mem_row_major);
#pragma unroll
    for (int half = 0; half < 2; half++) {
        for (int i = 0; i < rescale.num_elements; i++)
            o[half].x[i] *= rescale.x[i];
#pragma unroll
        for (int key = 0; key < TILE; key += 16) {
            wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, wmma::row_major> p;
            wmma::fragment<wmma::matrix_b, 16, 16, 16, __half, wmma::row_major> v;
            wmma::load_matrix_sync(p, tiles.p + row * P_PITCH + key, P_PITCH);
            wmma::load_matrix_sync(v, tiles.v + key * VALUE_PITCH + d + half * 16, VALUE_PITCH);
            wmma::mma_sync(o[half], p, v, o[half]);
        }
    }
}

/* o to memory, rows below `rows`: thread t writes dims t % 4 * 16 … + 15 of row t / 4. */
__device__ __forceinline__ void store_rows(shared_tiles &tiles, accumulator (&o)[2], int warp, __half *to, int rows,
                                           float factor)
{
    int d = warp % 2 * 32;
    __syncthreads(); /* nobody reads k and v any more */
    for (int half = 0; half < 2; half++)
        wmma::store_matrix_sync(tiles.o + warp / 2 * 16 * O_PITCH + d + half * 16, o[half], O_PITCH,
                                wmma::mem_row_major);
    __syncthreads();
    int row = row_of_thread(), first = threadIdx.x % 4 * 16;
    if (row >= rows)
        return;
    __half2 values[8];
#pragma unroll
    for (int i = 0; i < 8; i++) {
        const float *from = tiles.o + row * O_PITCH + first + 2 * i;
        values[i] = __floats2half2_rn(from[0] * factor, from[1] * factor);
    }
    uint4 *place = (uint4 *)(to + (int64_t)row * D + first);
    place[0] = ((const uint4 *)values)[0];
    place[1] = ((const uint4 *)values)[1];
}

#if STAGE_C_DEBUG_PRINT
__device__ __forceinline__ bool is_traced()
{
    return blockIdx.x == 0 && blockIdx.y == 0 && blockIdx.z == 0 && threadIdx.x == 0;
}

__device__ void trace_step(const stage_c_args &args, const shared_tiles &tiles, int step, float score_step)
{
    stage_c_trace *trace = args.trace;
    if (!is_traced())
        return;
    trace->steps = step + 1;
    trace->q_scale = args.q_scale[0], trace->k_scale = args.k_scale[0], trace->v_scale = args.v_scale[0];
    for (int i = 0; step == 0 && i < 4; i++) {
        trace->q[i] = __half2float(tiles.q[i]);
        trace->k[i] = __half2float(tiles.k[i]);
        trace->scores[i] = tiles.scores[i] * score_step;
    }
}

__device__ void trace_end(const stage_c_args &args, const shared_tiles &tiles, const softmax_row &state, float factor)
{
    if (!is_traced())
        return;
    args.trace->row_max = state.row_max, args.trace->row_sum = state.row_sum;
    for (int i = 0; i < 4; i++)
        args.trace->o[i] = tiles.o[i] * factor;
}
#endif

extern "C" __global__ void __launch_bounds__(THREADS) KERNEL(stage_c_args args)
{
    __shared__ __align__(128) shared_tiles tiles;
    const int head = blockIdx.z * gridDim.y + blockIdx.y, first_row = blockIdx.x * TILE, warp = threadIdx.x / 32;
    const uint8_t *q = args.q + (int64_t)head * args.S * D;
    const uint8_t *k = args.k + (int64_t)head * args.Skv * D, *v = args.v + (int64_t)head * args.Skv * D;
    const float score_step = args.scale_log2 * (args.q_scale[head] * STEP) * (args.k_scale[head] * STEP);

#if STAGE_C_CP_ASYNC
    if (STAGE_C_LAST_UNAWAITED) /* a block before this one may have left the very codes */
        tiles.codes[0][threadIdx.x] = tiles.codes[1][threadIdx.x] = make_uint4(~0u, ~0u, ~0u, ~0u);
    if (!(STAGE_C_LAST_UNAWAITED && args.Skv <= TILE))
        copy_tile(tiles, k, v, 0, args.Skv);
#endif
#if STAGE_C_KV_LUT
    fill_table(tiles); /* read after the first barrier of take_tile */
#endif
    decode(load_codes(q, first_row, args.S), tiles.q + place_of_thread());

    softmax_row state = { -CUDART_INF_F, 0 };
    accumulator o[2];
    wmma::fill_fragment(o[0], 0);
    wmma::fill_fragment(o[1], 0);
    for (int first = 0; first < args.Skv; first += TILE) {
        take_tile(tiles, k, v, first, args.Skv);
        scores_qk(tiles, warp);
        __syncthreads();
#if STAGE_C_DEBUG_PRINT
        trace_step(args, tiles, first / TILE, score_step);
#endif
        softmax(tiles, state, score_step, args.Skv - first);
        __syncthreads();
        output_pv(tiles, o, warp);
    }
    float factor = args.v_scale[head] * STEP / state.row_sum;
    store_rows(tiles, o, warp, (__half *)args.o + ((int64_t)head * args.S + first_row) * D, args.S - first_row, factor);
#if STAGE_C_DEBUG_PRINT
    trace_end(args, tiles, state, factor);
#endif
}

extern "C" int ENQUEUE(const stage_c_args *args, void *stream)
{
    dim3 grid((unsigned)((args->S + TILE - 1) / TILE), (unsigned)args->H, (unsigned)args->B);
    KERNEL<<<grid, THREADS, 0, (cudaStream_t)stream>>>(*args);
    return cudaGetLastError();
}
