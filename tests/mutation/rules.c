/* rules.c -- roots of a module of attention that asks what other gates than the shipped ones would say, on the shipped
 * suites' rows and seeds without their regimes. mutate.py links it in place of suites/module.c.
 *
 * As it is: allclose(atol = rtol = 1e-2); reports have each case's largest error too. With SAME_PRECISION: plain
 * kernels in the tensors' own precision, whose largest error is what rules of twice that error are made of: scores and
 * weights are rounded to the tensors' dtype as well. 8-bit rows have the plain kernel on the same codes for it. Rows
 * are those of the CPU, with GPU_ROWS of both, each once for its dtype, mask and lengths, and of 8192 queries: more
 * hardly raise the largest error, and the plain kernels run on the CPU.
 */
#include "kg_build.h"
#include "kg_kernels.h"
#include "op/cpu_rows.h"
#include "op/half.h"
#include "suites.h"

#include <math.h>

static const kg_suite *const shipped[] = {
    &cudnn_sdpa, &attention_matrix, &sdpa_parity, &fa_s512, &fp8_sdpa, &fp8_sdpa_e4m3,
};
enum { SHIPPED = sizeof shipped / sizeof *shipped };

static kg_suite made[SHIPPED];
static const kg_suite *suites[SHIPPED];

#ifdef SAME_PRECISION

static float element(const kg_tensor *tensor, int64_t index)
{
    uint16_t half = ((const uint16_t *)tensor->data)[index];
    return tensor->dtype == KG_BF16 ? float_from_bf16(half) : float_from_f16(half);
}

static float rounded(float value, enum kg_dtype dtype)
{
    return dtype == KG_BF16 ? float_from_bf16(bf16_from_float(value)) : float_from_f16(f16_from_float(value));
}

/* Products accumulate in FP32, as on tensor cores; what would be written to memory between them is rounded. */
static void attend_row(const struct sdpa *p, const kg_tensor *tensors, int64_t row, float *weights)
{
    int64_t D = p->D, Skv = sdpa_kv_length(p), i = row % p->S, head = row / p->S;
    int64_t first_key = (head / p->H * sdpa_kv_heads(p) + head % p->H / sdpa_group(p)) * Skv;
    int64_t visible = sdpa_visible_keys(p, i);
    float *sums = weights + Skv, scale = (float)sdpa_scale(p), row_max = -INFINITY, row_sum = 0;

    for (int64_t j = 0; j < visible; j++) {
        float dot = 0;
        for (int64_t d = 0; d < D; d++)
            dot += element(&tensors[SDPA_Q], row * D + d) * element(&tensors[SDPA_K], (first_key + j) * D + d);
        weights[j] = rounded(scale * dot, p->dtype);
        row_max = fmaxf(row_max, weights[j]);
    }
    for (int64_t j = 0; j < visible; j++)
        row_sum += weights[j] = expf(weights[j] - row_max);
    for (int64_t j = 0; j < visible; j++)
        weights[j] = rounded(weights[j] / row_sum, p->dtype);
    for (int64_t d = 0; d < D; d++)
        sums[d] = 0;
    for (int64_t j = 0; j < visible; j++)
        for (int64_t d = 0; d < D; d++)
            sums[d] += weights[j] * element(&tensors[SDPA_V], (first_key + j) * D + d);
    half_store_row(&tensors[SDPA_O], row * D, D, sums, 1);
}

static int prepare(const kg_backend *self, const kg_call *call, void **ret_state, kg_identity *ret_identity,
                   kg_error *ret_error)
{
    (void)ret_identity;
    return cpu_rows_new(self, call, call->problem, sizeof(struct cpu_rows), ret_state, ret_error);
}

static int launch(const kg_backend *self, void *opaque, const kg_tensor *tensors, void *stream, kg_error *ret_error)
{
    (void)self, (void)stream, (void)ret_error;
    const struct cpu_rows *own = opaque;
    int64_t rows = own->problem.B * own->problem.H * own->problem.S;
#pragma omp parallel for num_threads(own->n_threads)
    for (int64_t row = 0; row < rows; row++)
        attend_row(&own->problem, tensors, row, cpu_rows_own(own));
    return KG_OK;
}

