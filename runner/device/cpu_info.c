/* cpu_info.c -- name, architecture, threads, caches and clocks of the CPU. Another family of processors whose
 * /proc/cpuinfo has other fields gets a row in `keys`. */
#include "device/cpu_info.h"
#include "device/device.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#ifdef _OPENMP
#include <omp.h>
#endif

struct cpu_fields {
    char vendor[32], family[16], model[16], name[96];
};

/* Keeps the first processor's value. */
static void take(char *field, size_t size, const char *value)
{
    if (!field[0])
        (void)snprintf(field, size, "%s", value);
}

static void read_fields(FILE *cpuinfo, struct cpu_fields *fields)
{
    const struct {
        const char *key;
        char *field;
        size_t size;
    } keys[] = {
        { "vendor_id", fields->vendor, sizeof fields->vendor }, /* x86 */
        { "cpu family", fields->family, sizeof fields->family },
        { "model", fields->model, sizeof fields->model },
        { "model name", fields->name, sizeof fields->name },
        { "CPU implementer", fields->family, sizeof fields->family }, /* Arm */
        { "CPU part", fields->model, sizeof fields->model },
    };
    char line[1024];
    while (fgets(line, sizeof line, cpuinfo)) {
        char *colon = strchr(line, ':');
        if (!colon)
            continue;
        char *end = colon;
        while (end > line && (end[-1] == ' ' || end[-1] == '\t'))
            end--;
        *end = '\0';
        char *value = colon + 1 + strspn(colon + 1, " \t");
        value[strcspn(value, "\n")] = '\0';
        for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
            if (strcmp(line, keys[i].key) == 0)
                take(keys[i].field, keys[i].size, value);
        if (strcmp(line, "CPU implementer") == 0)
            take(fields->vendor, sizeof fields->vendor, "arm");
    }
}

void kg_cpu_describe_text(FILE *cpuinfo, kg_device *ret_device)
{
    struct cpu_fields fields = { 0 };
    if (cpuinfo)
        read_fields(cpuinfo, &fields);
    char arch[96] = "cpu_unknown";
    if (fields.vendor[0] && fields.family[0] && fields.model[0])
        (void)snprintf(arch, sizeof arch, "cpu_%s_%s_%s", fields.vendor, fields.family, fields.model);
    kg_device_arch_name(arch, ret_device->arch, sizeof ret_device->arch);
    (void)snprintf(ret_device->name, sizeof ret_device->name, "%s", fields.name[0] ? fields.name : arch);
}

static int threads(void)
{
#ifdef _OPENMP
    return omp_get_max_threads();
#else
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) == 0 && CPU_COUNT(&set) > 0)
        return CPU_COUNT(&set);
    return 1;
#endif
}

static bool read_number(const char *path, char *ret_unit, double *ret_number)
{
    FILE *file = fopen(path, "re");
    if (!file)
        return false;
    bool ok = fscanf(file, "%lf%c", ret_number, ret_unit) == 2;
    (void)fclose(file);
    return ok;
}

/* Bytes of the largest cache that CPU 0 sees; 32 MiB where the system does not say. */
static uint64_t last_level_cache_bytes(void)
{
    double largest = 0;
    for (int i = 0; i < 8; i++) {
        char path[96], unit;
        double size;
        (void)snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu0/cache/index%d/size", i);
        if (!read_number(path, &unit, &size))
            continue;
        size *= unit == 'K' ? 1 << 10 : unit == 'M' ? 1 << 20 : unit == 'G' ? 1 << 30 : 1;
        largest = size > largest ? size : largest;
    }
    return largest > 0 ? (uint64_t)largest : (uint64_t)32 << 20;
}

int kg_cpu_clock_mhz(const char *which)
{
    char path[96], unit;
    double khz;
    (void)snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu0/cpufreq/%s", which);
    return read_number(path, &unit, &khz) ? (int)(khz / 1000) : -1;
}

