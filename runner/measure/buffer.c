/* buffer.c -- guarded tensors: what a kernel writes outside them, or fails to write inside, shows. */
#include "measure/buffer.h"

#include "base/random.h"

static size_t data_room(const kg_tensor *tensor)
{
    return (kg_tensor_bytes(tensor) + 255) / 256 * 256;
}

static size_t block_bytes(const kg_tensor *tensor)
{
    return data_room(tensor) + (size_t)2 * KG_GUARD_BYTES;
}

/* From the last byte of the data, not from its padding: a write one past the end counts. */
static size_t tail_bytes(const kg_tensor *tensor)
{
    return data_room(tensor) - kg_tensor_bytes(tensor) + KG_GUARD_BYTES;
}

/* A finite one. */
static const uint32_t largest[] = {
    [KG_F32] = 0x7f7fffff, [KG_F16] = 0x7bff7bff, [KG_BF16] = 0x7f7f7f7f, [KG_E4M3] = 0x7e7e7e7e, [KG_I32] = 0x7fffffff
};

static const uint32_t lowest[] = {
    [KG_F32] = 0xff7fffff, [KG_F16] = 0xfbfffbff, [KG_BF16] = 0xff7fff7f, [KG_E4M3] = 0xfefefefe, [KG_I32] = 0
};

/* A NaN that arithmetic does not make, so that it is a canary too; e4m3 has but the two. A workspace holds what its
 * backend likes: f16's largest is one of over 1e36 as bf16 or f32. */
static uint32_t guard_pattern(const kg_tensor *tensor, enum kg_guards guards)
{
    const enum kg_dtype dtype = tensor->role == KG_WORKSPACE ? KG_F16 : tensor->dtype;
    if (guards != KG_GUARDS_NAN)
        return guards == KG_GUARDS_LARGEST ? largest[dtype] : lowest[dtype];
    return tensor->dtype == KG_E4M3 ? 0xff7fff7f : 0xffa5ffa5;
}

/* Before and after the data. */
static void guard_bands(const struct kg_buffers *b, int i, struct kg_span ret_bands[2])
{
    const kg_tensor *tensor = &b->tensors[i];
    const uint32_t pattern = guard_pattern(tensor, b->guards);
    ret_bands[0] = (struct kg_span){ b->blocks[i], KG_GUARD_BYTES, pattern };
    ret_bands[1] = (struct kg_span){ (char *)tensor->data + kg_tensor_bytes(tensor), tail_bytes(tensor), pattern };
}

static int paint_guards(const struct kg_buffers *b, int i, kg_error *ret_error)
{
    struct kg_span bands[2];
    int status = KG_OK;
    guard_bands(b, i, bands);
    for (int j = 0; j < 2 && !status; j++)
        status = b->context->ops->paint(b->context, (void *)bands[j].data, bands[j].bytes, bands[j].pattern, ret_error);
    return status;
}

static int allocate_one(struct kg_buffers *b, int i, kg_error *ret_error)
{
    const struct kg_device_ops *ops = b->context->ops;
    kg_tensor *tensor = &b->tensors[i];
    int status = ops->allocate(b->context, block_bytes(tensor), &b->blocks[i], ret_error);
    if (status)
        return status;
    tensor->data = (char *)b->blocks[i] + KG_GUARD_BYTES;
    return paint_guards(b, i, ret_error);
}

int kg_buffers_new(kg_context *context, const kg_tensor *tensors, int count, enum kg_guards guards,
                   struct kg_buffers *ret_buffers, kg_error *ret_error)
{
    struct kg_buffers b = { .context = context, .guards = guards };
    for (int i = 0; i < count; i++) {
        b.tensors[i] = tensors[i];
        b.count = i + 1;
        int status = allocate_one(&b, i, ret_error);
        if (status) {
            kg_buffers_done(&b);
            return status;
        }
    }
    *ret_buffers = b;
    return KG_OK;
}

void kg_buffers_done(struct kg_buffers *buffers)
{
    for (int i = 0; i < buffers->count; i++)
        if (buffers->blocks[i])
            buffers->context->ops->release(buffers->context, buffers->blocks[i]);
    *buffers = (struct kg_buffers){ 0 };
}

int kg_buffers_poison(const struct kg_buffers *buffers, kg_error *ret_error)
{
    int status = KG_OK;
    for (int i = 0; i < buffers->count && !status; i++) {
        const kg_tensor *tensor = &buffers->tensors[i];
        const bool output = tensor->role == KG_OUTPUT || buffers->guards == KG_GUARDS_NAN;
        if (tensor->role != KG_INPUT)
            status =
                buffers->context->ops->paint(buffers->context, tensor->data, kg_tensor_bytes(tensor),
                                             output ? KG_POISON : guard_pattern(tensor, buffers->guards), ret_error);
    }
    return status;
}

