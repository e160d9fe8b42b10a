/* csv.c -- comparison.csv: a row a case, every figure. Quoted as RFC 4180 says; a cell is empty where there is nothing
 * to say, and nan or inf where that was found. A new column is a line in put_record: it writes heading and cell. */
#include "reports/report.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "reports/contest.h"
#include "reports/facts.h"
#include "reports/run_facts.h"
#include "judge/verdict.h"

struct csv {
    FILE *out;
    bool heading; /* names instead of values */
    bool begun;   /* a cell stands before this one */
};

static void cell_text(struct csv *csv, const char *name, const char *value)
{
    char clean[KG_LINE];
    const char *text = csv->heading ? name : kg_text_clean(value, clean, sizeof clean);
    if (csv->begun)
        fputc(',', csv->out);
    csv->begun = true;
    if (!strpbrk(text, ",\"")) {
        fputs(text, csv->out);
        return;
    }
    fputc('"', csv->out);
    for (; *text; text++) {
        if (*text == '"')
            fputc('"', csv->out);
        fputc(*text, csv->out);
    }
    fputc('"', csv->out);
}

static void cell_real(struct csv *csv, const char *name, bool known, double value)
{
    char text[40] = "";
    if (known && isnan(value))
        snprintf(text, sizeof text, "nan");
    else if (known)
        snprintf(text, sizeof text, "%.9g", value);
    cell_text(csv, name, text);
}

static void cell_count(struct csv *csv, const char *name, bool known, uint64_t value)
{
    char text[40] = "";
    if (known)
        snprintf(text, sizeof text, "%" PRIu64, value);
    cell_text(csv, name, text);
}

static void put_figures(struct csv *csv, const struct kg_result *result)
{
    const struct kg_comparison *f = &result->comparison;
    bool known = result->compared;
    cell_real(csv, "max_abs", known, f->max_abs);
    cell_real(csv, "mean_abs", known, f->mean_abs);
    cell_real(csv, "bad_pct", known, f->bad_pct);
    cell_real(csv, "rel_l2", known, f->rel_l2);
    cell_real(csv, "max_rel", known, f->max_rel);
    cell_real(csv, "bias", known, f->bias);
    cell_count(csv, "nonfinite", known, f->nonfinite);
}

static void put_times(struct csv *csv, const struct kg_result *result)
{
    const struct kg_stats *time = &result->time_us;
    bool known = kg_fact_timed(result);
    double utilisation_pct = kg_fact_utilisation_pct(result);
    cell_real(csv, "mean_us", known, time->mean);
    cell_real(csv, "p50_us", known, time->p50);
    cell_real(csv, "p90_us", known, time->p90);
    cell_real(csv, "p95_us", known, time->p95);
    cell_real(csv, "p99_us", known, time->p99);
    cell_real(csv, "min_us", known, time->min);
    cell_real(csv, "max_us", known, time->max);
    cell_real(csv, "std_us", known, time->std);
    cell_count(csv, "samples", known, kg_fact_samples(result));
    cell_count(csv, "blocks", known, (uint64_t)result->n_blocks);
    cell_real(csv, "gflops", known, result->tflop_per_s * 1e3); /* GFLOP/s at p50 */
    cell_real(csv, "gb_per_s", known, result->gb_per_s);
    cell_real(csv, "queries_per_s", known, result->queries_per_s);
    cell_real(csv, "roofline_pct", known, result->roofline_pct);
    cell_real(csv, "utilisation_pct", known && !isnan(utilisation_pct), utilisation_pct);
}

static void put_comparison(struct csv *csv, const struct kg_result *result)
{
    const struct kg_judgement *judged = &result->judgement;
    double anchor = kg_fact_anchor_speedup(result);
    static const char *const quantities[KG_QUANTITIES] = { "raw", "ratio", "against" };
    bool against = judged->judged && judged->quantity == KG_QUANTITY_AGAINST;
    double baseline_us = kg_fact_baseline_us(result);
    cell_text(csv, "judge", judged->judged ? quantities[judged->quantity] : "");
    cell_real(csv, "golden_us", judged->judged && !against, judged->golden_us);
    cell_real(csv, "baseline_p50_us", !isnan(baseline_us), baseline_us);
    cell_real(csv, "change_pct", judged->judged, judged->change_pct); /* + is slower */
    cell_real(csv, "margin_pct", judged->judged, judged->margin_pct);
    cell_real(csv, "threshold_pct", judged->judged, judged->threshold_pct);
    cell_real(csv, "floor_pct", judged->judged, judged->floor_pct);
    cell_count(csv, "alarm_blocks", judged->judged, (uint64_t)judged->alarm_blocks);
    cell_real(csv, "speedup_vs_golden", judged->judged && !against, kg_fact_golden_speedup(result));
    cell_real(csv, "speedup_vs_baseline", against, kg_fact_golden_speedup(result));
    cell_real(csv, "speedup_vs_anchor", !isnan(anchor), anchor);
}

/* Of a case that is its contest's ours, the baseline's beside it. */
static void put_contest(struct csv *csv, const struct kg_run *run, const struct kg_result *result)
{
    const struct kg_result *rival = csv->heading ? NULL : kg_contest_rival(run, result);
    const struct kg_match match = kg_contest_match(rival ? result : NULL, rival);
    double speedup = kg_match_speedup(&match);
    cell_text(csv, "contest_baseline", rival ? kg_fact_backend(rival) : "");
    cell_real(csv, "speedup_vs_contest_baseline", !isnan(speedup), speedup);
}

static void put_record(struct csv *csv, const struct kg_run *run, const struct kg_result *result)
{
    char noise[KG_LINE];
    kg_fact_noise(result, noise);
    csv->begun = false;
    cell_text(csv, "id", result->id);
    cell_text(csv, "suite", kg_fact_suite(result).s);
    cell_text(csv, "shape", kg_fact_shape(result).s);
    cell_count(csv, "seed", result->of.suite != NULL, result->of.seed);
    cell_text(csv, "backend", kg_fact_backend(result));
    cell_text(csv, "resolved_backend", kg_fact_resolved(result));
    cell_text(csv, "verdict", kg_verdict_name(result->verdict));
    put_figures(csv, result);
    put_times(csv, result);
    put_comparison(csv, result);
    put_contest(csv, run, result);
    cell_text(csv, "identity", result->identity);
    cell_text(csv, "git_sha", kg_fact_sha(run));
    cell_text(csv, "device", run->device.name);
    cell_text(csv, "noise", noise);
    cell_text(csv, "partial", run->partial);
    cell_text(csv, "reason", kg_fact_why(result));
    fputs("\r\n", csv->out);
}

int kg_report_csv(const struct kg_run *run, FILE *out, kg_error *ret_error)
{
    static const struct kg_result none; /* read, but not shown, while the headings are written */
    struct csv csv = { .out = out, .heading = true };
    put_record(&csv, run, &none);
    csv.heading = false;
    for (size_t i = 0; i < run->n_results; i++)
        put_record(&csv, run, &run->results[i]);
    return kg_stream_check(out, ret_error);
}
