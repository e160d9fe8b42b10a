/* golden_file.c -- the files expectations_<arch>.json: what a case of them holds, by tables of members, and what no
 * single member shows. A new member of struct kg_golden needs a row below, and a new schema number. */
#include "judge/golden.h"

#include <ctype.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/record_file.h"

static const char *const quantities[] = { [KG_QUANTITY_RAW] = "raw", [KG_QUANTITY_RATIO] = "ratio" };
static const char *const timers[] = { "graph", "event" }, *const caches[] = { "warm", "cold" };

#define GOLDEN(field) KG_AT(struct kg_golden, field)
#define PROVENANCE(field) KG_AT(struct kg_provenance, field)
#define BEST(field) KG_AT(struct kg_best, field)
#define BLOCKS .least = KG_GOLDEN_MIN_BLOCKS, .most = KG_MAX_BLOCKS, .count = offsetof(struct kg_golden, n_blocks)
#define WITH_ANCHOR .with = offsetof(struct kg_golden, anchor)
#define WITH_PROBLEM .with = offsetof(struct kg_golden, problem)
#define WITH_LAUNCH .with = offsetof(struct kg_golden, launch)
#define THRESHOLD(field) KG_AT(struct kg_threshold, field)
#define DIGEST .most = INT_MAX, .optional = true
#define WITH_COMPILER .most = INT_MAX, .with = offsetof(struct kg_golden, compiler)

/* ---- what tables hold ------------------------------------------------------------------------------------------ */

static const struct kg_member anchor_members[] = {
    { "name", KG_IS_NAME, GOLDEN(anchor) },
    { "identity", KG_IS_TEXT, GOLDEN(anchor_identity) },
};
static const struct kg_member best_anchor_members[] = {
    { "name", KG_IS_NAME, BEST(anchor) },
    { "identity", KG_IS_TEXT, BEST(anchor_identity) },
};
static const struct kg_record anchor_record = KG_RECORD(anchor_members),
                              best_anchor_record = KG_RECORD(best_anchor_members);

static const struct kg_member best_members[] = {
    { "p50_us", KG_IS_POSITIVE, BEST(p50_us) },
    { "ratio", KG_IS_AMOUNT, BEST(ratio) }, /* 0: no anchor */
    { "git_sha", KG_IS_TEXT, BEST(git_sha) },
    { "date", KG_IS_TEXT, BEST(date) },
    { "uuid", KG_IS_TEXT, BEST(uuid) },
    { "anchor", KG_IS_ENTRY, .record = &best_anchor_record, .table = "anchors",
      .with = offsetof(struct kg_best, anchor) },
};
static const struct kg_member card_members[] = {
    { "device", KG_IS_TEXT, PROVENANCE(device) },
    { "uuid", KG_IS_TEXT, PROVENANCE(uuid) },
    { "driver", KG_IS_TEXT, PROVENANCE(driver) },
    { "cuda", KG_IS_TEXT, PROVENANCE(cuda) },
};
static const struct kg_member code_members[] = {
    { "identity", KG_IS_TEXT, GOLDEN(identity) },
    { "pin", KG_IS_TEXT, GOLDEN(pin) },
    { "compiler", KG_IS_NAME, GOLDEN(compiler), WITH_COMPILER },
    { "registers", KG_IS_COUNT, GOLDEN(registers), WITH_COMPILER },
    { "spill_bytes", KG_IS_COUNT, GOLDEN(spill_bytes), WITH_COMPILER },
};
static const struct kg_member contract_members[] = {
    { "timer", KG_IS_TEXT, KG_AT(struct kg_contract, timer), KG_WORDS(timers) },
    { "l2", KG_IS_TEXT, KG_AT(struct kg_contract, l2), KG_WORDS(caches) },
    { "window_us", KG_IS_AMOUNT, KG_AT(struct kg_contract, window_us) }, /* 0: single calls between events */
    { "data", KG_IS_NAME, KG_AT(struct kg_contract, data) },
};
static const struct kg_member problem_members[] = {
    { "fields", KG_IS_NAME, GOLDEN(problem) },       { "flops", KG_IS_EXACT, GOLDEN(flops) },
    { "bytes", KG_IS_EXACT, GOLDEN(bytes) },         { "tensors", KG_IS_COUNT, GOLDEN(tensors), DIGEST },
    { "given", KG_IS_COUNT, GOLDEN(given), DIGEST }, { "answer", KG_IS_TEXT, GOLDEN(answer), .optional = true },
};
static const struct kg_member threshold_members[] = {
    { "pct", KG_IS_AMOUNT, THRESHOLD(pct) },       { "from", KG_IS_NAME, THRESHOLD(from) },
    { "git_sha", KG_IS_TEXT, THRESHOLD(git_sha) }, { "date", KG_IS_TEXT, THRESHOLD(date) },
    { "reason", KG_IS_TEXT, THRESHOLD(reason) },
};
static const struct kg_record threshold_record = KG_RECORD(threshold_members), best_record = KG_RECORD(best_members),
                              card_record = KG_RECORD(card_members), code_record = KG_RECORD(code_members),
                              contract_record = KG_RECORD(contract_members),
                              problem_record = KG_RECORD(problem_members);

