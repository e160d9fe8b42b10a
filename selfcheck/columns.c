/* columns.c -- widths, then lines. */
#include "selfcheck/columns.h"

#include <string.h>

void kg_columns_fit(struct kg_columns *columns, const struct kg_columns_line *line)
{
    for (int i = 0; i < KG_COLUMNS; i++)
        if ((int)strlen(line->cells[i]) > columns->widths[i])
            columns->widths[i] = (int)strlen(line->cells[i]);
}

void kg_columns_put(const struct kg_columns *columns, const struct kg_columns_line *line, FILE *out)
{
    char text[KG_COLUMNS * (KG_COLUMNS_CELL + 2) + 1] = "";
    int used = 0;
    for (int i = 0; i < KG_COLUMNS; i++) {
        const int width = columns->left >> i & 1 ? -columns->widths[i] : columns->widths[i];
        if (width)
            used += snprintf(text + used, sizeof text - (size_t)used, "  %*s", width, line->cells[i]);
    }
    while (used > 0 && text[used - 1] == ' ')
        used--;
    fprintf(out, "%.*s\n", used, text);
}
