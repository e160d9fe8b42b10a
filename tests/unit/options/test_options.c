/* test_options.c -- every option of the command line, and what is refused of it; and that help and man page name the
 * options that there are, by the table.
 *
 *     test_options MAN_PAGE
 *
 * A new option needs a line here where it is of a new type, or does not go with another. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "options/option_table.h"

enum { MAX_WORDS = 32 };

static char *words[MAX_WORDS + 1]; /* the options' strings point into these */
static int n_words;
static struct kg_options o;

static void drop_words(void)
{
    while (n_words > 0)
        free(words[--n_words]);
    words[0] = NULL;
}

static int parse_words(const char *const *given, kg_error *ret_error)
{
    drop_words();
    words[n_words++] = strdup("kgate");
    for (; *given; given++) {
        assert_true(n_words < MAX_WORDS);
        words[n_words++] = strdup(*given);
    }
    words[n_words] = NULL;
    return kg_options_parse(n_words, words, &o, ret_error);
}

static void parsed(const char *const *given)
{
    kg_error error = { 0 };
    kg_options_done(&o);
    if (parse_words(given, &error))
        fail_msg("refused: %s", error.text);
}

static void refused(const char *why, const char *const *given)
{
    struct kg_options before;
    kg_error error = { 0 };
    kg_options_done(&o);
    before = o;
    assert_int_equal(parse_words(given, &error), KG_EINVAL);
    assert_string_equal(error.text, why);
    assert_memory_equal(&before, &o, sizeof o);
}

#define PARSED(...) parsed((const char *const[]){ __VA_ARGS__, NULL })
#define REFUSED(why, ...) refused(why, (const char *const[]){ __VA_ARGS__, NULL })

static int done(void **state)
{
    (void)state;
    kg_options_done(&o);
    drop_words();
    return 0;
}

/* ---- what is taken ----------------------------------------------------------------------------------------- */

static void defaults(void **state)
{
    (void)state;
    PARSED("run");
    assert_int_equal(o.command, KG_COMMAND_RUN);
    assert_string_equal(o.module, "attention");
    assert_string_equal(o.device, "auto");
    assert_string_equal(o.output, "results");
    assert_true(o.case_timeout_s == 60 && o.rounds == 0 && o.format == KG_FORMAT_TEXT && o.color == KG_COLOR_AUTO);
    assert_true(!o.require_device && !o.expectations && !o.junit && !o.cache && !o.reason && !o.git_sha);
    assert_true(!o.bless && !o.allow_dirty && !o.prune && !o.reset_best && !o.no_time && !o.time_every_seed);
    assert_true(!o.allow_undecided && !o.allow_undecided_new && !o.fail_fast && !o.quiet && !o.verbose && !o.shuffle &&
                !o.shuffle_seed_given);
    assert_true(o.timing.timer == -1 && o.timing.l2 == -1 && o.timing.warmup == -1 && o.timing.samples == -1);
    assert_true(o.timing.threshold_pct < 0);
    const struct kg_selection *s = &o.selection;
    assert_true(!s->n_patterns && !s->n_excludes && !s->n_backends && !s->n_seeds && !s->n_sweeps && !s->n_shards);
    assert_true(!s->kind && !o.n_knobs && !o.n_library_paths);
}

static void commands(void **state)
{
    static const struct {
        const char *word;
        enum kg_command command;
    } rows[] = { { "run", KG_COMMAND_RUN },
                 { "list", KG_COMMAND_LIST },
                 { "doctor", KG_COMMAND_DOCTOR },
                 { "resources", KG_COMMAND_RESOURCES },
                 { "help", KG_COMMAND_HELP },
                 { "--help", KG_COMMAND_HELP },
                 { "version", KG_COMMAND_VERSION },
                 { "worker", KG_COMMAND_WORKER },
                 { "--version", KG_COMMAND_VERSION },
                 { "selfcheck", KG_COMMAND_SELFCHECK },
                 { "leaderboard", KG_COMMAND_LEADERBOARD } };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        PARSED(rows[i].word);
        assert_int_equal(o.command, rows[i].command);
    }
    PARSED("run", "--help", "--frobnicate");
    assert_int_equal(o.command, KG_COMMAND_HELP);
    PARSED("list", "--version");
    assert_int_equal(o.command, KG_COMMAND_VERSION);
    REFUSED("kgate --version takes nothing more", "--version", "x");
    REFUSED("kgate version takes nothing more", "version", "--format=json");
    PARSED("worker", "--frobnicate", "4");
    assert_ptr_equal(o.arguments, words + 2);
    PARSED("checkout", "HEAD~1", "a/folder");
    assert_int_equal(o.command, KG_COMMAND_CHECKOUT);
    assert_string_equal(o.arguments[0], "HEAD~1");
    assert_string_equal(o.arguments[1], "a/folder");
    PARSED("checkout", "--help");
    assert_int_equal(o.command, KG_COMMAND_HELP);
}

