/* noise.c -- see noise.h. The rows of `kinds` are what reports, `kgate doctor`, bless and docs/measuring.md speak of.
 */
#include "judge/noise.h"

#include <assert.h>
#include <stddef.h>
#include <string.h>

#include "base/text.h"

#define CLOCK_MOVED 1.01       /* two steps of the clock on an H200 */
#define IN_USE_PCT 5           /* of the time; below it is what monitoring costs */
#define LOAD_PER_THREAD 0.25   /* a run of its own leaves the average under it within a few minutes */
#define LIMIT_MARGIN_W 0.5     /* limits are read in mW */
#define REASON_IDLE 0x01       /* NVML: nothing runs, clocks sink */
#define REASON_CLOCKS_SET 0x02 /* NVML: the clock stands where a setting holds it */

static const struct kg_noise_kind kinds[KG_NOISES] = {
    [KG_NOISE_POWER_CAP] = { .name = "power cap",
                             .meaning =
                                 "the clock is lowered to keep the power limit, and follows what the kernel draws",
                             .advice = "judge by --against or an anchor, or lock a clock that the limit allows",
                             .reason = 0x04,
                             .throttles = true },
    [KG_NOISE_HW_SLOWDOWN] = { .name = "hardware slowdown",
                               .meaning = "the hardware has at least halved the clock",
                               .advice = "look at cooling and power supply; nvidia-smi -q -d PERFORMANCE says more",
                               .reason = 0x08,
                               .throttles = true,
                               .refuses_bless = true },
    [KG_NOISE_SYNC_BOOST] = { .name = "sync boost",
                              .meaning = "the clock follows the slowest GPU of its group",
                              .advice = "take the GPU out of its sync boost group",
                              .reason = 0x10 },
    [KG_NOISE_THERMAL] = { .name = "thermal",
                           .meaning = "the driver lowers the clock because of the temperature",
                           .advice = "cool the GPU, or give it a pause",
                           .reason = 0x20,
                           .throttles = true,
                           .refuses_bless = true },
    [KG_NOISE_HW_THERMAL] = { .name = "hardware thermal",
                              .meaning = "the hardware has at least halved the clock because of the temperature",
                              .advice = "cool the GPU before anything is measured on it",
                              .reason = 0x40,
                              .throttles = true,
                              .refuses_bless = true },
    [KG_NOISE_POWER_BRAKE] = { .name = "power brake",
                               .meaning = "the power supply has asked for at most half the clock",
                               .advice = "look at the machine's power supply",
                               .reason = 0x80,
                               .throttles = true,
                               .refuses_bless = true },
    [KG_NOISE_DISPLAY_CLOCKS] = { .name = "display clocks",
                                  .meaning = "a display limits the clock",
                                  .advice = "use a GPU that drives no display",
                                  .reason = 0x100 },
    [KG_NOISE_CLOCKS_MOVED] = { .name = "clocks moved",
                                .meaning = "the clock differed by more than 1% between two readings under work",
                                .advice = "lock the clocks (nvidia-smi -lgc MHZ, as administrator)" },
    [KG_NOISE_CLOCKS_NOT_LOCKED] = { .name = "clocks not locked",
                                     .meaning = "the clock goes as high as power and temperature let it",
                                     .advice = "lock the clocks (nvidia-smi -lgc MHZ, as administrator)",
                                     .is_setting = true },
    [KG_NOISE_OTHER_PROCESSES] = { .name = "other processes",
                                   .meaning = "another process has a context on the device",
                                   .is_others = true,
                                   .advice = "end it, or use another device (nvidia-smi lists them)" },
    [KG_NOISE_IN_USE] = { .name = "in use",
                          .meaning = "the device was at work before kgate used it",
                          .is_others = true,
                          .advice = "wait for an idle device" },
    [KG_NOISE_VGPU] = { .name = "vGPU",
                        .meaning = "the GPU is shared with other virtual machines",
                        .advice = "judge on a whole GPU",
                        .is_setting = true },
    [KG_NOISE_PASSTHROUGH] = { .name = "passthrough",
                               .meaning = "a whole GPU in a virtual machine: who else heats the host is not seen here",
                               .advice = "bless again after a move to another host",
                               .is_setting = true },
    [KG_NOISE_MIG] = { .name = "MIG",
                       .meaning = "slices of one GPU share its power and its clock",
                       .advice = "keep the other slices idle",
                       .is_setting = true },
    [KG_NOISE_NO_PERSISTENCE] = { .name = "no persistence",
                                  .meaning = "the driver forgets locked clocks between processes",
                                  .advice = "run nvidia-persistenced (or nvidia-smi -pm 1, as administrator)",
                                  .is_setting = true },
    [KG_NOISE_LOW_POWER_LIMIT] = { .name = "lowered power limit",
                                   .meaning = "the power limit is below the device's default",
                                   .advice = "bless under the same limit, or set the default (nvidia-smi -pl WATTS)",
                                   .is_setting = true },
    [KG_NOISE_LOAD] = { .name = "load",
                        .meaning = "other processes keep the CPU busy",
                        .is_others = true,
                        .advice = "wait for an idle machine" },
    [KG_NOISE_GOVERNOR] = { .name = "frequency governor",
                            .meaning = "the CPU's clock follows its load",
                            .advice = "set the governor to performance (cpupower frequency-set -g performance)" },
    [KG_NOISE_TURBO] = { .name = "turbo",
                         .meaning = "the CPU's clock goes as high as power and temperature let it",
                         .advice = "turn it off in firmware or in /sys/devices/system/cpu for steady times" },
    [KG_NOISE_SMT] = { .name = "SMT",
                       .meaning = "two threads share a core, and slow each other",
                       .advice = "run one thread a core (OMP_PLACES=cores)" },
    [KG_NOISE_VIRTUAL_MACHINE] = { .name = "virtual machine",
                                   .meaning = "the CPU is shared with machines that are not seen here",
                                   .advice = "gate CPU cases on a machine of its own" },
};

