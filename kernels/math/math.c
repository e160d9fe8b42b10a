/* math.c -- backend `math`: attention as three steps that leave the scores in memory: cuBLAS, our softmax, cuBLAS.
 *
 * It is the plain way to compute attention on a GPU and what fused kernels are measured against. cuBLAS is opened at
 * run time. Query heads that share a key head lie one after another, so they are one product with group * S rows, and
 * grouped heads cost nothing extra.
 */
#include <limits.h>
#include <stdlib.h>

#include <cublas_v2.h>
#include <cuda_runtime_api.h>

#include "math/math.h"
#include "op/sdpa_cuda.h"

#define WORKSPACE_BYTES ((size_t)32 << 20) /* what cuBLAS recommends on sm_90; elsewhere it needs less */

/* The entry points used, and the handle: one a worker. */
struct cublas {
    cublasStatus_t (*create)(cublasHandle_t *handle);
    cublasStatus_t (*destroy)(cublasHandle_t handle);
    cublasStatus_t (*set_stream)(cublasHandle_t handle, cudaStream_t stream);
    cublasStatus_t (*set_workspace)(cublasHandle_t handle, void *workspace, size_t bytes);
    cublasStatus_t (*get_property)(libraryPropertyType type, int *ret_value);
    const char *(*status_string)(cublasStatus_t status);
    cublasStatus_t (*gemm)(cublasHandle_t handle, cublasOperation_t trans_a, cublasOperation_t trans_b, int m, int n,
                           int k, const void *alpha, const void *a, cudaDataType a_type, int lda, long long stride_a,
                           const void *b, cudaDataType b_type, int ldb, long long stride_b, const void *beta, void *c,
                           cudaDataType c_type, int ldc, long long stride_c, int batch, cublasComputeType_t compute,
                           cublasGemmAlgo_t algorithm);
    cublasHandle_t handle;
};

struct math_state {
    const struct cublas *cublas;
    const struct sdpa *problem;
    const struct math_softmax *softmax; /* NULL: that of softmax.cu */
    int64_t pitch;                      /* of scores and P, in elements: rows start at 16 bytes whatever Skv is */
};

/* What a launch's workspace holds: cuBLAS's own, then the scores in FP32, then the probabilities. */
struct scratch {
    char *cublas, *scores, *p;
};

static int64_t pitch(const struct sdpa *problem)
{
    return (sdpa_kv_length(problem) + 7) / 8 * 8;
}

static int64_t score_count(const struct sdpa *problem)
{
    return problem->B * problem->H * problem->S * pitch(problem);
}

int math_supports(const kg_backend *self, const kg_device *device, const void *problem, kg_error *ret_error)
{
    (void)self;
    const struct sdpa *sdpa = problem;
    int64_t rows = sdpa_group(sdpa) * sdpa->S;
    if (rows > INT_MAX || pitch(sdpa) > INT_MAX || sdpa->B * sdpa->H * sdpa->S > INT_MAX)
        return kg_fail(ret_error, KG_EUNSUPPORTED, "more than 2^31 rows or keys");
    double bytes = (double)score_count(sdpa) * (double)(4 + kg_dtype_bytes(sdpa_tensor_dtype(sdpa)));
    if (!(bytes <= (double)device->memory_bytes / 4))
        return kg_fail(ret_error, KG_EUNSUPPORTED,
                       "scores and probabilities take %.0f bytes, over a quarter of the "
                       "device's memory (%.0f bytes)",
                       bytes, (double)device->memory_bytes);
    return KG_OK;
}

static int library_find(const kg_host *host, void **ret_library, kg_error *ret_error)
{
    static const char *const names[] = { "libcublas.so.13", "libcublas.so.12" };
    kg_error first = { 0 };
    if (host->library_open(host, names[0], ret_library, &first) == KG_OK ||
        host->library_open(host, names[1], ret_library, NULL) == KG_OK)
        return KG_OK;
    return kg_fail(ret_error, KG_EUNSUPPORTED, "neither %s nor %s opens: %.300s", names[0], names[1], first.text);
}

