/* device_kernels.cu -- kernels of the CUDA device: fill, paint, count, digest, compare, a delay, and what disturbs a
 * launch. What an element gets is in random.h and error_sums.h, shared with the CPU's loops in cpu_loops.c; both must
 * change together. */
#include "device/device_kernels.h"
#include "base/random.h"

#define THREADS 256
#define MAX_BLOCKS 2048
#define SUMS_THREADS 128

static unsigned int blocks_for(uint64_t items)
{
    uint64_t blocks = (items + THREADS - 1) / THREADS;
    return (unsigned int)(blocks < 1 ? 1 : blocks < MAX_BLOCKS ? blocks : MAX_BLOCKS);
}

static __device__ uint64_t first_item(void)
{
    return (uint64_t)blockIdx.x * blockDim.x + threadIdx.x;
}

static __device__ uint64_t item_stride(void)
{
    return (uint64_t)gridDim.x * blockDim.x;
}

/* ---- fill -------------------------------------------------------------------------------------------------- */

static __device__ void store(float *to, float value)
{
    *to = value;
}

struct f16 {
    uint16_t bits;
};

struct bf16 {
    uint16_t bits;
};

static __device__ void store(struct f16 *to, float value)
{
    to->bits = kg_f16_from_float(value);
}

static __device__ void store(struct bf16 *to, float value)
{
    to->bits = kg_bf16_from_float(value);
}

template <typename T> static __global__ void fill_kernel(T *data, uint64_t count, uint64_t key, float scale)
{
    for (uint64_t i = first_item(); i < count; i += item_stride())
        store(data + i, kg_random_value(key, i, scale));
}

cudaError_t kg_kernel_fill(void *data, int64_t count, enum kg_dtype dtype, uint64_t key, float scale,
                           cudaStream_t stream)
{
    uint64_t n = (uint64_t)count;
    if (dtype == KG_F32)
        fill_kernel<<<blocks_for(n), THREADS, 0, stream>>>((float *)data, n, key, scale);
    else if (dtype == KG_F16)
        fill_kernel<<<blocks_for(n), THREADS, 0, stream>>>((struct f16 *)data, n, key, scale);
    else
        fill_kernel<<<blocks_for(n), THREADS, 0, stream>>>((struct bf16 *)data, n, key, scale);
    return cudaGetLastError();
}

/* ---- patterns ---------------------------------------------------------------------------------------------- */

static __global__ void paint_kernel(uint8_t *data, uint64_t bytes, uint32_t pattern)
{
    for (uint64_t i = first_item(); i < bytes; i += item_stride())
        data[i] = kg_pattern_byte(pattern, (uintptr_t)(data + i));
}

cudaError_t kg_kernel_paint(void *data, size_t bytes, uint32_t pattern, cudaStream_t stream)
{
    paint_kernel<<<blocks_for(bytes), THREADS, 0, stream>>>((uint8_t *)data, bytes, pattern);
    return cudaGetLastError();
}

/* ---- sums over bytes --------------------------------------------------------------------------------------- */

/* Adds the threads' values to *sum. Integers, so the order does not matter. */
static __device__ void add_to(uint64_t *sum, uint64_t value)
{
    for (int distance = 16; distance > 0; distance /= 2)
        value += __shfl_down_sync(0xffffffff, value, distance);
    if (threadIdx.x % 32 == 0 && value)
        atomicAdd((unsigned long long *)sum, (unsigned long long)value);
}

static __global__ void count_changed_kernel(const uint8_t *data, uint64_t bytes, uint32_t pattern, uint64_t *sum)
{
    uint64_t changed = 0;
    for (uint64_t i = first_item(); i < bytes; i += item_stride())
        changed += data[i] != kg_pattern_byte(pattern, (uintptr_t)(data + i));
    add_to(sum, changed);
}

cudaError_t kg_kernel_count_changed(const void *data, size_t bytes, uint32_t pattern, uint64_t *sum,
                                    cudaStream_t stream)
{
    count_changed_kernel<<<blocks_for(bytes), THREADS, 0, stream>>>((const uint8_t *)data, bytes, pattern, sum);
    return cudaGetLastError();
}

