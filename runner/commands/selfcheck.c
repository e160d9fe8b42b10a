/* selfcheck.c -- `kgate selfcheck`: records blocks, or reads recorded ones, and prints what gates of them would say. */
#include <stdio.h>
#include <stdlib.h>

#include "base/text.h"
#include "commands/commands.h"
#include "judge/floors.h"
#include "run/tables.h"
#include "plan/policy.h"
#include "selfcheck/gates_check.h"
#include "selfcheck/goal.h"
#include "selfcheck/record.h"
#include "selfcheck/trial.h"

/* ---- floors ---------------------------------------------------------------------------------------------------- */

/* Under what the floors were found, for a reader. */
static void say_under(const struct kg_recording *recording, kg_noise_set noise, struct kg_floor *floor)
{
    char names[200];
    kg_noise_names(noise, names, sizeof names);
    if (recording->others >= 0)
        kg_text_add(floor->under, sizeof floor->under, "%.2f threads of others", recording->others);
    if (*names)
        kg_text_join(floor->under, sizeof floor->under, "; ", "%s", names);
}

/* What is found on a busy or throttled machine would make later gates milder. */
static bool may_keep(const struct kg_recording *recording, kg_noise_set noise, FILE *notes)
{
    char names[200];
    kg_noise_names(noise & kg_noise_refuses_floor(), names, sizeof names);
    if (!*recording->cache)
        fprintf(notes, "floors are not kept: no folder for them (--cache, or HOME)\n");
    else if (*names)
        fprintf(notes, "floors are not kept: %s, %.2f CPU threads of others; measure again on an idle machine\n", names,
                recording->others);
    return *recording->cache && !*names;
}

static int keep_floors(const struct kg_trials *trials, const struct kg_recording *recording, kg_noise_set noise,
                       FILE *notes, kg_error *ret_error)
{
    const char *cache = recording->cache;
    size_t kept = 0;
    if (!may_keep(recording, noise, notes))
        return KG_OK;
    struct kg_floor *floors = calloc(trials->n_cases, sizeof *floors);
    if (!floors)
        return kg_fail(ret_error, KG_ENOMEM, "out of memory for floors");
    for (size_t i = 0; i < trials->n_cases; i++) {
        if (kg_case_noise_floor(&trials->cases[i], &floors[kept]))
            continue;
        say_under(recording, noise, &floors[kept]);
        kept++;
    }
    int status = kept ? kg_floors_update(cache, floors, kept, ret_error) : KG_OK;
    if (!status && kept)
        fprintf(notes, "floors of %zu case%s kept in %s/%s\n", kept, kept == 1 ? "" : "s", cache, KG_FLOORS_FILE);
    free(floors);
    return status;
}

/* ---- the ways to run it ---------------------------------------------------------------------------------------- */

/* The three classes of kernel stand for all others. */
static struct kg_options choose_classes(const struct kg_options *options)
{
    struct kg_options classes = *options;
    classes.module = "classes";
    classes.selection = (struct kg_selection){ 0 };
    classes.n_knobs = 0;
    return classes;
}

/* What is selected is refused before the classes are measured, and not after. Where none of it is for a GPU they run on
 * the CPU too, since blocks of the two are judged apart. */
static int fit_classes(const struct kg_options *options, struct kg_options *classes, kg_error *ret_error)
{
    struct kg_loaded module;
    struct kg_plan plan = { .count = 0 };
    struct kg_selection selection = options->selection;
    bool for_gpu = false;
    selection.kind = kg_options_kind(options);
    int status = kg_tables_open(options->module, options, &module, ret_error);
    if (!status)
        status = kg_plan_make(module.root, &selection, &plan, ret_error);
    for (size_t i = 0; i < plan.count; i++)
        for_gpu = for_gpu || plan.cases[i].kind == KG_CUDA;
    if (!status && !for_gpu && !selection.kind)
        classes->device = "cpu";
    kg_plan_done(&plan);
    return status;
}

/* Recorded blocks of a GPU are judged by the thresholds that what must be reached is stated at, unless another one is
 * asked for. */
