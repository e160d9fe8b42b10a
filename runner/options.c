/* options.c -- parses the command line. A new option is a row of `rows`, a case of `take`, and a line of the help. */
#include "options.h"

#include <ctype.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "command_line.h"
#include "option_values.h"
#include "provenance.h"

#define MAX_CALLS 1000000 /* of --samples and --warmup */
#define MAX_RECORDED 1000 /* rounds of a selfcheck */

enum { LIST = 1, RUN = 2, DOCTOR = 4, SELF = 8, RESOURCES = 16 }; /* the commands that an option belongs to */

enum option_id {
    OPT_MODULE = 256,
    OPT_BACKEND,
    OPT_SEED,
    OPT_SET,
    OPT_EXCLUDE,
    OPT_SHARD,
    OPT_DEVICE,
    OPT_FORMAT,
    OPT_BLESS,
    OPT_REASON,
    OPT_ALLOW_DIRTY,
    OPT_PRUNE,
    OPT_RESET_BEST,
    OPT_NO_TIME,
    OPT_TIME_EVERY_SEED,
    OPT_EXPECTATIONS,
    OPT_OUTPUT,
    OPT_JUNIT,
    OPT_TIMER,
    OPT_L2,
    OPT_SAMPLES,
    OPT_WARMUP,
    OPT_THRESHOLD,
    OPT_ROUNDS,
    OPT_REQUIRE_DEVICE,
    OPT_ALLOW_UNDECIDED,
    OPT_TIMEOUT,
    OPT_CASE_TIMEOUT,
    OPT_AGAINST,
    OPT_ALLOW_REMOVED,
    OPT_RECORD,
    OPT_JUDGE,
    OPT_SIMULATE,
    OPT_GATES,
    OPT_FAIL_FAST,
    OPT_SHUFFLE,
    OPT_VERBOSE,
    OPT_COLOR,
    OPT_GIT_SHA,
    OPT_KNOB,
    OPT_LIBRARY_PATH,
    OPT_CACHE,
    OPT_HELP,
    OPT_VERSION,
};

static const struct {
    struct option option;
    int commands;
} rows[] = {
    { { "module", required_argument, NULL, OPT_MODULE }, LIST | RUN | DOCTOR | SELF | RESOURCES },
    { { "backend", required_argument, NULL, OPT_BACKEND }, LIST | RUN | SELF },
    { { "seed", required_argument, NULL, OPT_SEED }, LIST | RUN | SELF },
    { { "set", required_argument, NULL, OPT_SET }, LIST | RUN | SELF },
    { { "exclude", required_argument, NULL, OPT_EXCLUDE }, LIST | RUN | SELF },
    { { "shard", required_argument, NULL, OPT_SHARD }, LIST | RUN | SELF },
    { { "device", required_argument, NULL, OPT_DEVICE }, LIST | RUN | DOCTOR | SELF },
    { { "format", required_argument, NULL, OPT_FORMAT }, LIST | RUN | SELF | RESOURCES },
    { { "bless", no_argument, NULL, OPT_BLESS }, RUN | RESOURCES },
    { { "reason", required_argument, NULL, OPT_REASON }, RUN | RESOURCES },
    { { "allow-dirty", no_argument, NULL, OPT_ALLOW_DIRTY }, RUN | RESOURCES },
    { { "prune", no_argument, NULL, OPT_PRUNE }, RUN | RESOURCES },
    { { "reset-best", no_argument, NULL, OPT_RESET_BEST }, RUN },
    { { "no-time", no_argument, NULL, OPT_NO_TIME }, RUN },
    { { "time-every-seed", no_argument, NULL, OPT_TIME_EVERY_SEED }, RUN },
    { { "expectations", required_argument, NULL, OPT_EXPECTATIONS }, RUN | DOCTOR | RESOURCES },
    { { "output", required_argument, NULL, OPT_OUTPUT }, RUN | SELF },
    { { "junit", required_argument, NULL, OPT_JUNIT }, RUN },
    { { "timer", required_argument, NULL, OPT_TIMER }, RUN },
    { { "l2", required_argument, NULL, OPT_L2 }, RUN | SELF },
    { { "samples", required_argument, NULL, OPT_SAMPLES }, RUN },
    { { "warmup", required_argument, NULL, OPT_WARMUP }, RUN },
    { { "threshold", required_argument, NULL, OPT_THRESHOLD }, RUN | SELF },
    { { "rounds", required_argument, NULL, OPT_ROUNDS }, RUN | SELF },
    { { "require-device", required_argument, NULL, OPT_REQUIRE_DEVICE }, RUN | SELF },
    { { "allow-undecided", optional_argument, NULL, OPT_ALLOW_UNDECIDED }, RUN | RESOURCES },
    { { "timeout", required_argument, NULL, OPT_TIMEOUT }, RUN | SELF },
    { { "case-timeout", required_argument, NULL, OPT_CASE_TIMEOUT }, RUN | SELF },
    { { "against", required_argument, NULL, OPT_AGAINST }, RUN },
    { { "allow-removed", no_argument, NULL, OPT_ALLOW_REMOVED }, RUN },
    { { "record", required_argument, NULL, OPT_RECORD }, SELF },
    { { "judge", required_argument, NULL, OPT_JUDGE }, SELF },
    { { "simulate", optional_argument, NULL, OPT_SIMULATE }, SELF },
    { { "gates", required_argument, NULL, OPT_GATES }, SELF },
    { { "fail-fast", no_argument, NULL, OPT_FAIL_FAST }, RUN },
    { { "shuffle", optional_argument, NULL, OPT_SHUFFLE }, RUN | SELF },
    { { "verbose", no_argument, NULL, OPT_VERBOSE }, RUN | SELF },
    { { "color", required_argument, NULL, OPT_COLOR }, RUN },
    { { "git-sha", required_argument, NULL, OPT_GIT_SHA }, RUN | SELF | RESOURCES },
    { { "knob", required_argument, NULL, OPT_KNOB }, RUN | SELF },
    { { "library-path", required_argument, NULL, OPT_LIBRARY_PATH }, RUN | DOCTOR | SELF },
    { { "cache", required_argument, NULL, OPT_CACHE }, RUN | SELF },
    { { "help", no_argument, NULL, OPT_HELP }, LIST | RUN | DOCTOR | SELF | RESOURCES },
    { { "version", no_argument, NULL, OPT_VERSION }, LIST | RUN | DOCTOR | SELF | RESOURCES },
};

