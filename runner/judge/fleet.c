/* fleet.c -- see fleet.h. */
#include "judge/fleet.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/record_file.h"

/* ---- files ------------------------------------------------------------------------------------------------------ */

#define BLOCKS(field) KG_AT(struct kg_card_blocks, field)
#define LIST .least = KG_GOLDEN_MIN_BLOCKS, .most = KG_MAX_BLOCKS, .count = offsetof(struct kg_card_blocks, n_blocks)
#define WITH_ANCHOR .with = offsetof(struct kg_card_blocks, anchor)

static const struct kg_member anchor_members[] = {
    { "name", KG_IS_NAME, BLOCKS(anchor) },
    { "identity", KG_IS_TEXT, BLOCKS(anchor_identity) },
};
static const struct kg_member code_members[] = {
    { "identity", KG_IS_TEXT, BLOCKS(identity) },
};
static const struct kg_member provenance_members[] = {
    { "git_sha", KG_IS_TEXT, BLOCKS(git_sha) },
    { "date", KG_IS_TEXT, BLOCKS(date) },
};
static const struct kg_record anchor_record = KG_RECORD(anchor_members), code_record = KG_RECORD(code_members),
                              provenance_record = KG_RECORD(provenance_members);
static const struct kg_member members[] = {
    { "key", KG_IS_NAME, BLOCKS(key) },
    { "work", KG_IS_NAME, BLOCKS(work) },
    { "blocks_us", KG_IS_LIST, BLOCKS(blocks_us), LIST },
    { "blocks_ratio", KG_IS_LIST, BLOCKS(blocks_ratio), LIST, WITH_ANCHOR },
    { "anchor_us", KG_IS_POSITIVE, BLOCKS(anchor_p50_us), WITH_ANCHOR },
    { "code", KG_IS_ENTRY, .record = &code_record, .table = "codes" },
    { "anchor", KG_IS_ENTRY, .record = &anchor_record, .table = "anchors", WITH_ANCHOR },
    { "provenance", KG_IS_ENTRY, .record = &provenance_record, .table = "provenances" },
};
static const struct kg_record blocks_record = KG_RECORD(members);
static const struct kg_record_file cards_file = {
    .prefix = KG_GOLDEN_PREFIX,
    .list = "cases",
    .one = "case",
    .key = "key",
    .oldest = 1,
    .schema = 1,
    .record = &blocks_record,
    .size = sizeof(struct kg_card_blocks),
};

