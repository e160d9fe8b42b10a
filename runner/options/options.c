/* options.c -- parses the command line: each option's value, then the whole line. Which options there are is
 * option_table.c, what they say of each other options_check.c. */
#include "options/options.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "options/command_line.h"
#include "options/option_table.h"
#include "options/option_values.h"
#include "base/git.h"
#include "judge/result.h"

#define MAX_CALLS 1000000 /* of --samples and --warmup */
#define MAX_RECORDED 1000 /* rounds of a selfcheck */

/* ---- options ---- */

static int take_format(struct kg_options *o, const char *text, kg_error *ret_error)
{
    static const char *const words[] = { "text", "tap", "json", NULL };
    int index = 0;
    int status = kg_option_word("format", text, words, &index, ret_error);
    if (!status && o->command != KG_COMMAND_RUN && index == KG_FORMAT_TAP)
        status = kg_fail(ret_error, KG_EINVAL, "--format tap: kgate %s knows text and json",
                         o->command == KG_COMMAND_LIST          ? "list"
                         : o->command == KG_COMMAND_RESOURCES   ? "resources"
                         : o->command == KG_COMMAND_LEADERBOARD ? "leaderboard"
                                                                : "selfcheck");
    o->format = (enum kg_format)index;
    return status;
}

static int take_timing(struct kg_options *o, int id, const char *text, kg_error *ret_error)
{
    static const char *const timers[] = { "graph", "event", NULL }, *const caches[] = { "warm", "cold", NULL };
    switch (id) {
    case KG_OPT_TIMER:
        return kg_option_word("timer", text, timers, &o->timing.timer, ret_error);
    case KG_OPT_L2:
        return kg_option_word("l2", text, caches, &o->timing.l2, ret_error);
    case KG_OPT_SAMPLES:
        return kg_option_count("samples", text, 1, MAX_CALLS, &o->timing.samples, ret_error);
    case KG_OPT_WARMUP:
        return kg_option_count("warmup", text, 0, MAX_CALLS, &o->timing.warmup, ret_error);
    case KG_OPT_ROUNDS:
        return kg_option_count("rounds", text, KG_MIN_ROUNDS,
                               o->command == KG_COMMAND_SELFCHECK ? MAX_RECORDED : KG_MAX_BLOCKS, &o->rounds,
                               ret_error);
    case KG_OPT_GATES:
        return kg_option_count("gates", text, 1, 10000000, &o->gates, ret_error);
    case KG_OPT_PLANT:
        return kg_option_real("plant", text, 100, &o->plant_pct, ret_error);
    case KG_OPT_TOP:
        return kg_option_count("top", text, 1, 1000, &o->top, ret_error);
    case KG_OPT_CASE_TIMEOUT:
        return kg_option_real("case-timeout", text, 86400, &o->case_timeout_s, ret_error);
    case KG_OPT_THRESHOLD:
        return kg_option_real("threshold", text, 1000, &o->timing.threshold_pct, ret_error);
    default:
        return kg_option_real("timeout", text, 86400, &o->timeout_s, ret_error);
    }
}

static int take_output(struct kg_options *o, int id, char *text, kg_error *ret_error)
{
    static const char *const colors[] = { "auto", "always", "never", NULL };
    int color = 0, status = KG_OK;
    switch (id) {
    case KG_OPT_COLOR:
        status = kg_option_word("color", text, colors, &color, ret_error);
        o->color = (enum kg_color)color;
        return status;
    case KG_OPT_ALLOW_UNDECIDED:
        if (text && strcmp(text, "new"))
            return kg_fail(ret_error, KG_EINVAL, "--allow-undecided=%s: new, or nothing, wanted", text);
        *(text ? &o->allow_undecided_new : &o->allow_undecided) = true;
        return KG_OK;
    case KG_OPT_SHUFFLE:
        o->shuffle = true;
        o->shuffle_seed_given = text != NULL;
        if (text && kg_option_u64(text, &o->shuffle_seed))
            return kg_fail(ret_error, KG_EINVAL, "--shuffle=%s: not a whole number", text);
        return KG_OK;
    case KG_OPT_GIT_SHA:
        if (!kg_git_sha_valid(text))
            return kg_fail(ret_error, KG_EINVAL, "--git-sha %s: 7 to 40 hex digits wanted", text);
        o->git_sha = text;
        return KG_OK;
    case KG_OPT_KNOB:
        if (!strchr(text, '=') || *text == '=')
            return kg_fail(ret_error, KG_EINVAL, "--knob %s: NAME=VALUE wanted", text);
        return kg_option_push(&o->knobs, &o->n_knobs, text, ret_error);
    case KG_OPT_LIBRARY_PATH:
        return kg_option_push(&o->library_paths, &o->n_library_paths, text, ret_error);
    default:
        return take_format(o, text, ret_error);
    }
}

