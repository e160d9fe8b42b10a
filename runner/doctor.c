/* doctor.c -- `kgate doctor`: what a run here would find. */
#include <string.h>
#include <sys/stat.h>

#include "host.h"
#include "kg_build.h"
#include "provenance.h"
#include "round.h"
#include "run.h"
#include "session.h"

static void print_devices(enum kg_device_kind kind)
{
    kg_device devices[KG_MAX_DEVICES];
    kg_error error = { 0 };
    int count = 0;
    if (kg_round_probe(kind, devices, KG_MAX_DEVICES, &count, &error)) {
        printf("device: none for %s: %s\n", kind == KG_CUDA ? "cuda" : "cpu", error.text);
        return;
    }
    for (int i = 0; i < count; i++)
        printf("device: %s:%d %s, arch %s, %d %s, uuid %s%s%s\n", kind == KG_CUDA ? "cuda" : "cpu", i, devices[i].name,
               devices[i].arch, devices[i].units, kind == KG_CUDA ? "multiprocessors" : "threads", devices[i].uuid,
               *devices[i].driver ? ", driver " : "", devices[i].driver);
}

static void print_libraries(const struct kg_options *options)
{
    static const char *const names[] = { "libcudnn.so.9", "libcublas.so.13", "libnvidia-ml.so.1" };
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
    if (kg_session_open_device(&session, options, ret_error)) {
        kg_session_done(&session);
        return 2;
    }
    const struct kg_module *module = session.module.root;
    printf("kgate: %s, CUDA %s\n", KG_VERSION, *KG_CUDA_TOOLKIT ? KG_CUDA_TOOLKIT : "not built in");
    printf("module: %s at %s, built from %s%s\n", module->name, session.module.path,
           *module->git_sha ? module->git_sha : "no commit", module->git_dirty ? " (modified)" : "");
    print_devices(KG_CUDA);
    print_devices(KG_CPU);
    printf("gates: %s (%s)\n", session.device.name, session.device.arch);
    print_libraries(options);
    kg_git_read(".", options->git_sha, &git);
    printf("git: %s%s%s\n", *git.sha ? git.sha : git.why, *git.branch ? " on " : "", git.branch);
    printf("cache: %s\n", *session.cache ? session.cache : "none");
    printf("expectations: %s (%s)\n", session.goldens.path, session.goldens.exists ? "present" : "absent");
    kg_session_done(&session);
    return 0;
}
