/* test_resources.c -- judging hand-made kernels, blocks that fit, short names, and the files. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
/* cmocka wants the three above first */
#include <cmocka.h>

#include "base/json.h"
#include "resources/resources.h"
#include "resources/resources_file.h"
#include "scratch.h"

/* 128 threads, 4 blocks of 128 registers a thread on sm_90a. */
static const kg_kernel usual = {
    .name = "_Z5plainv",
    .arch = "sm_90a",
    .code_hash = "0123456789abcdef",
    .compiler = "13.0.88",
    .notes = "",
    .registers = 120,
    .shared_bytes = 16384,
    .barriers = 1,
    .block_threads = 128,
    .tensor = { [KG_TENSOR_MMA] = 64, [KG_TENSOR_WGMMA] = 8 },
    .tensor_sass = 80,
};

static struct kg_resource judged(const kg_kernel *now, const kg_kernel *expected)
{
    struct kg_resource resource = { .now = now, .expected = expected };
    kg_resource_judge(&resource);
    return resource;
}

static void expect(const kg_kernel *now, const kg_kernel *expected, enum kg_verdict verdict, const char *reason)
{
    struct kg_resource resource = judged(now, expected);
    assert_string_equal(resource.reason, reason);
    assert_string_equal(kg_verdict_name(resource.verdict), kg_verdict_name(verdict));
}

static void test_same(void **state)
{
    (void)state;
    kg_kernel other = usual;
    expect(&usual, &usual, KG_PASS, "");
    other.code_hash = "1111111111111111";
    expect(&other, &usual, KG_PASS, "code changed");
}

static void test_new_and_gone(void **state)
{
    (void)state;
    expect(&usual, NULL, KG_UNGATED, "no expectation");
    expect(NULL, &usual, KG_LOST, "it was blessed, but the module has no such kernel (--bless --prune removes it)");
}

static void test_spills_and_stack(void **state)
{
    (void)state;
    kg_kernel worse = usual;
    worse.spill_store_bytes = 4;
    expect(&worse, &usual, KG_FAIL, "spill stores, bytes 0 -> 4");
    worse.spill_load_bytes = 8;
    expect(&worse, &usual, KG_FAIL, "spill stores, bytes 0 -> 4; spill loads, bytes 0 -> 8");
    expect(&usual, &worse, KG_PASS, "spill stores, bytes 4 -> 0; spill loads, bytes 8 -> 0");
    worse = usual;
    worse.stack_bytes = 16;
    expect(&worse, &usual, KG_FAIL, "stack, bytes 0 -> 16");
    worse = usual;
    worse.spill_load_bytes = 1;
    expect(&worse, &usual, KG_FAIL, "spill loads, bytes 0 -> 1");
}

static void test_registers_have_slack_up_to_a_block(void **state)
{
    (void)state;
    kg_kernel more = usual;
    more.registers = 128;
    expect(&more, &usual, KG_PASS, "registers 120 -> 128; 4 blocks fit a multiprocessor, as before");
    more.registers = 129;
    expect(&more, &usual, KG_FAIL, "registers 120 -> 129; 4 -> 3 blocks of 128 threads fit a multiprocessor");
    expect(&usual, &more, KG_PASS, "registers 129 -> 120; 3 -> 4 blocks of 128 threads fit a multiprocessor");
    /* Another block does not hide it: the expectation's is compared. */
    more.block_threads = 64;
    expect(&more, &usual, KG_FAIL,
           "registers 120 -> 129; threads of a block 128 -> 64; 4 -> 3 blocks of 128 threads fit a multiprocessor");
}

static void test_shared_memory_has_slack_up_to_a_block(void **state)
{
    (void)state;
    kg_kernel more = usual;
    more.shared_bytes = 40960;
    expect(&more, &usual, KG_PASS,
           "static shared memory, bytes 16384 -> 40960; 4 blocks fit a multiprocessor, as before");
    more.arch = "sm_89"; /* 100 KiB: two of 40 + 1 KiB */
    kg_kernel before = usual;
    before.arch = "sm_89";
    expect(&more, &before, KG_FAIL,
           "static shared memory, bytes 16384 -> 40960; 4 -> 2 blocks of 128 threads fit a multiprocessor");
}

static void test_tensor_instructions(void **state)
{
    (void)state;
    kg_kernel other = usual;
    other.tensor[KG_TENSOR_MMA] = 63;
    expect(&other, &usual, KG_FAIL, "mma.sync in the PTX 64 -> 63");
    other.tensor[KG_TENSOR_MMA] = 65;
    expect(&other, &usual, KG_PASS, "mma.sync in the PTX 64 -> 65");
    other = usual; /* of another family: not of the expected kind */
    other.tensor[KG_TENSOR_WGMMA] = 0;
    other.tensor[KG_TENSOR_WMMA] = 100;
    expect(&other, &usual, KG_FAIL, "wmma in the PTX 0 -> 100; wgmma in the PTX 8 -> 0");
    other = usual;
    other.tensor_sass = 79;
    expect(&other, &usual, KG_FAIL, "tensor-core instructions in the machine code 80 -> 79");
    other.tensor_sass = -1; /* no disassembler in either build: nothing to compare */
    expect(&other, &usual, KG_PASS, "");
    expect(&usual, &other, KG_PASS, "");
}

