/* sample_run.c -- a run with every verdict, and one against a baseline that was stopped. A row of `cases` is a case; to
 * show a new verdict or oddity, add a row and renew the frozen files (test_reports FOLDER --update). Figures are made
 * up and mutually consistent. */
#include "sample_run.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct problem {
    const char *name;
    int64_t B, H, S, D;
    int dtype;
    bool causal;
    double scale;
    int64_t seed; /* named like a member of every record, on purpose */
};

static const kg_field fields[] = {
    { "B", offsetof(struct problem, B), KG_INT, 1, 64, 1, NULL, "batch" },
    { "H", offsetof(struct problem, H), KG_INT, 1, 64, 1, NULL, "heads" },
    { "S", offsetof(struct problem, S), KG_INT, 1, 4096, 1, NULL, "length" },
    { "D", offsetof(struct problem, D), KG_INT, 1, 256, 64, NULL, "head dimension" },
    { "dtype", offsetof(struct problem, dtype), KG_CHOICE, 0, 0, KG_F16, KG_DTYPE_NAMES, "storage" },
    { "causal", offsetof(struct problem, causal), KG_BOOL, 0, 0, 0, NULL, "mask" },
    { "scale", offsetof(struct problem, scale), KG_REAL, 0, 1, 0.125, NULL, "of the scores" },
    { "seed", offsetof(struct problem, seed), KG_INT, 0, 9, 0, NULL, "a name that is taken" },
};

static int tensors(const void *problem, kg_tensor ret_tensors[KG_MAX_TENSORS], int *ret_count)
{
    const struct problem *p = problem;
    ret_tensors[0] = (kg_tensor){
        .name = "Q", .dtype = KG_F16, .role = KG_INPUT, .rank = 4, .dims = { p->B, p->H, p->S, p->D }, .std = 1
    };
    ret_tensors[1] =
        (kg_tensor){ .name = "O", .dtype = KG_F16, .role = KG_OUTPUT, .rank = 4, .dims = { p->B, p->H, p->S, p->D } };
    *ret_count = 2;
    return KG_OK;
}

static const kg_op op = {
    .name = "op",
    .problem_size = sizeof(struct problem),
    .fields = { fields, sizeof fields / sizeof *fields },
    .tensors = tensors,
};

static const struct problem mission = { "mission", 1, 8, 512, 64, KG_F16, false, 0.125, 7 };
static const struct problem wide = { "wide", 2, 8, 1024, 64, KG_BF16, true, 0.125, 0 };

static const kg_backend math = { .name = "math", .device = KG_CUDA }, ours = { .name = "ours", .device = KG_CUDA },
                        library = { .name = "library", .device = KG_CUDA },
                        automatic = { .name = "auto", .device = KG_CUDA }, host = { .name = "host", .device = KG_CPU };
static const uint64_t seeds[] = { 0, 1, 2 };

static const kg_variable alpha_variables[] = { { "LENGTH", "S" }, { "HEADS", "H" } };
static const struct problem alpha_rows[] = { { .name = "mission" }, { .name = "wide" }, { .name = "tall" } };
static const kg_suite alpha = {
    .name = "alpha",
    .op = &op,
    .shapes = KG_TABLE(alpha_rows),
    .seeds = KG_LIST(seeds),
    .anchor = &math,
    .cpu_anchor = &host,
    .gates = { .max_abs = 0.06, .mean_abs = 0.02, .bad_abs = 0.02, .bad_pct = 1, .rel_l2 = 0.05 },
    .contest = { .ours = &ours, .baseline = &library },
    .environment = KG_LIST(alpha_variables),
};
static const kg_suite beta = {
    .name = "beta",
    .op = &op,
    .seeds = KG_LIST(seeds),
    .anchor = &math,
    .cpu_anchor = &host,
    .gates = { .max_abs = INFINITY, .mean_abs = 0.02, .bad_abs = 0.02, .bad_rel = 0.01, .bad_pct = 1, .rel_l2 = 0.05 },
};
/* A contest that is won: on `b` by exactly 10%, on `c` by exactly 5%, while `d` is lost and `e` was not run. */
static const struct problem gamma_rows[] = {
    { .name = "a" }, { .name = "b" }, { .name = "c" }, { .name = "d" }, { .name = "e|f" }, { .name = "g" },
};
static const kg_suite gamma_suite = {
    .name = "gamma",
    .op = &op,
    .shapes = KG_TABLE(gamma_rows),
    .seeds = KG_LIST(seeds),
    .anchor = &math,
    .gates = { .max_abs = 0.06, .mean_abs = 0.02, .bad_abs = 0.02, .bad_pct = 1, .rel_l2 = 0.05 },
    .contest = { .ours = &automatic, .baseline = &library },
};
static const kg_suite *const suites[] = { &alpha, &beta };

