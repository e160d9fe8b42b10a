/* noise.h -- what makes timings unsteady, by name. Pure: from readings of a device, of a case's blocks, or of the host.
 * To add a condition: a line in the enum, a row in noise.c's table, and the reading that shows it. */
#ifndef KG_NOISE_H
#define KG_NOISE_H

#include "device/cpu_info.h"
#include "judge/result.h"

enum kg_noise {
    KG_NOISE_POWER_CAP,
    KG_NOISE_HW_SLOWDOWN,
    KG_NOISE_THERMAL,
    KG_NOISE_HW_THERMAL,
    KG_NOISE_POWER_BRAKE,
    KG_NOISE_SYNC_BOOST,
    KG_NOISE_DISPLAY_CLOCKS,
    KG_NOISE_CLOCKS_MOVED,
    KG_NOISE_CLOCKS_NOT_LOCKED,
    KG_NOISE_OTHER_PROCESSES,
    KG_NOISE_IN_USE,
    KG_NOISE_VGPU,
    KG_NOISE_PASSTHROUGH,
    KG_NOISE_MIG,
    KG_NOISE_NO_PERSISTENCE,
    KG_NOISE_LOW_POWER_LIMIT,
    /* of the host */
    KG_NOISE_LOAD,
    KG_NOISE_GOVERNOR,
    KG_NOISE_TURBO,
    KG_NOISE_SMT,
    KG_NOISE_VIRTUAL_MACHINE,
    KG_NOISES
};

/* A set has bit 1 << noise for each that held. */
typedef uint32_t kg_noise_set;

struct kg_noise_kind {
    const char *name;    /* "power cap": short, and the same in every report */
    const char *meaning; /* what it does to times */
    const char *advice;  /* what to do about it */
    int64_t reason;      /* NVML's clocks event reason that shows it; 0: another reading does */
    bool throttles;      /* it lowers the clock while it holds */
    bool refuses_bless;  /* neither a golden nor a floor is made of blocks measured under it */
    bool is_others;      /* somebody else's work: no floor is made under it */
    bool is_setting;     /* how the device is set up: the same of every result, so that reports say it once */
};

const struct kg_noise_kind *kg_noise_kind(enum kg_noise noise);

kg_noise_set kg_noise_of_reasons(int64_t throttle_reasons); /* of NVML's bits alone; -1: none */
/* Read while the device worked for this process. */
kg_noise_set kg_noise_of_state(const struct kg_device_state *state);
/* Read before this process used the device: what is at work there is somebody else's. */
kg_noise_set kg_noise_of_idle(const struct kg_device_state *state);
kg_noise_set kg_noise_of_block(const struct kg_block *block);
kg_noise_set kg_noise_of_blocks(const struct kg_result *result); /* their union, and clocks that moved between them */
kg_noise_set kg_noise_of_host(const struct kg_cpu_conditions *host);
/* `threads` that others kept busy, on the average, of all that are on line. */
kg_noise_set kg_noise_of_others(double threads, int online);

kg_noise_set kg_noise_throttles(void);     /* all that lower the clock */
kg_noise_set kg_noise_refuses_bless(void); /* all that a bless refuses */
kg_noise_set kg_noise_refuses_floor(void); /* all that a floor for later runs refuses */
kg_noise_set kg_noise_settings(void);      /* all that are how the device is set up */

void kg_noise_names(kg_noise_set set, char *ret_text, size_t size); /* "power cap, thermal"; "" for none */

#endif
