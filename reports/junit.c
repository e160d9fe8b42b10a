/* junit.c -- JUnit XML as Jenkins and GitLab read it: a testsuite a kgate suite, a testcase a case, by Mini-XML.
 * tests/reports/junit.xsd says what may stand here; a new element or attribute is added there first. */
#include "reports/report.h"

#include <mxml.h>
#include <stdlib.h>
#include <string.h>

#include "reports/facts.h"
#include "judge/verdict.h"

/* What a verdict is in JUnit's words. */
enum kind { GOOD, SKIPPED, FAILURE, BROKEN };

struct test_counts {
    size_t tests, failures, errors, skipped;
    double seconds;
};

static enum kind kind_of(const struct kg_run *run, const struct kg_result *result)
{
    if (result->verdict == KG_SKIP)
        return SKIPPED;
    if (kg_fact_fine(run, result))
        return GOOD;
    return result->verdict == KG_ERROR || result->verdict == KG_LOST ? BROKEN : FAILURE;
}

static void count_test(struct test_counts *counts, enum kind kind, double seconds)
{
    counts->tests++;
    counts->failures += kind == FAILURE;
    counts->errors += kind == BROKEN;
    counts->skipped += kind == SKIPPED;
    counts->seconds += seconds;
}

static void set_text(mxml_node_t *node, const char *name, const char *value)
{
    char clean[4096];
    mxmlElementSetAttr(node, name, kg_text_clean(value, clean, sizeof clean));
}

static void set_counts(mxml_node_t *node, const struct test_counts *counts)
{
    mxmlElementSetAttrf(node, "tests", "%zu", counts->tests);
    mxmlElementSetAttrf(node, "failures", "%zu", counts->failures);
    mxmlElementSetAttrf(node, "errors", "%zu", counts->errors);
    mxmlElementSetAttrf(node, "skipped", "%zu", counts->skipped);
    mxmlElementSetAttrf(node, "time", "%.6f", counts->seconds);
}

static void add_property(mxml_node_t *properties, const char *name, const char *value)
{
    mxml_node_t *property = mxmlNewElement(properties, "property");
    set_text(property, "name", name);
    set_text(property, "value", value);
}

static void add_suite_properties(mxml_node_t *suite, const struct kg_run *run)
{
    const kg_device *device = &run->device;
    mxml_node_t *properties = mxmlNewElement(suite, "properties");
    char names[KG_LINE];
    add_property(properties, "kgate.version", run->version);
    add_property(properties, "kgate.run_id", run->id);
    add_property(properties, "git.sha", kg_fact_sha(run));
    add_property(properties, "git.branch", run->git.branch);
    add_property(properties, "git.dirty", kg_fact_dirty(run) ? "true" : "false");
    add_property(properties, "device.name", device->name);
    add_property(properties, "device.arch", device->arch);
    add_property(properties, "device.driver", device->driver);
    add_property(properties, "cuda.runtime", run->cuda_runtime);
    add_property(properties, "expectations", run->expectations_exist ? run->expectations : "none");
    if (run->baseline) {
        add_property(properties, "baseline.module", run->baseline_path);
        add_property(properties, "baseline.sha", run->baseline->git_sha);
    }
    kg_noise_names(kg_fact_steadiness(run).setting, names, sizeof names);
    if (*names)
        add_property(properties, "noise", names);
    if (*run->partial)
        add_property(properties, "partial", run->partial);
    if (*kg_fact_environment(run, names))
        add_property(properties, "environment", names);
}

static void add_real(mxml_node_t *properties, const char *name, double value)
{
    add_property(properties, name, kg_format_number(value).s);
}

static void add_case_properties(mxml_node_t *testcase, const struct kg_result *result)
{
    char line[KG_LINE];
    mxml_node_t *properties = mxmlNewElement(testcase, "properties");
    add_property(properties, "id", result->id);
    add_property(properties, "verdict", kg_verdict_name(result->verdict));
    add_property(properties, "backend", kg_fact_resolved(result));
    if (result->compared) {
        add_real(properties, "max_abs", result->comparison.max_abs);
        add_real(properties, "mean_abs", result->comparison.mean_abs);
        add_real(properties, "bad_pct", result->comparison.bad_pct);
        add_real(properties, "rel_l2", result->comparison.rel_l2);
        add_real(properties, "scaled", result->comparison.max_scaled);
        add_real(properties, "slope", result->comparison.slope);
    }
    if (kg_fact_timed(result)) {
        add_real(properties, "p50_us", result->time_us.p50);
        add_real(properties, "p90_us", result->time_us.p90);
        add_real(properties, "p99_us", result->time_us.p99);
    }
    if (result->judgement.judged) {
        bool against = result->judgement.quantity == KG_QUANTITY_AGAINST;
        add_real(properties, against ? "baseline_p50_us" : "golden_us", result->judgement.golden_us);
        add_real(properties, "change_pct", result->judgement.change_pct);
        add_real(properties, "margin_pct", result->judgement.margin_pct);
    }
    kg_fact_noise(result, line);
    if (*line)
        add_property(properties, "noise", line);
}

