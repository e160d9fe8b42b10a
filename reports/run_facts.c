/* run_facts.c -- what reports derive from a whole run: its build, its machine, the device's use. */
#include "reports/facts.h"

#include <math.h>
#include <string.h>

const char *kg_fact_sha(const struct kg_run *run)
{
    return run->module->git_sha && *run->module->git_sha ? run->module->git_sha : run->git.sha;
}

bool kg_fact_dirty(const struct kg_run *run)
{
    return run->module->git_sha && *run->module->git_sha ? run->module->git_dirty : run->git.dirty;
}

struct kg_text kg_fact_build(const struct kg_run *run)
{
    return kg_format_sha(kg_fact_sha(run), kg_fact_dirty(run));
}

struct kg_text kg_fact_baseline_build(const struct kg_run *run)
{
    return kg_format_sha(run->baseline->git_sha, run->baseline->git_dirty);
}

bool kg_fact_run_timed(const struct kg_run *run)
{
    for (size_t i = 0; i < run->n_results; i++)
        if (run->results[i].n_blocks)
            return true;
    return false;
}

/* On a CPU the timer that is called graph has no graph: a window is a loop. */
struct kg_text kg_fact_timer(const struct kg_run *run)
{
    const struct kg_contract *contract = &run->contract;
    bool loop = run->device.kind == KG_CPU && !strcmp(contract->timer, "graph");
    const char *timer = loop ? "loop of calls" : contract->timer;
    if (contract->window_us > 0)
        return kg_format("%s, L2 %s, windows of %s", timer, contract->l2, kg_format_time(contract->window_us).s);
    return kg_format("%s, L2 %s", timer, contract->l2);
}

/* Backwards, since the results of a suite lie together but for lost ones. */
bool kg_fact_first_of_suite(const struct kg_run *run, size_t index)
{
    for (size_t i = index; i-- > 0;)
        if (kg_fact_same_suite(&run->results[i], &run->results[index]))
            return false;
    return true;
}

const struct kg_result *kg_fact_find(const struct kg_run *run, const kg_suite *suite, const kg_backend *backend,
                                     const char *shape, const uint64_t *seed, bool usable)
{
    for (size_t i = 0; i < run->n_results; i++) {
        const struct kg_case *of = &run->results[i].of;
        if (of->suite == suite && of->backend == backend && !strcmp(of->shape, shape) && (!seed || of->seed == *seed) &&
            (!usable || kg_fact_usable(&run->results[i])))
            return &run->results[i];
    }
    return NULL;
}

const struct kg_result *kg_fact_rival(const struct kg_run *run, const struct kg_result *result)
{
    const struct kg_case *of = &result->of;
    const kg_contest *contest = of->suite ? &of->suite->contest : NULL;
    if (!contest || !contest->ours || of->backend != contest->ours || !kg_fact_usable(result))
        return NULL;
    return kg_fact_find(run, of->suite, contest->baseline, of->shape, &of->seed, true);
}

/* Minor capability that code for `arch` was made for, or -1 where this device cannot load it: code runs on its major
 * number from its minor number upwards, 'a' code on that very number only. */
static int loadable_minor(const char *arch, const kg_device *device)
{
    int number = 0, length = 0;
    if (sscanf(arch, "sm_%d%n", &number, &length) != 1 || number / 10 != device->cc_major)
        return -1;
    bool exact = arch[length] == 'a';
    int minor = number % 10;
    return minor == device->cc_minor || (!exact && minor < device->cc_minor) ? minor : -1;
}

const kg_kernel *kg_fact_kernel(const struct kg_run *run, const char *name)
{
    const kg_kernel *found = NULL;
    int found_minor = -1;
    for (size_t i = 0; i < run->module->n_kernels; i++) {
        const kg_kernel *kernel = &run->module->kernels[i];
        int minor = loadable_minor(kernel->arch, &run->device);
        if (minor > found_minor && !strcmp(kernel->name, name)) {
            found = kernel;
            found_minor = minor;
        }
    }
    return found;
}

static void take_state(struct kg_steadiness *steady, const struct kg_device_state *state)
{
    const kg_noise_set held = kg_noise_of_state(state);
    steady->throttles |= held & kg_noise_throttles();
    steady->setting |= held & kg_noise_settings();
    if (state->sm_clock_mhz <= 0)
        return;
    if (!steady->clock_min_mhz || state->sm_clock_mhz < steady->clock_min_mhz)
        steady->clock_min_mhz = state->sm_clock_mhz;
    if (state->sm_clock_mhz > steady->clock_max_mhz)
        steady->clock_max_mhz = state->sm_clock_mhz;
}

struct kg_steadiness kg_fact_steadiness(const struct kg_run *run)
{
    struct kg_steadiness steady = { 0 };
    for (size_t i = 0; i < run->n_results; i++) {
        for (int k = 0; k < run->results[i].n_blocks; k++) {
            const struct kg_block *block = &run->results[i].blocks[k];
            take_state(&steady, &block->before);
            take_state(&steady, &block->after);
            steady.blocks++;
            steady.throttled += (kg_noise_of_block(block) & kg_noise_throttles()) != 0;
            steady.shared += block->before.other_processes > 0 || block->after.other_processes > 0;
        }
    }
    if (!steady.blocks) { /* an untimed run: the ends of the run are all there is */
        take_state(&steady, &run->state_before);
        take_state(&steady, &run->state_after);
    }
    return steady;
}

struct kg_device_use kg_fact_use(const struct kg_run *run, int round)
{
    struct kg_device_use use = { 0 };
    for (size_t i = 0; i < run->n_results; i++) {
        for (int k = 0; k < run->results[i].n_blocks; k++) {
            const struct kg_block *block = &run->results[i].blocks[k];
            if ((round && block->round != round) || !(block->span_us > 0))
                continue;
            use.blocks++;
            use.span_s += block->span_us * 1e-6;
            use.busy_s += block->busy_us * 1e-6;
        }
    }
    use.idle_pct = use.blocks ? 100 * (1 - use.busy_s / use.span_s) : NAN;
    return use;
}

int kg_fact_rounds(const struct kg_run *run)
{
    int last = 0;
    for (size_t i = 0; i < run->n_results; i++)
        for (int k = 0; k < run->results[i].n_blocks; k++)
            if (run->results[i].blocks[k].round > last)
                last = run->results[i].blocks[k].round;
    return last;
}

size_t kg_fact_stopped(const struct kg_run *run)
{
    size_t count = 0;
    for (size_t i = 0; i < run->n_results; i++)
        count += run->results[i].stopped;
    return count;
}

const char *kg_fact_environment(const struct kg_run *run, char ret_line[KG_LINE])
{
    size_t slow = 0, same = 0;
    for (size_t i = 0; i < run->n_results; i++) {
        const bool is = run->results[i].verdict == KG_SLOW;
        slow += is;
        same += is && run->results[i].judgement.unchanged;
    }
    ret_line[0] = 0;
    if (slow > 1 && same == slow)
        snprintf(ret_line, KG_LINE,
                 "all %zu slow cases launch what their goldens did: this device, its clock or its driver is slower",
                 slow);
    return ret_line;
}
