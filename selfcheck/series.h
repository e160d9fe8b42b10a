/* series.h -- recorded blocks of one case in one start of `kgate selfcheck`, and sets of such series. */
#ifndef KG_SERIES_H
#define KG_SERIES_H

#include "judge/golden.h"
#include "selfcheck/recorded_block.h"

struct kg_series {
    char key[KG_ID_SIZE];  /* suite/shape/backend */
    char kernel_class[16]; /* launch, compute, memory: of suite `classes`, its shapes; else "" */
    int nodes;             /* of one captured launch: kernels and memory operations; 0: not known */
    enum kg_device_kind kind;
    char device[96], uuid[64], driver[32];
    char start[64]; /* run id: blocks of one start of the command share it */
    char date[32];
    char git_sha[48];
    char library[96]; /* head of the identity */
    struct kg_contract contract;
    double tick_us;
    struct kg_recorded_block *blocks; /* in the order they were measured; owned */
    int n_blocks;
};

struct kg_series_set {
    struct kg_series *items;
    size_t count;
};

void kg_series_set_done(struct kg_series_set *set);

/* The set takes the series, its blocks too; KG_ENOMEM: they stay the caller's. */
int kg_series_set_add(struct kg_series_set *set, const struct kg_series *series, kg_error *ret_error);

/* Is the series there already: of its key, uuid, start and date? */
bool kg_series_set_has(const struct kg_series_set *set, const struct kg_series *series);

/* Index of the series of `like`'s key, uuid and start, which is made from it without blocks where there is none. */
int kg_series_set_find(struct kg_series_set *set, const struct kg_series *like, size_t *ret_index, kg_error *ret_error);
int kg_series_add_block(struct kg_series *series, const struct kg_recorded_block *block, kg_error *ret_error);

double kg_series_p50_us(const struct kg_series *series); /* median of its blocks' */

#endif
