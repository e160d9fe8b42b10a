/* options_check.c -- what options say of each other: combinations that make no sense are refused with a line. */
#include <string.h>

#include "judge/decision.h"
#include "options/options.h"

static int check_bless(const struct kg_options *o, kg_error *ret_error)
{
    if (!o->bless && (o->reason || o->prune || o->reset_best || o->allow_dirty))
        return kg_fail(ret_error, KG_EINVAL, "--reason, --prune, --reset-best and --allow-dirty go with --bless");
    if (!o->bless)
        return KG_OK;
    if (!o->reason || !*o->reason)
        return kg_fail(ret_error, KG_EINVAL, "--bless needs --reason TEXT");
    if (strlen(o->reason) > 200)
        return kg_fail(ret_error, KG_EINVAL, "--reason: at most 200 characters");
    if (o->n_knobs)
        return kg_fail(ret_error, KG_EINVAL, "--bless does not go with --knob: a golden is of the knobs' fallbacks");
    if (o->selection.n_regimes)
        return kg_fail(ret_error, KG_EINVAL, "--bless checks every regime: it does not go with --regime");
    if (o->no_time)
        return kg_fail(ret_error, KG_EINVAL, "--bless needs times: it does not go with --no-time");
    if (o->against)
        return kg_fail(ret_error, KG_EINVAL, "--bless does not go with --against: a golden is of one build");
    return KG_OK;
}

static int check_against(const struct kg_options *o, kg_error *ret_error)
{
    if ((o->allow_removed || o->n_baseline_library_paths) && !o->against)
        return kg_fail(ret_error, KG_EINVAL, "--allow-removed and --baseline-library-path go with --against");
    if (!o->against)
        return KG_OK;
    if (o->timing.timer == KG_TIMER_EVENT)
        return kg_fail(ret_error, KG_EINVAL, "--against does not go with --timer event");
    if (o->allow_undecided_new)
        return kg_fail(ret_error, KG_EINVAL, "--allow-undecided=new is of goldens: it does not go with --against");
    return KG_OK;
}

static int check_selfcheck(const struct kg_options *o, kg_error *ret_error)
{
    if (o->gates && (o->record || o->n_judge || o->plant_pct > 0 || o->rounds))
        return kg_fail(ret_error, KG_EINVAL,
                       "--gates measures nothing: it goes with none of --record, --judge, --plant "
                       "and --rounds");
    if (o->record && o->n_judge)
        return kg_fail(ret_error, KG_EINVAL, "--record and --judge do not go together");
    if (o->n_judge && o->rounds)
        return kg_fail(ret_error, KG_EINVAL, "--rounds does not go with --judge: the blocks are recorded");
    if (o->record && o->format == KG_FORMAT_JSON)
        return kg_fail(ret_error, KG_EINVAL, "--record judges nothing: it does not go with --format json");
    return KG_OK;
}

int kg_options_check(const struct kg_options *o, kg_error *ret_error)
{
    if (o->command == KG_COMMAND_RUN && !o->bless && o->rounds > KG_MAX_SET)
        return kg_fail(ret_error, KG_EINVAL, "--rounds %d: at most %d, but for a bless or a recording", o->rounds,
                       KG_MAX_SET);
    if (o->quiet && o->verbose)
        return kg_fail(ret_error, KG_EINVAL, "--quiet does not go with --verbose");
    if (o->n_duels && (o->against || o->bless || o->no_time || o->n_knobs)) /* both builds would have the knob */
        return kg_fail(ret_error, KG_EINVAL,
                       "--duel is of goldens: it goes with none of --against, --bless, --no-time and --knob");
    int status = check_bless(o, ret_error);
    if (!status)
        status = check_against(o, ret_error);
    return status ? status : check_selfcheck(o, ret_error);
}
