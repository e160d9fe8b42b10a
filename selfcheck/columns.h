/* columns.h -- aligned columns of text: every line is fitted first, then put. */
#ifndef KG_COLUMNS_H
#define KG_COLUMNS_H

#include <stdio.h>

#define KG_COLUMNS 16
#define KG_COLUMNS_CELL 96

struct kg_columns_line {
    char cells[KG_COLUMNS][KG_COLUMNS_CELL];
};

struct kg_columns {
    int widths[KG_COLUMNS]; /* start with zeros */
    unsigned left;          /* bit by column: aligned to the left */
};

void kg_columns_fit(struct kg_columns *columns, const struct kg_columns_line *line);

/* Columns in which no line has a text are left out. */
void kg_columns_put(const struct kg_columns *columns, const struct kg_columns_line *line, FILE *out);

#endif
