/* nvrtc.c -- opens NVRTC and compiles a program. A function of NVRTC that is missing here needs a member of struct
 * nvrtc and a row of `symbols`; ptxas's words are also read by tools/ptxas_report.c, of builds. */
#include "rtc/nvrtc.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "rtc/cubin.h"

enum { OUT_OF_MEMORY = 1, INVALID_OPTION = 5, BUILTIN_OPERATION_FAILURE = 7 }; /* of nvrtcResult */

static const struct {
    const char *name;
    size_t offset;
} symbols[] = {
#define SYMBOL(name) "nvrtc" #name, offsetof(struct nvrtc, name)
    { SYMBOL(Version) },           { SYMBOL(GetNumSupportedArchs) },
    { SYMBOL(GetSupportedArchs) }, { SYMBOL(CreateProgram) },
    { SYMBOL(DestroyProgram) },    { SYMBOL(CompileProgram) },
    { SYMBOL(GetCUBINSize) },      { SYMBOL(GetCUBIN) },
    { SYMBOL(GetProgramLogSize) }, { SYMBOL(GetProgramLog) },
    { SYMBOL(GetErrorString) },
#undef SYMBOL
};

/* ---- the library ----------------------------------------------------------------------------------------------- */

int nvrtc_open(const kg_host *host, struct nvrtc_library *ret_library, kg_error *ret_error)
{
    static const char *const sonames[] = { "libnvrtc.so.13", "libnvrtc.so.12" };
    struct nvrtc_library library = { .version = "" };
    void *handle = NULL, *symbol = NULL;
    kg_error why = { 0 }, ignored;
    int major = 0, minor = 0;
    /* cuDNN and cuBLAS bring NVRTCs of their own, which make other code of the same text */
    if (host->library_open_apart(host, sonames[0], &handle, &why) &&
        host->library_open_apart(host, sonames[1], &handle, &ignored))
        return kg_fail(ret_error, KG_EUNSUPPORTED, "NVRTC is not available: %.400s", why.text);
    for (size_t i = 0; i < sizeof symbols / sizeof *symbols; i++) {
        if (host->library_symbol(handle, symbols[i].name, &symbol, &why))
            return kg_fail(ret_error, KG_EUNSUPPORTED, "NVRTC is not usable: %.400s", why.text);
        /* ISO C has no conversion from void * to a function pointer; POSIX promises the same representation. */
        memcpy((char *)&library.call + symbols[i].offset, &symbol, sizeof symbol);
    }
    if (library.call.Version(&major, &minor))
        return kg_fail(ret_error, KG_EUNSUPPORTED, "NVRTC does not tell its version");
    (void)snprintf(library.version, sizeof library.version, "NVRTC %d.%d", major, minor);
    *ret_library = library;
    return KG_OK;
}

int nvrtc_arch(const struct nvrtc_library *library, const kg_device *device, char ret_arch[16], kg_error *ret_error)
{
    const int wanted = 10 * device->cc_major + device->cc_minor;
    int archs[128], count = 0;
    bool known = false;
    if (!library->call.GetNumSupportedArchs(&count) && count <= (int)(sizeof archs / sizeof *archs) &&
        !library->call.GetSupportedArchs(archs))
        for (int i = 0; i < count && !known; i++)
            known = archs[i] == wanted;
    if (!known)
        return kg_fail(ret_error, KG_EUNSUPPORTED, "%s does not compile for compute capability %d.%d", library->version,
                       device->cc_major, device->cc_minor);
    (void)snprintf(ret_arch, 16, "sm_%d%s", wanted, device->cc_major >= 9 ? "a" : "");
    return KG_OK;
}

/* ---- its log --------------------------------------------------------------------------------------------------- */

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

/* ---- a program ------------------------------------------------------------------------------------------------- */

static int fail(const struct nvrtc_library *library, const kg_host *host, const struct rtc_program *program, int result,
                const char *log, kg_error *ret_error)
{
    char errors[500];
    const int status = result == OUT_OF_MEMORY               ? KG_ENOMEM
                       : result == BUILTIN_OPERATION_FAILURE ? KG_EUNSUPPORTED
                                                             : KG_EINVAL;
    if (*log)
        host->log(host, "%s of %s:\n%s", library->version, program->name, log);
    find_errors(log, errors, sizeof errors);
    if (*errors)
        return kg_fail(ret_error, status, "%s", errors);
    return kg_fail(ret_error, status, "%s: %s: %s", program->name, library->version,
                   library->call.GetErrorString(result));
}