#define N_ROWS (sizeof rows / sizeof *rows)

static const char help_text[] =
    "kgate: a regression gate for GPU kernels\n"
    "\n"
    "  kgate list   [PATTERN...]                      the cases, one id a line (--format text|json)\n"
    "  kgate run    [PATTERN...]                      gate them\n"
    "  kgate run --bless --reason TEXT [PATTERN...]   gate correctness, then write new goldens\n"
    "  kgate run --against MODULE.so [PATTERN...]     judge p50 against another build, beside it in each process\n"
    "  kgate selfcheck [PATTERN...]                   false alarms and power of these judgements on this machine\n"
    "  kgate resources [PATTERN...]                   what the compiler made of each kernel, against what was blessed\n"
    "  kgate doctor                                   what is here, and what would make timings unsteady\n"
    "  kgate checkout REF FOLDER                      the tree of a commit, to build a baseline from\n"
    "\n"
    "PATTERN is a shell glob over ids, suite/shape/sSEED/backend; a leading part selects all below it.\n"
    "\n"
    "selection      --module FILE --backend NAME[,...] --seed N[,...] --set FIELD=VALUE[,...] --exclude PATTERN\n"
    "               --shard I/N --device auto|cpu|cuda[:N]\n"
    "timing         --no-time --timer graph|event --l2 warm|cold --samples N --warmup N --rounds MAX --threshold PCT\n"
    "               --time-every-seed\n"
    "judging        --expectations DIR --require-device KIND --allow-undecided[=new] --fail-fast\n"
    "               --against MODULE.so --allow-removed --timeout SECONDS\n"
    "blessing       --bless --reason TEXT --allow-dirty --prune --reset-best --git-sha SHA\n"
    "backends       --knob NAME=VALUE --library-path DIR --cache DIR --case-timeout SECONDS\n"
    "selfcheck      --record FILE | --judge FILE | --simulate[=NOISE] --gates N\n"
    "output         --output DIR --junit FILE --format text|tap|json --verbose --color auto|always|never\n"
    "               --shuffle[=SEED]\n"
    "\n"
    "status         0 pass, fast, xfail or skip   1 fail or error   2 usage   3 slow   4 undecided   77 all skipped\n";

void kg_options_help(FILE *out)
{
    fputs(help_text, out);
}

/* ---- options ---- */

static int take_format(struct kg_options *o, const char *text, kg_error *ret_error)
{
    static const char *const words[] = { "text", "tap", "json", NULL };
    int index = 0;
    int status = kg_option_word("format", text, words, &index, ret_error);
    if (!status && o->command != KG_COMMAND_RUN && index == KG_FORMAT_TAP)
        status = kg_fail(ret_error, KG_EINVAL, "--format tap: kgate %s knows text and json",
                         o->command == KG_COMMAND_LIST        ? "list"
                         : o->command == KG_COMMAND_RESOURCES ? "resources"
                                                              : "selfcheck");
    o->format = (enum kg_format)index;
    return status;
}

