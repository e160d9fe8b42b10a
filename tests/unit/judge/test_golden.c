/* test_golden.c -- goldens from results, their set, and their files: what is refused, and that a failed save harms
 * nothing. `edits` holds one damaged file a row, made from a good one by one replacement. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <math.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "base/lock.h"
#include "judge/golden.h"
#include "scratch.h"

#define assert_near(value, wanted) assert_true(fabs((value) - (wanted)) <= 1e-9 * fabs(wanted))

static const kg_backend math = { .name = "math", .device = KG_CUDA },
                        cpu_math = { .name = "cpu_math", .device = KG_CPU };
static const kg_suite suite = { .name = "suite", .anchor = &math, .cpu_anchor = &cpu_math };
static const struct kg_contract contract = { "graph", "warm", 200, "irwin-hall-8" };
static const struct kg_provenance provenance = {
    .git_sha = "0123456789abcdef0123456789abcdef01234567",
    .branch = "main",
    .date = "2025-01-02T03:04:05Z",
    .reason = "first \"golden\"",
    .device = "NVIDIA H200",
    .uuid = "GPU-1",
    .driver = "580.1",
    .cuda = "13.0",
};

/* ---- from a result --------------------------------------------------------------------------------------------- */

static struct kg_result *result_new(enum kg_device_kind kind, int n_blocks, const double *p50s_us, const double *ratios)
{
    struct kg_result *result = calloc(1, sizeof *result);
    assert_non_null(result);
    (void)strcpy(result->id, "suite/shape/s0/fast");
    (void)strcpy(result->identity, "code 1");
    (void)strcpy(result->anchor_identity, "code 2");
    (void)strcpy(result->pin, "engine 8");
    result->of = (struct kg_case){ .suite = &suite, .kind = kind };
    result->compared = true;
    result->marks = (struct kg_gate_marks){ true, true, true, true, true, true, true, true };
    result->n_blocks = n_blocks;
    for (int i = 0; i < n_blocks; i++) {
        result->blocks[i].p50_us = p50s_us[i];
        if (ratios) {
            result->blocks[i].anchor_p50_us = p50s_us[i] / ratios[i];
            result->blocks[i].log_ratio = log(ratios[i]);
        }
    }
    return result;
}

/* Takes the result. */
static int bless(struct kg_result *result, struct kg_golden *ret_golden, kg_error *ret_error)
{
    int status = kg_golden_of_result(result, "suite/shape/fast", &contract, &provenance, ret_golden, ret_error);
    free(result);
    return status;
}

static double deviation_pct(double a, double b, double c)
{
    double x = log(a), y = log(b), z = log(c), mean = (x + y + z) / 3;
    return 100 * sqrt(((x - mean) * (x - mean) + (y - mean) * (y - mean) + (z - mean) * (z - mean)) / 2);
}

static void golden_of_a_steady_result(void **state)
{
    (void)state;
    struct kg_golden golden;
    assert_int_equal(
        bless(result_new(KG_CUDA, 3, (double[]){ 25, 24, 25.2 }, (double[]){ 0.5, 0.501, 0.5 }), &golden, NULL), 0);
    assert_string_equal(golden.key, "suite/shape/fast");
    assert_string_equal(golden.identity, "code 1");
    assert_string_equal(golden.pin, "engine 8");
    assert_near(golden.p50_us, 25.0);
    assert_int_equal(golden.n_blocks, 3);
    assert_near(golden.blocks_us[1], 24.0);
    assert_string_equal(golden.anchor, "math");
    assert_string_equal(golden.anchor_identity, "code 2");
    assert_near(golden.anchor_p50_us, 50.0); /* of 50, 47.9, 50.4 */
    assert_near(golden.blocks_ratio[1], 0.501);
    assert_int_equal(golden.quantity, KG_QUANTITY_RATIO);
    assert_near(golden.floor_pct, 2 * deviation_pct(0.5, 0.501, 0.5));
    assert_near(golden.best.p50_us, 25.0);
    assert_string_equal(golden.best.git_sha, provenance.git_sha);
    assert_string_equal(golden.best.date, provenance.date);
    assert_string_equal(golden.best.uuid, "GPU-1");
    assert_near(golden.best.ratio, 0.5); /* of 0.5, 0.501, 0.5 */
    assert_string_equal(golden.best.anchor, "math");
    assert_string_equal(golden.best.anchor_identity, "code 2");
    assert_string_equal(golden.provenance.reason, provenance.reason);
    assert_true(kg_contract_same(&golden.contract, &contract));
}

struct sized {
    const char *name;
    int64_t n;
};
static const kg_field sized_fields[] = { { .name = "n", .offset = offsetof(struct sized, n), .type = KG_INT } };
static double sized_flops(const void *problem)
{
    return 2.0 * (double)((const struct sized *)problem)->n;
}
static const kg_op sized_op = {
    .name = "op", .fields = KG_LIST(sized_fields), .flops = sized_flops, .bytes = sized_flops
};
static const kg_suite sized_suite = { .name = "suite", .op = &sized_op };

/* What it was the time of. */
static void golden_knows_its_work(void **state)
{
    const struct kg_work work = { .flops = 16384, .bytes = 16384, .tensors = 7, .seed = 42, .rms = 0.0200001 },
                         less = { .flops = 1024, .bytes = 1024 };
    const struct sized problem = { "row", 8192 }, smaller = { "row", 512 };
    struct kg_golden golden;
    char what[200];
    (void)state;
    struct kg_result *result = result_new(KG_CUDA, 3, (double[]){ 25, 25, 25 }, NULL);
    result->of.suite = &sized_suite;
    result->of.problem = &problem;
    result->work = work;
    result->launch = (struct kg_launch_info){
        .given = 9, .kernels = 1, .n_launched = 1, .launched = { { "k", { 64, 1, 1 }, { 128, 1, 1 }, { 0 }, 1024, 0 } }
    };
    result->of.seed = 42;
    result->comparison.expected_rms = 0.02;
    (void)strcpy(result->knobs, "tile=64");
    result->n_compiled = 2;
    result->compiled[0] = (kg_compiled){ .compiler = "NVRTC 13.0", .registers = 168, .spill_store_bytes = 8 };
    result->compiled[1] = (kg_compiled){ .compiler = "NVRTC 13.0", .registers = 32, .spill_load_bytes = 12 };
    assert_int_equal(bless(result, &golden, NULL), 0);
    assert_string_equal(golden.problem, "n=8192");
    assert_true(golden.flops == 16384 && golden.bytes == 16384);
    assert_string_equal(golden.launch, "grid 64 block 128 shared 1024; given 00000009");
    assert_string_equal(golden.knobs, "tile=64");
    assert_string_equal(golden.compiler, "NVRTC 13.0");
    assert_true(golden.registers == 168 && golden.spill_bytes == 20);
    assert_true(kg_golden_is_of(&golden, &sized_op, &problem, &work, what, sizeof what));
    assert_string_equal(what, "");
    assert_false(kg_golden_is_of(&golden, &sized_op, &smaller, &less, what, sizeof what));
    assert_string_equal(what, "problem: n=8192 -> n=512; flops: 16384 -> 1024; bytes: 16384 -> 1024");
    assert_true(golden.tensors == 7 && golden.given == 9);
    assert_string_equal(golden.answer, "seed 42 rms 0.02");
    const struct kg_work half = { .flops = 16384, .bytes = 16384, .tensors = 7, .seed = 42, .rms = 0.0283 },
                         other_seed = { .flops = 16384, .bytes = 16384, .tensors = 7, .seed = 43, .rms = 0.0283 };
    assert_false(kg_golden_is_of(&golden, &sized_op, &problem, &half, what, sizeof what));
    assert_string_equal(what, "the reference's output: rms 0.02 -> 0.0283");
    assert_true(kg_golden_is_of(&golden, &sized_op, &problem, &other_seed, what, sizeof what));
    const struct kg_work others = { .flops = 16384, .bytes = 16384, .tensors = 8, .given = 10 };
    assert_false(kg_golden_is_of(&golden, &sized_op, &problem, &others, what, sizeof what));
    assert_string_equal(what, "tensors: others; given inputs: others");
    golden.problem[0] = '\0';
    assert_true(kg_golden_is_of(&golden, &sized_op, &smaller, &less, what, sizeof what));
}

