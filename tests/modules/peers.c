/* peers.c -- attention kernels of other programs, held to the shipped suites: `record` writes each case's inputs to a
 * file in the folder $PEERS, another program computes outputs of them (tests/cuda/peers.py), and the other backends
 * read those back. All on the CPU, whose inputs have the GPU's bits. `record` is right, as cpu_math, so that it is
 * called on all the inputs that the others will be. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "kg_build.h"
#include "op/sdpa.h"
#include "suites.h"

static const char *file_of(const struct sdpa *p, const kg_tensor *tensors, const char *ending, char *ret_path,
                           size_t size)
{
    const double scale = sdpa_scale(p);
    uint64_t hash = 0xcbf29ce484222325u;
    for (size_t i = 0; i < sizeof scale; i++)
        hash = (hash ^ ((const unsigned char *)&scale)[i]) * 0x100000001b3u;
    for (int t = SDPA_Q; t < SDPA_O; t++)
        for (size_t i = 0; i < kg_tensor_bytes(&tensors[t]); i++)
            hash = (hash ^ ((const unsigned char *)tensors[t].data)[i]) * 0x100000001b3u;
    const char *folder = getenv("PEERS");
    snprintf(ret_path, size, "%s/%016" PRIx64 "_%s%s_S%" PRId64 "_D%" PRId64 ".%s", folder ? folder : ".", hash,
             p->causal ? "causal" : "full", p->bottom_right ? "_br" : "", p->S, p->D, ending);
    return ret_path;
}

struct recording {
    const struct sdpa *problem;
    void *math; /* state of cpu_math */
};

static int prepare(const kg_backend *self, const kg_call *call, void **ret_state, kg_identity *ret_identity,
                   kg_error *ret_error)
{
    struct recording *r = malloc(sizeof *r);
    (void)self;
    if (!r)
        return kg_fail(ret_error, KG_ENOMEM, "no memory for a recording");
    *r = (struct recording){ .problem = call->problem };
    int status = cpu_math.prepare(&cpu_math, call, &r->math, ret_identity, ret_error);
    if (status)
        free(r);
    else
        *ret_state = r;
    return status;
}

static void release(const kg_backend *self, void *state)
{
    struct recording *r = state;
    (void)self;
    cpu_math.release(&cpu_math, r->math);
    free(r);
}

/* A line of JSON, then Q, K and V as they lie. */
static int write_inputs(const struct sdpa *p, const kg_tensor *tensors, kg_error *ret_error)
{
    char path[4096];
    FILE *out = fopen(file_of(p, tensors, "in", path, sizeof path), "wb");
    if (!out)
        return kg_fail(ret_error, KG_EIO, "cannot write %.300s", path);
    fprintf(out,
            "{\"B\": %" PRId64 ", \"H\": %" PRId64 ", \"Hkv\": %" PRId64 ", \"S\": %" PRId64 ", \"Skv\": %" PRId64
            ", \"D\": %" PRId64 ", \"dtype\": \"%s\", \"causal\": %s, \"bottom_right\": %s, \"scale\": %.17g}\n",
            p->B, p->H, sdpa_kv_heads(p), p->S, sdpa_kv_length(p), p->D, KG_DTYPE_NAMES[p->dtype],
            p->causal ? "true" : "false", p->bottom_right ? "true" : "false", sdpa_scale(p));
    for (int t = SDPA_Q; t < SDPA_O; t++)
        fwrite(tensors[t].data, 1, kg_tensor_bytes(&tensors[t]), out);
    const bool failed = ferror(out) != 0;
    return fclose(out) || failed ? kg_fail(ret_error, KG_EIO, "cannot write %.300s", path) : KG_OK;
}

static int record(const kg_backend *self, void *state, const kg_tensor *tensors, void *stream, kg_error *ret_error)
{
    const struct recording *r = state;
    (void)self;
    int status = write_inputs(r->problem, tensors, ret_error);
    return status ? status : cpu_math.launch(&cpu_math, r->math, tensors, stream, ret_error);
}

static int read_back(const kg_backend *self, void *state, const kg_tensor *tensors, void *stream, kg_error *ret_error)
{
    const kg_tensor *o = &tensors[SDPA_O];
    char path[4096];
    FILE *in = fopen(file_of(((const kg_call *)state)->problem, tensors, self->name, path, sizeof path), "rb");
    (void)stream;
    if (!in)
        return kg_fail(ret_error, KG_EUNSUPPORTED, "%s did not take this", self->name);
    size_t got = fread(o->data, 1, kg_tensor_bytes(o), in);
    fclose(in);
    return got == kg_tensor_bytes(o) ? KG_OK : kg_fail(ret_error, KG_EIO, "%.300s is short", path);
}

#define PEER(its_name)                                                                                                 \
    {                                                                                                                  \
        .name = its_name, .device = KG_CPU, .untimed = true, .launch = read_back                                       \
    }
static const kg_backend recorder = {
    .name = "record", .device = KG_CPU, .untimed = true, .prepare = prepare, .launch = record, .release = release
};
static const kg_backend peers[] = { PEER("torch_flash"), PEER("torch_efficient"), PEER("torch_cudnn"),
                                    PEER("torch_flex"), PEER("triton") };
static const kg_backend *const backends[] = { &recorder, &peers[0], &peers[1], &peers[2], &peers[3], &peers[4] };

static kg_suite copies[4];
static const kg_suite *const suites[] = { &copies[0], &copies[1], &copies[2], &copies[3] };

/* The shipped suites' rows for GPUs, gates and regimes; other backends. */
__attribute__((constructor)) static void copy_suites(void)
{
    const kg_suite *const own[] = { &cudnn_sdpa, &attention_matrix, &sdpa_parity, &fa_s512 };
    for (size_t i = 0; i < sizeof own / sizeof *own; i++) {
        copies[i] = *own[i];
        copies[i].cpu_shapes = own[i]->shapes;
        copies[i].shapes = own[i]->cpu_shapes; /* for nobody, but regimes name their rows */
        copies[i].backends = (kg_backends)KG_LIST(backends);
        copies[i].anchor = copies[i].cpu_anchor = NULL;
        copies[i].anchor_case = NULL;
        copies[i].contest = (kg_contest){ NULL, NULL };
        copies[i].xfails = (kg_xfails){ NULL, 0 };
        copies[i].time.off = true;
    }
}

KG_EXPORT const struct kg_module kg_module = {
    KG_MODULE_SIZES,         .name = "peers",  .git_sha = KG_GIT_SHA, .git_dirty = KG_GIT_DIRTY,
    .flags = KG_BUILD_FLAGS, .suites = suites, .n_suites = 4
};