static const kg_backend same_precision = {
    .name = "same_precision", .device = KG_CPU, .prepare = prepare, .launch = launch, .release = cpu_rows_release
};
static const kg_backend *const plain[] = { &same_precision }, *const coded[] = { &cpu_stage_c },
                               *const coded_e4m3[] = { &cpu_stage_c_e4m3 };

enum { MOST_ROWS = 400, MOST_PAIRS = 1 << 24, MOST_QUERIES = 8192, MOST_ELEMENTS = 1 << 27 };

/* The rows of `from` that no row of the `n` so far stands for. */
static size_t add_rows(const kg_table *from, struct sdpa *rows, size_t n)
{
    static char names[MOST_ROWS * SHIPPED][8];
    static int made_names;
    for (size_t i = 0; i < from->count; i++) {
        struct sdpa row = ((const struct sdpa *)from->rows)[i];
        bool known = row.S * sdpa_kv_length(&row) > MOST_PAIRS || n == MOST_ROWS;
        for (size_t j = 0; j < n; j++)
            known |= rows[j].S == row.S && sdpa_kv_length(&rows[j]) == sdpa_kv_length(&row) &&
                     rows[j].dtype == row.dtype && rows[j].causal == row.causal &&
                     rows[j].bottom_right == row.bottom_right;
        if (known)
            continue;
        row.B = 1, row.H = row.S < MOST_QUERIES / 2 ? MOST_QUERIES / row.S : 2, row.Hkv = 0;
        while (row.H > 1 && row.H * sdpa_kv_length(&row) * row.D > MOST_ELEMENTS)
            row.H /= 2;
        row.name = names[made_names];
        snprintf(names[made_names], sizeof *names, "r%d", made_names);
        made_names++;
        rows[n++] = row;
    }
    return n;
}

static void make_plain(kg_suite *suite, const kg_suite *shipped_suite)
{
    static struct sdpa rows[SHIPPED][MOST_ROWS];
    struct sdpa *own = rows[suite - made];
    size_t n = add_rows(&shipped_suite->cpu_shapes, own, 0);
#ifdef GPU_ROWS
    n = add_rows(&shipped_suite->shapes, own, n);
#endif
    suite->backends = shipped_suite == &fp8_sdpa        ? (kg_backends)KG_LIST(coded)
                      : shipped_suite == &fp8_sdpa_e4m3 ? (kg_backends)KG_LIST(coded_e4m3)
                                                        : (kg_backends)KG_LIST(plain);
    suite->shapes = suite->cpu_shapes = (kg_table){ own, n, sizeof *own };
    suite->anchor = suite->cpu_anchor = NULL;
}

#endif

/* Called as the module is loaded: a table cannot be made of another at compile time. */
__attribute__((constructor)) static void make_suites(void)
{
    for (int i = 0; i < SHIPPED; i++) {
        kg_suite *suite = &made[i];
        /* Codes alone need more. */
        double allowed = shipped[i] == &fp8_sdpa_e4m3 ? 0.1 : shipped[i] == &fp8_sdpa ? 0.05 : 0.01;
        *suite = *shipped[i];
        suite->gates = (kg_gates){
            .max_abs = INFINITY, .mean_abs = INFINITY, .bad_abs = allowed, .bad_rel = allowed, .rel_l2 = INFINITY
        };
        suite->regimes = (kg_suite_regimes){ 0 };
        suite->excuses = (kg_excuses){ 0 };
        suite->contest = (kg_contest){ 0 };
        suite->time.off = true;
        suite->anchor_case = NULL; /* which a suite without times has not */
#ifdef SAME_PRECISION
        make_plain(suite, shipped[i]);
#endif
        suites[i] = suite;
    }
}

KG_EXPORT const struct kg_module kg_module = {
    KG_MODULE_SIZES,  .name = "rules",     .git_sha = KG_GIT_SHA, .flags = KG_BUILD_FLAGS,
    .suites = suites, .n_suites = SHIPPED, .kernels = kg_kernels, .n_kernels = KG_KERNEL_COUNT,
};
