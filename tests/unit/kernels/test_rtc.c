/* test_rtc.c -- kernels compiled at run time, as far as that needs no GPU: what comes out, what the cache keeps, what
 * is said of an error.
 *
 *     test_rtc FOLDER     where NVRTC lies, if not where the loader looks; 77 where there is none */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "measure/host.h"
#include "rtc/cubin.h"
#include "rtc/rtc.h"
#include "scratch.h"

static const char *library_path;
static char folder[SCRATCH_SIZE], logged[8192], asked[200], last_key[512];
static struct kg_host_state host;
static kg_error refusal;
static kg_host plain; /* what the host's services were */

static const kg_device h200 = { .kind = KG_CUDA, .cc_major = 9, .driver_version = 13000, .driver = "580.1" };

static const char score[] = "#line 1 \"flex/mods/score.h\"\n"
                            "static __device__ float score(float x)\n"
                            "{\n"
                            "    return FACTOR * x;\n"
                            "}\n";
static const kg_source headers[] = { { "score.h", score }, { NULL, NULL } };
static const char *const options[] = { "-DFACTOR=3", NULL };

/* The second spills; the third, of which ptxas speaks first, has a name that begins with the first's. */
static const char text[] =
    "#line 1 \"flex/flex.cu\"\n"
    "#include \"score.h\"\n"
    "#define KERNEL extern \"C\" __global__ void\n"
    "KERNEL scaled(float *x)\n"
    "{\n"
    "    __shared__ float s[8192];\n"
    "    s[threadIdx.x] = score(x[threadIdx.x]);\n"
    "    __syncthreads();\n"
    "    x[threadIdx.x] = s[63 - threadIdx.x];\n"
    "}\n"
    "KERNEL __launch_bounds__(1024, 2) spills(float *x, int n)\n"
    "{\n"
    "    float a[64];\n"
    "    _Pragma(\"unroll\") for (int i = 0; i < 64; i++) a[i] = x[i * n + threadIdx.x];\n"
    "    __syncthreads();\n"
    "    _Pragma(\"unroll\") for (int i = 0; i < 64; i++) x[i * n + threadIdx.x] = a[i] * a[(i * 7 + 1) % 64];\n"
    "}\n"
    "KERNEL scaled_less(float *x) { x[0] = 1; }\n";

static const struct rtc_program scaled = { "flex.cu", text, "scaled", headers, options };

/* ---- a host that listens ------------------------------------------------------------------------------------- */

KG_PRINTF(2, 3)
static void log_kept(const kg_host *its, const char *format, ...)
{
    va_list arguments;
    (void)its;
    va_start(arguments, format);
    (void)vsnprintf(logged, sizeof logged, format, arguments);
    va_end(arguments);
}

static int write_heard(const kg_host *its, const char *key, const void *bytes, size_t size)
{
    snprintf(last_key, sizeof last_key, "%s", key);
    return plain.cache_write_bytes(its, key, bytes, size);
}

/* In this process, where the host's services may be others. */
static int ask_here(const kg_host *its, kg_apart_fn *function, const void *question, size_t size, void **ret_answer,
                    size_t *ret_size, kg_error *ret_error)
{
    return function(its, question, size, ret_answer, ret_size, ret_error);
}

static int host_new(void **state)
{
    (void)state;
    scratch_new(folder);
    kg_host_init(&host);
    plain = host.host;
    host.cache = folder;
    host.library_paths = &library_path;
    host.n_library_paths = 1;
    assert_int_equal(kg_apart_start(&host.host, &host.apart, NULL), KG_OK);
    host.host.log = log_kept;
    host.host.cache_write_bytes = write_heard;
    logged[0] = asked[0] = last_key[0] = '\0';
    return 0;
}

static int host_free(void **state)
{
    (void)state;
    kg_apart_end(&host.apart);
    scratch_free(folder);
    return 0;
}

