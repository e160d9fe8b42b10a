/* report.c -- which reports a run leaves as files, and how they are written: each whole or not at all. To add one, see
 * report.h; a file is a line in the table below. */
#include "reports/report.h"

#include <limits.h>

#include "base/file.h"

typedef int report_fn(const struct kg_run *run, FILE *out, kg_error *ret_error);

static const struct {
    const char *name;
    report_fn *report;
} files[] = {
    { "build_meta.json", kg_report_build_meta },
    { "correctness_summary.json", kg_report_correctness },
    { "perf_baseline.json", kg_report_perf },
    { "samples.jsonl", kg_report_samples },
    { "junit.xml", kg_report_junit },
    { "comparison.csv", kg_report_csv },
    { "comparison.md", kg_report_markdown },
    { "summary.md", kg_report_summary },
};

struct one {
    const struct kg_run *run;
    report_fn *report;
};

static int write_report(FILE *file, const void *what, kg_error *ret_error)
{
    const struct one *one = what;
    return one->report(one->run, file, ret_error);
}

int kg_report_folder(const struct kg_run *run, const char *folder, kg_error *ret_error)
{
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        char path[PATH_MAX];
        int length = snprintf(path, sizeof path, "%s/%s", folder, files[i].name);
        if (length < 0 || (size_t)length >= sizeof path)
            return kg_fail(ret_error, KG_EINVAL, "the path of a report is too long: %.300s", folder);
        const struct one one = { run, files[i].report };
        int status = kg_file_replace(path, write_report, &one, ret_error);
        if (status)
            return status;
    }
    return KG_OK;
}

int kg_report_junit_file(const struct kg_run *run, const char *path, kg_error *ret_error)
{
    const struct one one = { run, kg_report_junit };
    return kg_file_replace(path, write_report, &one, ret_error);
}
