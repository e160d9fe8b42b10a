/* pattern.c -- shell globs over case ids. */
#include <ctype.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "plan/module.h"
#include "plan/plan.h"
#include "plan/regime.h"

/* fnmatch takes an unclosed '[' as itself; a typing error there would select nothing, or something else. */
int kg_pattern_check(const char *pattern, kg_error *ret_error)
{
    if (!*pattern)
        return kg_fail(ret_error, KG_EINVAL, "bad pattern: it is empty");
    for (const char *c = pattern; *c; c++) {
        if (*c == '\\') {
            if (!*++c)
                return kg_fail(ret_error, KG_EINVAL, "bad pattern %.300s: it ends in a backslash", pattern);
        } else if (*c == '[') {
            const char *end = c + 1;
            end += *end == '!' || *end == '^';
            end += *end == ']';
            end = strchr(end, ']');
            if (!end)
                return kg_fail(ret_error, KG_EINVAL, "bad pattern %.300s: [ without ]", pattern);
            c = end;
        }
    }
    return KG_OK;
}

static bool matches_part(const char *pattern, const char *id)
{
    if (fnmatch(pattern, id, 0) == 0)
        return true;
    for (const char *slash = strchr(id, '/'); slash; slash = strchr(slash + 1, '/')) {
        char part[KG_ID_SIZE];
        size_t length = (size_t)(slash - id);
        if (length >= sizeof part)
            return false;
        memcpy(part, id, length);
        part[length] = '\0';
        if (fnmatch(pattern, part, 0) == 0)
            return true;
    }
    return false;
}

/* A pattern that names a row selects its sweeps too: `suite/row@field=value/…` is also tried without the @ part. */
bool kg_pattern_matches(const char *pattern, const char *id)
{
    char plain[KG_ID_SIZE];
    const char *at = strchr(id, '@'), *rest = at ? strchr(at, '/') : NULL;
    if (matches_part(pattern, id))
        return true;
    if (!rest || strlen(id) >= sizeof plain)
        return false;
    snprintf(plain, sizeof plain, "%.*s%s", (int)(at - id), id, rest);
    return matches_part(pattern, plain);
}

static bool any_matches(const char *const *patterns, size_t count, const char *id)
{
    for (size_t i = 0; i < count; i++)
        if (kg_pattern_matches(patterns[i], id))
            return true;
    return false;
}

bool kg_selection_wants_regime(const struct kg_selection *selection, const kg_regime *regime)
{
    for (size_t i = 0; i < selection->n_regimes; i++)
        if (regime ? !strcmp(selection->regimes[i], regime->name) : kg_regime_is_normal(selection->regimes[i]))
            return true;
    return selection->n_regimes == 0;
}

/* Of a key, `suite/shape/backend`, with this seed. */
static bool covers_seed(const struct kg_selection *selection, const char *key, uint64_t seed)
{
    char id[KG_ID_SIZE];
    const char *last = strrchr(key, '/');
    snprintf(id, sizeof id, "%.*s/s%llu/%s", (int)(last - key), key, (unsigned long long)seed, last + 1);
    return (!selection->n_patterns || any_matches(selection->patterns, selection->n_patterns, id)) &&
           !any_matches(selection->excludes, selection->n_excludes, id);
}

/* The seeds of a suite that is gone are not known: small ones are tried, and those that patterns name. */
static bool covers_some_seed(const struct kg_selection *selection, const char *key)
{
    for (uint64_t seed = 0; seed < 100; seed++)
        if (covers_seed(selection, key, seed))
            return true;
    for (size_t i = 0; i < selection->n_patterns; i++)
        for (const char *c = strstr(selection->patterns[i], "/s"); c; c = strstr(c + 1, "/s"))
            if (isdigit((unsigned char)c[2]) && covers_seed(selection, key, strtoull(c + 2, NULL, 10)))
                return true;
    return false;
}

bool kg_selection_covers_key(const struct kg_module *module, const struct kg_selection *selection, const char *key)
{
    char suite_name[KG_ID_SIZE];
    const char *slash = strchr(key, '/'), *last = strrchr(key, '/');
    if (!slash || slash == last || strchr(key, '@') || selection->n_sweeps || selection->shard > 1)
        return false;
    snprintf(suite_name, sizeof suite_name, "%.*s", (int)(slash - key), key);
    bool named = selection->n_backends == 0;
    for (size_t i = 0; i < selection->n_backends && !named; i++)
        named = !strcmp(selection->backends[i], last + 1);
    if (!named || !kg_selection_wants_regime(selection, NULL))
        return false;
    const kg_suite *suite = kg_module_suite(module, suite_name);
    if (!suite && !selection->n_seeds)
        return covers_some_seed(selection, key);
    const kg_seeds seeds = selection->n_seeds ? (kg_seeds){ selection->seeds, selection->n_seeds } : suite->seeds;
    for (size_t i = 0; i < seeds.count; i++)
        if (covers_seed(selection, key, seeds.items[i]))
            return true;
    return false;
}
