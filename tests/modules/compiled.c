/* compiled.c -- a backend that has its kernel compiled when it is prepared, or says so, and keeps it in the host's
 * cache; its knob is how much that spills. tests/cli/compiled.sh follows what it says into reports and goldens. */
#include "broken.h"

#include "module.h"

#include <stdlib.h>
#include <string.h>

static int prepare(const kg_backend *self, const kg_call *call, void **ret_state, kg_identity *ret_identity,
                   kg_error *ret_error)
{
    static const char code[] = "\0its code";
    const char *spills = getenv("SPILLS"), *its_code = getenv("CODE");
    void *cached = NULL;
    size_t size = 0;
    const char *waiting = getenv("OMP_WAIT_POLICY");
    (void)self, (void)ret_error;
    call->host->log(call->host, "threads wait: %s", waiting ? waiting : "as they are");
    const bool hit = call->host->cache_read_bytes(call->host, "compiled", &cached, &size) == KG_OK &&
                     size == sizeof code && !memcmp(cached, code, size);
    if (!hit) {
        call->host->part(call->host, "compile");
        (void)call->host->cache_write_bytes(call->host, "compiled", code, sizeof code);
        call->host->part(call->host, getenv("PART_STAYS_OPEN") ? "link" : NULL);
    }
    free(cached);
    kg_compiled *compiled = &ret_identity->compiled[ret_identity->n_compiled++];
    *compiled = (kg_compiled){ .name = "made",
                               .compiler = "none 1.0",
                               .registers = 40,
                               .spill_store_bytes = spills ? atoi(spills) : 0,
                               .compile_ms = hit ? 0 : 12.5,
                               .cache_hit = hit };
    snprintf(compiled->code_hash, sizeof compiled->code_hash, "%s", its_code ? its_code : "00000000000000c0");
    *ret_state = (void *)call;
    return KG_OK;
}

static int launch(const kg_backend *self, void *state, const kg_tensor *tensors, void *stream, kg_error *ret_error)
{
    (void)self, (void)state, (void)stream;
    return series_op.reference_cpu(((const kg_call *)state)->problem, tensors, ret_error);
}

static const kg_backend anchor = { .name = "anchor", .device = KG_CPU, .launch = launch };
static const kg_backend made = { .name = "made", .device = KG_CPU, .prepare = prepare, .launch = launch };

static const struct series shapes[] = { { "row", .n = 4096 } };
static const uint64_t seeds[] = { 0 };
static const kg_backend *const backends[] = { &made };
static const kg_suite compiled = {
    .name = "compiled",
    .op = &series_op,
    .shapes = KG_TABLE(shapes),
    .seeds = KG_LIST(seeds),
    .backends = KG_LIST(backends),
    .cpu_anchor = &anchor,
    .gates = { .max_abs = 0.1, .mean_abs = 0.01, .bad_abs = 0.02, .bad_pct = 1.0, .rel_l2 = 0.05 },
};

static const kg_suite *const suites[] = { &compiled };

MODULE_ROOT("compiled");
