/* json.c -- the JSON files of a run's results, by cJSON (build_meta.c has the rest). Field names are an interface:
 * scripts read them, so names are added and never changed; tests/reports/test_reports.c holds those that must be there.
 * Numbers that are not finite are strings. */
#include "reports/report.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "reports/facts.h"
#include "reports/json_parts.h"
#include "judge/verdict.h"

/* ---- correctness_summary.json ---- */

static void add_comparison(cJSON *record, const struct kg_result *result)
{
    const struct kg_comparison *f = &result->comparison;
    kg_json_add_real(record, "max_abs_err", f->max_abs);
    kg_json_add_real(record, "mean_abs_err", f->mean_abs);
    kg_json_add_real(record, "max_rel_err", f->max_rel);
    kg_json_add_real(record, "pct_bad", f->bad_pct);
    kg_json_add_real(record, "rel_l2_err", f->rel_l2);
    kg_json_add_real(record, "scaled_err", f->max_scaled);
    kg_json_add_real(record, "slope", f->slope);
    kg_json_add_real(record, "bias", f->bias);
    kg_json_add_count(record, "elements", f->count);
    kg_json_add_count(record, "nonfinite", f->nonfinite);
    kg_json_add_count(record, "unwritten", f->unwritten);
    kg_json_add_count(record, "worst_index", f->worst_index);
    kg_json_add_real(record, "worst_got", f->worst_got);
    kg_json_add_real(record, "worst_expected", f->worst_expected);
    cJSON *gates = cJSON_AddObjectToObject(record, "gates");
    cJSON_AddBoolToObject(gates, "max_abs_err_pass", result->marks.max_abs);
    cJSON_AddBoolToObject(gates, "mean_abs_err_pass", result->marks.mean_abs);
    cJSON_AddBoolToObject(gates, "pct_bad_pass", result->marks.bad_pct);
    cJSON_AddBoolToObject(gates, "rel_l2_err_pass", result->marks.rel_l2);
    cJSON_AddBoolToObject(gates, "scaled_err_pass", result->marks.scaled);
    cJSON_AddBoolToObject(gates, "slope_pass", result->marks.slope);
    cJSON_AddBoolToObject(gates, "finite_pass", result->marks.finite);
    if (!result->repeats.launches)
        return;
    cJSON_AddBoolToObject(gates, "repeats_pass", result->marks.repeats);
    cJSON *repeats = cJSON_AddObjectToObject(record, "repeats");
    cJSON_AddNumberToObject(repeats, "launches", result->repeats.launches);
    cJSON_AddNumberToObject(repeats, "other_bits", result->repeats.other_bits);
}

/* Which wrong answers the gates pass on these inputs, whoever wrote the output. */
static void add_strength(cJSON *record, const struct kg_result *result)
{
    const struct kg_strength *strength = &result->strength;
    int applicable = 0, accepted = 0;
    if (!strength->judged)
        return;
    cJSON *object = cJSON_AddObjectToObject(record, "strength"), *list = cJSON_CreateArray();
    for (int wrong = 0; wrong < KG_WRONGS; wrong++) {
        applicable += strength->applies >> wrong & 1;
        if (!(strength->accepted >> wrong & 1))
            continue;
        accepted++;
        cJSON *one = cJSON_CreateObject();
        kg_json_add_text(one, "wrong", kg_wrong_names[wrong]);
        kg_json_add_text(one, "limit", kg_limit_names[strength->remedies[wrong].limit]);
        kg_json_add_real(one, "wanted", strength->remedies[wrong].wanted);
        kg_json_add_real(one, "in_force", strength->remedies[wrong].in_force);
        cJSON_AddBoolToObject(one, "excused", result->of.policy.excused >> wrong & 1);
        cJSON_AddItemToArray(list, one);
    }
    cJSON_AddNumberToObject(object, "applicable", applicable);
    cJSON_AddNumberToObject(object, "caught", applicable - accepted);
    cJSON_AddItemToObject(object, "accepted", list);
}

