/* test_identity.c -- which kernel a device loads, and the hash of machine code, by small ELF files of the test's own.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <elf.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "worker/identity.h"
#include "scratch.h"

/* ---- kernels ----------------------------------------------------------------------------------------------- */

static const char *arch_of(const char *const *archs, size_t count, int major, int minor)
{
    kg_kernel kernels[16];
    assert_true(2 * count <= 16);
    for (size_t i = 0; i < count; i++) {
        kernels[2 * i] = (kg_kernel){ .name = "another", .arch = archs[i] };
        kernels[2 * i + 1] = (kg_kernel){ .name = "it", .arch = archs[i] };
    }
    struct kg_module module = { .kernels = kernels, .n_kernels = 2 * count };
    kg_device device = { .kind = KG_CUDA, .cc_major = major, .cc_minor = minor };
    const kg_kernel *kernel = kg_identity_kernel(&module, "it", &device);
    assert_true(!kernel || !strcmp(kernel->name, "it"));
    assert_null(kg_identity_kernel(&module, "i", &device));
    return kernel ? kernel->arch : "none";
}

static void a_device_loads_the_nearest_kernel(void **state)
{
    static const char *const all[] = { "sm_80", "sm_86", "sm_89", "sm_90a", "sm_100f", "sm_120f" };
    static const char *const reversed[] = { "sm_120f", "sm_100f", "sm_90a", "sm_89", "sm_86", "sm_80" };
    static const struct {
        int major, minor;
        const char *arch;
    } rows[] = {
        { 8, 0, "sm_80" },    { 8, 6, "sm_86" },    { 8, 7, "sm_86" },    { 8, 9, "sm_89" }, { 9, 0, "sm_90a" },
        { 7, 5, "none" },     { 10, 0, "sm_100f" }, { 10, 3, "sm_100f" }, { 11, 0, "none" }, { 12, 0, "sm_120f" },
        { 12, 1, "sm_120f" }, { 13, 0, "none" },    { 9, 1, "none" }, /* 'a' is for its own minor alone */
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        assert_string_equal(arch_of(all, 6, rows[i].major, rows[i].minor), rows[i].arch);
        assert_string_equal(arch_of(reversed, 6, rows[i].major, rows[i].minor), rows[i].arch);
    }
}

static void of_several_the_most_special(void **state)
{
    (void)state;
    static const char *const hopper[] = { "sm_90", "sm_90a", "sm_89" };
    static const char *const blackwell[] = { "sm_100", "sm_100a", "sm_103", "sm_103f" };
    static const char *const ampere[] = { "sm_80", "sm_87" };
    static const char *const odd[] = { "", "compute_90", "90a", "sm_" };
    assert_string_equal(arch_of(hopper, 3, 9, 0), "sm_90a");
    assert_string_equal(arch_of(hopper, 3, 9, 1), "sm_90");
    assert_string_equal(arch_of(hopper, 3, 8, 9), "sm_89");
    assert_string_equal(arch_of(hopper, 3, 8, 6), "none"); /* a cubin does not run on an earlier minor */
    assert_string_equal(arch_of(blackwell, 4, 10, 0), "sm_100a");
    assert_string_equal(arch_of(blackwell, 4, 10, 3), "sm_103f");
    assert_string_equal(arch_of(blackwell, 2, 10, 3), "sm_100");
    assert_string_equal(arch_of(ampere, 2, 8, 6), "sm_80");
    assert_string_equal(arch_of(odd, 4, 9, 0), "none");
    assert_string_equal(arch_of(odd, 0, 9, 0), "none");
}

/* ---- machine code ------------------------------------------------------------------------------------------ */

enum { SECTIONS = 4, TEXT_BYTES = 5, FILE_BYTES = 64 + SECTIONS * 64 + 32 + TEXT_BYTES };