static void steadier_quantity_judges(void **state)
{
    (void)state;
    struct kg_golden golden;
    assert_int_equal(
        bless(result_new(KG_CUDA, 3, (double[]){ 25, 25, 25 }, (double[]){ 0.5, 0.51, 0.5 }), &golden, NULL), 0);
    assert_int_equal(golden.quantity, KG_QUANTITY_RAW);
    assert_near(golden.floor_pct, 0.05);
    assert_int_equal(
        bless(result_new(KG_CPU, 3, (double[]){ 25, 25, 25 }, (double[]){ 0.5, 0.51, 0.5 }), &golden, NULL), 0);
    assert_int_equal(golden.quantity, KG_QUANTITY_RATIO); /* a CPU's time travels badly */
    assert_string_equal(golden.anchor, "cpu_math");
    assert_near(golden.floor_pct, 2 * deviation_pct(0.5, 0.51, 0.5));
    assert_int_equal(bless(result_new(KG_CPU, 3, (double[]){ 25, 25, 25 }, (double[]){ 0.5, 0.5, 0.5 }), &golden, NULL),
                     0);
    assert_near(golden.floor_pct, 1.0);
    assert_int_equal(bless(result_new(KG_CUDA, 3, (double[]){ 25, 25, 25.1 }, NULL), &golden, NULL), 0);
    assert_int_equal(golden.quantity, KG_QUANTITY_RAW);
    assert_string_equal(golden.anchor, "");
    assert_string_equal(golden.best.anchor, "");
    assert_true(golden.best.ratio == 0);
}

static void refuses_what_cannot_be_blessed(void **state)
{
    (void)state;
    const double steady[] = { 25, 25, 25 }, wild[] = { 25, 26.1, 27.3 };
    struct kg_golden golden = { .key = "untouched" };
    kg_error error = { 0 };
    struct kg_result *result;
    assert_int_equal(bless(result_new(KG_CUDA, 2, steady, NULL), &golden, &error), KG_EINVAL);
    assert_string_equal(error.text, "suite/shape/s0/fast: 2 blocks, a golden needs 3");
    assert_int_equal(bless(result_new(KG_CUDA, 3, wild, NULL), &golden, &error), KG_EINVAL);
    assert_string_equal(error.text, "suite/shape/s0/fast: blocks are unsteady, standard deviation 4.4% is over 3% "
                                    "(p50 in us: 25 26.1 27.3)");
    assert_int_equal(bless(result_new(KG_CPU, 3, steady, (double[]){ 1, 1.3, 1 }), &golden, &error), KG_EINVAL);
    assert_string_equal(error.text, "suite/shape/s0/fast: blocks are unsteady, standard deviation 15.1% is over 10% "
                                    "(ratio to the anchor: 1 1.3 1)");
    (result = result_new(KG_CUDA, 3, steady, NULL))->marks.bad_pct = false;
    assert_int_equal(bless(result, &golden, &error), KG_EINVAL);
    (result = result_new(KG_CUDA, 3, steady, NULL))->compared = false;
    assert_int_equal(bless(result, &golden, &error), KG_EINVAL);
    (result = result_new(KG_CUDA, 3, steady, NULL))->outcome = KG_BROKEN;
    assert_int_equal(bless(result, &golden, &error), KG_EINVAL);
    (result = result_new(KG_CUDA, 3, steady, NULL))->impossible = true;
    assert_int_equal(bless(result, &golden, &error), KG_EINVAL);
    const double unusable[] = { 0, -1, NAN, INFINITY };
    for (int i = 0; i < 4; i++) {
        (result = result_new(KG_CUDA, 3, steady, NULL))->blocks[1].p50_us = unusable[i];
        assert_int_equal(bless(result, &golden, &error), KG_EINVAL);
        assert_string_equal(error.text, "suite/shape/s0/fast: block 2 has no usable time");
    }
    assert_string_equal(golden.key, "untouched");
}

/* What ratios share is no noise: wild times beside as wild an anchor are steady. */
static void unsteady_times_with_steady_ratio_pass(void **state)
{
    (void)state;
    struct kg_golden golden;
    assert_int_equal(
        bless(result_new(KG_CUDA, 3, (double[]){ 25, 30, 35 }, (double[]){ 0.5, 0.5, 0.501 }), &golden, NULL), 0);
    assert_int_equal(golden.quantity, KG_QUANTITY_RATIO);
}

/* ---- the set --------------------------------------------------------------------------------------------------- */

static struct kg_golden golden_of(const char *key, double p50_us)
{
    struct kg_golden golden = {
        .p50_us = p50_us,
        .n_blocks = 3,
        .blocks_us = { p50_us * 1.001, p50_us * 0.999, p50_us },
        .anchor = "math",
        .anchor_identity = "math of 1/3",
        .anchor_p50_us = p50_us * 3,
        .blocks_ratio = { 1. / 3, 0.334, 0.333 },
        .quantity = KG_QUANTITY_RATIO,
        .floor_pct = 0.123456789,
        .best = { p50_us, "0123456789", "2025-01-01", "GPU-1", 0.333, "math", "math of 1/3" },
        .contract = contract,
        .identity = "cuDNN 9.19\nengine 8",
        .pin = "p",
        .problem = "n=8192,dtype=f16",
        .flops = 8192 * 8192.,
        .bytes = 16385,
        .launch = "grid 64 block 128 shared 1024",
        .knobs = "tile=64",
        .provenance = provenance,
    };
    (void)snprintf(golden.key, sizeof golden.key, "%s", key);
    return golden;
}

static void put(struct kg_goldens *goldens, const char *key, double p50_us)
{
    struct kg_golden golden = golden_of(key, p50_us);
    assert_int_equal(kg_goldens_put(goldens, &golden, false, NULL), 0);
}

static void set_is_sorted(void **state)
{
    (void)state;
    struct kg_goldens goldens = { .arch = "h200" };
    assert_null(kg_goldens_find(&goldens, "a"));
    put(&goldens, "m", 1);
    put(&goldens, "z", 2);
    put(&goldens, "a", 3);
    put(&goldens, "m", 4);
    assert_int_equal(goldens.count, 3);
    assert_string_equal(goldens.items[0].key, "a");
    assert_string_equal(goldens.items[1].key, "m");
    assert_string_equal(goldens.items[2].key, "z");
    assert_near(kg_goldens_find(&goldens, "m")->p50_us, 4.0);
    assert_null(kg_goldens_find(&goldens, "n"));
    assert_null(kg_goldens_find(&goldens, "zz"));
    assert_int_equal(kg_goldens_remove(&goldens, "b"), KG_ENOTFOUND);
    assert_int_equal(kg_goldens_remove(&goldens, "m"), 0);
    assert_int_equal(goldens.count, 2);
    assert_null(kg_goldens_find(&goldens, "m"));
    assert_non_null(kg_goldens_find(&goldens, "z"));
    kg_goldens_done(&goldens);
    kg_goldens_done(&goldens);
    kg_goldens_done(NULL);
}

