/* option_values.c -- text of the command line to values, and lists of them. */
#include "options/option_values.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

int kg_option_push(const char ***list, size_t *count, const char *item, kg_error *ret_error)
{
    const char **grown = realloc(*list, (*count + 1) * sizeof **list);
    if (!grown)
        return kg_fail(ret_error, KG_ENOMEM, "out of memory");
    *list = grown;
    grown[(*count)++] = item;
    return KG_OK;
}

/* Splits in place: argv is ours to write. */
int kg_option_push_split(const char ***list, size_t *count, char *text, const char *option, kg_error *ret_error)
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

int kg_option_u64(const char *text, uint64_t *ret_value)
{
    char *end = NULL;
    errno = 0;
    unsigned long long value = strtoull(text, &end, 10);
    if (!isdigit((unsigned char)*text) || *end || errno)
        return KG_EINVAL;
    *ret_value = value;
    return KG_OK;
}

int kg_option_seeds(struct kg_selection *selection, char *text, kg_error *ret_error)
{
    const char **items = NULL;
    size_t count = 0;
    int status = kg_option_push_split(&items, &count, text, "seed", ret_error);
    for (size_t i = 0; i < count && !status; i++) {
        uint64_t seed = 0;
        if (kg_option_u64(items[i], &seed)) {
            status = kg_fail(ret_error, KG_EINVAL, "--seed %s: not a whole number", items[i]);
            break;
        }
        for (size_t j = 0; j < selection->n_seeds && !status; j++)
            if (selection->seeds[j] == seed)
                status = kg_fail(ret_error, KG_EINVAL, "--seed %s: given twice", items[i]);
        if (status)
            break;
        uint64_t *grown = realloc((uint64_t *)selection->seeds, (selection->n_seeds + 1) * sizeof *grown);
        if (!grown) {
            status = kg_fail(ret_error, KG_ENOMEM, "out of memory");
            break;
        }
        grown[selection->n_seeds++] = seed;
        selection->seeds = grown;
    }
    free(items);
    return status;
}

int kg_option_sweep(struct kg_selection *selection, char *text, kg_error *ret_error)
{
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
    return kg_option_push_split((const char ***)&sweep->values, &sweep->n_values, value, "set", ret_error);
}

int kg_option_word(const char *option, const char *text, const char *const *words, int *ret_index, kg_error *ret_error)
{
    for (int i = 0; words[i]; i++) {
        if (!strcmp(words[i], text)) {
            *ret_index = i;
            return KG_OK;
        }
    }
    return kg_fail(ret_error, KG_EINVAL, "--%s %s: not one of its values; see kgate --help", option, text);
}

int kg_option_count(const char *option, const char *text, int min, int max, int *ret_value, kg_error *ret_error)
{
    uint64_t value = 0;
    if (kg_option_u64(text, &value) || value < (uint64_t)min || value > (uint64_t)max)
        return kg_fail(ret_error, KG_EINVAL, "--%s %s: a whole number from %d to %d wanted", option, text, min, max);
    *ret_value = (int)value;
    return KG_OK;
}

int kg_option_real(const char *option, const char *text, double max, double *ret_value, kg_error *ret_error)
{
    char *end = NULL;
    double value = strtod(text, &end);
    if (end == text || *end || !(value > 0 && value <= max))
        return kg_fail(ret_error, KG_EINVAL, "--%s %s: a number over 0 and at most %g wanted", option, text, max);
    *ret_value = value;
    return KG_OK;
}

int kg_option_shard(struct kg_selection *selection, const char *text, kg_error *ret_error)
{
    const char *slash = strchr(text, '/');
    uint64_t index = 0, count = 0;
    char first[24] = "";
    if (slash && (size_t)(slash - text) < sizeof first)
        memcpy(first, text, (size_t)(slash - text));
    if (!slash || kg_option_u64(first, &index) || kg_option_u64(slash + 1, &count) || index < 1 || index > count)
        return kg_fail(ret_error, KG_EINVAL, "--shard %s: I/N with 1 <= I <= N wanted", text);
    selection->shard = index;
    selection->n_shards = count;
    return KG_OK;
}
