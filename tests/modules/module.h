/* module.h -- the root of a test's module, in a file that lists its `suites`; what the build knows of it comes with it. */
#ifndef MODULE_H
#define MODULE_H

#include "kg_build.h"
#include "kgate.h"

#define MODULE_ROOT(its_name)                                                                                          \
    KG_EXPORT const struct kg_module kg_module = { KG_MODULE_SIZES,                                                    \
                                                   .name = its_name,                                                   \
                                                   .git_sha = KG_GIT_SHA,                                              \
                                                   .git_dirty = KG_GIT_DIRTY,                                          \
                                                   .flags = KG_BUILD_FLAGS,                                            \
                                                   .suites = suites,                                                   \
                                                   .n_suites = sizeof suites / sizeof *suites }

#endif
