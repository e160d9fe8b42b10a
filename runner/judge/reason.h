/* reason.h -- the line that says why a verdict; verdict.c and judge.c add to it, piece by piece. */
#ifndef KG_REASON_H
#define KG_REASON_H

#include "base/text.h"
#include "judge/result.h"

/* Appends to result->reason, cut to its size. */
#define kg_reason_add(result, ...) kg_text_add((result)->reason, sizeof(result)->reason, __VA_ARGS__)

/* What was measured, against what: "p50 26.0 us, golden 25.0 us (+4.0% ±0.2, threshold 2%)". */
void kg_reason_add_time(struct kg_result *result);

/* Every gate that does not hold. */
void kg_reason_add_gates(struct kg_result *result);

#endif
