/* nvrtc.c -- asks NVRTC, in a process of its own. A function of NVRTC that is missing here needs a member of struct
 * calls and a row of `symbols`; ptxas's words are also read by tools/ptxas_report.c, of builds. */
#include "rtc/nvrtc.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "rtc/cubin.h"

enum { OUT_OF_MEMORY = 1, INVALID_OPTION = 5, BUILTIN_OPERATION_FAILURE = 7 }; /* of nvrtcResult */

/* As nvrtc.h of the toolkit declares them, which may not be installed: a program is a pointer, a result an int. */
struct calls {
    int (*Version)(int *ret_major, int *ret_minor);
    int (*GetNumSupportedArchs)(int *ret_count);
    int (*GetSupportedArchs)(int *ret_archs);
    int (*CreateProgram)(void **ret_program, const char *text, const char *name, int n_headers,
                         const char *const *headers, const char *const *header_names);
    int (*DestroyProgram)(void **program);
    int (*CompileProgram)(void *program, int n_options, const char *const *options);
    int (*GetCUBINSize)(void *program, size_t *ret_size);
    int (*GetCUBIN)(void *program, char *ret_cubin);
    int (*GetProgramLogSize)(void *program, size_t *ret_size);
    int (*GetProgramLog)(void *program, char *ret_log);
    const char *(*GetErrorString)(int result);
};

static const struct {
    const char *name;
    size_t offset;
} symbols[] = {
#define SYMBOL(name) "nvrtc" #name, offsetof(struct calls, name)
    { SYMBOL(Version) },        { SYMBOL(GetNumSupportedArchs) }, { SYMBOL(GetSupportedArchs) },
    { SYMBOL(CreateProgram) },  { SYMBOL(CompileProgram) },       { SYMBOL(GetCUBINSize) },
    { SYMBOL(GetCUBIN) },       { SYMBOL(GetProgramLogSize) },    { SYMBOL(GetProgramLog) },
    { SYMBOL(GetErrorString) }, { SYMBOL(DestroyProgram) },
#undef SYMBOL
};

/* What is asked to compile is texts, one after another, each with its NUL: the architecture, the program's
 * name and text, names and texts of headers up to an empty name, options up to an empty one. The answer is this,
 * the cubin, and the log. */
struct made {
    int result;
    char error[64]; /* what NVRTC calls it */
    size_t cubin_bytes;
};

/* ---- there ------------------------------------------------------------------------------------------------------- */

static int open_library(const kg_host *host, struct calls *ret_calls, kg_error *ret_error)
{
    static const char *const sonames[] = { "libnvrtc.so.13", "libnvrtc.so.12" };
    void *handle = NULL, *symbol = NULL;
    struct calls calls;
    kg_error why = { 0 }, ignored;
    if (host->library_open(host, sonames[0], &handle, &why) && host->library_open(host, sonames[1], &handle, &ignored))
        return kg_fail(ret_error, KG_EUNSUPPORTED, "NVRTC is not available: %.400s", why.text);
    for (size_t i = 0; i < sizeof symbols / sizeof *symbols; i++) {
        if (host->library_symbol(handle, symbols[i].name, &symbol, &why))
            return kg_fail(ret_error, KG_EUNSUPPORTED, "NVRTC is not usable: %.400s", why.text);
        /* ISO C has no conversion from void * to a function pointer; POSIX promises the same representation. */
        memcpy((char *)&calls + symbols[i].offset, &symbol, sizeof symbol);
    }
    *ret_calls = calls;
    return KG_OK;
}

static int describe(const kg_host *host, const void *asked, size_t size, void **ret_answer, size_t *ret_size,
                    kg_error *ret_error)
{
    struct calls call;
    int major = 0, minor = 0, count = 0;
    (void)asked, (void)size;
    int status = open_library(host, &call, ret_error);
    if (status)
        return status;
    struct nvrtc *nvrtc = calloc(1, sizeof *nvrtc);
    if (!nvrtc)
        return kg_fail(ret_error, KG_ENOMEM, "no host memory for NVRTC");
    if (call.Version(&major, &minor)) {
        free(nvrtc);
        return kg_fail(ret_error, KG_EUNSUPPORTED, "NVRTC does not tell its version");
    }
    (void)snprintf(nvrtc->version, sizeof nvrtc->version, "NVRTC %d.%d", major, minor);
    if (!call.GetNumSupportedArchs(&count) && count <= (int)(sizeof nvrtc->archs / sizeof *nvrtc->archs) &&
        !call.GetSupportedArchs(nvrtc->archs))
        nvrtc->n_archs = count;
    *ret_answer = nvrtc;
    *ret_size = sizeof *nvrtc;
    return KG_OK;
}

/* Texts up to an empty one; `stride` of them belong together. */
static int count_texts(const char *at, int stride)
{
    int count = 0;
    for (; *at; count++)
        for (int i = 0; i < stride; i++)
            at += strlen(at) + 1;
    return count;
}

static const char *next_text(const char **at)
{
    const char *text = *at;
    *at += strlen(text) + 1;
    return text;
}

