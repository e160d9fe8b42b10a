/* test_problem.c -- a problem as text, and what of it differs from an earlier text. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "plan/problem.h"

struct problem {
    const char *name;
    int64_t n, heads;
    bool causal;
    int dtype;
};

static const char *const dtypes[] = { "", "f32", "f16", NULL };
static const kg_field fields[] = {
    { .name = "n", .offset = offsetof(struct problem, n), .type = KG_INT, .max = 1e9 },
    { .name = "heads", .offset = offsetof(struct problem, heads), .type = KG_INT, .max = 64, .fallback = 8 },
    { .name = "causal", .offset = offsetof(struct problem, causal), .type = KG_BOOL },
    { .name = "dtype", .offset = offsetof(struct problem, dtype), .type = KG_CHOICE, .choices = dtypes },
};
static const kg_op op = { .name = "op", .fields = KG_LIST(fields) };

static void as_text(void **state)
{
    char text[64];
    (void)state;
    kg_problem_format(&op, &(struct problem){ "row", 8192, 8, false, 2 }, text, sizeof text);
    assert_string_equal(text, "n=8192,heads=8,dtype=f16");
    kg_problem_format(&op, &(struct problem){ "row", 0, 0, false, 0 }, text, sizeof text);
    assert_string_equal(text, "-");
}

static const struct {
    struct problem problem;
    const char *was, *change; /* "" : none */
} rows[] = {
    { { "r", 512, 8, false, 2 }, "n=512,heads=8,dtype=f16", "" },
    { { "r", 512, 8, false, 2 }, "n=8192,heads=8,dtype=f16", "n=8192 -> n=512" },
    { { "r", 51, 8, false, 2 }, "n=512,heads=8,dtype=f16", "n=512 -> n=51" },
    { { "r", 512, 8, true, 1 }, "n=512,heads=8,dtype=f16", "causal not given -> causal=true, dtype=f16 -> dtype=f32" },
    { { "r", 512, 8, false, 2 }, "n=512,heads=8,causal=true,dtype=f16", "causal=true -> causal=false" },
    { { "r", 0, 8, false, 2 }, "n=512,dtype=f16", "n=512 -> n=0" },
    { { "r", 512, 8, false, 2 }, "n=512,dtype=f16", "" }, /* a new field, at its fallback */
    { { "r", 512, 4, false, 2 }, "n=512,dtype=f16", "heads not given -> heads=4" },
    { { "r", 512, 4, false, 2 }, "n=512,heads=8,dtype=f16", "heads=8 -> heads=4" }, /* a fallback that changed */
    { { "r", 512, 8, false, 0 },
      "n=512,heads=8,width=3,heads2=4",
      "width=3 -> no such field, heads2=4 -> no such field" },
    { { "r", 0, 8, false, 0 }, "-", "" },
    { { "r", 5, 8, false, 0 }, "-", "n not given -> n=5" },
};

static void what_differs(void **state)
{
    char change[200];
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        assert_int_equal(kg_problem_differs(&op, &rows[i].problem, rows[i].was, change, sizeof change),
                         *rows[i].change != '\0');
        assert_string_equal(change, rows[i].change);
    }
}

static double flops_of_call, bytes_of_call;

static double count_flops(const void *problem)
{
    (void)problem;
    return flops_of_call;
}

static double count_bytes(const void *problem)
{
    (void)problem;
    return bytes_of_call;
}

static int describe_none(const void *problem, kg_tensor *ret_tensors, int *ret_count)
{
    (void)problem, (void)ret_tensors;
    *ret_count = 0;
    return KG_OK;
}

/* A golden of other numbers could not be read. */
static void work_is_finite(void **state)
{
    static const double bad[] = { NAN, INFINITY, -5 };
    const kg_op working = { .name = "op", .flops = count_flops, .bytes = count_bytes, .tensors = describe_none };
    struct kg_work work = { 0 };
    kg_error error = { 0 };
    (void)state;
    flops_of_call = bytes_of_call = 0;
    assert_int_equal(kg_problem_work(&working, NULL, &work, &error), KG_OK);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        flops_of_call = bad[i], bytes_of_call = 8;
        assert_int_equal(kg_problem_work(&working, NULL, &work, &error), KG_EINVAL);
        flops_of_call = 8, bytes_of_call = bad[i];
        assert_int_equal(kg_problem_work(&working, NULL, &work, &error), KG_EINVAL);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(as_text),
        cmocka_unit_test(what_differs),
        cmocka_unit_test(work_is_finite),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
