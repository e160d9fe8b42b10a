/* problem.h -- what an op says of a problem: asked of its functions in a process that has loaded the module, of such a
 * process where the op's table was read from it. */
#ifndef KG_PROBLEM_H
#define KG_PROBLEM_H

#include "kgate.h"

/* What one call does, for rates and bounds of time. */
struct kg_work {
    double flops, bytes, queries;
    double peak_ratio; /* of the op: kg_op */
    int tensors;       /* kg_tensors_digest; 0: they cannot be described */
    int given;     /* a digest of the inputs that it gives, by who has run it; 0: there are none, or it did not run */
    uint64_t seed; /* of its inputs, as `rms` */
    double rms;    /* of the reference's output, by who has run it; 0: it did not run */
};

enum kg_question { KG_ASK_CHECK, KG_ASK_WORK, KG_ASK_TENSORS, KG_QUESTIONS };

/* What an op's functions said. */
struct kg_answers {
    int status; /* of the call; then the error's text, or what was asked for */
    struct kg_work work;
    kg_tensor tensors[KG_MAX_TENSORS];
    int n_tensors;
};

/* By its own functions. */
int kg_op_answer(const kg_op *op, enum kg_question question, const void *problem, struct kg_answers *ret_answers,
                 kg_error *ret_error);

/* Who answers for ops that stand within `size` bytes from `begin` on. */
struct kg_op_server {
    const char *begin;
    size_t size;
    int (*ask)(struct kg_op_server *server, const kg_op *op, enum kg_question question, const void *problem,
               struct kg_answers *ret_answers, kg_error *ret_error);
    struct kg_op_server *next;
};
void kg_op_server_add(struct kg_op_server *server);

/* KG_EINVAL: a field out of its range, or what the op minds. */
int kg_problem_check(const kg_op *op, const void *problem, kg_error *ret_error);

/* Of dtypes, units, roles and dimensions; not 0. */
int kg_tensors_digest(const kg_tensor *tensors, int count);

int kg_problem_work(const kg_op *op, const void *problem, struct kg_work *ret_work, kg_error *ret_error);

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
