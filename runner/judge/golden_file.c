/* golden_file.c -- the files expectations_<arch>.json: what a case of them holds, by tables of members, and what no
 * single member shows. A new member of struct kg_golden needs a row below, and a new schema number. */
#include "judge/golden.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/record_file.h"

static const char *const quantities[] = { [KG_QUANTITY_RAW] = "raw", [KG_QUANTITY_RATIO] = "ratio" };
static const char *const timers[] = { "graph", "event" }, *const caches[] = { "warm", "cold" };

static const struct kg_member anchor_members[] = {
    { "name", KG_IS_NAME, KG_AT(struct kg_golden, anchor) },
    { "identity", KG_IS_TEXT, KG_AT(struct kg_golden, anchor_identity) },
    { "p50_us", KG_IS_POSITIVE, KG_AT(struct kg_golden, anchor_p50_us) },
};
static const struct kg_member best_members[] = {
    { "p50_us", KG_IS_POSITIVE, KG_AT(struct kg_best, p50_us) },
    { "git_sha", KG_IS_TEXT, KG_AT(struct kg_best, git_sha) },
    { "date", KG_IS_TEXT, KG_AT(struct kg_best, date) },
    { "uuid", KG_IS_TEXT, KG_AT(struct kg_best, uuid), .since = 2 },
    { "ratio", KG_IS_AMOUNT, KG_AT(struct kg_best, ratio), .since = 2 }, /* 0: no anchor */
    { "anchor", KG_IS_TEXT, KG_AT(struct kg_best, anchor), .since = 2 },
    { "anchor_identity", KG_IS_TEXT, KG_AT(struct kg_best, anchor_identity), .since = 2 },
};
static const struct kg_member contract_members[] = {
    { "timer", KG_IS_TEXT, KG_AT(struct kg_contract, timer), KG_WORDS(timers) },
    { "l2", KG_IS_TEXT, KG_AT(struct kg_contract, l2), KG_WORDS(caches) },
    { "window_us", KG_IS_AMOUNT, KG_AT(struct kg_contract, window_us) }, /* 0: single calls between events */
    { "data", KG_IS_NAME, KG_AT(struct kg_contract, data) },
};
static const struct kg_member provenance_members[] = {
    { "git_sha", KG_IS_TEXT, KG_AT(struct kg_provenance, git_sha) },
    { "branch", KG_IS_TEXT, KG_AT(struct kg_provenance, branch) },
    { "dirty", KG_IS_FLAG, KG_AT(struct kg_provenance, dirty) },
    { "date", KG_IS_TEXT, KG_AT(struct kg_provenance, date) },
    { "reason", KG_IS_TEXT, KG_AT(struct kg_provenance, reason) },
    { "device", KG_IS_TEXT, KG_AT(struct kg_provenance, device) },
    { "uuid", KG_IS_TEXT, KG_AT(struct kg_provenance, uuid) },
    { "driver", KG_IS_TEXT, KG_AT(struct kg_provenance, driver) },
    { "cuda", KG_IS_TEXT, KG_AT(struct kg_provenance, cuda) },
};
const struct kg_record kg_bless_record = { provenance_members, 5 };
static const struct kg_record anchor_record = KG_RECORD(anchor_members), best_record = KG_RECORD(best_members),
                              contract_record = KG_RECORD(contract_members),
                              provenance_record = KG_RECORD(provenance_members);

#define BLOCKS .least = KG_GOLDEN_MIN_BLOCKS, .most = KG_MAX_BLOCKS, .count = offsetof(struct kg_golden, n_blocks)
#define WITH_ANCHOR .with = offsetof(struct kg_golden, anchor)

static const struct kg_member members[] = {
    { "key", KG_IS_NAME, KG_AT(struct kg_golden, key) },
    { "p50_us", KG_IS_POSITIVE, KG_AT(struct kg_golden, p50_us) },
    { "floor_pct", KG_IS_POSITIVE, KG_AT(struct kg_golden, floor_pct) },
    { "identity", KG_IS_TEXT, KG_AT(struct kg_golden, identity) },
    { "pin", KG_IS_TEXT, KG_AT(struct kg_golden, pin) },
    { "judge", KG_IS_WORD, KG_AT(struct kg_golden, quantity), KG_WORDS(quantities) },
    { "blocks_us", KG_IS_LIST, KG_AT(struct kg_golden, blocks_us), BLOCKS },
    { "blocks_ratio", KG_IS_LIST, KG_AT(struct kg_golden, blocks_ratio), BLOCKS, WITH_ANCHOR },
    { "anchor", KG_IS_RECORD, .record = &anchor_record, WITH_ANCHOR },
    { "best", KG_IS_RECORD, KG_AT(struct kg_golden, best), .record = &best_record },
    { "contract", KG_IS_RECORD, KG_AT(struct kg_golden, contract), .record = &contract_record },
    { "provenance", KG_IS_RECORD, KG_AT(struct kg_golden, provenance), .record = &provenance_record },
};
static const struct kg_record golden_record = KG_RECORD(members);
static const struct kg_record_file goldens_file = {
    .prefix = "expectations_",
    .list = "cases",
    .one = "case",
    .key = "key",
    .oldest = 1,
    .schema = KG_GOLDEN_SCHEMA,
    .record = &golden_record,
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
    if (!golden->anchor[0] && golden->quantity == KG_QUANTITY_RATIO)
        return kg_fail(ret_error, KG_EINVAL, "judged by ratio, but without an anchor");
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
