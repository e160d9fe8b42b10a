/* test_wire.c -- what a worker says and a parent hears: every message and the job, there and back.
 * A member added to a message gets a line in the test of it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "plan/module.h"
#include "worker/wire.h"

enum { N_RESULTS = 3 };

struct problem {
    const char *name;
    int64_t n;
};

static const kg_field fields[] = { { "n", offsetof(struct problem, n), KG_INT, .min = 1, .max = 4096 } };
static const kg_op op = { .name = "copy", .problem_size = sizeof(struct problem), .fields = KG_LIST(fields) };
static const kg_backend fast = { .name = "fast", .device = KG_CUDA }, loops = { .name = "loops", .device = KG_CPU };
static const kg_backend *const backends[] = { &fast, &loops };
static const struct problem rows[] = { { "one", 1 }, { "two", 2 } }, cpu_rows[] = { { "two", 3 } };
static const kg_suite suite = {
    .name = "main",
    .op = &op,
    .shapes = KG_TABLE(rows),
    .cpu_shapes = KG_TABLE(cpu_rows),
    .backends = KG_LIST(backends),
    .gates = { .max_abs = 0.5, .mean_abs = INFINITY, .bad_abs = 1, .bad_pct = 50, .rel_l2 = INFINITY }
};
static const kg_suite *const suites[] = { &suite };
static const struct kg_module module = { KG_MODULE_SIZES, .name = "wires", .suites = suites, .n_suites = 1 };

static struct kg_result *results; /* the parent's */
static FILE *pipe_file;           /* what the worker writes */

static int open_all(void **state)
{
    (void)state;
    results = calloc(N_RESULTS, sizeof *results);
    pipe_file = tmpfile();
    for (int i = 0; results && i < N_RESULTS; i++)
        results[i].of.suite = &suite;
    return results && pipe_file ? 0 : -1;
}

static int close_all(void **state)
{
    (void)state;
    for (int i = 0; i < N_RESULTS; i++)
        kg_result_done(&results[i]);
    free(results);
    return fclose(pipe_file);
}

/* The one line written since the last call, without its newline; free() it. */
static char *line_written(size_t *ret_length)
{
    char *line = NULL;
    size_t room = 0;
    rewind(pipe_file);
    ssize_t length = getline(&line, &room, pipe_file);
    assert_true(length > 1 && line[length - 1] == '\n');
    assert_int_equal(getc(pipe_file), EOF);
    line[length - 1] = '\0';
    *ret_length = (size_t)length - 1;
    rewind(pipe_file);
    assert_int_equal(ftruncate(fileno(pipe_file), 0), 0);
    return line;
}

/* Hands the line over; it must be of this type, and of the middle result. */
static struct kg_result *heard(enum kg_message_type wanted)
{
    struct kg_message message = { 0 };
    size_t length = 0;
    kg_error error = { 0 };
    char *line = line_written(&length);
    if (kg_wire_parse(line, length, "", N_RESULTS, &message, &error))
        fail_msg("%s: %s", line, error.text);
    assert_int_equal(message.type, wanted);
    assert_int_equal(message.index, 1);
    kg_wire_apply(&message, &results[1]);
    cJSON_Delete(message.root);
    free(line);
    return &results[1];
}

/* But for the last bit, which cJSON may leave out. */
static bool same_double(double a, double b)
{
    return a == b || (isnan(a) && isnan(b)) || fabs(a - b) <= 4e-16 * fabs(b);
}

/* ---- devices ----------------------------------------------------------------------------------------------- */

static void same_state(const struct kg_device_state *a, const struct kg_device_state *b)
{
    assert_true(a->sm_clock_mhz == b->sm_clock_mhz && a->memory_clock_mhz == b->memory_clock_mhz);
    assert_true(a->temperature_c == b->temperature_c && a->utilisation_pct == b->utilisation_pct);
    assert_true(a->power_w == b->power_w && a->power_limit_w == b->power_limit_w);
    assert_true(a->throttle_reasons == b->throttle_reasons && a->other_processes == b->other_processes);
    assert_true(a->sm_clock_mhz_max == b->sm_clock_mhz_max && a->power_limit_default_w == b->power_limit_default_w);
    assert_true(a->virtualisation == b->virtualisation && a->persistence_off == b->persistence_off);
    assert_int_equal(a->mig, b->mig);
}

static void same_device(const kg_device *a, const kg_device *b)
{
    assert_true(a->kind == b->kind && a->index == b->index && a->units == b->units);
    assert_true(a->cc_major == b->cc_major && a->cc_minor == b->cc_minor);
    assert_true(a->clock_mhz_max == b->clock_mhz_max && a->fp64_ratio == b->fp64_ratio);
    assert_true(a->memory_bytes == b->memory_bytes && a->l2_bytes == b->l2_bytes);
    assert_true(a->shared_bytes == b->shared_bytes && a->driver_version == b->driver_version);
    assert_true(a->peak_flops == b->peak_flops && a->peak_bytes_per_s == b->peak_bytes_per_s);
    assert_string_equal(a->name, b->name);
    assert_string_equal(a->arch, b->arch);
    assert_string_equal(a->uuid, b->uuid);
    assert_string_equal(a->driver, b->driver);
}