static void flags(void **state)
{
    (void)state;
    const struct {
        const char *word;
        const bool *flag;
    } rows[] = { { "--no-time", &o.no_time },     { "--time-every-seed", &o.time_every_seed },
                 { "--fail-fast", &o.fail_fast }, { "--allow-undecided", &o.allow_undecided },
                 { "--verbose", &o.verbose },     { "--allow-undecided=new", &o.allow_undecided_new },
                 { "--shuffle", &o.shuffle },     { "--quiet", &o.quiet } };
    const size_t n = sizeof rows / sizeof *rows;
    for (size_t i = 0; i < n; i++) {
        PARSED("run", rows[i].word);
        for (size_t j = 0; j < n; j++)
            assert_int_equal(*rows[j].flag, i == j);
    }
    PARSED("run", "--bless", "--reason", "why", "--allow-dirty");
    assert_true(o.bless && o.allow_dirty && !o.prune && !o.reset_best);
    assert_string_equal(o.reason, "why");
    PARSED("run", "--reset-best", "--prune", "--bless", "--reason=why");
    assert_true(o.bless && !o.allow_dirty && o.prune && o.reset_best);
    PARSED("run", "--against", "x.so", "--allow-removed");
    assert_true(o.allow_removed);
}

static void texts(void **state)
{
    (void)state;
    const struct {
        const char *word, *value;
        const char **text;
    } rows[] = { { "--module", "a/b.so", &o.module },  { "--expectations", "goldens", &o.expectations },
                 { "--output", "out", &o.output },     { "--junit", "j.xml", &o.junit },
                 { "--cache", "cache", &o.cache },     { "--require-device", "h200", &o.require_device },
                 { "--device", "cuda:12", &o.device }, { "--git-sha", "0123456789abcdefABCD", &o.git_sha },
                 { "--against", "x.so", &o.against } };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char joined[64];
        PARSED("run", rows[i].word, rows[i].value);
        assert_string_equal(*rows[i].text, rows[i].value);
        (void)snprintf(joined, sizeof joined, "%s=%s", rows[i].word, rows[i].value);
        PARSED("run", joined);
        assert_string_equal(*rows[i].text, rows[i].value);
    }
    static const char *const devices[] = { "auto", "cpu", "cuda", "cuda:0" };
    for (size_t i = 0; i < sizeof devices / sizeof *devices; i++) {
        PARSED("doctor", "--device", devices[i]);
        assert_string_equal(o.device, devices[i]);
    }
}

