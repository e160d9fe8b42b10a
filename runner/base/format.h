/* format.h -- numbers and words as reasons and reports write them, so that no two of them disagree on a unit.
 * Short texts are returned by value and live to the end of the full expression: printf("%s", kg_format_time(t).s). */
#ifndef KG_FORMAT_H
#define KG_FORMAT_H

#include <stddef.h>
#include <stdio.h>

#include "kgate.h"

#define KG_LINE 1200 /* bytes of a long line */

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

/* One line of valid UTF-8: white space becomes a space; other control characters, bad bytes and code points that XML
 * forbids become U+FFFD. Cut at a character's boundary. Returns ret_text. */
const char *kg_text_clean(const char *text, char *ret_text, size_t size);
size_t kg_text_width(const char *text); /* in characters */

/* Appends to a text of `size` bytes that already holds a string; what does not fit is cut. */
KG_PRINTF(3, 4) void kg_text_add(char *text, size_t size, const char *format, ...);
void kg_text_add_quoted(char *text, size_t size, const char *word); /* a space and a shell word, quoted where needed */

/* Text on one line, a backslash before each of its characters that is `special`. */
void kg_text_put_escaped(const char *text, const char *special, FILE *out);
/* A cell of a Markdown table, and a whole row: cells, then NULL. An empty cell is a dash. */
void kg_markdown_cell(const char *text, FILE *out);
__attribute__((sentinel)) void kg_markdown_row(FILE *out, ...);

/* KG_OK, or KG_EIO where something written to the stream was lost. Flushes. */
int kg_stream_check(FILE *out, kg_error *ret_error);

#endif
