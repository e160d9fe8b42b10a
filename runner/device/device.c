/* device.c -- finds and opens devices by kind, and names their architecture. A new kind of device adds a case to the
 * two switches and an implementation of the table in device.h. */
#include "device/device.h"

#include <ctype.h>
#include <string.h>

#include "base/clock.h"
#include "base/text.h"

#ifndef KG_WITH_CUDA
#define KG_WITH_CUDA 0
#endif

void kg_device_arch_name(const char *name, char *ret_arch, size_t size)
{
    static const char vendor[] = "nvidia ";
    size_t length = 0;
    while (isspace((unsigned char)*name))
        name++;
    if (strncasecmp(name, vendor, sizeof vendor - 1) == 0)
        name += sizeof vendor - 1;
    for (; *name && length + 1 < size; name++) {
        unsigned char c = (unsigned char)*name;
        ret_arch[length++] = (char)(c < 128 && isalnum(c) ? tolower(c) : '_');
    }
    while (length > 0 && ret_arch[length - 1] == '_')
        length--;
    if (size > 0)
        ret_arch[length] = '\0';
    if (length == 0)
        (void)snprintf(ret_arch, size, "unknown");
}

/* "64x8" of 64, 8, 1. */
static void add_extent(const char *name, const int extent[3], char *text, size_t size)
{
    kg_text_add(text, size, " %s %d", name, extent[0]);
    for (int i = 1; i < (extent[2] > 1 ? 3 : extent[1] > 1 ? 2 : 1); i++)
        kg_text_add(text, size, "x%d", extent[i]);
}

static void add_nodes(int count, const char *name, char *text, size_t size)
{
    if (count)
        kg_text_join(text, size, "; ", "%d %s%s", count, name, count == 1 ? "" : "s");
}

void kg_launch_format(const struct kg_launch_info *info, char *ret_text, size_t size)
{
    ret_text[0] = '\0';
    for (int i = 0; i < info->n_launched; i++) {
        const struct kg_launched *kernel = &info->launched[i];
        char text[160] = "";
        add_extent("grid", kernel->grid, text, sizeof text);
        add_extent("block", kernel->block, text, sizeof text);
        if (kernel->cluster[0])
            add_extent("cluster", kernel->cluster, text, sizeof text);
        if (kernel->shared_bytes)
            kg_text_add(text, sizeof text, " shared %d", kernel->shared_bytes);
        if (kernel->arguments > 0)
            kg_text_add(text, sizeof text, " " KG_LAUNCH_ARGUMENTS "%08x", (unsigned)kernel->arguments);
        kg_text_join(ret_text, size, "; ", "%s", text + 1);
    }
    add_nodes(info->kernels - info->n_launched, "more kernel", ret_text, size);
    add_nodes(info->memory_nodes, "memory node", ret_text, size);
    add_nodes(info->other_nodes, "other node", ret_text, size);
    add_nodes(info->early_starts, "early start", ret_text, size);
    if (!*ret_text)
        (void)snprintf(ret_text, size, "host");
    if (info->given)
        kg_text_join(ret_text, size, "; ", KG_LAUNCH_GIVEN "%08x", (unsigned)info->given);
    if (info->staged)
        kg_text_join(ret_text, size, "; ", KG_LAUNCH_STAGED "%08x", (unsigned)info->staged);
}

int kg_device_probe(enum kg_device_kind kind, kg_device *ret_devices, int max, int *ret_count, kg_error *ret_error)
{
    switch (kind) {
    case KG_CPU:
        return kg_cpu_probe(ret_devices, max, ret_count, ret_error);
    case KG_CUDA:
#if KG_WITH_CUDA
        return kg_cuda_probe(ret_devices, max, ret_count, ret_error);
#else
        return kg_fail(ret_error, KG_EUNSUPPORTED, "this build has no CUDA");
#endif
    }
    return kg_fail(ret_error, KG_EINVAL, "no device kind %d", (int)kind);
}

struct kg_device_state kg_device_state_unknown(void)
{
    return (struct kg_device_state){
        .sm_clock_mhz = -1,
        .memory_clock_mhz = -1,
        .temperature_c = -1,
        .utilisation_pct = -1,
        .power_w = -1,
        .power_limit_w = -1,
        .throttle_reasons = -1,
        .other_processes = -1,
        .sm_clock_mhz_max = -1,
        .power_limit_default_w = -1,
        .virtualisation = -1,
        .persistence_off = -1,
        .mig = -1,
    };
}

/* Painting is work enough for the clocks to rise. */
#define WORK_S 0.3

static void put_to_work(kg_context *context)
{
    enum { BYTES = 64 << 20 };
    void *data = NULL;
    int status = context->ops->allocate(context, BYTES, &data, NULL);
    const double end_s = kg_now_s() + WORK_S;
    do {
        if (!status)
            status = context->ops->paint(context, data, BYTES, KG_POISON, NULL);
    } while (!status && kg_now_s() < end_s);
}

void kg_device_health(enum kg_device_kind kind, int index, bool work, struct kg_device_health *ret_health)
{
    struct kg_device_health health = { .idle = kg_device_state_unknown(), .work = kg_device_state_unknown() };
    kg_context *context = NULL;
    if (kind == KG_CPU)
        kg_cpu_health(&health);
#if KG_WITH_CUDA
    if (kind == KG_CUDA)
        kg_cuda_health(index, &health);
#endif
    bool others = health.idle.other_processes > 0 || health.idle.utilisation_pct > 0;
    if (work && !others && kg_device_open(kind, index, &context, NULL) == KG_OK) {
        put_to_work(context);
        context->ops->state(context, &health.work);
        context->ops->close(context);
    }
    *ret_health = health;
}

int kg_device_open(enum kg_device_kind kind, int index, kg_context **ret_context, kg_error *ret_error)
{
    switch (kind) {
    case KG_CPU:
        return kg_cpu_open(index, ret_context, ret_error);
    case KG_CUDA:
#if KG_WITH_CUDA
        return kg_cuda_open(index, ret_context, ret_error);
#else
        return kg_fail(ret_error, KG_EUNSUPPORTED, "this build has no CUDA");
#endif
    }
    return kg_fail(ret_error, KG_EINVAL, "no device kind %d", (int)kind);
}

int kg_device_measure(kg_context *context, kg_window *const *order, int count, double *ret_us, kg_error *ret_error)
{
    int status = context->ops->enqueue(context, order, count, ret_error);
    return status ? status : context->ops->collect(context, ret_us, ret_error);
}