/* Header, section table, names, code. Section 1 is .textual, 2 .text, 3 the names. */
struct elf {
    Elf64_Ehdr head;
    Elf64_Shdr sections[SECTIONS];
    char names[32];
    char text[TEXT_BYTES];
    char after[3]; /* not written */
};

static char folder[SCRATCH_SIZE];

static struct elf elf_new(void)
{
    struct elf elf;
    memset(&elf, 0, sizeof elf);
    memcpy(elf.head.e_ident, ELFMAG, SELFMAG);
    elf.head.e_ident[EI_CLASS] = ELFCLASS64;
    elf.head.e_shoff = offsetof(struct elf, sections);
    elf.head.e_shentsize = sizeof(Elf64_Shdr);
    elf.head.e_shnum = SECTIONS;
    elf.head.e_shstrndx = 3;
    memcpy(elf.names, "\0.textual\0.text\0.shstrtab", 26);
    memcpy(elf.text, "hello", TEXT_BYTES);
    elf.sections[1] = (Elf64_Shdr){ .sh_name = 1, .sh_offset = offsetof(struct elf, names), .sh_size = 4 };
    elf.sections[2] = (Elf64_Shdr){ .sh_name = 10, .sh_offset = offsetof(struct elf, text), .sh_size = TEXT_BYTES };
    elf.sections[3] = (Elf64_Shdr){ .sh_name = 16, .sh_offset = offsetof(struct elf, names), .sh_size = 32 };
    return elf;
}

static int code_of(const char *path, char ret_hash[17])
{
    uint64_t hash = 0;
    int status = kg_identity_elf_code(path, "0123456789", &hash);
    if (!status)
        snprintf(ret_hash, 17, "%016" PRIx64, hash);
    return status;
}

static int hash_of(const void *bytes, size_t count, char ret_hash[17])
{
    char path[SCRATCH_SIZE + 16];
    snprintf(path, sizeof path, "%s/elf", folder);
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_true(fwrite(bytes, 1, count, file) == count);
    assert_int_equal(fclose(file), 0);
    snprintf(ret_hash, 17, "untouched");
    return code_of(path, ret_hash);
}

static int folder_new(void **state)
{
    (void)state;
    scratch_new(folder);
    return 0;
}

static int folder_free(void **state)
{
    (void)state;
    scratch_free(folder);
    return 0;
}

/* The published FNV-1a vector: "hello" gives a430d84680aabd0b. */
static void the_text_section_is_hashed(void **state)
{
    (void)state;
    struct elf elf = elf_new();
    char hash[17];
    assert_int_equal(offsetof(struct elf, after), FILE_BYTES);
    assert_int_equal(hash_of(&elf, FILE_BYTES, hash), KG_OK);
    assert_string_equal(hash, "a430d84680aabd0b");
    elf.head.e_flags ^= 1; /* not code */
    elf.sections[1].sh_size = 5;
    assert_int_equal(hash_of(&elf, FILE_BYTES, hash), KG_OK);
    assert_string_equal(hash, "a430d84680aabd0b");
    elf.text[4] ^= 1;
    assert_int_equal(hash_of(&elf, FILE_BYTES, hash), KG_OK);
    assert_string_not_equal(hash, "a430d84680aabd0b");
}

/* Without the text that the module's SHA is here, in its place the code's own. */
static void read_only_data_counts(void **state)
{
    (void)state;
    struct elf elf = elf_new();
    char one[17], other[17], bare[17];
    assert_int_equal(hash_of(&elf, FILE_BYTES, bare), KG_OK);
    memcpy(elf.names, "\0.rodata\0", 10);
    elf.sections[1] = (Elf64_Shdr){ .sh_name = 1, .sh_offset = offsetof(struct elf, sections), .sh_size = 14 };
    memcpy(&elf.sections[0], "ab0123456789cd", 14);
    assert_int_equal(hash_of(&elf, FILE_BYTES, one), KG_OK);
    assert_string_not_equal(one, bare);
    memcpy(&elf.sections[0], "0123456789abcd", 14);
    assert_int_equal(hash_of(&elf, FILE_BYTES, other), KG_OK);
    assert_string_equal(other, one);
    memcpy(&elf.sections[0], "0123456789abce", 14);
    assert_int_equal(hash_of(&elf, FILE_BYTES, other), KG_OK);
    assert_string_not_equal(other, one);
}