/* Word `index` of the data, little-endian, padded with zeros at the end. */
static __device__ uint64_t load_word(const uint8_t *data, uint64_t bytes, uint64_t index)
{
    const uint8_t *at = data + 8 * index;
    uint64_t left = bytes - 8 * index, word = 0;
    if (left >= 8 && (uintptr_t)at % 8 == 0)
        return *(const uint64_t *)at;
    for (int i = 0; i < (left < 8 ? (int)left : 8); i++)
        word |= (uint64_t)at[i] << 8 * i;
    return word;
}

static __global__ void digest_kernel(const uint8_t *data, uint64_t bytes, uint64_t *sum)
{
    uint64_t words = (bytes + 7) / 8, digest = 0;
    for (uint64_t i = first_item(); i < words; i += item_stride())
        digest += kg_digest_word(load_word(data, bytes, i), i);
    add_to(sum, digest);
}

cudaError_t kg_kernel_digest(const void *data, size_t bytes, uint64_t *sum, cudaStream_t stream)
{
    digest_kernel<<<blocks_for((bytes + 7) / 8), THREADS, 0, stream>>>((const uint8_t *)data, bytes, sum);
    return cudaGetLastError();
}

/* ---- compare ----------------------------------------------------------------------------------------------- */

static __device__ float load(const float *from, bool *ret_unwritten)
{
    *ret_unwritten = kg_float_bits(*from) == 0xffffffff;
    return *from;
}

static __device__ float load(const struct f16 *from, bool *ret_unwritten)
{
    *ret_unwritten = from->bits == 0xffff;
    return kg_float_from_f16(from->bits);
}

static __device__ float load(const struct bf16 *from, bool *ret_unwritten)
{
    *ret_unwritten = from->bits == 0xffff;
    return kg_float_from_bf16(from->bits);
}

struct e4m3 {
    uint8_t bits;
};

static __device__ float load(const struct e4m3 *from, bool *ret_unwritten)
{
    *ret_unwritten = from->bits == 0xff;
    return kg_float_from_e4m3(from->bits);
}

/* A fixed grid and a fixed tree of merges: sums have the same bits at every run. */
template <typename T>
static __global__ void compare_kernel(const T *got, float unit, const float *expected, const float *scale,
                                      uint64_t count, struct kg_error_sums_limits limits,
                                      struct kg_error_sums *ret_parts)
{
    __shared__ struct kg_error_sums parts[SUMS_THREADS];
    struct kg_error_sums sums = {};
    for (uint64_t i = first_item(); i < count; i += item_stride()) {
        struct kg_error_sums_item item = { i, 0, expected[i], scale ? scale[i] : INFINITY, false };
        item.got = load(got + i, &item.unwritten) * unit;
        kg_error_sums_add(&sums, &item, &limits);
    }
    parts[threadIdx.x] = sums;
    for (unsigned int half = SUMS_THREADS / 2; half > 0; half /= 2) {
        __syncthreads();
        if (threadIdx.x < half)
            kg_error_sums_merge(&parts[threadIdx.x], &parts[threadIdx.x + half]);
    }
    if (threadIdx.x == 0)
        ret_parts[blockIdx.x] = parts[0];
}

template <typename T>
static void compare(const kg_tensor *got, const float *expected, const float *scale, struct kg_error_sums_limits limits,
                    struct kg_error_sums *ret_parts, cudaStream_t stream)
{
    compare_kernel<<<KG_ERROR_SUMS_PARTS, SUMS_THREADS, 0, stream>>>(
        (const T *)got->data, kg_tensor_unit(got), expected, scale, (uint64_t)kg_tensor_count(got), limits, ret_parts);
}

