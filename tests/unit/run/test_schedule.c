/* test_schedule.c -- which cases are timed, in what order, and by what policy they are judged.
 * A session is filled by add(): one result a line, right unless the test says otherwise. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "run/schedule.h"

enum { ROOM = 64 };

static const kg_backend fast = { .name = "fast", .device = KG_CUDA }, plain = { .name = "plain", .device = KG_CUDA },
                        prints = { .name = "prints", .device = KG_CUDA, .untimed = true },
                        loops = { .name = "loops", .device = KG_CPU }, tiles = { .name = "tiles", .device = KG_CPU };
static const kg_xfail xfails[] = { { "speed/b/*/fast", "known" } };
static const kg_suite speed = { .name = "speed", .cpu_anchor = &loops, .xfails = KG_LIST(xfails) },
                      other = { .name = "other",
                                .time = { .regress_pct = 4,
                                          .creep_pct = 1.5,
                                          .cpu_regress_pct = 12,
                                          .timer = KG_TIMER_EVENT,
                                          .l2 = KG_L2_COLD,
                                          .warmup = 7,
                                          .samples = 9 } },
                      untimed = { .name = "untimed", .time = { .off = true } };

static struct kg_options options;
static struct kg_session session;
static struct kg_result *results;
static bool timed[ROOM];

static int session_new(void **state)
{
    (void)state;
    options = (struct kg_options){ .timing = { -1, -1, -1, -1, -1 } };
    results = calloc(ROOM, sizeof *results);
    memset(&session, 0, sizeof session);
    session.options = &options;
    session.results = results;
    session.run.shuffle_seed = 5;
    snprintf(session.device.uuid, sizeof session.device.uuid, "GPU-1");
    return results ? 0 : -1;
}

static int session_free(void **state)
{
    (void)state;
    free(results);
    return 0;
}

static struct kg_policy policy_of(struct kg_result *r)
{
    kg_session_resolve_policy(&session, r);
    return r->of.policy;
}

static struct kg_contract contract_of(struct kg_result *r)
{
    const struct kg_policy policy = policy_of(r);
    return kg_policy_contract(&policy);
}

static struct kg_result *add(const kg_suite *suite, size_t ordinal, uint64_t seed, const kg_backend *backend)
{
    static const char *const shapes[] = { "a", "b", "c", "d", "e", "f", "g", "h" };
    assert_true(session.n_results < ROOM);
    struct kg_result *r = &results[session.n_results++];
    r->of = (struct kg_case){ .suite = suite,
                              .backend = backend,
                              .shape = shapes[ordinal % 8],
                              .seed = seed,
                              .kind = backend->device,
                              .shape_ordinal = ordinal };
    kg_case_id(&r->of, r->id, sizeof r->id);
    kg_session_resolve_policy(&session, r);
    snprintf(r->backend, sizeof r->backend, "%s", backend->name);
    r->outcome = KG_RAN;
    r->compared = true;
    r->marks = (struct kg_gate_marks){ true, true, true, true, true, true, true, true };
    r->output_digest = 1000 + session.n_results;
    return r;
}

/* Two seeds and two backends of shape `ordinal`, in the plan's order. Gives the first. */
static struct kg_result *add_four(size_t ordinal)
{
    struct kg_result *first = add(&speed, ordinal, 0, &fast);
    add(&speed, ordinal, 0, &plain);
    add(&speed, ordinal, 1, &fast);
    add(&speed, ordinal, 1, &plain);
    return first;
}

static void chosen(const char *wanted)
{
    char got[ROOM + 1];
    memset(timed, true, sizeof timed);
    kg_schedule_choose_timed(&session, timed);
    for (size_t i = 0; i < session.n_results; i++)
        got[i] = timed[i] ? 't' : results[i].outcome == KG_DEFERRED ? 'd' : '-';
    got[session.n_results] = '\0';
    assert_string_equal(got, wanted);
}

