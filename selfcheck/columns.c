/* columns.c -- widths of all lines first, then the lines. */
#include "selfcheck/columns.h"

#include <stdarg.h>
#include <string.h>

void kg_columns_set(struct kg_columns_line *line, int column, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(line->cells[column], sizeof line->cells[column], format, arguments);
    va_end(arguments);
}

static void fit(int widths[KG_COLUMNS], const struct kg_columns_line *line)
{
    for (int i = 0; i < KG_COLUMNS; i++)
        if ((int)strlen(line->cells[i]) > widths[i])
            widths[i] = (int)strlen(line->cells[i]);
}

static void put(const int widths[KG_COLUMNS], unsigned left, const struct kg_columns_line *line, FILE *out)
{
    char text[KG_COLUMNS * (KG_COLUMNS_CELL + 2) + 1] = "";
    int used = 0;
    for (int i = 0; i < KG_COLUMNS; i++)
        if (widths[i])
            used += snprintf(text + used, sizeof text - (size_t)used, "  %*s", left >> i & 1 ? -widths[i] : widths[i],
                             line->cells[i]);
    while (used > 0 && text[used - 1] == ' ')
        used--;
    fprintf(out, "%.*s\n", used, text);
}

void kg_columns_put(const struct kg_columns *columns, FILE *out)
{
    int widths[KG_COLUMNS] = { 0 };
    struct kg_columns_line line;
    fit(widths, columns->head);
    for (size_t i = 0; i < columns->n_lines; i++) {
        line = columns->line(columns->of, i);
        fit(widths, &line);
    }
    put(widths, columns->left, columns->head, out);
    for (size_t i = 0; i < columns->n_lines; i++) {
        line = columns->line(columns->of, i);
        put(widths, columns->left, &line, out);
    }
}
