/* cuda_probe.c -- which CUDA devices there are and what each is. Works without a driver: the runtime is linked
 * statically and looks for it at the first call. A new compute capability gets a row in `rates`. */
#include "device/device_cuda.h"

#include <string.h>

int kg_cuda_check(cudaError_t status, const char *what, kg_error *ret_error)
{
    if (status == cudaSuccess)
        return KG_OK;
    (void)cudaGetLastError();
    return kg_fail(ret_error, status == cudaErrorMemoryAllocation ? KG_ENOMEM : KG_EDEVICE, "%s: %s", what,
                   cudaGetErrorString(status));
}

/* Dense FP16 FLOP a clock of one multiprocessor's tensor cores; 0: not known. From the published rates of one card of
 * each, over its multiprocessors and boost clock. GeForce cards accumulating in FP16 set the rate of 8.6, 8.9 and 12.x;
 * with FP32 they reach half of it. */
static int flops_per_clock(int cc_major, int cc_minor)
{
    static const struct {
        int cc, flops;
    } rates[] = {
        { 75, 1024 },  /* T4 */
        { 80, 2048 },  /* A100: 312 TFLOP/s, 108 at 1.41 GHz */
        { 86, 1024 },  /* A10, RTX 3090 */
        { 87, 2048 },  /* Orin */
        { 89, 1024 },  /* L4, L40S, RTX 4090: 330, 128 at 2.52 GHz */
        { 90, 4096 },  /* H100, H200: 989, 132 at 1.83 GHz */
        { 100, 8192 }, /* B200: 2250, 148 at 1.85 GHz */
        { 103, 8192 }, /* B300 */
        { 120, 1024 }, /* RTX 5090: 419, 170 at 2.41 GHz */
        { 121, 1024 }, /* GB10 */
    };
    for (size_t i = 0; i < sizeof rates / sizeof *rates; i++)
        if (rates[i].cc == 10 * cc_major + cc_minor)
            return rates[i].flops;
    return 0;
}

static int attribute(int index, enum cudaDeviceAttr which)
{
    int value;
    if (cudaDeviceGetAttribute(&value, which, index) == cudaSuccess)
        return value;
    (void)cudaGetLastError();
    return 0;
}

static void format_uuid(const struct cudaDeviceProp *properties, char *ret_uuid, size_t size)
{
    bool mig = strstr(properties->name, " MIG ") != NULL;
    size_t length = (size_t)snprintf(ret_uuid, size, mig ? "MIG" : "GPU");
    for (int i = 0; i < 16 && length < size; i++) {
        bool dash = i == 0 || i == 4 || i == 6 || i == 8 || i == 10;
        length += (size_t)snprintf(ret_uuid + length, size - length, "%s%02x", dash ? "-" : "",
                                   (unsigned char)properties->uuid.bytes[i]);
    }
}

int kg_cuda_nvml_init(int index, struct kg_nvml *ret_nvml, kg_error *ret_error)
{
    char bus_id[32];
    int rc = kg_cuda_check(cudaDeviceGetPCIBusId(bus_id, sizeof bus_id, index), "PCI bus id of the device", ret_error);
    if (rc == KG_OK)
        kg_nvml_init(ret_nvml, bus_id);
    return rc;
}

/* NVML's highest clock is above the runtime's on cards that boost on their own: nothing runs faster than that. */
static int clock_mhz_max(int index, const struct kg_nvml *nvml)
{
    int runtime_mhz = attribute(index, cudaDevAttrClockRate) / 1000, nvml_mhz = kg_nvml_clock_mhz_max(nvml);
    return nvml_mhz > runtime_mhz ? nvml_mhz : runtime_mhz;
}

static int describe(int index, const struct kg_nvml *nvml, kg_device *ret_device, kg_error *ret_error)
{
    struct cudaDeviceProp properties;
    int rc = kg_cuda_check(cudaGetDeviceProperties(&properties, index), "properties of the device", ret_error);
    if (rc < 0)
        return rc;
    kg_device device = {
        .kind = KG_CUDA,
        .index = index,
        .cc_major = properties.major,
        .cc_minor = properties.minor,
        .units = properties.multiProcessorCount,
        .clock_mhz_max = clock_mhz_max(index, nvml),
        .fp64_ratio = attribute(index, cudaDevAttrSingleToDoublePrecisionPerfRatio),
        .memory_bytes = properties.totalGlobalMem,
        .l2_bytes = (uint64_t)properties.l2CacheSize,
        .shared_bytes = properties.sharedMemPerBlockOptin,
    };
    (void)snprintf(device.name, sizeof device.name, "%.95s", properties.name);
    kg_device_arch_name(properties.name, device.arch, sizeof device.arch);
    format_uuid(&properties, device.uuid, sizeof device.uuid);
    device.peak_flops = 1e6 * device.clock_mhz_max * device.units * flops_per_clock(device.cc_major, device.cc_minor);
    /* Two transfers a clock, on every kind of memory as CUDA counts its clock. */
    device.peak_bytes_per_s =
        2e3 * attribute(index, cudaDevAttrMemoryClockRate) * attribute(index, cudaDevAttrGlobalMemoryBusWidth) / 8;
    kg_nvml_driver(nvml, device.driver, sizeof device.driver);
    rc = kg_cuda_check(cudaDriverGetVersion(&device.driver_version), "version of the driver", ret_error);
    if (rc == KG_OK)
        *ret_device = device;
    return rc;
}

void kg_cuda_health(int index, struct kg_device_health *ret_health)
{
    struct kg_nvml nvml;
    if (kg_cuda_nvml_init(index, &nvml, NULL) < 0)
        return;
    kg_nvml_state(&nvml, false, &ret_health->idle);
    kg_nvml_version(&nvml, ret_health->nvml, sizeof ret_health->nvml);
    kg_nvml_done(&nvml);
}

/* The runtime calls a driver that is not there too old, so that is told apart. */
static int count_devices(int *ret_count, kg_error *ret_error)
{
    int version = 0, count = 0;
    cudaError_t status = cudaGetDeviceCount(&count);
    if (status == cudaSuccess && count > 0) {
        *ret_count = count;
        return KG_OK;
    }
    (void)cudaGetLastError();
    if (cudaDriverGetVersion(&version) == cudaSuccess && version == 0)
        return kg_fail(ret_error, KG_EUNSUPPORTED, "no CUDA device: no driver is installed (%s)",
                       cudaGetErrorString(status));
    if (status == cudaSuccess)
        status = cudaErrorNoDevice;
    return kg_fail(ret_error, KG_EUNSUPPORTED, "no CUDA device: %s", cudaGetErrorString(status));
}

int kg_cuda_probe(kg_device *ret_devices, int max, int *ret_count, kg_error *ret_error)
{
    int count = 0;
    int rc = count_devices(&count, ret_error);
    if (rc < 0)
        return rc;
    kg_device devices[KG_MAX_DEVICES];
    count = count < max ? count : max;
    count = count < KG_MAX_DEVICES ? count : KG_MAX_DEVICES;
    for (int i = 0; i < count; i++) {
        struct kg_nvml nvml;
        rc = kg_cuda_nvml_init(i, &nvml, ret_error);
        if (rc < 0)
            return rc;
        rc = describe(i, &nvml, &devices[i], ret_error);
        kg_nvml_done(&nvml);
        if (rc < 0)
            return rc;
    }
    memcpy(ret_devices, devices, (size_t)count * sizeof *devices);
    *ret_count = count;
    return KG_OK;
}