static void numbers_and_words(void **state)
{
    (void)state;
    PARSED("run", "--timer", "event", "--l2", "cold", "--samples", "1", "--warmup", "0", "--rounds", "16",
           "--threshold", "0.5", "--timeout", "86400");
    assert_true(o.timing.timer == KG_TIMER_EVENT && o.timing.l2 == KG_L2_COLD && o.timing.samples == 1);
    assert_true(o.timing.warmup == 0 && o.rounds == 16 && o.timing.threshold_pct == 0.5 && o.timeout_s == 86400);
    assert_true(o.case_timeout_s == 60);
    PARSED("run", "--bless", "--reason", "x", "--rounds", "32", "--case-timeout", "0.5");
    assert_true(o.rounds == 32 && o.timeout_s == 0 && o.case_timeout_s == 0.5);
    PARSED("run", "--timer", "graph", "--l2", "warm", "--threshold", "1000");
    assert_true(o.timing.timer == KG_TIMER_GRAPH && o.timing.l2 == KG_L2_WARM && o.timing.threshold_pct == 1000);
    PARSED("run", "--format", "tap", "--color", "always");
    assert_true(o.format == KG_FORMAT_TAP && o.color == KG_COLOR_ALWAYS);
    PARSED("list", "--format", "json");
    assert_int_equal(o.format, KG_FORMAT_JSON);
    PARSED("run", "--format", "text", "--color", "never");
    assert_true(o.format == KG_FORMAT_TEXT && o.color == KG_COLOR_NEVER);
    PARSED("run", "--shuffle=18446744073709551615");
    assert_true(o.shuffle && o.shuffle_seed_given && o.shuffle_seed == UINT64_MAX);
    PARSED("run", "--shuffle", "7"); /* the seed is joined by '='; this is a pattern */
    assert_true(o.shuffle && !o.shuffle_seed_given && o.selection.n_patterns == 1);
}

/* Two builds are interleaved in windows, whatever timer their suites have. */
static void against(void **state)
{
    (void)state;
    PARSED("run", "a", "--against", "x.so", "--timer", "graph", "--allow-undecided", "--no-time");
    assert_int_equal(o.timing.timer, KG_TIMER_GRAPH);
    PARSED("run", "--against=x.so");
    assert_int_equal(o.timing.timer, KG_TIMER_GRAPH);
    PARSED("run");
    assert_true(!o.against && !o.allow_removed && o.timing.timer == -1);
}

static void selfcheck(void **state)
{
    (void)state;
    PARSED("selfcheck", "a", "--record", "blocks", "--rounds", "200", "--timeout", "60", "--library-path", "x");
    assert_true(o.rounds == 200 && o.timeout_s == 60 && o.selection.n_patterns == 1);
    assert_string_equal(o.record, "blocks");
    PARSED("selfcheck", "--judge", "a", "--judge", "b");
    assert_int_equal(o.n_judge, 2);
    assert_string_equal(o.judge[1], "b");
}

static void lists(void **state)
{
    (void)state;
    PARSED("run", "a/*", "--knob", "tile=4", "b", "--knob", "k=", "--library-path", "x", "--library-path", "y,z",
           "--exclude", "c,d", "--exclude", "e", "--backend", "f,g", "--backend", "h", "--", "--i");
    assert_true(o.selection.n_patterns == 3 && o.selection.n_excludes == 2 && o.selection.n_backends == 3);
    assert_string_equal(o.selection.patterns[0], "a/*");
    assert_string_equal(o.selection.patterns[1], "b");
    assert_string_equal(o.selection.patterns[2], "--i");
    assert_string_equal(o.selection.excludes[0], "c,d"); /* a glob: not split */
    assert_string_equal(o.selection.excludes[1], "e");
    assert_string_equal(o.selection.backends[0], "f");
    assert_string_equal(o.selection.backends[1], "g");
    assert_string_equal(o.selection.backends[2], "h");
    assert_true(o.n_knobs == 2 && o.n_library_paths == 2);
    assert_string_equal(o.knobs[0], "tile=4");
    assert_string_equal(o.knobs[1], "k=");
    assert_string_equal(o.library_paths[1], "y,z");
}

static void seeds_sweeps_and_shards(void **state)
{
    (void)state;
    PARSED("list", "--seed", "3,0", "--seed", "18446744073709551615", "--set", "n=1,2,3", "--set", "dtype=a=b",
           "--shard", "2/7");
    const struct kg_selection *s = &o.selection;
    assert_true(s->n_seeds == 3 && s->seeds[0] == 3 && s->seeds[1] == 0 && s->seeds[2] == UINT64_MAX);
    assert_true(s->n_sweeps == 2 && s->sweeps[0].n_values == 3 && s->sweeps[1].n_values == 1);
    assert_string_equal(s->sweeps[0].field, "n");
    assert_string_equal(s->sweeps[0].values[0], "1");
    assert_string_equal(s->sweeps[0].values[2], "3");
    assert_string_equal(s->sweeps[1].field, "dtype");
    assert_string_equal(s->sweeps[1].values[0], "a=b");
    assert_true(s->shard == 2 && s->n_shards == 7);
    PARSED("list", "--shard", "1/1");
    assert_true(o.selection.shard == 1 && o.selection.n_shards == 1);
}