/* Eight blesses, each 4% slower than the last, do not move `best`. */
static void best_is_kept(void **state)
{
    (void)state;
    struct kg_goldens goldens = { .arch = "h200" };
    put(&goldens, "k", 10);
    for (int i = 1; i <= 8; i++)
        put(&goldens, "k", 10 * pow(1.04, i));
    assert_near(goldens.items[0].best.p50_us, 10.0);
    assert_near(goldens.items[0].p50_us, 10 * pow(1.04, 8));
    put(&goldens, "k", 9);
    assert_near(goldens.items[0].best.p50_us, 9.0);

    struct kg_golden golden = golden_of("k", 12);
    assert_int_equal(kg_goldens_put(&goldens, &golden, true, NULL), 0);
    assert_near(goldens.items[0].best.p50_us, 12.0);
    put(&goldens, "k", 11);
    golden = golden_of("k", 12);
    (void)strcpy(golden.contract.l2, "cold"); /* not comparable */
    assert_int_equal(kg_goldens_put(&goldens, &golden, false, NULL), 0);
    assert_near(goldens.items[0].best.p50_us, 12.0);
    kg_goldens_done(&goldens);
}

/* As a bless on this card makes it. */
static struct kg_golden golden_on(const char *uuid, double p50_us, double ratio)
{
    struct kg_golden golden = golden_of("k", p50_us);
    (void)snprintf(golden.provenance.uuid, sizeof golden.provenance.uuid, "%s", uuid);
    for (int i = 0; i < golden.n_blocks; i++)
        golden.blocks_ratio[i] = ratio;
    golden.best = kg_golden_as_best(&golden);
    return golden;
}

/* Puts it, and checks what became of the best. */
static void fate_is(struct kg_goldens *goldens, const struct kg_golden *golden, bool reset_best, enum kg_best_fate fate,
                    double best_us)
{
    assert_int_equal(kg_golden_best_fate(&goldens->items[0], golden, reset_best), fate);
    assert_int_equal(kg_goldens_put(goldens, golden, reset_best, NULL), 0);
    assert_near(goldens->items[0].p50_us, golden->p50_us);
    assert_near(goldens->items[0].best.p50_us, best_us);
}

/* The second card is 8% faster at everything. */
static void best_outlives_a_bless_on_another_card(void **state)
{
    (void)state;
    struct kg_goldens goldens = { .arch = "h200" };
    struct kg_golden golden = golden_on("GPU-1", 25, 0.5);
    assert_int_equal(kg_goldens_put(&goldens, &golden, false, NULL), 0);
    golden = golden_on("GPU-2", 23.46, 0.51); /* 2% slower for that card */
    fate_is(&goldens, &golden, false, KG_BEST_KEPT, 25);
    assert_string_equal(goldens.items[0].best.uuid, "GPU-1");
    assert_near(goldens.items[0].best.ratio, 0.5);
    golden = golden_on("GPU-1", 25.5, 0.49); /* on the best's card the time tells */
    fate_is(&goldens, &golden, false, KG_BEST_KEPT, 25);
    golden = golden_on("GPU-3", 27, 0.49); /* faster, beside a slower anchor */
    fate_is(&goldens, &golden, false, KG_BEST_BEATEN, 27);
    assert_string_equal(goldens.items[0].best.uuid, "GPU-3");
    golden = golden_on("GPU-1", 25, 0.49); /* as fast */
    fate_is(&goldens, &golden, false, KG_BEST_BEATEN, 25);
    golden = golden_on("GPU-2", 30, 0.6);
    fate_is(&goldens, &golden, true, KG_BEST_RESET, 30);
    golden = golden_on("GPU-2", 29, 0.6);
    fate_is(&goldens, &golden, true, KG_BEST_BEATEN, 29);
    golden = golden_on("GPU-1", 31, 0.61);
    (void)strcpy(golden.contract.l2, "cold");
    fate_is(&goldens, &golden, false, KG_BEST_STALE, 31);
    kg_goldens_done(&goldens);
}

static void best_of_other_work_is_forgotten(void **state)
{
    (void)state;
    for (int what = 0; what < 4; what++) {
        struct kg_goldens goldens = { .arch = "h200" };
        struct kg_golden golden = golden_on("GPU-1", 25, 0.5), other = golden_on("GPU-1", 26, 0.5);
        assert_int_equal(kg_goldens_put(&goldens, &golden, false, NULL), 0);
        if (what == 0)
            (void)strcpy(other.problem, "n=512,dtype=f16");
        if (what == 1)
            other.flops *= 2;
        if (what == 2)
            other.bytes *= 2;
        if (what == 3)
            goldens.items[0].problem[0] = '\0'; /* not known: it may be the same */
        fate_is(&goldens, &other, false, what == 3 ? KG_BEST_KEPT : KG_BEST_OTHER, what == 3 ? 25 : 26);
        kg_goldens_done(&goldens);
    }
}

/* Without two ratios to one anchor nothing tells which of two cards' is faster: the old one stays until it is reset. */
static void best_that_cannot_be_compared_stays(void **state)
{
    (void)state;
    for (int what = 0; what < 4; what++) {
        struct kg_goldens goldens = { .arch = "h200" };
        struct kg_golden golden = golden_on("GPU-1", 25, 0.5);
        assert_int_equal(kg_goldens_put(&goldens, &golden, false, NULL), 0);
        struct kg_golden other = golden_on("GPU-2", 20, 0.4);
        if (what == 0)
            (void)strcpy(other.anchor, "flash");
        if (what == 1)
            (void)strcpy(other.anchor_identity, "math of 1/4");
        if (what == 2)
            other.anchor[0] = 0;
        other.best = kg_golden_as_best(&other);
        if (what == 3)
            goldens.items[0].best.ratio = 0;
        fate_is(&goldens, &other, false, KG_BEST_APART, 25);
        golden = golden_on("GPU-1", 26, 0.5); /* back on its card it is compared as ever */
        fate_is(&goldens, &golden, false, KG_BEST_KEPT, 25);
        fate_is(&goldens, &other, true, KG_BEST_RESET, 20);
        kg_goldens_done(&goldens);
    }
}

static void contracts_differ_in_any_member(void **state)
{
    (void)state;
    struct kg_contract other = contract;
    other.window_us = 200 * (1 + 1e-7); /* as a file rounds */
    assert_true(kg_contract_same(&contract, &other));
    other.window_us = 201;
    assert_false(kg_contract_same(&contract, &other));
    other.window_us = NAN;
    assert_false(kg_contract_same(&contract, &other));
    other = contract, (void)strcpy(other.timer, "event");
    assert_false(kg_contract_same(&contract, &other));
    other = contract, (void)strcpy(other.l2, "cold");
    assert_false(kg_contract_same(&contract, &other));
    other = contract, (void)strcpy(other.data, "zeros");
    assert_false(kg_contract_same(&contract, &other));
}

/* ---- files ----------------------------------------------------------------------------------------------------- */

static int folder_new(void **state)
{
    *state = malloc(SCRATCH_SIZE);
    scratch_new(*state);
    return 0;
}

static int folder_free(void **state)
{
    (void)umount2(*state, MNT_DETACH); /* where a test failed while it was mounted */
    scratch_free(*state);
    free(*state);
    return 0;
}

static void save_two(const char *folder)
{
    struct kg_goldens goldens = { .arch = "h200" };
    put(&goldens, "suite/b/fast", 123.456789);
    put(&goldens, "suite/a/fast", 1. / 3);
    kg_error error = { 0 };
    if (kg_goldens_save(&goldens, folder, &error) < 0)
        fail_msg("%s", error.text);
    kg_goldens_done(&goldens);
}

