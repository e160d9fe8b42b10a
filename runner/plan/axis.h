/* axis.h -- the fields that a selection sets in a suite's rows, with their values: its environment variables in the
 * order of its table, then --set's. Pure. */
#ifndef KG_AXIS_H
#define KG_AXIS_H

#include "plan/plan.h"

#define KG_MAX_AXES 16

struct kg_axis {
    const kg_field *field;
    const char *variable; /* that sets it; NULL: --set does */
    char (*values)[64];   /* as ids have them, however they were typed; each once */
    size_t n_values;
};

struct kg_axes {
    struct kg_axis items[KG_MAX_AXES];
    size_t count;
};

/* KG_EINVAL, beginning with `--set` or VARIABLE=VALUE: a field that the op lacks, a value that the field refuses, or
 * one that is given twice. */
int kg_axes_make(const kg_suite *suite, const struct kg_selection *selection, struct kg_axes *ret_axes,
                 kg_error *ret_error);
void kg_axes_done(struct kg_axes *axes);

/* Its text, commas and all; NULL: it is unset, empty, or --set sets its field. */
const char *kg_selection_variable(const struct kg_selection *selection, const kg_variable *variable);

#endif
