/* test_rtc.c -- kernels compiled at run time, on a GPU: they load, run, and are known by their names in a captured
 * launch. Exits with 77 without a GPU or NVRTC; what needs none is in tests/unit/kernels/test_rtc.c.
 *
 *     test_rtc FOLDER     where NVRTC lies, if not where the loader looks
 */
#include <ftw.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cuda_runtime_api.h>

#include "device/device.h"
#include "measure/host.h"
#include "rtc/rtc.h"

enum { COUNT = 64 };

static const char text[] = "extern \"C\" __global__ void reversed(float *x)\n"
                           "{\n"
                           "    __shared__ float s[64];\n"
                           "    s[threadIdx.x] = FACTOR * x[threadIdx.x];\n"
                           "    __syncthreads();\n"
                           "    x[threadIdx.x] = s[63 - threadIdx.x];\n"
                           "}\n";
static const char *const options[] = { "-DFACTOR=3", NULL };
static const struct rtc_program program = { "reversed.cu", text, "reversed", NULL, options };

static struct kg_host_state host;
static struct nvrtc *nvrtc;
static kg_context *cuda;
static float *on_device;
static char last_key[512];
static int (*write_bytes)(const kg_host *, const char *, const void *, size_t);
static int failures;

static void check(bool holds, const char *what)
{
    if (!holds) {
        failures++;
        printf("FAIL %s\n", what);
    }
}

static int write_heard(const kg_host *its, const char *key, const void *bytes, size_t size)
{
    (void)snprintf(last_key, sizeof last_key, "%s", key);
    return write_bytes(its, key, bytes, size);
}

static int launch(void *kernel, int index, void *stream, kg_error *ret_error)
{
    void *arguments[] = { &on_device };
    (void)index;
    cudaError_t status = cudaLaunchKernel(((const struct rtc_kernel *)kernel)->function, (dim3){ 1, 1, 1 },
                                          (dim3){ COUNT, 1, 1 }, arguments, 0, stream);
    return status == cudaSuccess ? KG_OK : kg_fail(ret_error, KG_EDEVICE, "%s", cudaGetErrorString(status));
}

static bool computes(struct rtc_kernel *kernel, kg_error *error)
{
    float x[COUNT];
    bool right = true;
    for (int i = 0; i < COUNT; i++)
        x[i] = (float)i;
    if (cuda->ops->copy_from_host(cuda, on_device, x, sizeof x, error) ||
        launch(kernel, 0, cuda->ops->stream(cuda), error) || cuda->ops->synchronize(cuda, error) ||
        cuda->ops->copy_to_host(cuda, x, on_device, sizeof x, error))
        return false;
    for (int i = 0; i < COUNT; i++)
        right = right && x[i] == 3 * (float)(COUNT - 1 - i);
    return right;
}

static kg_compiled loads(const char *what, bool hit)
{
    struct rtc_kernel kernel = { .function = NULL };
    struct kg_launch_info info = { .kernels = 0 };
    kg_error error = { 0 };
    const bool loaded = !rtc_load(nvrtc, &cuda->device, &program, &kernel, &error);
    check(loaded && kernel.compiled.cache_hit == hit && computes(&kernel, &error) &&
              !cuda->ops->inspect(cuda, launch, &kernel, &info, &error) && info.n_launched == 1 &&
              !strcmp(info.launched[0].name, kernel.compiled.name),
          what);
    if (*error.text)
        printf("%s: %s\n", what, error.text);
    const kg_compiled compiled = kernel.compiled;
    rtc_unload(&kernel);
    rtc_unload(&kernel);
    return compiled;
}

/* An entry that is whole, of this program, and no code that loads. */
static void spoil(void)
{
    struct rtc_code code;
    if (rtc_compile(nvrtc, &cuda->device, &program, &code, NULL))
        return;
    char *bytes = calloc(1, sizeof code.compiled + code.cubin_bytes);
    memcpy(bytes, &code.compiled, sizeof code.compiled);
    check(!write_bytes(&host.host, last_key, bytes, sizeof code.compiled + code.cubin_bytes), "spoil");
    free(bytes);
    rtc_code_done(&code);
}

static int remove_one(const char *path, const struct stat *info, int type, struct FTW *place)
{
    (void)info, (void)type, (void)place;
    return remove(path);
}

int main(int argc, char *argv[])
{
    char folder[] = "/tmp/kgate-rtc-XXXXXX";
    const char *library_path = argc > 1 ? argv[1] : "";
    struct rtc_code code;
    kg_error error = { 0 };
    kg_host_init(&host);
    host.library_paths = &library_path;
    host.n_library_paths = 1;
    host.cache = mkdtemp(folder);
    write_bytes = host.host.cache_write_bytes;
    host.host.cache_write_bytes = write_heard;
    int status = kg_apart_start(&host.host, &host.apart, &error);
    if (!status)
        status = kg_device_open(KG_CUDA, 0, &cuda, &error);
    if (!status)
        status = rtc_open(&host.host, &nvrtc, &error);
    if (!status)
        status = rtc_compile(nvrtc, &cuda->device, &program, &code, &error);
    if (status) {
        printf("%s: %s\n", status == KG_EUNSUPPORTED ? "skipped" : "FAIL", error.text);
        (void)nftw(folder, remove_one, 16, FTW_DEPTH | FTW_PHYS);
        return status == KG_EUNSUPPORTED ? 77 : 1;
    }
    check(!cuda->ops->allocate(cuda, COUNT * sizeof(float), (void **)&on_device, &error), "memory");
    const kg_compiled hit = loads("from the cache", true);
    check(hit.registers == code.compiled.registers && hit.shared_bytes == code.compiled.shared_bytes,
          "the driver's resources are ptxas's");
    printf("%d registers, %d bytes shared; by ptxas %d, %d\n", hit.registers, hit.shared_bytes, code.compiled.registers,
           code.compiled.shared_bytes);
    rtc_code_done(&code);
    spoil();
    (void)loads("what does not load is compiled anew", false);
    (void)loads("and kept", true);
    cuda->ops->close(cuda);
    rtc_close(nvrtc);
    (void)nftw(folder, remove_one, 16, FTW_DEPTH | FTW_PHYS);
    if (failures)
        printf("%d failures\n", failures);
    else
        printf("all checks passed\n");
    return failures != 0;
}
