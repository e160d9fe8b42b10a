/* cpu_loops.c -- the CPU's loops, one for each kernel of device_kernels.cu; what an element gets is in random.h and
 * error_sums.h, shared by both. A new dtype gets a branch in fill, for inputs, and in load. */
#include "device/device_parts.h"
#include "base/random.h"
#include "device/error_sums.h"

#include <assert.h>
#include <math.h>
#include <string.h>

/* A function that is compiled for plain x86-64 and for AVX2, which is chosen where a machine has it. */
#if defined __x86_64__ && defined __GLIBC__ && !defined __clang__
#define KG_VECTORS __attribute__((target_clones("avx2", "default")))
#else
#define KG_VECTORS
#endif

#define CHUNK 1024 /* values, drawn before they are rounded: the loops by themselves vectorise */

KG_VECTORS static void draw(uint64_t key, int64_t first, int64_t n, float scale, float *ret_values)
{
#pragma omp simd
    for (int64_t i = 0; i < n; i++)
        ret_values[i] = kg_random_value(key, (uint64_t)(first + i), scale);
}

KG_VECTORS static void round_values(const kg_tensor *tensor, const float *values, int64_t first, int64_t n)
{
    float *f32 = tensor->data;
    uint16_t *half = tensor->data;
    if (tensor->dtype == KG_F32)
        memcpy(f32 + first, values, (size_t)n * sizeof *f32);
    else if (tensor->dtype == KG_F16)
#pragma omp simd
        for (int64_t i = 0; i < n; i++)
            half[first + i] = kg_f16_from_float(values[i]);
    else
#pragma omp simd
        for (int64_t i = 0; i < n; i++)
            half[first + i] = kg_bf16_from_float(values[i]);
}

void kg_cpu_fill(const kg_tensor *tensor, uint64_t seed, uint32_t ordinal)
{
    const int64_t count = kg_tensor_count(tensor);
    const uint64_t key = kg_random_key(seed, ordinal);
    const float scale = kg_random_scale(tensor->std != 0 ? tensor->std : 1);
#pragma omp parallel for if (count > 65536)
    for (int64_t first = 0; first < count; first += CHUNK) {
        const int64_t n = count - first < CHUNK ? count - first : CHUNK;
        float values[CHUNK];
        draw(key, first, n, scale, values);
        round_values(tensor, values, first, n);
    }
}

/* The pattern as it stands from this address on, twice. */
static uint64_t pattern_from(const void *data, uint32_t pattern)
{
    uint8_t bytes[8];
    uint64_t word;
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = kg_pattern_byte(pattern, (uintptr_t)data + i);
    memcpy(&word, bytes, sizeof word);
    return word;
}

void kg_cpu_paint(void *data, size_t bytes, uint32_t pattern)
{
    const uint64_t word = pattern_from(data, pattern);
    const size_t words = bytes / sizeof word;
    uint8_t *byte = data;
#pragma omp parallel for if (bytes > 65536)
    for (size_t i = 0; i < words; i++)
        memcpy(byte + i * sizeof word, &word, sizeof word);
    memcpy(byte + words * sizeof word, &word, bytes % sizeof word);
}

static uint64_t count_unlike(const uint8_t *byte, const void *pattern, size_t count)
{
    uint64_t unlike = 0;
    for (size_t i = 0; i < count; i++)
        unlike += byte[i] != ((const uint8_t *)pattern)[i];
    return unlike;
}

uint64_t kg_cpu_count_changed(const void *data, size_t bytes, uint32_t pattern)
{
    const uint64_t word = pattern_from(data, pattern);
    const size_t words = bytes / sizeof word;
    const uint8_t *byte = data;
    uint64_t changed = count_unlike(byte + words * sizeof word, &word, bytes % sizeof word);
#pragma omp parallel for reduction(+ : changed) if (bytes > 65536)
    for (size_t i = 0; i < words; i++)
        if (memcmp(byte + i * sizeof word, &word, sizeof word) != 0)
            changed += count_unlike(byte + i * sizeof word, &word, sizeof word);
    return changed;
}

uint64_t kg_cpu_digest(const void *data, size_t bytes)
{
    const uint8_t *byte = data;
    size_t words = bytes / 8;
    uint64_t sum = 0;
#pragma omp parallel for reduction(+ : sum) if (bytes > 65536)
    for (size_t i = 0; i < words; i++) {
        uint64_t word;
        memcpy(&word, byte + 8 * i, sizeof word);
        sum += kg_digest_word(word, i);
    }
    if (bytes % 8) {
        uint64_t word = 0;
        memcpy(&word, byte + 8 * words, bytes % 8);
        sum += kg_digest_word(word, words);
    }
    return sum;
}

static float load(const kg_tensor *tensor, int64_t index, bool *ret_unwritten)
{
    if (tensor->dtype == KG_F32) {
        float value = ((const float *)tensor->data)[index];
        *ret_unwritten = kg_float_bits(value) == 0xffffffff;
        return value;
    }
    if (tensor->dtype == KG_E4M3) {
        uint8_t byte = ((const uint8_t *)tensor->data)[index];
        *ret_unwritten = byte == 0xff;
        return kg_float_from_e4m3(byte);
    }
    uint16_t half = ((const uint16_t *)tensor->data)[index];
    *ret_unwritten = half == 0xffff;
    return tensor->dtype == KG_F16 ? kg_float_from_f16(half) : kg_float_from_bf16(half);
}

void kg_cpu_compare(const kg_tensor *got, const kg_tensor *expected, const kg_tensor *scale, const kg_gates *gates,
                    struct kg_comparison *ret_comparison)
{
    assert(expected->dtype == KG_F32);
    const float *scales = scale ? scale->data : NULL, *right = expected->data;
    int64_t count = kg_tensor_count(got), part_size = (count + KG_ERROR_SUMS_PARTS - 1) / KG_ERROR_SUMS_PARTS;
    struct kg_error_sums_limits limits = { gates->bad_abs, gates->bad_rel };
    struct kg_error_sums parts[KG_ERROR_SUMS_PARTS];
    float unit = kg_tensor_unit(got);
#pragma omp parallel for
    for (int part = 0; part < KG_ERROR_SUMS_PARTS; part++) {
        int64_t first = part * part_size, end = first + part_size < count ? first + part_size : count;
        struct kg_error_sums sums = { 0 };
        for (int64_t i = first; i < end; i++) {
            struct kg_error_sums_item item = { (uint64_t)i, 0, right[i], scales ? scales[i] : INFINITY, false };
            item.got = load(got, i, &item.unwritten) * unit;
            kg_error_sums_add(&sums, &item, &limits);
        }
        parts[part] = sums;
    }
    kg_error_sums_finish(parts, KG_ERROR_SUMS_PARTS, ret_comparison);
}
