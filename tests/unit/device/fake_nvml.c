/* fake_nvml.c -- a libnvidia-ml.so.1 for test_nvml.c: one GPU whose readings stand here. $FAKE_NVML lists functions
 * that are not supported, each between commas. Prototypes are NVML's. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NOT_SUPPORTED = 3, NOT_FOUND = 6, CLOCK_SM = 1 };

static int gpu; /* its address is the device */

static int missing(const char *name)
{
    const char *list = getenv("FAKE_NVML");
    char word[64];
    (void)snprintf(word, sizeof word, ",%s,", name);
    return list && strstr(list, word);
}

#define EXPORT(name, ...)                                                                                              \
    __attribute__((visibility("default"))) int name(__VA_ARGS__);                                                      \
    int name(__VA_ARGS__)

#define READING(name, value)                                                                                           \
    EXPORT(name, void *device, unsigned int *ret)                                                                      \
    {                                                                                                                  \
        if (device != &gpu || missing(#name))                                                                          \
            return NOT_SUPPORTED;                                                                                      \
        *ret = (value);                                                                                                \
        return 0;                                                                                                      \
    }

READING(nvmlDeviceGetPowerUsage, 410500)
READING(nvmlDeviceGetEnforcedPowerLimit, 500000)
READING(nvmlDeviceGetPowerManagementDefaultLimit, 700000)
READING(nvmlDeviceGetVirtualizationMode, 2)
READING(nvmlDeviceGetPersistenceMode, 0)

EXPORT(nvmlInit_v2, void)
{
    return missing("nvmlInit_v2") ? NOT_SUPPORTED : 0;
}

EXPORT(nvmlShutdown, void)
{
    return 0;
}

EXPORT(nvmlDeviceGetHandleByPciBusId_v2, const char *bus_id, void **ret_device)
{
    if (strcmp(bus_id, "0000:01:00.0") != 0)
        return NOT_FOUND;
    *ret_device = &gpu;
    return 0;
}

EXPORT(nvmlDeviceGetMigMode, void *device, unsigned int *ret_now, unsigned int *ret_pending)
{
    if (device != &gpu || missing("nvmlDeviceGetMigMode"))
        return NOT_SUPPORTED;
    *ret_now = 1;
    *ret_pending = 0;
    return 0;
}

EXPORT(nvmlDeviceGetMaxClockInfo, void *device, int which, unsigned int *ret_mhz)
{
    if (device != &gpu || which != CLOCK_SM)
        return NOT_SUPPORTED;
    *ret_mhz = 1980;
    return 0;
}

EXPORT(nvmlDeviceGetCurrentClocksThrottleReasons, void *device, unsigned long long *ret_reasons) /* the older name */
{
    if (device != &gpu)
        return NOT_SUPPORTED;
    *ret_reasons = 0x20;
    return 0;
}

EXPORT(nvmlSystemGetNVMLVersion, char *ret_version, unsigned int size)
{
    return snprintf(ret_version, size, "12.580.159.03") < 0;
}
