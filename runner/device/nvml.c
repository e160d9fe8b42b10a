/* nvml.c -- see nvml.h. Prototypes are declared here by hand, so no NVIDIA header is needed; constants are those of
 * NVML's published interface. A new reading is a symbol, a call and a -1. */
#include "device/nvml.h"

#include <dlfcn.h>
#include <string.h>

typedef int init_fn(void);
typedef int handle_fn(const char *bus_id, void **ret_device);
typedef int text_fn(char *ret_text, unsigned int size);
typedef int number_fn(void *device, unsigned int *ret_number);
typedef int indexed_fn(void *device, int which, unsigned int *ret_number);
typedef int mig_fn(void *device, unsigned int *ret_now, unsigned int *ret_pending);
typedef int reasons_fn(void *device, unsigned long long *ret_reasons);
typedef int processes_fn(void *device, unsigned int *count, void *ret_processes);

struct utilisation {
    unsigned int gpu, memory;
};
typedef int utilisation_fn(void *device, struct utilisation *ret_utilisation);

/* As nvmlDeviceGetComputeRunningProcesses_v3 writes it. */
struct process {
    unsigned int pid;
    unsigned long long used_bytes;
    unsigned int gpu_instance, compute_instance;
};

enum { CLOCK_SM = 1, CLOCK_MEMORY = 2, SENSOR_GPU = 0, MAX_PROCESSES = 256 };

/* Puts a function's address, or NULL, into the pointer at ret_function: ISO C has no cast from an object pointer. */
static void find(const struct kg_nvml *nvml, const char *name, void *ret_function)
{
    void *symbol = nvml->library ? dlsym(nvml->library, name) : NULL;
    memcpy(ret_function, &symbol, sizeof symbol);
}

static int read_number(const struct kg_nvml *nvml, const char *name)
{
    number_fn *read;
    find(nvml, name, &read);
    unsigned int number;
    return nvml->device && read && read(nvml->device, &number) == 0 ? (int)number : -1;
}

static int read_indexed(const struct kg_nvml *nvml, const char *name, int which)
{
    indexed_fn *read;
    find(nvml, name, &read);
    unsigned int number;
    return nvml->device && read && read(nvml->device, which, &number) == 0 ? (int)number : -1;
}

/* The older of the two names is what drivers before 535 have. */
static int64_t read_reasons(const struct kg_nvml *nvml)
{
    reasons_fn *read;
    find(nvml, "nvmlDeviceGetCurrentClocksEventReasons", &read);
    if (!read)
        find(nvml, "nvmlDeviceGetCurrentClocksThrottleReasons", &read);
    unsigned long long reasons;
    return nvml->device && read && read(nvml->device, &reasons) == 0 ? (int64_t)reasons : -1;
}

static int read_utilisation(const struct kg_nvml *nvml)
{
    utilisation_fn *read;
    find(nvml, "nvmlDeviceGetUtilizationRates", &read);
    struct utilisation utilisation;
    return nvml->device && read && read(nvml->device, &utilisation) == 0 ? (int)utilisation.gpu : -1;
}

/* In a container the list may hold pids of another namespace, so ours are counted off, not looked up. */
static int read_other_processes(const struct kg_nvml *nvml, int ours)
{
    processes_fn *read;
    find(nvml, "nvmlDeviceGetComputeRunningProcesses_v3", &read);
    struct process processes[MAX_PROCESSES];
    unsigned int count = MAX_PROCESSES;
    if (!nvml->device || !read || read(nvml->device, &count, processes) != 0)
        return -1;
    return (int)count < ours ? 0 : (int)count - ours;
}

static double watts(int milliwatts)
{
    return milliwatts < 0 ? -1 : milliwatts * 1e-3;
}

/* The mode of now; the one after the next reset is not asked for. */
static int read_mig(const struct kg_nvml *nvml)
{
    mig_fn *read;
    find(nvml, "nvmlDeviceGetMigMode", &read);
    unsigned int now, pending;
    return nvml->device && read && read(nvml->device, &now, &pending) == 0 ? (int)now : -1;
}

