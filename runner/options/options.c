/* options.c -- parses the command line, by the table: which options there are is option_rows.h, how the value of each
 * is read option_values.c, what they say of each other options_check.c. */
#include "options/options.h"

#include <assert.h>
#include <ctype.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "options/option_table.h"

enum { FIRST_ID = 256, MAX_ROWS = 100 }; /* what getopt returns of the first row is no character */

/* Of several short options in one word getopt names the letter and has not moved on to the next word. */
static int unknown_option(const char *word, kg_error *ret_error)
{
    if (optopt > 0 && optopt < 128 && isgraph(optopt))
        return kg_fail(ret_error, KG_EINVAL, "unknown option -%c; see kgate --help", optopt);
    return kg_fail(ret_error, KG_EINVAL, "unknown option %.300s; see kgate --help", word);
}

static int take(const struct kg_option_row *row, struct kg_options *o, char *text, kg_error *ret_error)
{
    if (!(row->commands & 1u << o->command))
        return kg_fail(ret_error, KG_EINVAL, "--%s does not go with this command", row->name);
    if (row->again) { /* before a list is split in place */
        char option[64];
        snprintf(option, sizeof option, "--%s", row->name);
        kg_text_add_quoted(o->again, sizeof o->again, option);
        if (text)
            kg_text_add_quoted(o->again, sizeof o->again, text);
    }
    return row->take(row, o, text, ret_error);
}

/* What getopt knows of the rows; headings of groups are left out. */
static void make_table(struct option ret_table[MAX_ROWS + 1])
{
    size_t count = 0;
    memset(ret_table, 0, (MAX_ROWS + 1) * sizeof *ret_table);
    for (size_t i = 0; i < kg_option_rows_count; i++) {
        const struct kg_option_row *row = &kg_option_rows[i];
        if (row->name)
            ret_table[count++] =
                (struct option){ .name = row->name, .has_arg = kg_option_argument(row), .val = FIRST_ID + (int)i };
    }
}

static int parse_options(int argc, char *const argv[], struct kg_options *o, kg_error *ret_error)
{
    struct option table[MAX_ROWS + 1];
    int status = KG_OK, id = 0;
    assert(kg_option_rows_count <= MAX_ROWS);
    make_table(table);
    opterr = 0;
    optind = 0; /* starts afresh, whatever an earlier line left half read */
    while (!status && (id = getopt_long(argc, argv, ":", table, NULL)) != -1) {
        if (id == ':')
            status = kg_fail(ret_error, KG_EINVAL, "%s wants a value", argv[optind - 1]);
        else if (id == '?')
            status = unknown_option(argv[optind - 1], ret_error);
        else
            status = take(&kg_option_rows[id - FIRST_ID], o, optarg, ret_error);
        if (o->command == KG_COMMAND_HELP || o->command == KG_COMMAND_VERSION)
            return KG_OK;
    }
    for (; !status && optind < argc; optind++)
        status =
            kg_option_push((const char ***)&o->selection.patterns, &o->selection.n_patterns, argv[optind], ret_error);
    if (!status && o->command == KG_COMMAND_DOCTOR && o->selection.n_patterns)
        status = kg_fail(ret_error, KG_EINVAL, "kgate doctor takes no pattern");
    if (!status)
        status = kg_options_check(o, ret_error);
    if (o->against) /* a suite may have another timer: two builds are interleaved in windows */
        o->timing.timer = KG_TIMER_GRAPH;
    return status;
}

/* REF and FOLDER, which may start with any letter but a dash. */
static int take_checkout(int argc, char *const argv[], struct kg_options *o, kg_error *ret_error)
{
    o->arguments = (const char *const *)argv + 2;
    for (int i = 2; i < argc; i++) {
        if (!strcmp(argv[i], "--help")) {
            o->help_of = 1u << o->command;
            o->command = KG_COMMAND_HELP;
            return KG_OK;
        }
        if (argv[i][0] == '-')
            return kg_fail(ret_error, KG_EINVAL, "unknown option %.300s; see kgate --help", argv[i]);
    }
    if (argc != 4 || !*argv[2] || !*argv[3])
        return kg_fail(ret_error, KG_EINVAL, "kgate checkout wants REF and FOLDER");
    return KG_OK;
}

static int parse(int argc, char *const argv[], struct kg_options *o, kg_error *ret_error)
{
    char line[sizeof o->line + 1] = ""; /* a space in front */
    for (int i = 0; i < argc; i++)
        kg_text_add_quoted(line, sizeof line, argv[i]); /* before lists are split in place */
    snprintf(o->line, sizeof o->line, "%s", line + 1);
    int status = kg_option_command(argv[1], &o->command, ret_error);
    if (status)
        return status;
    switch (o->command) {
    case KG_COMMAND_WORKER:
        o->arguments = (const char *const *)argv + 2;
        return KG_OK;
    case KG_COMMAND_CHECKOUT:
        return take_checkout(argc, argv, o, ret_error);
    case KG_COMMAND_VERSION:
        return argc == 2 ? KG_OK : kg_fail(ret_error, KG_EINVAL, "kgate %s takes nothing more", argv[1]);
    case KG_COMMAND_HELP:
        return KG_OK;
    default:
        return parse_options(argc - 1, argv + 1, o, ret_error);
    }
}

int kg_options_parse(int argc, char *const argv[], struct kg_options *ret_options, kg_error *ret_error)
{
    struct kg_options o = { .module = "attention",
                            .device = "auto",
                            .output = "results",
                            .case_timeout_s = KG_CASE_TIMEOUT_S,
                            .budget_s = KG_BUDGET_S,
                            .selection = { .variable = getenv },
                            .timing = { -1, -1, -1, -1, -1 } };
    if (argc < 2)
        return kg_fail(ret_error, KG_EINVAL, "no command; see kgate --help");
    int status = parse(argc, argv, &o, ret_error);
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

bool kg_options_color(const struct kg_options *o, bool terminal)
{
    const char *none = getenv("NO_COLOR");
    return o->color == KG_COLOR_ALWAYS || (o->color == KG_COLOR_AUTO && terminal && !(none && *none));
}

void kg_options_done(struct kg_options *o)
{
    for (size_t i = 0; i < o->selection.n_sweeps; i++)
        free((void *)o->selection.sweeps[i].values);
    free((void *)o->selection.sweeps);
    free((void *)o->selection.patterns);
    for (size_t i = 0; i < kg_option_rows_count; i++)
        if (kg_option_rows[i].count)
            free(*(void **)((char *)o + kg_option_rows[i].member));
    *o = (struct kg_options){ 0 };
}
