/* session.c -- opens what a run needs, in an order that refuses bad input before anything is measured. */
#include "run/session.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"
#include "kg_build.h"
#include "base/lock.h"
#include "run/tables.h"

/* ---- folders ---- */

void kg_session_find_expectations(const struct kg_options *options, char ret_folder[KG_PATH_SIZE])
{
    char exe[KG_PATH_SIZE];
    snprintf(ret_folder, KG_PATH_SIZE, "%s", options->expectations ? options->expectations : "expectations");
    if (options->expectations || kg_folder_exists(ret_folder) || !kg_module_ships(options->module))
        return;
    ssize_t length = readlink("/proc/self/exe", exe, sizeof exe - 64);
    if (length <= 0)
        return;
    exe[length] = '\0';
    char *slash = strrchr(exe, '/');
    snprintf(slash, 64, "/../share/kgate/expectations");
    if (kg_folder_exists(exe))
        snprintf(ret_folder, KG_PATH_SIZE, "%s", exe);
}

static void find_cache(struct kg_session *s)
{
    const char *home = getenv("HOME"), *xdg = getenv("XDG_CACHE_HOME");
    if (s->options->cache)
        snprintf(s->cache, sizeof s->cache, "%s", s->options->cache);
    else if (xdg && *xdg)
        snprintf(s->cache, sizeof s->cache, "%s/kgate", xdg);
    else if (home && *home)
        snprintf(s->cache, sizeof s->cache, "%s/.cache/kgate", home);
}

void kg_session_utc(char *ret_text, size_t size, const char *format)
{
    time_t now = time(NULL);
    struct tm parts;
    gmtime_r(&now, &parts);
    strftime(ret_text, size, format, &parts);
}

/* Two runs within a second get a number each. */
static int make_folder(struct kg_session *s, kg_error *ret_error)
{
    const char *output = s->options->output;
    char stamp[32];
    kg_session_utc(stamp, sizeof stamp, "%Y%m%dT%H%M%SZ");
    int status = kg_folder_make(output, ret_error);
    if (status)
        return status;
    for (int number = 1; number < 1000; number++) {
        char suffix[16] = "";
        if (number > 1)
            snprintf(suffix, sizeof suffix, "-%d", number);
        snprintf(s->run.id, sizeof s->run.id, "%.16s-%.7s-%.20s%s", stamp, *s->run.git.sha ? s->run.git.sha : "nogit",
                 s->device.arch, suffix);
        int length = snprintf(s->folder, sizeof s->folder, "%s/%s", output, s->run.id);
        if (length < 0 || (size_t)length >= sizeof s->folder)
            return kg_fail(ret_error, KG_EINVAL, "--output: path too long");
        if (mkdir(s->folder, 0777) == 0)
            return KG_OK;
        if (errno != EEXIST)
            return kg_fail(ret_error, KG_EIO, "cannot make folder %s: %s", s->folder, strerror(errno));
    }
    return kg_fail(ret_error, KG_EIO, "cannot make an output folder in %s", output);
}

/* ---- the other build ---- */

/* One that cannot be loaded beside the candidate can still be compared with through goldens. */
static int open_baseline(struct kg_session *s, kg_error *ret_error)
{
    kg_error cause = { 0 };
    if (!s->options->against)
        return KG_OK;
    int status = kg_tables_open(s->options->against, s->options, &s->baseline, &cause);
    if (status == KG_EUNSUPPORTED)
        return kg_fail(ret_error, status, "--against %.400s, or judge by goldens: run without --against", cause.text);
    if (status)
        return kg_fail(ret_error, status, "--against: %.480s", cause.text);
    return kg_module_hold_to(s->baseline.root, &s->module.root, ret_error);
}

/* ---- plan ---- */

static size_t count_kind(const struct kg_plan *plan, enum kg_device_kind kind)
{
    size_t count = 0;
    for (size_t i = 0; i < plan->count; i++)
        count += plan->cases[i].kind == kind;
    return count;
}

static int plan_once(struct kg_session *s, const struct kg_selection *selection, kg_error *ret_error)
{
    kg_plan_done(&s->plan);
    kg_pairs_done(&s->pairs);
    if (!s->baseline.root)
        return kg_plan_make(s->module.root, selection, &s->plan, ret_error);
    return kg_pairs_make(s->baseline.root, s->module.root, selection, &s->plan, &s->pairs, ret_error);
}

/* The device is chosen by all that is selected, and all of its kind is numbered before a shard is cut: else a shard of
 * CPU cases alone would be cut from another plan than the shards beside it, and cases would be in none. */
static int make_plan(struct kg_session *s, kg_error *ret_error)
{
    struct kg_selection selection = s->options->selection, whole = selection;
    enum kg_device_kind kind = 0;
    int index = 0;
    selection.every_regime = whole.every_regime = s->options->bless;
    whole.shard = whole.n_shards = 0;
    int status = kg_device_choice_parse(s->options->device, &kind, &index, ret_error);
    if (!status)
        status = plan_once(s, &whole, ret_error);
    if (!status)
        status = kg_device_choose(s, count_kind(&s->plan, KG_CUDA) > 0, ret_error);
    if (!status)
        status = kg_device_check_required(s, ret_error);
    if (status)
        return status;
    const bool both = !kind && *s->no_cuda; /* CUDA cases are there to be skipped */
    if (!both) {
        selection.kind = s->device.kind;
        s->n_other_kind = s->plan.count - count_kind(&s->plan, selection.kind);
    }
    return plan_once(s, &selection, ret_error);
}