static int create(const struct calls *call, const char **at, void **ret_program)
{
    const char *name = next_text(at), *text = next_text(at);
    const int count = count_texts(*at, 2);
    const char **lists = calloc(2 * (size_t)count + 1, sizeof *lists);
    for (int i = 0; lists && i < count; i++) {
        lists[count + i] = next_text(at);
        lists[i] = next_text(at);
    }
    (void)next_text(at);
    const int result =
        lists ? call->CreateProgram(ret_program, text, name, count, lists, lists + count) : OUT_OF_MEMORY;
    free(lists);
    return result;
}

static int compile(const struct calls *call, void *program, const char *arch, const char *at)
{
    const int count = count_texts(at, 1);
    char target[48];
    const char **options = calloc((size_t)count + 3, sizeof *options);
    if (!options)
        return OUT_OF_MEMORY;
    (void)snprintf(target, sizeof target, "--gpu-architecture=%s", arch);
    options[0] = target;
    options[1] = "--ptxas-options=-v"; /* the log tells resources */
    for (int i = 0; i < count; i++)
        options[2 + i] = next_text(&at);
    options[2 + count] = "--no-cache"; /* what comes out of NVRTC's own tells none; older versions lack this */
    int result = call->CompileProgram(program, count + 3, options);
    if (result == INVALID_OPTION)
        result = call->CompileProgram(program, count + 2, options);
    free(options);
    return result;
}

static int make(const kg_host *host, const void *asked, size_t size, void **ret_answer, size_t *ret_size,
                kg_error *ret_error)
{
    const char *at = asked, *arch = next_text(&at);
    struct calls call;
    struct made made = { 0 };
    void *program = NULL;
    size_t log_bytes = 0;
    (void)size;
    int status = open_library(host, &call, ret_error);
    if (status)
        return status;
    made.result = create(&call, &at, &program);
    if (!made.result)
        made.result = compile(&call, program, arch, at);
    if (!made.result)
        made.result = call.GetCUBINSize(program, &made.cubin_bytes);
    if (!program || call.GetProgramLogSize(program, &log_bytes))
        log_bytes = 0;
    char *bytes = calloc(1, sizeof made + made.cubin_bytes + log_bytes + 1);
    if (!bytes)
        return kg_fail(ret_error, KG_ENOMEM, "no host memory for a cubin");
    if (!made.result)
        made.result = call.GetCUBIN(program, bytes + sizeof made);
    if (log_bytes)
        (void)call.GetProgramLog(program, bytes + sizeof made + made.cubin_bytes);
    if (program)
        (void)call.DestroyProgram(&program);
    (void)snprintf(made.error, sizeof made.error, "%s", call.GetErrorString(made.result));
    memcpy(bytes, &made, sizeof made);
    *ret_answer = bytes;
    *ret_size = sizeof made + made.cubin_bytes + log_bytes + 1;
    return KG_OK;
}

/* ---- what it is -------------------------------------------------------------------------------------------------- */

int nvrtc_find(const kg_host *host, struct nvrtc *ret_nvrtc, kg_error *ret_error)
{
    void *answer = NULL;
    size_t size = 0;
    int status = host->ask_apart(host, describe, "", 1, &answer, &size, ret_error);
    if (status)
        return status;
    memcpy(ret_nvrtc, answer, sizeof *ret_nvrtc);
    ret_nvrtc->host = host;
    free(answer);
    return KG_OK;
}

int nvrtc_arch(const struct nvrtc *nvrtc, const kg_device *device, char ret_arch[16], kg_error *ret_error)
{
    const int wanted = 10 * device->cc_major + device->cc_minor;
    bool known = false;
    for (int i = 0; i < nvrtc->n_archs && !known; i++)
        known = nvrtc->archs[i] == wanted;
    if (!known)
        return kg_fail(ret_error, KG_EUNSUPPORTED, "%s does not compile for compute capability %d.%d", nvrtc->version,
                       device->cc_major, device->cc_minor);
    (void)snprintf(ret_arch, 16, "sm_%d%s", wanted, device->cc_major >= 9 ? "a" : "");
    return KG_OK;
}

/* ---- its log ----------------------------------------------------------------------------------------------------- */

/* "alibi.c(3): error: …", "ptxas …; error   : …", "error #20-D: …". The lines of source that it shows are indented. */
static bool is_error(const char *line, size_t length)
{
    static const char error[] = "error";
    const char *end = line + length, *at = isspace((unsigned char)*line) ? NULL : strstr(line, error);
    while (at && at < end && at[sizeof error - 1 + strspn(at + sizeof error - 1, " #0123456789-D")] != ':')
        at = strstr(at + 1, error);
    return at && at < end;
}

/* The first error, and as many more as there is room for. */
static void find_errors(const char *log, char *ret_text, size_t size)
{
    size_t used = 0;
    *ret_text = '\0';
    for (const char *line = log; *line; line += strspn(line, "\n")) {
        const size_t length = strcspn(line, "\n");
        if (is_error(line, length) && used < size - 3)
            used += (size_t)snprintf(ret_text + used, size - used, "%s%.*s", used ? "; " : "", (int)length, line);
        line += length;
    }
}