static kg_noise_set bit(enum kg_noise noise, bool holds)
{
    return holds ? (kg_noise_set)1 << noise : 0;
}

const struct kg_noise_kind *kg_noise_kind(enum kg_noise noise)
{
    assert(noise < KG_NOISES);
    return &kinds[noise];
}

kg_noise_set kg_noise_of_reasons(int64_t throttle_reasons)
{
    kg_noise_set set = 0;
    for (enum kg_noise i = 0; i < KG_NOISES; i++)
        set |= bit(i, throttle_reasons > 0 && (throttle_reasons & kinds[i].reason));
    return set;
}

static bool has_reason(const struct kg_device_state *state, int64_t reason)
{
    return state->throttle_reasons > 0 && (state->throttle_reasons & reason);
}

/* NVML cannot be asked whether clocks are locked. A clock that nothing is known to hold, at its highest or lowered by
 * power or heat, follows the device's state; one that stands lower without a reason is held by a lock. */
static bool clocks_not_locked(const struct kg_device_state *state)
{
    if (state->sm_clock_mhz <= 0 || state->sm_clock_mhz_max <= 0 || state->throttle_reasons < 0)
        return false;
    if (has_reason(state, REASON_IDLE | REASON_CLOCKS_SET))
        return false;
    return state->sm_clock_mhz * CLOCK_MOVED >= state->sm_clock_mhz_max ||
           (kg_noise_of_reasons(state->throttle_reasons) & kg_noise_throttles());
}

/* How the device is set up, which holds whether it works or not. */
static kg_noise_set of_setting(const struct kg_device_state *state)
{
    bool lowered = state->power_limit_w > 0 && state->power_limit_w < state->power_limit_default_w - LIMIT_MARGIN_W;
    return bit(KG_NOISE_VGPU, state->virtualisation >= KG_VIRTUAL_SHARED) |
           bit(KG_NOISE_PASSTHROUGH, state->virtualisation == KG_VIRTUAL_PASSTHROUGH) |
           bit(KG_NOISE_MIG, state->mig > 0) | bit(KG_NOISE_NO_PERSISTENCE, state->persistence_off > 0) |
           bit(KG_NOISE_LOW_POWER_LIMIT, lowered) | bit(KG_NOISE_OTHER_PROCESSES, state->other_processes > 0);
}

