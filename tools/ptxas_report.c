/* ptxas_report.c -- OBJECT.ptxas: what ptxas says of each kernel, and after it the lines that nvcc-object adds:
 *
 *     kgate nvcc VERSION
 *     kgate ptx sm_ARCH KERNEL BLOCK_THREADS MMA_SYNC WMMA WGMMA TCGEN05     counts of instructions
 *     kgate sass sm_ARCH KERNEL TENSOR                                       where there is a disassembler
 *
 * ptxas says its notes first, of all kernels of one architecture, and then describes these.
 */
#include "kernel_table.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAME_BYTES 4096
#define MAX_NOTES 1024
#define SEPARATOR " | " /* KG_NOTE_SEPARATOR of kgate.h */

struct reader {
    struct table *table;
    const char *path;
    struct row *row;              /* described now */
    size_t part_start;            /* rows of this architecture */
    const char *notes[MAX_NOTES]; /* said before they were described; lines of the text */
    size_t n_notes;
};

struct row *row_find(struct table *table, const char *name, const char *arch)
{
    for (size_t i = table->report_start; i < table->count; i++)
        if (strcmp(table->rows[i].name, name) == 0 && strcmp(table->rows[i].arch, arch) == 0)
            return &table->rows[i];
    return NULL;
}

static struct row *row_add(struct table *table, const char *name, const char *arch)
{
    if (table->count == table->room) {
        table->room = table->room ? 2 * table->room : 64;
        table->rows = memory(realloc(table->rows, table->room * sizeof *table->rows));
    }
    if (strlen(arch) >= sizeof table->rows->arch)
        die("%s: architecture name is too long", arch);
    struct row *row = &table->rows[table->count++];
    *row = (struct row){ .registers = -1, .stack_bytes = -1, .tensor_sass = -1 };
    row->name = memory(strdup(name));
    row->notes = memory(strdup(""));
    strcpy(row->arch, arch);
    return row;
}

/* ---- notes ---------------------------------------------------------------------------------------------------- */

/* "ptxas warning : …" and "ptxas info    : (C7510) …": what it would rather have had otherwise. */
static bool is_note(const char *line)
{
    return strncmp(line, "ptxas warning", 13) == 0 || strncmp(line, "ptxas info    : (C", 18) == 0;
}

static bool names(const char *line, const char *kernel)
{
    size_t length = strlen(kernel);
    for (const char *at = line; (at = strstr(at, kernel)); at++)
        if ((at == line || !(isalnum((unsigned char)at[-1]) || at[-1] == '_')) &&
            !(isalnum((unsigned char)at[length]) || at[length] == '_'))
            return true;
    return false;
}

/* Line numbers and byte counts move without meaning anything: a note is what it says up to where. Said once. */
static void note_add(struct row *row, const char *line)
{
    static const char *const places[] = { " in around line ", " in function '", " in the function '" };
    const char *text = strstr(line, ": ") + 2;
    size_t length = strlen(text), had = strlen(row->notes);
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        const char *place = strstr(text, places[i]);
        if (place && (size_t)(place - text) < length)
            length = (size_t)(place - text);
    }
    for (const char *at = row->notes, *end; *at; at = *end ? end + strlen(SEPARATOR) : end) {
        end = strstr(at, SEPARATOR);
        end = end ? end : at + strlen(at);
        if ((size_t)(end - at) == length && strncmp(at, text, length) == 0)
            return;
    }
    row->notes = memory(realloc(row->notes, had + strlen(SEPARATOR) + length + 1));
    sprintf(row->notes + had, "%s%.*s", had ? SEPARATOR : "", (int)length, text);
}

/* Each note goes to the kernels that it names, and to all of this architecture where it names none. */
static void part_end(struct reader *reader)
{
    struct row *rows = reader->table->rows;
    const size_t count = reader->table->count;
    for (size_t n = 0; n < reader->n_notes; n++) {
        bool told = false;
        for (size_t i = reader->part_start; i < count; i++)
            told = told || names(reader->notes[n], rows[i].name);
        for (size_t i = reader->part_start; i < count; i++)
            if (!told || names(reader->notes[n], rows[i].name))
                note_add(&rows[i], reader->notes[n]);
    }
    reader->n_notes = 0;
    reader->part_start = count;
}

