/* inputs.c -- a regime changes normal values in host memory, in single precision; what comes of it is rounded here, so
 * that every device is given the same bits. */
#include "measure/inputs.h"

#include <math.h>
#include <stdlib.h>

#include "base/random.h"

/* ---- elements ---- */

static float element_of(const kg_tensor *tensor, const void *data, int64_t i)
{
    if (tensor->dtype == KG_F32)
        return ((const float *)data)[i];
    if (tensor->dtype == KG_I32)
        return (float)((const int32_t *)data)[i];
    if (tensor->dtype == KG_E4M3)
        return kg_float_from_e4m3(((const uint8_t *)data)[i]);
    const uint16_t half = ((const uint16_t *)data)[i];
    return tensor->dtype == KG_F16 ? kg_float_from_f16(half) : kg_float_from_bf16(half);
}

static float largest_of(enum kg_dtype dtype)
{
    return kg_float_from_bits(dtype == KG_F32 ? 0x7f7fffff : dtype == KG_F16 ? 0x477fe000 : 0x7f7f0000);
}

static void round_to(enum kg_dtype dtype, const float *values, int64_t count, void *ret_data)
{
    const float largest = largest_of(dtype);
    float *f32 = ret_data;
    uint16_t *half = ret_data;
#pragma omp parallel for
    for (int64_t i = 0; i < count; i++) {
        const float value = values[i] > largest ? largest : values[i] < -largest ? -largest : values[i];
        if (dtype == KG_F32)
            f32[i] = value;
        else
            half[i] = dtype == KG_F16 ? kg_f16_from_float(value) : kg_bf16_from_float(value);
    }
}

int kg_tensor_read(kg_context *context, const kg_tensor *tensor, float *ret_values, kg_error *ret_error)
{
    const float unit = kg_tensor_unit(tensor);
    void *data = malloc(kg_tensor_bytes(tensor));
    if (!data)
        return kg_fail(ret_error, KG_ENOMEM, "no host memory for tensor %s", tensor->name);
    int status = context->ops->copy_to_host(context, data, tensor->data, kg_tensor_bytes(tensor), ret_error);
#pragma omp parallel for
    for (int64_t i = 0; i < (status ? 0 : kg_tensor_count(tensor)); i++)
        ret_values[i] = element_of(tensor, data, i) * unit;
    free(data);
    return status;
}

/* ---- tensors in host memory ---- */

static int add_room(kg_tensor *ret_own, const kg_tensor *tensor, kg_error *ret_error)
{
    *ret_own = *tensor;
    ret_own->dtype = KG_F32;
    ret_own->data = malloc((size_t)kg_tensor_count(tensor) * sizeof(float));
    return ret_own->data ? KG_OK : kg_fail(ret_error, KG_ENOMEM, "no host memory for tensor %s", tensor->name);
}

static bool is_drawn(const kg_tensor *tensor)
{
    return tensor->role == KG_INPUT && !tensor->given;
}

int kg_host_tensors_new(const struct kg_buffers *buffers, float outputs, struct kg_host_tensors *ret_tensors,
                        kg_error *ret_error)
{
    struct kg_host_tensors host = { 0 };
    int status = KG_OK;
    for (int i = 0; i < buffers->count && !status; i++) {
        status = add_room(&host.items[host.count++], &buffers->tensors[i], ret_error);
        if (status)
            break;
        float *values = host.items[i].data;
        if (host.items[i].role == KG_INPUT)
            status = kg_tensor_read(buffers->context, &buffers->tensors[i], values, ret_error);
        else
            for (int64_t j = 0; j < kg_tensor_count(&host.items[i]); j++)
                values[j] = outputs;
    }
    if (status)
        kg_host_tensors_done(&host);
    else
        *ret_tensors = host;
    return status;
}

void kg_host_tensors_done(struct kg_host_tensors *tensors)
{
    for (int i = 0; i < tensors->count; i++)
        free(tensors->items[i].data);
    *tensors = (struct kg_host_tensors){ 0 };
}

