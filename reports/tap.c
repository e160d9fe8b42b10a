/* tap.c -- Test Anything Protocol, version 13: one line a case, diagnostics after it. What `prove` and meson read. */
#include "reports/report.h"

#include "reports/facts.h"
#include "judge/verdict.h"

/* '#' begins a directive and '\\' escapes it. */
static const char special[] = "#\\";

static void put_diagnostic(const char *name, const char *text, FILE *out)
{
    char clean[KG_LINE];
    if (*text)
        fprintf(out, "#   %s: %s\n", name, kg_text_clean(text, clean, sizeof clean));
}

static void put_case(const struct kg_run *run, const struct kg_result *result, size_t number, FILE *out)
{
    char line[KG_LINE];
    bool expected_failure = result->verdict == KG_XFAIL;
    fprintf(out, "%s %zu - ", kg_fact_fine(run, result) && !expected_failure ? "ok" : "not ok", number);
    kg_text_put_escaped(result->id, special, out);
    if (result->verdict == KG_SKIP || expected_failure) {
        fputs(expected_failure ? " # TODO " : " # SKIP ", out);
        kg_text_put_escaped(kg_fact_why(result), special, out);
    }
    fputc('\n', out);
    if (result->verdict == KG_SKIP)
        return;
    if (result->verdict != KG_PASS)
        put_diagnostic("verdict", kg_verdict_name(result->verdict), out);
    if (!expected_failure)
        put_diagnostic("reason", kg_fact_why(result), out);
    kg_fact_worst(result, line);
    put_diagnostic("worst", line, out);
    kg_fact_time(result, line);
    put_diagnostic("time", line, out);
    if (kg_fact_flaked(result)) {
        kg_fact_alarm(result, line);
        put_diagnostic("flake", line, out);
    }
    if (!kg_fact_fine(run, result) && result->outcome != KG_ABSENT) {
        kg_fact_command(run, result, "", line);
        put_diagnostic("again", line, out);
    }
}

int kg_report_tap(const struct kg_run *run, FILE *out, kg_error *ret_error)
{
    char device[128];
    fputs("TAP version 13\n", out);
    if (run->n_results)
        fprintf(out, "1..%zu\n", run->n_results);
    else
        fputs("1..0 # SKIP no case was selected\n", out);
    fprintf(out, "# kgate %s, %s, build %s", run->version, kg_text_clean(run->device.name, device, sizeof device),
            kg_fact_build(run).s);
    if (run->baseline)
        fprintf(out, " against %s", kg_fact_baseline_build(run).s);
    fputc('\n', out);
    for (size_t i = 0; i < run->n_results; i++)
        put_case(run, &run->results[i], i + 1, out);
    if (*run->partial)
        fprintf(out, "# partial: %s\n", run->partial);
    return kg_stream_check(out, ret_error);
}
