/* cudnn_common.c -- plans take up to half a second to compile, so they are kept as text under a key and pinned. */
#include "cudnn/cudnn_common.h"

#include <inttypes.h>
#include <stdlib.h>

int cudnn_common_open(const kg_backend *self, const kg_host *host, const kg_device *device, void **ret_library,
                      kg_error *ret_error)
{
    struct cudnn_library *library = NULL;
    (void)self;
    int status = cudnn_library_open(host, device, &library, ret_error);
    if (status == KG_OK)
        *ret_library = library;
    return status;
}

void cudnn_common_close(const kg_backend *self, void *library)
{
    (void)self;
    cudnn_library_close(library);
}

static int plan_cached(const kg_call *call, const char *key, struct cudnn_plan *ret_plan)
{
    char *text = NULL;
    kg_error error = { 0 };
    int status = call->host->cache_read(call->host, key, &text);
    if (status != KG_OK)
        return status;
    status = cudnn_plan_restore(call->library, text, ret_plan, &error);
    if (status != KG_OK)
        call->host->log(call->host, "the plan kept for %s is not used: %s", key, error.text);
    free(text);
    return status;
}

/* A plan that cannot be kept still runs; the next prepare pays for it. */
static void plan_keep(const kg_call *call, const char *key, const struct cudnn_plan *plan)
{
    char *text = NULL;
    kg_error error = { 0 };
    if (cudnn_plan_save(plan, &text, &error) != KG_OK)
        call->host->log(call->host, "no plan is kept for %s: %s", key, error.text);
    else if (call->host->cache_write(call->host, key, text) != KG_OK)
        call->host->log(call->host, "no plan is kept for %s: the cache cannot be written", key);
    free(text);
}

/* All that a plan depends on; strides follow from the dimensions, as tensors are packed. */
static void key_write(const kg_call *call, const struct cudnn_wanted *wanted, const char *pin, char *ret_key,
                      size_t size)
{
    const struct sdpa *p = wanted->shape;
    const struct cudnn_library *library = call->library;
    (void)snprintf(ret_key, size,
                   "cudnn %s|%s|sm_%d%d|%s|b%" PRId64 " h%" PRId64 " hkv%" PRId64 " s%" PRId64 " skv%" PRId64
                   " d%" PRId64 " packed|%s|%s|%s|%s",
                   library->version, call->device->name, call->device->cc_major, call->device->cc_minor,
                   wanted->revision, p->B, p->H, sdpa_kv_heads(p), p->S, sdpa_kv_length(p), p->D, wanted->dtype,
                   !p->causal        ? "full"
                   : p->bottom_right ? "bottom-right"
                                     : "causal",
                   wanted->choice, pin);
}

/* With a pin that configuration, else the backend's choice; either way from the cache first. */
static int plan_get(const kg_backend *self, const kg_call *call, const struct cudnn_wanted *wanted, const char *pin,
                    struct cudnn_plan *ret_plan, kg_error *ret_error)
{
    char key[1024];
    key_write(call, wanted, pin ? pin : "", key, sizeof key);
    if (plan_cached(call, key, ret_plan) == KG_OK)
        return KG_OK;

    struct cudnn_build build;
    cudnn_build_init(&build, call->library);
    cudnn_build_listen(&build);
    cudnnBackendDescriptor_t graph = wanted->graph(self, &build, call->problem);
    int status = cudnn_build_status(&build, ret_error);
    if (status == KG_OK)
        status = pin ? cudnn_plan_pinned(call->library, graph, pin, ret_plan, ret_error)
                     : wanted->choose(self, call, graph, ret_plan, ret_error);
    if (status == KG_OK)
        plan_keep(call, key, ret_plan);
    cudnn_build_done(&build);
    return status;
}

static int plan_find(const kg_backend *self, const kg_call *call, const struct cudnn_wanted *wanted,
                     struct cudnn_plan *ret_plan, kg_error *ret_error)
{
    kg_error why = { 0 };
    if (call->pin && *call->pin) {
        if (plan_get(self, call, wanted, call->pin, ret_plan, &why) == KG_OK)
            return KG_OK;
        call->host->log(call->host, "%s: the pinned configuration is given up and one chosen anew: %s",
                        *(const char *const *)call->problem, why.text);
    }
    return plan_get(self, call, wanted, NULL, ret_plan, ret_error);
}

int cudnn_common_plan(const kg_backend *self, const kg_call *call, const struct cudnn_wanted *wanted,
                      struct cudnn_plan *ret_plan, kg_identity *ret_identity, kg_error *ret_error)
{
    const struct cudnn_library *library = call->library;
    cudnnStatus_t set = library->call.SetStream(library->handle, call->stream);
    if (set != CUDNN_STATUS_SUCCESS)
        return cudnn_fail(library, set, "cudnnSetStream", ret_error);
    int status = plan_find(self, call, wanted, ret_plan, ret_error);
    if (status != KG_OK)
        return status;
    (void)snprintf(ret_identity->pin, sizeof ret_identity->pin, "%s", ret_plan->pin);
    cudnn_pin_describe(ret_plan->pin, ret_identity->text, sizeof ret_identity->text);
    return KG_OK;
}