static int compile(const kg_device *device, const struct rtc_program *program, bool anew, struct rtc_code *ret_code,
                   kg_error *ret_error)
{
    struct nvrtc *nvrtc = NULL;
    int status = rtc_open(&host.host, &nvrtc, ret_error);
    if (!status)
        status = (anew ? rtc_compile_anew : rtc_compile)(nvrtc, device, program, ret_code, ret_error);
    rtc_close(nvrtc);
    return status;
}

static struct rtc_code compiled_on(const kg_device *device, const struct rtc_program *program, bool hit)
{
    struct rtc_code code = { .cubin = NULL };
    kg_error error = { 0 };
    if (compile(device, program, false, &code, &error))
        fail_msg("%s", error.text);
    assert_int_equal(code.compiled.cache_hit, hit);
    assert_true((code.compiled.compile_ms > 0) == !hit);
    return code;
}

static kg_compiled compiled(const struct rtc_program *program, bool hit)
{
    struct rtc_code code = compiled_on(&h200, program, hit);
    const kg_compiled it = code.compiled;
    rtc_code_done(&code);
    assert_null(code.cubin);
    return it;
}

static int n_entries(void)
{
    int count = 0;
    DIR *entries = opendir(folder);
    assert_non_null(entries);
    for (const struct dirent *entry; (entry = readdir(entries));)
        count += entry->d_name[0] != '.';
    closedir(entries);
    return count;
}

/* ---- machine code -------------------------------------------------------------------------------------------- */

static void texts_become_code(void **state)
{
    (void)state;
    struct rtc_code code = compiled_on(&h200, &scaled, false);
    const kg_compiled *it = &code.compiled;
    assert_memory_equal(code.cubin, "\177ELF", 4);
    assert_string_equal(it->name, "scaled");
    assert_int_equal(strlen(it->code_hash), 16);
    assert_int_equal(strspn(it->code_hash, "0123456789abcdef"), 16);
    assert_int_equal(strncmp(it->compiler, "NVRTC 1", 7), 0);
    assert_true(it->registers > 0 && it->registers < 64);
    assert_int_equal(it->shared_bytes, 32768);
    assert_int_equal(it->spill_store_bytes + it->spill_load_bytes, 0);
    assert_string_equal(logged, "");
    rtc_code_done(&code);
}

static void each_kernel_has_its_resources(void **state)
{
    struct rtc_program program = scaled;
    (void)state;
    program.kernel = "spills";
    const kg_compiled spills = compiled(&program, false);
    assert_true(spills.spill_store_bytes > 0 && spills.spill_load_bytes > 0);
    assert_int_equal(spills.registers, 32);
    assert_int_equal(spills.shared_bytes, 0);
    program.kernel = "scaled_less";
    const kg_compiled less = compiled(&program, false);
    assert_true(less.spill_store_bytes == 0 && less.spill_load_bytes == 0 && less.shared_bytes == 0);
    assert_true(less.registers > 0 && less.registers < 32);
}

/* Not of names, nor of what debuggers read. */
static void the_hash_is_of_the_code(void **state)
{
    static const char *const with_lines[] = { "-DFACTOR=3", "-lineinfo", NULL };
    static const char *const other[] = { "-DFACTOR=4", NULL };
    struct rtc_program program = scaled;
    (void)state;
    const kg_compiled first = compiled(&program, false);
    program.name = "renamed.cu";
    program.options = with_lines;
    assert_string_equal(compiled(&program, false).code_hash, first.code_hash);
    program.options = other;
    assert_string_not_equal(compiled(&program, false).code_hash, first.code_hash);
}

/* With all features of the device, which another of its family may lack. */
static void code_is_for_the_device(void **state)
{
    static const char *const tests[] = { "#if __CUDA_ARCH__ != 800\n#error\n#endif\n",
                                         "#ifndef __CUDA_ARCH_FEAT_SM90_ALL\n#error\n#endif\n" };
    const kg_device devices[] = { { .cc_major = 8 }, { .cc_major = 9 } };
    struct rtc_program program = scaled;
    (void)state;
    for (int i = 0; i < 2; i++) {
        char longer[sizeof text + 200];
        snprintf(longer, sizeof longer, "%s%s", tests[i], text);
        program.text = longer;
        struct rtc_code code = compiled_on(&devices[i], &program, false);
        rtc_code_done(&code);
    }
}

