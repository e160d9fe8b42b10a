/* kernel_table.c -- writes a module's table of kernels (kg_kernels.c and .h) from what nvcc left: what each kernel is
 * made of (ptxas report) and a hash of its machine code (cubin).
 *
 *     kernel_table KG_KERNELS.c KG_KERNELS.h [OBJECT.o OBJECT.ptxas OBJECT.sm_90a.cubin...]...
 *
 * Takes what nvcc-object wrote, file by file; objects are passed over, cubins belong to the report before them (read by
 * ptxas_report.c). The table depends on the code alone: not on folders or file names.
 *
 * A hash covers the kernel's code, its own constant banks, and the constants that the kernels of its file share. So
 * equal hashes mean equal code and data, and a changed shared table changes the hash of all kernels of its file.
 */
#include "kernel_table.h"

#include <elf.h>
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MACHINE_CUDA 190
#define SYMBOL_IS_ENTRY 0x10 /* st_other of a __global__ function */
#define INFO_SIZED 0x04      /* .nv.info: records with a payload */
#define INFO_REGISTERS 0x2f  /* .nv.info: symbol index, register count */

struct cubin {
    const char *path;
    const unsigned char *bytes;
    size_t size;
    const Elf64_Ehdr *header;
    const Elf64_Shdr *sections;
    const char *section_names;
};

void die(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    fputs("kernel_table: ", stderr);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
    va_end(arguments);
    exit(EXIT_FAILURE);
}

void *memory(void *pointer)
{
    if (!pointer)
        die("out of memory");
    return pointer;
}

char *file_read(const char *path, size_t *ret_size)
{
    FILE *file = fopen(path, "rb");
    if (!file)
        die("%s: %s", path, strerror(errno));
    size_t room = 1 << 16, size = 0, got;
    char *bytes = memory(malloc(room));
    while ((got = fread(bytes + size, 1, room - size - 1, file)) > 0) {
        size += got;
        if (size + 1 == room)
            bytes = memory(realloc(bytes, room *= 2));
    }
    if (ferror(file))
        die("%s: cannot be read", path);
    fclose(file);
    bytes[size] = '\0';
    *ret_size = size;
    return bytes;
}

/* ---- the cubin ------------------------------------------------------------------------------------------------ */

static const void *cubin_at(const struct cubin *cubin, uint64_t offset, uint64_t size)
{
    if (offset > cubin->size || size > cubin->size - offset)
        die("%s: truncated", cubin->path);
    return cubin->bytes + offset;
}

static const void *section_data(const struct cubin *cubin, const Elf64_Shdr *section)
{
    return cubin_at(cubin, section->sh_offset, section->sh_type == SHT_NOBITS ? 0 : section->sh_size);
}

static const char *section_name(const struct cubin *cubin, const Elf64_Shdr *section)
{
    return cubin->section_names + section->sh_name;
}

static const Elf64_Shdr *section_find(const struct cubin *cubin, const char *prefix, const char *name)
{
    for (unsigned i = 0; i < cubin->header->e_shnum; i++) {
        const char *candidate = section_name(cubin, &cubin->sections[i]);
        size_t length = strlen(prefix);
        if (strncmp(candidate, prefix, length) == 0 && strcmp(candidate + length, name) == 0)
            return &cubin->sections[i];
    }
    return NULL;
}

static struct cubin cubin_open(const char *path)
{
    struct cubin cubin = { .path = path };
    cubin.bytes = (unsigned char *)file_read(path, &cubin.size);
    cubin.header = cubin_at(&cubin, 0, sizeof *cubin.header);
    if (memcmp(cubin.header->e_ident, ELFMAG, SELFMAG) != 0 || cubin.header->e_ident[EI_CLASS] != ELFCLASS64 ||
        cubin.header->e_machine != MACHINE_CUDA)
        die("%s: not a cubin", path);
    cubin.sections = cubin_at(&cubin, cubin.header->e_shoff, (uint64_t)cubin.header->e_shnum * sizeof(Elf64_Shdr));
    if (cubin.header->e_shstrndx >= cubin.header->e_shnum)
        die("%s: has no section names", path);
    cubin.section_names = section_data(&cubin, &cubin.sections[cubin.header->e_shstrndx]);
    return cubin;
}

static void section_hash(uint64_t *hash, const struct cubin *cubin, const Elf64_Shdr *section)
{
    const unsigned char *data = section_data(cubin, section);
    for (int i = 0; i < 64; i += 8) /* the length keeps neighbours apart */
        *hash = (*hash ^ (section->sh_size >> i & 0xff)) * UINT64_C(0x100000001b3);
    for (uint64_t i = 0; i < section->sh_size; i++)
        *hash = (*hash ^ data[i]) * UINT64_C(0x100000001b3);
}

