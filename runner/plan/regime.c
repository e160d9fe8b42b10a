/* regime.c -- regimes by name. */
#include "plan/regime.h"

#include <string.h>

static const kg_regime *find_in(const kg_regimes *regimes, const char *name)
{
    for (size_t i = 0; i < regimes->count; i++)
        if (!strcmp(regimes->items[i].name, name))
            return &regimes->items[i];
    return NULL;
}

const kg_regime *kg_regime_find(const kg_op *op, const char *name)
{
    const kg_regime *own = find_in(&op->regimes, name);
    return own ? own : find_in(&kg_host_regimes, name);
}

bool kg_regime_is_normal(const char *name)
{
    return !strcmp(name, "normal") || !strcmp(name, "none");
}

void kg_regime_seed_name(uint64_t seed, const kg_regime *regime, char *ret_name, size_t size)
{
    snprintf(ret_name, size, "s%llu%s%s", (unsigned long long)seed, regime ? "-" : "", regime ? regime->name : "");
}