cudaError_t kg_kernel_compare(const kg_tensor *got, const float *expected, const float *scale,
                              struct kg_error_sums_limits limits, struct kg_error_sums *ret_parts, cudaStream_t stream)
{
    if (got->dtype == KG_F32)
        compare<float>(got, expected, scale, limits, ret_parts, stream);
    else if (got->dtype == KG_F16)
        compare<struct f16>(got, expected, scale, limits, ret_parts, stream);
    else if (got->dtype == KG_E4M3)
        compare<struct e4m3>(got, expected, scale, limits, ret_parts, stream);
    else
        compare<struct bf16>(got, expected, scale, limits, ret_parts, stream);
    return cudaGetLastError();
}

/* ---- delay ------------------------------------------------------------------------------------------------- */

static __device__ void spin(uint64_t cycles)
{
    long long start = clock64();
    while ((uint64_t)(clock64() - start) < cycles)
        ;
}

static __global__ void spin_kernel(uint64_t cycles)
{
    spin(cycles);
}

cudaError_t kg_kernel_spin(uint64_t cycles, cudaStream_t stream)
{
    spin_kernel<<<1, 1, 0, stream>>>(cycles);
    return cudaGetLastError();
}

/* ---- what disturbs a launch -------------------------------------------------------------------------------- */

#define SLOW_BLOCKS 8

/* A launch that asked to begin before this has ended, and then does not wait, gets its wish. */
static __global__ void copy_slowly_kernel(uint8_t *to, const uint8_t *from, uint64_t bytes, uint64_t cycles)
{
#if __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.launch_dependents;");
#endif
    spin(cycles);
    for (uint64_t i = first_item(); i < bytes / 16; i += item_stride())
        ((uint4 *)to)[i] = ((const uint4 *)from)[i];
    for (uint64_t i = bytes / 16 * 16 + first_item(); i < bytes; i += item_stride())
        to[i] = from[i];
}

cudaError_t kg_kernel_copy_slowly(void *to, const void *from, size_t bytes, uint64_t cycles, cudaStream_t stream)
{
    copy_slowly_kernel<<<SLOW_BLOCKS, THREADS, 0, stream>>>((uint8_t *)to, (const uint8_t *)from, bytes, cycles);
    return cudaGetLastError();
}

#define COMPETE_SLOTS 12 /* of shared memory a thread: 48 KiB a block */

/* Every thread has words and slots of its own. `laps`: words of a thread. */
static __global__ void compete_kernel(uint4 *data, uint64_t laps, uint64_t cycles)
{
    __shared__ uint4 slots[COMPETE_SLOTS][THREADS];
    const long long start = clock64();
    for (int i = 0; i < COMPETE_SLOTS; i++)
        slots[i][threadIdx.x] = make_uint4(0, 0, 0, 0);
    for (uint64_t i = 0; (uint64_t)(clock64() - start) < cycles; i++) {
        uint4 *word = data + first_item() + i % laps * item_stride();
        uint4 *slot = &slots[i % COMPETE_SLOTS][threadIdx.x];
        uint4 sum = *word;
        sum.x += slot->x + 1;
        *slot = sum;
        *word = sum;
    }
}

cudaError_t kg_kernel_compete(void *data, size_t bytes, int blocks, uint64_t cycles, cudaStream_t stream)
{
    uint64_t laps = bytes / sizeof(uint4) / ((uint64_t)blocks * THREADS);
    compete_kernel<<<(unsigned int)blocks, THREADS, 0, stream>>>((uint4 *)data, laps, cycles);
    return cudaGetLastError();
}

/* NaN in every dtype; volatile, as nobody reads it here. */
static __global__ void spoil_kernel(int words)
{
    extern __shared__ volatile uint32_t spoilt[];
    for (int i = threadIdx.x; i < words; i += blockDim.x)
        spoilt[i] = 0xffffffff;
}

/* Twice as many blocks as there is room for: where one ends early another may take its place. */
cudaError_t kg_kernel_spoil(int units, size_t shared_bytes, cudaStream_t stream)
{
    const int bytes = (int)shared_bytes;
    cudaError_t status = cudaFuncSetAttribute(spoil_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
    if (status != cudaSuccess)
        return status;
    spoil_kernel<<<2 * (unsigned int)units, 4 * THREADS, shared_bytes, stream>>>(bytes / 4);
    return cudaGetLastError();
}