/* Where the item of the key is, or belongs. */
static size_t place_of(const struct kg_card *card, const char *key)
{
    size_t low = 0, high = card->count;
    while (low < high) {
        const size_t middle = (low + high) / 2;
        if (strcmp(card->items[middle].key, key) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static const struct kg_card_blocks *find(const struct kg_card *card, const char *key)
{
    const size_t at = place_of(card, key);
    return at < card->count && !strcmp(card->items[at].key, key) ? &card->items[at] : NULL;
}

static int put(struct kg_card *card, const struct kg_card_blocks *blocks, kg_error *ret_error)
{
    const size_t at = place_of(card, blocks->key);
    if (!find(card, blocks->key)) {
        struct kg_card_blocks *grown = realloc(card->items, (card->count + 1) * sizeof *grown);
        if (!grown)
            return kg_fail(ret_error, KG_ENOMEM, "out of memory for goldens of a card");
        card->items = grown;
        memmove(&grown[at + 1], &grown[at], (card->count++ - at) * sizeof *grown);
    }
    card->items[at] = *blocks;
    return KG_OK;
}

static int take(const void *record, int schema, void *user, kg_error *ret_error)
{
    struct kg_card *card = user;
    const struct kg_card_blocks *blocks = record;
    (void)schema;
    if (card->count && strcmp(card->items[card->count - 1].key, blocks->key) >= 0)
        return kg_fail(ret_error, KG_EINVAL, "not sorted by key, or repeated");
    for (int i = 0; i < blocks->n_blocks; i++)
        if (!(blocks->blocks_us[i] > 0) || (blocks->anchor[0] && !(blocks->blocks_ratio[i] > 0)))
            return kg_fail(ret_error, KG_EINVAL, "block %d is not positive", i + 1);
    return put(card, blocks, ret_error);
}

struct reading {
    const char *arch;
    struct kg_fleet *fleet;
};

static int add_card(struct kg_fleet *fleet, const char *uuid, struct kg_card **ret_card, kg_error *ret_error)
{
    struct kg_card *grown = realloc(fleet->cards, (fleet->count + 1) * sizeof *grown);
    if (!grown)
        return kg_fail(ret_error, KG_ENOMEM, "out of memory for cards");
    fleet->cards = grown;
    *ret_card = &grown[fleet->count++];
    **ret_card = (struct kg_card){ .count = 0 };
    if (snprintf((*ret_card)->uuid, sizeof(*ret_card)->uuid, "%s", uuid) >= (int)sizeof(*ret_card)->uuid)
        return kg_fail(ret_error, KG_EINVAL, "the name of the card '%.80s' is too long", uuid);
    return KG_OK;
}

static int read_card(const char *folder, const char *name, void *user, kg_error *ret_error)
{
    const struct reading *reading = user;
    const char *dot = strchr(name, '.');
    struct kg_card *card = NULL;
    const size_t length = strlen(reading->arch);
    if (!dot || (size_t)(dot - name) != length || strncmp(name, reading->arch, length))
        return KG_OK;
    int status = add_card(reading->fleet, dot + 1, &card, ret_error);
    return status ? status : kg_record_file_read(&cards_file, folder, name, take, card, NULL, ret_error);
}

int kg_fleet_load(const char *folder, const char *arch, struct kg_fleet *ret_fleet, kg_error *ret_error)
{
    struct kg_fleet fleet = { .count = 0 };
    struct reading reading = { arch, &fleet };
    int status = kg_record_file_each(&cards_file, folder, read_card, &reading, ret_error);
    if (status)
        kg_fleet_done(&fleet);
    else
        *ret_fleet = fleet;
    return status;
}

void kg_fleet_done(struct kg_fleet *fleet)
{
    for (size_t i = 0; i < fleet->count; i++)
        free(fleet->cards[i].items);
    free(fleet->cards);
    *fleet = (struct kg_fleet){ .count = 0 };
}

int kg_fleet_save(const struct kg_fleet *fleet, const char *uuid, const struct kg_goldens *goldens, const char *folder,
                  kg_error *ret_error)
{
    const struct kg_card *card = NULL;
    char name[160];
    for (size_t i = 0; i < fleet->count; i++)
        if (!strcmp(fleet->cards[i].uuid, uuid))
            card = &fleet->cards[i];
    if (!card)
        return KG_OK;
    struct kg_card_blocks *kept = calloc(card->count + 1, sizeof *kept);
    size_t count = 0;
    if (!kept)
        return kg_fail(ret_error, KG_ENOMEM, "out of memory for goldens of a card");
    for (size_t i = 0; i < card->count; i++)
        if (kg_goldens_find(goldens, card->items[i].key))
            kept[count++] = card->items[i];
    (void)snprintf(name, sizeof name, "%s.%s", goldens->arch, uuid);
    int status = kg_record_file_save(&cards_file, folder, name, kept, count, ret_error);
    free(kept);
    return status;
}

/* ---- a golden of a card ------------------------------------------------------------------------------------------ */

/* What was timed, and how, beside the code. */
static void hash_work(const struct kg_golden *golden, char ret_work[17])
{
    char text[4096];
    const struct kg_contract *contract = &golden->contract;
    uint64_t hash = 0xcbf29ce484222325u; /* FNV-1a */
    (void)snprintf(text, sizeof text, "%s|%.17g|%.17g|%s|%s|%s|%s|%.17g|%s", golden->problem, golden->flops,
                   golden->bytes, golden->launch, golden->knobs, contract->timer, contract->l2, contract->window_us,
                   contract->data);
    for (const char *c = text; *c; c++)
        hash = (hash ^ (unsigned char)*c) * 0x100000001b3u;
    (void)snprintf(ret_work, 17, "%016" PRIx64, hash);
}

bool kg_fleet_takes(const struct kg_golden *old, const struct kg_golden *golden)
{
    char was[17], is[17];
    hash_work(old, was);
    hash_work(golden, is);
    return strcmp(old->provenance.uuid, golden->provenance.uuid) != 0 && *golden->identity &&
           !strcmp(old->identity, golden->identity) && !strcmp(old->anchor, golden->anchor) &&
           !strcmp(old->anchor_identity, golden->anchor_identity) && !strcmp(was, is) &&
           !kg_golden_is_other_work(old, golden) && !strcmp(old->xfails, golden->xfails) &&
           !strcmp(old->creep, golden->creep) && old->threshold.pct == golden->threshold.pct;
}

static struct kg_card_blocks blocks_of(const struct kg_golden *golden)
{
    struct kg_card_blocks blocks = { .n_blocks = golden->n_blocks, .anchor_p50_us = golden->anchor_p50_us };
    memcpy(blocks.key, golden->key, sizeof blocks.key);
    hash_work(golden, blocks.work);
    memcpy(blocks.identity, golden->identity, sizeof blocks.identity);
    memcpy(blocks.anchor, golden->anchor, sizeof blocks.anchor);
    memcpy(blocks.anchor_identity, golden->anchor_identity, sizeof blocks.anchor_identity);
    memcpy(blocks.blocks_us, golden->blocks_us, sizeof blocks.blocks_us);
    memcpy(blocks.blocks_ratio, golden->blocks_ratio, sizeof blocks.blocks_ratio);
    memcpy(blocks.git_sha, golden->provenance.git_sha, sizeof blocks.git_sha);
    memcpy(blocks.date, golden->provenance.date, sizeof blocks.date);
    return blocks;
}

int kg_fleet_put(struct kg_fleet *fleet, const struct kg_golden *golden, kg_error *ret_error)
{
    const struct kg_card_blocks blocks = blocks_of(golden);
    struct kg_card *card = NULL;
    int status = KG_OK;
    for (size_t i = 0; i < fleet->count; i++)
        if (!strcmp(fleet->cards[i].uuid, golden->provenance.uuid))
            card = &fleet->cards[i];
    if (!card)
        status = add_card(fleet, golden->provenance.uuid, &card, ret_error);
    return status ? status : put(card, &blocks, ret_error);
}

/* ---- judging ----------------------------------------------------------------------------------------------------- */

static bool same_code(const struct kg_card_blocks *a, const struct kg_card_blocks *b)
{
    return !strcmp(a->identity, b->identity) && !strcmp(a->work, b->work) && !strcmp(a->anchor, b->anchor) &&
           !strcmp(a->anchor_identity, b->anchor_identity);
}

static double mean_of(const struct kg_card_blocks *blocks)
{
    double sum = 0;
    for (int i = 0; i < blocks->n_blocks; i++)
        sum += log(blocks->anchor[0] ? blocks->blocks_ratio[i] : blocks->blocks_us[i]);
    return sum / blocks->n_blocks;
}

static void use_own(const struct kg_card_blocks *own, const char *uuid, struct kg_golden *golden)
{
    golden->n_blocks = own->n_blocks;
    memcpy(golden->blocks_us, own->blocks_us, sizeof golden->blocks_us);
    memcpy(golden->blocks_ratio, own->blocks_ratio, sizeof golden->blocks_ratio);
    golden->anchor_p50_us = own->anchor_p50_us;
    golden->p50_us = kg_median(own->blocks_us, (size_t)own->n_blocks);
    const bool ratio = golden->quantity == KG_QUANTITY_RATIO;
    golden->floor_pct = kg_golden_floor_pct(ratio ? own->blocks_ratio : own->blocks_us, own->n_blocks, KG_CUDA);
    (void)snprintf(golden->provenance.uuid, sizeof golden->provenance.uuid, "%s", uuid);
    memcpy(golden->provenance.date, own->date, sizeof own->date);
}

/* Squares of what the means of cards with this code are off by, and how many of them are free. Every code is counted
 * at its first card. */
static double squares(const struct kg_card_blocks *const *of, int count, int first, int *freedom)
{
    double sum = 0, square = 0;
    int n = 0;
    for (int i = 0; i < count; i++) {
        if (!same_code(of[i], of[first]))
            continue;
        if (i < first)
            return 0;
        sum += mean_of(of[i]);
        square += mean_of(of[i]) * mean_of(of[i]);
        n++;
    }
    *freedom += n - 1;
    return fmax(square - sum * sum / n, 0);
}

static void pool(const struct kg_fleet *fleet, struct kg_golden *golden)
{
    const struct kg_card_blocks own = blocks_of(golden), *of[KG_MAX_CARDS] = { &own };
    const double prior = own.anchor[0] ? KG_CARD_RATIO_SD : KG_CARD_RAW_SD;
    int count = 1, freedom = 0;
    double sum = 0;
    for (size_t i = 0; i < fleet->count && count < KG_MAX_CARDS; i++) {
        const struct kg_card_blocks *its = find(&fleet->cards[i], golden->key);
        if (its && strcmp(fleet->cards[i].uuid, golden->provenance.uuid))
            of[count++] = its;
    }
    golden->n_cards = 0;
    for (int i = 0; i < count; i++) {
        if (same_code(of[i], &own))
            golden->card_means[golden->n_cards++] = mean_of(of[i]);
        sum += squares(of, count, i, &freedom);
    }
    golden->card_sd = sqrt((KG_CARD_PRIOR * prior * prior + sum) / (KG_CARD_PRIOR + freedom));
}

void kg_fleet_fit(const struct kg_fleet *fleet, const char *uuid, struct kg_goldens *goldens)
{
    const struct kg_card *card = NULL;
    for (size_t i = 0; i < fleet->count; i++)
        if (!strcmp(fleet->cards[i].uuid, uuid))
            card = &fleet->cards[i];
    for (size_t i = 0; i < goldens->count && fleet->count; i++) {
        struct kg_golden *golden = &goldens->items[i];
        const struct kg_card_blocks *own = card ? find(card, golden->key) : NULL, its = blocks_of(golden);
        if (own && strcmp(golden->provenance.uuid, uuid) && same_code(own, &its))
            use_own(own, uuid, golden);
        else
            pool(fleet, golden);
    }
}
