/* series.h -- recorded blocks of one case in one start of `kgate selfcheck`; sets of such series, and files of them. */
#ifndef KG_SERIES_H
#define KG_SERIES_H

#include "judge/floors.h"
#include "judge/result.h"

/* ---- a block --------------------------------------------------------------------------------------------------- */

#define KG_SERIES_SAMPLES 8 /* windows of the case that are kept of a block */

/* What is kept of a measured block: times as logarithms, so that ratios are differences. */
struct kg_recorded_block {
    double log_p50;      /* of us */
    double log_ratio;    /* case / anchor; NAN: no anchor */
    double log_against;  /* case / baseline */
    double log_baseline; /* of us */
    double log_anchor;   /* of us; NAN: no anchor */
    double planted_pct;  /* of the arm beside the case, its windows longer by this; 0: none, and both logarithms NAN */
    double log_planted;  /* planted case / baseline */
    double log_planted_p50; /* of us */
    double busy_us;         /* in windows, the warm-up's too */
    int calls;
    int clock_mhz;                     /* at the end; -1: unknown */
    long long throttle;                /* reasons at either end, NVML's bits; -1: unknown */
    double samples[KG_SERIES_SAMPLES]; /* logarithms of us, evenly taken from the block's windows */
};

struct kg_recorded_block kg_recorded_block_of(const struct kg_block *block);

/* ---- a series -------------------------------------------------------------------------------------------------- */

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
    char code[24];    /* kg_floor_code; "" : read from a file, which leaves no floors */
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
/* Does no earlier series of the set have its text at this offset of struct kg_series, of the key, start or uuid? */
bool kg_series_set_is_first(const struct kg_series_set *set, size_t i, size_t offset);

int kg_series_add_block(struct kg_series *series, const struct kg_recorded_block *block, kg_error *ret_error);

double kg_series_p50_us(const struct kg_series *series); /* median of its blocks' */

/* ---- files ----------------------------------------------------------------------------------------------------- */

#define KG_SERIES_SCHEMA 1

/* A series as one line of JSON with its end; free() it. Times are kept in whole millionths, so that a block takes less
 * than 100 bytes. NULL: no memory, or a value that is not finite. */
char *kg_series_format(const struct kg_series *series);

/* KG_EINVAL and what is wrong. */
int kg_series_parse(const char *line, size_t length, struct kg_series *ret_series, kg_error *ret_error);

/* Adds a file's series to the set, a line each; several files add up. KG_EINVAL: "FILE: line N: what"; blocks that the
 * set has already are no new ones. */
int kg_series_read(const char *path, struct kg_series_set *set, kg_error *ret_error);

/* Appends the series that have blocks, in one write, and syncs; on a failure the file is as it was. */
int kg_series_append(const char *path, const struct kg_series_set *set, kg_error *ret_error);

#endif