/* ---- which cases are timed --------------------------------------------------------------------------------- */

static void the_first_seed_is_timed_for_all(void **state)
{
    (void)state;
    add_four(0);
    add_four(1);
    chosen("ttddttdd");
    assert_string_equal(results[0].note, "");
    assert_string_equal(results[2].note, "time: see speed/a/s0/fast");
    assert_string_equal(results[3].note, "time: see speed/a/s0/plain");
    assert_string_equal(results[6].note, "time: see speed/b/s0/fast");
}

static void third_seeds_refer_to_the_first(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 3; seed++)
        add(&speed, 0, seed, &fast);
    chosen("tdd");
    assert_string_equal(results[1].note, "time: see speed/a/s0/fast");
    assert_string_equal(results[2].note, "time: see speed/a/s0/fast");
}

static void one_wrong_seed_stops_the_clock(void **state)
{
    static const char untold[] = "not timed: another seed or regime of it is wrong";
    (void)state;
    for (size_t wrong = 0; wrong < 3; wrong++) {
        memset(results, 0, ROOM * sizeof *results);
        session.n_results = 0;
        for (uint64_t seed = 0; seed < 3; seed++) {
            add(&speed, 0, seed, &fast)->marks.mean_abs = seed != wrong;
            add(&speed, 0, seed, &plain);
        }
        chosen(wrong == 0 ? "-tdddd" : wrong == 1 ? "dt-ddd" : "dtdd-d");
        for (size_t seed = 0; seed < 3; seed++) {
            assert_string_equal(results[2 * seed].note, seed == wrong ? "" : untold);
            assert_int_equal(results[2 * seed].outcome, seed == wrong ? KG_RAN : KG_DEFERRED);
            assert_string_equal(results[2 * seed + 1].note, seed ? "time: see speed/a/s0/plain" : "");
        }
    }
}

static void what_counts_as_wrong(void **state)
{
    (void)state;
    add_four(0)->outcome = KG_BROKEN;
    add_four(1)->compared = false;
    add_four(2)->marks.finite = false;
    add_four(3)->marks.rel_l2 = false;
    chosen("-tdd-tdd-tdd-tdd");
    assert_int_equal(results[0].outcome, KG_BROKEN);
    assert_string_equal(results[2].note, "not timed: another seed or regime of it is wrong");
}

static void skipped_cases_are_left_alone(void **state)
{
    (void)state;
    struct kg_result *first = add_four(0);
    first[0].outcome = first[2].outcome = KG_SKIPPED;
    add(&speed, 1, 0, &fast)->outcome = KG_ABSENT;
    chosen("-t-d-");
    assert_int_equal(first[0].outcome, KG_SKIPPED);
    assert_int_equal(results[4].outcome, KG_ABSENT);
}

/* A seed that did not run says nothing of the others: the first that is right is timed. */
static void a_skipped_seed_is_not_a_wrong_one(void **state)
{
    (void)state;
    for (size_t skipped = 0; skipped < 3; skipped++) {
        memset(results, 0, ROOM * sizeof *results);
        session.n_results = 0;
        for (uint64_t seed = 0; seed < 3; seed++) {
            struct kg_result *r = add(&speed, 0, seed, &fast);
            r->outcome = seed == skipped ? KG_SKIPPED : KG_RAN;
            r->compared = seed != skipped;
        }
        chosen(skipped == 0 ? "-td" : skipped == 1 ? "t-d" : "td-");
        assert_string_equal(results[skipped == 2 ? 1 : 2].note,
                            skipped ? "time: see speed/a/s0/fast" : "time: see speed/a/s1/fast");
    }
}

static void shapes_do_not_mix(void **state)
{
    (void)state;
    add(&speed, 0, 0, &fast);
    add(&speed, 1, 0, &fast)->marks.max_abs = false;
    add(&speed, 2, 0, &fast);
    add(&other, 3, 0, &fast);
    chosen("t-tt");
}

