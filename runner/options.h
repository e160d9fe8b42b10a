/* options.h -- the command line, parsed: values only, nothing opened or looked up. */
#ifndef KG_OPTIONS_H
#define KG_OPTIONS_H

#include "kgate.h"
#include "plan.h"
#include "timing.h"

enum kg_command {
    KG_COMMAND_RUN,
    KG_COMMAND_LIST,
    KG_COMMAND_DOCTOR,
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
    const char *const *arguments; /* KG_COMMAND_WORKER: what follows it; NULL-terminated */
    struct kg_selection selection;
    const char *module, *device, *require_device, *expectations, *output, *junit, *cache, *reason, *git_sha;
    enum kg_format format;
    enum kg_color color;
    struct kg_timing_overrides timing;
    int rounds; /* 0: not given */
    double timeout_s;
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
void kg_options_done(struct kg_options *options);
void kg_options_help(FILE *out);

#endif
