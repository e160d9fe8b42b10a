/* format.h -- numbers and words as reasons and reports write them, so that no two of them disagree on a unit.
 * Short texts are returned by value and live to the end of the full expression: printf("%s", kg_format_time(t).s). */
#ifndef KG_FORMAT_H
#define KG_FORMAT_H

#include "base/text.h"

struct kg_text {
    char s[320]; /* what is longer is cut */
};

KG_PRINTF(1, 2) struct kg_text kg_format(const char *format, ...);
struct kg_text kg_format_time(double time_us);                  /* 950 ns, 24.2 us, 1.35 ms, 9.80 s */
struct kg_text kg_format_rate(double tflop_per_s);              /* 22 TFLOP/s, 3.5 GFLOP/s; "" for 0 */
struct kg_text kg_format_error(double error);                   /* 0.0100, 3.2e-07, nan */
struct kg_text kg_format_change(double change_pct, int digits); /* +4.1%, with -0.0% written +0.0% */
struct kg_text kg_format_number(double value);                  /* shortest of six digits; nan, inf, -inf */
struct kg_text kg_format_speedup(double ratio);                 /* 1.25x; "" for NaN */
struct kg_text kg_format_sha(const char *sha, bool dirty);      /* 9f3c1e2-dirty; "unknown" for "" */

/* A cell of a Markdown table, and a whole row: cells, then NULL. An empty cell is a dash. */
void kg_markdown_cell(const char *text, FILE *out);
__attribute__((sentinel)) void kg_markdown_row(FILE *out, ...);

/* KG_OK, or KG_EIO where something written to the stream was lost. Flushes. */
int kg_stream_check(FILE *out, kg_error *ret_error);

#endif
