/* option_values.c -- text of the command line to values, a function for each type of option. */
#include "options/option_table.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/git.h"
#include "judge/result.h"

static void *member(const struct kg_option_row *row, struct kg_options *options)
{
    return (char *)options + row->member;
}

/* Digits only. */
static int parse_u64(const char *text, uint64_t *ret_value)
{
    char *end = NULL;
    errno = 0;
    unsigned long long value = strtoull(text, &end, 10);
    if (!isdigit((unsigned char)*text) || *end || errno)
        return KG_EINVAL;
    *ret_value = value;
    return KG_OK;
}

/* ---- one value ---- */

int kg_take_flag(const struct kg_option_row *row, struct kg_options *o, char *text, kg_error *ret_error)
{
    (void)text, (void)ret_error;
    *(bool *)member(row, o) = true;
    return KG_OK;
}

int kg_take_text(const struct kg_option_row *row, struct kg_options *o, char *text, kg_error *ret_error)
{
    (void)ret_error;
    *(const char **)member(row, o) = text;
    return KG_OK;
}

int kg_take_name(const struct kg_option_row *row, struct kg_options *o, char *text, kg_error *ret_error)
{
    if (!*text)
        return kg_fail(ret_error, KG_EINVAL, "--%s: nothing given", row->name);
    return kg_take_text(row, o, text, ret_error);
}

int kg_take_word(const struct kg_option_row *row, struct kg_options *o, char *text, kg_error *ret_error)
{
    const char *word = row->value;
    for (int index = 0;; index++, word++) {
        size_t length = strcspn(word, "|");
        if (length == strlen(text) && !strncmp(word, text, length)) {
            *(int *)member(row, o) = index;
            return KG_OK;
        }
        word += length;
        if (!*word)
            return kg_fail(ret_error, KG_EINVAL, "--%s %s: not one of its values; see kgate --help", row->name, text);
    }
}

int kg_take_count(const struct kg_option_row *row, struct kg_options *o, char *text, kg_error *ret_error)
{
    uint64_t value = 0;
    if (parse_u64(text, &value) || value < (uint64_t)row->least || value > (uint64_t)row->most)
        return kg_fail(ret_error, KG_EINVAL, "--%s %s: a whole number from %.0f to %.0f wanted", row->name, text,
                       row->least, row->most);
    *(int *)member(row, o) = (int)value;
    return KG_OK;
}

int kg_take_real(const struct kg_option_row *row, struct kg_options *o, char *text, kg_error *ret_error)
{
    char *end = NULL;
    double value = strtod(text, &end);
    if (end == text || *end || !(value > 0 && value <= row->most))
        return kg_fail(ret_error, KG_EINVAL, "--%s %s: a number over 0 and at most %g wanted", row->name, text,
                       row->most);
    *(double *)member(row, o) = value;
    return KG_OK;
}

/* ---- lists ---- */

int kg_option_push(const char ***list, size_t *count, const char *item, kg_error *ret_error)
{
    const char **grown = realloc(*list, (*count + 1) * sizeof **list);
    if (!grown)
        return kg_fail(ret_error, KG_ENOMEM, "out of memory");
    *list = grown;
    grown[(*count)++] = item;
    return KG_OK;
}

/* Items between commas, none of them empty. */
static int push_split(const char ***list, size_t *count, char *text, const char *option, kg_error *ret_error)
{
    if (!*text)
        return kg_fail(ret_error, KG_EINVAL, "--%s: nothing given", option);
    for (char *item = text, *next = NULL; item; item = next) {
        next = strchr(item, ',');
        if (next)
            *next++ = '\0';
        if (!*item)
            return kg_fail(ret_error, KG_EINVAL, "--%s: an empty value between commas", option);
        int status = kg_option_push(list, count, item, ret_error);
        if (status)
            return status;
    }
    return KG_OK;
}

int kg_take_list(const struct kg_option_row *row, struct kg_options *o, char *text, kg_error *ret_error)
{
    return kg_option_push(member(row, o), (size_t *)((char *)o + row->count), text, ret_error);
}

int kg_take_split(const struct kg_option_row *row, struct kg_options *o, char *text, kg_error *ret_error)
{
    return push_split(member(row, o), (size_t *)((char *)o + row->count), text, row->name, ret_error);
}

int kg_take_knob(const struct kg_option_row *row, struct kg_options *o, char *text, kg_error *ret_error)
{
    if (!strchr(text, '=') || *text == '=')
        return kg_fail(ret_error, KG_EINVAL, "--%s %s: NAME=VALUE wanted", row->name, text);
    return kg_take_list(row, o, text, ret_error);
}

/* ---- of the selection ---- */

static int push_seed(struct kg_selection *selection, const char *text, kg_error *ret_error)
{
    uint64_t seed = 0;
    if (parse_u64(text, &seed))
        return kg_fail(ret_error, KG_EINVAL, "--seed %s: not a whole number", text);
    for (size_t i = 0; i < selection->n_seeds; i++)
        if (selection->seeds[i] == seed)
            return kg_fail(ret_error, KG_EINVAL, "--seed %s: given twice", text);
    uint64_t *grown = realloc((uint64_t *)selection->seeds, (selection->n_seeds + 1) * sizeof *grown);
    if (!grown)
        return kg_fail(ret_error, KG_ENOMEM, "out of memory");
    grown[selection->n_seeds++] = seed;
    selection->seeds = grown;
    return KG_OK;
}