/* Flags and texts that are kept as they are. */
static bool take_plain(struct kg_options *o, int id, const char *text)
{
    struct {
        int id;
        bool *flag;
        const char **text;
    } const plain[] = {
        { KG_OPT_BLESS, &o->bless, NULL },
        { KG_OPT_ALLOW_DIRTY, &o->allow_dirty, NULL },
        { KG_OPT_PRUNE, &o->prune, NULL },
        { KG_OPT_RESET_BEST, &o->reset_best, NULL },
        { KG_OPT_NO_TIME, &o->no_time, NULL },
        { KG_OPT_TIME_EVERY_SEED, &o->time_every_seed, NULL },
        { KG_OPT_FAIL_FAST, &o->fail_fast, NULL },
        { KG_OPT_VERBOSE, &o->verbose, NULL },
        { KG_OPT_ALLOW_REMOVED, &o->allow_removed, NULL },
        { KG_OPT_AGAINST, NULL, &o->against },
        { KG_OPT_RECORD, NULL, &o->record },
        { KG_OPT_MODULE, NULL, &o->module },
        { KG_OPT_DEVICE, NULL, &o->device },
        { KG_OPT_REQUIRE_DEVICE, NULL, &o->require_device },
        { KG_OPT_EXPECTATIONS, NULL, &o->expectations },
        { KG_OPT_OUTPUT, NULL, &o->output },
        { KG_OPT_JUNIT, NULL, &o->junit },
        { KG_OPT_CACHE, NULL, &o->cache },
        { KG_OPT_REASON, NULL, &o->reason },
    };
    for (size_t i = 0; i < sizeof plain / sizeof *plain; i++) {
        if (plain[i].id != id)
            continue;
        if (plain[i].flag)
            *plain[i].flag = true;
        else
            *plain[i].text = text;
        return true;
    }
    return false;
}

static int take(struct kg_options *o, int id, char *text, kg_error *ret_error)
{
    if (take_plain(o, id, text))
        return KG_OK;
    switch (id) {
    case KG_OPT_BACKEND:
        return kg_option_push_split((const char ***)&o->selection.backends, &o->selection.n_backends, text, "backend",
                                    ret_error);
    case KG_OPT_ARCH:
        return kg_option_push_split(&o->archs, &o->n_archs, text, "arch", ret_error);
    case KG_OPT_EXCLUDE:
        return kg_option_push((const char ***)&o->selection.excludes, &o->selection.n_excludes, text, ret_error);
    case KG_OPT_SEED:
        return kg_option_seeds(&o->selection, text, ret_error);
    case KG_OPT_SET:
        return kg_option_sweep(&o->selection, text, ret_error);
    case KG_OPT_JUDGE:
        return kg_option_push(&o->judge, &o->n_judge, text, ret_error);
    case KG_OPT_SIMULATE:
        o->simulate = true;
        o->noise = text;
        return KG_OK;
    case KG_OPT_SHARD:
        return kg_option_shard(&o->selection, text, ret_error);
    case KG_OPT_TIMER:
    case KG_OPT_L2:
    case KG_OPT_SAMPLES:
    case KG_OPT_WARMUP:
    case KG_OPT_ROUNDS:
    case KG_OPT_THRESHOLD:
    case KG_OPT_TIMEOUT:
    case KG_OPT_CASE_TIMEOUT:
    case KG_OPT_GATES:
    case KG_OPT_PLANT:
    case KG_OPT_TOP:
        return take_timing(o, id, text, ret_error);
    default:
        return take_output(o, id, text, ret_error);
    }
}

/* ---- the whole line ---- */

/* Of several short options in one word getopt names the letter and has not moved on to the next word. */
static int unknown_option(const char *word, kg_error *ret_error)
{
    if (optopt > 0 && optopt < 128 && isgraph(optopt))
        return kg_fail(ret_error, KG_EINVAL, "unknown option -%c; see kgate --help", optopt);
    return kg_fail(ret_error, KG_EINVAL, "unknown option %.300s; see kgate --help", word);
}

