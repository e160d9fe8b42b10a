/* pathology_variants.c -- the backends of the suite `pathology`: a binary of pathology.cu for each name of PATHOLOGIES.
 *
 * To plant another: a line there, a switch in pathology.cu, and its name in kernels/meson.build and suites/pathology.c.
 */
#include "pathology/pathology.h"
#include "op/sdpa.h"

#define BACKEND(id, its_help) const kg_backend pathology_##id = PATHOLOGY_BACKEND(id, id, its_help);
PATHOLOGIES(BACKEND)
