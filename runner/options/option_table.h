/* option_table.h -- which options there are, and the commands that they belong to. */
#ifndef KG_OPTION_TABLE_H
#define KG_OPTION_TABLE_H

#include <getopt.h>

#include "options/options.h"

enum kg_option_id {
    KG_OPT_MODULE = 256,
    KG_OPT_BACKEND,
    KG_OPT_SEED,
    KG_OPT_SET,
    KG_OPT_EXCLUDE,
    KG_OPT_SHARD,
    KG_OPT_DEVICE,
    KG_OPT_FORMAT,
    KG_OPT_BLESS,
    KG_OPT_REASON,
    KG_OPT_ALLOW_DIRTY,
    KG_OPT_PRUNE,
    KG_OPT_RESET_BEST,
    KG_OPT_NO_TIME,
    KG_OPT_TIME_EVERY_SEED,
    KG_OPT_EXPECTATIONS,
    KG_OPT_OUTPUT,
    KG_OPT_JUNIT,
    KG_OPT_TIMER,
    KG_OPT_L2,
    KG_OPT_SAMPLES,
    KG_OPT_WARMUP,
    KG_OPT_THRESHOLD,
    KG_OPT_ROUNDS,
    KG_OPT_REQUIRE_DEVICE,
    KG_OPT_ALLOW_UNDECIDED,
    KG_OPT_TIMEOUT,
    KG_OPT_CASE_TIMEOUT,
    KG_OPT_AGAINST,
    KG_OPT_ALLOW_REMOVED,
    KG_OPT_RECORD,
    KG_OPT_JUDGE,
    KG_OPT_SIMULATE,
    KG_OPT_GATES,
    KG_OPT_PLANT,
    KG_OPT_ARCH,
    KG_OPT_TOP,
    KG_OPT_FAIL_FAST,
    KG_OPT_SHUFFLE,
    KG_OPT_VERBOSE,
    KG_OPT_COLOR,
    KG_OPT_GIT_SHA,
    KG_OPT_KNOB,
    KG_OPT_LIBRARY_PATH,
    KG_OPT_CACHE,
    KG_OPT_HELP,
    KG_OPT_VERSION,
    KG_OPT_END
};
#define KG_OPTIONS (KG_OPT_END - KG_OPT_MODULE)

struct kg_option_row {
    struct option option;
    int commands; /* a bit each */
};
extern const struct kg_option_row kg_option_rows[KG_OPTIONS];

/* The command that a line's first word names, and its bit; 0: rows are not of it. KG_EINVAL. */
int kg_option_command(const char *word, enum kg_command *ret_command, int *ret_bit, kg_error *ret_error);

#endif
