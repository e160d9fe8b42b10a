/* pathology_clean.c -- the module that the suite `pathology` is judged against: the same names, but every backend runs
 * the clean kernel. So attention.so reads as a change that planted something in all of them but `clean`. */
#include "module.h"
#include "pathology/pathology.h"
#include "suites.h"

/* No suite here has that case. */
#undef STEADY_CASE
#define STEADY_CASE NULL
#include "../../suites/pathology.c"

#define BACKEND(id, its_help) const kg_backend pathology_##id = PATHOLOGY_BACKEND(id, clean, its_help);
PATHOLOGIES(BACKEND)

static const kg_suite *const suites[] = { &pathology };

MODULE_ROOT("pathology_clean");
