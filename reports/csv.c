/* csv.c -- comparison.csv: a row a case, every figure. Quoted as RFC 4180 says; a cell is empty where there is nothing
 * to say, and nan or inf where that was found. A new column is a row of COLUMNS; then renew the frozen file. */
#include "reports/report.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/format.h"
#include "judge/verdict.h"
#include "reports/facts.h"

/* COLUMN(type, name, is there something to say, what), by the locals of put_row. Changes are + where slower; speed-ups
 * over 1 are faster. */
#define COLUMNS(COLUMN)                                                                                                \
    COLUMN(text, id, true, result->id)                                                                                 \
    COLUMN(text, suite, true, kg_fact_suite(result).s)                                                                 \
    COLUMN(text, shape, true, kg_fact_shape(result).s)                                                                 \
    COLUMN(count, seed, result->of.suite, result->of.seed)                                                             \
    COLUMN(text, regime, result->of.suite, kg_fact_regime(result))                                                     \
    COLUMN(text, backend, true, kg_fact_backend(result))                                                               \
    COLUMN(text, resolved_backend, true, kg_fact_resolved(result))                                                     \
    COLUMN(text, verdict, true, kg_verdict_name(result->verdict))                                                      \
    COLUMN(real, max_abs, result->compared, errors->max_abs)                                                           \
    COLUMN(real, mean_abs, result->compared, errors->mean_abs)                                                         \
    COLUMN(real, bad_pct, result->compared, errors->bad_pct)                                                           \
    COLUMN(real, rel_l2, result->compared, errors->rel_l2)                                                             \
    COLUMN(real, scaled, result->compared, errors->max_scaled)                                                         \
    COLUMN(real, slope, result->compared, errors->slope)                                                               \
    COLUMN(real, max_rel, result->compared, errors->max_rel)                                                           \
    COLUMN(real, bias, result->compared, errors->bias)                                                                 \
    COLUMN(count, nonfinite, result->compared, errors->nonfinite)                                                      \
    COLUMN(real, mean_us, timed, time->mean)                                                                           \
    COLUMN(real, p50_us, timed, time->p50)                                                                             \
    COLUMN(real, p90_us, timed, time->p90)                                                                             \
    COLUMN(real, p95_us, timed, time->p95)                                                                             \
    COLUMN(real, p99_us, timed, time->p99)                                                                             \
    COLUMN(real, min_us, timed, time->min)                                                                             \
    COLUMN(real, max_us, timed, time->max)                                                                             \
    COLUMN(real, std_us, timed, time->std)                                                                             \
    COLUMN(count, samples, timed, kg_fact_samples(result))                                                             \
    COLUMN(count, blocks, timed, (uint64_t)result->n_blocks)                                                           \
    COLUMN(real, gflops, timed, result->tflop_per_s * 1e3) /* GFLOP/s at p50 */                                        \
    COLUMN(real, gb_per_s, timed, result->gb_per_s)                                                                    \
    COLUMN(real, queries_per_s, timed, result->queries_per_s)                                                          \
    COLUMN(real, roofline_pct, timed, result->roofline_pct)                                                            \
    COLUMN(real, utilisation_pct, timed && !isnan(utilisation_pct), utilisation_pct)                                   \
    COLUMN(text, judge, true, kg_fact_judge(result))                                                                   \
    COLUMN(real, golden_us, by_golden, judged->golden_us)                                                              \
    COLUMN(real, baseline_p50_us, !isnan(baseline_us), baseline_us)                                                    \
    COLUMN(real, change_pct, judged->judged, judged->change_pct)                                                       \
    COLUMN(real, margin_pct, judged->judged, judged->margin_pct)                                                       \
    COLUMN(real, threshold_pct, judged->judged, judged->threshold_pct)                                                 \
    COLUMN(real, floor_pct, judged->judged, judged->floor_pct)                                                         \
    COLUMN(count, alarm_blocks, judged->judged, (uint64_t)judged->alarm_blocks)                                        \
    COLUMN(real, speedup_vs_golden, by_golden, kg_fact_golden_speedup(result))                                         \
    COLUMN(real, speedup_vs_baseline, against, kg_fact_golden_speedup(result))                                         \
    COLUMN(real, speedup_vs_anchor, !isnan(anchor), anchor)                                                            \
    COLUMN(text, contest_baseline, rival, kg_fact_backend(rival))                                                      \
    COLUMN(real, speedup_vs_contest_baseline, rival, rival->time_us.p50 / time->p50)                                   \
    COLUMN(text, identity, true, result->identity)                                                                     \
    COLUMN(text, git_sha, true, kg_fact_sha(run))                                                                      \
    COLUMN(text, device, true, run->device.name)                                                                       \
    COLUMN(text, noise, true, noise)                                                                                   \
    COLUMN(text, partial, true, run->partial)                                                                          \
    COLUMN(text, reason, true, kg_fact_why(result))

static void put_text(const char *value, FILE *out)
{
    char clean[KG_LINE];
    const char *text = kg_text_clean(value, clean, sizeof clean);
    if (!strpbrk(text, ",\"")) {
        fputs(text, out);
        return;
    }
    fputc('"', out);
    for (; *text; text++) {
        if (*text == '"')
            fputc('"', out);
        fputc(*text, out);
    }
    fputc('"', out);
}

static void put_real(double value, FILE *out)
{
    fputs(isnan(value) ? "nan" : kg_format("%.9g", value).s, out);
}

static void put_count(uint64_t value, FILE *out)
{
    fprintf(out, "%" PRIu64, value);
}

static void put_row(const struct kg_run *run, const struct kg_result *result, FILE *out)
{
    const struct kg_comparison *errors = &result->comparison;
    const struct kg_stats *time = &result->time_us;
    const struct kg_judgement *judged = &result->judgement;
    const struct kg_result *rival = kg_fact_rival(run, result); /* its contest's baseline, beside ours */
    const bool timed = kg_fact_timed(result);
    const bool against = judged->judged && judged->quantity == KG_QUANTITY_AGAINST;
    const bool by_golden = judged->judged && !against;
    const double utilisation_pct = kg_fact_utilisation_pct(result), baseline_us = kg_fact_baseline_us(result);
    const double anchor = kg_fact_anchor_speedup(result);
    const char *comma = "";
    char noise[KG_LINE];
    kg_fact_noise(result, noise);
#define PUT(type, name, known, value)                                                                                  \
    fputs(comma, out);                                                                                                 \
    comma = ",";                                                                                                       \
    if (known)                                                                                                         \
        put_##type(value, out);
    COLUMNS(PUT)
#undef PUT
    fputs("\r\n", out);
}

int kg_report_csv(const struct kg_run *run, FILE *out, kg_error *ret_error)
{
#define NAME(type, name, known, value) "," #name
    static const char names[] = COLUMNS(NAME);
    fprintf(out, "%s\r\n", names + 1);
    for (size_t i = 0; i < run->n_results; i++)
        put_row(run, &run->results[i], out);
    return kg_stream_check(out, ret_error);
}