int kg_buffers_seal_inputs(const struct kg_buffers *buffers, kg_error *ret_error)
{
    const struct kg_device_ops *ops = buffers->context->ops;
    int status = KG_OK;
    for (int i = 0; i < buffers->count && !status && ops->seal; i++)
        if (buffers->tensors[i].role == KG_INPUT)
            status = ops->seal(buffers->context, buffers->blocks[i], block_bytes(&buffers->tensors[i]), ret_error);
    return status;
}

bool kg_buffers_unseal_inputs(const struct kg_buffers *buffers)
{
    const struct kg_device_ops *ops = buffers->context->ops;
    return ops->unseal && ops->unseal(buffers->context);
}

int kg_buffers_paint_guards(const struct kg_buffers *buffers, kg_error *ret_error)
{
    int status = KG_OK;
    for (int i = 0; i < buffers->count && !status; i++)
        status = paint_guards(buffers, i, ret_error);
    return status;
}

int kg_buffers_check_guards(const struct kg_buffers *buffers, kg_error *ret_error)
{
    struct kg_span bands[2 * KG_MAX_TENSORS];
    uint64_t changed[2 * KG_MAX_TENSORS];
    for (int i = 0; i < buffers->count; i++)
        guard_bands(buffers, i, bands + 2 * i);
    int status = buffers->context->ops->count_changed(buffers->context, bands, 2 * buffers->count, changed, ret_error);
    for (int i = 0; i < buffers->count && !status; i++)
        if (changed[2 * i] || changed[2 * i + 1])
            return kg_fail(ret_error, KG_EDEVICE, "wrote outside %s: %llu bytes changed before it, %llu after it",
                           buffers->tensors[i].name, (unsigned long long)changed[2 * i],
                           (unsigned long long)changed[2 * i + 1]);
    return status;
}

_Static_assert(2 * KG_MAX_TENSORS <= KG_MAX_SPANS, "guard bands of all tensors are looked at together");

int kg_buffers_digest(const struct kg_buffers *buffers, enum kg_role role, uint64_t *ret_digest, kg_error *ret_error)
{
    uint64_t digest = 0;
    for (int i = 0; i < buffers->count; i++) {
        const kg_tensor *tensor = &buffers->tensors[i];
        uint64_t one = 0;
        if (tensor->role != role)
            continue;
        int status =
            buffers->context->ops->digest(buffers->context, tensor->data, kg_tensor_bytes(tensor), &one, ret_error);
        if (status)
            return status;
        digest = kg_mix64(digest + one + (uint64_t)i);
    }
    *ret_digest = digest;
    return KG_OK;
}

int kg_buffers_copy_inputs(const struct kg_buffers *to, const struct kg_buffers *from, kg_error *ret_error)
{
    int status = KG_OK;
    for (int i = 0; i < to->count && !status; i++)
        if (to->tensors[i].role == KG_INPUT)
            status = to->context->ops->copy(to->context, to->tensors[i].data, from->tensors[i].data,
                                            kg_tensor_bytes(&to->tensors[i]), ret_error);
    return status;
}

enum { STRIPES = 61 }; /* a prime: dimensions' ends lie in stripes of all kinds */

int kg_buffers_poison_stripes(const struct kg_buffers *buffers, kg_error *ret_error)
{
    int status = KG_OK;
    for (int i = 0; i < buffers->count; i++) {
        const kg_tensor *tensor = &buffers->tensors[i];
        const size_t bytes = kg_tensor_bytes(tensor), stripe = (bytes / STRIPES + 16) / 16 * 16;
        if (tensor->role != KG_INPUT || tensor->given || tensor->dtype == KG_I32)
            continue;
        for (size_t k = 1; (k + 1) * stripe < bytes && !status; k += 2)
            status = buffers->context->ops->paint(buffers->context, (char *)tensor->data + k * stripe, stripe,
                                                  k % 4 == 1 ? KG_POISON : largest[tensor->dtype], ret_error);
    }
    return status;
}

void *kg_buffers_block(const kg_tensor *tensor, size_t *ret_bytes)
{
    *ret_bytes = block_bytes(tensor);
    return (char *)tensor->data - KG_GUARD_BYTES;
}

size_t kg_buffers_bytes(const struct kg_buffers *buffers)
{
    size_t bytes = 0;
    for (int i = 0; i < buffers->count; i++)
        bytes += kg_tensor_bytes(&buffers->tensors[i]);
    return bytes;
}

uint64_t kg_buffers_room(const kg_tensor *tensors, int count)
{
    uint64_t bytes = 0;
    for (int i = 0; i < count; i++)
        bytes += block_bytes(&tensors[i]);
    return bytes;
}
