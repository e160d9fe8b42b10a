/* allocations.h -- the buffers that an open device has handed out, so that closing it frees what nobody released.
 * Used by the implementations of device.h only. */
#ifndef KG_ALLOCATIONS_H
#define KG_ALLOCATIONS_H

#include "kgate.h"

struct kg_allocations {
    void **items;
    size_t count, capacity;
};

/* Makes room for one more, so that the next add cannot fail. */
int kg_allocations_reserve(struct kg_allocations *allocations, kg_error *ret_error);
void kg_allocations_add(struct kg_allocations *allocations, void *data);
bool kg_allocations_remove(struct kg_allocations *allocations, const void *data); /* false: not one of them */
void kg_allocations_done(struct kg_allocations *allocations);                     /* frees the list, not the buffers */

#endif
