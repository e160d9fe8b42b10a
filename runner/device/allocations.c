/* allocations.c -- a list of buffers. Few at a time (a fixture's tensors, their rings), so a search is a loop. */
#include "device/device_parts.h"

#include <assert.h>
#include <stdlib.h>

int kg_allocations_reserve(struct kg_allocations *allocations, kg_error *ret_error)
{
    if (allocations->count < allocations->capacity)
        return KG_OK;
    size_t capacity = allocations->capacity ? 2 * allocations->capacity : 32;
    struct kg_allocation *items = realloc(allocations->items, capacity * sizeof *items);
    if (!items)
        return kg_fail(ret_error, KG_ENOMEM, "no host memory for a list of %zu buffers", capacity);
    allocations->items = items;
    allocations->capacity = capacity;
    return KG_OK;
}

void kg_allocations_add(struct kg_allocations *allocations, void *data, size_t bytes)
{
    assert(allocations->count < allocations->capacity);
    allocations->items[allocations->count++] = (struct kg_allocation){ data, bytes };
    allocations->bytes += bytes;
}

static struct kg_allocation take_at(struct kg_allocations *allocations, size_t i)
{
    const struct kg_allocation taken = allocations->items[i];
    allocations->items[i] = allocations->items[--allocations->count];
    allocations->bytes -= taken.bytes;
    return taken;
}

struct kg_allocation kg_allocations_remove(struct kg_allocations *allocations, const void *data)
{
    for (size_t i = 0; i < allocations->count; i++)
        if (allocations->items[i].data == data)
            return take_at(allocations, i);
    return (struct kg_allocation){ NULL, 0 };
}

struct kg_allocation kg_allocations_take(struct kg_allocations *allocations, size_t bytes)
{
    for (size_t i = 0; i < allocations->count; i++)
        if (allocations->items[i].bytes == bytes)
            return take_at(allocations, i);
    return (struct kg_allocation){ NULL, 0 };
}

void kg_allocations_done(struct kg_allocations *allocations)
{
    free(allocations->items);
    *allocations = (struct kg_allocations){ 0 };
}