/* Lines "name: text" of what there is to say. */
static void describe(const struct kg_run *run, const struct kg_result *result, char *ret_lines, size_t size)
{
    static const struct {
        const char *name;
        kg_fact_fn *fact;
    } facts[] = {
        { "problem", kg_fact_problem }, { "figures", kg_fact_figures }, { "worst", kg_fact_worst },
        { "repeats", kg_fact_repeats }, { "time", kg_fact_time },       { "runs", kg_fact_runs },
        { "alarm", kg_fact_alarm },     { "noise", kg_fact_noise },
    };
    char line[KG_LINE], clean[KG_LINE];
    (void)snprintf(ret_lines, size, "verdict: %s", kg_verdict_name(result->verdict));
    if (*kg_fact_why(result))
        kg_text_add(ret_lines, size, "\nreason: %s", kg_text_clean(kg_fact_why(result), clean, sizeof clean));
    for (size_t i = 0; i < sizeof facts / sizeof *facts; i++) {
        facts[i].fact(result, line);
        if (*line)
            kg_text_add(ret_lines, size, "\n%s: %s", facts[i].name, kg_text_clean(line, clean, sizeof clean));
    }
    if (!kg_fact_fine(run, result) && result->outcome != KG_ABSENT) {
        kg_fact_command(run, result, "", line);
        kg_text_add(ret_lines, size, "\nagain: %s", kg_text_clean(line, clean, sizeof clean));
    }
}

/* As surefire writes a test that failed and passed when it was run again: the case is good, and can be counted. */
static void add_flake(mxml_node_t *testcase, const struct kg_result *result, const char *lines)
{
    char line[KG_LINE];
    mxml_node_t *flake = mxmlNewElement(testcase, "flakyFailure");
    kg_fact_alarm(result, line);
    set_text(flake, "message", line);
    set_text(flake, "type", kg_verdict_name(KG_SLOW));
    mxmlNewOpaque(mxmlNewElement(flake, "stackTrace"), lines);
}

static void add_case(mxml_node_t *suite, const struct kg_run *run, const struct kg_result *result,
                     struct test_counts *of_suite, struct test_counts *of_run)
{
    static const char *const elements[] = { [SKIPPED] = "skipped", [FAILURE] = "failure", [BROKEN] = "error" };
    char lines[5 * KG_LINE];
    enum kind kind = kind_of(run, result);
    double seconds = kg_fact_device_seconds(result);
    const char *why = *kg_fact_why(result) ? kg_fact_why(result) : kg_verdict_name(result->verdict);

    mxml_node_t *testcase = mxmlNewElement(suite, "testcase");
    set_text(testcase, "classname", kg_fact_suite(result).s);
    set_text(testcase, "name", kg_fact_rest(result));
    mxmlElementSetAttrf(testcase, "time", "%.6f", seconds);
    add_case_properties(testcase, result);
    describe(run, result, lines, sizeof lines);
    if (kind != GOOD) {
        mxml_node_t *element = mxmlNewElement(testcase, elements[kind]);
        set_text(element, "message", why);
        if (kind != SKIPPED) {
            set_text(element, "type", kg_verdict_name(result->verdict));
            mxmlNewOpaque(element, lines);
        }
    }
    if (kg_fact_flaked(result))
        add_flake(testcase, result, lines);
    if (kind == GOOD)
        mxmlNewOpaque(mxmlNewElement(testcase, "system-out"), lines);
    count_test(of_suite, kind, seconds);
    count_test(of_run, kind, seconds);
}

static void add_suite(mxml_node_t *root, const struct kg_run *run, size_t first, struct test_counts *total)
{
    struct test_counts counts = { 0 };
    mxml_node_t *suite = mxmlNewElement(root, "testsuite");
    set_text(suite, "name", kg_fact_suite(&run->results[first]).s);
    set_text(suite, "timestamp", run->started);
    add_suite_properties(suite, run);
    for (size_t i = first; i < run->n_results; i++)
        if (kg_fact_same_suite(&run->results[i], &run->results[first]))
            add_case(suite, run, &run->results[i], &counts, total);
    set_counts(suite, &counts);
}

/* Line breaks and indentation; never inside elements that hold text. */
static const char *whitespace(mxml_node_t *node, int where)
{
    static const char indents[] = "\n        ";
    static char text[sizeof indents];
    int depth = 0;
    mxml_node_t *within = where == MXML_WS_BEFORE_CLOSE ? mxmlGetFirstChild(node) : node;
    if (where == MXML_WS_AFTER_OPEN || where == MXML_WS_AFTER_CLOSE || mxmlGetType(node) != MXML_ELEMENT || !within ||
        mxmlGetType(within) != MXML_ELEMENT)
        return NULL;
    for (mxml_node_t *up = mxmlGetParent(node); up; up = mxmlGetParent(up))
        depth++;
    memcpy(text, indents, sizeof text);
    text[1 + (depth ? 2 * (depth - 1) : 0)] = '\0';
    return depth ? text : NULL;
}

int kg_report_junit(const struct kg_run *run, FILE *out, kg_error *ret_error)
{
    struct test_counts total = { 0 };
    mxml_node_t *document = mxmlNewXML("1.0");
    if (!document)
        return kg_fail(ret_error, KG_ENOMEM, "no memory for the JUnit report");
    mxml_node_t *root = mxmlNewElement(document, "testsuites");
    set_text(root, "name", "kgate");
    for (size_t i = 0; i < run->n_results; i++)
        if (kg_fact_first_of_suite(run, i))
            add_suite(root, run, i, &total);
    total.seconds = run->seconds;
    set_counts(root, &total);
    mxmlSetWrapMargin(0);
    bool written = mxmlSaveFile(document, out, whitespace) >= 0;
    mxmlDelete(document);
    fputc('\n', out);
    int status = kg_stream_check(out, ret_error);
    return status || written ? status : kg_fail(ret_error, KG_EIO, "the JUnit report cannot be written");
}
