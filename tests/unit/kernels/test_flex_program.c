/* test_flex_program.c -- programs of modifiers, compiled as far as that needs no GPU: all compile, a snippet that does
 * not is its own rows' error, and no other's.
 *
 *     test_flex_program FOLDER     where NVRTC lies, if not where the loader looks; 77 where there is none */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "flex/flex_program.h"
#include "measure/host.h"
#include "scratch.h"

static const char *library_path;
static char folder[SCRATCH_SIZE];
static struct kg_host_state host;
static struct nvrtc *nvrtc;
static kg_error refusal;

static const kg_device h200 = { .kind = KG_CUDA, .cc_major = 9, .driver_version = 13000, .driver = "580.1" };

#define ATTENTION .B = 1, .H = 2, .S = 100, .D = 64, .dtype = KG_BF16
static const struct flex rows[] = {
    { .attention = { "full", ATTENTION } },
    { .attention = { "causal", ATTENTION, .causal = true } },
    { .attention = { "document", ATTENTION }, .document = true, .decay = true },
    { .attention = { "prefix", ATTENTION }, .prefix = true, .alibi = true },
    { .attention = { "relative", ATTENTION }, .relative = true },
    { .attention = { "softcap", ATTENTION, .causal = true }, .cap = true, .sliding = true },
    { .attention = { "all", ATTENTION, .causal = true },
      .cap = true,
      .alibi = true,
      .relative = true,
      .decay = true,
      .prefix = true,
      .sliding = true,
      .document = true },
};
enum { ROWS = sizeof rows / sizeof *rows, SOFTCAP = 5 };

static unsigned uses_of(const struct flex *p)
{
    const kg_tensor none[KG_MAX_TENSORS] = { { .name = "" } };
    return flex_aux_of(p, none).uses;
}

static int compile(const struct flex *p, enum flex_tile_id tile, const kg_source *texts, kg_compiled *ret_compiled,
                   kg_error *ret_error)
{
    struct flex_program attend = { 0 }, blocks = { 0 };
    struct rtc_code code = { .cubin = NULL };
    assert_int_equal(flex_attend_program(p, uses_of(p), tile, texts, &attend, ret_error), KG_OK);
    assert_int_equal(flex_blocks_program(uses_of(p), texts, &blocks, ret_error), KG_OK);
    int status = rtc_compile(nvrtc, &h200, &blocks.of, &code, ret_error);
    rtc_code_done(&code);
    if (!status)
        status = rtc_compile(nvrtc, &h200, &attend.of, &code, ret_error);
    *ret_compiled = code.compiled;
    rtc_code_done(&code);
    flex_program_done(&attend);
    flex_program_done(&blocks);
    return status;
}

static kg_compiled compiled(const struct flex *p, enum flex_tile_id tile, const kg_source *texts)
{
    kg_compiled it;
    kg_error error = { 0 };
    if (compile(p, tile, texts, &it, &error))
        fail_msg("%s: %s", p->attention.name, error.text);
    return it;
}

static void every_modifier_compiles(void **state)
{
    (void)state;
    for (int i = 0; i < ROWS; i++) {
        const kg_compiled it = compiled(&rows[i], FLEX_TILE_64, flex_texts);
        assert_string_equal(it.name, "flex_compiled_kernel");
        assert_false(it.cache_hit);
        if (it.spill_store_bytes && i < ROWS - 1)
            fail_msg("%s spills %d bytes", rows[i].attention.name, it.spill_store_bytes);
    }
}

static void so_does_every_tile(void **state)
{
    (void)state;
    for (int tile = FLEX_TILE_BY_TABLE + 1; tile < FLEX_TILE_IDS; tile++)
        for (int64_t D = 64; D <= 128; D += 64)
            for (int dtype = KG_F16; dtype <= KG_BF16; dtype++) {
                struct flex p = rows[SOFTCAP];
                p.attention.D = D;
                p.block_size = 128;
                p.attention.S = dtype == KG_F16 ? 100 : 256; /* cut tiles and whole ones */
                p.attention.dtype = (enum kg_dtype)dtype;
                const kg_compiled it = compiled(&p, (enum flex_tile_id)tile, flex_texts);
                if (it.spill_store_bytes && dtype == KG_BF16)
                    fail_msg("tile %d, D %d, S %d spills %d bytes", tile, (int)D, (int)p.attention.S,
                             it.spill_store_bytes);
            }
}

