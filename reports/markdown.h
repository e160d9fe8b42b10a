/* markdown.h -- sections of the Markdown reports that have files of their own, and what they share. A section writes
 * nothing, not even its heading, where a run has nothing for it. A new one is a function here and a call in
 * kg_report_summary. */
#ifndef KG_MARKDOWN_H
#define KG_MARKDOWN_H

#include "reports/report.h"

void kg_markdown_cell(const char *text, FILE *out); /* inside a table's cell: escaped, on one line */

/* contest.c: of each suite with a contest that this run timed a side of, shape by shape, and the criteria of success.
 */
void kg_markdown_contests(const struct kg_run *run, FILE *out);

/* cost_ranking.c: of each suite with a clean backend, how much longer the others take, the costliest first. */
void kg_markdown_costs(const struct kg_run *run, FILE *out);

#endif