/* Constant banks are .nv.constant<bank>.<kernel> where they are its own and .nv.constant<bank> where they are shared;
 * initialised __device__ data is in .nv.global.init. */
static bool section_is_data_of(const char *section, const char *kernel)
{
    static const char constant[] = ".nv.constant";
    if (strcmp(section, ".nv.global.init") == 0)
        return true;
    if (strncmp(section, constant, sizeof constant - 1) != 0)
        return false;
    const char *rest = section + sizeof constant - 1;
    rest += strspn(rest, "0123456789");
    return *rest == '\0' || (*rest == '.' && strcmp(rest + 1, kernel) == 0);
}

static uint64_t kernel_hash(const struct cubin *cubin, const char *kernel)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    const Elf64_Shdr *text = section_find(cubin, ".text.", kernel);
    if (!text || text->sh_type != SHT_PROGBITS || text->sh_size == 0)
        die("%s: no code of %s", cubin->path, kernel);
    section_hash(&hash, cubin, text);
    for (unsigned i = 0; i < cubin->header->e_shnum; i++) {
        const Elf64_Shdr *section = &cubin->sections[i];
        if (section->sh_type == SHT_PROGBITS && section_is_data_of(section_name(cubin, section), kernel))
            section_hash(&hash, cubin, section);
    }
    return hash;
}

/* The register count that the loader will see, for comparison with the report's. -1: not recorded. */
static int cubin_registers(const struct cubin *cubin, uint32_t symbol)
{
    const Elf64_Shdr *info = section_find(cubin, ".nv.info", "");
    if (!info)
        return -1;
    const unsigned char *data = section_data(cubin, info);
    uint64_t at = 0;
    while (at + 4 <= info->sh_size) {
        uint64_t size = data[at] == INFO_SIZED ? data[at + 2] | (uint64_t)data[at + 3] << 8 : 0;
        uint32_t record[2];
        if (data[at] == INFO_SIZED && data[at + 1] == INFO_REGISTERS && size == sizeof record &&
            at + 4 + size <= info->sh_size) {
            memcpy(record, data + at + 4, sizeof record);
            if (record[0] == symbol)
                return (int)record[1];
        }
        at += 4 + size;
    }
    return -1;
}

static void kernel_read(struct table *table, const struct cubin *cubin, const char *arch, const char *name,
                        uint32_t symbol)
{
    if (strstr(name, "_GLOBAL__N_"))
        die("%s: kernel %s is in an anonymous namespace, so its name changes with the file's path: make it static",
            cubin->path, name);
    struct row *row = row_find(table, name, arch);
    if (!row || row->registers < 0 || row->stack_bytes < 0)
        die("%s: ptxas reported no resources of %s for %s", cubin->path, name, arch);
    if (!row->has_ptx || !row->compiler[0])
        die("%s: nvcc-object recorded no PTX of %s for %s", cubin->path, name, arch);
    int registers = cubin_registers(cubin, symbol);
    if (registers >= 0 && registers != row->registers)
        die("%s: %s has %d registers, and %d by ptxas's report", cubin->path, name, registers, row->registers);
    row->hash = kernel_hash(cubin, name);
    row->hashed = true;
}

/* …/flash.sm_90a.cubin -> sm_90a */
static void arch_of(const char *path, char ret_arch[16])
{
    const char *end = strrchr(path, '.'), *start = end;
    while (start > path && start[-1] != '.' && start[-1] != '/')
        start--;
    if (strncmp(start, "sm_", 3) != 0 || end - start >= 16)
        die("%s: must be named NAME.sm_ARCH.cubin", path);
    memcpy(ret_arch, start, (size_t)(end - start));
    ret_arch[end - start] = '\0';
}

static void cubin_read(struct table *table, const char *path)
{
    struct cubin cubin = cubin_open(path);
    const Elf64_Shdr *symbols = section_find(&cubin, ".symtab", "");
    char arch[16];
    arch_of(path, arch);
    if (!symbols || symbols->sh_link >= cubin.header->e_shnum)
        die("%s: has no symbols", path);
    const Elf64_Sym *symbol = section_data(&cubin, symbols);
    const char *names = section_data(&cubin, &cubin.sections[symbols->sh_link]);
    for (uint32_t i = 0; i < symbols->sh_size / sizeof *symbol; i++)
        if (ELF64_ST_TYPE(symbol[i].st_info) == STT_FUNC && (symbol[i].st_other & SYMBOL_IS_ENTRY))
            kernel_read(table, &cubin, arch, names + symbol[i].st_name, i);
    free((void *)cubin.bytes);
}

