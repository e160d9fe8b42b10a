/* kernel_table.h -- rows of a module's table of kernels, while kernel_table.c and ptxas_report.c gather them. */
#ifndef KERNEL_TABLE_H
#define KERNEL_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TENSOR_KINDS 4 /* KG_TENSOR_KINDS of kgate.h, in its order */

struct row {
    char *name, *notes; /* notes: with " | " between them; "" : none */
    char arch[16], compiler[32];
    uint64_t hash;
    int registers, stack_bytes, spill_store_bytes, spill_load_bytes, shared_bytes, barriers, block_threads;
    int tensor[TENSOR_KINDS], tensor_sass;
    bool hashed, has_ptx;
};

struct table {
    struct row *rows;
    size_t count, room;
    size_t report_start; /* rows of the report read last */
};

__attribute__((noreturn, format(printf, 1, 2))) void die(const char *format, ...);
void *memory(void *pointer); /* dies where it is NULL */
char *file_read(const char *path, size_t *ret_size);

/* Of the report read last; NULL: none. */
struct row *row_find(struct table *table, const char *name, const char *arch);

/* Adds a row for each kernel of the report OBJECT.ptxas. */
void report_read(struct table *table, const char *path);

#endif
