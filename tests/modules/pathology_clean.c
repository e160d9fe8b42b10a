/* pathology_clean.c -- the module that the suite `pathology` is judged against: the same names, but every backend runs
 * the clean kernel. So attention.so reads as a change that planted something in all of them but `clean`. */
#include "kg_build.h"
#include "pathology/pathology.h"
#include "suites.h"

#define BACKEND(id, its_help) const kg_backend pathology_##id = PATHOLOGY_BACKEND(id, clean, its_help);
PATHOLOGIES(BACKEND)

static const kg_suite *const suites[] = { &pathology };

KG_EXPORT const struct kg_module kg_module = {
    KG_MODULE_SIZES,
    .name = "pathology_clean",
    .git_sha = KG_GIT_SHA,
    .git_dirty = KG_GIT_DIRTY,
    .flags = KG_BUILD_FLAGS,
    .suites = suites,
    .n_suites = sizeof suites / sizeof *suites,
};
