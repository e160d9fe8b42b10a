/* kept_build.h -- the module of an earlier commit, as ci/baseline keeps it: FOLDER/SHA…/MODULE.so. */
#ifndef KG_KEPT_BUILD_H
#define KG_KEPT_BUILD_H

#include "judge/golden.h"
#include "options/options.h"
#include "run/stop.h"

/* The build that a golden is of. Each of options->duels is a folder of kept builds, or a program that is given the SHA
 * and prints the path of a module. Folders are asked for a build of the golden's commit that has its machine code,
 * programs for one of its commit, folders for any of its commit and then of its code, for a commit that was squashed is
 * nowhere. A program that is at work when the run is to stop is killed. KG_ENOTFOUND: none has it. */
int kg_kept_build_find(const struct kg_options *options, const struct kg_stop *stop, const struct kg_golden *golden,
                       const char *module_path, char ret_path[4096], kg_error *ret_error);

#endif