static void every_seed_where_asked_for(void **state)
{
    (void)state;
    options.time_every_seed = true;
    add_four(0)[2].marks.bad_pct = false;
    chosen("tt-t");
    assert_string_equal(results[3].note, "");
    assert_int_equal(results[3].outcome, KG_RAN);
}

static void nothing_where_time_is_off(void **state)
{
    (void)state;
    add(&untimed, 0, 0, &fast);
    add(&untimed, 0, 1, &fast);
    chosen("--");
    assert_int_equal(results[1].outcome, KG_RAN);
    add_four(1);
    options.no_time = true;
    for (size_t i = 0; i < session.n_results; i++)
        kg_session_resolve_policy(&session, &results[i]);
    chosen("------");
    assert_int_equal(results[4].outcome, KG_RAN);
}

/* ---- order ------------------------------------------------------------------------------------------------- */

static struct kg_job round_of(int round, struct kg_job_case room[ROOM])
{
    struct kg_job job = { .n_cases = 99 };
    kg_schedule_round(&session, timed, round, room, &job);
    assert_int_equal(job.round, round);
    assert_ptr_equal(job.cases, room);
    return job;
}

/* Eight shapes of four cases; in every round a permutation of those chosen, each shape's in one piece. */
static void rounds_shuffle_but_keep_shapes_together(void **state)
{
    struct kg_job_case room[ROOM];
    bool moved_shape = false, moved_within = false;
    (void)state;
    for (size_t ordinal = 0; ordinal < 8; ordinal++)
        add_four(ordinal);
    for (size_t i = 0; i < session.n_results; i++)
        timed[i] = i % 4 != 3; /* three of each */
    for (int round = 1; round <= 6; round++) {
        bool seen[ROOM] = { false }, closed[8] = { false };
        struct kg_job job = round_of(round, room);
        assert_int_equal(job.n_cases, 24);
        for (size_t i = 0; i < job.n_cases; i++) {
            size_t ordinal = room[i].of.shape_ordinal;
            assert_true(timed[room[i].index] && !seen[room[i].index]);
            assert_memory_equal(&room[i].of, &results[room[i].index].of, sizeof room[i].of);
            seen[room[i].index] = true;
            if (i > 0 && room[i - 1].of.shape_ordinal != ordinal)
                closed[room[i - 1].of.shape_ordinal] = true;
            assert_false(closed[ordinal]);
            moved_shape |= i % 3 == 0 && ordinal != i / 3;
            moved_within |= i > 0 && room[i - 1].of.shape_ordinal == ordinal && room[i - 1].index > room[i].index;
        }
    }
    assert_true(moved_shape && moved_within);
}

static bool same_order(const struct kg_job_case *a, const struct kg_job_case *b, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (a[i].index != b[i].index)
            return false;
    return true;
}

static void the_seed_makes_the_order(void **state)
{
    struct kg_job_case one[ROOM], again[ROOM], next[ROOM], reseeded[ROOM];
    (void)state;
    for (size_t ordinal = 0; ordinal < 8; ordinal++)
        add_four(ordinal);
    memset(timed, true, sizeof timed);
    struct kg_job first = round_of(1, one), second = round_of(1, again), later = round_of(2, next);
    assert_true(same_order(one, again, 32));
    assert_int_equal(first.order_seed, second.order_seed);
    assert_false(same_order(one, next, 32));
    assert_int_not_equal(first.order_seed, later.order_seed);
    session.run.shuffle_seed = 6;
    struct kg_job other_job = round_of(1, reseeded);
    assert_false(same_order(one, reseeded, 32));
    assert_int_not_equal(first.order_seed, other_job.order_seed);
}