static const struct kg_device_health the_health = {
    .idle = { 345, 2619, 31, 0, 75.5, 650, 1, 2, 1980, 700, 1, 1, 0 },
    .work = { 1980, 2619, 41, 97, 410.5, 650, 0x104, 3, 1980, 700, 2, 0, 1 },
    .nvml = "12.580.159.03",
};

static void devices(void **state)
{
    (void)state;
    kg_device sent[2] = {
        { .kind = KG_CUDA,
          .index = 3,
          .name = "NVIDIA \"H200\"",
          .arch = "h200",
          .uuid = "GPU-1",
          .cc_major = 9,
          .cc_minor = 1,
          .units = 132,
          .clock_mhz_max = 1980,
          .fp64_ratio = 2,
          .memory_bytes = UINT64_MAX,
          .l2_bytes = (UINT64_C(1) << 53) + 1,
          .shared_bytes = 232448,
          .peak_flops = 0.1,
          .peak_bytes_per_s = 4.8e12,
          .driver_version = 13000,
          .driver = "580.159.03" },
        { .kind = KG_CPU, .peak_flops = INFINITY },
    };
    const struct kg_device_health health[2] = {
        the_health, { .idle = kg_device_state_unknown(), .work = kg_device_state_unknown() }
    };
    kg_device got[2];
    struct kg_device_health got_health[2];
    int count = 0;
    size_t length = 0;
    kg_wire_devices(pipe_file, sent, health, 2, "");
    char *line = line_written(&length);
    memset(got, 0x55, sizeof got);
    memset(got_health, 0x55, sizeof got_health);
    assert_true(!kg_wire_read_devices(line, length, got, got_health, 2, &count, NULL) && count == 2);
    for (int i = 0; i < 2; i++) {
        same_device(&got[i], &sent[i]);
        same_state(&got_health[i].idle, &health[i].idle);
        same_state(&got_health[i].work, &health[i].work);
        assert_string_equal(got_health[i].nvml, health[i].nvml);
    }
    assert_int_equal(kg_wire_read_devices(line, length, got, got_health, 1, &count, NULL), KG_OK);
    assert_int_equal(count, 1);
    free(line);
}

static void no_devices(void **state)
{
    (void)state;
    kg_device got[1];
    struct kg_device_health got_health[1];
    kg_error error = { 0 };
    int count = 77;
    size_t length = 0;
    kg_wire_devices(pipe_file, NULL, NULL, 0, "no driver");
    char *line = line_written(&length);
    assert_int_equal(kg_wire_read_devices(line, length, got, got_health, 1, &count, &error), KG_EUNSUPPORTED);
    assert_string_equal(error.text, "no driver");
    assert_int_equal(kg_wire_read_devices("junk", 4, got, got_health, 1, &count, &error), KG_EINVAL);
    assert_int_equal(count, 77);
    free(line);
}

/* ---- a case ------------------------------------------------------------------------------------------------ */

static void phases(void **state)
{
    (void)state;
    kg_wire_begin(pipe_file, 1, KG_CORRECTNESS);
    assert_int_equal(heard(KG_MESSAGE_BEGIN)->phase, KG_CORRECTNESS);
    kg_wire_begin(pipe_file, 1, KG_TIMING);
    assert_int_equal(heard(KG_MESSAGE_BEGIN)->phase, KG_TIMING);
    kg_wire_end(pipe_file, 1);
    assert_int_equal(heard(KG_MESSAGE_END)->phase, KG_DONE);
    assert_int_equal(results[0].phase, KG_NOT_RUN);
    assert_int_equal(results[2].phase, KG_NOT_RUN);
}

static void notes(void **state)
{
    static const char text[] = "line\nquote \" backslash \\ tab\t bell\x07 caf\xc3\xa9";
    (void)state;
    kg_wire_note(pipe_file, KG_MESSAGE_SKIP, 1, "too large");
    struct kg_result *r = heard(KG_MESSAGE_SKIP);
    assert_int_equal(r->outcome, KG_SKIPPED);
    assert_string_equal(r->note, "too large");
    kg_wire_note(pipe_file, KG_MESSAGE_BROKEN, 1, text);
    assert_int_equal(heard(KG_MESSAGE_BROKEN)->outcome, KG_BROKEN);
    assert_string_equal(r->note, text);
    kg_wire_note(pipe_file, KG_MESSAGE_LOST, 1, "no more");
    assert_int_equal(heard(KG_MESSAGE_LOST)->outcome, KG_ABSENT);
    assert_string_equal(r->note, "no more");
    char longer[2 * sizeof r->note];
    memset(longer, 'x', sizeof longer);
    longer[sizeof longer - 1] = '\0';
    kg_wire_note(pipe_file, KG_MESSAGE_BROKEN, 1, longer);
    assert_int_equal(strlen(heard(KG_MESSAGE_BROKEN)->note), sizeof r->note - 1); /* cut */
}

