/* cpu_keys.h -- K and V as backends on the CPU read them that compute a query row at a time (cpu_rows.h): floats,
 * loaded once a launch. */
#ifndef CPU_KEYS_H
#define CPU_KEYS_H

#include "op/half.h"
#include "op/row_sums.h"
#include "op/sdpa.h"

ROW_SUMS(cpu_row_sums, float, AS_IT_IS)

/* The keys of a problem, as `floats` of them: K by columns, [B * Hkv, D, whole_vectors(Skv)], then V, [B * Hkv, Skv,
 * D]. */
struct cpu_keys {
    int64_t heads, stride; /* of columns */
    size_t floats, of_k;
};

static inline struct cpu_keys cpu_keys_of(const struct sdpa *p)
{
    const int64_t heads = p->B * sdpa_kv_heads(p), stride = whole_vectors(sdpa_kv_length(p));
    const size_t of_k = (size_t)(heads * p->D * stride);
    return (struct cpu_keys){ heads, stride, of_k + (size_t)(heads * p->D * sdpa_kv_length(p)), of_k };
}

static inline void cpu_keys_load(const struct sdpa *p, const kg_tensor *tensors, float *ret_keys)
{
    const struct cpu_keys keys = cpu_keys_of(p);
    const int64_t count = (int64_t)(keys.floats - keys.of_k);
    half_load_row(&tensors[SDPA_K], 0, count, 1, ret_keys + keys.of_k);
    by_columns(ret_keys + keys.of_k, keys.heads, sdpa_kv_length(p), p->D, ret_keys);
    half_load_row(&tensors[SDPA_V], 0, count, 1, ret_keys + keys.of_k);
}

/* Of the row's head: scores against the keys from the first on, times `scale`, and the sums over V of their weights. */
static inline void cpu_keys_scores(const struct sdpa *p, const float *keys, int64_t head, const float *q, float scale,
                                   int64_t visible, float *ret_scores)
{
    const struct cpu_keys of = cpu_keys_of(p);
    cpu_row_sums(q, keys + head * p->D * of.stride, p->D, of.stride, whole_vectors(visible), ret_scores);
    for (int64_t j = 0; j < visible; j++)
        ret_scores[j] *= scale;
}

static inline void cpu_keys_values(const struct sdpa *p, const float *keys, int64_t head, const float *weights,
                                   int64_t visible, float *ret_sums)
{
    const float *v = keys + cpu_keys_of(p).of_k + head * sdpa_kv_length(p) * p->D;
    cpu_row_sums(weights, v, visible, p->D, p->D, ret_sums);
}

#endif
