/* plan.h -- from a module's tables and a selection to the list of cases. Pure: no device, no files. */
#ifndef KG_PLAN_H
#define KG_PLAN_H

#include "kgate.h"
#include "plan/policy.h"

#define KG_NAME_SIZE 64 /* of suites and backends */
#define KG_ID_SIZE 320
#define KG_ANCHOR_SIZE 196 /* of kg_case_anchor */

/* One row of the plan. `problem` is the plan's copy of the table's row, with --set and fallbacks applied. */
struct kg_case {
    const kg_suite *suite;
    const kg_backend *backend;
    const void *problem;
    const char *shape;       /* row's name, with @field=value for swept fields */
    const char *environment; /* "BLOCK_SIZE=64,…", variables that changed the row; NULL or "": none did */
    uint64_t seed;
    const kg_regime *regime; /* NULL: normal inputs. In a regime, correctness only */
    enum kg_device_kind kind;
    size_t shape_ordinal;    /* cases of one (suite, shape) share it */
    int tensors;             /* kg_tensors_digest of what its op described where it was planned; 0: not asked */
    struct kg_policy policy; /* the session's to resolve */
};

struct kg_sweep {
    const char *field;
    const char *const *values; /* as typed; each is parsed by the field's table */
    size_t n_values;
};

struct kg_selection {
    const char *const *patterns, *const
                                     *excludes; /* shell globs over ids; a leading part up to a '/' selects all below */
    size_t n_patterns, n_excludes;
    const char *const *backends; /* names; none: all */
    size_t n_backends;
    const uint64_t *seeds; /* none: the suite's; seeds of the user's choice are allowed */
    size_t n_seeds;
    const char *const *regimes; /* names, normal among them; none: normal inputs and the suite's */
    size_t n_regimes;
    bool every_regime; /* those of a shape come with its normal case, whatever patterns say: a bless checks all */
    const struct kg_sweep *sweeps;
    size_t n_sweeps;
    char *(*variable)(const char *name); /* getenv, or what stands in for it; NULL: no variable is set */
    size_t shard, n_shards;              /* 1-based; n_shards 0: no sharding. A (suite, shape) is never split */
    enum kg_device_kind kind;            /* 0: both */
};

struct kg_plan {
    struct kg_case *cases;
    size_t count;
    size_t n_shapes;
    struct kg_plan_shape *shapes; /* owned problems and names, one a (suite, swept row) */
};

/* In the tables' order: suite, CUDA rows before CPU rows, row, sweep, seed, backend; seeds of normal inputs before
 * those of regimes. Values that variables and --set give a row stand in its name in that order, those of variables only
 * where they are not the row's own. KG_EINVAL: a pattern that is no glob or matches nothing, a backend, regime or field
 * that no suite has, a value out of range or that the op refuses in a selected row, nothing selected. */
int kg_plan_make(const struct kg_module *module, const struct kg_selection *selection, struct kg_plan *ret_plan,
                 kg_error *ret_error);
void kg_plan_done(struct kg_plan *plan);

/* A plan of each module by one selection: a pattern must match, and a backend be known, in one of them, and one of
 * the plans must hold a case. */
int kg_plans_make(const struct kg_module *const *modules, size_t n_modules, const struct kg_selection *selection,
                  struct kg_plan *ret_plans, kg_error *ret_error);

/* The problem of a shape by its name, `row` or `row@field=value,…`, as the plan made it for backends of this kind;
 * free() it. */
int kg_plan_problem(const kg_suite *suite, enum kg_device_kind kind, const char *shape, void **ret_problem,
                    kg_error *ret_error);

/* What is timed beside a case on this backend: its suite's anchor, else the suite's anchor_case, with a problem of its
 * own in *ret_problem, which is NULL otherwise: free() it. KG_ENOTFOUND without a text: there is nothing. */
int kg_plan_anchor(const struct kg_module *module, const struct kg_case *of, const char *backend,
                   struct kg_case *ret_anchor, void **ret_problem, kg_error *ret_error);

/* Its name: the anchor's, or SUITE/SHAPE/BACKEND, which KG_CUDA and CPU cases may share; "" : none. */
const char *kg_case_anchor(const struct kg_case *of, const char *backend);
/* The suite's own; NULL: none, or it is this backend. */
const kg_backend *kg_case_own_anchor(const struct kg_case *of, const char *backend);

/* suite/shape/sSEED/backend, or suite/shape/sSEED-REGIME/backend; and the golden's key suite/shape/backend, for a
 * backend by name. */
void kg_case_id(const struct kg_case *of, char *ret_id, size_t size);
void kg_case_key(const struct kg_case *of, const char *backend, char *ret_key, size_t size);

/* Does a glob, or a leading part of an id, select the id? */
bool kg_pattern_matches(const char *pattern, const char *id);
int kg_pattern_check(const char *pattern, kg_error *ret_error);

/* Would the selection have chosen this golden's key, had its case been in the table? Keys of swept rows ('@') are
 * never expected back. A suite that is gone had whatever seed it takes, of those that were asked for. */
bool kg_selection_covers_key(const struct kg_module *module, const struct kg_selection *selection, const char *key);

/* Is the regime asked for? NULL: normal inputs. */
bool kg_selection_wants_regime(const struct kg_selection *selection, const kg_regime *regime);

/* The reason of the row that says it must fail; NULL: none. */
const char *kg_case_xfail(const struct kg_case *of, const char *id);

#endif
