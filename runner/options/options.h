/* options.h -- the command line, parsed: values only, nothing opened or looked up. */
#ifndef KG_OPTIONS_H
#define KG_OPTIONS_H

#include "kgate.h"
#include "plan/plan.h"
#include "plan/policy.h"

#define KG_CASE_TIMEOUT_S 60 /* --case-timeout, where it is not given */

enum kg_command {
    KG_COMMAND_RUN,
    KG_COMMAND_LIST,
    KG_COMMAND_DOCTOR,
    KG_COMMAND_SELFCHECK,
    KG_COMMAND_RESOURCES,
    KG_COMMAND_LEADERBOARD,
    KG_COMMAND_CHECKOUT,
    KG_COMMAND_HELP,
    KG_COMMAND_VERSION,
    KG_COMMAND_WORKER
};
enum kg_format { KG_FORMAT_TEXT, KG_FORMAT_TAP, KG_FORMAT_JSON };
enum kg_color { KG_COLOR_AUTO, KG_COLOR_ALWAYS, KG_COLOR_NEVER };

/* Strings point into argv; lists are owned. */
struct kg_options {
    enum kg_command command;
    char line[1024];              /* the command as it was typed, quoted for a shell */
    const char *const *arguments; /* of worker and checkout: what follows; NULL-terminated */
    struct kg_selection selection;
    const char *module, *device, *require_device, *expectations, *output, *junit, *cache, *reason, *git_sha;
    enum kg_format format;
    enum kg_color color;
    struct kg_timing_overrides timing;
    int rounds;            /* 0: not given */
    double timeout_s;      /* of the whole command; 0: none */
    double case_timeout_s; /* of one phase of one case */
    const char *against;   /* module to judge against; NULL: goldens */
    bool allow_removed;    /* --against: a case that is gone is not LOST */
    const char *record;    /* selfcheck: append blocks to this file, judge nothing */
    const char **judge;    /* selfcheck: files of recorded blocks to judge, measuring nothing */
    size_t n_judge;
    bool simulate;      /* selfcheck: synthetic noise */
    const char *noise;  /* its model; NULL: each */
    int gates;          /* gates a simulated rate is of; 0: not given */
    double plant_pct;   /* size that a recording plants in all its blocks; 0: not given */
    const char **archs; /* leaderboard: golden files by architecture; none: all that are there */
    size_t n_archs;
    int top; /* leaderboard: most backends of a shape; 0: all */
    bool bless, allow_dirty, prune, reset_best;
    bool no_time, time_every_seed, fail_fast, verbose;
    bool allow_undecided, allow_undecided_new; /* always; where the architecture has no golden file yet */
    bool shuffle, shuffle_seed_given;
    uint64_t shuffle_seed;
    const char **library_paths, **knobs;
    size_t n_library_paths, n_knobs;
};

/* KG_EINVAL: one line that names the option. */
int kg_options_parse(int argc, char *const argv[], struct kg_options *ret_options, kg_error *ret_error);
int kg_options_check(const struct kg_options *options, kg_error *ret_error); /* part of it: do they go together? */
void kg_options_done(struct kg_options *options);
enum kg_device_kind kg_options_kind(const struct kg_options *options); /* what --device names; 0: auto, either */
void kg_options_help(FILE *out);

#endif