static void a_timed_case_takes_what_ran(void **state)
{
    struct kg_job_case room[ROOM];
    (void)state;
    struct kg_result *r = add_four(0);
    snprintf(r->backend, sizeof r->backend, "resolved");
    snprintf(r->pin, sizeof r->pin, "engine 8");
    snprintf(r->anchor_pin, sizeof r->anchor_pin, "engine 3");
    memset(timed, 0, sizeof timed);
    timed[0] = true;
    struct kg_job job = round_of(3, room);
    assert_int_equal(job.n_cases, 1);
    assert_true(room[0].time && !room[0].check);
    assert_int_equal(room[0].digest, 1001);
    assert_string_equal(room[0].backend, "resolved");
    assert_string_equal(room[0].pin, "engine 8");
    assert_string_equal(room[0].anchor_pin, "engine 3");
}

/* ---- correctness ------------------------------------------------------------------------------------------- */

static const struct kg_golden *golden_for(const struct kg_result *r)
{
    return kg_session_expectation(&session, r).golden;
}

static void correctness_takes_all_that_can_run(void **state)
{
    static struct kg_golden golden = { .key = "speed/a/plain", .pin = "engine 3" };
    struct kg_job_case room[ROOM];
    struct kg_job job = { .round = 9 };
    (void)state;
    struct kg_result *r = add_four(0);
    r[2].outcome = KG_SKIPPED;
    add(&speed, 1, 0, &fast)->outcome = KG_ABSENT;
    session.goldens.items = &golden;
    session.goldens.count = 1;
    kg_schedule_correctness(&session, room, &job);
    assert_int_equal(job.n_cases, 3);
    assert_int_equal(job.round, 0);
    assert_true(room[0].index == 0 && room[1].index == 1 && room[2].index == 3);
    for (size_t i = 0; i < 3; i++) {
        assert_true(room[i].check && !room[i].time);
        assert_string_equal(room[i].pin, i ? "engine 3" : "");
    }
    assert_ptr_equal(golden_for(&r[1]), &golden);
    assert_null(golden_for(&r[0]));
    r[1].outcome = KG_ABSENT;
    assert_null(golden_for(&r[1]));
    snprintf(r[0].backend, sizeof r[0].backend, "plain"); /* a chooser that became `plain` is judged by its golden */
    assert_ptr_equal(golden_for(&r[0]), &golden);
}

/* Of shapes 0 to 19 all of the first eight, and then one in eight; never in a regime, nor what is timed. */
static void some_are_called_again(void **state)
{
    static const kg_regime ones = { .name = "ones" };
    struct kg_job_case room[ROOM];
    struct kg_job job = { 0 };
    (void)state;
    add(&other, 0, 0, &fast);
    for (size_t shape = 0; shape < 20; shape++) {
        add(&untimed, shape + 1, 0, &fast);
        add(&untimed, shape + 1, 0, &fast)->of.regime = &ones;
    }
    results[1 + 2 * 3].outcome = KG_SKIPPED; /* shape 3, normal */
    kg_schedule_correctness(&session, room, &job);
    assert_int_equal(job.n_cases, 40);
    assert_true(room[0].of.policy.timed && !room[0].again);
    for (size_t i = 1; i < job.n_cases; i++) {
        const size_t shape = (room[i].index - 1) / 2;
        assert_int_equal(room[i].again, !room[i].of.regime && (shape < 8 || shape % 8 == 0));
    }
}

static void a_job_takes_the_runs_settings(void **state)
{
    (void)state;
    const char *paths[] = { "lib" }, *knobs[] = { "tile=4", "k=1" };
    options.library_paths = paths;
    options.n_library_paths = 1;
    options.baseline_library_paths = knobs;
    options.n_baseline_library_paths = 2;
    options.knobs = knobs;
    options.n_knobs = 2;
    session.device.kind = KG_CUDA;
    session.device.index = 3;
    snprintf(session.module.path, sizeof session.module.path, "a/module.so");
    snprintf(session.cache, sizeof session.cache, "a/cache");
    struct kg_job job = kg_schedule_job(&session);
    assert_true(job.kind == KG_CUDA && job.device == 3 && job.n_cases == 0);
    assert_true(job.baseline_library_paths == knobs && job.n_baseline_library_paths == 2);
    assert_true(job.library_paths == paths && job.n_library_paths == 1 && job.knobs == knobs && job.n_knobs == 2);
    assert_string_equal(job.module, "a/module.so");
    assert_string_equal(job.baseline, "");
    assert_true(job.anchors);
    assert_string_equal(job.cache, "a/cache");
}

