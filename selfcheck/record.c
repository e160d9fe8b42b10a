/* record.c -- the rounds of selfcheck. They run as a run's do, by the same schedule and the same workers; but both
 * modules are one, every block has the anchor and a planted slowdown in it, and blocks move into series at once. */
#include "selfcheck/record.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "device/cpu_info.h"
#include "run/process.h"
#include "run/progress.h"
#include "run/dispatch.h"
#include "run/schedule.h"
#include "run/session.h"

#define MAX_BROKEN 3

struct recorder {
    struct kg_session *session;
    struct kg_recording *recording;
    struct kg_series_set *set;
    struct kg_job_case *room;
    bool *timed;
    int *broken; /* rounds that each case broke in */
    char copy[KG_PATH_SIZE + 32], log_path[KG_PATH_SIZE + 32];
    struct kg_progress progress;
    struct kg_dispatch_options options;
    int rounds;
};

double kg_record_planted_pct(uint64_t seed, size_t case_index, int round, bool to_file)
{
    /* A slowdown of just the threshold, as 2% is as a rule on a GPU, is found half the time, whatever the noise. */
    static const double sizes_pct[] = { 0.5, 1, 3, 5, 2 };
    const size_t n = sizeof sizes_pct / sizeof *sizes_pct;
    if (to_file)
        return sizes_pct[(seed + case_index) % (n - 1)];
    return sizes_pct[(case_index + (size_t)(round - 1) / KG_RECORD_SAME_SIZE) % n];
}

/* ---- blocks ---------------------------------------------------------------------------------------------------- */

/* The first part of an identity names the library, if there is one. */
static void describe(const struct recorder *r, const struct kg_result *result, struct kg_series *series)
{
    const struct kg_run *run = &r->session->run;
    const struct kg_launch_info *launch = &result->launch;
    *series = (struct kg_series){ .nodes = launch->kernels + launch->memory_nodes + launch->other_nodes,
                                  .kind = result->of.kind,
                                  .contract = kg_policy_contract(&result->of.policy),
                                  .tick_us = result->tick_us };
    kg_case_key(&result->of, result->backend, series->key, sizeof series->key);
    if (!strcmp(result->of.suite->name, "classes"))
        snprintf(series->kernel_class, sizeof series->kernel_class, "%s", result->of.shape);
    snprintf(series->device, sizeof series->device, "%s", run->device.name);
    snprintf(series->uuid, sizeof series->uuid, "%s", run->device.uuid);
    snprintf(series->driver, sizeof series->driver, "%s", run->device.driver);
    snprintf(series->start, sizeof series->start, "%s", r->recording->start);
    snprintf(series->date, sizeof series->date, "%s", run->started);
    snprintf(series->git_sha, sizeof series->git_sha, "%s", run->git.sha);
    size_t length = strcspn(result->identity, "\n;");
    kg_floor_code(result->identity, series->code);
    snprintf(series->library, sizeof series->library, "%.*s", length < 40 ? (int)length : 40, result->identity);
}

static bool is_whole(const struct kg_block *block)
{
    return block->p50_us > 0 && block->baseline_p50_us > 0 && block->log_against == block->log_against;
}

/* Moves a result's blocks into its series: a result holds no more than KG_MAX_BLOCKS. */
static int take_blocks(struct recorder *r, struct kg_result *result, kg_error *ret_error)
{
    struct kg_series like;
    size_t at = 0;
    describe(r, result, &like);
    int status = result->n_blocks ? kg_series_set_find(r->set, &like, &at, ret_error) : KG_OK;
    for (int i = 0; i < result->n_blocks && !status; i++) {
        const struct kg_recorded_block block = kg_recorded_block_of(&result->blocks[i]);
        r->recording->noise |= kg_noise_of_block(&result->blocks[i]);
        if (is_whole(&result->blocks[i]))
            status = kg_series_add_block(&r->set->items[at], &block, ret_error);
    }
    kg_result_done(result);
    result->n_blocks = 0;
    return status;
}

/* ---- rounds ---------------------------------------------------------------------------------------------------- */

static int run_job(struct recorder *r, struct kg_job *job, bool *ret_stopped, kg_error *ret_error)
{
    struct kg_session *s = r->session;
    for (size_t i = 0; i < job->n_cases; i++) {
        struct kg_job_case *one = &job->cases[i];
        if (one->time) {
            one->planted_pct = s->options->plant_pct > 0 ? s->options->plant_pct
                                                         : kg_record_planted_pct(s->run.shuffle_seed, one->index,
                                                                                 job->round, s->options->record);
            snprintf(one->baseline_pin, sizeof one->baseline_pin, "%s", s->results[one->index].pin);
        }
    }
    char stage[48] = "correctness";
    if (job->round)
        snprintf(stage, sizeof stage, "round %d of %d", job->round, r->rounds);
    kg_progress_begin(&r->progress, stage, job->round, job->n_cases, job->n_cases * (size_t)(r->rounds - job->round));
    int status = kg_dispatch_run(job, &r->options, s->results, s->n_results, ret_stopped, ret_error);
    kg_progress_end(&r->progress);
    return status;
}

static bool is_wrong(const struct kg_result *result)
{
    return result->compared && !kg_gate_marks_all(result->marks);
}

static void leave_out(struct recorder *r, size_t i)
{
    const struct kg_result *result = &r->session->results[i];
    fprintf(stderr, "kgate: %s is left out: %s\n", result->id, is_wrong(result) ? "its output is wrong" : result->note);
    r->recording->n_wrong++;
    r->timed[i] = false;
}

