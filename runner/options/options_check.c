/* options_check.c -- what options say of each other: combinations that make no sense are refused with a line. */
#include <string.h>

#include "judge/decision.h"
#include "options/options.h"

static bool is_device(const char *text)
{
    if (!strcmp(text, "auto") || !strcmp(text, "cpu") || !strcmp(text, "cuda"))
        return true;
    if (strncmp(text, "cuda:", strlen("cuda:")))
        return false;
    const char *index = text + strlen("cuda:");
    return *index && strlen(index) <= 4 && strspn(index, "0123456789") == strlen(index);
}

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
    if (o->no_time)
        return kg_fail(ret_error, KG_EINVAL, "--bless needs times: it does not go with --no-time");
    if (o->against)
        return kg_fail(ret_error, KG_EINVAL, "--bless does not go with --against: a golden is of one build");
    return KG_OK;
}

static int check_against(const struct kg_options *o, kg_error *ret_error)
{
    if (o->allow_removed && !o->against)
        return kg_fail(ret_error, KG_EINVAL, "--allow-removed goes with --against");
    if (!o->against)
        return KG_OK;
    if (!*o->against)
        return kg_fail(ret_error, KG_EINVAL, "--against: nothing given");
    if (o->timing.timer == KG_TIMER_EVENT)
        return kg_fail(ret_error, KG_EINVAL, "--against does not go with --timer event");
    if (o->allow_undecided_new)
        return kg_fail(ret_error, KG_EINVAL, "--allow-undecided=new is of goldens: it does not go with --against");
    return KG_OK;
}

static int check_selfcheck(const struct kg_options *o, kg_error *ret_error)
{
    const struct kg_selection *s = &o->selection;
    if (!!o->record + !!o->n_judge + o->simulate > 1)
        return kg_fail(ret_error, KG_EINVAL, "--record, --judge and --simulate do not go together");
    if (o->record && !*o->record)
        return kg_fail(ret_error, KG_EINVAL, "--record: nothing given");
    if (o->n_judge && o->rounds)
        return kg_fail(ret_error, KG_EINVAL, "--rounds does not go with --judge: the blocks are recorded");
    if (o->gates && !o->simulate)
        return kg_fail(ret_error, KG_EINVAL,
                       "--gates goes with --simulate: other gates are as many as there are blocks for");
    if (o->record && o->format == KG_FORMAT_JSON)
        return kg_fail(ret_error, KG_EINVAL, "--record judges nothing: it does not go with --format json");
    if (o->simulate && (s->n_patterns || s->n_excludes || s->n_backends || s->n_seeds || s->n_sweeps || s->n_shards))
        return kg_fail(ret_error, KG_EINVAL, "--simulate needs no cases: it takes no selection");
    return KG_OK;
}

int kg_options_check(const struct kg_options *o, kg_error *ret_error)
{
    if (!is_device(o->device))
        return kg_fail(ret_error, KG_EINVAL, "--device %.100s: auto, cpu, cuda or cuda:N wanted", o->device);
    if (o->expectations && !*o->expectations)
        return kg_fail(ret_error, KG_EINVAL, "--expectations: nothing given");
    const bool is_set = o->command == KG_COMMAND_RUN ? !o->bless : o->simulate;
    if (is_set && o->rounds > KG_MAX_SET)
        return kg_fail(ret_error, KG_EINVAL, "--rounds %d: at most %d, but for a bless or a recording", o->rounds,
                       KG_MAX_SET);
    int status = check_bless(o, ret_error);
    if (!status)
        status = check_against(o, ret_error);
    return status ? status : check_selfcheck(o, ret_error);
}
