/* host_regimes.c -- regimes for any op: what an element becomes, by its place and its normal value.
 *
 * Another one is a function of an element and a row of the table at the end; docs/regimes.md says what each is for.
 * Values that must be exact have 8 significant bits, as BF16 has.
 */
#include <math.h>

#include "base/random.h"
#include "plan/regime.h"

struct input {
    const kg_tensor *tensor;
    float std;
    uint64_t key;           /* of its own draws */
    int64_t last;           /* the last dimension */
    int64_t rows, channels; /* the last two; one dimension counts as rows */
};

typedef float value_fn(const struct input *input, int64_t index, float normal);

static uint64_t draw(const struct input *input, uint64_t number)
{
    return kg_mix64(input->key + 0x9e3779b97f4a7c15u * number);
}

static int64_t row_of(const struct input *input, int64_t index)
{
    return index / input->channels % input->rows;
}

static float one(const struct input *input, int64_t index, float normal)
{
    (void)input, (void)index, (void)normal;
    return 1;
}

/* In magnitude half a standard deviation to two. */
static float constant(const struct input *input, int64_t index, float normal)
{
    uint64_t drawn = draw(input, 0);
    (void)index, (void)normal;
    return (float)(32 + (drawn >> 1) % 97) / 64 * (drawn & 1 ? -input->std : input->std);
}

/* The place's numbers times a factor each, modulo a prime: a step along any dimension, or one of a power of two,
 * changes the value, and so does exchanging two numbers that differ. */
static float coded(const struct input *input, int64_t index, float normal)
{
    static const int64_t factors[KG_MAX_RANK] = { 3, 7, 23, 31, 101 }, prime = 251;
    int64_t code = (int64_t)(draw(input, 1) % (uint64_t)prime);
    int64_t common = 1 + (int64_t)(draw(input, 2) % (uint64_t)(prime - 1));
    (void)normal;
    for (int i = input->tensor->rank - 1; i >= 0; i--) {
        code += index % input->tensor->dims[i] % prime * factors[i] * common;
        index /= input->tensor->dims[i];
    }
    return (float)(code % prime - prime / 2) / 64;
}

static float outlier(const struct input *input, int64_t index, float normal)
{
    enum { EVERY = 29 };
    int64_t channel = index % input->last;
    float mean = 1;
    if (channel % EVERY == (int64_t)(draw(input, 3) % EVERY)) {
        uint64_t drawn = draw(input, 5 + (uint64_t)channel);
        mean += (float)(10 + (drawn >> 1) % 91) * (drawn & 1 ? -1.0f : 1.0f);
    }
    if (channel == (int64_t)(draw(input, 4) % (uint64_t)input->last))
        mean = 300;
    return normal + mean * input->std;
}

/* The square of 1024 times 4.9, the largest normal value, is 2.5e7: FP32 sums 1e31 of them. */
static float large(const struct input *input, int64_t index, float normal)
{
    (void)input, (void)index;
    return normal * 1024;
}

/* Subnormal as F16 in even places, as F32 and BF16 in odd ones, whichever the tensor is. */
static float tiny(const struct input *input, int64_t index, float normal)
{
    return normal / input->std * (index % 2 ? 0x1p-129f : 0x1p-17f);
}

static float sparse(const struct input *input, int64_t index, float normal)
{
    return draw(input, (uint64_t)index) % 8 ? 0 : normal;
}

/* -2 to 2 standard deviations along the rows, and a quarter of the normal value. */
static float ascending(const struct input *input, int64_t index, float normal)
{
    float place = ((float)row_of(input, index) + 0.5f) / (float)input->rows;
    return input->std * (4 * place - 2) + normal / 4;
}

static float descending(const struct input *input, int64_t index, float normal)
{
    return -ascending(input, index, normal);
}

static float alternating(const struct input *input, int64_t index, float normal)
{
    int64_t places = row_of(input, index) + index % input->channels;
    return places % 2 ? -fabsf(normal) : fabsf(normal);
}

static struct input input_of(const kg_tensor *tensor, uint64_t seed, uint32_t ordinal)
{
    const int64_t last = tensor->rank > 0 ? tensor->dims[tensor->rank - 1] : 1;
    return (struct input){ .tensor = tensor,
                           .std = tensor->std != 0 ? (float)tensor->std : 1,
                           .key = kg_mix64(~kg_random_key(seed, ordinal)),
                           .last = last,
                           .rows = tensor->rank > 1 ? tensor->dims[tensor->rank - 2] : last,
                           .channels = tensor->rank > 1 ? last : 1 };
}

/* A function's address, since data is no place for the function itself. */
struct values {
    value_fn *value;
};

static int change(const void *data, const void *problem, uint64_t seed, const kg_tensor *tensors, kg_error *ret_error)
{
    value_fn *value = ((const struct values *)data)->value;
    (void)problem, (void)ret_error;
    for (uint32_t t = 0; t < KG_MAX_TENSORS; t++) {
        if (tensors[t].role != KG_INPUT || !tensors[t].data)
            continue;
        const struct input input = input_of(&tensors[t], seed, t);
        int64_t count = kg_tensor_count(&tensors[t]);
        float *elements = tensors[t].data;
#pragma omp parallel for if (count > 65536)
        for (int64_t i = 0; i < count; i++)
            elements[i] = value(&input, i, elements[i]);
    }
    return KG_OK;
}

/* clang-format off */
#define REGIME(called, function, what)                                                                                 \
    { .name = called, .help = what, .data = &(const struct values){ function }, .change = change }
/* clang-format on */

static const kg_regime items[] = {
    { .name = "poison", .help = "normal inputs; what no element owns is the largest finite value instead of NaN" },
    REGIME("ones", one, "every element is 1"),
    REGIME("constant", constant, "each input is one constant"),
    REGIME("coded", coded, "each element is a small code of its place"),
    REGIME("outliers", outlier, "mean 1; some channels are off by 10 to 100 standard deviations, one by 300"),
    REGIME("large", large, "1024 times normal"),
    REGIME("tiny", tiny, "subnormal"),
    REGIME("sparse", sparse, "seven elements of eight are 0"),
    REGIME("ascending", ascending, "rising along the rows, the last dimension but one"),
    REGIME("descending", descending, "falling along the rows"),
    REGIME("alternating", alternating, "signs like a chessboard's fields, in the last two dimensions"),
};

const kg_regimes kg_host_regimes = KG_LIST(items);