static void add_limits(cJSON *record, const kg_gates *gates)
{
    cJSON *limits = cJSON_AddObjectToObject(record, "limits");
    kg_json_add_real(limits, "max_abs", gates->max_abs);
    kg_json_add_real(limits, "mean_abs", gates->mean_abs);
    kg_json_add_real(limits, "bad_abs", gates->bad_abs);
    kg_json_add_real(limits, "bad_rel", gates->bad_rel);
    kg_json_add_real(limits, "bad_pct", gates->bad_pct);
    kg_json_add_real(limits, "rel_l2", gates->rel_l2);
    kg_json_add_real(limits, "scaled", gates->scaled);
    kg_json_add_real(limits, "slope", gates->slope);
}

/* `pass` is what the gates found; a case that must fail therefore has false. all_pass is the run's answer: something
 * was compared, nothing is FAIL, ERROR or XPASS, and nothing was left out because the run was stopped. Skipped cases
 * are no results: they are listed apart. */
static void fill_correctness(const struct kg_run *run, cJSON *root)
{
    bool compared = false, missing = false;
    kg_json_add_text(root, "partial", run->partial);
    cJSON *results = cJSON_AddArrayToObject(root, "results");
    cJSON *skipped = cJSON_AddArrayToObject(root, "skipped");
    for (size_t i = 0; i < run->n_results; i++) {
        const struct kg_result *result = &run->results[i];
        if (result->outcome == KG_SKIPPED || result->outcome == KG_ABSENT) {
            kg_json_add_record(skipped, result);
            continue;
        }
        cJSON *record = kg_json_add_record(results, result);
        cJSON_AddBoolToObject(record, "compared", result->compared);
        if (result->compared)
            add_comparison(record, result);
        add_strength(record, result);
        if (result->of.suite) {
            const kg_gates gates = kg_case_gates(&result->of, result->comparison.largest);
            add_limits(record, &gates);
        }
        bool pass = result->compared && result->outcome != KG_BROKEN && kg_gate_marks_all(result->marks);
        cJSON_AddBoolToObject(record, "pass", pass);
        kg_json_add_problem(record, result);
        compared = compared || result->compared;
        missing = missing || (result->stopped && !result->compared);
    }
    bool wrong = run->counts[KG_FAIL] || run->counts[KG_ERROR] || run->counts[KG_XPASS];
    cJSON_AddBoolToObject(root, "all_pass", compared && !missing && !wrong);
}

/* ---- perf_baseline.json ---- */

static uint64_t timed_calls(const struct kg_result *result)
{
    uint64_t calls = 0;
    for (int i = 0; i < result->n_blocks; i++)
        calls += (uint64_t)result->blocks[i].n_samples * (uint64_t)result->blocks[i].calls;
    return calls;
}

static void add_time(cJSON *record, const struct kg_result *result)
{
    const struct kg_stats *time = &result->time_us;
    kg_json_add_real(record, "p50_us", time->p50);
    kg_json_add_real(record, "p90_us", time->p90);
    kg_json_add_real(record, "p95_us", time->p95);
    kg_json_add_real(record, "p99_us", time->p99);
    kg_json_add_real(record, "mean_us", time->mean);
    kg_json_add_real(record, "std_us", time->std);
    kg_json_add_real(record, "min_us", time->min);
    kg_json_add_real(record, "max_us", time->max);
    kg_json_add_real(record, "iters_per_sec", 1e6 / time->mean);
    cJSON_AddNumberToObject(record, "blocks", result->n_blocks);
    kg_json_add_count(record, "samples", kg_fact_samples(result));
    kg_json_add_real(record, "gflops", result->tflop_per_s * 1e3);
    kg_json_add_real(record, "gb_per_s", result->gb_per_s);
    kg_json_add_real(record, "queries_per_s", result->queries_per_s);
    kg_json_add_real(record, "roofline_pct", result->roofline_pct);
    kg_json_add_real(record, "timer_tick_us", result->tick_us);
}