/* ---- against another build ----------------------------------------------------------------------------------- */

static const kg_suite theirs = { .name = "speed" };

/* Two cases of both builds and a new one; the golden pins what its backend chose. */
static void two_builds(void)
{
    static const struct kg_module other_build = { .name = "old" };
    static struct kg_golden golden = { .key = "speed/a/plain", .pin = "engine 3" };
    static struct kg_pair pairs[3];
    add(&speed, 0, 0, &fast);
    add(&speed, 0, 0, &plain);
    add(&theirs, 1, 0, &fast)->is_new = true;
    for (size_t i = 0; i < 3; i++) {
        pairs[i] = (struct kg_pair){ .candidate = results[i].of };
        pairs[i].candidate.suite = &theirs;
    }
    session.pairs = (struct kg_pairs){ .items = pairs, .count = 3 };
    session.goldens.items = &golden;
    session.goldens.count = 1;
    session.baseline.root = &other_build;
    snprintf(session.module.path, sizeof session.module.path, "new.so");
    snprintf(session.baseline.path, sizeof session.baseline.path, "old.so");
}

static void a_job_against_has_both_builds(void **state)
{
    struct kg_job_case room[ROOM];
    (void)state;
    two_builds();
    struct kg_job job = kg_schedule_job(&session);
    assert_string_equal(job.module, "new.so");
    assert_string_equal(job.baseline, "old.so");
    assert_false(job.anchors);

    kg_schedule_correctness(&session, room, &job);
    assert_int_equal(job.n_cases, 3);
    for (size_t i = 0; i < 3; i++) {
        assert_ptr_equal(room[i].of.suite, i < 2 ? &speed : &theirs);
        assert_int_equal(room[i].is_new, i == 2);
        assert_string_equal(room[i].pin, i == 1 ? "engine 3" : "");
        assert_null(golden_for(&results[i])); /* pins, and judges nothing */
    }
    snprintf(results[0].baseline_pin, sizeof results[0].baseline_pin, "engine 4");
    chosen("tt-");
    job = round_of(1, room);
    assert_int_equal(job.n_cases, 2);
    for (size_t i = 0; i < 2; i++) {
        assert_string_equal(room[i].baseline_pin, room[i].index ? "engine 3" : "engine 4");
    }
}

/* What the candidate's suite says of time, gates and failures that are known is not asked. */
static void a_policy_against_is_the_baselines(void **state)
{
    static const struct kg_module other_build = { .name = "old" };
    (void)state;
    session.baseline.root = &other_build;
    struct kg_result *r = add(&other, 0, 0, &tiles);
    struct kg_pair pair = { .candidate = r->of };
    pair.candidate.suite = &untimed;
    session.pairs = (struct kg_pairs){ .items = &pair, .count = 1 };
    struct kg_policy policy = policy_of(r);
    assert_true(policy.against && policy.timed && policy.threshold_pct == 12);
    r->is_new = true;
    assert_false(kg_result_is_timed(r));
    assert_string_equal(policy_of(add(&speed, 1, 0, &fast)).xfail, "known");
}

/* ---- policy ------------------------------------------------------------------------------------------------ */