static void missing_is_empty(void **state)
{
    char path[2 * SCRATCH_SIZE];
    struct kg_goldens goldens;
    assert_int_equal(kg_goldens_load(*state, "h200", &goldens, NULL), 0);
    assert_false(goldens.exists);
    assert_int_equal(goldens.count, 0);
    (void)snprintf(path, sizeof path, "%s/none", (char *)*state);
    assert_int_equal(kg_goldens_load(path, "h200", &goldens, NULL), 0);
    assert_false(goldens.exists);
    (void)snprintf(path, sizeof path, "%s/none/expectations_h200.json", (char *)*state);
    assert_string_equal(goldens.path, path);
}

/* What save_two wrote, but for what five digits lose. */
static void is_the_second(const struct kg_golden *golden)
{
    const struct kg_golden made = golden_of("suite/b/fast", 123.457);
    assert_near(golden->p50_us, 123.46);
    assert_near(golden->floor_pct, 0.12346);
    assert_int_equal(golden->n_blocks, 3);
    assert_near(golden->blocks_us[1], 123.33);
    assert_near(golden->blocks_ratio[0], 0.33333);
    assert_int_equal(golden->quantity, KG_QUANTITY_RATIO);
    assert_string_equal(golden->anchor, "math");
    assert_string_equal(golden->anchor_identity, "math of 1/3");
    assert_string_equal(golden->identity, made.identity);
    assert_string_equal(golden->best.git_sha, "0123456789");
    assert_string_equal(golden->best.uuid, "GPU-1");
    assert_near(golden->best.ratio, 0.333);
    assert_string_equal(golden->best.anchor, "math");
    assert_string_equal(golden->best.anchor_identity, "math of 1/3");
    assert_true(kg_contract_same(&golden->contract, &contract));
    assert_memory_equal(&golden->provenance, &provenance, sizeof provenance);
    assert_string_equal(golden->pin, made.pin);
    assert_string_equal(golden->problem, made.problem);
    assert_true(golden->flops == made.flops && golden->bytes == made.bytes);
    assert_string_equal(golden->launch, made.launch);
    assert_string_equal(golden->knobs, made.knobs);
}

static void round_trip_is_byte_identical(void **state)
{
    char folder[2 * SCRATCH_SIZE];
    (void)snprintf(folder, sizeof folder, "%s/made", (char *)*state); /* made by the first save */
    save_two(folder);
    char *first = scratch_read(folder, "expectations_h200.json");
    struct kg_goldens goldens;
    kg_error error = { 0 };
    if (kg_goldens_load(folder, "h200", &goldens, &error) < 0)
        fail_msg("%s", error.text);
    assert_true(goldens.exists);
    assert_int_equal(goldens.count, 2);
    is_the_second(kg_goldens_find(&goldens, "suite/b/fast"));
    assert_int_equal(kg_goldens_save(&goldens, folder, NULL), 0);
    char *second = scratch_read(folder, "expectations_h200.json");
    assert_string_equal(first, second);
    int lines = 0;
    for (char *c = first; *c; c++)
        lines += *c == '\n';
    /* { schema arch cases, one a case, ] }; eight tables of one entry, but for the bests, which are two */
    assert_int_equal(lines, 8 + 8 * 3 + 1);
    free(first);
    free(second);
    kg_goldens_done(&goldens);
}

static void set_without_cases_and_case_without_anchor(void **state)
{
    struct kg_goldens goldens = { .arch = "l4" };
    assert_int_equal(kg_goldens_save(&goldens, *state, NULL), 0);
    assert_int_equal(kg_goldens_load(*state, "l4", &goldens, NULL), 0);
    assert_true(goldens.exists);
    assert_int_equal(goldens.count, 0);

    struct kg_golden golden = golden_of("s/k/b", 5);
    golden.anchor[0] = 0;
    golden.quantity = KG_QUANTITY_RAW;
    golden.best = kg_golden_as_best(&golden);
    assert_int_equal(kg_goldens_put(&goldens, &golden, false, NULL), 0);
    assert_int_equal(kg_goldens_save(&goldens, *state, NULL), 0);
    kg_goldens_done(&goldens);
    assert_int_equal(kg_goldens_load(*state, "l4", &goldens, NULL), 0);
    assert_string_equal(goldens.items[0].anchor, "");
    assert_int_equal(goldens.items[0].quantity, KG_QUANTITY_RAW);
    assert_true(goldens.items[0].best.ratio == 0);
    assert_string_equal(goldens.items[0].best.anchor, "");
    kg_goldens_done(&goldens);
}

/* Only a golden of what was compiled at run time says so. */
static void what_was_compiled_is_in_a_file(void **state)
{
    struct kg_goldens goldens = { .arch = "h200" };
    save_two(*state);
    char *without = scratch_read(*state, "expectations_h200.json");
    assert_null(strstr(without, "compiler"));
    free(without);
    struct kg_golden golden = golden_of("s/k/b", 5);
    (void)strcpy(golden.compiler, "NVRTC 13.0");
    golden.registers = 168; /* and no spills, which is said */
    assert_int_equal(kg_goldens_put(&goldens, &golden, false, NULL), 0);
    assert_int_equal(kg_goldens_save(&goldens, *state, NULL), 0);
    kg_goldens_done(&goldens);
    char *with = scratch_read(*state, "expectations_h200.json");
    assert_non_null(strstr(with, ",\"compiler\":\"NVRTC 13.0\",\"registers\":168,\"spill_bytes\":0}"));
    free(with);
    assert_int_equal(kg_goldens_load(*state, "h200", &goldens, NULL), 0);
    assert_string_equal(goldens.items[0].compiler, "NVRTC 13.0");
    assert_true(goldens.items[0].registers == 168 && goldens.items[0].spill_bytes == 0);
    kg_goldens_done(&goldens);
}

static void threshold_is_in_a_file(void **state)
{
    struct kg_goldens goldens = { .arch = "h200" };
    struct kg_golden golden = golden_of("s/k/b", 5);
    assert_false(kg_golden_holds_threshold(&golden, 2)); /* it knows none */
    assert_true(kg_golden_creep_pct(&golden, 50) == 5 && kg_golden_creep_pct(&golden, 3) == 3);
    golden.threshold = (struct kg_threshold){ .pct = 1.5, .from = "table" };
    (void)strcpy(golden.creep, "7.5");
    assert_int_equal(kg_goldens_put(&goldens, &golden, false, NULL), 0);
    assert_int_equal(kg_goldens_save(&goldens, *state, NULL), 0);
    kg_goldens_done(&goldens);
    assert_int_equal(kg_goldens_load(*state, "h200", &goldens, NULL), 0);
    struct kg_golden *read = &goldens.items[0];
    assert_true(read->threshold.pct == 1.5);
    assert_string_equal(read->threshold.from, "table");
    assert_true(kg_golden_holds_threshold(read, 2)); /* the table is milder by now */
    assert_true(kg_golden_creep_pct(read, 50) == 7.5 && kg_golden_creep_pct(read, 6) == 6);
    assert_false(kg_golden_holds_threshold(read, 1.5));
    assert_false(kg_golden_holds_threshold(read, 1));
    (void)strcpy(read->threshold.reason, "given");
    assert_true(kg_golden_holds_threshold(read, 1));
    kg_goldens_done(&goldens);
}

