/* terminal.h -- what a person reads of a run: a line on the machine, a table by suite, what needs an answer, with a
 * command to paste, and what the run comes to. */
#ifndef KG_TERMINAL_H
#define KG_TERMINAL_H

#include "reports/report.h"

struct kg_terminal_options {
    bool color, verbose; /* verbose: every case, with all that is known of it */
    bool quiet;          /* what needs an answer and the last line, no more */
    const char *folder;  /* where all of it can be read; NULL: nowhere */
};

/* Not with verbose: */
#define KG_TERMINAL_ROWS 200 /* a table of more rows has a line a backend and verdict instead */
#define KG_TERMINAL_MOST 20  /* lines of one kind, the rest is a number: answers, flakes, rows that did not pass */

/* KG_OK, or KG_EIO with the stream's error. */
int kg_report_terminal(const struct kg_run *run, const struct kg_terminal_options *options, FILE *out,
                       kg_error *ret_error);

/* terminal_end.c: all of it below the table. */
void kg_terminal_put_end(const struct kg_run *run, const struct kg_terminal_options *options, FILE *out);

#endif