/* The line as it was typed, from before lists are split in place. */
static void the_line_can_be_pasted(void **state)
{
    (void)state;
    PARSED("run", "a/*", "--backend", "x,y", "--set", "n=1,2", "--reason", "two words", "--bless", "--junit", "",
           "p@n=1/s0");
    assert_string_equal(o.line, "kgate run 'a/*' --backend x,y --set n=1,2 --reason 'two words' --bless --junit '' "
                                "p@n=1/s0");
    PARSED("run", "--bless", "--reason", "it's $faster");
    assert_string_equal(o.line, "kgate run --bless --reason 'it'\\''s $faster'");
    char longer[2000];
    memset(longer, 'a', sizeof longer);
    longer[sizeof longer - 1] = '\0';
    PARSED("run", longer, longer);
    assert_int_equal(strlen(o.line), sizeof o.line - 1);
    longer[500] = '\'';
    PARSED("run", longer, longer);
    assert_int_equal(strlen(o.line), sizeof o.line - 1);
}

static void again(const char *wanted)
{
    assert_string_equal(o.again, wanted);
}

/* What a failure's command repeats, apart from the selection. */
static void what_the_next_run_needs(void **state)
{
    (void)state;
    PARSED("run", "a", "--seed", "1", "--backend", "b", "--verbose", "--shuffle=7", "--allow-undecided=new");
    again("");
    PARSED("run", "a", "--bless", "--reas", "two words", "--allow-dirty", "--prune", "--reset-best",
           "--git-sha=0123456");
    again(" --bless --reason 'two words' --allow-dirty --prune --reset-best --git-sha 0123456");
    PARSED("run", "a", "--knob", "tile=4", "--knob", "name=it's", "--library-path", "a b", "--expectations", "goldens");
    again(" --knob tile=4 --knob 'name=it'\\''s' --library-path 'a b' --expectations goldens");
    PARSED("run", "--timer", "event", "--l2", "cold", "--samples", "9", "--warmup", "0", "--threshold", "2.5",
           "--rounds", "4");
    again(" --timer event --l2 cold --samples 9 --warmup 0 --threshold 2.5 --rounds 4");
    PARSED("run", "--timer", "graph", "--l2", "warm", "--no-time");
    again(" --timer graph --l2 warm --no-time");
    PARSED("run", "--against", "a b.so", "--allow-removed", "--timeout", "600", "--case-timeout", "90");
    again(" --against 'a b.so' --allow-removed --timeout 600 --case-timeout 90");
}

static void one_line_does_not_change_the_next(void **state)
{
    (void)state;
    REFUSED("unknown option -x; see kgate --help", "run", "p", "-xyz", "--junit", "j");
    PARSED("run", "a", "--junit", "j", "b");
    assert_true(o.selection.n_patterns == 2 && o.junit && !strcmp(o.junit, "j"));
    REFUSED("--module wants a value", "run", "p", "q", "--module");
    PARSED("list", "--module", "m");
    assert_string_equal(o.module, "m");
    assert_int_equal(o.selection.n_patterns, 0);
}

/* ---- what is refused --------------------------------------------------------------------------------------- */

static void unknown_words(void **state)
{
    (void)state;
    kg_error error = { 0 };
    words[n_words++] = strdup("kgate");
    assert_int_equal(kg_options_parse(1, words, &o, &error), KG_EINVAL);
    assert_string_equal(error.text, "no command; see kgate --help");
    REFUSED("unknown command frobnicate; see kgate --help", "frobnicate");
    REFUSED("unknown command ; see kgate --help", "");
    REFUSED("unknown option --frobnicate; see kgate --help", "run", "--frobnicate");
    REFUSED("unknown option --bless=yes; see kgate --help", "run", "--bless=yes");
    REFUSED("unknown option -v; see kgate --help", "run", "-v");
    REFUSED("--junit wants a value", "run", "--junit");
    REFUSED("kgate doctor takes no pattern", "doctor", "a");
    REFUSED("kgate checkout wants REF and FOLDER", "checkout");
    REFUSED("kgate checkout wants REF and FOLDER", "checkout", "HEAD");
    REFUSED("kgate checkout wants REF and FOLDER", "checkout", "HEAD", "a", "b");
    REFUSED("kgate checkout wants REF and FOLDER", "checkout", "", "a");
    REFUSED("kgate checkout wants REF and FOLDER", "checkout", "HEAD", "");
    REFUSED("unknown option --force; see kgate --help", "checkout", "--force", "HEAD", "a");
}

