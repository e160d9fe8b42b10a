/* selfcheck.h -- `kgate selfcheck`: how often this machine's verdicts are wrong, and what they find. */
#ifndef KG_SELFCHECK_H
#define KG_SELFCHECK_H

#include "options/options.h"

int kg_command_selfcheck(const struct kg_options *options, kg_error *ret_error);

#endif