static void damaged_cubins_have_no_hash(void **state)
{
    struct rtc_code code = compiled_on(&h200, &scaled, false);
    uint64_t hash = 77;
    (void)state;
    assert_true(cubin_hash(code.cubin, code.cubin_bytes, "scaled", &hash) && hash != 77);
    hash = 77;
    assert_false(cubin_hash(code.cubin, code.cubin_bytes, "scal", &hash));
    assert_false(cubin_hash(code.cubin, code.cubin_bytes, "none", &hash));
    for (size_t cut = 0; cut < code.cubin_bytes - 2000; cut += 7) {
        char *part = malloc(cut + 1);
        memcpy(part, code.cubin, cut);
        (void)cubin_hash(part, cut, "scaled", &hash); /* reads nothing past it */
        free(part);
    }
    for (size_t at = 0; at < 64; at++) { /* of the header */
        unsigned char *byte = (unsigned char *)code.cubin + at, kept = *byte;
        *byte = 0xff;
        (void)cubin_hash(code.cubin, code.cubin_bytes, "scaled", &hash);
        *byte = kept;
    }
    rtc_code_done(&code);
}

/* ---- the cache ----------------------------------------------------------------------------------------------- */

static int no_program(void **ret_program, const char *its_text, const char *name, int n_headers,
                      const char *const *its_headers, const char *const *names)
{
    (void)ret_program, (void)its_text, (void)name, (void)n_headers, (void)its_headers, (void)names;
    fail_msg("compiled though it is in the cache");
    return 1;
}

static int symbol_without_work(void *library, const char *name, void **ret_symbol, kg_error *ret_error)
{
    int (*const function)(void **, const char *, const char *, int, const char *const *, const char *const *) =
        no_program;
    if (strcmp(name, "nvrtcCreateProgram"))
        return plain.library_symbol(library, name, ret_symbol, ret_error);
    memcpy(ret_symbol, &function, sizeof function);
    return KG_OK;
}

static void a_second_time_nothing_is_compiled(void **state)
{
    (void)state;
    struct rtc_code first = compiled_on(&h200, &scaled, false);
    host.host.ask_apart = ask_here;
    host.host.library_symbol = symbol_without_work;
    struct rtc_code second = compiled_on(&h200, &scaled, true);
    assert_int_equal(second.cubin_bytes, first.cubin_bytes);
    assert_memory_equal(second.cubin, first.cubin, first.cubin_bytes);
    first.compiled.compile_ms = 0;
    first.compiled.cache_hit = true;
    assert_memory_equal(&second.compiled, &first.compiled, offsetof(kg_compiled, cache_hit) + 1);
    rtc_code_done(&first);
    rtc_code_done(&second);
    host.host.library_symbol = plain.library_symbol;
    struct rtc_code anew;
    assert_int_equal(compile(&h200, &scaled, true, &anew, NULL), KG_OK);
    assert_false(anew.compiled.cache_hit);
    rtc_code_done(&anew);
}

static int other_version(int *ret_major, int *ret_minor)
{
    *ret_major = 99;
    *ret_minor = 1;
    return 0;
}

static int symbol_of_another_version(void *library, const char *name, void **ret_symbol, kg_error *ret_error)
{
    int (*const function)(int *, int *) = other_version;
    if (strcmp(name, "nvrtcVersion"))
        return plain.library_symbol(library, name, ret_symbol, ret_error);
    memcpy(ret_symbol, &function, sizeof function);
    return KG_OK;
}