/* ---- the table ------------------------------------------------------------------------------------------------ */

static int row_compare(const void *left, const void *right)
{
    const struct row *a = left, *b = right;
    int order = strcmp(a->name, b->name);
    return order ? order : strcmp(a->arch, b->arch);
}

/* A template that two files instantiate is one kernel to the linker: it keeps either, so they must be equal. */
static void table_sort(struct table *table)
{
    size_t kept = 0;
    if (table->count)
        qsort(table->rows, table->count, sizeof *table->rows, row_compare);
    for (size_t i = 0; i < table->count; i++) {
        struct row *row = &table->rows[i], *last = kept ? &table->rows[kept - 1] : NULL;
        if (!row->hashed)
            die("%s: ptxas reported it for %s, but no cubin holds it", row->name, row->arch);
        if (last && row_compare(row, last) == 0) {
            if (row->hash != last->hash)
                die("%s: two kernels of that name differ (%s)", row->name, row->arch);
            continue;
        }
        table->rows[kept++] = *row;
    }
    table->count = kept;
}

static FILE *output_open(const char *path)
{
    FILE *file = fopen(path, "w");
    if (!file)
        die("%s: %s", path, strerror(errno));
    fputs("/* Written by kernel_table while building. */\n", file);
    return file;
}

static void output_close(FILE *file, const char *path)
{
    if (ferror(file) | fclose(file))
        die("%s: cannot be written", path);
}

static void literal_write(FILE *file, const char *text)
{
    fputc('"', file);
    for (const char *c = text; *c; c++)
        fprintf(file, *c == '"' || *c == '\\' ? "\\%c" : "%c", *c);
    fputc('"', file);
}

static void row_write(FILE *file, const struct row *row)
{
    fprintf(file,
            "    { .name = \"%s\",\n      .arch = \"%s\", .code_hash = \"%016" PRIx64
            "\", .compiler = \"%s\",\n      .notes = ",
            row->name, row->arch, row->hash, row->compiler);
    literal_write(file, row->notes);
    fprintf(file,
            ",\n      .registers = %d, .stack_bytes = %d, .spill_store_bytes = %d, .spill_load_bytes = %d, "
            ".shared_bytes = %d,\n      .barriers = %d, .block_threads = %d, .tensor = { %d, %d, %d, %d }, "
            ".tensor_sass = %d },\n",
            row->registers, row->stack_bytes, row->spill_store_bytes, row->spill_load_bytes, row->shared_bytes,
            row->barriers, row->block_threads, row->tensor[0], row->tensor[1], row->tensor[2], row->tensor[3],
            row->tensor_sass);
}

static void table_write(const struct table *table, const char *path)
{
    FILE *file = output_open(path);
    fputs("#include \"kg_kernels.h\"\n\nconst kg_kernel kg_kernels[] = {\n", file);
    for (size_t i = 0; i < table->count; i++)
        row_write(file, &table->rows[i]);
    if (table->count == 0)
        fputs("    { .name = \"\", .arch = \"\", .code_hash = \"\" }, /* ISO C has no empty array */\n", file);
    fputs("};\n", file);
    output_close(file, path);
}

static void header_write(const struct table *table, const char *path)
{
    FILE *file = output_open(path);
    fprintf(file,
            "#ifndef KG_KERNELS_H\n#define KG_KERNELS_H\n\n#include \"kgate.h\"\n\n#define KG_KERNEL_COUNT %zu\n"
            "extern const kg_kernel kg_kernels[];\n\n#endif\n",
            table->count);
    output_close(file, path);
}

int main(int argc, char **argv)
{
    struct table table = { 0 };
    if (argc < 3)
        die("usage: kernel_table KG_KERNELS.c KG_KERNELS.h [OBJECT.o OBJECT.ptxas OBJECT.sm_ARCH.cubin...]...");
    for (int i = 3; i < argc; i++) {
        const char *suffix = strrchr(argv[i], '.');
        if (suffix && strcmp(suffix, ".cubin") == 0)
            cubin_read(&table, argv[i]);
        else if (suffix && strcmp(suffix, ".ptxas") == 0)
            report_read(&table, argv[i]);
        else if (!suffix || strcmp(suffix, ".o") != 0)
            die("%s: neither an object, a report nor a cubin", argv[i]);
    }
    table_sort(&table);
    table_write(&table, argv[1]);
    header_write(&table, argv[2]);
    for (size_t i = 0; i < table.count; i++) {
        free(table.rows[i].name);
        free(table.rows[i].notes);
    }
    free(table.rows);
    return EXIT_SUCCESS;
}