uint64_t kg_cpu_free_bytes(const char *root)
{
    char path[512], line[256];
    unsigned long long kb;
    uint64_t found = UINT64_MAX;
    (void)snprintf(path, sizeof path, "%s/proc/meminfo", root);
    FILE *file = fopen(path, "re");
    while (file && found == UINT64_MAX && fgets(line, sizeof line, file))
        if (sscanf(line, "MemAvailable: %llu kB", &kb) == 1)
            found = (uint64_t)kb << 10;
    if (file)
        (void)fclose(file);
    return found;
}

void kg_cpu_describe(kg_device *ret_device)
{
    kg_device device = { .kind = KG_CPU, .units = threads(), .fp64_ratio = 1 };
    FILE *cpuinfo = fopen("/proc/cpuinfo", "re");
    kg_cpu_describe_text(cpuinfo, &device);
    if (cpuinfo)
        (void)fclose(cpuinfo);
    struct utsname machine;
    if (uname(&machine) == 0)
        (void)snprintf(device.uuid, sizeof device.uuid, "%.63s", machine.nodename);
    int clock_mhz = kg_cpu_clock_mhz("cpuinfo_max_freq");
    device.clock_mhz_max = clock_mhz > 0 ? clock_mhz : 0;
    device.memory_bytes = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);
    device.l2_bytes = last_level_cache_bytes();
    /* No core is faster: 5 GHz, two 512-bit FMA units in FP32 (64 FLOP a clock), doubled for FP16. */
    device.peak_flops = device.units * 5e9 * 64 * 2;
    *ret_device = device;
}

/* ---- what bears on its times ---- */

/* The first line of a file under root, without its end; false where there is none. */
static bool read_line(const char *root, const char *path, char *ret_line, size_t size)
{
    char whole[512];
    if (snprintf(whole, sizeof whole, "%s%s", root, path) >= (int)sizeof whole)
        return false;
    FILE *file = fopen(whole, "re");
    bool ok = file && fgets(ret_line, (int)size, file);
    if (file)
        (void)fclose(file);
    if (ok)
        ret_line[strcspn(ret_line, "\n")] = '\0';
    return ok;
}

/* 0 or 1, as many files of /sys hold it. */
static int read_switch(const char *root, const char *path)
{
    char line[16];
    if (!read_line(root, path, line, sizeof line) || (line[0] != '0' && line[0] != '1') || line[1])
        return -1;
    return line[0] - '0';
}

static int read_turbo(const char *root)
{
    int off = read_switch(root, "/sys/devices/system/cpu/intel_pstate/no_turbo");
    return off >= 0 ? !off : read_switch(root, "/sys/devices/system/cpu/cpufreq/boost");
}

/* x86 processors have the flag in a virtual machine; others do not say. */
static int read_hypervisor(const char *root)
{
    char path[512], line[8192];
    int found = -1;
    (void)snprintf(path, sizeof path, "%s/proc/cpuinfo", root);
    FILE *file = fopen(path, "re");
    while (file && found < 0 && fgets(line, sizeof line, file))
        if (!strncmp(line, "flags", 5))
            found = strstr(line, " hypervisor") != NULL;
    if (file)
        (void)fclose(file);
    return found;
}

double kg_cpu_busy_s(const char *root)
{
    char line[512];
    unsigned long long user, nice, system, idle, waiting, irq, softirq, steal = 0;
    if (!read_line(root, "/proc/stat", line, sizeof line) ||
        sscanf(line, "cpu %llu %llu %llu %llu %llu %llu %llu %llu", &user, &nice, &system, &idle, &waiting, &irq,
               &softirq, &steal) < 7)
        return -1;
    return (double)(user + nice + system + irq + softirq + steal) / (double)sysconf(_SC_CLK_TCK);
}

void kg_cpu_conditions(const char *root, struct kg_cpu_conditions *ret_conditions)
{
    struct kg_cpu_conditions c = { .load = -1, .threads = (int)sysconf(_SC_NPROCESSORS_ONLN) };
    char line[128];
    if (read_line(root, "/proc/loadavg", line, sizeof line))
        c.load = strtod(line, NULL);
    if (!read_line(root, "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", c.governor, sizeof c.governor))
        c.governor[0] = '\0';
    c.turbo = read_turbo(root);
    c.smt = read_switch(root, "/sys/devices/system/cpu/smt/active");
    c.hypervisor = read_hypervisor(root);
    *ret_conditions = c;
}