/* Each of the options, a word each, is refused by a command that it does not belong to. */
static void not_of(const char *command, const char *options)
{
    char copy[800], why[100];
    snprintf(copy, sizeof copy, "%s", options);
    for (char *word = strtok(copy, " "); word; word = strtok(NULL, " ")) {
        snprintf(why, sizeof why, "%.*s does not go with this command", (int)strcspn(word, "="), word);
        REFUSED(why, command, word);
    }
}

static void options_of_other_commands(void **state)
{
    static const char run_only[] =
        "--bless --reason=x --allow-dirty --prune --reset-best --no-time --time-every-seed --output=x --junit=x "
        "--timer=graph --l2=warm --samples=1 --warmup=1 --threshold=1 --rounds=1 --require-device=x --allow-undecided "
        "--timeout=1 --fail-fast --shuffle --quiet --color=auto --git-sha=0123456 --knob=a=b --cache=x "
        "--against=x --allow-removed --case-timeout=1 --arch=x --top=1";
    static const char selfcheck_only[] = "--record=x --judge=x --plant=1 --gates --arch=x --top=1";
    static const char *const selecting[] = { "--backend=x", "--seed=1",      "--set=a=1", "--exclude=x",
                                             "--shard=1/1", "--format=text", "--verbose" };
    (void)state;
    not_of("list", run_only);
    not_of("list", "--expectations=x --library-path=x");
    not_of("list", selfcheck_only);
    not_of("doctor", run_only);
    not_of("doctor", "--backend=x --seed=1 --set=a=1 --exclude=x --shard=1/1 --format=text --verbose");
    not_of("run", selfcheck_only);
    not_of("selfcheck", "--bless --timer=graph --samples=1 --junit=x --against=x --fail-fast --no-time "
                        "--expectations=x --allow-removed --quiet");
    not_of("resources", "--timeout=1 --quiet --backend=x --output=x");
    for (size_t i = 0; i < sizeof selecting / sizeof *selecting; i++) {
        PARSED("list", selecting[i]);
        PARSED("selfcheck", selecting[i]);
    }
    PARSED("doctor", "--expectations", "x", "--library-path", "y", "--module", "m");
}

static void of_a_leaderboard(void **state)
{
    (void)state;
    PARSED("leaderboard", "a/*", "--arch", "h200,l4", "--arch", "b200", "--top", "10", "--backend", "x", "--exclude",
           "y", "--device", "cuda", "--expectations", "z", "--module", "m", "--format", "json");
    assert_int_equal(o.n_archs, 3);
    assert_string_equal(o.archs[1], "l4");
    assert_string_equal(o.archs[2], "b200");
    assert_int_equal(o.top, 10);
    assert_int_equal(o.format, KG_FORMAT_JSON);
    REFUSED("--top 0: a whole number from 1 to 1000 wanted", "leaderboard", "--top", "0");
    REFUSED("--arch: an empty value between commas", "leaderboard", "--arch", "h200,,l4");
    REFUSED("--format tap: kgate leaderboard knows text and json", "leaderboard", "--format", "tap");
    REFUSED("--arch does not go with this command", "run", "--arch", "h200");
    REFUSED("--top does not go with this command", "list", "--top", "3");
    REFUSED("--bless does not go with this command", "leaderboard", "--bless");
}