static const struct kg_member provenance_members[] = {
    { "git_sha", KG_IS_TEXT, PROVENANCE(git_sha) }, { "branch", KG_IS_TEXT, PROVENANCE(branch) },
    { "dirty", KG_IS_FLAG, PROVENANCE(dirty) },     { "date", KG_IS_TEXT, PROVENANCE(date) },
    { "reason", KG_IS_TEXT, PROVENANCE(reason) },   { "card", KG_IS_ENTRY, .record = &card_record, .table = "cards" },
};
const struct kg_record kg_bless_record = { provenance_members, 5 };

static const struct kg_member setup_members[] = {
    { "code", KG_IS_ENTRY, .record = &code_record, .table = "codes" },
    { "launch", KG_IS_NAME, GOLDEN(launch), WITH_LAUNCH },
    { "knobs", KG_IS_TEXT, GOLDEN(knobs), WITH_LAUNCH },
    { "anchor", KG_IS_ENTRY, .record = &anchor_record, .table = "anchors", WITH_ANCHOR },
    { "contract", KG_IS_ENTRY, GOLDEN(contract), .record = &contract_record, .table = "contracts" },
};
static const struct kg_record provenance_record = KG_RECORD(provenance_members),
                              setup_record = KG_RECORD(setup_members);

/* ---- a case ---------------------------------------------------------------------------------------------------- */

static const struct kg_member members[] = {
    { "key", KG_IS_NAME, GOLDEN(key) },
    { "p50_us", KG_IS_POSITIVE, GOLDEN(p50_us) },
    { "floor_pct", KG_IS_POSITIVE, GOLDEN(floor_pct) },
    { "judge", KG_IS_WORD, GOLDEN(quantity), KG_WORDS(quantities) },
    { "blocks_us", KG_IS_LIST, GOLDEN(blocks_us), BLOCKS },
    { "blocks_ratio", KG_IS_LIST, GOLDEN(blocks_ratio), BLOCKS, WITH_ANCHOR },
    { "anchor_us", KG_IS_POSITIVE, GOLDEN(anchor_p50_us), WITH_ANCHOR },
    { "problem", KG_IS_ENTRY, .record = &problem_record, .table = "problems", WITH_PROBLEM },
    { "threshold", KG_IS_ENTRY, GOLDEN(threshold), .record = &threshold_record, .table = "thresholds",
      .with = offsetof(struct kg_golden, threshold.from) },
    { "creep", KG_IS_NAME, GOLDEN(creep), .with = offsetof(struct kg_golden, creep) },
    { "xfails", KG_IS_NAME, GOLDEN(xfails), .with = offsetof(struct kg_golden, xfails) },
    { "setup", KG_IS_ENTRY, .record = &setup_record, .table = "setups" },
    { "best", KG_IS_ENTRY, GOLDEN(best), .record = &best_record, .table = "bests" },
    { "provenance", KG_IS_ENTRY, GOLDEN(provenance), .record = &provenance_record, .table = "provenances" },
};

/* Of schemas 1 and 2, which have no tables. */
static const struct kg_member older_anchor_members[] = {
    { "name", KG_IS_NAME, GOLDEN(anchor) },
    { "identity", KG_IS_TEXT, GOLDEN(anchor_identity) },
    { "p50_us", KG_IS_POSITIVE, GOLDEN(anchor_p50_us) },
};
static const struct kg_member older_best_members[] = {
    { "p50_us", KG_IS_POSITIVE, BEST(p50_us) },
    { "git_sha", KG_IS_TEXT, BEST(git_sha) },
    { "date", KG_IS_TEXT, BEST(date) },
    { "uuid", KG_IS_TEXT, BEST(uuid), .since = 2 },
    { "ratio", KG_IS_AMOUNT, BEST(ratio), .since = 2 },
    { "anchor", KG_IS_TEXT, BEST(anchor), .since = 2 },
    { "anchor_identity", KG_IS_TEXT, BEST(anchor_identity), .since = 2 },
};
static const struct kg_member older_provenance_members[] = {
    { "git_sha", KG_IS_TEXT, PROVENANCE(git_sha) }, { "branch", KG_IS_TEXT, PROVENANCE(branch) },
    { "dirty", KG_IS_FLAG, PROVENANCE(dirty) },     { "date", KG_IS_TEXT, PROVENANCE(date) },
    { "reason", KG_IS_TEXT, PROVENANCE(reason) },   { "device", KG_IS_TEXT, PROVENANCE(device) },
    { "uuid", KG_IS_TEXT, PROVENANCE(uuid) },       { "driver", KG_IS_TEXT, PROVENANCE(driver) },
    { "cuda", KG_IS_TEXT, PROVENANCE(cuda) },
};
static const struct kg_record older_anchor_record = KG_RECORD(older_anchor_members),
                              older_best_record = KG_RECORD(older_best_members),
                              older_provenance_record = KG_RECORD(older_provenance_members);
