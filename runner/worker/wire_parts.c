/* wire_parts.c -- numbers, texts, devices and their states as JSON. */
#include "worker/wire_parts.h"

#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>

#include "base/json.h"

void kg_wire_add_u64(cJSON *object, const char *name, uint64_t value)
{
    char text[32];
    snprintf(text, sizeof text, "%" PRIu64, value);
    cJSON_AddStringToObject(object, name, text);
}

uint64_t kg_wire_get_u64(const cJSON *object, const char *name)
{
    const char *text = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(object, name));
    return text ? strtoull(text, NULL, 10) : 0;
}

double kg_wire_get_real(const cJSON *object, const char *name)
{
    double value = 0;
    kg_json_real(object, name, &value, NULL);
    return value;
}

/* Clamped: what came through the pipe may be anything. */
int kg_wire_get_int(const cJSON *object, const char *name)
{
    double value = kg_wire_get_real(object, name);
    return value >= INT_MIN && value <= INT_MAX ? (int)value : 0;
}

void kg_wire_get_text(const cJSON *object, const char *name, char *ret_text, size_t size)
{
    const char *text = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(object, name));
    snprintf(ret_text, size, "%s", text ? text : "");
}

/* In this order on both sides. */
cJSON *kg_wire_state_to_json(const struct kg_device_state *s)
{
    const double values[] = { s->sm_clock_mhz,
                              s->memory_clock_mhz,
                              s->temperature_c,
                              s->utilisation_pct,
                              s->power_w,
                              s->power_limit_w,
                              (double)s->throttle_reasons,
                              s->other_processes,
                              s->sm_clock_mhz_max,
                              s->power_limit_default_w,
                              s->virtualisation,
                              s->persistence_off,
                              s->mig };
    return cJSON_CreateDoubleArray(values, sizeof values / sizeof *values);
}

void kg_wire_state_from_json(const cJSON *array, struct kg_device_state *s)
{
    double v[13];
    for (int i = 0; i < 13; i++) {
        v[i] = cJSON_GetNumberValue(cJSON_GetArrayItem(array, i));
        if (!(fabs(v[i]) <= (i == 6 ? 0x1p53 : INT_MAX)))
            v[i] = -1;
    }
    *s = (struct kg_device_state){ (int)v[0], (int)v[1], (int)v[2], (int)v[3],  v[4],       v[5],      (int64_t)v[6],
                                   (int)v[7], (int)v[8], v[9],      (int)v[10], (int)v[11], (int)v[12] };
}

cJSON *kg_wire_device_to_json(const kg_device *d)
{
    cJSON *o = cJSON_CreateObject();
    cJSON_AddNumberToObject(o, "kind", d->kind);
    cJSON_AddNumberToObject(o, "index", d->index);
    cJSON_AddStringToObject(o, "name", d->name);
    cJSON_AddStringToObject(o, "arch", d->arch);
    cJSON_AddStringToObject(o, "uuid", d->uuid);
    cJSON_AddNumberToObject(o, "cc_major", d->cc_major);
    cJSON_AddNumberToObject(o, "cc_minor", d->cc_minor);
    cJSON_AddNumberToObject(o, "units", d->units);
    cJSON_AddNumberToObject(o, "clock_mhz_max", d->clock_mhz_max);
    cJSON_AddNumberToObject(o, "fp64_ratio", d->fp64_ratio);
    kg_wire_add_u64(o, "memory_bytes", d->memory_bytes);
    kg_wire_add_u64(o, "l2_bytes", d->l2_bytes);
    kg_wire_add_u64(o, "shared_bytes", d->shared_bytes);
    kg_json_add_real(o, "peak_flops", d->peak_flops);
    kg_json_add_real(o, "peak_bytes_per_s", d->peak_bytes_per_s);
    cJSON_AddNumberToObject(o, "driver_version", d->driver_version);
    cJSON_AddStringToObject(o, "driver", d->driver);
    return o;
}

void kg_wire_device_from_json(const cJSON *o, kg_device *d)
{
    d->kind = (enum kg_device_kind)kg_wire_get_real(o, "kind");
    d->index = kg_wire_get_int(o, "index");
    kg_wire_get_text(o, "name", d->name, sizeof d->name);
    kg_wire_get_text(o, "arch", d->arch, sizeof d->arch);
    kg_wire_get_text(o, "uuid", d->uuid, sizeof d->uuid);
    d->cc_major = kg_wire_get_int(o, "cc_major");
    d->cc_minor = kg_wire_get_int(o, "cc_minor");
    d->units = kg_wire_get_int(o, "units");
    d->clock_mhz_max = kg_wire_get_int(o, "clock_mhz_max");
    d->fp64_ratio = kg_wire_get_int(o, "fp64_ratio");
    d->memory_bytes = kg_wire_get_u64(o, "memory_bytes");
    d->l2_bytes = kg_wire_get_u64(o, "l2_bytes");
    d->shared_bytes = kg_wire_get_u64(o, "shared_bytes");
    d->peak_flops = kg_wire_get_real(o, "peak_flops");
    d->peak_bytes_per_s = kg_wire_get_real(o, "peak_bytes_per_s");
    d->driver_version = kg_wire_get_int(o, "driver_version");
    kg_wire_get_text(o, "driver", d->driver, sizeof d->driver);
}
