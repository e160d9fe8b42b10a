/* terminal_end.c -- what the terminal says of the run as a whole, the counts last. */
#include "reports/terminal_end.h"

#include <string.h>

#include "reports/facts.h"
#include "reports/run_facts.h"

/* What a bless would keep or start. */
static void put_bless_hints(const struct kg_run *run, FILE *out)
{
    char line[KG_LINE];
    if (run->blessed) {
        fprintf(out, "blessed: %s\n", run->expectations);
        return;
    }
    if (run->baseline)
        return; /* no golden had a say */
    for (size_t i = 0; i < run->n_results; i++) {
        const struct kg_result *result = &run->results[i];
        if (result->verdict != KG_FAST)
            continue;
        kg_fact_command(run, result, " --bless --reason TEXT", line);
        fprintf(out, "fast: %s %s; to keep it: %s\n", result->id, kg_fact_change(result).s, line);
    }
    if (run->counts[KG_UNGATED] && strstr(run->again, " --knob "))
        fprintf(out, "ungated: %zu without a golden to compare with; they are made without --knob\n",
                run->counts[KG_UNGATED]);
    else if (run->counts[KG_UNGATED])
        fprintf(out, "ungated: %zu without a golden to compare with; to make them: %s --bless --reason TEXT\n",
                run->counts[KG_UNGATED], run->command);
}

/* Which timer, and what was unsteady: never silent. */
static void put_timing(const struct kg_run *run, FILE *out)
{
    struct kg_steadiness steady = kg_fact_steadiness(run);
    struct kg_device_use use = kg_fact_use(run, 0);
    char names[128];
    if (!steady.blocks)
        return;
    fprintf(out, "timed: %s, L2 %s", run->contract.timer, run->contract.l2);
    if (run->contract.window_us > 0)
        fprintf(out, ", windows of %s", kg_format_time(run->contract.window_us).s);
    fprintf(out, ", %zu block%s", steady.blocks, steady.blocks == 1 ? "" : "s");
    if (use.blocks)
        fprintf(out, ", device idle %.0f%%", use.idle_pct);
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

/* Before the counts, which are then of less than was asked for. */
static void put_partial(const struct kg_run *run, FILE *out)
{
    size_t stopped = kg_fact_stopped(run);
    if (*run->partial)
        fprintf(out, "partial: %s; %zu of %zu cases have no decision\n", run->partial, stopped, run->n_results);
}

static void put_flakes(const struct kg_run *run, FILE *out)
{
    char line[KG_LINE];
    for (size_t i = 0; i < run->n_results; i++) {
        if (!kg_fact_flaked(&run->results[i]))
            continue;
        kg_fact_alarm(&run->results[i], line);
        fprintf(out, "flake: %s %s\n", run->results[i].id, line);
    }
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
        { KG_LOST, "lost", "lost", false },       { KG_FAST, "fast", "fast", false },
        { KG_XFAIL, "xfail", "xfail", false },    { KG_PASS, "passed", "passed", true },
        { KG_SKIP, "skipped", "skipped", true },
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

void kg_terminal_put_end(const struct kg_run *run, FILE *out)
{
    put_flakes(run, out);
    put_bless_hints(run, out);
    put_timing(run, out);
    put_partial(run, out);
    put_last_line(run, out);
}
