/* option_table.h -- the rows of option_rows.h as a table, and the commands that they belong to. */
#ifndef KG_OPTION_TABLE_H
#define KG_OPTION_TABLE_H

#include "options/options.h"

struct kg_option_row;

/* Parses what stands behind an option, NULL for nothing, into its member: KG_EINVAL with a line that names the option,
 * or KG_ENOMEM. Texts are pieces of argv: lists are split in place and point into it. */
typedef int kg_option_take(const struct kg_option_row *row, struct kg_options *options, char *text,
                           kg_error *ret_error);

struct kg_option_row {
    const char *name;  /* NULL: this row heads a group of the help */
    unsigned commands; /* a bit each, 1 << enum kg_command */
    const char *value; /* or the heading */
    kg_option_take *take;
    size_t member; /* offsets into struct kg_options */
    size_t count;  /* of a list: of its length */
    double least, most;
    bool again; /* the next run needs it too, see kg_options.again */
};
extern const struct kg_option_row kg_option_rows[];
extern const size_t kg_option_rows_count;

/* The types. A name is a text that is not empty, split a list by commas. A new one gets its member in options.h. */
kg_option_take kg_take_flag, kg_take_text, kg_take_name, kg_take_word, kg_take_count, kg_take_real, kg_take_list,
    kg_take_split, kg_take_knob, kg_take_device, kg_take_git_sha, kg_take_format, kg_take_rounds, kg_take_shuffle,
    kg_take_undecided, kg_take_seeds, kg_take_sweep, kg_take_shard, kg_take_command;

/* KG_EINVAL: no command is called so. */
int kg_option_command(const char *word, enum kg_command *ret_command, kg_error *ret_error);
const char *kg_option_command_word(enum kg_command command);

/* How getopt sees a row: no_argument, required_argument, optional_argument. */
int kg_option_argument(const struct kg_option_row *row);

/* Appends to a list, which is grown by realloc. */
int kg_option_push(const char ***list, size_t *count, const char *item, kg_error *ret_error);

#endif
