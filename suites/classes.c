/* classes.c -- the module that `kgate selfcheck` measures where nothing is selected, and its one suite: a kernel of
 * each class, bound by its launch, by arithmetic, or by memory. Another class is another row. */
#include "classes/chain.h"
#include "kg_build.h"
#include "kg_kernels.h"
#include "suites.h"

static const struct chain shapes[] = {
    { "launch", .n = 4096, .terms = 1 },        /* 2 us: what a launch costs */
    { "compute", .n = 1 << 19, .terms = 6144 }, /* 100 us on an H200, all of it multiply-adds */
    { "memory", .n = 1 << 26, .terms = 1 },     /* 512 MiB, several times any L2 cache */
};
static const struct chain cpu_shapes[] = {
    { "launch", .n = 67, .terms = 3 }, /* no tail is left out */
    { "compute", .n = 1024, .terms = 512 },
    { "memory", .n = 1 << 22, .terms = 1 }, /* 32 MiB */
};
static const kg_suite_regime regimes[] = { { "poison", NULL }, { "sparse", "launch" }, { "outliers", "launch" } };
static const uint64_t seeds[] = { 1 };
static const kg_backend *const backends[] = { &chain_fma_cuda, &chain_wide };

static const kg_suite suite = {
    .name = "classes",
    .help = "one kernel bound by its launch, one by arithmetic, one by memory",
    .op = &chain,
    SUITE_TABLES,
    .anchor = &chain_scalar_cuda,
    .cpu_anchor = &chain_narrow,
    /* Rounding adds up to 1e-5 over the longest chain; a hundredth of its terms lost changes results by 0.6%. */
    .gates = { .max_abs = 1e-3, .mean_abs = 1e-4, .bad_abs = 1e-4, .bad_rel = 1e-4, .bad_pct = 0, .rel_l2 = 1e-4 },
};
static const kg_suite *const suites[] = { &suite };

SUITES_ROOT("classes");