/* ---- drawing ---- */

static int put_input(const struct kg_buffers *buffers, int i, const void *data, kg_error *ret_error)
{
    const kg_tensor *tensor = &buffers->tensors[i];
    return buffers->context->ops->copy_from_host(buffers->context, tensor->data, data, kg_tensor_bytes(tensor),
                                                 ret_error);
}

static int put_values(const struct kg_buffers *buffers, int i, const float *values, kg_error *ret_error)
{
    const kg_tensor *tensor = &buffers->tensors[i];
    void *data = malloc(kg_tensor_bytes(tensor));
    if (!data)
        return kg_fail(ret_error, KG_ENOMEM, "no host memory for tensor %s", tensor->name);
    round_to(tensor->dtype, values, kg_tensor_count(tensor), data);
    int status = put_input(buffers, i, data, ret_error);
    free(data);
    return status;
}

/* The tensors of a call without data: what is drawn or given here gets its own. */
static struct kg_host_tensors without_data(const struct kg_buffers *buffers)
{
    struct kg_host_tensors host = { .count = buffers->count };
    for (int i = 0; i < buffers->count; i++) {
        host.items[i] = buffers->tensors[i];
        host.items[i].data = NULL;
    }
    return host;
}

static int draw_changed(const struct kg_case *of, const struct kg_buffers *buffers, kg_error *ret_error)
{
    struct kg_host_tensors host = without_data(buffers);
    int status = KG_OK;
    for (int i = 0; i < buffers->count && !status; i++) {
        if (!is_drawn(&host.items[i]))
            continue;
        status = add_room(&host.items[i], &buffers->tensors[i], ret_error);
        if (!status)
            kg_cpu_fill(&host.items[i], of->seed, (uint32_t)i);
    }
    if (!status)
        status = of->regime->change(of->regime->data, of->problem, of->seed, host.items, ret_error);
    for (int i = 0; i < buffers->count && !status; i++)
        if (is_drawn(&host.items[i]))
            status = put_values(buffers, i, host.items[i].data, ret_error);
    kg_host_tensors_done(&host);
    return status;
}

static int give(const struct kg_case *of, const struct kg_buffers *buffers, kg_error *ret_error)
{
    const kg_op *op = of->suite->op;
    struct kg_host_tensors host = without_data(buffers);
    int n_given = 0, status = KG_OK;
    for (int i = 0; i < buffers->count && !status; i++) {
        if (!host.items[i].given)
            continue;
        n_given++;
        host.items[i].data = calloc(1, kg_tensor_bytes(&host.items[i]));
        if (!host.items[i].data)
            status = kg_fail(ret_error, KG_ENOMEM, "no host memory for tensor %s", host.items[i].name);
    }
    if (!status && n_given)
        status = op->give(of->problem, host.items, ret_error);
    for (int i = 0; i < buffers->count && !status; i++)
        if (host.items[i].given)
            status = put_input(buffers, i, host.items[i].data, ret_error);
    kg_host_tensors_done(&host);
    return status;
}

int kg_inputs_fill(const struct kg_buffers *buffers, uint64_t seed, kg_error *ret_error)
{
    kg_context *context = buffers->context;
    int status = KG_OK;
    for (int i = 0; i < buffers->count && !status; i++)
        if (is_drawn(&buffers->tensors[i]))
            status = context->ops->fill(context, &buffers->tensors[i], seed, (uint32_t)i, ret_error);
    return status;
}

int kg_inputs_draw(const struct kg_case *of, const struct kg_buffers *buffers, kg_error *ret_error)
{
    int status = give(of, buffers, ret_error);
    if (!status && of->regime && of->regime->change)
        return draw_changed(of, buffers, ret_error);
    return status ? status : kg_inputs_fill(buffers, of->seed, ret_error);
}