static void test_notes(void **state)
{
    (void)state;
    kg_kernel noted = usual, more = usual;
    noted.notes = "(C7510) Potential Performance Loss: wgmma serialized";
    more.notes = "Registers are spilled | (C7510) Potential Performance Loss: wgmma serialized";
    expect(&noted, &usual, KG_FAIL, "ptxas notes: (C7510) Potential Performance Loss: wgmma serialized");
    expect(&noted, &noted, KG_PASS, "");
    expect(&more, &noted, KG_FAIL, "ptxas notes: Registers are spilled");
    expect(&noted, &more, KG_PASS, "");
}

static void test_another_compiler_is_not_compared(void **state)
{
    (void)state;
    kg_kernel other = usual;
    other.compiler = "12.8.93";
    other.spill_store_bytes = 400;
    other.code_hash = "2222222222222222";
    struct kg_resource resource = judged(&other, &usual);
    assert_int_equal(resource.verdict, KG_UNGATED);
    assert_true(resource.other_compiler);
    assert_string_equal(resource.reason, "blessed with nvcc 13.0.88, this is nvcc 12.8.93");
    other.spill_store_bytes = 0;
    other.code_hash = usual.code_hash; /* the same machine code */
    expect(&other, &usual, KG_PASS, "");
}

/* As the occupancy calculator of CUDA has it. */
static void test_blocks(void **state)
{
    (void)state;
    static const struct {
        const char *arch;
        int registers, shared_bytes, threads, blocks;
    } rows[] = {
        { "sm_90a", 255, 0, 256, 1 },
        { "sm_90a", 168, 0, 384, 1 },
        { "sm_90a", 32, 0, 1024, 2 },
        { "sm_90a", 33, 0, 1024, 1 },
        { "sm_90a", 16, 0, 32, 32 },
        { "sm_86", 16, 0, 32, 16 },
        { "sm_89", 40, 0, 512, 3 },
        { "sm_80", 64, 0, 0, 8 },
        { "sm_100f", 64, 49152, 128, 4 },
        { "sm_120f", 64, 49152, 128, 2 },
        { "sm_90a", 134217728, 0, 128, 0 }, /* of 32 bits they leave nothing */
        { "sm_90a", 1000000000, 1000000000, 1000000000, 0 },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        kg_kernel kernel = { .arch = rows[i].arch,
                             .registers = rows[i].registers,
                             .shared_bytes = rows[i].shared_bytes,
                             .block_threads = rows[i].threads };
        assert_int_equal(kg_resource_blocks(&kernel), rows[i].blocks);
    }
}

static void test_short_names(void **state)
{
    (void)state;
    static const char *const names[][2] = {
        { "_Z12flash_kernelI6__half10flash_tileILi64ELi4ELb1ELin2EEEv10flash_args",
          "flash_kernel<__half,flash_tile<64,4,true,-2>>" },
        { "_Z14softmax_kernelIfLi32ELi8EEv12softmax_args", "softmax_kernel<float,32,8>" },
        { "_ZN3fp86linear5sliceEPf", "fp8::linear::slice" },
        { "_ZL9looked_upPf", "looked_up" },
        { "_Z4pickIL4kind1EEvv", "pick<1>" },
        { "_Z4manyIPKfEvT_", "many<...>" },
        { "_ZTV4odd", "_ZTV4odd" },
        { "plain", "plain" },
        { "_Z99short", "_Z99short" },
        { "", "" },
    };
    char name[200];
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        kg_resource_short_name(names[i][0], name, sizeof name);
        assert_string_equal(name, names[i][1]);
    }
    kg_resource_short_name(names[0][0], name, 8);
    assert_string_equal(name, "flash_k");
}

/* ---- files ----------------------------------------------------------------------------------------------------- */

static int folder_new(void **state)
{
    static char folder[SCRATCH_SIZE];
    scratch_new(folder);
    *state = folder;
    return 0;
}

static int folder_free(void **state)
{
    scratch_free(*state);
    return 0;
}

static struct kg_expected_kernel entry(const char *module, const char *name)
{
    struct kg_expected_kernel item = { module, usual, { .git_sha = "abc", .dirty = true, .reason = "why \"not\"" } };
    item.kernel.name = name;
    item.kernel.notes = "one | two \"quoted\"";
    return item;
}

