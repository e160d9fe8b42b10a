/* problem.h -- what an op says of a problem. The parent calls a module's functions here and nowhere else. */
#ifndef KG_PROBLEM_H
#define KG_PROBLEM_H

#include "kgate.h"

/* What one call does, for rates and bounds of time. */
struct kg_work {
    double flops, bytes, queries;
    double peak_ratio; /* of the op: kg_op */
};

/* KG_EINVAL: a field out of its range, or what the op minds. */
int kg_problem_check(const kg_op *op, const void *problem, kg_error *ret_error);

struct kg_work kg_problem_work(const kg_op *op, const void *problem);

/* KG_EINVAL: the op cannot describe them, they are too many, none of them is an output, or one has no name, an
 * impossible rank, a dimension under 1 or more elements than can be counted. */
int kg_problem_tensors(const kg_op *op, const void *problem, kg_tensor ret_tensors[KG_MAX_TENSORS], int *ret_count,
                       kg_error *ret_error);

/* A problem as text, "B=1,H=8,…", members at zero left out; "-" where all are. */
void kg_problem_format(const kg_op *op, const void *problem, char *ret_text, size_t size);

/* Does the problem differ from that of an earlier text? Then ret_change says how: "n=8192 -> n=512, …". A field that
 * the text does not have is none of a change while it is at its fallback: it may be a new one. */
bool kg_problem_differs(const kg_op *op, const void *problem, const char *was, char *ret_change, size_t size);

#endif