/* More than are told of one by one. */
static struct kg_launch_info many_kernels(void)
{
    struct kg_launch_info info = { .kernels = 18,
                                   .memory_nodes = 2,
                                   .other_nodes = 1,
                                   .early_starts = 3,
                                   .given = 4,
                                   .staged = 5,
                                   .n_launched = KG_MAX_KERNELS };
    for (int i = 0; i < KG_MAX_KERNELS; i++) {
        info.launched[i] = (struct kg_launched){ "", { i, 2, 3 }, { 128, 5, 6 }, { 7, 8, 9 }, 100000 + i, 1000 + i };
        snprintf(info.launched[i].name, sizeof info.launched[i].name, "_Z%dkernelPf", i);
    }
    return info;
}

/* From process to process. */
static void arguments_that_come_and_go_stay_unknown(void **state)
{
    static const int told[] = { 7, 7, 8, 7 }, known[] = { 7, 7, -1, -1 };
    (void)state;
    struct kg_result *sent = calloc(1, sizeof *sent);
    sent->launch.kernels = sent->launch.n_launched = 2;
    for (int i = 0; i < 4; i++) {
        sent->launch.launched[0].arguments = told[i];
        sent->launch.launched[1].arguments = 9;
        kg_wire_ready(pipe_file, 1, sent);
        const struct kg_result *r = heard(KG_MESSAGE_READY);
        assert_int_equal(r->launch.launched[0].arguments, known[i]);
        assert_int_equal(r->launch.launched[1].arguments, 9);
    }
    free(sent);
}

static void ready(void **state)
{
    (void)state;
    struct kg_result *sent = calloc(1, sizeof *sent);
    snprintf(sent->backend, sizeof sent->backend, "cudnn");
    snprintf(sent->identity, sizeof sent->identity, "cuDNN 9.19.0; k:0123456789abcdef");
    snprintf(sent->anchor_identity, sizeof sent->anchor_identity, "anchor code");
    snprintf(sent->pin, sizeof sent->pin, "{\"engine\":8}");
    snprintf(sent->anchor_pin, sizeof sent->anchor_pin, "engine 3");
    snprintf(sent->baseline_identity, sizeof sent->baseline_identity, "baseline code");
    snprintf(sent->baseline_pin, sizeof sent->baseline_pin, "engine 5");
    snprintf(sent->knobs, sizeof sent->knobs, "tile=4");
    snprintf(sent->note, sizeof sent->note, "a note");
    sent->launch = many_kernels();
    kg_wire_ready(pipe_file, 1, sent);
    struct kg_result *r = heard(KG_MESSAGE_READY);
    assert_string_equal(r->backend, sent->backend);
    assert_string_equal(r->identity, sent->identity);
    assert_string_equal(r->anchor_identity, sent->anchor_identity);
    assert_string_equal(r->pin, sent->pin);
    assert_string_equal(r->anchor_pin, sent->anchor_pin);
    assert_string_equal(r->baseline_identity, sent->baseline_identity);
    assert_string_equal(r->baseline_pin, sent->baseline_pin);
    assert_false(r->is_new);
    assert_string_equal(r->knobs, sent->knobs);
    assert_string_equal(r->note, sent->note);
    assert_memory_equal(&r->launch, &sent->launch, sizeof r->launch);
    /* A worker that did not time does not know what was beside the case: what is known stays. */
    sent->anchor_identity[0] = sent->anchor_pin[0] = sent->baseline_identity[0] = sent->baseline_pin[0] = '\0';
    sent->is_new = true; /* the baseline does not run it after all */
    sent->launch.n_launched = 1;
    kg_wire_ready(pipe_file, 1, sent);
    (void)heard(KG_MESSAGE_READY);
    assert_string_equal(r->anchor_identity, "anchor code");
    assert_string_equal(r->anchor_pin, "engine 3");
    assert_string_equal(r->baseline_identity, "baseline code");
    assert_string_equal(r->baseline_pin, "engine 5");
    assert_true(r->is_new);
    assert_int_equal(r->launch.n_launched, 1);
    free(sent);
}

static void same_compiled(const kg_compiled *a, const kg_compiled *b)
{
    assert_string_equal(a->name, b->name);
    assert_string_equal(a->code_hash, b->code_hash);
    assert_string_equal(a->compiler, b->compiler);
    assert_true(a->registers == b->registers && a->shared_bytes == b->shared_bytes);
    assert_true(a->spill_store_bytes == b->spill_store_bytes && a->spill_load_bytes == b->spill_load_bytes);
    assert_true(a->compile_ms == b->compile_ms && a->cache_hit == b->cache_hit);
}