kg_noise_set kg_noise_of_state(const struct kg_device_state *state)
{
    return of_setting(state) | kg_noise_of_reasons(state->throttle_reasons) |
           bit(KG_NOISE_CLOCKS_NOT_LOCKED, clocks_not_locked(state));
}

kg_noise_set kg_noise_of_idle(const struct kg_device_state *state)
{
    return of_setting(state) | kg_noise_of_reasons(state->throttle_reasons) |
           bit(KG_NOISE_IN_USE, state->utilisation_pct >= IN_USE_PCT);
}

/* Lowest and highest clock seen under work. */
struct span {
    int low_mhz, high_mhz;
};

static void widen(struct span *span, const struct kg_device_state *state)
{
    if (state->sm_clock_mhz <= 0 || has_reason(state, REASON_IDLE))
        return;
    if (!span->low_mhz || state->sm_clock_mhz < span->low_mhz)
        span->low_mhz = state->sm_clock_mhz;
    if (state->sm_clock_mhz > span->high_mhz)
        span->high_mhz = state->sm_clock_mhz;
}

static kg_noise_set of_blocks(const struct kg_block *blocks, int count)
{
    struct span span = { 0 };
    kg_noise_set set = 0;
    for (int i = 0; i < count; i++) {
        set |= kg_noise_of_state(&blocks[i].before) | kg_noise_of_state(&blocks[i].after);
        widen(&span, &blocks[i].before);
        widen(&span, &blocks[i].after);
    }
    return set | bit(KG_NOISE_CLOCKS_MOVED, span.high_mhz > CLOCK_MOVED * span.low_mhz);
}

kg_noise_set kg_noise_of_block(const struct kg_block *block)
{
    return of_blocks(block, 1);
}

kg_noise_set kg_noise_of_blocks(const struct kg_result *result)
{
    return of_blocks(result->blocks, result->n_blocks);
}

kg_noise_set kg_noise_of_others(double threads, int online)
{
    return bit(KG_NOISE_LOAD, online > 0 && threads > LOAD_PER_THREAD * online);
}

kg_noise_set kg_noise_of_host(const struct kg_cpu_conditions *host)
{
    return kg_noise_of_others(host->load, host->threads) |
           bit(KG_NOISE_GOVERNOR, *host->governor && strcmp(host->governor, "performance") != 0) |
           bit(KG_NOISE_TURBO, host->turbo > 0) | bit(KG_NOISE_SMT, host->smt > 0) |
           bit(KG_NOISE_VIRTUAL_MACHINE, host->hypervisor > 0);
}

/* The conditions in whose row the flag at `offset` is set. */
static kg_noise_set with_flag(size_t offset)
{
    kg_noise_set set = 0;
    for (enum kg_noise i = 0; i < KG_NOISES; i++)
        set |= bit(i, *(const bool *)((const char *)&kinds[i] + offset));
    return set;
}

kg_noise_set kg_noise_throttles(void)
{
    return with_flag(offsetof(struct kg_noise_kind, throttles));
}

kg_noise_set kg_noise_refuses_bless(void)
{
    return with_flag(offsetof(struct kg_noise_kind, refuses_bless));
}

kg_noise_set kg_noise_refuses_floor(void)
{
    return kg_noise_refuses_bless() | with_flag(offsetof(struct kg_noise_kind, is_others));
}

kg_noise_set kg_noise_settings(void)
{
    return with_flag(offsetof(struct kg_noise_kind, is_setting));
}

void kg_noise_names(kg_noise_set set, char *ret_text, size_t size)
{
    *ret_text = '\0';
    for (enum kg_noise i = 0; i < KG_NOISES; i++)
        if (set & bit(i, true))
            kg_text_join(ret_text, size, ", ", "%s", kinds[i].name);
}
