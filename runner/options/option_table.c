/* option_table.c -- the words of the command line: options, commands, and the help that names them. A new option gets
 * its id in the header, a row, a line of the help, and a case in options.c; a new command a bit, a row at the end, and
 * a line of the help. */
#include "options/option_table.h"

#include <string.h>

/* The commands that an option belongs to. */
enum { LIST = 1, RUN = 2, DOCTOR = 4, SELF = 8, RESOURCES = 16, LEADERS = 32, ALL = 63 };

const struct kg_option_row kg_option_rows[KG_OPTIONS] = {
    { { "module", required_argument, NULL, KG_OPT_MODULE }, ALL },
    { { "backend", required_argument, NULL, KG_OPT_BACKEND }, LIST | RUN | SELF | LEADERS },
    { { "seed", required_argument, NULL, KG_OPT_SEED }, LIST | RUN | SELF },
    { { "set", required_argument, NULL, KG_OPT_SET }, LIST | RUN | SELF },
    { { "exclude", required_argument, NULL, KG_OPT_EXCLUDE }, LIST | RUN | SELF | LEADERS },
    { { "shard", required_argument, NULL, KG_OPT_SHARD }, LIST | RUN | SELF },
    { { "device", required_argument, NULL, KG_OPT_DEVICE }, LIST | RUN | DOCTOR | SELF | LEADERS },
    { { "format", required_argument, NULL, KG_OPT_FORMAT }, LIST | RUN | SELF | RESOURCES | LEADERS },
    { { "bless", no_argument, NULL, KG_OPT_BLESS }, RUN | RESOURCES },
    { { "reason", required_argument, NULL, KG_OPT_REASON }, RUN | RESOURCES },
    { { "allow-dirty", no_argument, NULL, KG_OPT_ALLOW_DIRTY }, RUN | RESOURCES },
    { { "prune", no_argument, NULL, KG_OPT_PRUNE }, RUN | RESOURCES },
    { { "reset-best", no_argument, NULL, KG_OPT_RESET_BEST }, RUN },
    { { "no-time", no_argument, NULL, KG_OPT_NO_TIME }, RUN },
    { { "time-every-seed", no_argument, NULL, KG_OPT_TIME_EVERY_SEED }, RUN },
    { { "expectations", required_argument, NULL, KG_OPT_EXPECTATIONS }, RUN | DOCTOR | RESOURCES | LEADERS },
    { { "output", required_argument, NULL, KG_OPT_OUTPUT }, RUN | SELF },
    { { "junit", required_argument, NULL, KG_OPT_JUNIT }, RUN },
    { { "timer", required_argument, NULL, KG_OPT_TIMER }, RUN },
    { { "l2", required_argument, NULL, KG_OPT_L2 }, RUN | SELF },
    { { "samples", required_argument, NULL, KG_OPT_SAMPLES }, RUN },
    { { "warmup", required_argument, NULL, KG_OPT_WARMUP }, RUN },
    { { "threshold", required_argument, NULL, KG_OPT_THRESHOLD }, RUN | SELF },
    { { "rounds", required_argument, NULL, KG_OPT_ROUNDS }, RUN | SELF },
    { { "require-device", required_argument, NULL, KG_OPT_REQUIRE_DEVICE }, RUN | SELF },
    { { "allow-undecided", optional_argument, NULL, KG_OPT_ALLOW_UNDECIDED }, RUN | RESOURCES },
    { { "timeout", required_argument, NULL, KG_OPT_TIMEOUT }, RUN | SELF },
    { { "case-timeout", required_argument, NULL, KG_OPT_CASE_TIMEOUT }, RUN | SELF },
    { { "against", required_argument, NULL, KG_OPT_AGAINST }, RUN },
    { { "allow-removed", no_argument, NULL, KG_OPT_ALLOW_REMOVED }, RUN },
    { { "record", required_argument, NULL, KG_OPT_RECORD }, SELF },
    { { "judge", required_argument, NULL, KG_OPT_JUDGE }, SELF },
    { { "simulate", optional_argument, NULL, KG_OPT_SIMULATE }, SELF },
    { { "gates", required_argument, NULL, KG_OPT_GATES }, SELF },
    { { "plant", required_argument, NULL, KG_OPT_PLANT }, SELF },
    { { "arch", required_argument, NULL, KG_OPT_ARCH }, LEADERS },
    { { "top", required_argument, NULL, KG_OPT_TOP }, LEADERS },
    { { "fail-fast", no_argument, NULL, KG_OPT_FAIL_FAST }, RUN },
    { { "shuffle", optional_argument, NULL, KG_OPT_SHUFFLE }, RUN | SELF },
    { { "verbose", no_argument, NULL, KG_OPT_VERBOSE }, RUN | SELF },
    { { "color", required_argument, NULL, KG_OPT_COLOR }, RUN },
    { { "git-sha", required_argument, NULL, KG_OPT_GIT_SHA }, RUN | SELF | RESOURCES },
    { { "knob", required_argument, NULL, KG_OPT_KNOB }, RUN | SELF },
    { { "library-path", required_argument, NULL, KG_OPT_LIBRARY_PATH }, RUN | DOCTOR | SELF },
    { { "cache", required_argument, NULL, KG_OPT_CACHE }, RUN | SELF },
    { { "help", no_argument, NULL, KG_OPT_HELP }, ALL },
    { { "version", no_argument, NULL, KG_OPT_VERSION }, ALL },
};