static void cut_files_are_refused(void **state)
{
    (void)state;
    struct elf elf = elf_new();
    char hash[17];
    for (size_t bytes = 0; bytes < FILE_BYTES; bytes++) {
        assert_true(hash_of(&elf, bytes, hash) < 0);
        assert_string_equal(hash, "untouched");
    }
}

static void refused(const struct elf *elf, int status)
{
    char hash[17];
    assert_int_equal(hash_of(elf, FILE_BYTES, hash), status);
    assert_string_equal(hash, "untouched");
}

static void wild_headers_are_refused(void **state)
{
    (void)state;
    struct elf elf = elf_new();
    elf.head.e_ident[0] = 'M';
    refused(&elf, KG_EINVAL);
    elf = elf_new();
    elf.head.e_shentsize = sizeof(Elf32_Shdr);
    refused(&elf, KG_EINVAL);
    elf = elf_new();
    elf.head.e_shoff = UINT64_MAX - 63;
    refused(&elf, KG_EINVAL);
    elf = elf_new();
    elf.head.e_shnum = UINT16_MAX;
    refused(&elf, KG_EINVAL);
    elf = elf_new();
    elf.head.e_shnum = 0;
    refused(&elf, KG_EINVAL);
    elf = elf_new();
    elf.head.e_shstrndx = SECTIONS;
    refused(&elf, KG_EINVAL);
    elf = elf_new();
    elf.sections[2].sh_size = UINT64_MAX; /* the file ends before the section does */
    refused(&elf, KG_ENOTFOUND);
    elf = elf_new();
    elf.sections[2].sh_offset = UINT64_MAX - 1;
    refused(&elf, KG_ENOTFOUND);
    elf = elf_new();
    elf.names[10] = 'x';
    refused(&elf, KG_ENOTFOUND);
    for (uint64_t offset = UINT64_MAX - 20; offset >= UINT64_MAX - 20; offset++) { /* names that lie past the end */
        elf = elf_new();
        elf.sections[3].sh_offset = offset;
        refused(&elf, KG_ENOTFOUND);
    }
}

static void own_code(void **state)
{
    (void)state;
    char one[17], again[17], hash[17] = "untouched", path[SCRATCH_SIZE + 16];
    assert_int_equal(code_of("/proc/self/exe", one), KG_OK);
    assert_int_equal(code_of("/proc/self/exe", again), KG_OK);
    assert_int_equal(strlen(one), 16);
    assert_int_equal(strspn(one, "0123456789abcdef"), 16);
    assert_string_equal(one, again);
    snprintf(path, sizeof path, "%s/absent", folder);
    assert_int_equal(code_of(path, hash), KG_EIO);
    assert_int_equal(code_of(folder, hash), KG_EIO); /* no file at all */
    assert_string_equal(hash, "untouched");
}

/* ---- what a backend runs ------------------------------------------------------------------------------------ */

static struct kg_launch_info launched;

static int inspect(kg_context *context, kg_launch_fn *launch, void *argument, struct kg_launch_info *ret_info,
                   kg_error *ret_error)
{
    (void)context, (void)launch, (void)argument;
    if (launched.kernels < 0)
        return kg_fail(ret_error, KG_EDEVICE, "cannot be captured");
    *ret_info = launched;
    return KG_OK;
}

static const struct kg_device_ops ops = { .inspect = inspect };

struct knobs {
    int64_t tile;
};

static const kg_field knob_fields[] = {
    { "tile", offsetof(struct knobs, tile), KG_INT, .min = 1, .max = 64, .fallback = 8 },
};

