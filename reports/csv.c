/* csv.c -- comparison.csv: a row a case, every figure. Quoted as RFC 4180 says; a cell is empty where there is nothing
 * to say, and nan or inf where that was found. A new column is a row of COLUMNS; then renew the frozen file. */
#include "reports/report.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/format.h"
#include "judge/verdict.h"
#include "reports/facts.h"

/* What the columns are taken from. */
struct row {
    const struct kg_run *run;
    const struct kg_result *result;
    const struct kg_judgement *judged;
    const struct kg_result *rival; /* the contest's baseline beside a case that is its contest's ours; NULL: none */
    bool compared, timed, against, by_golden;
    double utilisation_pct, baseline_us, anchor; /* NAN: there is none */
    char noise[KG_LINE];
};

/* COLUMN(type, name, is there something to say, what), of a row `r`. Changes are + where slower; speed-ups over 1 are
 * faster. */
#define COLUMNS(COLUMN)                                                                                                \
    COLUMN(text, id, true, r->result->id)                                                                              \
    COLUMN(text, suite, true, kg_fact_suite(r->result).s)                                                              \
    COLUMN(text, shape, true, kg_fact_shape(r->result).s)                                                              \
    COLUMN(count, seed, r->result->of.suite, r->result->of.seed)                                                       \
    COLUMN(text, backend, true, kg_fact_backend(r->result))                                                            \
    COLUMN(text, resolved_backend, true, kg_fact_resolved(r->result))                                                  \
    COLUMN(text, verdict, true, kg_verdict_name(r->result->verdict))                                                   \
    COLUMN(real, max_abs, r->compared, r->result->comparison.max_abs)                                                  \
    COLUMN(real, mean_abs, r->compared, r->result->comparison.mean_abs)                                                \
    COLUMN(real, bad_pct, r->compared, r->result->comparison.bad_pct)                                                  \
    COLUMN(real, rel_l2, r->compared, r->result->comparison.rel_l2)                                                    \
    COLUMN(real, max_rel, r->compared, r->result->comparison.max_rel)                                                  \
    COLUMN(real, bias, r->compared, r->result->comparison.bias)                                                        \
    COLUMN(count, nonfinite, r->compared, r->result->comparison.nonfinite)                                             \
    COLUMN(real, mean_us, r->timed, r->result->time_us.mean)                                                           \
    COLUMN(real, p50_us, r->timed, r->result->time_us.p50)                                                             \
    COLUMN(real, p90_us, r->timed, r->result->time_us.p90)                                                             \
    COLUMN(real, p95_us, r->timed, r->result->time_us.p95)                                                             \
    COLUMN(real, p99_us, r->timed, r->result->time_us.p99)                                                             \
    COLUMN(real, min_us, r->timed, r->result->time_us.min)                                                             \
    COLUMN(real, max_us, r->timed, r->result->time_us.max)                                                             \
    COLUMN(real, std_us, r->timed, r->result->time_us.std)                                                             \
    COLUMN(count, samples, r->timed, kg_fact_samples(r->result))                                                       \
    COLUMN(count, blocks, r->timed, (uint64_t)r->result->n_blocks)                                                     \
    COLUMN(real, gflops, r->timed, r->result->tflop_per_s * 1e3) /* GFLOP/s at p50 */                                  \
    COLUMN(real, gb_per_s, r->timed, r->result->gb_per_s)                                                              \
    COLUMN(real, queries_per_s, r->timed, r->result->queries_per_s)                                                    \
    COLUMN(real, roofline_pct, r->timed, r->result->roofline_pct)                                                      \
    COLUMN(real, utilisation_pct, r->timed && !isnan(r->utilisation_pct), r->utilisation_pct)                          \
    COLUMN(text, judge, true, kg_fact_judge(r->result))                                                                \
    COLUMN(real, golden_us, r->by_golden, r->judged->golden_us)                                                        \
    COLUMN(real, baseline_p50_us, !isnan(r->baseline_us), r->baseline_us)                                              \
    COLUMN(real, change_pct, r->judged->judged, r->judged->change_pct)                                                 \
    COLUMN(real, margin_pct, r->judged->judged, r->judged->margin_pct)                                                 \
    COLUMN(real, threshold_pct, r->judged->judged, r->judged->threshold_pct)                                           \
    COLUMN(real, floor_pct, r->judged->judged, r->judged->floor_pct)                                                   \
    COLUMN(count, alarm_blocks, r->judged->judged, (uint64_t)r->judged->alarm_blocks)                                  \
    COLUMN(real, speedup_vs_golden, r->by_golden, kg_fact_golden_speedup(r->result))                                   \
    COLUMN(real, speedup_vs_baseline, r->against, kg_fact_golden_speedup(r->result))                                   \
    COLUMN(real, speedup_vs_anchor, !isnan(r->anchor), r->anchor)                                                      \
    COLUMN(text, contest_baseline, r->rival, kg_fact_backend(r->rival))                                                \
    COLUMN(real, speedup_vs_contest_baseline, r->rival, r->rival->time_us.p50 / r->result->time_us.p50)                \
    COLUMN(text, identity, true, r->result->identity)                                                                  \
    COLUMN(text, git_sha, true, kg_fact_sha(r->run))                                                                   \
    COLUMN(text, device, true, r->run->device.name)                                                                    \
    COLUMN(text, noise, true, r->noise)                                                                                \
    COLUMN(text, partial, true, r->run->partial)                                                                       \
    COLUMN(text, reason, true, kg_fact_why(r->result))

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

static void put_row(const struct row *r, FILE *out)
{
    const char *comma = "";
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
#undef NAME
    fprintf(out, "%s\r\n", names + 1);
    for (size_t i = 0; i < run->n_results; i++) {
        const struct kg_result *result = &run->results[i];
        struct row row = {
            .run = run,
            .result = result,
            .judged = &result->judgement,
            .rival = kg_fact_rival(run, result),
            .compared = result->compared,
            .timed = kg_fact_timed(result),
            .against = result->judgement.judged && result->judgement.quantity == KG_QUANTITY_AGAINST,
            .by_golden = result->judgement.judged && result->judgement.quantity != KG_QUANTITY_AGAINST,
            .utilisation_pct = kg_fact_utilisation_pct(result),
            .baseline_us = kg_fact_baseline_us(result),
            .anchor = kg_fact_anchor_speedup(result),
        };
        kg_fact_noise(result, row.noise);
        put_row(&row, out);
    }
    return kg_stream_check(out, ret_error);
}