/* What a later process finds in the cache was compiled by an earlier one; other code is news. */
static void compiled(void **state)
{
    struct kg_result *sent = calloc(1, sizeof *sent);
    const kg_compiled first = { "flex", "0123456789abcdef", "NVRTC 13.0", 168, 8, 12, 1024, 912.5, false, { 0 } };
    (void)state;
    kg_wire_ready(pipe_file, 1, sent);
    assert_int_equal(heard(KG_MESSAGE_READY)->n_compiled, 0);
    sent->n_compiled = 2;
    sent->compiled[0] = (kg_compiled){ .name = "mask", .code_hash = "a", .cache_hit = true };
    sent->compiled[1] = first;
    kg_wire_ready(pipe_file, 1, sent);
    struct kg_result *r = heard(KG_MESSAGE_READY);
    assert_int_equal(r->n_compiled, 2);
    same_compiled(&r->compiled[0], &sent->compiled[0]);
    same_compiled(&r->compiled[1], &first);
    sent->compiled[0].code_hash[0] = 'b';
    sent->compiled[1].compile_ms = 0;
    sent->compiled[1].cache_hit = true;
    kg_wire_ready(pipe_file, 1, sent);
    (void)heard(KG_MESSAGE_READY);
    assert_int_equal(r->n_compiled, 2);
    assert_string_equal(r->compiled[0].code_hash, "b");
    same_compiled(&r->compiled[1], &first);
    sent->n_compiled = KG_MAX_COMPILED;
    for (int i = 0; i < KG_MAX_COMPILED; i++)
        sent->compiled[i] = (kg_compiled){ .name = { (char)('a' + i) } };
    kg_wire_ready(pipe_file, 1, sent);
    (void)heard(KG_MESSAGE_READY);
    assert_int_equal(r->n_compiled, KG_MAX_COMPILED); /* no more than there is room for */
    assert_string_equal(r->compiled[KG_MAX_COMPILED - 1].name, "b");
    free(sent);
}

static void figures_there_and_back(struct kg_comparison sent, uint64_t digest, bool right)
{
    kg_wire_comparison(pipe_file, 1, &sent, digest);
    struct kg_result *r = heard(KG_MESSAGE_COMPARISON);
    const struct kg_comparison *got = &r->comparison;
    assert_true(r->output_digest == digest);
    assert_true(got->count == sent.count && got->nonfinite == sent.nonfinite && got->unwritten == sent.unwritten);
    assert_true(got->bad == sent.bad && got->worst_index == sent.worst_index);
    assert_true(same_double(got->max_abs, sent.max_abs) && same_double(got->mean_abs, sent.mean_abs));
    assert_true(same_double(got->bad_pct, sent.bad_pct) && same_double(got->max_rel, sent.max_rel));
    assert_true(same_double(got->rel_l2, sent.rel_l2) && same_double(got->bias, sent.bias));
    assert_true(same_double(got->worst_got, sent.worst_got) && same_double(got->worst_expected, sent.worst_expected));
    assert_true(same_double(got->max_scaled, sent.max_scaled) && same_double(got->scale_l2, sent.scale_l2));
    assert_true(same_double(got->slope_scale, sent.slope_scale) && same_double(got->expected_rms, sent.expected_rms));
    assert_true(same_double(got->slope, sent.slope) && same_double(got->largest, sent.largest));
    assert_true(r->compared && r->outcome == KG_RAN);
    assert_int_equal(kg_gate_marks_all(r->marks), right);
}

static void strength(void **state)
{
    const struct kg_strength sent = { .judged = true,
                                      .applies = 0x3fe,
                                      .accepted = 1u << KG_WRONG_NOISE | 1u << KG_WRONG_CUT_TAIL,
                                      .remedies = { [KG_WRONG_NOISE] = { KG_LIMIT_SLOPE, 0.0099, INFINITY },
                                                    [KG_WRONG_CUT_TAIL] = { KG_LIMIT_MAX_ABS, 0.25, 1 } } };
    (void)state;
    kg_wire_strength(pipe_file, 1, &sent);
    const struct kg_strength *got = &heard(KG_MESSAGE_STRENGTH)->strength;
    assert_true(got->judged && got->applies == sent.applies && got->accepted == sent.accepted);
    for (int wrong = 0; wrong < KG_WRONGS; wrong++) {
        const struct kg_remedy *a = &got->remedies[wrong], *b = &sent.remedies[wrong];
        assert_true(a->limit == b->limit && same_double(a->wanted, b->wanted) && same_double(a->in_force, b->in_force));
    }
    assert_false(results[0].strength.judged);
}

static void comparison(void **state)
{
    (void)state;
    figures_there_and_back((struct kg_comparison){ 10, 0, 0, 1, 0.1, 1.0 / 3, 10, 0.7, 1e-300, -2e-8, 3.5, 1e-3, 2e-5,
                                                   0.999, 17, 4.5, 9, 0.25, 0.5 },
                           0xfedcba9876543210, true);
    figures_there_and_back((struct kg_comparison){ UINT64_MAX, UINT64_MAX - 1, UINT64_MAX - 2, UINT64_MAX - 3, NAN,
                                                   INFINITY, NAN, -INFINITY, NAN, NAN, INFINITY, NAN, INFINITY, NAN,
                                                   -INFINITY, NAN, UINT64_MAX - 4, NAN, INFINITY },
                           UINT64_MAX, false);
    figures_there_and_back((struct kg_comparison){ .count = 1, .max_abs = NAN }, 0,
                           false); /* NaN is not 0 on arrival */
    figures_there_and_back((struct kg_comparison){ .count = 1, .rel_l2 = NAN }, 0, false);
    assert_false(results[1].marks.rel_l2);
}