static const struct kg_member older_members[] = {
    { "key", KG_IS_NAME, GOLDEN(key) },
    { "p50_us", KG_IS_POSITIVE, GOLDEN(p50_us) },
    { "floor_pct", KG_IS_POSITIVE, GOLDEN(floor_pct) },
    { "identity", KG_IS_TEXT, GOLDEN(identity) },
    { "pin", KG_IS_TEXT, GOLDEN(pin) },
    { "judge", KG_IS_WORD, GOLDEN(quantity), KG_WORDS(quantities) },
    { "blocks_us", KG_IS_LIST, GOLDEN(blocks_us), BLOCKS },
    { "blocks_ratio", KG_IS_LIST, GOLDEN(blocks_ratio), BLOCKS, WITH_ANCHOR },
    { "anchor", KG_IS_RECORD, .record = &older_anchor_record, WITH_ANCHOR },
    { "best", KG_IS_RECORD, GOLDEN(best), .record = &older_best_record },
    { "contract", KG_IS_RECORD, GOLDEN(contract), .record = &contract_record },
    { "provenance", KG_IS_RECORD, GOLDEN(provenance), .record = &older_provenance_record },
};

static const struct kg_record golden_record = KG_RECORD(members), older_record = KG_RECORD(older_members);
static const struct kg_record_file goldens_file = {
    .prefix = KG_GOLDEN_PREFIX,
    .list = "cases",
    .one = "case",
    .key = "key",
    .oldest = 1,
    .schema = KG_GOLDEN_SCHEMA,
    .record = &golden_record,
    .older = &older_record,
    .size = sizeof(struct kg_golden),
};

/* ---- reading --------------------------------------------------------------------------------------------------- */

/* A best of schema 1 is of the golden's card, since none outlived a bless on another; its ratio is known where it is
 * the golden itself. */
static void complete_best(struct kg_golden *golden)
{
    const struct kg_best own = kg_golden_as_best(golden);
    struct kg_best *best = &golden->best;
    if (best->p50_us == own.p50_us && !strcmp(best->git_sha, own.git_sha) && !strcmp(best->date, own.date))
        *best = own;
    else
        memcpy(best->uuid, own.uuid, sizeof best->uuid);
}

static int check_best(const struct kg_golden *golden, kg_error *ret_error)
{
    const struct kg_best *best = &golden->best, own = kg_golden_as_best(golden);
    if ((best->ratio > 0) != (best->anchor[0] != 0))
        return kg_fail(ret_error, KG_EINVAL, "best has only one of ratio and anchor");
    if (!strcmp(best->uuid, own.uuid)) {
        if (!(best->p50_us <= golden->p50_us))
            return kg_fail(ret_error, KG_EINVAL, "best of %g us is slower than p50_us %g", best->p50_us,
                           golden->p50_us);
    } else if (kg_best_same_anchor(best, &own) && !(best->ratio <= own.ratio * (1 + 1e-4))) {
        return kg_fail(ret_error, KG_EINVAL, "best of another card has a ratio of %g, over the golden's %g",
                       best->ratio, own.ratio);
    }
    return 0;
}

/* suite/shape/backend: three names, the shape's with @field=value,… where it was swept. */
static bool key_valid(const char *key)
{
    int slashes = 0;
    for (const char *c = key; *c; c++) {
        if (*c == '/' && (c == key || c[-1] == '/' || !c[1]))
            return false;
        slashes += *c == '/';
        if (!isalnum((unsigned char)*c) && !strchr("_-./@=,+", *c))
            return false;
    }
    return slashes == 2;
}

