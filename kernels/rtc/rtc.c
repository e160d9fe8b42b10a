/* rtc.c -- machine code of a program, out of the host's cache or by NVRTC. What else decides about the code belongs in
 * make_key. */
#include "rtc/rtc.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "rtc/cubin.h"
#include "rtc/nvrtc.h"

#define FORMAT 2 /* of an entry: kg_compiled, and the cubin */

static uint64_t hash_text(uint64_t hash, const char *text)
{
    return cubin_hash_bytes(hash, text, strlen(text));
}

static void make_key(const struct rtc_program *program, const char *arch, const char *version, const kg_device *device,
                     char *ret_key, size_t size)
{
    char numbers[64];
    (void)snprintf(numbers, sizeof numbers, "%d %d", FORMAT, device->driver_version);
    const char *const fixed[] = { numbers, version, device->driver, program->name, program->text };
    uint64_t hash = CUBIN_HASH_START;
    for (size_t i = 0; i < sizeof fixed / sizeof *fixed; i++)
        hash = hash_text(hash, fixed[i]);
    for (const kg_source *header = program->headers; header && header->name; header++)
        hash = hash_text(hash_text(hash, header->name), header->text);
    hash = hash_text(hash, ""); /* the headers' end */
    for (const char *const *option = program->options; option && *option; option++)
        hash = hash_text(hash, *option);
    (void)snprintf(ret_key, size, "rtc %016" PRIx64 " %s %s", hash, arch, program->kernel);
}

static bool read_entry(const kg_host *host, const char *key, const char *kernel, struct rtc_code *ret_code)
{
    struct rtc_code code = { .cubin = NULL };
    void *bytes = NULL;
    size_t size = 0;
    if (host->cache_read_bytes(host, key, &bytes, &size))
        return false;
    if (size > sizeof code.compiled)
        memcpy(&code.compiled, bytes, sizeof code.compiled);
    if (strcmp(code.compiled.name, kernel)) {
        free(bytes);
        return false;
    }
    code.cubin_bytes = size - sizeof code.compiled;
    code.cubin = memmove(bytes, (char *)bytes + sizeof code.compiled, code.cubin_bytes);
    code.compiled.cache_hit = true;
    *ret_code = code;
    return true;
}

/* Without an entry the next process compiles again, no more. */
static void write_entry(const kg_host *host, const char *key, const struct rtc_code *code)
{
    const size_t size = sizeof code->compiled + code->cubin_bytes;
    char *bytes = malloc(size);
    if (!bytes)
        return;
    memcpy(bytes, &code->compiled, sizeof code->compiled);
    memcpy(bytes + sizeof code->compiled, code->cubin, code->cubin_bytes);
    if (host->cache_write_bytes(host, key, bytes, size) == KG_EIO)
        host->log(host, "%s: the cache does not take what was compiled", code->compiled.name);
    free(bytes);
}

static double now_ms(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return 1e3 * (double)now.tv_sec + 1e-6 * (double)now.tv_nsec;
}

static int compile(const struct nvrtc *nvrtc, const kg_device *device, const struct rtc_program *program, bool anew,
                   struct rtc_code *ret_code, kg_error *ret_error)
{
    const kg_host *host = nvrtc->host;
    struct rtc_code code;
    char arch[16], key[512];
    int status = nvrtc_arch(nvrtc, device, arch, ret_error);
    if (status)
        return status;
    make_key(program, arch, nvrtc->version, device, key, sizeof key);
    if (!anew && read_entry(host, key, program->kernel, ret_code))
        return KG_OK;
    const double start_ms = now_ms();
    host->part(host, "compile");
    status = nvrtc_compile(nvrtc, program, arch, &code, ret_error);
    host->part(host, NULL);
    if (status)
        return status;
    write_entry(host, key, &code);
    code.compiled.compile_ms = now_ms() - start_ms;
    *ret_code = code;
    return KG_OK;
}

int rtc_open(const kg_host *host, struct nvrtc **ret_nvrtc, kg_error *ret_error)
{
    struct nvrtc *nvrtc = malloc(sizeof *nvrtc);
    if (!nvrtc)
        return kg_fail(ret_error, KG_ENOMEM, "no host memory for NVRTC");
    int status = nvrtc_find(host, nvrtc, ret_error);
    if (status)
        free(nvrtc);
    else
        *ret_nvrtc = nvrtc;
    return status;
}

void rtc_close(struct nvrtc *nvrtc)
{
    free(nvrtc);
}

int rtc_compile(const struct nvrtc *nvrtc, const kg_device *device, const struct rtc_program *program,
                struct rtc_code *ret_code, kg_error *ret_error)
{
    return compile(nvrtc, device, program, false, ret_code, ret_error);
}

int rtc_compile_anew(const struct nvrtc *nvrtc, const kg_device *device, const struct rtc_program *program,
                     struct rtc_code *ret_code, kg_error *ret_error)
{
    return compile(nvrtc, device, program, true, ret_code, ret_error);
}

void rtc_code_done(struct rtc_code *code)
{
    free(code->cubin);
    *code = (struct rtc_code){ .cubin = NULL };
}