static void repeats(void **state)
{
    (void)state;
    struct kg_repeats sent = { .launches = 37, .other_bits = 1, .wrong = "launch 37 of 200" };
    results[1].marks = (struct kg_gate_marks){ true, true, true, true, true, true, true, true };
    kg_wire_repeats(pipe_file, 1, &sent);
    struct kg_result *r = heard(KG_MESSAGE_REPEATS);
    assert_true(r->repeats.launches == 37 && r->repeats.other_bits == 1);
    assert_string_equal(r->repeats.wrong, sent.wrong);
    assert_false(kg_gate_marks_all(r->marks));
    *sent.wrong = '\0';
    kg_wire_repeats(pipe_file, 1, &sent);
    assert_true(kg_gate_marks_all(heard(KG_MESSAGE_REPEATS)->marks));
}

/* ---- blocks ------------------------------------------------------------------------------------------------ */

static void block_there_and_back(const struct kg_block *sent, double tick_us)
{
    kg_wire_block(pipe_file, 1, sent, tick_us);
    struct kg_result *r = heard(KG_MESSAGE_BLOCK);
    const struct kg_block *got = &r->blocks[r->n_blocks - 1];
    assert_true(got->round == sent->round && got->calls == sent->calls && same_double(r->tick_us, tick_us));
    assert_true(same_double(got->p50_us, sent->p50_us) && same_double(got->anchor_p50_us, sent->anchor_p50_us));
    assert_true(same_double(got->log_ratio, sent->log_ratio));
    assert_true(same_double(got->baseline_p50_us, sent->baseline_p50_us));
    assert_true(same_double(got->log_against, sent->log_against));
    assert_true(same_double(got->planted_pct, sent->planted_pct));
    assert_true(same_double(got->planted_p50_us, sent->planted_p50_us));
    assert_true(same_double(got->log_planted, sent->log_planted));
    assert_true(same_double(got->span_us, sent->span_us) && same_double(got->busy_us, sent->busy_us));
    assert_int_equal(got->n_samples, sent->n_samples);
    assert_int_equal(got->n_anchor_samples, sent->n_anchor_samples);
    assert_int_equal(got->n_baseline_samples, sent->n_baseline_samples);
    for (size_t i = 0; i < sent->n_samples; i++)
        assert_true(same_double(got->samples_us[i], sent->samples_us[i]));
    for (size_t i = 0; i < sent->n_anchor_samples; i++)
        assert_true(same_double(got->anchor_samples_us[i], sent->anchor_samples_us[i]));
    for (size_t i = 0; i < sent->n_baseline_samples; i++)
        assert_true(same_double(got->baseline_samples_us[i], sent->baseline_samples_us[i]));
    same_state(&got->before, &sent->before);
    same_state(&got->after, &sent->after);
}

static void blocks(void **state)
{
    (void)state;
    double samples[] = { 0.1, 1.0 / 3, 1e6 }, anchor[] = { 2.0 / 3, 5 }, baseline[] = { 4.0 / 3 };
    struct kg_block block = { .round = 4,
                              .calls = 67,
                              .p50_us = 0.1 + 0.2,
                              .anchor_p50_us = 1 / 7.0,
                              .log_ratio = log(0.6),
                              .baseline_p50_us = 2 / 7.0,
                              .log_against = log(0.7),
                              .planted_pct = 0.5,
                              .planted_p50_us = 3 / 7.0,
                              .log_planted = log(0.8),
                              .span_us = 1e5 / 3,
                              .busy_us = 9e4 / 3,
                              .n_baseline_samples = 1,
                              .baseline_samples_us = baseline,
                              .n_samples = 3,
                              .n_anchor_samples = 2,
                              .samples_us = samples,
                              .anchor_samples_us = anchor,
                              .before = { 1980, 3201, 45, 100, 698.25, 700, INT64_C(1) << 52, 2, 1995, 650.5, 1, 0, 1 },
                              .after = { -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1 } };
    block_there_and_back(&block, 0.032);
    block.n_anchor_samples = block.n_baseline_samples = 0;
    block.anchor_p50_us = block.log_ratio = block.baseline_p50_us = block.log_against = 0;
    block_there_and_back(&block, 1);
    assert_int_equal(results[1].n_blocks, 2);
    assert_null(results[1].blocks[1].anchor_samples_us);
    assert_null(results[1].blocks[1].baseline_samples_us);
}

/* A time of 0 or NaN must arrive as what it is: read as a ratio of 0 it would be one that passes. */
static void blocks_of_no_number(void **state)
{
    (void)state;
    double samples[] = { NAN, 0, 1 };
    struct kg_block block = {
        .p50_us = NAN, .anchor_p50_us = INFINITY, .log_ratio = -INFINITY, .n_samples = 3, .samples_us = samples
    };
    block_there_and_back(&block, NAN);
    block.log_ratio = block.log_against = NAN;
    block.anchor_p50_us = block.baseline_p50_us = NAN;
    block_there_and_back(&block, 1);
}