static void wrong_values(void **state)
{
    static const char *const no_count[] = { "0", "-1", "1.5", "x", "", "1000001", " 1", "+1", "18446744073709551617" };
    static const char *const no_rounds[] = { "0", "2", "33", "x", "" };
    static const char *const no_real[] = { "0", "-1", "nan", "inf", "1e999", "x", "", "1x" };
    static const char *const no_seed[] = { "-1", "x", "1.5", "18446744073709551616", " 1", "0x1" };
    static const char *const no_shard[] = { "0/2",   "3/2",  "0/0",  "1",   "1/", "/2",
                                            "1/2/3", "1/-1", " 1/2", "x/y", "",   "000000000000000000000000000001/2" };
    static const char *const no_device[] = { "gpu", "cuda:", "cuda:x", "cuda:-1", "cuda:12345", "cpu:0", "", "CUDA" };
    static const char *const no_sha[] = { "12", "012345", "0123456g", "", "01234567890123456789012345678901234567890" };
    char why[300];
    (void)state;
#define EACH(list, option, ...)                                                                                        \
    for (size_t i = 0; i < sizeof list / sizeof *list; i++) {                                                          \
        (void)snprintf(why, sizeof why, __VA_ARGS__);                                                                  \
        REFUSED(why, "run", option, list[i]);                                                                          \
    }
    EACH(no_count, "--samples", "--samples %s: a whole number from 1 to 1000000 wanted", no_count[i])
    EACH(no_rounds, "--rounds", "--rounds %s: a whole number from 3 to 32 wanted", no_rounds[i])
    EACH(no_real, "--threshold", "--threshold %s: a number over 0 and at most 1000 wanted", no_real[i])
    EACH(no_real, "--timeout", "--timeout %s: a number over 0 and at most 86400 wanted", no_real[i])
    EACH(no_real, "--case-timeout", "--case-timeout %s: a number over 0 and at most 86400 wanted", no_real[i])
    EACH(no_seed, "--seed", "--seed %s: not a whole number", no_seed[i])
    EACH(no_shard, "--shard", "--shard %s: I/N with 1 <= I <= N wanted", no_shard[i])
    EACH(no_device, "--device", "--device %s: auto, cpu, cuda or cuda:N wanted", no_device[i])
    EACH(no_sha, "--git-sha", "--git-sha %s: 7 to 40 hex digits wanted", no_sha[i])
#undef EACH
    REFUSED("--warmup -1: a whole number from 0 to 1000000 wanted", "run", "--warmup", "-1");
    REFUSED("--threshold 1001: a number over 0 and at most 1000 wanted", "run", "--threshold", "1001");
    REFUSED("--timer sundial: not one of its values; see kgate --help", "run", "--timer", "sundial");
    REFUSED("--l2 : not one of its values; see kgate --help", "run", "--l2", "");
    REFUSED("--color mauve: not one of its values; see kgate --help", "run", "--color", "mauve");
    REFUSED("--format yaml: not one of its values; see kgate --help", "run", "--format", "yaml");
    REFUSED("--format tap: kgate list knows text and json", "list", "--format", "tap");
    REFUSED("--allow-undecided=old: new, or nothing, wanted", "run", "--allow-undecided=old");
    REFUSED("--shuffle=-1: not a whole number", "run", "--shuffle=-1");
    REFUSED("--knob n: NAME=VALUE wanted", "run", "--knob", "n");
    REFUSED("--knob =1: NAME=VALUE wanted", "run", "--knob", "=1");
}

static void wrong_lists(void **state)
{
    (void)state;
    REFUSED("--backend: nothing given", "run", "--backend", "");
    REFUSED("--backend: an empty value between commas", "run", "--backend", "a,,b");
    REFUSED("--backend: an empty value between commas", "run", "--backend", "a,");
    REFUSED("--seed: nothing given", "run", "--seed", "");
    REFUSED("--seed: an empty value between commas", "run", "--seed", ",1");
    REFUSED("--seed 1: given twice", "run", "--seed", "0,1,1");
    REFUSED("--seed 01: given twice", "run", "--seed", "1", "--seed", "01");
    REFUSED("--set n: FIELD=VALUE wanted", "run", "--set", "n");
    REFUSED("--set =1: FIELD=VALUE wanted", "run", "--set", "=1");
    REFUSED("--set: nothing given", "run", "--set", "n=");
    REFUSED("--set: an empty value between commas", "run", "--set", "n=1,,2");
    REFUSED("--set n: given twice", "run", "--set", "n=1", "--set", "n=2");
}

