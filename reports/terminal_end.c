/* terminal_end.c -- below the terminal's table: what needs an answer, numbered, then what is to be said of the run as a
 * whole, the counts last. */
#include "reports/terminal.h"

#include <string.h>

#include "reports/facts.h"

/* How many lines of a kind are put. */
static size_t most(const struct kg_terminal_options *options)
{
    return options->verbose ? SIZE_MAX : KG_TERMINAL_MOST;
}

/* What was put of them, and where the rest is. */
static void put_rest(const char *what, size_t count, const struct kg_terminal_options *options, FILE *out)
{
    if (count <= most(options))
        return;
    fprintf(out, "%s: %zu more of %zu", what, count - most(options), count);
    if (options->folder)
        fprintf(out, ", all in %s/summary.md", options->folder);
    fputc('\n', out);
}

/* ---- what needs an answer ---- */

/* Without a golden there is nothing to answer; on a new machine that is every case, and one line at the end says it. */
static bool needs_answer(const struct kg_run *run, const struct kg_result *result, bool verbose)
{
    if (run->bless && kg_fact_fine(run, result))
        return false;
    if (result->verdict == KG_UNGATED)
        return verbose || result->judgement.golden_us > 0;
    if (result->verdict == KG_UNSURE)
        return verbose || !result->stopped; /* the same of a run that was stopped */
    return result->verdict >= KG_FAIL;
}

static void put_answer(const struct kg_run *run, const struct kg_result *result, size_t number, FILE *out)
{
    char line[KG_LINE];
    const char *why = *kg_fact_why(result) ? kg_fact_why(result) : kg_verdict_name(result->verdict);
    fprintf(out, "%zu) %s: %s\n", number, result->id, kg_text_clean(why, line, sizeof line));
    kg_fact_worst(result, line);
    if (*line)
        fprintf(out, "   worst: %s\n", line);
    kg_fact_noise(result, line);
    if (*line && (result->verdict == KG_SLOW || result->verdict == KG_UNSURE))
        fprintf(out, "   noise: %s\n", line);
    if (result->outcome == KG_ABSENT)
        return; /* there is no case to run again */
    kg_fact_command(run, result, "", line);
    fprintf(out, "   again: %s --verbose\n", line);
}

/* In the order of the verdicts: what is wrong comes before what is slow, and that before what is in doubt. */
static void put_answers(const struct kg_run *run, const struct kg_terminal_options *options, FILE *out)
{
    size_t count = 0;
    for (int verdict = KG_FAIL; verdict < KG_VERDICTS; verdict++)
        for (size_t i = 0; i < run->n_results; i++)
            if ((int)run->results[i].verdict == verdict && needs_answer(run, &run->results[i], options->verbose) &&
                ++count <= most(options))
                put_answer(run, &run->results[i], count, out);
    put_rest("not passed", count, options, out);
}

/* ---- the run ---- */

/* "BLOCK_SIZE=64 DOC_SPAN=128 ", what the environment set in the rows without a golden, to be set again. */
static const char *variables(const struct kg_run *run, char *ret_line)
{
    const char *most = "";
    for (size_t i = 0; i < run->n_results; i++) {
        const char *its = run->results[i].of.environment;
        if (run->results[i].verdict == KG_UNGATED && its && strlen(its) > strlen(most))
            most = its;
    }
    snprintf(ret_line, KG_LINE, "%s%s", most, *most ? " " : "");
    for (char *comma = ret_line; (comma = strchr(comma, ','));)
        *comma = ' ';
    return ret_line;
}

/* What a bless would keep or start. */
static void put_bless_hints(const struct kg_run *run, const struct kg_terminal_options *options, FILE *out)
{
    char line[KG_LINE];
    size_t count = 0;
    if (run->bless || run->baseline)
        return; /* no golden had a say */
    for (size_t i = 0; i < run->n_results; i++) {
        const struct kg_result *result = &run->results[i];
        if (result->verdict != KG_FAST || ++count > most(options))
            continue;
        kg_fact_command(run, result, " --bless --reason TEXT", line);
        fprintf(out, "fast: %s %s; to keep it: %s\n", result->id, kg_fact_change(result).s, line);
    }
    put_rest("fast", count, options, out);
    if (run->counts[KG_UNGATED] && strstr(run->again, " --knob "))
        fprintf(out, "ungated: %zu without a golden to compare with; they are made without --knob\n",
                run->counts[KG_UNGATED]);
    else if (run->counts[KG_UNGATED])
        fprintf(out, "ungated: %zu without a golden to compare with; to make them: %s%s --bless --reason TEXT\n",
                run->counts[KG_UNGATED], variables(run, line), run->command);
}