/* Only a golden of a case that was expected to fail somewhere says so. */
static void expected_failures_are_in_a_file(void **state)
{
    struct kg_goldens goldens = { .arch = "h200" };
    struct kg_golden golden = golden_of("s/k/b", 5);
    (void)strcpy(golden.xfails, "huge,sink");
    assert_int_equal(kg_goldens_put(&goldens, &golden, false, NULL), 0);
    golden = golden_of("s/k/c", 5);
    assert_int_equal(kg_goldens_put(&goldens, &golden, false, NULL), 0);
    assert_int_equal(kg_goldens_save(&goldens, *state, NULL), 0);
    kg_goldens_done(&goldens);
    char *text = scratch_read(*state, "expectations_h200.json");
    const char *first = strstr(text, ",\"xfails\":\"huge,sink\",");
    assert_non_null(first);
    assert_null(strstr(first + strlen(",\"xfails"), "xfails"));
    free(text);
    assert_int_equal(kg_goldens_load(*state, "h200", &goldens, NULL), 0);
    assert_string_equal(goldens.items[0].xfails, "huge,sink");
    assert_string_equal(goldens.items[1].xfails, "");
    kg_goldens_done(&goldens);
}

/* A golden with the best of another card: its time may be over p50_us, its ratio may not be over the golden's. */
static void best_of_another_card_in_a_file(void **state)
{
    struct kg_goldens goldens = { .arch = "h200" };
    kg_error error = { 0 };
    struct kg_golden golden = golden_on("GPU-2", 5, 0.5);
    (void)strcpy(golden.key, "s/k/b");
    golden.best = (struct kg_best){ 6, "0123456789", "2025-01-01", "GPU-1", 0.49, "math", "math of 1/3" };
    assert_int_equal(kg_goldens_put(&goldens, &golden, false, NULL), 0);
    assert_int_equal(kg_goldens_save(&goldens, *state, NULL), 0);
    kg_goldens_done(&goldens);
    if (kg_goldens_load(*state, "h200", &goldens, &error) < 0)
        fail_msg("%s", error.text);
    assert_near(goldens.items[0].best.p50_us, 6.0);
    assert_string_equal(goldens.items[0].best.uuid, "GPU-1");
    goldens.items[0].best.ratio = 0.51;
    assert_int_equal(kg_goldens_save(&goldens, *state, NULL), 0);
    struct kg_goldens again;
    assert_int_equal(kg_goldens_load(*state, "h200", &again, &error), KG_EINVAL);
    assert_non_null(strstr(error.text, "s/k/b: best of another card has a ratio of 0.51, over the golden's 0.5"));
    (void)strcpy(goldens.items[0].best.anchor_identity, "math of 1/4"); /* then they do not compare */
    assert_int_equal(kg_goldens_save(&goldens, *state, NULL), 0);
    assert_int_equal(kg_goldens_load(*state, "h200", &again, &error), 0);
    kg_goldens_done(&again);
    kg_goldens_done(&goldens);
}

#define HEAD_OF_1                                                                                                      \
    "\"p50_us\":25,\"floor_pct\":0.2,\"identity\":\"code 1\",\"pin\":\"\",\"judge\":\"raw\",\"blocks_us\":[25,24,26]," \
    "\"blocks_ratio\":[0.5,0.51,0.52],\"anchor\":{\"name\":\"math\",\"identity\":\"code 2\",\"p50_us\":50},"
#define TAIL_OF_1                                                                                                      \
    ",\"contract\":{\"timer\":\"graph\",\"l2\":\"warm\",\"window_us\":200,\"data\":\"irwin-hall-8\"},\"provenance\":{" \
    "\"git_sha\":\"01\",\"branch\":\"\",\"dirty\":false,\"date\":\"2025-01-02\",\"reason\":\"r\",\"device\":\"d\","    \
    "\"uuid\":\"GPU-1\",\"driver\":\"\",\"cuda\":\"\"}}"

/* As schema 1 wrote it: one case that is its own best, one whose best is an older one. */
static void schema_1_is_read(void **state)
{
    static const char file[] = "{\n\"schema\": 1,\n\"arch\": \"h200\",\n\"cases\": [\n"
                               "{\"key\":\"s/a/b\"," HEAD_OF_1 "\"best\":{\"p50_us\":25,\"git_sha\":\"01\","
                               "\"date\":\"2025-01-02\"}" TAIL_OF_1 ",\n"
                               "{\"key\":\"s/c/b\"," HEAD_OF_1 "\"best\":{\"p50_us\":24,\"git_sha\":\"00\","
                               "\"date\":\"2025-01-01\"}" TAIL_OF_1 "\n]\n}\n";
    struct kg_goldens goldens;
    kg_error error = { 0 };
    scratch_write(*state, "expectations_h200.json", file);
    for (int pass = 0; pass < 2; pass++) { /* the second: as this kgate writes it */
        if (kg_goldens_load(*state, "h200", &goldens, &error) < 0)
            fail_msg("%s", error.text);
        const struct kg_best *own = &goldens.items[0].best, *older = &goldens.items[1].best;
        assert_string_equal(own->uuid, "GPU-1");
        assert_near(own->ratio, 0.51);
        assert_string_equal(own->anchor, "math");
        assert_string_equal(own->anchor_identity, "code 2");
        assert_near(older->p50_us, 24.0);
        assert_string_equal(older->git_sha, "00");
        assert_string_equal(older->uuid, "GPU-1");
        assert_true(older->ratio == 0);
        assert_string_equal(older->anchor, "");
        assert_int_equal(kg_goldens_save(&goldens, *state, NULL), 0);
        kg_goldens_done(&goldens);
    }
    char *text = scratch_read(*state, "expectations_h200.json");
    assert_non_null(strstr(text, "\"schema\": 3"));
    free(text);
}

/* Older files do not know what was timed; what they say is all there, and is not known in the new file either. */
static void schema_2_is_read(void **state)
{
    static const char file[] = "{\n\"schema\": 2,\n\"arch\": \"h200\",\n\"cases\": [\n"
                               "{\"key\":\"s/a/b\"," HEAD_OF_1 "\"best\":{\"p50_us\":24,\"git_sha\":\"00\","
                               "\"date\":\"2025-01-01\",\"uuid\":\"GPU-2\",\"ratio\":0.5,\"anchor\":\"math\","
                               "\"anchor_identity\":\"code 2\"}" TAIL_OF_1 "\n]\n}\n";
    struct kg_goldens goldens;
    kg_error error = { 0 };
    scratch_write(*state, "expectations_h200.json", file);
    for (int pass = 0; pass < 2; pass++) {
        if (kg_goldens_load(*state, "h200", &goldens, &error) < 0)
            fail_msg("%s", error.text);
        const struct kg_golden *golden = &goldens.items[0];
        assert_string_equal(golden->identity, "code 1");
        assert_string_equal(golden->anchor_identity, "code 2");
        assert_near(golden->anchor_p50_us, 50.0);
        assert_near(golden->blocks_ratio[2], 0.52);
        assert_string_equal(golden->best.uuid, "GPU-2");
        assert_near(golden->best.ratio, 0.5);
        assert_string_equal(golden->provenance.device, "d");
        assert_true(kg_contract_same(&golden->contract, &contract));
        assert_string_equal(golden->problem, "");
        assert_string_equal(golden->launch, "");
        assert_int_equal(kg_goldens_save(&goldens, *state, NULL), 0);
        kg_goldens_done(&goldens);
    }
    char *text = scratch_read(*state, "expectations_h200.json");
    assert_null(strstr(text, "problem"));
    assert_null(strstr(text, "knobs"));
    free(text);
}