static void blocks_past_the_last_are_dropped(void **state)
{
    (void)state;
    double sample = 3;
    struct kg_block block = {
        .n_samples = 1, .samples_us = &sample, .n_anchor_samples = 1, .anchor_samples_us = &sample
    };
    for (int i = 0; i < KG_MAX_BLOCKS + 2; i++) {
        block.round = i;
        kg_wire_block(pipe_file, 1, &block, 1);
        (void)heard(KG_MESSAGE_BLOCK);
    }
    assert_int_equal(results[1].n_blocks, KG_MAX_BLOCKS);
    assert_int_equal(results[1].blocks[KG_MAX_BLOCKS - 1].round, KG_MAX_BLOCKS - 1);
}

/* ---- the rest ---------------------------------------------------------------------------------------------- */

static void bye(void **state)
{
    (void)state;
    static const char *const mine = "0123456789abcdef0123456789abcdef";
    static const char *const other = "0123456789abcdef0123456789abcdee";
    struct kg_message message = { 0 };
    size_t length = 0;
    kg_wire_sign(mine);
    kg_wire_bye(pipe_file);
    kg_wire_sign("");
    char *line = line_written(&length);
    assert_int_equal(kg_wire_parse(line, length, other, N_RESULTS, &message, NULL), KG_EINVAL);
    assert_int_equal(kg_wire_parse(line + 32, length - 32, mine, N_RESULTS, &message, NULL), KG_EINVAL);
    assert_int_equal(kg_wire_parse(line, 31, mine, N_RESULTS, &message, NULL), KG_EINVAL);
    assert_int_equal(kg_wire_parse(line, length, mine, N_RESULTS, &message, NULL), KG_OK);
    assert_int_equal(message.type, KG_MESSAGE_BYE);
    cJSON_Delete(message.root);
    free(line);
}

static void garbage_is_not_listened_to(void **state)
{
    (void)state;
    static const char *const lines[] = {
        "",
        "hello",
        "{",
        "[]",
        "null",
        "7",
        "{}",
        "{\"is\":7,\"case\":1}",
        "{\"is\":\"frobnicate\",\"case\":1}",
        "{\"is\":\"\",\"case\":1}",
        "{\"is\":\"END\",\"case\":1}",
        "{\"is\":\"end\",\"case\":3}",
        "{\"is\":\"end\",\"case\":-1}",
        "{\"is\":\"end\",\"case\":1e300}",
        "{\"is\":\"end\",\"case\":\"nan\"}",
        "{\"is\":\"end\",\"case\":\"inf\"}",
        "{\"is\":\"end\",\"case\":1} {}",
        "{\"is\":\"end\",\"is\":\"end\",\"case\":1}",
        "{\"is\":\"end\",\"case\":1",
        "{\"is\":\"figures\",\"case\":4}",
    };
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        struct kg_message message = { .type = KG_MESSAGE_BYE, .index = 77 };
        if (kg_wire_parse(lines[i], strlen(lines[i]), "", N_RESULTS, &message, NULL) != KG_EINVAL)
            fail_msg("listened to: %s", lines[i]);
        assert_true(message.type == KG_MESSAGE_BYE && message.index == 77 && !message.root);
    }
}

/* ---- the job ----------------------------------------------------------------------------------------------- */

static struct kg_job_case case_of(size_t index, const char *shape, const kg_backend *backend, uint64_t seed)
{
    static const struct problem swept = { "one@n=7", 7 };
    const struct problem *row = backend->device == KG_CPU ? &cpu_rows[0] : &rows[!strcmp(shape, "two")];
    return (struct kg_job_case){ .index = index,
                                 .of = { .suite = &suite,
                                         .backend = backend,
                                         .problem = strchr(shape, '@') ? &swept : row,
                                         .shape = shape,
                                         .seed = seed,
                                         .kind = backend->device,
                                         .tensors = 1234567 } };
}

static void write_job(const struct kg_job *job)
{
    kg_error error = { 0 };
    if (kg_wire_write_job(fileno(pipe_file), job, &error))
        fail_msg("%s", error.text);
    rewind(pipe_file);
}

/* What a worker measures by; the rest of a policy is the parent's. */
static const struct kg_policy the_policy = { .timer = KG_TIMER_EVENT,
                                             .l2 = KG_L2_COLD,
                                             .warmup = 11,
                                             .samples = 13,
                                             .window_us = 250,
                                             .sets = 4,
                                             .arm_us = 2e5,
                                             .threshold_pct = 2.5 };

static void same_case(const struct kg_job_case *one, const struct kg_job_case *wanted)
{
    assert_true(one->index == wanted->index && one->check == wanted->check && one->time == wanted->time);
    assert_true(one->digest == wanted->digest && one->of.seed == wanted->of.seed);
    assert_true(one->of.suite == &suite && one->of.backend == wanted->of.backend);
    assert_int_equal(one->of.kind, wanted->of.kind);
    assert_int_equal(one->of.tensors, wanted->of.tensors);
    assert_string_equal(one->of.shape, wanted->of.shape);
    assert_string_equal(one->backend, wanted->backend);
    assert_string_equal(one->pin, wanted->pin);
    assert_string_equal(one->anchor_pin, wanted->anchor_pin);
    assert_string_equal(one->baseline_pin, wanted->baseline_pin);
    assert_true(one->is_new == wanted->is_new && one->planted_pct == wanted->planted_pct);
    assert_int_equal(one->again, wanted->again);
    assert_true(one->strength_only == wanted->strength_only && one->check_baseline == wanted->check_baseline);
    assert_memory_equal(&one->of.policy, &wanted->of.policy, sizeof the_policy);
}