static int symbols_find(const kg_host *host, void *library, struct cublas *ret_cublas, kg_error *ret_error)
{
    const struct {
        const char *name;
        void *address;
    } symbols[] = {
        { "cublasCreate_v2", &ret_cublas->create },          { "cublasDestroy_v2", &ret_cublas->destroy },
        { "cublasSetStream_v2", &ret_cublas->set_stream },   { "cublasSetWorkspace_v2", &ret_cublas->set_workspace },
        { "cublasGetProperty", &ret_cublas->get_property },  { "cublasGetStatusString", &ret_cublas->status_string },
        { "cublasGemmStridedBatchedEx", &ret_cublas->gemm },
    };
    for (size_t i = 0; i < sizeof symbols / sizeof *symbols; i++) {
        int status = host->library_symbol(library, symbols[i].name, (void **)symbols[i].address, ret_error);
        if (status != KG_OK)
            return status;
    }
    return KG_OK;
}

int math_open(const kg_backend *self, const kg_host *host, const kg_device *device, void **ret_library,
              kg_error *ret_error)
{
    (void)self;
    (void)device;
    void *library;
    int status = library_find(host, &library, ret_error);
    if (status != KG_OK)
        return status;
    struct cublas *cublas = calloc(1, sizeof *cublas);
    if (!cublas)
        return kg_fail(ret_error, KG_ENOMEM, "no memory for the cuBLAS entry points");
    status = symbols_find(host, library, cublas, ret_error);
    if (status != KG_OK)
        goto out;
    cublasStatus_t created = cublas->create(&cublas->handle);
    if (created != CUBLAS_STATUS_SUCCESS)
        status = kg_fail(ret_error, KG_EDEVICE, "cublasCreate: %s", cublas->status_string(created));
out:
    if (status == KG_OK)
        *ret_library = cublas;
    else
        free(cublas);
    return status;
}

void math_close(const kg_backend *self, void *library)
{
    (void)self;
    struct cublas *cublas = library;
    if (cublas)
        (void)cublas->destroy(cublas->handle);
    free(cublas);
}

static size_t scores_bytes(const struct sdpa *problem)
{
    return ((size_t)score_count(problem) * 4 + 255) / 256 * 256;
}

size_t math_workspace(const kg_backend *self, const void *state)
{
    (void)self;
    const struct sdpa *problem = ((const struct math_state *)state)->problem;
    return WORKSPACE_BYTES + scores_bytes(problem) +
           (size_t)score_count(problem) * kg_dtype_bytes(sdpa_tensor_dtype(problem));
}

static struct scratch scratch_of(const struct math_state *math, const kg_tensor *tensors)
{
    const int place = math->softmax ? math->softmax->workspace_place(math->problem) : SDPA_WORKSPACE;
    char *start = tensors[place].data, *scores = start + WORKSPACE_BYTES;
    return (struct scratch){ start, scores, scores + scores_bytes(math->problem) };
}

int math_prepare(const kg_backend *self, const kg_call *call, void **ret_state, kg_identity *ret_identity,
                 kg_error *ret_error)
{
    const struct sdpa *problem = call->problem;
    struct math_state *math = calloc(1, sizeof *math);
    if (!math)
        return kg_fail(ret_error, KG_ENOMEM, "no memory for the state of math");
    math->cublas = call->library;
    math->problem = problem;
    math->softmax = self->data;
    math->pitch = pitch(problem);

    int major = 0, minor = 0, patch = 0;
    (void)math->cublas->get_property(MAJOR_VERSION, &major);
    (void)math->cublas->get_property(MINOR_VERSION, &minor);
    (void)math->cublas->get_property(PATCH_LEVEL, &patch);
    snprintf(ret_identity->text, sizeof ret_identity->text, "cuBLAS %d.%d.%d", major, minor, patch);
    *ret_state = math;
    return KG_OK;
}

static cudaDataType cuda_type(enum kg_dtype dtype)
{
    return dtype == KG_F32 ? CUDA_R_32F : dtype == KG_F16 ? CUDA_R_16F : CUDA_R_16BF;
}

/* The query heads that share a key head are one product of `rows` rows. cuBLAS counts columns first, so what it is
 * asked for is the transposed product: C^T = B^T A^T. */
struct product {
    int rows, keys, D, pitch, batch;
    cudaDataType type;
};