/* What two branches add to a file leaves each line that was there as it was, but for the comma at a list's end. */
static void lines_outlive_what_others_add(void **state)
{
    struct kg_goldens goldens = { .arch = "h200" };
    for (int i = 0; i < 20; i++) {
        char key[32];
        (void)snprintf(key, sizeof key, "suite/k%02d/fast", 2 * i + 1);
        struct kg_golden golden = golden_of(key, 10 + i);
        (void)snprintf(golden.identity, sizeof golden.identity, "code %d", i);
        assert_int_equal(kg_goldens_put(&goldens, &golden, false, NULL), 0);
    }
    assert_int_equal(kg_goldens_save(&goldens, *state, NULL), 0);
    char *before = scratch_read(*state, "expectations_h200.json");
    for (int i = 0; i < 20; i += 3) {
        char key[32];
        (void)snprintf(key, sizeof key, "suite/k%02d/fast", 2 * i);
        struct kg_golden golden = golden_of(key, 100 + i);
        (void)snprintf(golden.identity, sizeof golden.identity, "another %d", i);
        (void)snprintf(golden.launch, sizeof golden.launch, "grid %d block 32", i);
        (void)snprintf(golden.provenance.reason, sizeof golden.provenance.reason, "reason %d", i);
        assert_int_equal(kg_goldens_put(&goldens, &golden, false, NULL), 0);
    }
    assert_int_equal(kg_goldens_save(&goldens, *state, NULL), 0);
    char *after = scratch_read(*state, "expectations_h200.json");
    for (char *line = strtok(before, "\n"); line; line = strtok(NULL, "\n")) {
        line[strlen(line) - (line[strlen(line) - 1] == ',')] = '\0';
        if (!strstr(after, line))
            fail_msg("this line is gone: %s", line);
    }
    /* Taken out again, nothing of them is left. */
    for (size_t i = goldens.count; i-- > 0;)
        if (goldens.items[i].p50_us >= 100)
            assert_int_equal(kg_goldens_remove(&goldens, goldens.items[i].key), 0);
    assert_int_equal(kg_goldens_save(&goldens, *state, NULL), 0);
    free(before), free(after);
    before = scratch_read(*state, "expectations_h200.json");
    assert_null(strstr(before, "another"));
    assert_null(strstr(before, "reason "));
    free(before);
    kg_goldens_done(&goldens);
}

#define CASE_P50 "fast\",\"p50_us\":0.33333"

/* The first case is suite/a/fast. Each row replaces the first place where `from` stands. */
static const struct edit {
    const char *from, *to, *message; /* message: after the path */
} edits[] = {
    { "\"schema\": 3", "\"schema\": 4", ": schema 4, this kgate reads 1 to 3" },
    { "\"schema\": 3", "\"schema\": 1.5", ": schema 1.5, this kgate reads 1 to 3" },
    { "\"schema\": 3", "\"schema\": 2", ": unknown member 'anchors'" },
    { "\"schema\": 3", "\"schema\": \"3\"", ": member 'schema' is not a number" },
    { "\"schema\": 3,", "", ": member 'schema' is missing" },
    { "\"h200\"", "\"b200\"", ": holds arch 'b200', not that of its name" },
    { "\"cases\"", "\"Cases\"", ": member 'cases' is missing or not an array" },
    { "\"schema\": 3,", "\"schema\": 3, \"extra\": 1,", ": unknown member 'extra'" },
    { "\"schema\": 3,", "\"schema\": 3, \"extra\": {},", ": unknown member 'extra'" },
    { "\n]\n}\n", "\n]\n}\nx", ": line 34: text after the end of the value" },
    { "fast\",\"p50_us\":0.33333", "fast\",\"p50_us\":1e999", ": line 30: number that is not finite" },
    { "{\"key\"", "{\"setup\":\"\",\"key\"", ": line 30: duplicate member 'setup'" },
    { "suite/a/fast", "suite/c/fast", ": case 2, suite/b/fast: not sorted by key" },
    { "suite/a/fast", "suite/b/fast", ": case 2, suite/b/fast: repeated" },
    { "suite/a/fast", "", ": case 1, : member 'key' is empty" },
    { "\"suite/a/fast\"", "7", ": case 1, without a key: member 'key' is not a string" },
    { CASE_P50, "fast\",\"p50_us\":0", ": case 1, suite/a/fast: member 'p50_us' is not over 0" },
    { CASE_P50, "fast\",\"p50_us\":-1", ": case 1, suite/a/fast: member 'p50_us' is not over 0" },
    { CASE_P50, "fast\",\"p50_us\":\"fast\"", ": case 1, suite/a/fast: member 'p50_us' is not a number" },
    { CASE_P50, "fast\",\"mean_us\":0.33333", ": case 1, suite/a/fast: unknown member 'mean_us'" },
    { CASE_P50, "fast\",\"p50_us\":0.34",
      ": case 1, suite/a/fast: p50_us 0.34 is not the median of blocks_us, 0.33333" },
    { "\"judge\":\"ratio\"", "\"judge\":\"mean\"", ": case 1, suite/a/fast: member 'judge' is neither raw nor ratio" },
    { "\"judge\":\"ratio\",", "", ": case 1, suite/a/fast: member 'judge' is missing" },
    { "\"blocks_us\":[", "\"blocks_us\":[0,",
      ": case 1, suite/a/fast: value 1 of member 'blocks_us' is not a number over 0" },
    { "\"blocks_us\":[", "\"blocks_us\":[null,",
      ": case 1, suite/a/fast: value 1 of member 'blocks_us' is not a number over 0" },
    { "\"blocks_us\":[0.33367,0.333,0.33333]", "\"blocks_us\":[0.33367,0.333,0.333]",
      ": case 1, suite/a/fast: p50_us 0.33333 is not the median of blocks_us, 0.333" },
    { "\"blocks_us\":[", "\"blocks_us\":[0.33333,0.33333,",
      ": case 1, suite/a/fast: member 'blocks_ratio' has 3 values, not 5" },
    { "\"blocks_us\":[0.33367,0.333,0.33333]", "\"blocks_us\":[0.333,0.33333]",
      ": case 1, suite/a/fast: member 'blocks_us' has 2 values, not 3 to 32" },
    { "\"blocks_us\":[", "\"blocks_us\":[1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,",
      ": case 1, suite/a/fast: member 'blocks_us' has 33 values, not 3 to 32" },
    { "\"blocks_us\":[0.33367,0.333,0.33333]", "\"blocks_us\":{}",
      ": case 1, suite/a/fast: member 'blocks_us' is missing or not an array" },
    { "\"floor_pct\":0.12346", "\"floor_pct\":0", ": case 1, suite/a/fast: member 'floor_pct' is not over 0" },
    { "\"cases\": [\n", "\"cases\": [\n1,", ": case 1, without a key: not an object" },
    /* the anchor: what a case and its setup have of it */
    { "\"blocks_ratio\":[0.33333,0.334,0.333],", "",
      ": case 1, suite/a/fast: member 'blocks_ratio' is missing or not an array" },
    { ",\"anchor_us\":1", "", ": case 1, suite/a/fast: member 'anchor_us' is missing" },
    { "\"blocks_ratio\":[0.33333,0.334,0.333],\"anchor_us\":1,", "",
      ": case 1, suite/a/fast: only one of blocks_ratio and the setup's anchor is there" },
    { "\"tile=64\",\"anchor\":\"e671fa\"", "\"tile=64\"",
      ": case 1, suite/a/fast: only one of blocks_ratio and the setup's anchor is there" },
    { "\"name\":\"math\"", "\"speed\":1,\"name\":\"math\"",
      ": case 1, suite/a/fast: in 'setup': unknown member 'speed' in 'anchor'" },
    { "\"name\":\"math\"", "\"name\":\"\"", ": case 1, suite/a/fast: in 'setup': in 'anchor': member 'name' is empty" },
    /* tables */
    { "\"cards\": {", "\"Cards\": {", ": unknown member 'Cards'" },
    { "\"cards\": {", "\"cards\": {},\n\"cards\": {", ": line 12: duplicate member 'cards'" },
    { "\"anchors\": {\n", "\"anchors\": [], \"codes\": {\n", ": line 14: duplicate member 'codes'" },
    { "\"cards\": {\n\"4b9687\":{\"device\":\"NVIDIA "
      "H200\",\"uuid\":\"GPU-1\",\"driver\":\"580.1\",\"cuda\":\"13.0\"}\n}",
      "\"cards\": [ ]", ": member 'cards' is not an object" },
    { "\"776251\"", "\"ffffff\"", ": 'bests': entry 'f0d5f4' is not sorted by key" },
    { "\"776251\"", "\"f0d5f4\"", ": line 9: duplicate member 'f0d5f4'" },
    { "\"setup\":\"d9ddeb\"", "\"setup\":\"d9ddec\"",
      ": case 1, suite/a/fast: member 'setup' is 'd9ddec', which is not in 'setups'" },
    { "\"setup\":\"d9ddeb\"", "\"creep\":\"two\",\"setup\":\"d9ddeb\"",
      ": case 1, suite/a/fast: creep is not a positive number: two" },
    { "\"setup\":\"d9ddeb\"", "\"setup\":{}", ": case 1, suite/a/fast: member 'setup' is missing or not a string" },
    { "\"setup\":\"d9ddeb\",", "", ": case 1, suite/a/fast: member 'setup' is missing or not a string" },
    { "\"card\":\"4b9687\"", "\"card\":\"\"",
      ": case 1, suite/a/fast: in 'provenance': member 'card' is '', which is not in 'cards'" },
    { "\"d9ddeb\":{", "\"d9ddeb\":0,\"d9ddec\":{",
      ": case 1, suite/a/fast: member 'setup' is missing or not an object" },
    { "\"timer\":\"graph\"", "\"timer\":\"a clock of too long a name\"",
      ": case 1, suite/a/fast: in 'setup': in 'contract': member 'timer' is longer than 15 bytes" },
    { "\"window_us\":200", "\"window_us\":-200",
      ": case 1, suite/a/fast: in 'setup': in 'contract': member 'window_us' is negative" },
    { "\"dirty\":false", "\"dirty\":0",
      ": case 1, suite/a/fast: in 'provenance': member 'dirty' is not true or false" },
    { "\"provenance\":\"0", "\"Provenance\":\"0", ": case 1, suite/a/fast: unknown member 'Provenance'" },
    /* the work */
    { "\"fields\":\"n=8192,dtype=f16\"", "\"fields\":\"\"",
      ": case 1, suite/a/fast: in 'problem': member 'fields' is empty" },
    { "\"flops\":67108864", "\"flops\":-1", ": case 1, suite/a/fast: in 'problem': member 'flops' is negative" },
    { "\"bytes\":16385", "\"bits\":8", ": case 1, suite/a/fast: unknown member 'bits' in 'problem'" },
    { "\"launch\":\"grid 64 block 128 shared 1024\",", "",
      ": case 1, suite/a/fast: in 'setup': member 'launch' is missing" },
    { ",\"knobs\":\"tile=64\"", "", ": case 1, suite/a/fast: in 'setup': member 'knobs' is missing" },
    /* the best */
    { "{\"p50_us\":0.33333", "{\"p50_us\":0.4",
      ": case 1, suite/a/fast: best of 0.4 us is slower than p50_us 0.33333" },
    { "{\"p50_us\":0.33333,", "{", ": case 1, suite/a/fast: in 'best': member 'p50_us' is missing" },
    { "\"uuid\":\"GPU-1\",\"anchor\"", "\"anchor\"", ": case 1, suite/a/fast: in 'best': member 'uuid' is missing" },
    { "\"ratio\":0.333,", "\"ratio\":-1,", ": case 1, suite/a/fast: in 'best': member 'ratio' is negative" },
    { "\"ratio\":0.333,", "\"ratio\":0,", ": case 1, suite/a/fast: best has only one of ratio and anchor" },
    { ",\"anchor\":\"e671fa\"", "", ": case 1, suite/a/fast: best has only one of ratio and anchor" },
};