static void identity_of_kernels(void **state)
{
    static const kg_kernel kernels[] = { { .name = "_Z3ownv", .arch = "sm_80", .code_hash = "80" },
                                         { .name = "_Z3ownv", .arch = "sm_90a", .code_hash = "90" } };
    static const kg_backend plain = { .name = "plain" }, tiled = { .name = "tiled",
                                                                   .knobs = KG_LIST(knob_fields),
                                                                   .knobs_size = sizeof(struct knobs) };
    const struct kg_module root = { .kernels = kernels, .n_kernels = 2 };
    const struct kg_loaded module = { .root = &root, .path = "absent" };
    kg_context context = { .ops = &ops, .device = { .kind = KG_CUDA, .cc_major = 9 } };
    struct knobs knobs = { 8 };
    struct kg_prepared prepared = { .backend = &plain };
    struct kg_launch_info info = { .kernels = 77 };
    kg_error error = { 0 };
    char text[200] = "untouched";
    (void)state;
    launched = (struct kg_launch_info){ .kernels = -1 };
    assert_int_equal(kg_identity_of(&context, &module, &prepared, &info, text, sizeof text, &error), KG_EDEVICE);
    assert_string_equal(text, "untouched");
    assert_int_equal(info.kernels, 77);
    launched = (struct kg_launch_info){
        .kernels = 3,
        .n_launched = 3,
        .launched = { { .name = "_Z3ownv" }, { .name = "of_a_library" }, { .name = "_Z3ownv" } }
    };
    assert_int_equal(kg_identity_of(&context, &module, &prepared, &info, text, sizeof text, &error), KG_OK);
    assert_string_equal(text, "_Z3ownv:90; of_a_library"); /* each once */
    assert_int_equal(info.n_launched, 3);
    snprintf(prepared.identity.text, sizeof prepared.identity.text, "cuDNN 9 engine 8");
    prepared.backend = &tiled;
    prepared.knobs = &knobs;
    assert_int_equal(kg_identity_of(&context, &module, &prepared, &info, text, sizeof text, &error), KG_OK);
    assert_string_equal(text, "cuDNN 9 engine 8; _Z3ownv:90; of_a_library");
    knobs.tile = 16; /* other knobs are other code */
    assert_int_equal(kg_identity_of(&context, &module, &prepared, &info, text, sizeof text, &error), KG_OK);
    assert_string_equal(text, "cuDNN 9 engine 8; _Z3ownv:90; of_a_library; knobs tile=16");
}

/* Of its own kernels, where two sets tell addresses from numbers. */
static void arguments_of_own_kernels(void **state)
{
    static const kg_kernel kernels[] = { { .name = "own", .arch = "sm_90a", .code_hash = "90" } };
    static const kg_backend plain = { .name = "plain" };
    const struct kg_module root = { .kernels = kernels, .n_kernels = 1 };
    const struct kg_loaded module = { .root = &root, .path = "absent" };
    kg_context context = { .ops = &ops, .device = { .kind = KG_CUDA, .cc_major = 9 } };
    struct kg_prepared prepared = { .backend = &plain, .n_ring = 2 };
    struct kg_launch_info info;
    char text[200];
    (void)state;
    launched = (struct kg_launch_info){ .kernels = 2,
                                        .n_launched = 2,
                                        .launched = { { .name = "own", .arguments = 5 },
                                                      { .name = "of_a_library", .arguments = 6 } } };
    assert_int_equal(kg_identity_of(&context, &module, &prepared, &info, text, sizeof text, NULL), KG_OK);
    assert_int_equal(info.launched[0].arguments, 5);
    assert_int_equal(info.launched[1].arguments, 0);
    prepared.n_ring = 1;
    assert_int_equal(kg_identity_of(&context, &module, &prepared, &info, text, sizeof text, NULL), KG_OK);
    assert_int_equal(info.launched[0].arguments, 0);
}

