/* cpu_context.h -- the CPU as a device, open while a group of unit tests runs. */
#ifndef KG_CPU_CONTEXT_H
#define KG_CPU_CONTEXT_H

#include "device/device.h"

static kg_context *context;

static inline int open_device(void **state)
{
    (void)state;
    return kg_device_open(KG_CPU, 0, &context, NULL);
}

static inline int close_device(void **state)
{
    (void)state;
    context->ops->close(context);
    return 0;
}

#endif