static void damaged_files_are_refused(void **state)
{
    char path[2 * SCRATCH_SIZE], wanted[3 * SCRATCH_SIZE], damaged[1 << 14];
    const char *folder = *state;
    save_two(folder);
    char *good = scratch_read(folder, "expectations_h200.json");
    (void)snprintf(path, sizeof path, "%s/expectations_h200.json", folder);
    for (size_t i = 0; i < sizeof edits / sizeof *edits; i++) {
        const char *at = strstr(good, edits[i].from);
        if (!at)
            fail_msg("edit %zu: nothing to replace", i);
        (void)snprintf(damaged, sizeof damaged, "%.*s%s%s", (int)(at - good), good, edits[i].to,
                       at + strlen(edits[i].from));
        scratch_write(folder, "expectations_h200.json", damaged);
        struct kg_goldens goldens = { .count = 77 };
        kg_error error = { 0 };
        /* a corrupt file of another architecture stops the run too */
        int status = kg_goldens_load(folder, i % 2 ? "h200" : "b200", &goldens, &error);
        (void)snprintf(wanted, sizeof wanted, "%s%s", path, edits[i].message);
        if (status != KG_EINVAL || goldens.count != 77)
            fail_msg("edit %zu accepted: %s", i, edits[i].to);
        assert_string_equal(error.text, wanted);
    }
    free(good);
}

/* Every cut of a file is refused, the whole one apart. */
static void cut_files_are_refused(void **state)
{
    struct kg_goldens goldens;
    save_two(*state);
    char *text = scratch_read(*state, "expectations_h200.json");
    size_t length = strlen(text);
    for (size_t cut = length - 2; cut > 0; cut -= cut < 40 ? 1 : 37) {
        text[cut] = 0;
        scratch_write(*state, "expectations_h200.json", text);
        assert_int_equal(kg_goldens_load(*state, "h200", &goldens, NULL), KG_EINVAL);
    }
    free(text);
}

static void other_files_are_left_alone(void **state)
{
    struct kg_goldens goldens;
    save_two(*state);
    scratch_write(*state, "README", "not JSON");
    scratch_write(*state, ".expectations_h200.new", "left by a killed bless");
    scratch_write(*state, "expectations_b200.json~", "an editor's");
    assert_int_equal(kg_goldens_load(*state, "b200", &goldens, NULL), 0);
    assert_false(goldens.exists);
    assert_int_equal(goldens.count, 0);
    save_two(*state);
    assert_null(scratch_read(*state, ".expectations_h200.new"));
}

static void all_files_in_one_reading(void **state)
{
    char folder[2 * SCRATCH_SIZE];
    struct kg_goldens *sets = NULL, l4 = { .arch = "l4" };
    size_t count = 9;
    kg_error error = { 0 };
    assert_int_equal(kg_goldens_load_all(*state, &sets, &count, NULL), 0);
    assert_int_equal(count, 0);
    kg_goldens_free_all(sets, count);
    (void)snprintf(folder, sizeof folder, "%s/none", (char *)*state);
    assert_int_equal(kg_goldens_load_all(folder, &sets, &count, NULL), 0);
    assert_int_equal(count, 0);
    kg_goldens_free_all(sets, count);

    save_two(*state);
    put(&l4, "suite/c/fast", 7);
    assert_int_equal(kg_goldens_save(&l4, *state, NULL), 0);
    kg_goldens_done(&l4);
    assert_int_equal(kg_goldens_load_all(*state, &sets, &count, NULL), 0);
    assert_int_equal(count, 2);
    assert_string_equal(sets[0].arch, "h200");
    assert_int_equal(sets[0].count, 2);
    assert_string_equal(sets[1].arch, "l4");
    assert_string_equal(sets[1].items[0].key, "suite/c/fast");
    kg_goldens_free_all(sets, count);

    scratch_write(*state, "expectations_m.json", "{"); /* whoever's it is */
    sets = NULL;
    assert_int_equal(kg_goldens_load_all(*state, &sets, &count, &error), KG_EINVAL);
    assert_non_null(strstr(error.text, "expectations_m.json: line 1"));
    assert_null(sets);
}