/* Timed cases whose threshold is not their table's: a pass may owe to it. */
static size_t of_goldens(const struct kg_run *run)
{
    size_t count = 0;
    for (size_t i = 0; i < run->n_results; i++)
        count += run->results[i].n_blocks && run->results[i].of.policy.threshold_from == KG_THRESHOLD_OF_GOLDEN;
    return count;
}

/* Which timer, whose thresholds, and what was unsteady: never silent. */
static void put_timing(const struct kg_run *run, FILE *out)
{
    struct kg_steadiness steady = kg_fact_steadiness(run);
    struct kg_device_use use = kg_fact_use(run, 0);
    const size_t by_goldens = of_goldens(run);
    char names[128];
    if (!steady.blocks)
        return;
    fprintf(out, "timed: %s, %zu block%s", kg_fact_timer(run).s, steady.blocks, steady.blocks == 1 ? "" : "s");
    if (use.blocks)
        fprintf(out, ", device idle %.0f%%", use.idle_pct);
    if (by_goldens)
        fprintf(out, "; %zu by a threshold of the golden", by_goldens);
    kg_noise_names(steady.throttles, names, sizeof names);
    if (steady.throttled)
        fprintf(out, "; throttled in %zu of them (%s)", steady.throttled, names);
    if (steady.shared)
        fprintf(out, "; another process on the device in %zu of them", steady.shared);
    kg_noise_names(steady.setting, names, sizeof names);
    if (*names)
        fprintf(out, "; %s", names);
    fputc('\n', out);
}

static void put_environment(const struct kg_run *run, FILE *out)
{
    char line[KG_LINE];
    if (*kg_fact_environment(run, line))
        fprintf(out, "environment: %s\n", line);
}

/* Before the counts, which are then of less than was asked for. */
static void put_partial(const struct kg_run *run, FILE *out)
{
    size_t stopped = kg_fact_stopped(run);
    if (*run->partial)
        fprintf(out, "partial: %s; %zu of %zu cases have no decision\n", run->partial, stopped, run->n_results);
}

static void put_flakes(const struct kg_run *run, const struct kg_terminal_options *options, FILE *out)
{
    char line[KG_LINE];
    size_t count = 0;
    for (size_t i = 0; i < run->n_results; i++) {
        if (!kg_fact_flaked(&run->results[i]) || ++count > most(options))
            continue;
        kg_fact_alarm(&run->results[i], line);
        fprintf(out, "flake: %s %s\n", run->results[i].id, line);
    }
    put_rest("flake", count, options, out);
}

static void put_bless(const struct kg_run *run, FILE *out)
{
    const size_t *counts = run->bless_counts;
    if (!run->bless)
        return;
    fprintf(out, "bless: %zu blessed, %zu not blessed", counts[KG_BLESSED], counts[KG_NOT_BLESSED]);
    if (counts[KG_PRUNED])
        fprintf(out, ", %zu pruned", counts[KG_PRUNED]);
    fprintf(out, "%s%s\n", run->blessed ? "; " : "", run->blessed ? run->expectations : "");
}

static void put_last_line(const struct kg_run *run, FILE *out)
{
    static const struct {
        enum kg_verdict verdict;
        const char *one, *many;
        bool always;
    } words[] = {
        { KG_FAIL, "failed", "failed", false },   { KG_ERROR, "error", "errors", false },
        { KG_XPASS, "xpass", "xpass", false },    { KG_SLOW, "slow", "slow", false },
        { KG_UNSURE, "unsure", "unsure", false }, { KG_UNGATED, "ungated", "ungated", false },
        { KG_LOST, "lost", "lost", false },       { KG_WEAK, "weak", "weak", false },
        { KG_FAST, "fast", "fast", false },       { KG_XFAIL, "xfail", "xfail", false },
        { KG_PASS, "passed", "passed", true },    { KG_SKIP, "skipped", "skipped", true },
    };
    const char *comma = "";
    fputs("kgate: ", out);
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        size_t count = run->counts[words[i].verdict];
        if (!count && !words[i].always)
            continue;
        fprintf(out, "%s%zu %s", comma, count, count == 1 ? words[i].one : words[i].many);
        comma = ", ";
    }
    fprintf(out, " of %zu in %.1f s%s%s\n", run->n_results, run->seconds, *run->partial ? ", partial: " : "",
            run->partial);
}

void kg_terminal_put_end(const struct kg_run *run, const struct kg_terminal_options *options, FILE *out)
{
    put_answers(run, options, out);
    put_environment(run, out);
    if (!options->quiet) {
        put_flakes(run, options, out);
        put_bless_hints(run, options, out);
        put_timing(run, out);
        put_partial(run, out);
    }
    put_bless(run, out);
    put_last_line(run, out);
}
