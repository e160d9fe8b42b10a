/* problem.c -- calls of a kg_op's functions, with what a missing one means. */
#include "plan/problem.h"

#include "plan/field.h"

int kg_problem_check(const kg_op *op, const void *problem, kg_error *ret_error)
{
    int status = kg_fields_check(op->fields, problem, ret_error);
    return status || !op->check ? status : op->check(problem, ret_error);
}

struct kg_work kg_problem_work(const kg_op *op, const void *problem)
{
    return (struct kg_work){ .flops = op->flops(problem),
                             .bytes = op->bytes(problem),
                             .queries = op->queries ? op->queries(problem) : 1,
                             .peak_ratio = op->peak_ratio ? op->peak_ratio(problem) : 1 };
}

int kg_problem_tensors(const kg_op *op, const void *problem, kg_tensor ret_tensors[KG_MAX_TENSORS], int *ret_count)
{
    int count = 0;
    int status = op->tensors(problem, ret_tensors, &count);
    *ret_count = count;
    return status || count < 1 || count > KG_MAX_TENSORS ? KG_EINVAL : KG_OK;
}