static const kg_kernel kernels[] = {
    { .name = "flash_forward",
      .arch = "sm_80",
      .code_hash = "00000000000000a0",
      .compiler = "13.0.88",
      .notes = "",
      .registers = 90,
      .shared_bytes = 1024 },
    { .name = "flash_forward",
      .arch = "sm_90a",
      .code_hash = "00000000000000a9",
      .compiler = "13.0.88",
      .notes = "Registers are spilled to local memory",
      .registers = 128,
      .stack_bytes = 16,
      .spill_store_bytes = 8,
      .spill_load_bytes = 4,
      .shared_bytes = 2048,
      .barriers = 1,
      .block_threads = 256,
      .tensor = { [KG_TENSOR_WGMMA] = 32 },
      .tensor_sass = -1 },
    { .name = "flash_forward",
      .arch = "sm_100f",
      .code_hash = "00000000000000b0",
      .compiler = "13.0.88",
      .notes = "",
      .registers = 96,
      .shared_bytes = 4096 },
};

static const struct kg_module module = {
    KG_MODULE_SIZES,   .name = "attention", .git_sha = "9f3c1e2aa0b1c2d3e4f5a6b7c8d9e0f1a2b3c4d5",
    .git_dirty = true, .flags = "nvcc -O3", .suites = suites,
    .n_suites = 2,     .kernels = kernels,  .n_kernels = sizeof kernels / sizeof *kernels,
};

static const struct kg_module baseline = {
    KG_MODULE_SIZES,     .name = "attention", .git_sha = "1a2b3c4d5e6f708192a3b4c5d6e7f8091a2b3c4d",
    .flags = "nvcc -O3", .suites = suites,    .n_suites = 2,
};

#define P50 "p50 26.0 us, golden 25.0 us (+4.0% \u00b10.2, threshold 2%)"
#define NO_CUDA "no CUDA device: the driver is not installed"

enum oddity { NONE, FLAKE, NEW, STOPPED };

struct sample {
    const kg_suite *suite;
    const kg_backend *backend;
    const struct problem *problem;
    const char *shape;
    uint64_t seed;
    enum kg_outcome outcome;
    enum kg_verdict verdict;
    double p50_us, change_pct; /* 0: not timed; NAN: not judged */
    const char *reason;
    enum oddity oddity;
};

static const struct sample cases[] = {
    { &alpha, &math, &mission, "mission", 0, KG_RAN, KG_PASS, 60, 0.01, "p50 60.0 us, golden 60.0 us", FLAKE },
    { &alpha, &ours, &mission, "mission", 0, KG_RAN, KG_SLOW, 26, 4, P50 ", code changed since the golden", NONE },
    { &alpha, &library, &mission, "mission", 0, KG_RAN, KG_FAST, 20, -20, "p50 20.0 us, golden 25.0 us", NONE },
    { &alpha, &automatic, &mission, "mission", 0, KG_RAN, KG_UNSURE, 21, 1.9, "12 of at most 12 blocks do not decide",
      NONE },
    { &alpha, &math, &mission, "mission", 1, KG_DEFERRED, KG_PASS, 0, 0, "right; judged on alpha/mission/s0/math",
      NONE },
    { &alpha, &ours, &mission, "mission", 1, KG_DEFERRED, KG_PASS, 0, 0, "right; judged on alpha/mission/s0/ours",
      NONE },
    { &alpha, &library, &mission, "mission", 1, KG_RAN, KG_FAIL, 0, 0, NASTY, NONE },
    { &alpha, &automatic, &mission, "mission", 1, KG_SKIPPED, KG_SKIP, 0, 0, NASTY, NONE },
    { &alpha, &math, &wide, "wide@S=1024,D=64", 0, KG_RAN, KG_UNGATED, 1350, NAN, "right; no golden", NONE },
    { &alpha, &ours, &wide, "wide@S=1024,D=64", 7, KG_BROKEN, KG_ERROR, 0, 0, "worker ended by signal 11, " NASTY,
      NONE },
    { &alpha, &library, &wide, "wide@S=1024,D=64", 0, KG_RAN, KG_XFAIL, 0, 0, "must fail (#12 is open), and does",
      NONE },
    { &alpha, &automatic, &wide, "wide@S=1024,D=64", 0, KG_RAN, KG_XPASS, 0, 0, "must fail, but is PASS", NONE },
    { &beta, &math, &mission, "mission", 0, KG_SKIPPED, KG_SKIP, 0, 0, NO_CUDA, NONE },
    { &beta, &ours, &mission, "mission", 0, KG_SKIPPED, KG_SKIP, 0, 0, NO_CUDA, NONE },
    { &beta, &library, &mission, "mission", 0, KG_SKIPPED, KG_SKIP, 0, 0, "libcudnn.so.9 is not here", NONE },
    { &beta, &host, &mission, "mission", 0, KG_RAN, KG_PASS, 0.5, -0.02, "p50 0.50 us, golden 0.50 us", NONE },
    { &beta, &host, &wide, "wide", 0, KG_RAN, KG_WEAK, 0, 0,
      "weak: its gates pass factor (rel_l2 0.0099 would see it; suite has 0.05)", NONE },
    { NULL, NULL, NULL, NULL, 0, KG_ABSENT, KG_LOST, 0, 0, "a golden without a case", NONE },
};