static void what_does_not_go_together(void **state)
{
    static const char with_bless[] = "--reason, --prune, --reset-best and --allow-dirty go with --bless";
    char reason[202];
    (void)state;
    REFUSED("--expectations: nothing given", "run", "--expectations", "");
    REFUSED("--bless needs --reason TEXT", "run", "--bless");
    REFUSED("--bless needs --reason TEXT", "run", "--bless", "--reason", "");
    REFUSED("--bless does not go with --knob: a golden is of the knobs' fallbacks", "run", "--bless", "--reason", "x",
            "--knob", "a=b");
    REFUSED("--bless needs times: it does not go with --no-time", "run", "--bless", "--reason", "x", "--no-time");
    REFUSED("--bless does not go with --against: a golden is of one build", "run", "--bless", "--reason", "x",
            "--against", "x.so");
    REFUSED("--rounds 17: at most 16, but for a bless or a recording", "run", "--rounds", "17");
    REFUSED("--quiet does not go with --verbose", "run", "--verbose", "--quiet");
    REFUSED("--allow-removed and --baseline-library-path go with --against", "run", "--allow-removed");
    REFUSED("--allow-removed and --baseline-library-path go with --against", "run", "--baseline-library-path", ".");
    REFUSED("--against: nothing given", "run", "--against", "");
    REFUSED("--against does not go with --timer event", "run", "--against", "x.so", "--timer", "event");
    REFUSED("--allow-undecided=new is of goldens: it does not go with --against", "run", "--against", "x.so",
            "--allow-undecided=new");
    REFUSED("--record and --judge do not go together", "selfcheck", "--record", "a", "--judge", "b");
    REFUSED("--gates measures nothing: it goes with none of --record, --judge, --plant and --rounds", "selfcheck",
            "--gates", "--record", "a");
    REFUSED("--gates measures nothing: it goes with none of --record, --judge, --plant and --rounds", "selfcheck",
            "--gates", "--rounds", "3");
    REFUSED("--rounds does not go with --judge: the blocks are recorded", "selfcheck", "--judge", "a", "--rounds", "9");
    REFUSED("--record: nothing given", "selfcheck", "--record", "");
    REFUSED("--record judges nothing: it does not go with --format json", "selfcheck", "--record", "a", "--format",
            "json");
    REFUSED(with_bless, "run", "--reason", "x");
    REFUSED(with_bless, "run", "--prune");
    REFUSED(with_bless, "run", "--reset-best");
    REFUSED(with_bless, "run", "--allow-dirty");
    memset(reason, 'x', sizeof reason);
    reason[201] = '\0';
    REFUSED("--reason: at most 200 characters", "run", "--bless", "--reason", reason);
    reason[200] = '\0';
    PARSED("run", "--bless", "--reason", reason);
}

/* ---- by the table ------------------------------------------------------------------------------------------ */

enum { N_COMMANDS = KG_COMMAND_LEADERBOARD + 1 }; /* that take options */

static const struct kg_option_row *find_row(const char *name, size_t length)
{
    for (size_t i = 0; i < kg_option_rows_count; i++) {
        const struct kg_option_row *row = &kg_option_rows[i];
        if (row->name && strlen(row->name) == length && !strncmp(row->name, name, length))
            return row;
    }
    return NULL;
}

static void ranges(void **state)
{
    (void)state;
    for (size_t i = 0; i < kg_option_rows_count; i++) {
        const struct kg_option_row *row = &kg_option_rows[i];
        char number[32], text[64];
        kg_error error = { 0 };
        if (!row->name || (row->take != kg_take_count && row->take != kg_take_real))
            continue;
        snprintf(number, sizeof number, "%.0f", row->most);
        assert_true(row->most > 0 && row->most > row->least);
        if (row->take(row, &o, number, &error))
            fail_msg("--%s %s: %s", row->name, number, error.text);
        snprintf(number, sizeof number, "%.0f", row->most + 1);
        snprintf(text, sizeof text, "--%s %s: ", row->name, number);
        assert_int_equal(row->take(row, &o, number, &error), KG_EINVAL);
        assert_memory_equal(error.text, text, strlen(text));
    }
}