static void whatever_decides_is_in_the_key(void **state)
{
    static const kg_source more[] = { { "score.h", score }, { "other.h", "" }, { NULL, NULL } },
                           other_name[] = { { "score.h", score }, { "another.h", "" }, { NULL, NULL } },
                           other_text[] = { { "score.h", score }, { "other.h", " " }, { NULL, NULL } };
    static const char *const one[] = { "-DFACTOR=3", "-DA", "-DB", NULL };
    static const char *const other[] = { "-DFACTOR=3", "-DA", "-DC", NULL };
    struct rtc_program program = scaled;
    kg_device device = h200;
    (void)state;
    (void)compiled(&program, false);
    program.text = text + 1 + strcspn(text, "\n");
    (void)compiled(&program, false);
    program.kernel = "scaled_less";
    (void)compiled(&program, false);
    program.headers = more;
    (void)compiled(&program, false);
    program.headers = other_name;
    (void)compiled(&program, false);
    program.headers = other_text;
    (void)compiled(&program, false);
    program.options = one;
    (void)compiled(&program, false);
    program.options = other;
    (void)compiled(&program, false);
    device.cc_major = 8;
    struct rtc_code code = compiled_on(&device, &program, false);
    rtc_code_done(&code);
    snprintf(device.driver, sizeof device.driver, "580.2");
    code = compiled_on(&device, &program, false);
    rtc_code_done(&code);
    device.driver_version++;
    code = compiled_on(&device, &program, false);
    rtc_code_done(&code);
    host.host.ask_apart = ask_here;
    host.host.library_symbol = symbol_of_another_version;
    code = compiled_on(&device, &program, false);
    assert_string_equal(code.compiled.compiler, "NVRTC 99.1");
    rtc_code_done(&code);
    assert_int_equal(n_entries(), 12);
    host.host.library_symbol = plain.library_symbol;
    (void)compiled(&scaled, true);
}

/* A damaged file, and an entry that is whole but no program's. */
static void damaged_entries_are_compiled_anew(void **state)
{
    char path[2 * SCRATCH_SIZE] = "";
    (void)state;
    (void)compiled(&scaled, false);
    DIR *entries = opendir(folder);
    for (const struct dirent *entry; (entry = readdir(entries));)
        if (entry->d_name[0] != '.')
            snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
    closedir(entries);
    FILE *file = fopen(path, "r+");
    assert_non_null(file);
    assert_int_equal(fseek(file, 2000, SEEK_SET), 0);
    assert_int_equal(fputc('!', file), '!');
    assert_int_equal(fclose(file), 0);
    (void)compiled(&scaled, false);
    (void)compiled(&scaled, true);
    assert_int_equal(plain.cache_write_bytes(&host.host, last_key, "short", 5), KG_OK);
    (void)compiled(&scaled, false);
    char nothing[sizeof(kg_compiled) + 10] = "";
    assert_int_equal(plain.cache_write_bytes(&host.host, last_key, nothing, sizeof nothing), KG_OK);
    (void)compiled(&scaled, false);
    (void)compiled(&scaled, true);
    assert_int_equal(n_entries(), 1);
}

static void sixteen_at_once(void **state)
{
    enum { PROCESSES = 16 };
    int failed = 0;
    (void)state;
    for (int i = 0; i < PROCESSES; i++) {
        pid_t child = fork();
        assert_true(child >= 0);
        if (child)
            continue;
        struct rtc_code code;
        uint64_t hash = 0;
        char digits[17];
        int wrong = kg_apart_start(&host.host, &host.apart, NULL) || compile(&h200, &scaled, false, &code, NULL) ||
                    !cubin_hash(code.cubin, code.cubin_bytes, "scaled", &hash);
        snprintf(digits, sizeof digits, "%016llx", (unsigned long long)hash);
        _exit(wrong || strcmp(digits, code.compiled.code_hash));
    }
    for (int i = 0, status = 0; i < PROCESSES; i++)
        failed += wait(&status) < 0 || status != 0;
    assert_int_equal(failed, 0);
    assert_int_equal(n_entries(), 1);
    (void)compiled(&scaled, true);
}

static void without_a_cache_all_is_compiled(void **state)
{
    (void)state;
    host.cache = "";
    (void)compiled(&scaled, false);
    (void)compiled(&scaled, false);
    assert_string_equal(logged, "");
    char blocked[SCRATCH_SIZE + 32];
    scratch_write(folder, "file", "");
    snprintf(blocked, sizeof blocked, "%s/file", folder);
    host.cache = blocked;
    (void)compiled(&scaled, false);
    assert_string_equal(logged, "scaled: the cache does not take what was compiled");
}