static void drop_wrong(struct recorder *r)
{
    for (size_t i = 0; i < r->session->n_results; i++) {
        const struct kg_result *result = &r->session->results[i];
        r->recording->n_skipped += result->outcome == KG_SKIPPED;
        if (result->outcome == KG_BROKEN || is_wrong(result))
            leave_out(r, i);
    }
}

/* A case that breaks in a round of timing loses that block, and is out after MAX_BROKEN of them. */
static void drop_broken(struct recorder *r)
{
    for (size_t i = 0; i < r->session->n_results; i++) {
        struct kg_result *result = &r->session->results[i];
        if (!r->timed[i] || (result->outcome != KG_BROKEN && !is_wrong(result)))
            continue;
        if (is_wrong(result) || ++r->broken[i] == MAX_BROKEN)
            leave_out(r, i);
        else
            fprintf(stderr, "kgate: %s loses a block: %s\n", result->id, result->note);
        result->outcome = KG_RAN;
    }
}

static int run_rounds(struct recorder *r, kg_error *ret_error)
{
    struct kg_session *s = r->session;
    bool *stopped = &r->recording->stopped;
    struct kg_job job = kg_schedule_job(s);
    snprintf(job.module, sizeof job.module, "%s", r->copy);
    snprintf(job.baseline, sizeof job.baseline, "%s", s->module.path);
    snprintf(job.baseline_stamps, sizeof job.baseline_stamps, "%s", s->module.stamps);
    job.module_stamps[0] = '\0';
    job.anchors = true;
    kg_schedule_correctness(s, r->room, &job);
    int status = job.n_cases ? run_job(r, &job, stopped, ret_error) : KG_OK;
    if (status || *stopped)
        return status;
    kg_schedule_choose_timed(s, r->timed);
    drop_wrong(r);
    for (int round = 1; round <= r->rounds && !status && !*stopped; round++) {
        kg_schedule_round(s, r->timed, round, r->room, &job);
        if (!job.n_cases)
            break;
        r->recording->rounds = round;
        status = run_job(r, &job, stopped, ret_error);
        for (size_t i = 0; i < s->n_results && !status; i++)
            if (r->timed[i])
                status = take_blocks(r, &s->results[i], ret_error);
        drop_broken(r);
    }
    return status;
}

static int record_session(struct recorder *r, const struct kg_stop *stop, kg_error *ret_error)
{
    struct kg_session *s = r->session;
    r->room = calloc(s->n_results + 1, sizeof *r->room);
    r->timed = calloc(s->n_results + 1, sizeof *r->timed);
    r->broken = calloc(s->n_results + 1, sizeof *r->broken);
    int status =
        r->room && r->timed && r->broken ? KG_OK : kg_fail(ret_error, KG_ENOMEM, "out of memory for the rounds");
    snprintf(r->copy, sizeof r->copy, "%s/copy.so", s->folder);
    snprintf(r->log_path, sizeof r->log_path, "%s/workers.log", s->folder);
    r->rounds = s->options->rounds ? s->options->rounds : KG_RECORD_ROUNDS;
    r->progress.results = s->results;
    r->options = (struct kg_dispatch_options){ .timeout_s = s->options->case_timeout_s,
                                               .log_path = r->log_path,
                                               .progress = kg_progress_step,
                                               .progress_argument = &r->progress,
                                               .stop = stop };
    if (!status)
        status = kg_file_copy(s->module.path, r->copy, ret_error);
    if (!status) {
        status = run_rounds(r, ret_error);
        (void)unlink(r->copy);
    }
    free(r->room);
    free(r->timed);
    free(r->broken);
    return status;
}

/* CPU seconds of other processes so far; a worker's count once it has ended. -1: not known. */
static double others_cpu_s(void)
{
    struct rusage own = { 0 }, children = { 0 };
    const double all_s = kg_cpu_busy_s("");
    if (all_s < 0 || getrusage(RUSAGE_SELF, &own) || getrusage(RUSAGE_CHILDREN, &children))
        return -1;
    const struct timeval ours[] = { own.ru_utime, own.ru_stime, children.ru_utime, children.ru_stime };
    double ours_s = 0;
    for (size_t i = 0; i < sizeof ours / sizeof *ours; i++)
        ours_s += (double)ours[i].tv_sec + 1e-6 * (double)ours[i].tv_usec;
    return all_s - ours_s;
}

/* Since `began_s`, when others had used `before_s`. */
static void note_others(struct kg_recording *recording, double began_s, double before_s)
{
    const double after_s = others_cpu_s(), took_s = kg_now_s() - began_s;
    recording->others = -1;
    if (before_s < 0 || after_s < 0 || took_s <= 0)
        return;
    recording->others = fmax(0, (after_s - before_s) / took_s);
    recording->noise |= kg_noise_of_others(recording->others, (int)sysconf(_SC_NPROCESSORS_ONLN));
}

int kg_record(const struct kg_options *options, struct kg_stop *stop, const char *start, struct kg_series_set *set,
              struct kg_recording *ret_recording, kg_error *ret_error)
{
    struct kg_session session;
    struct kg_recording recording = { .rounds = 0 };
    struct recorder recorder = { .session = &session, .recording = &recording, .set = set };
    int status = kg_session_open(&session, options, ret_error);
    if (!status) {
        if (!stop->signalled)
            *stop = kg_stop_arm(options->timeout_s);
        recording.device = session.device;
        snprintf(recording.start, sizeof recording.start, "%s", start ? start : session.run.id);
        snprintf(recording.cache, sizeof recording.cache, "%s", session.cache);
        const double began_s = kg_now_s(), before_s = others_cpu_s();
        status = record_session(&recorder, stop, ret_error);
        note_others(&recording, began_s, before_s);
    }
    if (!status)
        *ret_recording = recording;
    kg_session_done(&session);
    return status;
}