static void same_settings(const struct kg_job *got)
{
    assert_string_equal(got->module, "a/module.so");
    assert_string_equal(got->baseline, "b/module.so");
    assert_true(got->anchors);
    assert_string_equal(got->cache, "a/cache");
    assert_true(got->kind == KG_CUDA && got->device == 3 && got->round == 7);
    assert_true(got->order_seed == UINT64_MAX - 5);
    assert_int_equal(got->repeat, 200);
    assert_true(got->n_library_paths == 2 && got->n_knobs == 1 && got->n_cases == 0);
    assert_string_equal(got->library_paths[1], "b \"quoted\"");
    assert_int_equal(got->n_baseline_library_paths, 1);
    assert_string_equal(got->baseline_library_paths[0], "b \"quoted\"");
    assert_string_equal(got->knobs[0], "tile=4");
}

static void the_job(void **state)
{
    (void)state;
    const char *paths[] = { "a/lib", "b \"quoted\"" }, *knobs[] = { "tile=4" };
    struct kg_job_case cases[] = { case_of(5, "one@n=7", &fast, UINT64_MAX), case_of(4, "one@n=7", &fast, 1),
                                   case_of(6, "two", &fast, 0), case_of(9, "two", &loops, 0) };
    cases[0].check = cases[0].again = cases[0].check_baseline = true;
    cases[1].time = true;
    cases[1].digest = UINT64_MAX - 1;
    snprintf(cases[1].backend, sizeof cases[1].backend, "cudnn");
    snprintf(cases[1].pin, sizeof cases[1].pin, "engine 8");
    snprintf(cases[1].anchor_pin, sizeof cases[1].anchor_pin, "engine 3");
    snprintf(cases[1].baseline_pin, sizeof cases[1].baseline_pin, "engine 5");
    cases[1].of.policy = the_policy;
    cases[2].is_new = true;
    cases[3].planted_pct = 0.5;
    cases[3].strength_only = true;
    struct kg_job job = { .module = "a/module.so",
                          .baseline = "b/module.so",
                          .anchors = true,
                          .kind = KG_CUDA,
                          .device = 3,
                          .round = 7,
                          .order_seed = UINT64_MAX - 5,
                          .repeat = 200,
                          .library_paths = paths,
                          .n_library_paths = 2,
                          .baseline_library_paths = paths + 1,
                          .n_baseline_library_paths = 1,
                          .knobs = knobs,
                          .n_knobs = 1,
                          .cache = "a/cache",
                          .cases = cases,
                          .n_cases = 4 };
    struct kg_wire_job got;
    write_job(&job);
    assert_int_equal(kg_wire_read_job(pipe_file, &got, NULL), KG_OK);
    same_settings(&got.job);
    assert_int_equal(kg_wire_resolve_job(&got, &module, NULL), KG_OK);
    assert_int_equal(got.job.n_cases, 4);
    for (size_t i = 0; i < 4; i++)
        same_case(&got.job.cases[i], &cases[i]);
    kg_wire_job_done(&got);
}

/* One problem a shape, so that a fixture serves its cases; the CPU's row of the same name is another. */
static void cases_of_a_shape_share_its_problem(void **state)
{
    (void)state;
    struct kg_job_case cases[] = { case_of(0, "one@n=7", &fast, 0), case_of(1, "one@n=7", &fast, 1),
                                   case_of(2, "two", &fast, 0), case_of(3, "two", &loops, 0) };
    struct kg_job job = { .module = "m", .kind = KG_CUDA, .cases = cases, .n_cases = 4 };
    struct kg_wire_job got;
    const int64_t n[] = { 7, 7, 2, 3 };
    write_job(&job);
    assert_int_equal(kg_wire_read_job(pipe_file, &got, NULL), KG_OK);
    assert_int_equal(got.job.n_knobs, 0);
    assert_int_equal(kg_wire_resolve_job(&got, &module, NULL), KG_OK);
    const struct kg_job_case *c = got.job.cases;
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(((const struct problem *)c[i].of.problem)->n, n[i]);
    assert_ptr_equal(c[0].of.problem, c[1].of.problem);
    assert_int_equal(c[0].of.shape_ordinal, c[1].of.shape_ordinal);
    assert_true(c[1].of.problem != c[2].of.problem && c[2].of.problem != c[3].of.problem);
    assert_true(c[1].of.shape_ordinal != c[2].of.shape_ordinal && c[2].of.shape_ordinal != c[3].of.shape_ordinal);
    kg_wire_job_done(&got);
}

