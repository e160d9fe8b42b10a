/* case_noise.h -- what recorded blocks say of one case's noise between blocks, and what a gate of them would find.
 * Pure. */
#ifndef KG_CASE_NOISE_H
#define KG_CASE_NOISE_H

#include "judge/floors.h"
#include "selfcheck/rates.h"
#include "selfcheck/series.h"

/* Over all series that the set has of the case, of any start and card. */
struct kg_case_noise {
    const struct kg_series *series; /* the first of them */
    int n_blocks, n_series;
    double p50_us;
    double sd[KG_QUANTITIES];        /* between blocks of one series, of logarithms; 0: not measured */
    double floor_pct[KG_QUANTITIES]; /* 0: not measured */
    double detectable_pct; /* smallest change that KG_DETECTABLE_SHARE of later gates here would call SLOW; 0: none */
    struct kg_rate drawn[KG_PLANTED]; /* gates drawn from the case's own blocks; none where not asked for */
    double clear_s; /* windows of a clear case, which is decided at the first look: a run's blocks are of two arms, so
                     * of a recorded one its share of the arms */
};

/* Gates against, of blocks that are drawn from the case's own with replacement: what later runs on this machine would
 * find, at sizes that no block has. */
#define KG_DRAWN_GATES 200 /* a size */
#define KG_DETECTABLE_GATES 1000
#define KG_DETECTABLE_SHARE 0.99

/* One a case, in the order of the set; `room` has one for every series. `max_blocks`: of a set of rounds.
 * `drawn_threshold_pct`: of drawn gates; negative: none. */
size_t kg_case_noises_of(const struct kg_series_set *set, int max_blocks, double drawn_threshold_pct,
                         struct kg_case_noise *room);

/* For later runs on this machine: of a set that was recorded on one card in one start. KG_EINVAL: too few blocks to
 * tell. */
int kg_case_noise_floor(const struct kg_case_noise *noise, struct kg_floor *ret_floor);

#endif
