/* device.c -- finds and opens devices by kind, and names their architecture. A new kind of device adds a case to the
 * two switches and an implementation of the table in device.h. */
#include "device.h"

#include <ctype.h>
#include <string.h>

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
