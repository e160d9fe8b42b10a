/* series.h -- recorded blocks: of one case in one start of `kgate selfcheck`, one line of JSON. Files are appended to,
 * and several add up. Times are kept as logarithms in whole millionths, so that a block takes less than 100 bytes. */
#ifndef KG_SERIES_H
#define KG_SERIES_H

#include <stdio.h>

#include "golden.h"

#define KG_SERIES_SCHEMA 1
#define KG_SERIES_SAMPLES 8 /* windows of the case that are kept of a block */

struct kg_recorded_block {
    double log_p50;      /* of us */
    double log_ratio;    /* case / anchor; NAN: no anchor */
    double log_against;  /* case / baseline */
    double log_baseline; /* of us */
    double log_anchor;   /* of us; NAN: no anchor */
    double planted_pct;  /* of the lane beside the case, its windows longer by this; 0: none, and both logarithms NAN */
    double log_planted;  /* planted case / baseline */
    double log_planted_p50; /* of us */
    double busy_us;         /* in windows, the warm-up's too */
    int calls;
    int clock_mhz;                     /* at the end; -1: unknown */
    long long throttle;                /* reasons at either end, NVML's bits; -1: unknown */
    double samples[KG_SERIES_SAMPLES]; /* logarithms of us, evenly taken from the block's windows */
};

struct kg_series {
    char key[KG_ID_SIZE];  /* suite/shape/backend */
    char kernel_class[16]; /* launch, compute, memory: of suite `classes`, its shapes; else "" */
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

/* Index of the series of `like`'s key, uuid and start, which is made from it without blocks where there is none. */
int kg_series_set_find(struct kg_series_set *set, const struct kg_series *like, size_t *ret_index, kg_error *ret_error);
int kg_series_add_block(struct kg_series *series, const struct kg_recorded_block *block, kg_error *ret_error);

double kg_series_p50_us(const struct kg_series *series); /* median of its blocks' */

/* What is kept of a measured block. */
struct kg_recorded_block kg_recorded_block_of(const struct kg_block *block);

/* One line with its end; free() it. NULL: no memory, or a value that is not finite. */
char *kg_series_format(const struct kg_series *series);

/* KG_EINVAL and what is wrong. */
int kg_series_parse(const char *line, size_t length, struct kg_series *ret_series, kg_error *ret_error);

/* Adds a file's series to the set. KG_EINVAL: "FILE: line N: what". */
int kg_series_read(const char *path, struct kg_series_set *set, kg_error *ret_error);

/* Appends the series that have blocks, in one write, and syncs; on a failure the file is as it was. */
int kg_series_append(const char *path, const struct kg_series_set *set, kg_error *ret_error);

#endif