static int parse_options(int argc, char *const argv[], int mask, struct kg_options *o, kg_error *ret_error)
{
    struct option table[KG_OPTIONS + 1] = { 0 };
    int status = KG_OK, id = 0, place = 0;
    for (size_t i = 0; i < KG_OPTIONS; i++)
        table[i] = kg_option_rows[i].option;
    opterr = 0;
    optind = 0; /* starts afresh, whatever an earlier line left half read */
    while (!status && (id = getopt_long(argc, argv, ":", table, &place)) != -1) {
        if (id == KG_OPT_HELP || id == KG_OPT_VERSION) {
            o->command = id == KG_OPT_HELP ? KG_COMMAND_HELP : KG_COMMAND_VERSION;
            return KG_OK;
        }
        if (id == ':')
            status = kg_fail(ret_error, KG_EINVAL, "%s wants a value", argv[optind - 1]);
        else if (id == '?')
            status = unknown_option(argv[optind - 1], ret_error);
        else if (!(kg_option_rows[place].commands & mask))
            status =
                kg_fail(ret_error, KG_EINVAL, "--%s does not go with this command", kg_option_rows[place].option.name);
        else
            status = take(o, id, optarg, ret_error);
    }
    for (; !status && optind < argc; optind++)
        status =
            kg_option_push((const char ***)&o->selection.patterns, &o->selection.n_patterns, argv[optind], ret_error);
    return status ? status : kg_options_check(o, ret_error);
}

/* REF and FOLDER, which may start with any letter but a dash. */
static int take_checkout(int argc, char *const argv[], struct kg_options *o, kg_error *ret_error)
{
    o->arguments = (const char *const *)argv + 2;
    for (int i = 2; i < argc; i++) {
        if (!strcmp(argv[i], "--help"))
            return o->command = KG_COMMAND_HELP, KG_OK;
        if (argv[i][0] == '-')
            return kg_fail(ret_error, KG_EINVAL, "unknown option %.300s; see kgate --help", argv[i]);
    }
    if (argc != 4 || !*argv[2] || !*argv[3])
        return kg_fail(ret_error, KG_EINVAL, "kgate checkout wants REF and FOLDER");
    return KG_OK;
}

int kg_options_parse(int argc, char *const argv[], struct kg_options *ret_options, kg_error *ret_error)
{
    struct kg_options o = { .module = "attention",
                            .device = "auto",
                            .output = "results",
                            .case_timeout_s = KG_CASE_TIMEOUT_S,
                            .timing = { -1, -1, -1, -1, -1 } };
    int mask = 0;
    if (argc < 2)
        return kg_fail(ret_error, KG_EINVAL, "no command; see kgate --help");
    kg_command_line_quote(argc, argv, o.line, sizeof o.line); /* before lists are split in place */
    int status = kg_option_command(argv[1], &o.command, &mask, ret_error);
    if (!status && o.command == KG_COMMAND_WORKER)
        o.arguments = (const char *const *)argv + 2;
    else if (!status && o.command == KG_COMMAND_CHECKOUT)
        status = take_checkout(argc, argv, &o, ret_error);
    else if (!status && mask)
        status = parse_options(argc - 1, argv + 1, mask, &o, ret_error);
    if (!status && o.command == KG_COMMAND_DOCTOR && o.selection.n_patterns)
        status = kg_fail(ret_error, KG_EINVAL, "kgate doctor takes no pattern");
    if (!status && o.command == KG_COMMAND_VERSION && !mask && argc > 2)
        status = kg_fail(ret_error, KG_EINVAL, "kgate %s takes nothing more", argv[1]);
    if (!status && o.against) /* a suite may have another timer: two builds are interleaved in windows */
        o.timing.timer = KG_TIMER_GRAPH;
    if (status)
        kg_options_done(&o);
    else
        *ret_options = o;
    return status;
}

enum kg_device_kind kg_options_kind(const struct kg_options *o)
{
    return !strcmp(o->device, "auto") ? 0 : !strcmp(o->device, "cpu") ? KG_CPU : KG_CUDA;
}

void kg_options_done(struct kg_options *o)
{
    for (size_t i = 0; i < o->selection.n_sweeps; i++)
        free((void *)o->selection.sweeps[i].values);
    free((void *)o->selection.sweeps);
    free((void *)o->selection.seeds);
    free((void *)o->selection.patterns);
    free((void *)o->selection.excludes);
    free((void *)o->selection.backends);
    free(o->library_paths);
    free(o->knobs);
    free(o->judge);
    free(o->archs);
    *o = (struct kg_options){ 0 };
}