static void add_judgement(cJSON *record, const struct kg_result *result)
{
    const struct kg_judgement *judged = &result->judgement;
    double anchor = kg_fact_anchor_speedup(result);
    if (result->n_blocks && result->blocks[0].anchor_p50_us > 0)
        kg_json_add_text(record, "anchor", kg_case_anchor(&result->of, kg_fact_resolved(result)));
    if (!isnan(anchor))
        kg_json_add_real(record, "speedup_vs_anchor", anchor);
    if (result->is_new)
        cJSON_AddTrueToObject(record, "new");
    if (!isnan(kg_fact_baseline_us(result)))
        kg_json_add_real(record, "baseline_p50_us", kg_fact_baseline_us(result));
    if (!judged->judged)
        return;
    bool against = judged->quantity == KG_QUANTITY_AGAINST;
    kg_json_add_text(record, "judge", kg_fact_judge(result));
    if (!against)
        kg_json_add_real(record, "golden_us", judged->golden_us);
    kg_json_add_real(record, "change_pct", judged->change_pct);
    kg_json_add_real(record, "margin_pct", judged->margin_pct);
    kg_json_add_real(record, "threshold_pct", judged->threshold_pct);
    kg_json_add_text(record, "threshold_from", KG_THRESHOLD_NAMES[result->of.policy.threshold_from]);
    kg_json_add_real(record, "floor_pct", judged->floor_pct);
    cJSON_AddNumberToObject(record, "alarm_blocks", judged->alarm_blocks);
    if (judged->alarm_blocks)
        kg_json_add_real(record, "alarm_pct", judged->alarm_pct);
    kg_json_add_real(record, against ? "speedup_vs_baseline" : "speedup_vs_golden", kg_fact_golden_speedup(result));
    cJSON_AddBoolToObject(record, "same_code", judged->same_code);
}

static void add_timing(cJSON *record, const struct kg_run *run, const struct kg_result *result)
{
    kg_json_add_count(record, "warmup_iters", (uint64_t)run->warmup_iters);
    kg_json_add_count(record, "timed_iters", timed_calls(result));
    add_time(record, result);
    add_judgement(record, result);
    kg_json_add_text(record, "identity", result->identity);
    if (*result->baseline_identity)
        kg_json_add_text(record, "baseline_identity", result->baseline_identity);
    kg_json_add_noise(record, kg_fact_noises(result));
}

static void add_samples(cJSON *object, const char *name, const double *samples_us, size_t count)
{
    cJSON *array = cJSON_AddArrayToObject(object, name);
    for (size_t i = 0; i < count; i++)
        cJSON_AddItemToArray(array, isfinite(samples_us[i]) ? cJSON_CreateNumber(samples_us[i])
                                                            : cJSON_CreateString(kg_format_number(samples_us[i]).s));
}

/* span_us and busy_us let a reader check how idle the device was between a block's first window and its last. */
static void add_blocks(cJSON *record, const struct kg_result *result, bool whole)
{
    cJSON *blocks = cJSON_AddArrayToObject(record, "block_list");
    for (int i = 0; i < result->n_blocks; i++) {
        const struct kg_block *block = &result->blocks[i];
        cJSON *item = cJSON_CreateObject();
        cJSON_AddItemToArray(blocks, item);
        cJSON_AddNumberToObject(item, "round", block->round);
        cJSON_AddNumberToObject(item, "calls", block->calls);
        kg_json_add_real(item, "p50_us", block->p50_us);
        kg_json_add_real(item, "anchor_p50_us", block->anchor_p50_us);
        kg_json_add_real(item, "log_ratio", block->log_ratio);
        if (block->baseline_p50_us > 0) {
            kg_json_add_real(item, "baseline_p50_us", block->baseline_p50_us);
            kg_json_add_real(item, "log_against", block->log_against);
        }
        kg_json_add_real(item, "span_us", block->span_us);
        kg_json_add_real(item, "busy_us", block->busy_us);
        if (!whole)
            continue;
        add_samples(item, "samples_us", block->samples_us, block->n_samples);
        add_samples(item, "anchor_samples_us", block->anchor_samples_us, block->n_anchor_samples);
        add_samples(item, "baseline_samples_us", block->baseline_samples_us, block->n_baseline_samples);
        kg_json_add_state(item, "state_before", &block->before);
        kg_json_add_state(item, "state_after", &block->after);
    }
}

static void fill_perf(const struct kg_run *run, cJSON *root)
{
    kg_json_add_text(root, "partial", run->partial);
    kg_json_add_use(root, run);
    cJSON *results = cJSON_AddArrayToObject(root, "results");
    for (size_t i = 0; i < run->n_results; i++) {
        if (!kg_fact_timed(&run->results[i]))
            continue;
        cJSON *record = kg_json_add_record(results, &run->results[i]);
        add_timing(record, run, &run->results[i]);
        add_blocks(record, &run->results[i], false);
        kg_json_add_problem(record, &run->results[i]);
    }
}

