/* schedule.c -- picks and orders the cases of a round. Pure: workers are dispatch.c's. */
#include "run/schedule.h"

#include "base/random.h"

#define LARGE ((double)(1 << 30)) /* bytes of inputs and outputs */

struct kg_job kg_schedule_job(const struct kg_session *s)
{
    const struct kg_options *o = s->options;
    struct kg_job job = {
        .anchors = !s->baseline.root,
        .kind = s->device.kind,
        .device = s->device.index,
        .library_paths = o->library_paths,
        .n_library_paths = o->n_library_paths,
        .baseline_library_paths = o->baseline_library_paths,
        .n_baseline_library_paths = o->n_baseline_library_paths,
        .knobs = o->knobs,
        .n_knobs = o->n_knobs,
        .repeat = o->repeat,
        .timeout_s = o->case_timeout_s,
    };
    snprintf(job.module, sizeof job.module, "%s", s->module.path);
    snprintf(job.baseline, sizeof job.baseline, "%s", s->baseline.path);
    snprintf(job.module_stamps, sizeof job.module_stamps, "%s", s->module.stamps);
    snprintf(job.baseline_stamps, sizeof job.baseline_stamps, "%s", s->baseline.stamps);
    snprintf(job.cache, sizeof job.cache, "%s", s->cache);
    return job;
}

/* Under --against for both builds: the code is judged, not what the library happens to choose. */
static const char *golden_pin(const struct kg_session *s, const struct kg_result *result)
{
    const struct kg_golden *golden = kg_session_golden(s, result);
    return golden ? golden->pin : "";
}

/* What every job says of result `i`. */
static struct kg_job_case job_case(const struct kg_session *s, size_t i)
{
    const struct kg_result *r = &s->results[i];
    return (struct kg_job_case){ .index = i, .of = r->of, .is_new = r->is_new };
}

#define ASKED_AGAIN 8 /* shapes of a suite; of more, one of SELDOM: their references take as long again */
#define SELDOM 8

/* Of the first shape of a suite 0, of those behind it one more each. */
static size_t place_of_shape(const struct kg_session *s, size_t i, size_t place)
{
    const struct kg_case *of = &s->results[i].of, *last = i ? &s->results[i - 1].of : NULL;
    if (!last || last->suite != of->suite)
        return 0;
    return place + (last->shape_ordinal != of->shape_ordinal);
}

void kg_schedule_correctness(const struct kg_session *s, struct kg_job_case *room, struct kg_job *job)
{
    job->cases = room;
    job->n_cases = 0;
    job->round = 0;
    for (size_t i = 0, place = 0; i < s->n_results; i++) {
        const struct kg_result *r = &s->results[i];
        place = place_of_shape(s, i, place);
        if (r->outcome == KG_SKIPPED || r->outcome == KG_ABSENT)
            continue;
        struct kg_job_case *one = &room[job->n_cases++];
        *one = job_case(s, i);
        one->check = true;
        one->again = !r->of.policy.timed && !r->of.regime && (place < ASKED_AGAIN || place % SELDOM == 0);
        one->alone = r->work.bytes > LARGE;
        one->check_baseline = s->baseline.root && !r->is_new && !r->of.regime && !kg_result_is_timed(r);
        snprintf(one->pin, sizeof one->pin, "%s", golden_pin(s, r));
        snprintf(one->baseline_pin, sizeof one->baseline_pin, "%s", s->baseline.root ? one->pin : "");
    }
}

static bool right(const struct kg_result *r)
{
    return r->outcome == KG_RAN && r->compared && kg_gate_marks_all(r->marks);
}

static bool same_time(const struct kg_result *a, const struct kg_result *b)
{
    return a->of.suite == b->of.suite && a->of.shape_ordinal == b->of.shape_ordinal && a->of.backend == b->of.backend;
}

/* A regime that it must fail in says nothing of its time. */
static bool bars_time(const struct kg_result *r)
{
    return !right(r) && r->outcome != KG_SKIPPED && !(r->of.regime && r->of.policy.xfail);
}