static struct product product_of(const struct math_state *math)
{
    const struct sdpa *p = math->problem;
    return (struct product){ .rows = (int)(sdpa_group(p) * p->S),
                             .keys = (int)sdpa_kv_length(p),
                             .D = (int)p->D,
                             .pitch = (int)math->pitch,
                             .batch = (int)(p->B * sdpa_kv_heads(p)),
                             .type = cuda_type(sdpa_tensor_dtype(p)) };
}

/* scores[rows, keys] = Q[rows, D] K[keys, D]^T */
static cublasStatus_t scores_qk(const struct math_state *math, const kg_tensor *tensors, const struct scratch *scratch)
{
    const struct product of = product_of(math);
    const float one = 1, zero = 0;
    return math->cublas->gemm(math->cublas->handle, CUBLAS_OP_T, CUBLAS_OP_N, of.keys, of.rows, of.D, &one,
                              tensors[SDPA_K].data, of.type, of.D, (long long)of.keys * of.D, tensors[SDPA_Q].data,
                              of.type, of.D, (long long)of.rows * of.D, &zero, scratch->scores, CUDA_R_32F, of.pitch,
                              (long long)of.rows * of.pitch, of.batch, CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT);
}

/* O[rows, D] = P[rows, keys] V[keys, D] */
static cublasStatus_t output_pv(const struct math_state *math, const kg_tensor *tensors, const struct scratch *scratch)
{
    const struct product of = product_of(math);
    const float one = 1, zero = 0;
    return math->cublas->gemm(math->cublas->handle, CUBLAS_OP_N, CUBLAS_OP_N, of.D, of.rows, of.keys, &one,
                              tensors[SDPA_V].data, of.type, of.D, (long long)of.keys * of.D, scratch->p, of.type,
                              of.pitch, (long long)of.rows * of.pitch, &zero, tensors[SDPA_O].data, of.type, of.D,
                              (long long)of.rows * of.D, of.batch, CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT);
}

int math_launch(const kg_backend *self, void *state, const kg_tensor *tensors, void *stream, kg_error *ret_error)
{
    (void)self;
    const struct math_state *math = state;
    const struct sdpa *problem = math->problem;
    const struct cublas *cublas = math->cublas;
    const struct scratch scratch = scratch_of(math, tensors);
    /* Setting the stream forgets the workspace, so both are set at every call. */
    cublasStatus_t status = cublas->set_stream(cublas->handle, stream);
    if (status == CUBLAS_STATUS_SUCCESS)
        status = cublas->set_workspace(cublas->handle, scratch.cublas, WORKSPACE_BYTES);
    if (status == CUBLAS_STATUS_SUCCESS)
        status = scores_qk(math, tensors, &scratch);
    if (status != CUBLAS_STATUS_SUCCESS)
        return kg_fail(ret_error, KG_EDEVICE, "cuBLAS, Q K^T: %s", cublas->status_string(status));

    struct softmax_args softmax = {
        .scores = (float *)(void *)scratch.scores,
        .p = scratch.p,
        .rows = problem->B * problem->H * problem->S,
        .pitch = math->pitch,
        .S = (int)problem->S,
        .Skv = (int)sdpa_kv_length(problem),
        .first_keys = (int)sdpa_first_keys(problem),
        .scale_log2 = sdpa_scale_log2(problem),
    };
    const int dtype = (int)sdpa_tensor_dtype(problem);
    cudaError_t launched =
        (cudaError_t)(math->softmax ? math->softmax->launch(&softmax, dtype, problem, tensors, stream)
                                    : softmax_launch(&softmax, dtype, stream));
    if (launched != cudaSuccess)
        return kg_fail(ret_error, KG_EDEVICE, "softmax: %s", cudaGetErrorString(launched));

    status = output_pv(math, tensors, &scratch);
    if (status != CUBLAS_STATUS_SUCCESS)
        return kg_fail(ret_error, KG_EDEVICE, "cuBLAS, P V: %s", cublas->status_string(status));
    return KG_OK;
}

const kg_backend sdpa_math = {
    .name = "math",
    .help = "cuBLAS, softmax, cuBLAS, with the scores in memory",
    MATH,
};
