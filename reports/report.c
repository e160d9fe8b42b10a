/* report.c -- which reports a run leaves as files, and how they are written: each whole or not at all. To add one, see
 * report.h; a file is a line in the table below. */
#include "reports/report.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

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

static int fail_at(kg_error *ret_error, const char *path)
{
    return kg_fail(ret_error, KG_EIO, "%.300s cannot be written: %s", path, strerror(errno));
}

/* What is no regular file (a pipe, /dev/stdout) cannot be replaced, only written to. */
static int write_through(const struct kg_run *run, report_fn *report, const char *path, kg_error *ret_error)
{
    FILE *out = fopen(path, "w");
    if (!out)
        return fail_at(ret_error, path);
    int status = report(run, out, ret_error);
    if (fclose(out) && !status)
        status = fail_at(ret_error, path);
    return status;
}

static int write_replacing(const struct kg_run *run, report_fn *report, const char *path, kg_error *ret_error)
{
    char temporary[PATH_MAX];
    int length = snprintf(temporary, sizeof temporary, "%s.%ld.tmp", path, (long)getpid());
    if (length < 0 || (size_t)length >= sizeof temporary)
        return kg_fail(ret_error, KG_EINVAL, "the path of a report is too long: %.300s", path);
    (void)unlink(temporary); /* of a process that died and whose number came round again */
    int file = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (file < 0)
        return fail_at(ret_error, path);
    FILE *out = fdopen(file, "w");
    if (!out) {
        int status = fail_at(ret_error, path);
        close(file);
        unlink(temporary);
        return status;
    }
    int status = report(run, out, ret_error);
    if (!status && fsync(file))
        status = fail_at(ret_error, path);
    if (fclose(out) && !status)
        status = fail_at(ret_error, path);
    if (!status && rename(temporary, path))
        status = fail_at(ret_error, path);
    if (status)
        (void)unlink(temporary);
    return status;
}

static int write_file(const struct kg_run *run, report_fn *report, const char *path, kg_error *ret_error)
{
    struct stat is;
    if (!stat(path, &is) && !S_ISREG(is.st_mode))
        return write_through(run, report, path, ret_error);
    char *target = realpath(path, NULL); /* the file behind a link; NULL where there is none yet */
    int status = write_replacing(run, report, target ? target : path, ret_error);
    free(target);
    return status;
}

int kg_report_folder(const struct kg_run *run, const char *folder, kg_error *ret_error)
{
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        char path[PATH_MAX];
        int length = snprintf(path, sizeof path, "%s/%s", folder, files[i].name);
        if (length < 0 || (size_t)length >= sizeof path)
            return kg_fail(ret_error, KG_EINVAL, "the path of a report is too long: %.300s", folder);
        int status = write_file(run, files[i].report, path, ret_error);
        if (status)
            return status;
    }
    return KG_OK;
}

int kg_report_junit_file(const struct kg_run *run, const char *path, kg_error *ret_error)
{
    return write_file(run, kg_report_junit, path, ret_error);
}
