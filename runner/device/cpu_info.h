/* cpu_info.h -- describes this machine's CPU, from /proc and /sys; what cannot be read is 0, or said to be unknown. */
#ifndef KG_CPU_INFO_H
#define KG_CPU_INFO_H

#include "kgate.h"

void kg_cpu_describe(kg_device *ret_device);

/* Only `name` and `arch`, from a file like /proc/cpuinfo; NULL: unknown. */
void kg_cpu_describe_text(FILE *cpuinfo, kg_device *ret_device);

int kg_cpu_clock_mhz(const char *which); /* scaling_cur_freq, cpuinfo_max_freq of CPU 0; -1: not known */

/* Memory that programs may still have (MemAvailable), or UINT64_MAX where the system does not say. `root` as below. */
uint64_t kg_cpu_free_bytes(const char *root);

/* What bears on a CPU's times; -1 and "" where it cannot be read. `root` stands before /proc and /sys: "" but in tests.
 */
struct kg_cpu_conditions {
    double load;       /* average over a minute */
    int threads;       /* that are on line */
    char governor[32]; /* of CPU 0's frequency */
    int turbo, smt, hypervisor;
};

void kg_cpu_conditions(const char *root, struct kg_cpu_conditions *ret_conditions);

/* Seconds that the machine's threads were at work since it was started, for other machines on its cores too
 * (/proc/stat); -1 where it cannot be read. */
double kg_cpu_busy_s(const char *root);

#endif
