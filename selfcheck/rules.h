/* rules.h -- how other gates compare times, to be shown beside kgate's answers on the same samples. Pure functions;
 * each says whether the new samples are slower. Sources: docs/results/error-rates.md. */
#ifndef KG_RULES_H
#define KG_RULES_H

#include <stdbool.h>
#include <stddef.h>

struct kg_samples {
    const double *us;
    size_t count;
};

/* One p50 against one p50: slower by more than threshold_pct. */
bool kg_rule_p50(struct kg_samples golden, struct kg_samples now, double threshold_pct);

/* Two-sided p-value of Mann and Whitney's U: normal approximation, corrected for ties and continuity, as
 * scipy.stats.mannwhitneyu(x, y, method="asymptotic"). 1 where all values are equal; NAN for an empty side. */
double kg_mann_whitney_p(struct kg_samples golden, struct kg_samples now);

/* p under KG_RULE_ALPHA and the p50 slower, by however little. */
#define KG_RULE_ALPHA 0.01
bool kg_rule_mann_whitney(struct kg_samples golden, struct kg_samples now);

/* How many samples NVBench's `stdrel` takes: at least KG_RULE_MIN_SAMPLES, until their standard deviation is within
 * KG_RULE_NOISE_PCT of their mean, or there are no more. */
#define KG_RULE_MIN_SAMPLES 10
#define KG_RULE_NOISE_PCT 0.5
size_t kg_rule_stdrel_count(struct kg_samples samples);

/* Means of so many samples: slower by more than threshold_pct. */
bool kg_rule_stdrel(struct kg_samples golden, struct kg_samples now, double threshold_pct);

/* Mean against mean, as nvbench_compare: slower by more than the smaller of both sides' relative standard deviations.
 */
bool kg_rule_noise(struct kg_samples golden, struct kg_samples now);

/* ---- all of them ---- */

/* What they are given: the p50s of blocks, each a process, and windows of these. */
struct kg_rule_data {
    struct kg_samples golden_p50s, p50s;
    struct kg_samples golden_windows, windows;
};

struct kg_rule {
    const char *name;
    double threshold_pct; /* 0: the one that is asked for; negative: it has none */
    int blocks;           /* of the new side */
    bool (*is_slow)(const struct kg_rule_data *data, double threshold_pct);
};

#define KG_RULES 7
extern const struct kg_rule kg_rules[KG_RULES];

/* At its own threshold, or at the one that is asked for. */
double kg_rule_threshold_pct(int rule, double asked_pct); /* 0: it has none */
bool kg_rule_says_slow(int rule, const struct kg_rule_data *data, double asked_pct);

#endif