/* How the device is set up. There is no reading of locked clocks: nvmlDeviceSetGpuLockedClocks has no counterpart, so
 * noise.c goes by the clock under work and the reasons given for it. */
static void read_fixed(struct kg_nvml *nvml)
{
    int persistence = read_number(nvml, "nvmlDeviceGetPersistenceMode");
    nvml->fixed = kg_device_state_unknown();
    nvml->fixed.sm_clock_mhz_max = read_indexed(nvml, "nvmlDeviceGetMaxClockInfo", CLOCK_SM);
    nvml->fixed.power_limit_default_w = watts(read_number(nvml, "nvmlDeviceGetPowerManagementDefaultLimit"));
    nvml->fixed.virtualisation = read_number(nvml, "nvmlDeviceGetVirtualizationMode");
    nvml->fixed.persistence_off = persistence < 0 ? -1 : persistence == 0;
    nvml->fixed.mig = read_mig(nvml);
}

void kg_nvml_init(struct kg_nvml *nvml, const char *bus_id)
{
    *nvml = (struct kg_nvml){ .library = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL) };
    nvml->fixed = kg_device_state_unknown();
    init_fn *init;
    find(nvml, "nvmlInit_v2", &init);
    handle_fn *handle;
    find(nvml, "nvmlDeviceGetHandleByPciBusId_v2", &handle);
    if (!init || !handle || init() != 0) {
        if (nvml->library)
            (void)dlclose(nvml->library);
        nvml->library = NULL;
        return;
    }
    if (handle(bus_id, &nvml->device) != 0)
        nvml->device = NULL;
    read_fixed(nvml);
}

void kg_nvml_done(struct kg_nvml *nvml)
{
    init_fn *shutdown;
    find(nvml, "nvmlShutdown", &shutdown);
    if (shutdown)
        (void)shutdown();
    if (nvml->library)
        (void)dlclose(nvml->library);
    *nvml = (struct kg_nvml){ 0 };
}

void kg_nvml_state(const struct kg_nvml *nvml, int ours, struct kg_device_state *ret_state)
{
    *ret_state = nvml->fixed;
    ret_state->sm_clock_mhz = read_indexed(nvml, "nvmlDeviceGetClockInfo", CLOCK_SM);
    ret_state->memory_clock_mhz = read_indexed(nvml, "nvmlDeviceGetClockInfo", CLOCK_MEMORY);
    ret_state->temperature_c = read_indexed(nvml, "nvmlDeviceGetTemperature", SENSOR_GPU);
    ret_state->utilisation_pct = read_utilisation(nvml);
    ret_state->power_w = watts(read_number(nvml, "nvmlDeviceGetPowerUsage"));
    ret_state->power_limit_w = watts(read_number(nvml, "nvmlDeviceGetEnforcedPowerLimit"));
    ret_state->throttle_reasons = read_reasons(nvml);
    ret_state->other_processes = read_other_processes(nvml, ours);
}

static void read_text(const struct kg_nvml *nvml, const char *name, char *ret_text, size_t size)
{
    text_fn *read;
    find(nvml, name, &read);
    char text[96] = "";
    if (!read || read(text, sizeof text) != 0)
        text[0] = '\0';
    (void)snprintf(ret_text, size, "%s", text);
}

void kg_nvml_driver(const struct kg_nvml *nvml, char *ret_version, size_t size)
{
    read_text(nvml, "nvmlSystemGetDriverVersion", ret_version, size);
}

void kg_nvml_version(const struct kg_nvml *nvml, char *ret_version, size_t size)
{
    read_text(nvml, "nvmlSystemGetNVMLVersion", ret_version, size);
}

int kg_nvml_clock_mhz_max(const struct kg_nvml *nvml)
{
    return nvml->fixed.sm_clock_mhz_max;
}