/* ---- --format json ---- */

static void fill_all(const struct kg_run *run, cJSON *root)
{
    static const char *const outcomes[] = { "ran", "skipped", "broken", "deferred", "absent" };
    static const char *const blesses[] = { NULL, "blessed", "not blessed", "pruned" };
    kg_json_fill_build_meta(run, root);
    cJSON *results = cJSON_AddArrayToObject(root, "results");
    for (size_t i = 0; i < run->n_results; i++) {
        const struct kg_result *result = &run->results[i];
        cJSON *record = kg_json_add_record(results, result);
        kg_json_add_text(record, "outcome", outcomes[result->outcome]);
        kg_json_add_text(record, "note", result->note);
        cJSON_AddBoolToObject(record, "stopped", result->stopped);
        if (result->bless)
            kg_json_add_text(record, "bless", blesses[result->bless]);
        if (result->compared) {
            char digest[24];
            (void)snprintf(digest, sizeof digest, "%016" PRIx64, result->output_digest);
            add_comparison(record, result);
            add_strength(record, result);
            kg_json_add_text(record, "output_digest", digest);
        }
        if (kg_fact_timed(result)) {
            add_timing(record, run, result);
            add_blocks(record, result, true);
        }
        kg_json_add_text(record, "knobs", result->knobs);
        kg_json_add_text(record, "pin", result->pin);
        kg_json_add_problem(record, result);
    }
    cJSON *counts = cJSON_AddObjectToObject(root, "counts");
    for (int i = 0; i < KG_VERDICTS; i++)
        kg_json_add_count(counts, kg_verdict_name((enum kg_verdict)i), run->counts[i]);
    cJSON_AddNumberToObject(root, "status", run->status);
}

int kg_report_json(const struct kg_run *run, FILE *out, kg_error *ret_error)
{
    return kg_json_put_document(run, fill_all, out, ret_error);
}

int kg_report_correctness(const struct kg_run *run, FILE *out, kg_error *ret_error)
{
    return kg_json_put_document(run, fill_correctness, out, ret_error);
}

int kg_report_perf(const struct kg_run *run, FILE *out, kg_error *ret_error)
{
    return kg_json_put_document(run, fill_perf, out, ret_error);
}

static void put_samples(const struct kg_result *result, const char *head, int block, const char *kind,
                        const double *samples_us, size_t count, FILE *out)
{
    for (size_t i = 0; i < count; i++) {
        fprintf(out, "{%s,\"round\":%d,\"block\":%d,\"kind\":\"%s\",\"us\":", head, result->blocks[block].round, block,
                kind);
        if (isfinite(samples_us[i]))
            fprintf(out, "%.9g}\n", samples_us[i]);
        else
            fprintf(out, "\"%s\"}\n", kg_format_number(samples_us[i]).s);
    }
}

/* One line a sample, `kind` says of which arm; in the order measured within an arm, and the arms of a block one after
 * the other. Not by way of a document: these are hundreds of thousands. */
int kg_report_samples(const struct kg_run *run, FILE *out, kg_error *ret_error)
{
    for (size_t i = 0; i < run->n_results; i++) {
        const struct kg_result *result = &run->results[i];
        cJSON *pair = cJSON_CreateObject();
        kg_json_add_text(pair, "id", result->id);
        kg_json_add_text(pair, "backend", kg_fact_resolved(result));
        char *head = cJSON_PrintUnformatted(pair);
        cJSON_Delete(pair);
        if (!head)
            return kg_fail(ret_error, KG_ENOMEM, "no memory for the samples");
        head[strlen(head) - 1] = '\0'; /* without its braces */
        for (int k = 0; k < result->n_blocks; k++) {
            const struct kg_block *block = &result->blocks[k];
            put_samples(result, head + 1, k, "case", block->samples_us, block->n_samples, out);
            put_samples(result, head + 1, k, "anchor", block->anchor_samples_us, block->n_anchor_samples, out);
            put_samples(result, head + 1, k, "baseline", block->baseline_samples_us, block->n_baseline_samples, out);
        }
        cJSON_free(head);
    }
    return kg_stream_check(out, ret_error);
}
