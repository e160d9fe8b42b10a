/* cpu_info.h -- describes this machine's CPU, from /proc and /sys; what cannot be read is 0, or said to be unknown. */
#ifndef KG_CPU_INFO_H
#define KG_CPU_INFO_H

#include "kgate.h"

void kg_cpu_describe(kg_device *ret_device);

/* Only `name` and `arch`, from a file like /proc/cpuinfo; NULL: unknown. */
void kg_cpu_describe_text(FILE *cpuinfo, kg_device *ret_device);

int kg_cpu_clock_mhz(const char *which); /* scaling_cur_freq, cpuinfo_max_freq of CPU 0; -1: not known */

#endif