static void save_two(const char *folder)
{
    struct kg_expected_kernels set = { .count = 0 };
    const struct kg_expected_kernel items[] = { entry("attention", "b"), entry("attention", "a"),
                                                entry("another", "z") };
    for (size_t i = 0; i < 3; i++)
        assert_int_equal(kg_resources_put(&set, &items[i], NULL), KG_OK);
    assert_int_equal(kg_resources_save(&set, folder, "sm_90a", NULL), KG_OK);
    kg_resources_done(&set);
}

static void test_round_trip(void **state)
{
    struct kg_expected_kernels set = { .count = 0 };
    save_two(*state);
    assert_int_equal(kg_resources_load(*state, &set, NULL), KG_OK);
    assert_int_equal(set.count, 3);
    assert_string_equal(set.items[0].module, "another");
    assert_string_equal(set.items[1].kernel.name, "a");
    const struct kg_expected_kernel wanted = entry("attention", "b");
    const struct kg_expected_kernel *found = kg_resources_find(&set, "attention", "sm_90a", "b");
    assert_non_null(found);
    assert_true(kg_resource_same(&found->kernel, &wanted.kernel));
    assert_string_equal(found->provenance.reason, wanted.provenance.reason);
    assert_true(found->provenance.dirty);
    assert_null(kg_resources_find(&set, "attention", "sm_80", "b"));
    kg_resources_remove(&set, found);
    assert_null(kg_resources_find(&set, "attention", "sm_90a", "b"));
    assert_int_equal(set.count, 2);
    kg_resources_done(&set);
}

static void test_no_folder_is_an_empty_set(void **state)
{
    struct kg_expected_kernels set = { .count = 7 };
    char path[2 * SCRATCH_SIZE];
    (void)snprintf(path, sizeof path, "%s/none", (const char *)*state);
    assert_int_equal(kg_resources_load(path, &set, NULL), KG_OK);
    assert_int_equal(set.count, 0);
}

/* Replaces the first `from` of the saved file by `to` and reads it. */
static void expect_refused(const char *folder, const char *from, const char *to, const char *why)
{
    struct kg_expected_kernels set;
    kg_error error = { 0 };
    char path[2 * SCRATCH_SIZE], text[8192], changed[9000];
    save_two(folder);
    (void)snprintf(path, sizeof path, "%s/resources_sm_90a.json", folder);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    text[fread(text, 1, sizeof text - 1, file)] = '\0';
    fclose(file);
    char *at = strstr(text, from);
    assert_non_null(at);
    (void)snprintf(changed, sizeof changed, "%.*s%s%s", (int)(at - text), text, to, at + strlen(from));
    scratch_write(folder, "resources_sm_90a.json", changed);
    assert_int_equal(kg_resources_load(folder, &set, &error), KG_EINVAL);
    if (!strstr(error.text, why))
        fail_msg("'%s' is not in '%s'", why, error.text);
    assert_non_null(strstr(error.text, "resources_sm_90a.json"));
}

static void test_files_are_read_strictly(void **state)
{
    const char *folder = *state;
    expect_refused(folder, "\"schema\": 1", "\"schema\": 2", "schema 2");
    expect_refused(folder, "sm_90a\"", "sm_80\"", "not that of its name");
    expect_refused(folder, "\"registers\":120", "\"registers\":-1", "kernel 1: member 'registers'");
    expect_refused(folder, "\"registers\":120", "\"registers\":1.5", "'registers'");
    expect_refused(folder, "\"registers\":120,", "", "'registers'");
    expect_refused(folder, "\"registers\":120", "\"registers\":120,\"more\":1", "kernel 1: unknown member 'more'");
    expect_refused(folder, "\"mma.sync\":64", "\"mma\":64", "'tensor'");
    expect_refused(folder, "\"module\":\"another\"", "\"module\":\"zebra\"", "kernel 2: repeated, or not sorted");
    expect_refused(folder, "\"kernel\":\"b\"", "\"kernel\":\"a\"", "kernel 3: repeated");
    expect_refused(folder, "\"dirty\":true", "\"dirty\":1", "dirty");
    expect_refused(folder, "\n]\n}", "\n]\n} }", "resources_sm_90a.json");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_same),
        cmocka_unit_test(test_new_and_gone),
        cmocka_unit_test(test_spills_and_stack),
        cmocka_unit_test(test_registers_have_slack_up_to_a_block),
        cmocka_unit_test(test_shared_memory_has_slack_up_to_a_block),
        cmocka_unit_test(test_tensor_instructions),
        cmocka_unit_test(test_notes),
        cmocka_unit_test(test_another_compiler_is_not_compared),
        cmocka_unit_test(test_blocks),
        cmocka_unit_test(test_short_names),
        cmocka_unit_test_setup_teardown(test_round_trip, folder_new, folder_free),
        cmocka_unit_test_setup_teardown(test_no_folder_is_an_empty_set, folder_new, folder_free),
        cmocka_unit_test_setup_teardown(test_files_are_read_strictly, folder_new, folder_free),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