/* Of cases that are new the gates are told, and hold for all of a suite. */
static void new_cases_are_held_to_gates(void **state)
{
    (void)state;
    kg_suite held = suite;
    held.gates = (kg_gates){ .max_abs = 0.1, .slope = 1.0 / 3 };
    struct kg_job_case cases[] = { case_of(0, "one", &fast, 0), case_of(1, "one", &fast, 1) };
    for (int i = 0; i < 2; i++) {
        cases[i].of.suite = &held;
        cases[i].is_new = true;
    }
    struct kg_job job = { .module = "m", .cases = cases, .n_cases = 2 };
    struct kg_wire_job got;
    write_job(&job);
    assert_int_equal(kg_wire_read_job(pipe_file, &got, NULL), KG_OK);
    assert_int_equal(kg_wire_resolve_job(&got, &module, NULL), KG_OK);
    const struct kg_job_case *c = got.job.cases;
    assert_memory_equal(&c[0].of.suite->gates, &held.gates, sizeof held.gates);
    assert_ptr_equal(c[0].of.suite, c[1].of.suite); /* one fixture */
    assert_ptr_equal(c[0].of.problem, c[1].of.problem);
    assert_string_equal(c[0].of.suite->name, suite.name);
    kg_wire_job_done(&got);
}

static void large_jobs_arrive_whole(void **state)
{
    enum { MANY = 2000 };
    (void)state;
    struct kg_job_case *cases = calloc(MANY, sizeof *cases);
    struct kg_job job = { .module = "m", .cases = cases, .n_cases = MANY };
    struct kg_wire_job got;
    for (size_t i = 0; i < MANY; i++)
        cases[i] = case_of(i, i % 2 ? "one" : "two", &fast, i);
    write_job(&job);
    assert_int_equal(kg_wire_read_job(pipe_file, &got, NULL), KG_OK);
    assert_int_equal(kg_wire_resolve_job(&got, &module, NULL), KG_OK);
    assert_int_equal(got.job.n_cases, MANY);
    for (size_t i = 0; i < MANY; i++)
        assert_true(got.job.cases[i].index == i && got.job.cases[i].of.seed == i);
    kg_wire_job_done(&got);
    free(cases);
}

static void job_refused(struct kg_job_case one, const struct kg_module *its_module, const char *why)
{
    struct kg_job_case cases[] = { case_of(0, "one", &fast, 0), one };
    struct kg_job job = { .module = "m", .cases = cases, .n_cases = 2 };
    struct kg_wire_job got;
    kg_error error = { 0 };
    rewind(pipe_file);
    assert_int_equal(ftruncate(fileno(pipe_file), 0), 0);
    write_job(&job);
    assert_int_equal(kg_wire_read_job(pipe_file, &got, NULL), KG_OK);
    int status = kg_wire_resolve_job(&got, its_module, &error);
    assert_int_equal(status, why ? KG_EINVAL : KG_OK);
    assert_string_equal(error.text, why ? why : "");
    kg_wire_job_done(&got);
    assert_true(got.root == NULL && got.job.cases == NULL);
}

static void jobs_of_another_module(void **state)
{
    static const char no_case[] = "the job names a case that the module does not have";
    (void)state;
    const kg_backend slow = { .name = "slow", .device = KG_CUDA };
    kg_suite renamed = suite;
    const kg_suite *const other_suites[] = { &renamed };
    struct kg_module other = module;
    renamed.name = "mainly";
    other.suites = other_suites;
    job_refused(case_of(1, "one", &fast, 0), &module, NULL);
    job_refused(case_of(1, "one", &fast, 0), &other, no_case);
    job_refused(case_of(1, "one", &slow, 0), &module, no_case);
    job_refused(case_of(1, "three", &fast, 0), &module, "suite main has no row three");
    job_refused(case_of(1, "one", &loops, 0), &module, "suite main has no row one"); /* the CPU has rows of its own */
    job_refused(case_of(1, "one@n=0", &fast, 0), &module, "--set n=0 is outside 1 to 4096");
    struct kg_job_case smaller = case_of(1, "two", &fast, 0);
    smaller.of.problem = &cpu_rows[0];
    job_refused(smaller, &module, "main/two is another problem in a worker: n=3 -> n=2");
    rewind(pipe_file);
    assert_int_equal(ftruncate(fileno(pipe_file), 0), 0);
    struct kg_wire_job got = { .root = NULL };
    fputs("{\"module\":", pipe_file);
    rewind(pipe_file);
    assert_int_equal(kg_wire_read_job(pipe_file, &got, NULL), KG_EINVAL);
    assert_null(got.root);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, open_all, close_all)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(devices),
        TEST(no_devices),
        TEST(phases),
        TEST(notes),
        TEST(arguments_that_come_and_go_stay_unknown),
        TEST(ready),
        TEST(compiled),
        TEST(strength),
        TEST(comparison),
        TEST(repeats),
        TEST(blocks),
        TEST(blocks_of_no_number),
        TEST(blocks_past_the_last_are_dropped),
        TEST(bye),
        TEST(garbage_is_not_listened_to),
        TEST(the_job),
        TEST(cases_of_a_shape_share_its_problem),
        TEST(new_cases_are_held_to_gates),
        TEST(large_jobs_arrive_whole),
        TEST(jobs_of_another_module),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
