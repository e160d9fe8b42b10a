/* repeat.c -- poison, disturb, launch, digest, over and over. A further condition is a name in the table and a branch
 * in launch(). */
#include "measure/repeat.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/format.h"
#include "base/random.h"
#include "base/text.h"
#include "measure/inputs.h"

#define LEAST_US 20.0 /* that other work is there: to start it takes time, too */
#define MOST_US 20000.0
#define NEWS_US 1e6

enum condition { ALONE, BESIDE, BEHIND, CONDITIONS };

static const char *const condition_names[][CONDITIONS] = {
    [KG_CPU] = { "alone", "beside busy threads", "on inputs written anew" },
    [KG_CUDA] = { "alone", "beside another kernel", "behind a slow producer of its inputs" },
};

struct repetition {
    const struct kg_repeat *asked;
    kg_context *context;
    struct kg_buffers first; /* the inputs, and the output that was checked */
    void *competing;         /* memory that other work reads and writes */
    double launch_us;        /* the shortest launch while it was alone */
    double news_us;          /* when it was last said that this goes on */
};

static int begin(struct repetition *r, kg_error *ret_error)
{
    const struct kg_device_ops *ops = r->context->ops;
    const struct kg_buffers *set = &r->asked->fixture->buffers;
    int status = kg_buffers_new(r->context, set->tensors, set->count, set->guards, &r->first, ret_error);
    for (int i = 0; i < set->count && !status; i++)
        status = ops->copy(r->context, r->first.tensors[i].data, set->tensors[i].data,
                           kg_tensor_bytes(&set->tensors[i]), ret_error);
    if (!status)
        status = ops->allocate(r->context, KG_COMPETING_BYTES, &r->competing, ret_error);
    if (!status)
        status = ops->paint(r->context, r->competing, KG_COMPETING_BYTES, 0, ret_error);
    return status ? status : ops->synchronize(r->context, ret_error);
}

static void end(struct repetition *r)
{
    if (r->competing)
        r->context->ops->release(r->context, r->competing);
    kg_buffers_done(&r->first);
}

/* ---- a launch --------------------------------------------------------------------------------------------------- */

/* All that comes before the launch is only enqueued. The launch may begin beside the last copy, of each input in turn.
 */
static int produce_inputs(struct repetition *r, int number, kg_error *ret_error)
{
    const struct kg_device_ops *ops = r->context->ops;
    const struct kg_buffers *set = &r->asked->fixture->buffers;
    int status = KG_OK;
    for (int i = 0; i < set->count && !status; i++)
        if (set->tensors[i].role == KG_INPUT)
            status =
                ops->paint(r->context, set->tensors[i].data, kg_tensor_bytes(&set->tensors[i]), KG_POISON, ret_error);
    for (int n = 0; n < set->count && !status; n++) {
        const int i = (number / CONDITIONS + n) % set->count;
        if (set->tensors[i].role == KG_INPUT)
            status = ops->copy_slowly(r->context, set->tensors[i].data, r->first.tensors[i].data,
                                      kg_tensor_bytes(&set->tensors[i]), ret_error);
    }
    return status;
}

static int launch_and_wait(struct repetition *r, enum condition condition, kg_error *ret_error)
{
    const struct kg_device_ops *ops = r->context->ops;
    const double began_us = 1e6 * kg_now_s();
    int status = kg_prepared_launch(r->asked->prepared, 0, ops->stream(r->context), ret_error);
    if (!status)
        status = ops->synchronize(r->context, ret_error);
    if (condition == ALONE)
        r->launch_us = fmin(r->launch_us, 1e6 * kg_now_s() - began_us);
    return status;
}

static int launch(struct repetition *r, int number, enum condition condition, kg_error *ret_error)
{
    const struct kg_device_ops *ops = r->context->ops;
    const double us = fmax(r->launch_us, LEAST_US);
    int status = kg_buffers_poison(&r->asked->fixture->buffers, ret_error);
    if (!status)
        status = kg_prepared_renew_workspace(r->asked->prepared, 0, r->context, ret_error);
    if (!status && condition == BEHIND)
        status = produce_inputs(r, number, ret_error);
    if (!status && condition == BESIDE)
        status = ops->compete(r->context, r->competing, us, kg_mix64((uint64_t)number), ret_error);
    if (status)
        return status;
    status = launch_and_wait(r, condition, ret_error);
    if (condition == BESIDE) {
        const int ended = ops->compete_end(r->context, status ? NULL : ret_error);
        status = status ? status : ended;
    }
    return status;
}

