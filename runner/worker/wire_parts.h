/* wire_parts.h -- what several messages of the wire hold. What is read may be anything: a number that is not there or
 * does not fit is 0, a text that is not there is empty. */
#ifndef KG_WIRE_PARTS_H
#define KG_WIRE_PARTS_H

#include "device/device.h"
#include "base/json.h"

void kg_wire_add_u64(cJSON *object, const char *name, uint64_t value); /* as text: all its digits */
uint64_t kg_wire_get_u64(const cJSON *object, const char *name);
double kg_wire_get_real(const cJSON *object, const char *name);
int kg_wire_get_int(const cJSON *object, const char *name);
void kg_wire_get_text(const cJSON *object, const char *name, char *ret_text, size_t size);

cJSON *kg_wire_state_to_json(const struct kg_device_state *state);
void kg_wire_state_from_json(const cJSON *array, struct kg_device_state *ret_state);
cJSON *kg_wire_device_to_json(const kg_device *device);
void kg_wire_device_from_json(const cJSON *object, kg_device *ret_device);

#endif