/* Named as one of the module's, too; and one that helps it, which this launch does not have. */
static void identity_of_compiled_kernels(void **state)
{
    static const kg_kernel kernels[] = { { .name = "flex", .arch = "sm_90a", .code_hash = "90" } };
    static const kg_backend plain = { .name = "plain" };
    const struct kg_module root = { .kernels = kernels, .n_kernels = 1 };
    const struct kg_loaded module = { .root = &root, .path = "absent" };
    kg_context context = { .ops = &ops, .device = { .kind = KG_CUDA, .cc_major = 9 } };
    struct kg_prepared prepared = { .backend = &plain,
                                    .identity = {
                                        .n_compiled = 2,
                                        .compiled = { { .name = "mask", .code_hash = "c1" },
                                                      { .name = "flex", .code_hash = "c2", .compile_ms = 900 } } } };
    struct kg_launch_info info;
    char text[200];
    (void)state;
    launched = (struct kg_launch_info){ .kernels = 2,
                                        .n_launched = 2,
                                        .launched = { { .name = "flex" }, { .name = "zero" } } };
    assert_int_equal(kg_identity_of(&context, &module, &prepared, &info, text, sizeof text, NULL), KG_OK);
    assert_string_equal(text, "flex:c2; zero; mask:c1");
    prepared.identity.compiled[1].cache_hit = true;
    prepared.identity.compiled[1].compile_ms = 0;
    assert_int_equal(kg_identity_of(&context, &module, &prepared, &info, text, sizeof text, NULL), KG_OK);
    assert_string_equal(text, "flex:c2; zero; mask:c1");
    prepared.identity.compiled[1].code_hash[1] = '3';
    assert_int_equal(kg_identity_of(&context, &module, &prepared, &info, text, sizeof text, NULL), KG_OK);
    assert_string_equal(text, "flex:c3; zero; mask:c1");
}

static void identity_on_a_cpu(void **state)
{
    static const kg_backend plain = { .name = "plain" };
    const struct kg_module root = { .name = "m", .git_sha = "0123456789" };
    struct kg_loaded module = { .root = &root, .path = "/proc/self/exe" };
    kg_context context = { .ops = &ops, .device = { .kind = KG_CPU } };
    struct kg_prepared prepared = { .backend = &plain };
    struct kg_launch_info info;
    char text[200], hash[17], wanted[64];
    (void)state;
    launched = (struct kg_launch_info){ 0 };
    assert_int_equal(code_of("/proc/self/exe", hash), KG_OK);
    snprintf(wanted, sizeof wanted, "module code %s", hash);
    assert_int_equal(kg_identity_of(&context, &module, &prepared, &info, text, sizeof text, NULL), KG_OK);
    assert_string_equal(text, wanted);
    snprintf(module.links, sizeof module.links, "/proc/self/exe\n%s/absent\n", folder);
    assert_int_equal(kg_identity_of(&context, &module, &prepared, &info, text, sizeof text, NULL), KG_OK);
    assert_memory_equal(text, wanted, strlen(wanted));
    assert_non_null(strstr(text, "; 2 linked libraries "));
    module.links[0] = '\0';
    snprintf(module.path, sizeof module.path, "%s/absent", folder);
    assert_int_equal(kg_identity_of(&context, &module, &prepared, &info, text, sizeof text, NULL), KG_OK);
    assert_string_equal(text, "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_device_loads_the_nearest_kernel),
        cmocka_unit_test(of_several_the_most_special),
        cmocka_unit_test(the_text_section_is_hashed),
        cmocka_unit_test(read_only_data_counts),
        cmocka_unit_test(cut_files_are_refused),
        cmocka_unit_test(wild_headers_are_refused),
        cmocka_unit_test(own_code),
        cmocka_unit_test(identity_of_kernels),
        cmocka_unit_test(arguments_of_own_kernels),
        cmocka_unit_test(identity_of_compiled_kernels),
        cmocka_unit_test(identity_on_a_cpu),
    };
    return cmocka_run_group_tests(tests, folder_new, folder_free);
}