/* What no single member shows. */
static int check_golden(const struct kg_golden *golden, kg_error *ret_error)
{
    double median = kg_median(golden->blocks_us, (size_t)golden->n_blocks);
    if (!key_valid(golden->key))
        return kg_fail(ret_error, KG_EINVAL, "\"key\" is not suite/shape/backend");
    if (!(fabs(golden->p50_us - median) <= 1e-4 * median))
        return kg_fail(ret_error, KG_EINVAL, "p50_us %g is not the median of blocks_us, %g", golden->p50_us, median);
    if ((golden->anchor_p50_us > 0) != (golden->anchor[0] != 0))
        return kg_fail(ret_error, KG_EINVAL, "only one of blocks_ratio and the setup's anchor is there");
    if (!golden->anchor[0] && golden->quantity == KG_QUANTITY_RATIO)
        return kg_fail(ret_error, KG_EINVAL, "judged by ratio, but without an anchor");
    if (!(kg_golden_creep_pct(golden, 100) > 0))
        return kg_fail(ret_error, KG_EINVAL, "creep is not a positive number: %s", golden->creep);
    return check_best(golden, ret_error);
}

static int take_golden(const void *record, int schema, void *user, kg_error *ret_error)
{
    struct kg_goldens *set = user;
    struct kg_golden golden = *(const struct kg_golden *)record;
    if (schema == 1)
        complete_best(&golden);
    int status = check_golden(&golden, ret_error);
    int order = set->count ? strcmp(set->items[set->count - 1].key, golden.key) : -1;
    if (!status && order >= 0)
        status = kg_fail(ret_error, KG_EINVAL, order ? "not sorted by key" : "repeated");
    return status ? status : kg_goldens_put(set, &golden, false, ret_error);
}

struct sets {
    struct kg_goldens *items;
    size_t count;
};

static int name_set(const char *folder, const char *arch, struct kg_goldens *set, kg_error *ret_error)
{
    if (snprintf(set->arch, sizeof set->arch, "%s", arch) >= (int)sizeof set->arch)
        return kg_fail(ret_error, KG_EINVAL, "the name of the architecture '%.80s' is too long", arch);
    return kg_record_file_path(&goldens_file, folder, arch, set->path, ret_error);
}

static int read_set(const char *folder, const char *arch, void *user, kg_error *ret_error)
{
    struct sets *sets = user;
    if (strchr(arch, '.')) /* a card's: fleet.h */
        return KG_OK;
    struct kg_goldens *grown = realloc(sets->items, (sets->count + 1) * sizeof *grown);
    if (!grown)
        return kg_fail(ret_error, KG_ENOMEM, "out of memory for the goldens");
    sets->items = grown;
    struct kg_goldens *set = &grown[sets->count++];
    *set = (struct kg_goldens){ .exists = true };
    int status = name_set(folder, arch, set, ret_error);
    if (!status)
        status = kg_record_file_read(&goldens_file, folder, arch, take_golden, set, NULL, ret_error);
    return status;
}

int kg_goldens_load_all(const char *folder, struct kg_goldens **ret_sets, size_t *ret_count, kg_error *ret_error)
{
    struct sets sets = { .count = 0 };
    int status = kg_record_file_each(&goldens_file, folder, read_set, &sets, ret_error);
    if (status) {
        kg_goldens_free_all(sets.items, sets.count);
        return status;
    }
    *ret_sets = sets.items;
    *ret_count = sets.count;
    return KG_OK;
}

void kg_goldens_free_all(struct kg_goldens *sets, size_t count)
{
    for (size_t i = 0; i < count; i++)
        kg_goldens_done(&sets[i]);
    free(sets);
}

int kg_goldens_load(const char *folder, const char *arch, struct kg_goldens *ret_goldens, kg_error *ret_error)
{
    struct kg_goldens wanted = { .count = 0 }, *sets = NULL;
    size_t count = 0;
    int status = name_set(folder, arch, &wanted, ret_error);
    if (status == 0)
        status = kg_goldens_load_all(folder, &sets, &count, ret_error);
    if (status < 0)
        return status;
    for (size_t i = 0; i < count; i++) {
        if (strcmp(sets[i].arch, arch))
            continue;
        wanted = sets[i];
        sets[i] = (struct kg_goldens){ .count = 0 };
    }
    kg_goldens_free_all(sets, count);
    *ret_goldens = wanted;
    return KG_OK;
}

/* ---- writing --------------------------------------------------------------------------------------------------- */

int kg_goldens_save(const struct kg_goldens *goldens, const char *folder, kg_error *ret_error)
{
    return kg_record_file_save(&goldens_file, folder, goldens->arch, goldens->items, goldens->count, ret_error);
}