/* Text to free(); "" where there is none. */
static char *read_log(const struct nvrtc *call, void *compiling)
{
    size_t size = 0;
    if (!compiling || call->GetProgramLogSize(compiling, &size))
        size = 0;
    char *log = calloc(1, size + 1);
    if (log && size)
        (void)call->GetProgramLog(compiling, log);
    return log;
}

static int create(const struct nvrtc *call, const struct rtc_program *program, void **ret_compiling)
{
    int count = 0;
    while (program->headers && program->headers[count].name)
        count++;
    const char **lists = calloc(2 * (size_t)count + 1, sizeof *lists);
    for (int i = 0; lists && i < count; i++) {
        lists[i] = program->headers[i].text;
        lists[count + i] = program->headers[i].name;
    }
    int result = lists ? call->CreateProgram(ret_compiling, program->text, program->name, count, lists, lists + count)
                       : OUT_OF_MEMORY;
    free(lists);
    return result;
}

static int compile(const struct nvrtc *call, void *compiling, const struct rtc_program *program, const char *arch)
{
    char target[48];
    int count = 0;
    while (program->options && program->options[count])
        count++;
    const char **options = calloc((size_t)count + 3, sizeof *options);
    if (!options)
        return OUT_OF_MEMORY;
    (void)snprintf(target, sizeof target, "--gpu-architecture=%s", arch);
    options[0] = target;
    options[1] = "--ptxas-options=-v"; /* the log tells resources */
    for (int i = 0; i < count; i++)
        options[2 + i] = program->options[i];
    options[2 + count] = "--no-cache"; /* what comes out of NVRTC's own tells none; older versions lack this */
    int result = call->CompileProgram(compiling, count + 3, options);
    if (result == INVALID_OPTION)
        result = call->CompileProgram(compiling, count + 2, options);
    free(options);
    return result;
}

static int take_cubin(const struct nvrtc *call, void *compiling, struct rtc_code *code)
{
    int result = call->GetCUBINSize(compiling, &code->cubin_bytes);
    if (result)
        return result;
    code->cubin = malloc(code->cubin_bytes);
    return code->cubin ? call->GetCUBIN(compiling, code->cubin) : OUT_OF_MEMORY;
}

int nvrtc_compile(const struct nvrtc_library *library, const kg_host *host, const struct rtc_program *program,
                  const char *arch, struct rtc_code *ret_code, kg_error *ret_error)
{
    const struct nvrtc *call = &library->call;
    struct rtc_code code = { .cubin = NULL };
    void *compiling = NULL;
    uint64_t hash = 0;
    int status = KG_OK, result = create(call, program, &compiling);
    if (!result)
        result = compile(call, compiling, program, arch);
    if (!result)
        result = take_cubin(call, compiling, &code);
    char *log = read_log(call, compiling);
    if (compiling)
        (void)call->DestroyProgram(&compiling);
    (void)snprintf(code.compiled.name, sizeof code.compiled.name, "%s", program->kernel);
    if (result || !log)
        status = fail(library, host, program, log ? result : OUT_OF_MEMORY, log ? log : "", ret_error);
    else if (!cubin_hash(code.cubin, code.cubin_bytes, program->kernel, &hash))
        status = kg_fail(ret_error, KG_EINVAL, "%s: it has no extern \"C\" kernel %s", program->name, program->kernel);
    else if (!read_resources(log, &code.compiled))
        status = kg_fail(ret_error, KG_EINVAL, "%s: %s tells no resources of %s", program->name, library->version,
                         program->kernel);
    if (!status) {
        (void)snprintf(code.compiled.code_hash, sizeof code.compiled.code_hash, "%016" PRIx64, hash);
        memcpy(code.compiled.compiler, library->version, sizeof code.compiled.compiler);
        *ret_code = code;
    } else {
        free(code.cubin);
    }
    free(log);
    return status;
}
