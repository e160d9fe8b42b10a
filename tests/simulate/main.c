/* main.c -- the simulated table, for a person:
 *
 *     build/tests/simulate/simulate [--noise NAME] [--gates N] [--rounds N] [--seed N] [--threshold PCT] */
#include <errno.h>
#include <getopt.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "judge/decision.h"
#include "simulate.h"

static bool whole(const char *text, uint64_t min, uint64_t max, uint64_t *ret_value)
{
    char *end;
    errno = 0;
    *ret_value = strtoull(text, &end, 10);
    return *text >= '0' && *text <= '9' && !*end && !errno && *ret_value >= min && *ret_value <= max;
}

static bool take(int id, const char *text, struct kg_simulation *simulation)
{
    uint64_t number;
    char *end;
    switch (id) {
    case 'n':
        simulation->noise = text;
        return true;
    case 's':
        return whole(text, 0, UINT64_MAX, &simulation->seed);
    case 't':
        simulation->threshold_pct = strtod(text, &end);
        return end != text && !*end && simulation->threshold_pct >= 0;
    case 'g':
        return whole(text, 1, 10000000, &number) && (simulation->gates = (int)number);
    case 'r':
        return whole(text, KG_LOOK_EVERY, KG_MAX_SET, &number) && (simulation->rounds = (int)number);
    default:
        return false;
    }
}

static int parse(int argc, char *argv[], struct kg_simulation *simulation, kg_error *ret_error)
{
    static const struct option table[] = {
        { "noise", required_argument, NULL, 'n' },     { "gates", required_argument, NULL, 'g' },
        { "rounds", required_argument, NULL, 'r' },    { "seed", required_argument, NULL, 's' },
        { "threshold", required_argument, NULL, 't' }, { 0 },
    };
    for (int id; (id = getopt_long(argc, argv, "", table, NULL)) >= 0;)
        if (!take(id, optarg, simulation))
            return kg_fail(ret_error, KG_EINVAL, "%.60s: not understood", argv[optind - 1]);
    return optind < argc ? kg_fail(ret_error, KG_EINVAL, "%.60s: no argument is taken", argv[optind]) : KG_OK;
}

int main(int argc, char *argv[])
{
    struct kg_simulation simulation = kg_simulation_usual;
    kg_error error = { 0 };
    int status = parse(argc, argv, &simulation, &error);
    if (!status)
        status = kg_simulate(&simulation, stdout, &error);
    if (status)
        fprintf(stderr, "simulate: %s\n", error.text);
    return status ? 2 : 0;
}