#define AGAINST "p50 26.0 us, baseline 25.0 us (+4.0% \u00b10.2, threshold 2%), code differs from the baseline's"
#define CUT "the run was stopped (interrupted) before its "

static const struct sample against_cases[] = {
    { &alpha, &math, &mission, "mission", 0, KG_RAN, KG_PASS, 60, 0.01, "p50 60.0 us, baseline 60.0 us", NONE },
    { &alpha, &ours, &mission, "mission", 0, KG_RAN, KG_SLOW, 26, 4, AGAINST, NONE },
    { &alpha, &library, &mission, "mission", 0, KG_RAN, KG_PASS, 20, NAN, "right; new: the baseline has no such case",
      NEW },
    { &alpha, &automatic, &mission, "mission", 0, KG_RAN, KG_UNSURE, 21, 1.9,
      CUT "time was decided; so far: p50 21.0 us", STOPPED },
    { &alpha, &math, &wide, "wide", 0, KG_RAN, KG_UNSURE, 0, 0, CUT "output was compared", STOPPED },
    { &beta, &math, &mission, "mission", 0, KG_RAN, KG_UNSURE, 0, 0, CUT "output was compared", STOPPED },
};

static const struct sample contest_cases[] = {
    { &gamma_suite, &library, &mission, "a", 0, KG_RAN, KG_PASS, 40, 0, "right", NONE },
    { &gamma_suite, &automatic, &mission, "a", 0, KG_RAN, KG_PASS, 20, 0, "right", NONE },
    { &gamma_suite, &library, &mission, "b", 0, KG_RAN, KG_PASS, 1, 0, "right", NONE },
    { &gamma_suite, &automatic, &mission, "b", 0, KG_RAN, KG_PASS, 0.9, 0, "right", NONE },
    { &gamma_suite, &library, &mission, "c", 0, KG_RAN, KG_PASS, 100, 0, "right", NONE },
    { &gamma_suite, &automatic, &mission, "c", 0, KG_RAN, KG_SLOW, 95, 0, "slower than its golden", NONE },
    { &gamma_suite, &library, &mission, "d", 0, KG_RAN, KG_PASS, 50, 0, "right", NONE },
    { &gamma_suite, &automatic, &mission, "d", 0, KG_RAN, KG_PASS, 80, 0, "right", NONE },
    { &gamma_suite, &library, &mission, "e|f", 0, KG_SKIPPED, KG_SKIP, 0, 0, "not here", NONE },
    { &gamma_suite, &automatic, &mission, "e|f", 0, KG_RAN, KG_PASS, 10, 0, "right", NONE },
    { &gamma_suite, &automatic, &mission, "a@S=1", 0, KG_RAN, KG_PASS, 1, 0, "a row of the user's own", NONE },
};

static const struct kg_device_state steady = { 1980, 2619, 41, 97, 410.5, 700, 0, 0, -1, 700, 0, 0, 0 };
static const struct kg_device_state throttled = { 1755, 2619, 71, 99, 698.5, 700, 0x4, 1, 1980, 700, 0, 0, 0 };
static const struct kg_device_state unknown = { -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1 };

static double *samples_of(double p50_us, size_t count)
{
    double *samples = malloc(count * sizeof *samples);
    if (!samples)
        abort();
    for (size_t i = 0; i < count; i++)
        samples[i] = p50_us * (1 + 0.01 * ((double)i - (double)(count - 1) / 2));
    return samples;
}