/* Are `first` and all other seeds and regimes of it right? Those that were skipped do not count.
 * Results of one shape lie together. */
static bool all_seeds_right(const struct kg_session *s, size_t first)
{
    for (size_t i = first; i < s->n_results && s->results[i].of.shape_ordinal == s->results[first].of.shape_ordinal &&
                           s->results[i].of.suite == s->results[first].of.suite;
         i++)
        if (same_time(&s->results[i], &s->results[first]) && bars_time(&s->results[i]))
            return false;
    return true;
}

static void defer(struct kg_result *r, const struct kg_result *to, bool timed)
{
    r->outcome = KG_DEFERRED;
    if (timed)
        snprintf(r->note, sizeof r->note, "time: see %s", to->id);
    else
        snprintf(r->note, sizeof r->note, "not timed: another seed or regime of it is wrong");
}

void kg_schedule_choose_timed(struct kg_session *s, bool *ret_timed)
{
    for (size_t i = 0; i < s->n_results; i++)
        ret_timed[i] = false;
    for (size_t i = 0; i < s->n_results; i++) {
        struct kg_result *r = &s->results[i];
        bool first = true;
        if (!right(r) || !kg_result_is_timed(r))
            continue;
        if (s->options->time_every_seed) {
            ret_timed[i] = true;
            continue;
        }
        for (size_t j = i; j-- > 0 && first && s->results[j].of.shape_ordinal == r->of.shape_ordinal;) {
            if (same_time(&s->results[j], r) && s->results[j].outcome != KG_SKIPPED) {
                first = false;
                defer(r, &s->results[j], ret_timed[j] || s->results[j].outcome == KG_DEFERRED);
                if (s->results[j].outcome == KG_DEFERRED) /* j is not the first either: say what it says */
                    snprintf(r->note, sizeof r->note, "%s", s->results[j].note);
            }
        }
        if (first && all_seeds_right(s, i))
            ret_timed[i] = true;
        else if (first)
            defer(r, r, false);
    }
}

/* Shapes are shuffled as wholes, since their cases share a fixture; and the backends within one. */
static uint64_t order_key(const struct kg_session *s, const struct kg_job_case *one, int round, bool whole_shape)
{
    uint64_t seed = kg_mix64(s->run.shuffle_seed + (uint64_t)round * 0x9e3779b97f4a7c15u);
    return kg_mix64(seed + (whole_shape ? one->of.shape_ordinal + 1 : (one->index + 1) << 32));
}

static bool before(const struct kg_session *s, const struct kg_job_case *a, const struct kg_job_case *b, int round)
{
    uint64_t shape_a = order_key(s, a, round, true), shape_b = order_key(s, b, round, true);
    if (shape_a != shape_b)
        return shape_a < shape_b;
    return order_key(s, a, round, false) < order_key(s, b, round, false);
}

void kg_schedule_round(const struct kg_session *s, const bool *timed, int round, struct kg_job_case *room,
                       struct kg_job *job)
{
    job->cases = room;
    job->n_cases = 0;
    job->round = round;
    job->order_seed = kg_mix64(s->run.shuffle_seed ^ (uint64_t)round);
    for (size_t i = 0; i < s->n_results; i++) {
        const struct kg_result *r = &s->results[i];
        if (!timed[i])
            continue;
        struct kg_job_case one = job_case(s, i);
        one.time = true;
        one.digest = r->output_digest;
        one.other_digest = r->n_blocks ? r->blocks[0].other_digest : 0;
        snprintf(one.backend, sizeof one.backend, "%s", r->backend);
        snprintf(one.pin, sizeof one.pin, "%s", r->pin);
        snprintf(one.anchor_pin, sizeof one.anchor_pin, "%s", r->anchor_pin);
        snprintf(one.baseline_pin, sizeof one.baseline_pin, "%s",
                 *r->baseline_pin ? r->baseline_pin : golden_pin(s, r)); /* it is first prepared in the first round */
        size_t place = job->n_cases++;
        for (; place > 0 && before(s, &one, &room[place - 1], round); place--)
            room[place] = room[place - 1];
        room[place] = one;
    }
}