/* ---- saving fails ---------------------------------------------------------------------------------------------- */

static void save_fails(const char *folder, int n_cases, kg_error *ret_error)
{
    struct kg_goldens goldens = { .arch = "h200" };
    char key[32];
    for (int i = 0; i < n_cases; i++) {
        (void)snprintf(key, sizeof key, "suite/%02d/fast", i);
        put(&goldens, key, 10);
    }
    assert_int_equal(kg_goldens_save(&goldens, folder, ret_error), KG_EIO);
    kg_goldens_done(&goldens);
}

static void old_file_is_whole(const char *folder, const char *before)
{
    char *after = scratch_read(folder, "expectations_h200.json");
    assert_string_equal(before, after);
    assert_null(scratch_read(folder, ".expectations_h200.new"));
    free(after);
}

/* One case fails when the buffer is flushed at the end, eighty when it overflows on the way. */
static void file_too_large_leaves_the_old_one(void **state)
{
    static const struct {
        int n_cases;
        rlim_t bytes;
    } rooms[] = { { 1, 100 }, { 80, 10000 } };
    save_two(*state);
    char *before = scratch_read(*state, "expectations_h200.json");
    void (*handler)(int) = signal(SIGXFSZ, SIG_IGN);
    for (int i = 0; i < 2; i++) {
        kg_error error = { 0 };
        struct rlimit limit, small;
        assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
        small = (struct rlimit){ .rlim_cur = rooms[i].bytes, .rlim_max = limit.rlim_max };
        assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
        save_fails(*state, rooms[i].n_cases, &error);
        assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
        assert_non_null(strstr(error.text, "expectations_h200.json cannot be written: File too large"));
        old_file_is_whole(*state, before);
    }
    (void)signal(SIGXFSZ, handler);
    free(before);
}

/* Needs the right to mount; without it the test above stands alone. */
static void full_disk_leaves_the_old_file(void **state)
{
    kg_error error = { 0 };
    if (mount("tmpfs", *state, "tmpfs", 0, "size=16k") < 0) {
        print_message("not run: no tmpfs can be mounted here (%s)\n", strerror(errno));
        return;
    }
    save_two(*state);
    char *before = scratch_read(*state, "expectations_h200.json");
    save_fails(*state, 80, &error);
    old_file_is_whole(*state, before);
    free(before);
    assert_int_equal(umount(*state), 0);
    assert_non_null(strstr(error.text, "No space left on device"));
}

static void unwritable_places_are_named(void **state)
{
    char path[2 * SCRATCH_SIZE];
    kg_error error = { 0 };
    struct kg_goldens goldens = { .arch = "h200" };
    (void)snprintf(path, sizeof path, "%s/no/such/folder", (char *)*state);
    assert_int_equal(kg_goldens_save(&goldens, path, &error), KG_EIO);
    assert_non_null(strstr(error.text, "/no/such/folder: No such file"));
    scratch_write(*state, "file", "");
    (void)snprintf(path, sizeof path, "%s/file", (char *)*state);
    assert_int_equal(kg_goldens_save(&goldens, path, &error), KG_EIO);
    assert_int_equal(kg_goldens_load(path, "h200", &goldens, &error), KG_EIO);

    (void)snprintf(path, sizeof path, "%s/expectations_h200.json", (char *)*state); /* rename cannot replace a folder */
    assert_int_equal(mkdir(path, 0777), 0);
    assert_int_equal(kg_goldens_save(&goldens, *state, &error), KG_EIO);
    assert_null(scratch_read(*state, ".expectations_h200.new"));
}

/* ---- the lock -------------------------------------------------------------------------------------------------- */

/* Twenty blesses at a time of one file: with the lock each one's case is there in the end. */
static void concurrent_blesses_lose_nothing(void **state)
{
    enum { WRITERS = 20 };
    pid_t children[WRITERS];
    for (int i = 0; i < WRITERS; i++) {
        children[i] = fork();
        assert_true(children[i] >= 0);
        if (children[i] > 0)
            continue;
        struct kg_goldens goldens;
        struct kg_golden golden = golden_of("s/k/b", 5);
        int lock = -1;
        (void)snprintf(golden.key, sizeof golden.key, "s/case%02d/b", i);
        bool ok = kg_folder_lock(*state, &lock, NULL) == 0 && kg_goldens_load(*state, "h200", &goldens, NULL) == 0;
        (void)usleep(2000);
        ok = ok && kg_goldens_put(&goldens, &golden, false, NULL) == 0 && kg_goldens_save(&goldens, *state, NULL) == 0;
        kg_folder_unlock(lock);
        _exit(ok ? 0 : 1);
    }
    for (int i = 0; i < WRITERS; i++) {
        int status = -1;
        assert_int_equal(waitpid(children[i], &status, 0), children[i]);
        assert_int_equal(status, 0);
    }
    struct kg_goldens goldens;
    assert_int_equal(kg_goldens_load(*state, "h200", &goldens, NULL), 0);
    assert_int_equal(goldens.count, WRITERS);
    kg_goldens_done(&goldens);
}

static void lock_needs_a_folder_that_can_be_made(void **state)
{
    char path[2 * SCRATCH_SIZE];
    kg_error error = { 0 };
    int lock = 123;
    (void)snprintf(path, sizeof path, "%s/a/b", (char *)*state);
    assert_int_equal(kg_folder_lock(path, &lock, &error), KG_EIO);
    assert_int_equal(lock, 123);
    (void)snprintf(path, sizeof path, "%s/a", (char *)*state);
    assert_int_equal(kg_folder_lock(path, &lock, &error), 0);
    kg_folder_unlock(lock);
    kg_folder_unlock(-1);
}

#define in_folder(test) cmocka_unit_test_setup_teardown(test, folder_new, folder_free)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(golden_of_a_steady_result),
        cmocka_unit_test(golden_knows_its_work),
        cmocka_unit_test(steadier_quantity_judges),
        cmocka_unit_test(refuses_what_cannot_be_blessed),
        cmocka_unit_test(unsteady_times_with_steady_ratio_pass),
        cmocka_unit_test(set_is_sorted),
        cmocka_unit_test(best_is_kept),
        cmocka_unit_test(best_outlives_a_bless_on_another_card),
        cmocka_unit_test(best_of_other_work_is_forgotten),
        cmocka_unit_test(best_that_cannot_be_compared_stays),
        cmocka_unit_test(contracts_differ_in_any_member),
        in_folder(missing_is_empty),
        in_folder(round_trip_is_byte_identical),
        in_folder(set_without_cases_and_case_without_anchor),
        in_folder(what_was_compiled_is_in_a_file),
        in_folder(threshold_is_in_a_file),
        in_folder(expected_failures_are_in_a_file),
        in_folder(best_of_another_card_in_a_file),
        in_folder(schema_1_is_read),
        in_folder(schema_2_is_read),
        in_folder(lines_outlive_what_others_add),
        in_folder(damaged_files_are_refused),
        in_folder(cut_files_are_refused),
        in_folder(other_files_are_left_alone),
        in_folder(all_files_in_one_reading),
        in_folder(file_too_large_leaves_the_old_one),
        in_folder(full_disk_leaves_the_old_file),
        in_folder(unwritable_places_are_named),
        in_folder(concurrent_blesses_lose_nothing),
        in_folder(lock_needs_a_folder_that_can_be_made),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