/* What stands beside the case: its anchor, or the baseline. */
static void set_neighbour(const struct sample *from, struct kg_block *block, bool against, bool anchored)
{
    if (against && from->oddity != NEW) {
        block->baseline_p50_us = from->p50_us / (1 + from->change_pct / 100);
        block->log_against = log1p(from->change_pct / 100);
        block->n_baseline_samples = 4;
        block->baseline_samples_us = samples_of(block->baseline_p50_us, 4);
    } else if (!against && anchored) {
        block->anchor_p50_us = 60;
        block->log_ratio = log(from->p50_us / 60);
        block->n_anchor_samples = 3;
        block->anchor_samples_us = samples_of(60, 3);
    }
}

static void set_judgement(const struct sample *from, struct kg_result *result, bool against)
{
    struct kg_judgement *judged = &result->judgement;
    *judged = (struct kg_judgement){ .judged = !isnan(from->change_pct), .threshold_pct = 2 };
    if (!judged->judged)
        return;
    judged->quantity = against ? KG_QUANTITY_AGAINST : result->of.kind == KG_CPU ? KG_QUANTITY_RATIO : KG_QUANTITY_RAW;
    judged->change_pct = from->change_pct;
    judged->margin_pct = 0.2;
    judged->floor_pct = 0.4;
    judged->golden_us = from->p50_us / (1 + from->change_pct / 100);
    judged->alarm_blocks = from->oddity == FLAKE || from->verdict == KG_SLOW ? 3 : 0;
    judged->alarm_pct = from->oddity == FLAKE ? 2.4 : from->verdict == KG_SLOW ? 4.1 : 0;
}

static void set_blocks(const struct sample *from, struct kg_result *result, bool against)
{
    double pool[10];
    bool cpu = result->of.kind == KG_CPU, anchored = strcmp(from->backend->name, cpu ? "host" : "math") != 0;
    result->n_blocks = 2;
    for (int i = 0; i < 2; i++) {
        struct kg_block *block = &result->blocks[i];
        *block = (struct kg_block){ .round = i + 1, .calls = 4, .p50_us = from->p50_us, .n_samples = 5 };
        block->span_us = 250000;
        block->busy_us = i ? 225000 : 235000;
        block->samples_us = samples_of(from->p50_us, 5);
        memcpy(pool + (size_t)5 * (size_t)i, block->samples_us, sizeof *pool * 5);
        set_neighbour(from, block, against, anchored);
        block->before = cpu ? unknown : steady;
        block->after = cpu ? unknown : from->verdict == KG_SLOW && i ? throttled : steady;
    }
    result->time_us = kg_stats_of(pool, 10);
    result->tick_us = 0.032;
    result->tflop_per_s = 537e6 / from->p50_us * 1e-6;
    result->gb_per_s = 2.1e6 / from->p50_us * 1e-3;
    result->queries_per_s = 4096 / from->p50_us * 1e6;
    result->roofline_pct = cpu ? 0 : 2.5;
    set_judgement(from, result, against);
}

static void set_figures(const struct sample *from, struct kg_result *result)
{
    bool right = from->verdict != KG_FAIL && from->verdict != KG_XFAIL;
    result->compared = true;
    result->output_digest = 0x0123456789abcdefu;
    result->comparison = (struct kg_comparison){
        .count = 262144,
        .max_abs = 0.01,
        .mean_abs = 0.001,
        .max_rel = 0.5,
        .rel_l2 = 0.004,
        .max_scaled = 1.7,
        .slope = 0.9998,
        .bias = -3.2e-7,
        .worst_index = 9,
        .worst_got = 0.25,
        .worst_expected = 0.26,
    };
    result->marks = (struct kg_gate_marks){ true, true, true, true, true, true, true, true };
    if (right)
        return;
    result->comparison.nonfinite = 3;
    result->comparison.bad = 8126;
    result->comparison.bad_pct = 3.1;
    result->comparison.max_abs = 0.5;
    result->comparison.rel_l2 = INFINITY;
    result->comparison.worst_index = 3 * 512 * 64 + 17 * 64 + 5;
    result->comparison.worst_got = -NAN;
    result->marks = (struct kg_gate_marks){ false, true, false, false, true, true, false, true };
}