static void note_read(struct reader *reader, const char *line)
{
    if (reader->part_start < reader->table->count)
        part_end(reader);
    if (reader->n_notes == MAX_NOTES)
        die("%s: more than %d notes", reader->path, MAX_NOTES);
    if (!strstr(line, ": "))
        die("%s: not understood: %s", reader->path, line);
    reader->notes[reader->n_notes++] = line;
}

/* ---- lines ---------------------------------------------------------------------------------------------------- */

/* "…, 256 bytes smem, …"; older toolkits write "256+16 bytes smem". */
static int shared_parse(const char *line)
{
    const char *end = strstr(line, " bytes smem");
    if (!end)
        return 0;
    while (end > line && strchr("0123456789+", end[-1]))
        end--;
    int first = 0, second = 0;
    sscanf(end, "%d+%d", &first, &second);
    return first + second;
}

/* "…, used 2 barriers, …"; older toolkits write "2 barriers", and nothing where there are none. */
static int barriers_parse(const char *line)
{
    const char *end = strstr(line, " barriers");
    int barriers = 0;
    while (end && end > line && isdigit((unsigned char)end[-1]))
        end--;
    if (end)
        sscanf(end, "%d", &barriers);
    return barriers;
}

static void entry_begin(struct reader *reader, const char *name, const char *arch)
{
    const struct row *last = reader->row;
    if (last && strcmp(last->arch, arch) != 0 && reader->part_start < reader->table->count)
        part_end(reader);
    reader->row = row_add(reader->table, name, arch);
}

/* After a kernel's own line comes one of each function that it calls, as it was compiled for this kernel: what these
 * spill, the kernel's calls spill. */
static void properties_add(struct row *row, int stack, int stores, int loads)
{
    row->stack_bytes = row->stack_bytes < 0 ? stack : row->stack_bytes + stack;
    row->spill_store_bytes += stores;
    row->spill_load_bytes += loads;
}

static void ptxas_line(struct reader *reader, const char *line)
{
    static char name[NAME_BYTES], arch[64];
    struct row *row = reader->row;
    const char *at;
    int used, stack, stores, loads;
    if ((at = strstr(line, "Compiling entry function '")) &&
        sscanf(at, "Compiling entry function '%4095[^']' for '%63[^']'", name, arch) == 2) {
        entry_begin(reader, name, arch);
    } else if (row && sscanf(line, " %d bytes stack frame, %d bytes spill stores, %d bytes spill loads", &stack,
                             &stores, &loads) == 3) {
        properties_add(row, stack, stores, loads);
    } else if (row && row->registers < 0 && (at = strstr(line, "Used ")) &&
               sscanf(at, "Used %d registers", &used) == 1) {
        row->registers = used;
        row->shared_bytes = shared_parse(at);
        row->barriers = barriers_parse(at);
    }
}

static void added_line(struct reader *reader, const char *line)
{
    static char name[NAME_BYTES], arch[64], compiler[32];
    struct table *table = reader->table;
    int count[1 + TENSOR_KINDS];
    if (sscanf(line, "kgate nvcc %31s", compiler) == 1) {
        for (size_t i = table->report_start; i < table->count; i++)
            strcpy(table->rows[i].compiler, compiler);
        return;
    }
    bool ptx = sscanf(line, "kgate ptx %63s %4095s %d %d %d %d %d", arch, name, &count[0], &count[1], &count[2],
                      &count[3], &count[4]) == 7;
    if (!ptx && sscanf(line, "kgate sass %63s %4095s %d", arch, name, &count[0]) != 3)
        die("%s: not understood: %s", reader->path, line);
    struct row *row = row_find(table, name, arch);
    if (!row)
        die("%s: ptxas reported nothing of %s for %s", reader->path, name, arch);
    if (ptx) {
        row->block_threads = count[0];
        memcpy(row->tensor, count + 1, sizeof row->tensor);
        row->has_ptx = true;
    } else {
        row->tensor_sass = count[0];
    }
}

void report_read(struct table *table, const char *path)
{
    static struct reader reader;
    size_t size;
    char *text = file_read(path, &size);
    table->report_start = table->count;
    reader = (struct reader){ .table = table, .path = path, .part_start = table->count };
    for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
        if (strncmp(line, "kgate ", 6) == 0)
            added_line(&reader, line);
        else if (is_note(line))
            note_read(&reader, line);
        else
            ptxas_line(&reader, line);
    }
    part_end(&reader);
    free(text);
}