static void policy_by_default(void **state)
{
    (void)state;
    struct kg_result *r = add(&speed, 0, 0, &fast);
    struct kg_policy policy = policy_of(r);
    assert_true(policy.threshold_pct == KG_GPU_THRESHOLD_PCT && policy.creep_pct == KG_CREEP_PCT);
    assert_string_equal(kg_session_expectation(&session, r).device_uuid, "GPU-1");
    assert_true(policy.max_blocks == KG_MAX_ROUNDS && policy.timed && !policy.is_cpu_anchor);
    assert_null(policy.xfail);
    assert_string_equal(contract_of(r).timer, "graph");
    assert_string_equal(contract_of(r).l2, "warm");
    assert_string_equal(contract_of(r).data, "irwin-hall-8");
    assert_true(contract_of(r).window_us == 200);
    policy = policy_of(add(&speed, 0, 0, &tiles));
    assert_true(policy.threshold_pct == KG_CPU_THRESHOLD_PCT && policy.window_us == 250 && !policy.is_cpu_anchor);
    assert_true(policy_of(add(&speed, 0, 0, &loops)).is_cpu_anchor);
    assert_string_equal(policy_of(add(&speed, 1, 0, &fast)).xfail, "known");
    assert_false(policy_of(add(&untimed, 2, 0, &fast)).timed);
    assert_false(policy_of(add(&speed, 3, 0, &prints)).timed);
}

static void policy_of_the_suite_and_the_command_line(void **state)
{
    (void)state;
    struct kg_result *gpu = add(&other, 0, 0, &fast), *cpu = add(&other, 0, 0, &tiles);
    assert_true(policy_of(gpu).threshold_pct == 4);
    assert_true(policy_of(cpu).threshold_pct == 12);
    assert_true(policy_of(gpu).creep_pct == 1.5);
    assert_string_equal(contract_of(gpu).timer, "event");
    assert_string_equal(contract_of(gpu).l2, "cold");
    assert_true(contract_of(gpu).window_us == 0); /* one call, no window */
    options.timing = (struct kg_timing_overrides){ KG_TIMER_GRAPH, KG_L2_WARM, 0, 3, 7.5 };
    options.rounds = 5;
    options.no_time = true;
    struct kg_policy policy = policy_of(gpu);
    assert_true(policy.threshold_pct == 7.5 && policy.max_blocks == 5 && !policy.timed);
    assert_true(policy_of(cpu).threshold_pct == 7.5);
    assert_string_equal(contract_of(gpu).timer, "graph");
    assert_string_equal(contract_of(gpu).l2, "warm");
}

/* What selfcheck found of this case on this machine; of another case or contract it says nothing. */
static void a_floor_of_this_machine(void **state)
{
    struct kg_floor floor = { .key = "speed/a/fast", .uuid = "GPU-1", .driver = "580", .n_blocks = 9 };
    (void)state;
    struct kg_result *r = add(&speed, 0, 0, &fast), *beside = add(&speed, 0, 0, &plain);
    snprintf(session.device.driver, sizeof session.device.driver, "580");
    floor.contract = contract_of(r);
    session.floors = (struct kg_floors){ .items = &floor, .count = 1 };
    assert_ptr_equal(kg_session_expectation(&session, r).floor, &floor);
    snprintf(r->identity, sizeof r->identity, "code of today");
    assert_null(kg_session_expectation(&session, r).floor);
    kg_floor_code(r->identity, floor.code);
    assert_ptr_equal(kg_session_expectation(&session, r).floor, &floor);
    assert_null(kg_session_expectation(&session, beside).floor);
    options.timing.l2 = KG_L2_COLD;
    kg_session_resolve_policy(&session, r);
    assert_null(kg_session_expectation(&session, r).floor);
}

/* ---- what is refused once the plan is known ------------------------------------------------------------------- */

static int check_again(kg_error *error)
{
    for (size_t i = 0; i < session.n_results; i++)
        kg_session_resolve_policy(&session, &results[i]);
    return kg_session_check(&session, error);
}

