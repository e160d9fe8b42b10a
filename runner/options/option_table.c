/* option_table.c -- the words of the command line as tables, and the help that is made of them. A new option gets a row
 * in option_rows.h; a new command a row here and, where it takes options, a word below and rows that name it. */
#include "options/option_table.h"

#include <getopt.h>
#include <string.h>

enum {
    LIST = 1 << KG_COMMAND_LIST,
    RUN = 1 << KG_COMMAND_RUN,
    DOCTOR = 1 << KG_COMMAND_DOCTOR,
    SELF = 1 << KG_COMMAND_SELFCHECK,
    RESOURCES = 1 << KG_COMMAND_RESOURCES,
    LEADERS = 1 << KG_COMMAND_LEADERBOARD,
    CASES = LIST | RUN | SELF,
    ALL = CASES | DOCTOR | RESOURCES | LEADERS
};
#define AT(member) offsetof(struct kg_options, member)
#define AGAIN .again = true

const struct kg_option_row kg_option_rows[] = {
#define GROUP(heading) { .value = (heading) },
#define OPTION PLACED
#define PLACED(type, place, word, of, ...)                                                                             \
    { .name = (word), .commands = (of), .take = kg_take_##type, .member = AT(place), .value = __VA_ARGS__ },
#include "options/option_rows.h"
};
const size_t kg_option_rows_count = sizeof kg_option_rows / sizeof *kg_option_rows;

int kg_option_argument(const struct kg_option_row *row)
{
    return !row->value ? no_argument : *row->value == '[' ? optional_argument : required_argument;
}

/* ---- commands ---- */

static const struct {
    const char *word;
    enum kg_command command;
    const char *takes, *does; /* NULL: the help does not name it */
} commands[] = {
    { "list", KG_COMMAND_LIST, "  [PATTERN...]", "the cases, one id a line (--format text|json)" },
    { "run", KG_COMMAND_RUN, "   [PATTERN...]", "gate them" },
    { "run", KG_COMMAND_RUN, "--bless --reason TEXT [PATTERN...]", "gate correctness, then write new goldens" },
    { "run", KG_COMMAND_RUN, "--against MODULE.so [PATTERN...]",
      "judge p50 against another build, beside it in each process" },
    { "selfcheck", KG_COMMAND_SELFCHECK, "[PATTERN...]", "false alarms and power of these judgements on this machine" },
    { "resources", KG_COMMAND_RESOURCES, "[PATTERN...]",
      "what the compiler made of each kernel, against what was blessed" },
    { "leaderboard", KG_COMMAND_LEADERBOARD, "[PATTERN...]",
      "each shape's best in the goldens, and how every backend stands" },
    { "doctor", KG_COMMAND_DOCTOR, "", "what is here, and what would make timings unsteady" },
    { "checkout", KG_COMMAND_CHECKOUT, "REF FOLDER", "the tree of a commit, to build a baseline from" },
    { "help", KG_COMMAND_HELP, NULL, NULL },
    { "--help", KG_COMMAND_HELP, NULL, NULL },
    { "version", KG_COMMAND_VERSION, NULL, NULL },
    { "--version", KG_COMMAND_VERSION, NULL, NULL },
    { "worker", KG_COMMAND_WORKER, NULL, NULL },
};
enum { N_COMMANDS = sizeof commands / sizeof *commands };

int kg_option_command(const char *word, enum kg_command *ret_command, kg_error *ret_error)
{
    for (size_t i = 0; i < N_COMMANDS; i++) {
        if (!strcmp(word, commands[i].word)) {
            *ret_command = commands[i].command;
            return KG_OK;
        }
    }
    return kg_fail(ret_error, KG_EINVAL, "unknown command %s; see kgate --help", word);
}

const char *kg_option_command_word(enum kg_command command)
{
    size_t i = 0;
    while (commands[i].command != command)
        i++;
    return commands[i].word;
}

/* ---- help ---- */

enum { HEADING = 14, WIDTH = 118 }; /* columns */

/* The options of a group, from its heading on, in lines that begin alike. */
static void put_group(const struct kg_option_row *heading, unsigned of, FILE *out)
{
    const struct kg_option_row *const end = kg_option_rows + kg_option_rows_count;
    int column = 0;
    for (const struct kg_option_row *row = heading + 1; row < end && row->name; row++) {
        char text[80];
        if (!(row->commands & of))
            continue;
        int length = snprintf(text, sizeof text, " --%s%s%s", row->name,
                              kg_option_argument(row) == required_argument ? " " : "", row->value ? row->value : "");
        if (!column || column + length > WIDTH) {
            fprintf(out, "%s%-*s", column ? "\n" : "", HEADING, column ? "" : heading->value);
            column = HEADING;
        }
        fputs(text, out);
        column += length;
    }
    fputs(column ? "\n" : "", out);
}

void kg_options_help(unsigned of, FILE *out)
{
    bool patterns = false;
    of = of ? of : ~0u;
    fputs("kgate: a regression gate for GPU kernels\n\n", out);
    for (size_t i = 0; i < N_COMMANDS; i++) {
        if (!commands[i].does || !(of & 1u << commands[i].command))
            continue;
        char line[80];
        snprintf(line, sizeof line, "%s %s", commands[i].word, commands[i].takes);
        fprintf(out, "  kgate %-40s %s\n", line, commands[i].does);
        patterns = patterns || strstr(commands[i].takes, "PATTERN");
    }
    if (patterns)
        fputs("\nPATTERN is a shell glob over ids, suite/shape/sSEED/backend; a leading part selects all below it.\n",
              out);
    fputs(of & ALL ? "\n" : "", out);
    for (size_t i = 0; i < kg_option_rows_count; i++)
        if (!kg_option_rows[i].name)
            put_group(&kg_option_rows[i], of, out);
    fputs("\nstatus         0 pass, fast, xfail or skip   1 fail or error   2 usage   3 slow   4 undecided   "
          "77 all skipped\n",
          out);
}
