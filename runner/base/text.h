/* text.h -- appending to a text of `size` bytes that already holds a string; what does not fit is cut. */
#ifndef KG_TEXT_H
#define KG_TEXT_H

#include <stdio.h>

#include "kgate.h"

#define KG_LINE 1200 /* bytes of a long line */

KG_PRINTF(3, 4) void kg_text_add(char *text, size_t size, const char *format, ...);

/* The same after a separator, unless the text is empty: "a, b, c". */
KG_PRINTF(4, 5) void kg_text_join(char *text, size_t size, const char *separator, const char *format, ...);

/* A space and a word as a shell reads it, between single quotes where it needs them. */
void kg_text_add_quoted(char *text, size_t size, const char *word);

/* One line of valid UTF-8: white space becomes a space; other control characters, bad bytes and code points that XML
 * forbids become U+FFFD. Cut at a character's boundary. Returns ret_text. */
const char *kg_text_clean(const char *text, char *ret_text, size_t size);
size_t kg_text_width(const char *text); /* in characters */

/* Text on one line, a backslash before each of its characters that is `special`. */
void kg_text_put_escaped(const char *text, const char *special, FILE *out);

#endif