static void thresholds_under_the_floor(void **state)
{
    static struct kg_golden golden = { .key = "speed/a/fast", .quantity = KG_QUANTITY_RAW };
    static const struct kg_module other_build = { .name = "old" };
    struct kg_floor floor = { .key = "speed/a/fast", .uuid = "GPU-1", .n_blocks = 9, .floor_pct = { 2.5, 0, 0.25 } };
    kg_error error = { 0 };
    (void)state;
    struct kg_result *r = add(&speed, 0, 0, &fast);
    add(&speed, 0, 0, &plain);
    floor.contract = contract_of(r);
    session.floors = (struct kg_floors){ .items = &floor, .count = 1 };
    assert_int_equal(check_again(&error), KG_OK); /* the suite's 2% */
    options.timing.threshold_pct = 2;
    assert_int_equal(check_again(&error), KG_OK); /* no golden: nothing is judged */
    session.goldens.items = &golden;
    session.goldens.count = 1;
    assert_int_equal(check_again(&error), KG_EINVAL);
    assert_string_equal(error.text, "--threshold 2 is under the noise floor of speed/a/s0/fast on this machine: 2.5% "
                                    "(kgate selfcheck)");
    options.timing.threshold_pct = 2.5;
    assert_int_equal(check_again(&error), KG_OK);
    session.baseline.root = &other_build;
    options.timing.threshold_pct = 0.25;
    assert_int_equal(check_again(&error), KG_OK);
    options.timing.threshold_pct = 0.2;
    assert_int_equal(check_again(&error), KG_EINVAL);
    r->outcome = KG_ABSENT;
    assert_int_equal(check_again(&error), KG_OK);
    r->outcome = KG_RAN;
    options.no_time = true;
    assert_int_equal(check_again(&error), KG_OK);
}

static void timing_of_a_suite(void **state)
{
    (void)state;
    struct kg_result *gpu = add(&speed, 0, 0, &fast), *event = add(&other, 0, 0, &fast);
    struct kg_policy policy = policy_of(gpu);
    assert_true(policy.timer == KG_TIMER_GRAPH && policy.l2 == KG_L2_WARM && policy.warmup == 200);
    assert_true(policy.samples == 500 && policy.window_us == 200 && policy.sets == 32);
    assert_true(policy.arm_us >= 100 * policy.window_us); /* enough windows for a median */
    policy = policy_of(add(&speed, 0, 0, &tiles));
    assert_true(policy.window_us == 250 && policy.sets == 4 && policy.arm_us >= 100 * policy.window_us);
    policy = policy_of(event);
    assert_true(policy.timer == KG_TIMER_EVENT && policy.l2 == KG_L2_COLD && policy.warmup == 7 && policy.samples == 9);
    options.timing = (struct kg_timing_overrides){ -1, -1, 0, 3, -1 };
    policy = policy_of(event);
    assert_true(policy.warmup == 0 && policy.samples == 3 && policy.timer == KG_TIMER_EVENT);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, session_new, session_free)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(the_first_seed_is_timed_for_all),
        TEST(third_seeds_refer_to_the_first),
        TEST(one_wrong_seed_stops_the_clock),
        TEST(what_counts_as_wrong),
        TEST(skipped_cases_are_left_alone),
        TEST(a_skipped_seed_is_not_a_wrong_one),
        TEST(shapes_do_not_mix),
        TEST(every_seed_where_asked_for),
        TEST(nothing_where_time_is_off),
        TEST(rounds_shuffle_but_keep_shapes_together),
        TEST(the_seed_makes_the_order),
        TEST(a_timed_case_takes_what_ran),
        TEST(correctness_takes_all_that_can_run),
        TEST(some_are_called_again),
        TEST(a_job_takes_the_runs_settings),
        TEST(a_job_against_has_both_builds),
        TEST(a_policy_against_is_the_baselines),
        TEST(policy_by_default),
        TEST(a_floor_of_this_machine),
        TEST(thresholds_under_the_floor),
        TEST(policy_of_the_suite_and_the_command_line),
        TEST(timing_of_a_suite),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
