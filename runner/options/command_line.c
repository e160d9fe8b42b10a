/* command_line.c -- quoting for a shell. */
#include "options/command_line.h"

#include <stdio.h>
#include <string.h>

static void append(char *text, size_t size, const char *more)
{
    size_t used = strlen(text);
    snprintf(text + used, size - used, "%s", more);
}

/* A word between single quotes, its own single quotes closed, escaped and opened again. */
void kg_command_line_add(char *text, size_t size, const char *word)
{
    static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-./=,:@%+";
    append(text, size, " ");
    if (*word && !word[strspn(word, plain)]) {
        append(text, size, word);
        return;
    }
    append(text, size, "'");
    for (const char *c = word; *c; c++)
        append(text, size, *c == '\'' ? "'\\''" : (const char[]){ *c, '\0' });
    append(text, size, "'");
}
