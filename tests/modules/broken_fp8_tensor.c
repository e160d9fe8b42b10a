/* broken_fp8_tensor.c -- a module of attention in e4m3 with a scale a tensor that is wrong in one way each, made of the
 * backend `cpu_fp8` that ships. To add one: a backend here and a line in tests/cli/fp8_cudnn.sh. */
#include <math.h>
#include <string.h>

#include "fp8/cpu_fp8.h"
#include "fp8/fp8_codec.h"
#include "op/half.h"
#include "op/sdpa_error.h"
#include "module.h"

/* ---- wrong scales ------------------------------------------------------------------------------------------ */

/* What the scales of Q, K and V are multiplied by once they are right, and whether those of K and V change places. */
struct scales {
    float factors[SDPA_O];
    bool exchanged;
};

static struct sdpa_fp8_layout layout_of(const kg_tensor *tensors)
{
    const int64_t *q = tensors[SDPA_Q].dims, *k = tensors[SDPA_K].dims;
    const struct sdpa_fp8 problem = { .attention = {
                                          .B = q[0], .H = q[1], .Hkv = k[1], .S = q[2], .Skv = k[2], .D = q[3] } };
    return sdpa_fp8_layout_of(&problem);
}

static int stage_scaled(const kg_backend *self, void *state, const kg_tensor *tensors, void *stream,
                        kg_error *ret_error)
{
    const struct scales *scales = self->data;
    int status = cpu_fp8_stage(self, state, tensors, stream, ret_error);
    const struct sdpa_fp8_layout layout = layout_of(tensors);
    float *k = sdpa_fp8_descale(&layout, tensors, SDPA_K), *v = sdpa_fp8_descale(&layout, tensors, SDPA_V);
    if (scales->exchanged) {
        float kept = *k;
        *k = *v;
        *v = kept;
    }
    for (int t = SDPA_Q; t < SDPA_O; t++)
        *sdpa_fp8_descale(&layout, tensors, t) *= scales->factors[t];
    return status;
}

/* ---- wrong outputs ----------------------------------------------------------------------------------------- */

static int launch_zero(const kg_backend *self, void *state, const kg_tensor *tensors, void *stream, kg_error *ret_error)
{
    (void)self, (void)state, (void)stream, (void)ret_error;
    memset(tensors[SDPA_O].data, 0, kg_tensor_bytes(&tensors[SDPA_O]));
    return KG_OK;
}

/* The right values, each coded anew; .data of a backend. */
struct format {
    uint8_t (*code)(float value);
};

static int launch_recoded(const kg_backend *self, void *state, const kg_tensor *tensors, void *stream,
                          kg_error *ret_error)
{
    const struct format *format = self->data;
    int status = cpu_fp8_launch(self, state, tensors, stream, ret_error);
    uint8_t *o = tensors[SDPA_O].data;
    for (int64_t i = 0; i < kg_tensor_count(&tensors[SDPA_O]); i++)
        o[i] = format->code(fp8_e4m3_value(o[i]));
    return status;
}

/* The upper half of an FP16 number: 5 bits of exponent, 2 of mantissa. */
static uint8_t code_e5m2(float value)
{
    return (uint8_t)((f16_from_float(value) + 0x80) >> 8);
}

/* As if o_scale were 1. */
static uint8_t code_unscaled(float value)
{
    return fp8_e4m3_code(value / 128);
}

/* The first half of the elements as FP16, in the bytes of all. */
static int launch_f16(const kg_backend *self, void *state, const kg_tensor *tensors, void *stream, kg_error *ret_error)
{
    int status = cpu_fp8_launch(self, state, tensors, stream, ret_error);
    uint8_t *o = tensors[SDPA_O].data;
    for (int64_t i = kg_tensor_count(&tensors[SDPA_O]) / 2 - 1; i >= 0; i--) {
        uint16_t half = f16_from_float(fp8_e4m3_value(o[i]) / 128);
        memcpy(o + 2 * i, &half, sizeof half);
    }
    return status;
}

/* ---- the module -------------------------------------------------------------------------------------------- */

static const struct sdpa_arithmetic arithmetic = { SDPA_E4M3_TENSOR, SDPA_FP8_WEIGHTS, SDPA_FP32_SUMS }; /* cpu_fp8's */

/* clang-format off */
#define BACKEND(id, its_stage, its_launch, ...)                                                                        \
    static const kg_backend id = { .name = #id, .device = KG_CPU, .data = (__VA_ARGS__),                               \
                                   .prepare = cpu_fp8_prepare, .workspace = cpu_fp8_workspace, .stage = its_stage,     \
                                   .launch = its_launch, .release = cpu_rows_release, .arithmetic = &arithmetic }
/* clang-format on */

BACKEND(right, cpu_fp8_stage, cpu_fp8_launch, NULL);
BACKEND(k_doubled, stage_scaled, cpu_fp8_launch, &(const struct scales){ { 1, 2, 1 }, false });
BACKEND(v_doubled, stage_scaled, cpu_fp8_launch, &(const struct scales){ { 1, 1, 2 }, false });
BACKEND(v_halved, stage_scaled, cpu_fp8_launch, &(const struct scales){ { 1, 1, 0.5f }, false });
BACKEND(exchanged, stage_scaled, cpu_fp8_launch, &(const struct scales){ { 1, 1, 1 }, true });
BACKEND(zero, cpu_fp8_stage, launch_zero, NULL);
BACKEND(e5m2, cpu_fp8_stage, launch_recoded, &(const struct format){ code_e5m2 });
BACKEND(linear, cpu_fp8_stage, launch_recoded, &(const struct format){ fp8_linear_code });
BACKEND(unscaled, cpu_fp8_stage, launch_recoded, &(const struct format){ code_unscaled });
BACKEND(f16, cpu_fp8_stage, launch_f16, NULL);

static const kg_backend *const backends[] = {
    &right, &k_doubled, &v_doubled, &v_halved, &exchanged, &zero, &e5m2, &linear, &unscaled, &f16,
};

/* s16384: the first queries of a long one, whose outputs are small. */
static const struct sdpa_fp8 shapes[] = {
    { .attention = { "mission", .B = 1, .H = 2, .S = 512, .D = 64 } },
    { .attention = { "causal", .B = 1, .H = 2, .S = 128, .D = 128, .causal = true } },
    { .attention = { "s16384", .B = 1, .H = 1, .S = 32, .Skv = 16384, .D = 64 } },
};
static const uint64_t seeds[] = { 0 };

/* Its gates are those of suites/fp8_cudnn.c; tests/cli/fp8_cudnn.sh compares them. */
static const kg_suite tensor_scales = {
    .name = "tensor_scales",
    .op = &sdpa_fp8_forward,
    .shapes = KG_TABLE(shapes),
    .seeds = KG_LIST(seeds),
    .backends = KG_LIST(backends),
    .gates = { .max_abs = 0.25,
               .mean_abs = 0.025,
               .bad_abs = 0.03,
               .bad_rel = 0.15,
               .bad_pct = 2,
               .rel_l2 = 0.1,
               .scaled = 4,
               .slope = 0.0095 },
    .time = { .off = true },
};

static const kg_suite *const suites[] = { &tensor_scales };

MODULE_ROOT("broken_fp8_tensor");