/* ---- other bits than the first output's ------------------------------------------------------------------------- */

struct difference {
    uint64_t elements, of;
    double largest;
};

static void add_difference(const float *first, const float *now, int64_t count, struct difference *all)
{
    for (int64_t i = 0; i < count; i++) {
        if (!memcmp(&first[i], &now[i], sizeof *now))
            continue;
        const double difference = fabs((double)now[i] - (double)first[i]);
        all->elements++;
        all->largest = fmax(all->largest, isnan(difference) ? INFINITY : difference);
    }
    all->of += (uint64_t)count;
}

static int find_difference(struct repetition *r, struct difference *all, kg_error *ret_error)
{
    const struct kg_buffers *set = &r->asked->fixture->buffers;
    int status = KG_OK;
    for (int i = 0; i < set->count && !status; i++) {
        const int64_t count = kg_tensor_count(&set->tensors[i]);
        if (set->tensors[i].role != KG_OUTPUT)
            continue;
        float *both = malloc(2 * (size_t)count * sizeof *both);
        if (!both)
            return kg_fail(ret_error, KG_ENOMEM, "no host memory for tensor %s", set->tensors[i].name);
        status = kg_tensor_read(r->context, &r->first.tensors[i], both, ret_error);
        if (!status)
            status = kg_tensor_read(r->context, &set->tensors[i], both + count, ret_error);
        if (!status)
            add_difference(both, both + count, count, all);
        free(both);
    }
    return status;
}

/* What the gates say of it decides for a backend that varies, and is told of any. */
static int judge_other_bits(struct repetition *r, int number, const char *condition, struct kg_repeats *repeats,
                            kg_error *ret_error)
{
    const struct kg_fixture *fixture = r->asked->fixture;
    struct kg_comparison comparison;
    struct difference other = { 0 };
    int status = kg_fixture_compare(r->asked->fixture, &fixture->buffers, &comparison, ret_error);
    if (status)
        return status;
    const bool right = kg_fixture_accepts(fixture, &comparison);
    repeats->other_bits++;
    if (right && r->asked->prepared->backend->varies)
        return KG_OK;
    status = find_difference(r, &other, ret_error);
    kg_text_add(repeats->wrong, sizeof repeats->wrong,
                "launch %d of %d, %s, gave other bits: %llu of %llu elements differ, max |difference| %s", number + 1,
                r->asked->launches, condition, (unsigned long long)other.elements, (unsigned long long)other.of,
                kg_format_number(other.largest).s);
    kg_text_add(repeats->wrong, sizeof repeats->wrong, "; by the gates it is %s, max_abs %s", right ? "right" : "wrong",
                kg_format_number(comparison.max_abs).s);
    return status;
}

/* ---- all of them ------------------------------------------------------------------------------------------------ */

static int repeat_once(struct repetition *r, int number, struct kg_repeats *repeats, kg_error *ret_error)
{
    const struct kg_fixture *fixture = r->asked->fixture;
    const enum condition condition = (enum condition)(number % CONDITIONS);
    uint64_t digest = 0;
    int status = launch(r, number, condition, ret_error);
    if (!status)
        status = kg_prepared_check_surroundings(r->asked->prepared, fixture, 0, "wrote into its inputs", ret_error);
    if (!status)
        status = kg_buffers_digest(&fixture->buffers, KG_OUTPUT, &digest, ret_error);
    repeats->launches++;
    if (status || digest == r->asked->digest)
        return status;
    return judge_other_bits(r, number, condition_names[r->context->device.kind][condition], repeats, ret_error);
}

static void say_alive(struct repetition *r)
{
    const double now = 1e6 * kg_now_s();
    if (!r->asked->alive || now - r->news_us < NEWS_US)
        return;
    r->asked->alive(r->asked->argument);
    r->news_us = now;
}

int kg_repeat_check(const struct kg_repeat *repeat, struct kg_repeats *ret_repeats, kg_error *ret_error)
{
    struct repetition r = {
        .asked = repeat, .context = repeat->fixture->context, .launch_us = MOST_US, .news_us = 1e6 * kg_now_s()
    };
    struct kg_repeats repeats = { 0 };
    int status = begin(&r, ret_error);
    for (int number = 0; number < repeat->launches && !status && !*repeats.wrong; number++) {
        status = repeat_once(&r, number, &repeats, ret_error);
        say_alive(&r);
    }
    end(&r);
    if (!status)
        *ret_repeats = repeats;
    return status;
}
