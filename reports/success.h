/* success.h -- is a kernel enough faster than its baseline to be called a success? Of the p50s and p90s of both, by
 * shape. Pure. Measured figures stand in for what they are: no confidence is claimed, and no verdict hangs on it. */
#ifndef KG_SUCCESS_H
#define KG_SUCCESS_H

#include <stdbool.h>
#include <stddef.h>

/* How much less than the baseline's p50 ours must be: on two shapes, and on a third. */
#define KG_SUCCESS_MUCH_PCT 10.0
#define KG_SUCCESS_SOME_PCT 5.0

/* A shape, in us. What is not positive and finite was not measured. */
struct kg_match {
    double baseline_p50_us, baseline_p90_us;
    double ours_p50_us, ours_p90_us;
};

enum kg_met { KG_MET, KG_NOT_MET, KG_NOT_MEASURED };

/* Of `count` criteria: not met where one is not. */
enum kg_met kg_met_all(const enum kg_met *criteria, size_t count);

struct kg_success {
    size_t compared;             /* shapes with both p50s; */
    size_t much, some;           /* of them, MUCH_PCT faster, and SOME_PCT faster, the former included; */
    size_t worse_p90;            /* and of `some`, with a p90 over the baseline's, or without one */
    enum kg_met two, third, p90; /* not measured: what was not compared could still meet it */
};

/* Baseline over ours: over 1 is faster. NAN: not measured. */
double kg_match_speedup(const struct kg_match *match);

/* Is ours faster by at least so much, in per cent of the baseline's p50? False where it was not measured. */
bool kg_match_gains(const struct kg_match *match, double pct);

/* `count`: of all shapes of the table, compared or not. */
struct kg_success kg_success_of(const struct kg_match *matches, size_t count);

#endif