/* What ptxas says of the kernel, and of each function that it calls as compiled for it: what these spill, its calls
 * spill. false: it says nothing. */
static bool read_resources(const char *log, kg_compiled *compiled)
{
    static const char entry[] = "Compiling entry function '", frame[] = "bytes stack frame, ", shared[] = " bytes smem";
    const size_t length = strlen(compiled->name);
    const char *at = strstr(log, entry);
    while (at && (strncmp(at + sizeof entry - 1, compiled->name, length) || at[sizeof entry - 1 + length] != '\''))
        at = strstr(at + 1, entry);
    if (!at)
        return false;
    const char *next = strstr(at + 1, entry), *end = next ? next : log + strlen(log);
    const char *used = strstr(at, "Used "), *bytes = strstr(at, shared);
    int frames = 0;
    while ((at = strstr(at + 1, frame)) && at < end) {
        int stores = 0, loads = 0;
        frames += sscanf(at + sizeof frame - 1, "%d bytes spill stores, %d bytes spill loads", &stores, &loads) == 2;
        compiled->spill_store_bytes += stores;
        compiled->spill_load_bytes += loads;
    }
    if (bytes && bytes < end) {
        while (isdigit((unsigned char)bytes[-1]))
            bytes--;
        compiled->shared_bytes = atoi(bytes);
    }
    return frames && used && used < end && sscanf(used, "Used %d registers", &compiled->registers) == 1;
}

/* ---- a program --------------------------------------------------------------------------------------------------- */

static char *write_question(const struct rtc_program *program, const char *arch, size_t *ret_size)
{
    char *bytes = NULL;
    FILE *out = open_memstream(&bytes, ret_size);
    if (!out)
        return NULL;
    fprintf(out, "%s%c%s%c%s%c", arch, 0, program->name, 0, program->text, 0);
    for (const kg_source *header = program->headers; header && header->name; header++)
        fprintf(out, "%s%c%s%c", header->name, 0, header->text, 0);
    fputc(0, out);
    for (const char *const *option = program->options; option && *option; option++)
        fprintf(out, "%s%c", *option, 0);
    fputc(0, out);
    return fclose(out) ? NULL : bytes;
}

static int fail(const struct nvrtc *nvrtc, const struct rtc_program *program, const struct made *made, const char *log,
                kg_error *ret_error)
{
    char errors[500];
    const int status = made->result == OUT_OF_MEMORY               ? KG_ENOMEM
                       : made->result == BUILTIN_OPERATION_FAILURE ? KG_EUNSUPPORTED
                                                                   : KG_EINVAL;
    if (*log)
        nvrtc->host->log(nvrtc->host, "%s of %s:\n%s", nvrtc->version, program->name, log);
    find_errors(log, errors, sizeof errors);
    if (*errors)
        return kg_fail(ret_error, status, "%s", errors);
    return kg_fail(ret_error, status, "%s: %s: %s", program->name, nvrtc->version, made->error);
}

/* Out of an answer, whose bytes the cubin then is. */
static int take(const struct nvrtc *nvrtc, const struct rtc_program *program, char *bytes, struct rtc_code *ret_code,
                kg_error *ret_error)
{
    struct rtc_code code = { .cubin = bytes };
    struct made made;
    uint64_t hash = 0;
    memcpy(&made, bytes, sizeof made);
    const char *cubin = bytes + sizeof made, *log = cubin + made.cubin_bytes;
    (void)snprintf(code.compiled.name, sizeof code.compiled.name, "%s", program->kernel);
    if (made.result)
        return fail(nvrtc, program, &made, log, ret_error);
    if (!cubin_hash(cubin, made.cubin_bytes, program->kernel, &hash))
        return kg_fail(ret_error, KG_EINVAL, "%s: it has no extern \"C\" kernel %s", program->name, program->kernel);
    if (!read_resources(log, &code.compiled))
        return kg_fail(ret_error, KG_EINVAL, "%s: %s tells no resources of %s", program->name, nvrtc->version,
                       program->kernel);
    (void)snprintf(code.compiled.code_hash, sizeof code.compiled.code_hash, "%016" PRIx64, hash);
    memcpy(code.compiled.compiler, nvrtc->version, sizeof code.compiled.compiler);
    code.cubin_bytes = made.cubin_bytes;
    memmove(bytes, cubin, made.cubin_bytes);
    *ret_code = code;
    return KG_OK;
}

int nvrtc_compile(const struct nvrtc *nvrtc, const struct rtc_program *program, const char *arch,
                  struct rtc_code *ret_code, kg_error *ret_error)
{
    size_t asked_bytes = 0, size = 0;
    void *answer = NULL;
    char *asked = write_question(program, arch, &asked_bytes);
    if (!asked)
        return kg_fail(ret_error, KG_ENOMEM, "no host memory for a program's texts");
    int status = nvrtc->host->ask_apart(nvrtc->host, make, asked, asked_bytes, &answer, &size, ret_error);
    free(asked);
    if (!status)
        status = take(nvrtc, program, answer, ret_code, ret_error);
    if (status)
        free(answer);
    return status;
}