static int take_timing(struct kg_options *o, int id, const char *text, kg_error *ret_error)
{
    static const char *const timers[] = { "graph", "event", NULL }, *const caches[] = { "warm", "cold", NULL };
    switch (id) {
    case OPT_TIMER:
        return kg_option_word("timer", text, timers, &o->timing.timer, ret_error);
    case OPT_L2:
        return kg_option_word("l2", text, caches, &o->timing.l2, ret_error);
    case OPT_SAMPLES:
        return kg_option_count("samples", text, 1, MAX_CALLS, &o->timing.samples, ret_error);
    case OPT_WARMUP:
        return kg_option_count("warmup", text, 0, MAX_CALLS, &o->timing.warmup, ret_error);
    case OPT_ROUNDS:
        return kg_option_count("rounds", text, KG_MIN_ROUNDS,
                               o->command == KG_COMMAND_SELFCHECK ? MAX_RECORDED : KG_MAX_BLOCKS, &o->rounds,
                               ret_error);
    case OPT_GATES:
        return kg_option_count("gates", text, 1, 10000000, &o->gates, ret_error);
    case OPT_CASE_TIMEOUT:
        return kg_option_real("case-timeout", text, 86400, &o->case_timeout_s, ret_error);
    case OPT_THRESHOLD:
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
    case OPT_COLOR:
        status = kg_option_word("color", text, colors, &color, ret_error);
        o->color = (enum kg_color)color;
        return status;
    case OPT_ALLOW_UNDECIDED:
        if (text && strcmp(text, "new"))
            return kg_fail(ret_error, KG_EINVAL, "--allow-undecided=%s: new, or nothing, wanted", text);
        *(text ? &o->allow_undecided_new : &o->allow_undecided) = true;
        return KG_OK;
    case OPT_SHUFFLE:
        o->shuffle = true;
        o->shuffle_seed_given = text != NULL;
        if (text && kg_option_u64(text, &o->shuffle_seed))
            return kg_fail(ret_error, KG_EINVAL, "--shuffle=%s: not a whole number", text);
        return KG_OK;
    case OPT_GIT_SHA:
        if (!kg_git_sha_valid(text))
            return kg_fail(ret_error, KG_EINVAL, "--git-sha %s: 7 to 40 hex digits wanted", text);
        o->git_sha = text;
        return KG_OK;
    case OPT_KNOB:
        if (!strchr(text, '=') || *text == '=')
            return kg_fail(ret_error, KG_EINVAL, "--knob %s: NAME=VALUE wanted", text);
        return kg_option_push(&o->knobs, &o->n_knobs, text, ret_error);
    case OPT_LIBRARY_PATH:
        return kg_option_push(&o->library_paths, &o->n_library_paths, text, ret_error);
    default:
        return take_format(o, text, ret_error);
    }
}

static int take(struct kg_options *o, int id, char *text, kg_error *ret_error)
{
    struct {
        int id;
        bool *flag;
        const char **text;
    } const plain[] = {
        { OPT_BLESS, &o->bless, NULL },
        { OPT_ALLOW_DIRTY, &o->allow_dirty, NULL },
        { OPT_PRUNE, &o->prune, NULL },
        { OPT_RESET_BEST, &o->reset_best, NULL },
        { OPT_NO_TIME, &o->no_time, NULL },
        { OPT_TIME_EVERY_SEED, &o->time_every_seed, NULL },
        { OPT_FAIL_FAST, &o->fail_fast, NULL },
        { OPT_VERBOSE, &o->verbose, NULL },
        { OPT_ALLOW_REMOVED, &o->allow_removed, NULL },
        { OPT_AGAINST, NULL, &o->against },
        { OPT_RECORD, NULL, &o->record },
        { OPT_MODULE, NULL, &o->module },
        { OPT_DEVICE, NULL, &o->device },
        { OPT_REQUIRE_DEVICE, NULL, &o->require_device },
        { OPT_EXPECTATIONS, NULL, &o->expectations },
        { OPT_OUTPUT, NULL, &o->output },
        { OPT_JUNIT, NULL, &o->junit },
        { OPT_CACHE, NULL, &o->cache },
        { OPT_REASON, NULL, &o->reason },
    };
    for (size_t i = 0; i < sizeof plain / sizeof *plain; i++) {
        if (plain[i].id == id && plain[i].flag)
            return *plain[i].flag = true, KG_OK;
        if (plain[i].id == id)
            return *plain[i].text = text, KG_OK;
    }
    switch (id) {
    case OPT_BACKEND:
        return kg_option_push_split((const char ***)&o->selection.backends, &o->selection.n_backends, text, "backend",
                                    ret_error);
    case OPT_EXCLUDE:
        return kg_option_push((const char ***)&o->selection.excludes, &o->selection.n_excludes, text, ret_error);
    case OPT_SEED:
        return kg_option_seeds(&o->selection, text, ret_error);
    case OPT_SET:
        return kg_option_sweep(&o->selection, text, ret_error);
    case OPT_JUDGE:
        return kg_option_push(&o->judge, &o->n_judge, text, ret_error);
    case OPT_SIMULATE:
        o->simulate = true;
        o->noise = text;
        return KG_OK;
    case OPT_SHARD:
        return kg_option_shard(&o->selection, text, ret_error);
    case OPT_TIMER:
    case OPT_L2:
    case OPT_SAMPLES:
    case OPT_WARMUP:
    case OPT_ROUNDS:
    case OPT_THRESHOLD:
    case OPT_TIMEOUT:
    case OPT_CASE_TIMEOUT:
    case OPT_GATES:
        return take_timing(o, id, text, ret_error);
    default:
        return take_output(o, id, text, ret_error);
    }
}