static void blocks_past_the_last_key_are_cut(void **state)
{
    static const struct {
        int64_t S, Skv, block_size;
        bool cut;
    } sizes[] = { { 256, 256, 64, false }, { 256, 256, 192, true }, { 128, 384, 192, false },
                  { 1024, 0, 384, true },  { 256, 100, 64, true },  { 100, 256, 64, true } };
    (void)state;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        struct flex p = rows[SOFTCAP];
        struct flex_program program = { 0 };
        kg_error error = { 0 };
        p.attention.S = sizes[i].S;
        p.attention.Skv = sizes[i].Skv;
        p.block_size = sizes[i].block_size;
        assert_int_equal(flex_attend_program(&p, 0, FLEX_TILE_64, flex_texts, &program, &error), KG_OK);
        assert_non_null(strstr(program.text, sizes[i].cut ? "#define FLEX_CUT true" : "#define FLEX_CUT false"));
        flex_program_done(&program);
    }
}

/* The embedded texts, one with another text. */
static const kg_source *with_text(const char *name, const char *text)
{
    static kg_source texts[FLEX_MAX_TEXTS + 1];
    bool found = false;
    for (int i = 0; i <= FLEX_MAX_TEXTS; i++) {
        texts[i] = flex_texts[i];
        if (!flex_texts[i].name)
            break;
        if (!strcmp(texts[i].name, name)) {
            texts[i].text = text;
            found = true;
        }
    }
    assert_true(found);
    return texts;
}

static void an_error_names_the_modifiers_line(void **state)
{
    const kg_source *texts = with_text("flex/modifiers/cap.h", "#line 1 \"kernels/flex/modifiers/cap.h\"\n"
                                                               "FLEX_SCORE(cap)\n"
                                                               "{\n"
                                                               "    return score + no_such_thing;\n"
                                                               "}\n");
    kg_compiled it;
    kg_error error = { 0 };
    (void)state;
    assert_int_equal(compile(&rows[SOFTCAP], FLEX_TILE_64, texts, &it, &error), KG_EINVAL);
    assert_non_null(strstr(error.text, "kernels/flex/modifiers/cap.h(3)"));
    assert_non_null(strstr(error.text, "no_such_thing"));
    for (int i = 0; i < SOFTCAP; i++)
        (void)compiled(&rows[i], FLEX_TILE_64, texts);
}

/* A modifier's change is no other rows' change: theirs come from the cache. */
static void other_modifiers_are_in_no_key(void **state)
{
    const kg_source *texts = with_text("flex/modifiers/cap.h", "FLEX_SCORE(cap)\n{\n    return score;\n}\n");
    (void)state;
    const kg_compiled alibi = compiled(&rows[3], FLEX_TILE_64, flex_texts);
    const kg_compiled cap = compiled(&rows[SOFTCAP], FLEX_TILE_64, flex_texts);
    assert_true(compiled(&rows[3], FLEX_TILE_64, texts).cache_hit);
    const kg_compiled changed = compiled(&rows[SOFTCAP], FLEX_TILE_64, texts);
    assert_false(changed.cache_hit);
    assert_string_not_equal(changed.code_hash, cap.code_hash);
    assert_string_not_equal(changed.code_hash, alibi.code_hash);
}

static int host_new(void **state)
{
    (void)state;
    scratch_new(folder);
    kg_host_init(&host);
    host.cache = folder;
    host.library_paths = &library_path;
    host.n_library_paths = 1;
    return kg_apart_start(&host.host, &host.apart, &refusal) || rtc_open(&host.host, &nvrtc, &refusal);
}

static int host_free(void **state)
{
    (void)state;
    rtc_close(nvrtc);
    kg_apart_end(&host.apart);
    scratch_free(folder);
    return 0;
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(every_modifier_compiles, host_new, host_free),
        cmocka_unit_test_setup_teardown(so_does_every_tile, host_new, host_free),
        cmocka_unit_test(blocks_past_the_last_key_are_cut),
        cmocka_unit_test_setup_teardown(an_error_names_the_modifiers_line, host_new, host_free),
        cmocka_unit_test_setup_teardown(other_modifiers_are_in_no_key, host_new, host_free),
    };
    library_path = argc > 1 ? argv[1] : ".";
    const bool here = !host_new(NULL);
    (void)host_free(NULL);
    if (!here) {
        printf("%s\n", refusal.text);
        return 77;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
