/* command_line.h -- words as a shell reads them. */
#ifndef KG_COMMAND_LINE_H
#define KG_COMMAND_LINE_H

#include <stddef.h>

/* Appends a space and a word, quoted where needed. */
void kg_command_line_add(char *text, size_t size, const char *word);

#endif
