/* terminal_end.h -- the last lines of the terminal's report. */
#ifndef KG_TERMINAL_END_H
#define KG_TERMINAL_END_H

#include "reports/report.h"

/* Flakes, what a bless would do, how it was timed, whether it is partial, and the counts. */
void kg_terminal_put_end(const struct kg_run *run, FILE *out);

#endif
