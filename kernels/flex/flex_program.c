/* flex_program.c -- the programs that NVRTC compiles: the modifiers' files, lists of their names, and a kernel's file.
 */
#include "flex/flex_program.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "flex/modifiers.h"

#define MODIFIERS "flex/modifiers/"
struct modifier {
    const char *name;
    bool is_mask;
};

#define SCORE_ROW(name, has) [FLEX_NUMBER_##name] = { #name, false },
#define MASK_ROW(name, has) [FLEX_NUMBER_##name] = { #name, true },
static const struct modifier modifiers[FLEX_MODIFIERS] = { FLEX_SCORES(SCORE_ROW) FLEX_MASKS(MASK_ROW) };

static bool is_used(unsigned uses, const char *file)
{
    char name[64];
    if (strncmp(file, MODIFIERS, strlen(MODIFIERS)) != 0)
        return true;
    for (int i = 0; i < FLEX_MODIFIERS; i++) {
        (void)snprintf(name, sizeof name, MODIFIERS "%s.h", modifiers[i].name);
        if (!strcmp(file, name))
            return uses >> i & 1;
    }
    return false;
}

/* Files of other modifiers stay out: one that does not compile is its own rows' error, and a change is no other's. */
static int finish(char *text, const char *kernel, unsigned uses, const kg_source *texts,
                  struct flex_program *ret_program, kg_error *ret_error)
{
    static const char *const options[] = { "-std=c++17", NULL };
    int count = 0;
    if (!text)
        return kg_fail(ret_error, KG_ENOMEM, "no memory for the program of %s", kernel);
    ret_program->text = text;
    for (int i = 0; texts[i].name && count < FLEX_MAX_TEXTS; i++)
        if (is_used(uses, texts[i].name))
            ret_program->texts[count++] = texts[i];
    ret_program->texts[count] = (kg_source){ 0 };
    ret_program->of = (struct rtc_program){ "flex_compiled.cu", text, kernel, ret_program->texts, options };
    return KG_OK;
}

/* "X(cap, ) X(alibi, )": the used ones of one kind. */
static void write_list(FILE *out, const char *list, unsigned uses, bool masks)
{
    fprintf(out, "#define %s(X)", list);
    for (int i = 0; i < FLEX_MODIFIERS; i++)
        if ((uses >> i & 1) && modifiers[i].is_mask == masks)
            fprintf(out, " X(%s, )", modifiers[i].name);
    fputc('\n', out);
}

static void write_modifiers(FILE *out, unsigned uses)
{
    fputs("#include \"flex/modifier.h\"\n", out);
    for (int i = 0; i < FLEX_MODIFIERS; i++)
        if (uses >> i & 1)
            fprintf(out, "#include \"" MODIFIERS "%s.h\"\n", modifiers[i].name);
    write_list(out, "FLEX_SCORES", uses, false);
    write_list(out, "FLEX_MASKS", uses, true);
    fputs("#define FLEX_HAS(name, aux) true\n", out);
}

static const char *tile_text(enum flex_tile_id tile, int64_t D)
{
#define TEXT(d, warps, strips, groups, cols, keep_q, blocks)                                                           \
    if (D == d)                                                                                                        \
        return "flash_tile<" #d ", " #warps ", " #strips ", " #groups ", " #cols ", " #keep_q ", " #blocks ">";
    if (tile == FLEX_TILE_64_SPLIT2) {
        FLEX_TILES_64_SPLIT2(TEXT)
    }
    if (tile == FLEX_TILE_64) {
        FLEX_TILES_64(TEXT)
    }
    FLEX_TILES_128(TEXT)
#undef TEXT
    return "";
}

/* A row's last block is walked over whole, past the last key where this is within it. */
static bool is_cut(const struct flex *p)
{
    const int64_t Skv = sdpa_kv_length(&p->attention);
    return p->attention.S % FLEX_LARGEST_TILE || Skv % FLEX_LARGEST_TILE || Skv % p->block_size;
}

/* The modifiers, then `format`. free() it. NULL: no memory. */
KG_PRINTF(2, 3) static char *program_text(unsigned uses, const char *format, ...)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    if (!out)
        return NULL;
    write_modifiers(out, uses);
    va_list values;
    va_start(values, format);
    vfprintf(out, format, values);
    va_end(values);
    return fclose(out) ? NULL : text;
}

static char *attend_text(const struct flex *p, unsigned uses, enum flex_tile_id tile)
{
    return program_text(uses,
                        "#define FLEX_CUT %s\n"
                        "#include \"flex/flex_kernel.cuh\"\n"
                        "typedef %s tile;\n"
                        "extern \"C\" __global__ void __launch_bounds__(tile::THREADS, tile::BLOCKS)\n"
                        "flex_compiled_kernel(const flex_args args) { flex_attend<%s, tile>(args); }\n",
                        is_cut(p) ? "true" : "false", tile_text(tile, p->attention.D),
                        p->attention.dtype == KG_BF16 ? "__nv_bfloat16" : "__half");
}

int flex_attend_program(const struct flex *p, unsigned uses, enum flex_tile_id tile, const kg_source *texts,
                        struct flex_program *ret_program, kg_error *ret_error)
{
    return finish(attend_text(p, uses, tile), "flex_compiled_kernel", uses, texts, ret_program, ret_error);
}

int flex_blocks_program(unsigned uses, const kg_source *texts, struct flex_program *ret_program, kg_error *ret_error)
{
    const unsigned masks = uses & FLEX_MASK_BITS;
    return finish(program_text(masks, "#include \"flex/flex_blocks.cuh\"\n"), "flex_blocks_kernel", masks, texts,
                  ret_program, ret_error);
}

void flex_program_done(struct flex_program *program)
{
    free(program->text);
    *program = (struct flex_program){ 0 };
}
