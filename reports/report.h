/* report.h -- a report is a pure function of a finished run: one format a file, writes to a stream, owns nothing.
 * To add a format: a function here, a file beside this one, a line in report.c's table. */
#ifndef KG_REPORT_H
#define KG_REPORT_H

#include <stdio.h>

#include "base/git.h"
#include "judge/golden.h"
#include "judge/result.h"
#include "kgate.h"

/* All that is known of a run once it is over. */
struct kg_run {
    char id[64]; /* 20261120T101500Z-9f3c1e2-h200 */
    char version[32];
    char started[32];        /* ISO 8601, UTC */
    double seconds;          /* wall time */
    double checked_s;        /* of that, correctness, before the first round */
    char command[1024];      /* as it was typed, quoted for a shell */
    char again[1024];        /* options that repeat how it measured and judged, each after a space */
    char expectations[4096]; /* path of the architecture's golden file */
    bool expectations_exist;
    char module_path[4096];
    const struct kg_module *module;
    const struct kg_module *baseline; /* --against: the build that is judged against; NULL: goldens judge */
    char baseline_path[4096];
    const struct kg_selection *selection; /* NULL: it is not known */
    kg_device device;
    struct kg_device_state state_before, state_after;
    char cuda_runtime[32], nvml[64]; /* versions; "" where there is none */
    struct kg_git git;
    struct kg_contract contract;
    bool timed;                    /* false under --no-time */
    int warmup_iters, timed_iters; /* KG_TIMER_EVENT; 0 otherwise */
    uint64_t shuffle_seed;
    const struct kg_result *results; /* in the table's order; LOST ones last */
    size_t n_results;
    size_t counts[KG_VERDICTS];
    int status;
    bool allow_all;       /* --allow-undecided, but not its =new, which is of goldens: LOST and WEAK too */
    bool allow_undecided; /* UNSURE and UNGATED */
    bool bless;           /* asked for: the old goldens' verdicts on time decide nothing */
    bool blessed;         /* a bless wrote goldens */
    size_t bless_counts[KG_BLESS_OUTCOMES];
    char partial[64]; /* why the run ended before it was through: "interrupted", "timeout of 60 s"; "" : it is whole */
};

/* Each: KG_OK, or KG_EIO with the stream's error. What a person reads is terminal.h's. */
int kg_report_tap(const struct kg_run *run, FILE *out, kg_error *ret_error);
int kg_report_junit(const struct kg_run *run, FILE *out, kg_error *ret_error);
int kg_report_json(const struct kg_run *run, FILE *out,
                   kg_error *ret_error); /* --format json: all of it, one document */
int kg_report_build_meta(const struct kg_run *run, FILE *out, kg_error *ret_error);
int kg_report_correctness(const struct kg_run *run, FILE *out, kg_error *ret_error);
int kg_report_perf(const struct kg_run *run, FILE *out, kg_error *ret_error);
int kg_report_samples(const struct kg_run *run, FILE *out, kg_error *ret_error); /* JSON lines */
int kg_report_csv(const struct kg_run *run, FILE *out, kg_error *ret_error);
int kg_report_markdown(const struct kg_run *run, FILE *out, kg_error *ret_error); /* comparison.md */
int kg_report_summary(const struct kg_run *run, FILE *out, kg_error *ret_error);  /* summary.md */

/* Writes the run's files into folder (made by the caller), each whole or not at all (temporary file, rename). */
int kg_report_folder(const struct kg_run *run, const char *folder, kg_error *ret_error);
/* junit.xml at a path of the user's choice. */
int kg_report_junit_file(const struct kg_run *run, const char *path, kg_error *ret_error);

#endif
