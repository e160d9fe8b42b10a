/* wrong.c -- names of wrong answers, and which of them a suite's table excuses. A new one gets a name here, a value in
 * device/wrong_answers.h, and a line in docs/writing-a-suite.md. */
#include "plan/wrong.h"

#include <string.h>

#include "plan/plan.h"

const char *const kg_wrong_names[KG_WRONGS] = {
    [KG_WRONG_ZEROS] = "zeros",
    [KG_WRONG_NOISE] = "noise",
    [KG_WRONG_FACTOR] = "factor",
    [KG_WRONG_BIAS] = "bias",
    [KG_WRONG_DROPPED_ROW] = "dropped_row",
    [KG_WRONG_SWAPPED_ROWS] = "swapped_rows",
    [KG_WRONG_STALE_TILE] = "stale_tile",
    [KG_WRONG_LARGEST_ZEROED] = "largest_zeroed",
    [KG_WRONG_CUT_TAIL] = "cut_tail",
    [KG_WRONG_NAN] = "nan",
};

int kg_wrong_find(const char *name)
{
    for (int wrong = 0; wrong < KG_WRONGS; wrong++)
        if (!strcmp(name, kg_wrong_names[wrong]))
            return wrong;
    return -1;
}

/* Patterns are over suite/shape/sSEED: gates do not know who wrote the output. */
const kg_excuse *kg_case_excuse(const struct kg_case *of, const char *id, enum kg_wrong wrong)
{
    char inputs[KG_ID_SIZE];
    const char *slash = strrchr(id, '/');
    (void)snprintf(inputs, sizeof inputs, "%.*s", slash ? (int)(slash - id) : (int)strlen(id), id);
    for (size_t i = 0; i < of->suite->excuses.count; i++) {
        const kg_excuse *excuse = &of->suite->excuses.items[i];
        if (kg_wrong_find(excuse->wrong) == (int)wrong && kg_pattern_matches(excuse->pattern, inputs))
            return excuse;
    }
    return NULL;
}

kg_wrong_set kg_case_excused(const struct kg_case *of, const char *id)
{
    kg_wrong_set excused = 0;
    for (int wrong = 0; wrong < KG_WRONGS; wrong++)
        if (kg_case_excuse(of, id, (enum kg_wrong)wrong))
            excused |= 1u << wrong;
    return excused;
}