int kg_option_command(const char *word, enum kg_command *ret_command, int *ret_bit, kg_error *ret_error)
{
    static const struct {
        const char *word;
        enum kg_command command;
        int bit;
    } commands[] = { { "run", KG_COMMAND_RUN, RUN },
                     { "list", KG_COMMAND_LIST, LIST },
                     { "doctor", KG_COMMAND_DOCTOR, DOCTOR },
                     { "selfcheck", KG_COMMAND_SELFCHECK, SELF },
                     { "resources", KG_COMMAND_RESOURCES, RESOURCES },
                     { "leaderboard", KG_COMMAND_LEADERBOARD, LEADERS },
                     { "checkout", KG_COMMAND_CHECKOUT, 0 },
                     { "help", KG_COMMAND_HELP, 0 },
                     { "--help", KG_COMMAND_HELP, 0 },
                     { "version", KG_COMMAND_VERSION, 0 },
                     { "--version", KG_COMMAND_VERSION, 0 },
                     { "worker", KG_COMMAND_WORKER, 0 } };
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
        if (!strcmp(word, commands[i].word)) {
            *ret_command = commands[i].command;
            *ret_bit = commands[i].bit;
            return KG_OK;
        }
    }
    return kg_fail(ret_error, KG_EINVAL, "unknown command %s; see kgate --help", word);
}

static const char help_text[] =
    "kgate: a regression gate for GPU kernels\n"
    "\n"
    "  kgate list   [PATTERN...]                      the cases, one id a line (--format text|json)\n"
    "  kgate run    [PATTERN...]                      gate them\n"
    "  kgate run --bless --reason TEXT [PATTERN...]   gate correctness, then write new goldens\n"
    "  kgate run --against MODULE.so [PATTERN...]     judge p50 against another build, beside it in each process\n"
    "  kgate selfcheck [PATTERN...]                   false alarms and power of these judgements on this machine\n"
    "  kgate resources [PATTERN...]                   what the compiler made of each kernel, against what was blessed\n"
    "  kgate leaderboard [PATTERN...]                 each shape's best in the goldens, and how every backend stands\n"
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
    "leaderboard    --arch NAME[,...] --top N\n"
    "selfcheck      --record FILE --plant PCT | --judge FILE | --simulate[=NOISE] --gates N\n"
    "output         --output DIR --junit FILE --format text|tap|json --verbose --color auto|always|never\n"
    "               --shuffle[=SEED]\n"
    "\n"
    "status         0 pass, fast, xfail or skip   1 fail or error   2 usage   3 slow   4 undecided   77 all skipped\n";

void kg_options_help(FILE *out)
{
    fputs(help_text, out);
}