static void set_result(const struct sample *from, bool against, struct kg_result *result)
{
    bool reached = from->oddity != STOPPED || from->p50_us > 0;
    result->is_new = from->oddity == NEW;
    result->stopped = from->oddity == STOPPED;
    result->outcome = from->outcome;
    result->verdict = from->verdict;
    snprintf(result->reason, sizeof result->reason, "%s", from->reason);
    if (!from->suite) {
        snprintf(result->id, sizeof result->id, "beta/gone/ours");
        return;
    }
    result->of = (struct kg_case){ .suite = from->suite,
                                   .backend = from->backend,
                                   .problem = from->problem,
                                   .shape = from->shape,
                                   .seed = from->seed,
                                   .kind = from->backend->device };
    snprintf(result->id, sizeof result->id, "%s/%s/s%d/%s", from->suite->name, from->shape, (int)from->seed,
             from->backend->name);
    snprintf(result->backend, sizeof result->backend, "%s",
             from->backend == &automatic && from->outcome == KG_RAN ? "library" : from->backend->name);
    if (reached && (from->outcome == KG_RAN || from->outcome == KG_DEFERRED))
        set_figures(from, result);
    if (from->p50_us > 0)
        set_blocks(from, result, against);
    if (from->backend == &ours && from->p50_us > 0) {
        snprintf(result->identity, sizeof result->identity, "flash_forward 00000000000000a9");
        snprintf(result->knobs, sizeof result->knobs, "tile=64,stages=2");
        result->launch =
            (struct kg_launch_info){ .kernels = 2,
                                     .memory_nodes = 1,
                                     .n_launched = 2,
                                     .launched = { { .name = "flash_forward" }, { .name = "of_a_library" } } };
    }
}

static void make_run(const struct sample *samples, size_t count, bool against, struct kg_run *ret_run)
{
    struct kg_result *results = calloc(count, sizeof *results);
    if (!results)
        abort();
    *ret_run = (struct kg_run){
        .id = "20261120T101500Z-9f3c1e2-h200",
        .version = "0.1.0",
        .started = "2026-11-20T10:15:00Z",
        .seconds = 9.84,
        .command = "kgate run 'a*'",
        .expectations = "expectations/expectations_h200.json",
        .expectations_exist = true,
        .module_path = "lib/attention.so",
        .module = &module,
        .device = { .kind = KG_CUDA,
                    .name = "NVIDIA H200",
                    .arch = "h200",
                    .uuid = "GPU-0",
                    .cc_major = 9,
                    .units = 132,
                    .driver_version = 13000,
                    .driver = "580.159" },
        .state_before = steady,
        .state_after = steady,
        .cuda_runtime = "13.0",
        .nvml = "13.580",
        .git = { .sha = "9f3c1e2aa0b1c2d3e4f5a6b7c8d9e0f1a2b3c4d5", .branch = "main", .dirty = true },
        .contract = { .timer = "graph", .l2 = "warm", .window_us = 400, .data = "irwin-hall-8" },
        .timed = true,
        .results = results,
        .n_results = count,
        .status = 1,
    };
    for (size_t i = 0; i < count; i++) {
        set_result(&samples[i], against, &results[i]);
        ret_run->counts[samples[i].verdict]++;
    }
}

void sample_run_make(struct kg_run *ret_run)
{
    make_run(cases, sizeof cases / sizeof *cases, false, ret_run);
}

void sample_run_make_against(struct kg_run *ret_run)
{
    make_run(against_cases, sizeof against_cases / sizeof *against_cases, true, ret_run);
    struct kg_result *slow = (struct kg_result *)(uintptr_t)&ret_run->results[1];
    snprintf(slow->baseline_identity, sizeof slow->baseline_identity, "flash_forward 00000000000000a8");
    ret_run->status = 3;
    ret_run->baseline = &baseline;
    snprintf(ret_run->baseline_path, sizeof ret_run->baseline_path, "builds/1a2b3c4/baseline.so");
    snprintf(ret_run->command, sizeof ret_run->command, "kgate run --against builds/1a2b3c4/baseline.so");
    snprintf(ret_run->again, sizeof ret_run->again, " --against builds/1a2b3c4/baseline.so");
    snprintf(ret_run->partial, sizeof ret_run->partial, "interrupted");
}

void sample_run_make_contest(struct kg_run *ret_run)
{
    make_run(contest_cases, sizeof contest_cases / sizeof *contest_cases, false, ret_run);
    for (size_t i = 0; i < ret_run->n_results; i++) { /* kernels of the module that do not spill */
        struct kg_result *result = (struct kg_result *)(uintptr_t)&ret_run->results[i];
        if (result->of.backend == &automatic)
            result->launch =
                (struct kg_launch_info){ .kernels = 1, .n_launched = 1, .launched = { { .name = "flash_forward" } } };
    }
    ret_run->device.cc_major = 10;
    ret_run->status = 3;
}

void sample_run_done(struct kg_run *run)
{
    for (size_t i = 0; i < run->n_results; i++)
        kg_result_done((struct kg_result *)(uintptr_t)&run->results[i]);
    free((void *)(uintptr_t)run->results);
}