int kg_take_seeds(const struct kg_option_row *row, struct kg_options *o, char *text, kg_error *ret_error)
{
    const char **items = NULL;
    size_t count = 0;
    int status = push_split(&items, &count, text, row->name, ret_error);
    for (size_t i = 0; i < count && !status; i++)
        status = push_seed(&o->selection, items[i], ret_error);
    free(items);
    return status;
}

int kg_take_sweep(const struct kg_option_row *row, struct kg_options *o, char *text, kg_error *ret_error)
{
    struct kg_selection *selection = &o->selection;
    char *value = strchr(text, '=');
    if (!value || value == text)
        return kg_fail(ret_error, KG_EINVAL, "--set %s: FIELD=VALUE wanted", text);
    *value++ = '\0';
    for (size_t i = 0; i < selection->n_sweeps; i++)
        if (!strcmp(selection->sweeps[i].field, text))
            return kg_fail(ret_error, KG_EINVAL, "--set %s: given twice", text);
    struct kg_sweep *grown = realloc((struct kg_sweep *)selection->sweeps, (selection->n_sweeps + 1) * sizeof *grown);
    if (!grown)
        return kg_fail(ret_error, KG_ENOMEM, "out of memory");
    selection->sweeps = grown;
    struct kg_sweep *sweep = &grown[selection->n_sweeps++];
    *sweep = (struct kg_sweep){ .field = text };
    return push_split((const char ***)&sweep->values, &sweep->n_values, value, row->name, ret_error);
}

int kg_take_shard(const struct kg_option_row *row, struct kg_options *o, char *text, kg_error *ret_error)
{
    const char *slash = strchr(text, '/');
    uint64_t index = 0, count = 0;
    char first[24] = "";
    if (slash && (size_t)(slash - text) < sizeof first)
        memcpy(first, text, (size_t)(slash - text));
    if (!slash || parse_u64(first, &index) || parse_u64(slash + 1, &count) || index < 1 || index > count)
        return kg_fail(ret_error, KG_EINVAL, "--%s %s: I/N with 1 <= I <= N wanted", row->name, text);
    o->selection.shard = index;
    o->selection.n_shards = count;
    return KG_OK;
}

int kg_take_device(const struct kg_option_row *row, struct kg_options *o, char *text, kg_error *ret_error)
{
    const char *index = strncmp(text, "cuda:", strlen("cuda:")) ? "" : text + strlen("cuda:");
    bool numbered = *index && strlen(index) <= 4 && strspn(index, "0123456789") == strlen(index);
    if (strcmp(text, "auto") && strcmp(text, "cpu") && strcmp(text, "cuda") && !numbered)
        return kg_fail(ret_error, KG_EINVAL, "--%s %.100s: auto, cpu, cuda or cuda:N wanted", row->name, text);
    return kg_take_text(row, o, text, ret_error);
}

/* ---- of some commands ---- */

/* As many blocks as a recording, or a bless, may have. */
int kg_take_rounds(const struct kg_option_row *row, struct kg_options *o, char *text, kg_error *ret_error)
{
    struct kg_option_row of_command = *row;
    of_command.least = KG_MIN_ROUNDS;
    of_command.most = o->command == KG_COMMAND_SELFCHECK ? 1000 : KG_MAX_BLOCKS;
    return kg_take_count(&of_command, o, text, ret_error);
}

int kg_take_format(const struct kg_option_row *row, struct kg_options *o, char *text, kg_error *ret_error)
{
    int status = kg_take_word(row, o, text, ret_error);
    if (!status && o->command != KG_COMMAND_RUN && o->format == KG_FORMAT_TAP)
        status = kg_fail(ret_error, KG_EINVAL, "--%s tap: kgate %s knows text and json", row->name,
                         kg_option_command_word(o->command));
    return status;
}

int kg_take_undecided(const struct kg_option_row *row, struct kg_options *o, char *text, kg_error *ret_error)
{
    if (text && strcmp(text, "new"))
        return kg_fail(ret_error, KG_EINVAL, "--%s=%s: new, or nothing, wanted", row->name, text);
    *(text ? &o->allow_undecided_new : &o->allow_undecided) = true;
    return KG_OK;
}

int kg_take_shuffle(const struct kg_option_row *row, struct kg_options *o, char *text, kg_error *ret_error)
{
    o->shuffle = true;
    o->shuffle_seed_given = text != NULL;
    if (text && parse_u64(text, &o->shuffle_seed))
        return kg_fail(ret_error, KG_EINVAL, "--%s=%s: not a whole number", row->name, text);
    return KG_OK;
}

int kg_take_git_sha(const struct kg_option_row *row, struct kg_options *o, char *text, kg_error *ret_error)
{
    if (!kg_git_sha_valid(text))
        return kg_fail(ret_error, KG_EINVAL, "--%s %s: 7 to 40 hex digits wanted", row->name, text);
    return kg_take_text(row, o, text, ret_error);
}

/* --help and --version are commands of their own, wherever they stand. */
int kg_take_command(const struct kg_option_row *row, struct kg_options *o, char *text, kg_error *ret_error)
{
    (void)text, (void)ret_error;
    o->help_of = 1u << o->command;
    o->command = (enum kg_command)row->most;
    return KG_OK;
}
