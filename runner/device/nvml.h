/* nvml.h -- clocks and health of one NVIDIA GPU through libnvidia-ml.so.1, opened when first needed. Reads only; what
 * cannot be read is -1, and a missing library makes everything -1. */
#ifndef KG_NVML_H
#define KG_NVML_H

#include "device/device.h"

struct kg_nvml {
    void *library;                /* NULL: not here */
    void *device;                 /* NULL: NVML does not know this GPU */
    struct kg_device_state fixed; /* what does not change while a process lives: read once */
};

/* `bus_id` as cudaDeviceGetPCIBusId gives it. Never fails: what is missing stays NULL. */
void kg_nvml_init(struct kg_nvml *nvml, const char *bus_id);
void kg_nvml_done(struct kg_nvml *nvml);

/* `ours`: so many of the GPU's compute processes are this run's. */
void kg_nvml_state(const struct kg_nvml *nvml, int ours, struct kg_device_state *ret_state);

void kg_nvml_driver(const struct kg_nvml *nvml, char *ret_version, size_t size);  /* "" where it is not known */
void kg_nvml_version(const struct kg_nvml *nvml, char *ret_version, size_t size); /* likewise */
int kg_nvml_clock_mhz_max(const struct kg_nvml *nvml);                            /* -1 likewise */

#endif