static int judge(const struct kg_options *options, const struct kg_series_set *set, bool recorded,
                 struct kg_trials *ret_trials, kg_error *ret_error)
{
    const bool asked = options->timing.threshold_pct >= 0, gpu = set->count && set->items[0].kind == KG_CUDA;
    const struct kg_trial_report report = { .goals = recorded && gpu && !asked, .verbose = options->verbose };
    const struct kg_trial_options trial = { .threshold_pct = asked          ? options->timing.threshold_pct
                                                             : report.goals ? KG_GOAL_PCT
                                                             : gpu          ? KG_GPU_THRESHOLD_PCT
                                                                            : KG_CPU_THRESHOLD_PCT,
                                            .fine = gpu && !asked,
                                            .max_blocks = KG_MAX_ROUNDS,
                                            .drawn = !recorded };
    int status = kg_trials_of(set, &trial, ret_trials, ret_error);
    if (status)
        return status;
    if (options->format == KG_FORMAT_JSON)
        return kg_trials_put_json(ret_trials, set, stdout, ret_error);
    kg_trials_put(ret_trials, set, &report, stdout);
    return KG_OK;
}

static int judge_files(const struct kg_options *options, kg_error *ret_error)
{
    struct kg_series_set set = { .count = 0 };
    struct kg_trials trials = { .n_cases = 0 };
    int status = KG_OK;
    for (size_t i = 0; i < options->n_judge && !status; i++)
        status = kg_series_read(options->judge[i], &set, ret_error);
    if (!status)
        status = judge(options, &set, true, &trials, ret_error);
    kg_trials_done(&trials);
    kg_series_set_done(&set);
    return status ? 2 : 0;
}

static int record_to_file(const struct kg_options *options, kg_error *ret_error)
{
    const struct kg_options classes = choose_classes(options);
    struct kg_series_set set = { .count = 0 };
    struct kg_recording recording = { .rounds = 0 };
    struct kg_stop stop = { 0 };
    size_t blocks = 0;
    int status = kg_series_append(options->record, &set, ret_error); /* refused now, rather than after an hour */
    if (!status)
        status =
            kg_record(options->selection.n_patterns ? options : &classes, &stop, NULL, &set, &recording, ret_error);
    if (!status)
        status = kg_series_append(options->record, &set, ret_error);
    for (size_t i = 0; i < set.count; i++)
        blocks += (size_t)set.items[i].n_blocks;
    if (!status)
        printf("recorded %zu blocks of %zu cases, %d rounds, on %s in %s%s\n", blocks, set.count, recording.rounds,
               recording.device.name, options->record, recording.stopped ? " (stopped early)" : "");
    kg_series_set_done(&set);
    return status ? 2 : recording.n_wrong ? 1 : blocks ? 0 : 77;
}

/* The classes always, so that the table is of the same kernels everywhere; then what was selected. */
static int measure_and_judge(const struct kg_options *options, kg_error *ret_error)
{
    struct kg_options classes = choose_classes(options);
    struct kg_series_set set = { .count = 0 };
    struct kg_recording of_classes = { .rounds = 0 }, selected = { .rounds = 0 };
    struct kg_trials trials = { .n_cases = 0 };
    struct kg_stop stop = { 0 };
    FILE *notes = options->format == KG_FORMAT_JSON ? stderr : stdout;
    int status = options->selection.n_patterns ? fit_classes(options, &classes, ret_error) : KG_OK;
    if (!status)
        status = kg_record(&classes, &stop, NULL, &set, &of_classes, ret_error);
    if (!status && options->selection.n_patterns && !of_classes.stopped)
        status = kg_record(options, &stop, of_classes.start, &set, &selected, ret_error);
    if (!status)
        status = judge(options, &set, false, &trials, ret_error);
    if (!status)
        status = keep_floors(&trials, selected.others > of_classes.others ? &selected : &of_classes,
                             of_classes.noise | selected.noise, notes, ret_error);
    if (!status && (of_classes.stopped || selected.stopped))
        fprintf(notes, "stopped early: what was measured so far\n");
    kg_trials_done(&trials);
    kg_series_set_done(&set);
    return status ? 2 : of_classes.n_wrong + selected.n_wrong ? 1 : 0;
}

/* Another size would count into no rate. */
static int check_plant(const struct kg_options *options, kg_error *ret_error)
{
    bool known = options->plant_pct == 0;
    if (!known && !options->record)
        return kg_fail(ret_error, KG_EINVAL, "--plant goes with --record");
    for (int i = 1; i < KG_PLANTED && !known; i++)
        known = options->plant_pct == kg_planted_pct[i];
    return known ? KG_OK : kg_fail(ret_error, KG_EINVAL, "--plant %g: 0.5, 1, 2, 3 or 5 wanted", options->plant_pct);
}

int kg_command_selfcheck(const struct kg_options *options, kg_error *ret_error)
{
    if (check_plant(options, ret_error))
        return 2;
    if (options->gates)
        return kg_gates_check(options, stdout, ret_error);
    if (options->n_judge)
        return judge_files(options, ret_error);
    return options->record ? record_to_file(options, ret_error) : measure_and_judge(options, ret_error);
}
