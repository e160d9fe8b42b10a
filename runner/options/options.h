/* options.h -- the command line, parsed: values only, nothing opened or looked up. */
#ifndef KG_OPTIONS_H
#define KG_OPTIONS_H

#include "kgate.h"
#include "plan/plan.h"
#include "plan/policy.h"

#define KG_CASE_TIMEOUT_S 60 /* --case-timeout, where it is not given */
#define KG_BUDGET_S 60       /* --budget, likewise */

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
enum kg_format { KG_FORMAT_TEXT, KG_FORMAT_TAP, KG_FORMAT_JSON }; /* the words of --format, and of --color */
enum kg_color { KG_COLOR_AUTO, KG_COLOR_ALWAYS, KG_COLOR_NEVER };

/* What a row of option_rows.h declares, by its type. Strings point into argv; lists are owned. */
#define KG_MEMBER_flag(name) bool name;
#define KG_MEMBER_text(name) const char *name;
#define KG_MEMBER_name KG_MEMBER_text
#define KG_MEMBER_device KG_MEMBER_text
#define KG_MEMBER_git_sha KG_MEMBER_text
#define KG_MEMBER_count(name) int name;
#define KG_MEMBER_rounds KG_MEMBER_count
#define KG_MEMBER_word KG_MEMBER_count
#define KG_MEMBER_format KG_MEMBER_count
#define KG_MEMBER_real(name) double name;
#define KG_MEMBER_list(name)                                                                                           \
    const char **name;                                                                                                 \
    size_t n_##name;
#define KG_MEMBER_split KG_MEMBER_list
#define KG_MEMBER_knob KG_MEMBER_list

struct kg_options {
    enum kg_command command;
    unsigned help_of; /* of --help: the command it stood behind, a bit; 0: of all */
    char line[1024];  /* the command as it was typed, quoted for a shell */
    char again[1024]; /* " --knob repeat=2 --timer event": what of it the next run needs to measure, judge and bless as
                       * this one did, apart from the selection */
    const char *const *arguments; /* of worker and checkout: what follows; NULL-terminated */
    struct kg_selection selection;
    struct kg_timing_overrides timing;
    bool allow_undecided, allow_undecided_new; /* always; where the architecture has no golden file yet */
    bool shuffle, shuffle_seed_given;
    uint64_t shuffle_seed;
#define OPTION(type, member, ...) KG_MEMBER_##type(member)
#include "options/option_rows.h"
};

/* KG_EINVAL: one line that names the option. */
int kg_options_parse(int argc, char *const argv[], struct kg_options *ret_options, kg_error *ret_error);
int kg_options_check(const struct kg_options *options, kg_error *ret_error); /* part of it: do they go together? */
void kg_options_done(struct kg_options *options);
enum kg_device_kind kg_options_kind(const struct kg_options *options); /* what --device names; 0: auto, either */

/* Is what goes to a terminal, or to something else, to be coloured? By --color, else by NO_COLOR (no-color.org). */
bool kg_options_color(const struct kg_options *options, bool terminal);

/* Of the commands whose bits are set, and their options; 0: of all. */
void kg_options_help(unsigned commands, FILE *out);

#endif
