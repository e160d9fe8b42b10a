/* sample_run.h -- a run with every verdict, the same at each call, that the tests of the reports show. */
#ifndef SAMPLE_RUN_H
#define SAMPLE_RUN_H

#include "reports/report.h"

/* What must be escaped somewhere: '#', '|', quotes, a comma, XML's and CSV's special characters, the end of a CDATA
 * section, a line break, an escape sequence, bytes that are no UTF-8, and letters past ASCII. */
#define NASTY "a #1 | <b> & \"q\" ]]> caf\u00e9, \033[31m\xff\xc0\xaf\x01\nnext\\line"

/* Results are allocated; sample_run_done frees them. */
void sample_run_make(struct kg_run *ret_run);
void sample_run_make_against(struct kg_run *ret_run); /* a baseline judged; interrupted */
void sample_run_make_contest(struct kg_run *ret_run); /* of one suite, whose contest is won */
void sample_run_done(struct kg_run *run);

#endif