/* ---- errors -------------------------------------------------------------------------------------------------- */

static void refused_on(const kg_device *device, const struct rtc_program *program, int status, const char *wanted)
{
    struct rtc_code code = { .cubin = &code };
    assert_int_equal(compile(device, program, false, &code, &refusal), status);
    assert_int_equal(refusal.code, status);
    if (strncmp(refusal.text, wanted, strlen(wanted)))
        fail_msg("'%s' does not begin with '%s'", refusal.text, wanted);
    assert_null(strchr(refusal.text, '\n'));
    assert_ptr_equal(code.cubin, &code);
    assert_int_equal(n_entries(), 0);
}

static void a_snippets_error_is_told_by_its_line(void **state)
{
    static const kg_source wrong[] = { { "score.h", "#line 1 \"flex/mods/error.h\"\n"
                                                    "static __device__ float score(float x)\n"
                                                    "{\n"
                                                    "    int unused;\n"
                                                    "    return y + // error: this is no error\n"
                                                    "        z(x);\n"
                                                    "}\n" },
                                       { NULL, NULL } };
    struct rtc_program program = scaled;
    (void)state;
    program.headers = wrong;
    refused_on(&h200, &program, KG_EINVAL,
               "flex/mods/error.h(4): error: identifier \"y\" is undefined; "
               "flex/mods/error.h(5): error: identifier \"z\" is undefined");
    assert_string_equal(strstr(refusal.text, "\"z\" "), "\"z\" is undefined"); /* the end */
    assert_int_equal(strncmp(logged, "NVRTC 1", 7), 0);
    assert_non_null(strstr(logged, " of flex.cu:\nflex/mods/error.h(4): error: "));
    assert_non_null(strstr(logged, "flex/mods/error.h(3): warning"));
    assert_non_null(strstr(logged, "2 errors detected"));
}

static void other_errors_are_told(void **state)
{
    static const char *const nonsense[] = { "--nonsense", NULL };
    static const kg_source none[] = { { NULL, NULL } };
    const kg_device old = { .cc_major = 2, .cc_minor = 1 };
    struct rtc_program program = scaled;
    (void)state;
    program.headers = none;
    refused_on(&h200, &program, KG_EINVAL, "flex/flex.cu(1): catastrophic error: cannot open source file \"score.h\"");
    program.headers = NULL;
    refused_on(&h200, &program, KG_EINVAL, "flex/flex.cu(1): catastrophic error: cannot open source file \"score.h\"");
    program = scaled;
    program.options = nonsense;
    refused_on(&h200, &program, KG_EINVAL, "nvrtc: error: unrecognized option --nonsense found");
    program = scaled;
    program.options = NULL;
    refused_on(&h200, &program, KG_EINVAL, "flex/mods/score.h(3): error: identifier \"FACTOR\" is undefined");
    program = scaled;
    program.kernel = "scal";
    refused_on(&h200, &program, KG_EINVAL, "flex.cu: it has no extern \"C\" kernel scal");
    program.text = "extern \"C\" __global__ void scal() { asm(\"nonsense;\"); }";
    refused_on(&h200, &program, KG_EINVAL, "ptxas application ptx input, line ");
    refused_on(&old, &scaled, KG_EUNSUPPORTED, "NVRTC 1");
}

/* More errors than fit: whole ones first, no byte too many. */
static void many_errors_are_cut(void **state)
{
    char lines[4096] = "static __device__ float score(float x)\n{\n    return 0 +\n#line 1 \"many.h\"\n";
    kg_source many[] = { { "score.h", lines }, { NULL, NULL } };
    struct rtc_program program = scaled;
    (void)state;
    for (int i = 0; i < 40; i++)
        snprintf(lines + strlen(lines), sizeof lines - strlen(lines), "b%d +\n", i);
    strcat(lines, "x;\n}\n");
    program.headers = many;
    refused_on(&h200, &program, KG_EINVAL,
               "many.h(1): error: identifier \"b0\" is undefined; many.h(2): error: identifier \"b1\" is undefined; ");
}

