/* doctor.c -- `kgate doctor`: what a run here would find. */
#include <sys/stat.h>

#include "measure/host.h"
#include "kg_build.h"
#include "judge/noise.h"
#include "base/git.h"
#include "run/dispatch.h"
#include "commands/commands.h"
#include "run/session.h"

/* The device that gates is put to work, so that its clocks under work are seen; its health goes to ret_health. */
static void print_devices(enum kg_device_kind kind, const kg_device *gates, struct kg_device_health *ret_health)
{
    kg_device devices[KG_MAX_DEVICES];
    struct kg_device_health healths[KG_MAX_DEVICES];
    kg_error error = { 0 };
    int count = 0, work = gates->kind == kind ? gates->index : -1;
    if (kg_dispatch_probe(kind, work, devices, healths, KG_MAX_DEVICES, &count, &error)) {
        printf("device: none for %s: %s\n", kind == KG_CUDA ? "cuda" : "cpu", error.text);
        return;
    }
    if (work >= 0 && work < count)
        *ret_health = healths[work];
    for (int i = 0; i < count; i++)
        printf("device: %s:%d %s, arch %s, %d %s, uuid %s%s%s\n", kind == KG_CUDA ? "cuda" : "cpu", i, devices[i].name,
               devices[i].arch, devices[i].units, kind == KG_CUDA ? "multiprocessors" : "threads", devices[i].uuid,
               *devices[i].driver ? ", driver " : "", devices[i].driver);
}

static void print_state(const char *when, const struct kg_device_state *state)
{
    const struct {
        const char *unit, *what;
        double value, of;
    } figures[] = {
        { "MHz", "", state->sm_clock_mhz, state->sm_clock_mhz_max },
        { "MHz", " memory", state->memory_clock_mhz, -1 },
        { "W", "", state->power_w, state->power_limit_w },
        { "C", "", state->temperature_c, -1 },
        { "%", " busy", state->utilisation_pct, -1 },
        { "", " other processes", state->other_processes, -1 },
    };
    const char *before = "";
    for (size_t i = 0; i < sizeof figures / sizeof *figures; i++) {
        if (figures[i].value < 0)
            continue;
        if (!*before)
            printf("%s:", when);
        printf("%s %.0f", before, figures[i].value);
        if (figures[i].of > 0)
            printf(" of %.0f", figures[i].of);
        printf("%s%s%s", *figures[i].unit && *figures[i].unit != '%' ? " " : "", figures[i].unit, figures[i].what);
        before = ",";
    }
    if (*before)
        printf("\n");
}

/* What bears on the times of the device that gates. */
static void print_noise(const kg_device *gates, const struct kg_device_health *health)
{
    kg_noise_set set = kg_noise_of_idle(&health->idle) | kg_noise_of_state(&health->work);
    print_state("idle", &health->idle);
    print_state("under work", &health->work);
    if (gates->kind == KG_CPU) {
        struct kg_cpu_conditions host;
        kg_cpu_conditions("", &host);
        if (host.load >= 0)
            printf("load: %.2f on %d threads\n", host.load, host.threads);
        set |= kg_noise_of_host(&host);
    }
    for (enum kg_noise i = 0; i < KG_NOISES; i++) {
        const struct kg_noise_kind *kind = kg_noise_kind(i);
        if (set & ((kg_noise_set)1 << i))
            printf("noise: %s (%s): %s\n", kind->name, kind->meaning, kind->advice);
    }
    if (!set)
        printf("noise: none known\n");
}

static void print_libraries(const struct kg_options *options)
{
    static const char *const names[] = { "libcudnn.so.9", "libcublas.so.13", "libnvrtc.so.13", "libnvidia-ml.so.1" };
    struct kg_host_state host;
    kg_host_init(&host);
    host.library_paths = options->library_paths;
    host.n_library_paths = options->n_library_paths;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        kg_error error = { 0 };
        void *library = NULL;
        int status = host.host.library_open(&host.host, names[i], &library, &error);
        printf("library: %s %s\n", names[i], status ? error.text : "found");
    }
}

int kg_command_doctor(const struct kg_options *options, kg_error *ret_error)
{
    struct kg_session session;
    struct kg_git git;
    struct kg_device_health health = { .idle = kg_device_state_unknown(), .work = kg_device_state_unknown() };
    if (kg_session_open_device(&session, options, ret_error)) {
        kg_session_done(&session);
        return 2;
    }
    const struct kg_module *module = session.module.root;
    printf("kgate: %s, CUDA %s\n", KG_VERSION, *KG_CUDA_TOOLKIT ? KG_CUDA_TOOLKIT : "not built in");
    printf("module: %s at %s, built from %s%s\n", module->name, session.module.path,
           *module->git_sha ? module->git_sha : "no commit", module->git_dirty ? " (modified)" : "");
    print_devices(KG_CUDA, &session.device, &health);
    print_devices(KG_CPU, &session.device, &health);
    printf("gates: %s (%s)\n", session.device.name, session.device.arch);
    print_noise(&session.device, &health);
    print_libraries(options);
    kg_git_read(".", options->git_sha, &git);
    printf("git: %s%s%s\n", *git.sha ? git.sha : git.why, *git.branch ? " on " : "", git.branch);
    printf("cache: %s\n", *session.cache ? session.cache : "none");
    printf("expectations: %s (%s)\n", session.goldens.path, session.goldens.exists ? "present" : "absent");
    kg_session_done(&session);
    return 0;
}