/* Those of the device's architecture, as they judge on this card. */
static int load_goldens(struct kg_session *s, kg_error *ret_error)
{
    struct kg_fleet fleet = { .count = 0 };
    int status = kg_goldens_load(s->expectations, s->device.arch, &s->goldens, ret_error);
    if (!status)
        status = kg_fleet_load(s->expectations, s->device.arch, &fleet, ret_error);
    if (!status)
        kg_fleet_fit(&fleet, s->device.uuid, &s->goldens);
    kg_fleet_done(&fleet);
    return status;
}

/* ---- the whole ---- */

static void say_waiting(const char *holder, double waited_s)
{
    char so_far[40] = "";
    if (waited_s >= 1)
        snprintf(so_far, sizeof so_far, " (%.0f s so far)", waited_s);
    fprintf(stderr, "kgate: another run%s%s%s has this device; waiting%s\n", *holder ? " (pid " : "", holder,
            *holder ? ")" : "", so_far);
}

int kg_session_open_device(struct kg_session *s, const struct kg_options *options, kg_error *ret_error)
{
    *s = (struct kg_session){ .options = options };
    kg_session_find_expectations(options, s->expectations);
    find_cache(s);
    int status = kg_tables_open(options->module, options, &s->module, ret_error);
    if (!status)
        status = kg_device_choose(s, true, ret_error);
    if (!status)
        status = load_goldens(s, ret_error);
    return status;
}

/* Not in a folder that is named and is not there, or a slip of the pen would judge by nothing. */
static bool is_new(const struct kg_session *s)
{
    return !s->goldens.exists && (!s->options->expectations || kg_folder_exists(s->expectations));
}

static void describe_run(struct kg_session *s)
{
    struct kg_run *run = &s->run;
    snprintf(run->version, sizeof run->version, "%s", KG_VERSION);
    kg_session_utc(run->started, sizeof run->started, "%Y-%m-%dT%H:%M:%SZ");
    snprintf(run->expectations, sizeof run->expectations, "%s", s->goldens.path);
    run->expectations_exist = s->goldens.exists;
    snprintf(run->module_path, sizeof run->module_path, "%s", s->module.path);
    snprintf(run->cuda_runtime, sizeof run->cuda_runtime, "%s", s->device.kind == KG_CUDA ? KG_CUDA_TOOLKIT : "");
    snprintf(run->command, sizeof run->command, "%s", s->options->line);
    snprintf(run->again, sizeof run->again, "%s", s->options->again);
    run->selection = &s->options->selection;
    run->module = s->module.root;
    run->baseline = s->baseline.root;
    snprintf(run->baseline_path, sizeof run->baseline_path, "%s", s->baseline.path);
    run->device = s->device;
    run->timed = !s->options->no_time;
    run->bless = s->options->bless;
    run->allow_all = s->options->allow_undecided;
    run->allow_undecided = s->options->allow_undecided || (s->options->allow_undecided_new && is_new(s));
    run->shuffle_seed = s->options->shuffle_seed_given ? s->options->shuffle_seed : (uint64_t)time(NULL);
}

int kg_session_open(struct kg_session *s, const struct kg_options *options, kg_error *ret_error)
{
    *s = (struct kg_session){ .options = options };
    kg_session_find_expectations(options, s->expectations);
    find_cache(s);
    int status = kg_tables_open(options->module, options, &s->module, ret_error);
    if (!status)
        status = open_baseline(s, ret_error);
    if (!status)
        status = make_plan(s, ret_error);
    if (!status)
        status = load_goldens(s, ret_error);
    if (!status && *s->cache)
        status = kg_floors_load(s->cache, &s->floors, ret_error);
    if (!status)
        status = kg_session_make_results(s, ret_error);
    if (!status)
        status = kg_session_check(s, ret_error);
    if (!status)
        kg_git_read(".", options->git_sha, &s->run.git);
    if (!status)
        status = make_folder(s, ret_error);
    if (!status && !options->no_time) /* what is not timed disturbs nobody's times but for a moment's work */
        status = kg_lock_device(s->device.uuid, say_waiting, ret_error);
    if (!status)
        describe_run(s);
    return status;
}

void kg_session_done(struct kg_session *s)
{
    kg_session_free_results(s);
    kg_goldens_done(&s->goldens);
    kg_floors_done(&s->floors);
    kg_plan_done(&s->plan);
    kg_pairs_done(&s->pairs);
    *s = (struct kg_session){ 0 };
}

int kg_session_open_beside(struct kg_session *s, const struct kg_session *other, const struct kg_options *options,
                           kg_error *ret_error)
{
    *s = (struct kg_session){
        .options = options, .module = other->module, .device = other->device, .goldens = other->goldens
    };
    memcpy(s->folder, other->folder, sizeof s->folder);
    memcpy(s->cache, other->cache, sizeof s->cache);
    s->run.shuffle_seed = other->run.shuffle_seed;
    struct kg_selection selection = options->selection;
    selection.kind = s->device.kind;
    int status = open_baseline(s, ret_error);
    if (!status)
        status = plan_once(s, &selection, ret_error);
    if (!status && *s->cache)
        status = kg_floors_load(s->cache, &s->floors, ret_error);
    return status ? status : kg_session_make_results(s, ret_error);
}

void kg_session_close_beside(struct kg_session *s)
{
    kg_session_free_results(s);
    kg_floors_done(&s->floors);
    kg_plan_done(&s->plan);
    kg_pairs_done(&s->pairs);
}
