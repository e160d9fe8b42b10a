/* columns.h -- aligned columns of text, as wide as their cells. Those in which no line has a text are left out. */
#ifndef KG_COLUMNS_H
#define KG_COLUMNS_H

#include <stddef.h>
#include <stdio.h>

#define KG_COLUMNS 16
#define KG_COLUMNS_CELL 96

struct kg_columns_line {
    char cells[KG_COLUMNS][KG_COLUMNS_CELL];
};

struct kg_columns {
    const struct kg_columns_line *head;
    unsigned left; /* bit by column: aligned to the left */
    /* Line i of what `of` points to; it is asked twice, for its widths and to be put. */
    struct kg_columns_line (*line)(const void *of, size_t i);
    const void *of;
    size_t n_lines;
};

void kg_columns_put(const struct kg_columns *columns, FILE *out);

__attribute__((format(printf, 3, 4))) void kg_columns_set(struct kg_columns_line *line, int column, const char *format,
                                                          ...);

#endif