/* ---- the whole line ---- */

static int command_of(const char *word, enum kg_command *ret_command, int *ret_mask, kg_error *ret_error)
{
    static const struct {
        const char *word;
        enum kg_command command;
        int mask;
    } commands[] = { { "run", KG_COMMAND_RUN, RUN },
                     { "list", KG_COMMAND_LIST, LIST },
                     { "doctor", KG_COMMAND_DOCTOR, DOCTOR },
                     { "selfcheck", KG_COMMAND_SELFCHECK, SELF },
                     { "resources", KG_COMMAND_RESOURCES, RESOURCES },
                     { "checkout", KG_COMMAND_CHECKOUT, 0 },
                     { "help", KG_COMMAND_HELP, 0 },
                     { "--help", KG_COMMAND_HELP, 0 },
                     { "version", KG_COMMAND_VERSION, 0 },
                     { "--version", KG_COMMAND_VERSION, 0 },
                     { "worker", KG_COMMAND_WORKER, 0 } };
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
        if (!strcmp(word, commands[i].word)) {
            *ret_command = commands[i].command;
            *ret_mask = commands[i].mask;
            return KG_OK;
        }
    }
    return kg_fail(ret_error, KG_EINVAL, "unknown command %s; see kgate --help", word);
}

/* Of several short options in one word getopt names the letter and has not moved on to the next word. */
static int unknown_option(const char *word, kg_error *ret_error)
{
    if (optopt > 0 && optopt < 128 && isgraph(optopt))
        return kg_fail(ret_error, KG_EINVAL, "unknown option -%c; see kgate --help", optopt);
    return kg_fail(ret_error, KG_EINVAL, "unknown option %.300s; see kgate --help", word);
}

static int parse_options(int argc, char *const argv[], int mask, struct kg_options *o, kg_error *ret_error)
{
    struct option table[N_ROWS + 1] = { 0 };
    int status = KG_OK, id = 0, place = 0;
    for (size_t i = 0; i < N_ROWS; i++)
        table[i] = rows[i].option;
    opterr = 0;
    optind = 0; /* starts afresh, whatever an earlier line left half read */
    while (!status && (id = getopt_long(argc, argv, ":", table, &place)) != -1) {
        if (id == OPT_HELP || id == OPT_VERSION) {
            o->command = id == OPT_HELP ? KG_COMMAND_HELP : KG_COMMAND_VERSION;
            return KG_OK;
        }
        if (id == ':')
            status = kg_fail(ret_error, KG_EINVAL, "%s wants a value", argv[optind - 1]);
        else if (id == '?')
            status = unknown_option(argv[optind - 1], ret_error);
        else if (!(rows[place].commands & mask))
            status = kg_fail(ret_error, KG_EINVAL, "--%s does not go with this command", rows[place].option.name);
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
    int status = command_of(argv[1], &o.command, &mask, ret_error);
    if (!status && o.command == KG_COMMAND_WORKER)
        o.arguments = (const char *const *)argv + 2;
    else if (!status && o.command == KG_COMMAND_CHECKOUT)
        status = take_checkout(argc, argv, &o, ret_error);
    else if (!status && mask)
        status = parse_options(argc - 1, argv + 1, mask, &o, ret_error);
    if (!status && o.command == KG_COMMAND_DOCTOR && o.selection.n_patterns)
        status = kg_fail(ret_error, KG_EINVAL, "kgate doctor takes no pattern");
    if (!status && o.against) /* a suite may have another timer: two builds are interleaved in windows */
        o.timing.timer = KG_TIMER_GRAPH;
    if (status)
        kg_options_done(&o);
    else
        *ret_options = o;
    return status;
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
    *o = (struct kg_options){ 0 };
}