static int short_log(void *its, char *ret_log)
{
    (void)its;
    strcpy(ret_log, "ptxas info    : Compiling entry function 'scaled' for 'sm_90a'\n"
                    "ptxas info    : Used 10 registers, used 1 barriers\n"); /* and nothing of spills */
    return 0;
}

static int symbol_with_a_short_log(void *library, const char *name, void **ret_symbol, kg_error *ret_error)
{
    int (*const function)(void *, char *) = short_log;
    if (strcmp(name, "nvrtcGetProgramLog"))
        return plain.library_symbol(library, name, ret_symbol, ret_error);
    memcpy(ret_symbol, &function, sizeof function);
    return KG_OK;
}

/* They are not taken for none. */
static void resources_must_be_told(void **state)
{
    (void)state;
    host.host.ask_apart = ask_here;
    host.host.library_symbol = symbol_with_a_short_log;
    refused_on(&h200, &scaled, KG_EINVAL, "flex.cu: NVRTC 1");
    assert_non_null(strstr(refusal.text, " tells no resources of scaled"));
    struct rtc_program wrong = scaled;
    wrong.text = "error";
    refused_on(&h200, &wrong, KG_EINVAL, "flex.cu: NVRTC 1"); /* and why is not told either */
    assert_non_null(strstr(refusal.text, ": NVRTC_ERROR_COMPILATION"));
}

static int no_library(const kg_host *its, const char *soname, void **ret_library, kg_error *ret_error)
{
    (void)its, (void)ret_library;
    snprintf(asked + strlen(asked), sizeof asked - strlen(asked), "%s ", soname);
    return kg_fail(ret_error, KG_EUNSUPPORTED, "library not found: %s (see --library-path)", soname);
}

static int only_the_older(const kg_host *its, const char *soname, void **ret_library, kg_error *ret_error)
{
    void *library = NULL;
    if (no_library(its, soname, &library, ret_error) && !strcmp(soname, "libnvrtc.so.13"))
        return KG_EUNSUPPORTED;
    return plain.library_open(its, "libm.so.6", ret_library, ret_error); /* stands for 12, and has no such functions */
}

static void missing_is_not_supported(void **state)
{
    (void)state;
    host.host.ask_apart = ask_here;
    host.host.library_open = no_library;
    refused_on(&h200, &scaled, KG_EUNSUPPORTED,
               "NVRTC is not available: library not found: libnvrtc.so.13 (see --library-path)");
    assert_string_equal(asked, "libnvrtc.so.13 libnvrtc.so.12 ");
    host.host.library_open = only_the_older;
    refused_on(&h200, &scaled, KG_EUNSUPPORTED, "NVRTC is not usable: the library has no nvrtc");
    assert_string_equal(logged, "");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, host_new, host_free)

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        TEST(texts_become_code),
        TEST(each_kernel_has_its_resources),
        TEST(the_hash_is_of_the_code),
        TEST(code_is_for_the_device),
        TEST(damaged_cubins_have_no_hash),
        TEST(a_second_time_nothing_is_compiled),
        TEST(whatever_decides_is_in_the_key),
        TEST(damaged_entries_are_compiled_anew),
        TEST(sixteen_at_once),
        TEST(without_a_cache_all_is_compiled),
        TEST(a_snippets_error_is_told_by_its_line),
        TEST(other_errors_are_told),
        TEST(many_errors_are_cut),
        TEST(resources_must_be_told),
        TEST(missing_is_not_supported),
    };
    struct nvrtc *nvrtc = NULL;
    library_path = argc > 1 ? argv[1] : "";
    (void)host_new(NULL);
    const bool here = !rtc_open(&host.host, &nvrtc, NULL);
    rtc_close(nvrtc);
    (void)host_free(NULL);
    if (!here) {
        puts("there is no libnvrtc");
        return 77;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