/* The bits of the commands whose help, or the page's text, names a row's option, by row. */
static unsigned named[100];

static void name_options(const char *text, const char *dashes, unsigned bit, const char *whose)
{
    for (const char *at = strstr(text, dashes); at; at = strstr(at, dashes)) {
        at += strlen(dashes);
        size_t length = strspn(at, "abcdefghijklmnopqrstuvwxyz0123456789-");
        const struct kg_option_row *row = find_row(at, length);
        if (!row || (bit && !(row->commands & bit)))
            fail_msg("%s names --%.*s, which there is not", whose, (int)length, at);
        named[row - kg_option_rows] |= bit;
        at += length;
    }
}

static void the_help_names_every_option(void **state)
{
    (void)state;
    memset(named, 0, sizeof named);
    for (int command = 0; command < N_COMMANDS; command++) {
        char *text = NULL;
        size_t size = 0;
        FILE *out = open_memstream(&text, &size);
        kg_options_help(1u << command, out);
        assert_int_equal(fclose(out), 0);
        name_options(text, " --", 1u << command, kg_option_command_word((enum kg_command)command));
        free(text);
    }
    for (size_t i = 0; i < kg_option_rows_count; i++)
        if (kg_option_rows[i].name && named[i] != kg_option_rows[i].commands)
            fail_msg("kgate COMMAND --help does not name --%s for each of its commands", kg_option_rows[i].name);
}

static const char *man_page;

/* Entries are lines `.It Fl -name`. */
static void the_man_page_has_an_entry_for_every_option(void **state)
{
    char line[1000];
    FILE *page = fopen(man_page, "r");
    (void)state;
    assert_non_null(page);
    memset(named, 0, sizeof named);
    while (fgets(line, sizeof line, page))
        name_options(line, "Fl -", strncmp(line, ".It Fl ", strlen(".It Fl ")) ? 0 : ~0u, man_page);
    fclose(page);
    for (size_t i = 0; i < kg_option_rows_count; i++)
        if (kg_option_rows[i].name && !named[i])
            fail_msg("%s has no entry for --%s", man_page, kg_option_rows[i].name);
}

static void colors(void **state)
{
    (void)state;
    unsetenv("NO_COLOR");
    PARSED("run");
    assert_true(kg_options_color(&o, true) && !kg_options_color(&o, false));
    setenv("NO_COLOR", "", 1); /* as if it were not there */
    assert_true(kg_options_color(&o, true));
    setenv("NO_COLOR", "0", 1);
    assert_false(kg_options_color(&o, true));
    PARSED("run", "--color", "always");
    assert_true(kg_options_color(&o, true) && kg_options_color(&o, false));
    unsetenv("NO_COLOR");
    PARSED("run", "--color", "never");
    assert_false(kg_options_color(&o, true));
}

#define TEST(name) cmocka_unit_test_teardown(name, done)

int main(int argc, char *argv[])
{
    const struct CMUnitTest tests[] = {
        TEST(defaults),
        TEST(commands),
        TEST(flags),
        TEST(texts),
        TEST(numbers_and_words),
        TEST(against),
        TEST(selfcheck),
        TEST(lists),
        TEST(seeds_sweeps_and_shards),
        TEST(the_line_can_be_pasted),
        TEST(what_the_next_run_needs),
        TEST(one_line_does_not_change_the_next),
        TEST(unknown_words),
        TEST(options_of_other_commands),
        TEST(of_a_leaderboard),
        TEST(wrong_values),
        TEST(wrong_lists),
        TEST(what_does_not_go_together),
        TEST(ranges),
        TEST(the_help_names_every_option),
        TEST(the_man_page_has_an_entry_for_every_option),
        TEST(colors),
    };
    if (argc != 2)
        return 2;
    man_page = argv[1];
    return cmocka_run_group_tests(tests, NULL, NULL);
}
