/* rtc_load.c -- from machine code to a kernel that can be launched. */
#include "rtc/rtc.h"

#include <cuda_runtime_api.h>

#include "rtc/nvrtc.h"

/* Attributes are asked for since the code may be loaded only when it is needed. */
static int load(const struct rtc_code *code, struct rtc_kernel *ret_kernel, kg_error *ret_error)
{
    struct cudaFuncAttributes attributes;
    cudaLibrary_t library = NULL;
    cudaKernel_t kernel = NULL;
    cudaError_t status = cudaLibraryLoadData(&library, code->cubin, NULL, NULL, 0, NULL, NULL, 0);
    if (status == cudaSuccess)
        status = cudaLibraryGetKernel(&kernel, library, code->compiled.name);
    if (status == cudaSuccess)
        status = cudaFuncGetAttributes(&attributes, (const void *)kernel);
    (void)cudaGetLastError(); /* it is reported here, so not again by the next launch */
    if (status != cudaSuccess) {
        if (library)
            (void)cudaLibraryUnload(library);
        return kg_fail(ret_error, KG_EDEVICE, "%s, compiled by %s, does not load: %s", code->compiled.name,
                       code->compiled.compiler, cudaGetErrorString(status));
    }
    *ret_kernel = (struct rtc_kernel){ (const void *)kernel, library, code->compiled };
    ret_kernel->compiled.registers = attributes.numRegs;
    ret_kernel->compiled.shared_bytes = (int)attributes.sharedSizeBytes;
    return KG_OK;
}

int rtc_load(const struct nvrtc *nvrtc, const kg_device *device, const struct rtc_program *program,
             struct rtc_kernel *ret_kernel, kg_error *ret_error)
{
    struct rtc_code code;
    kg_error why = { 0 };
    cudaError_t set = cudaSetDevice(device->index);
    if (set != cudaSuccess)
        return kg_fail(ret_error, KG_EDEVICE, "cudaSetDevice: %s", cudaGetErrorString(set));
    int status = rtc_compile(nvrtc, device, program, &code, ret_error);
    if (status)
        return status;
    status = load(&code, ret_kernel, &why);
    if (status && code.compiled.cache_hit) {
        nvrtc->host->log(nvrtc->host, "%s, so it is compiled anew: it was in the cache", why.text);
        rtc_code_done(&code);
        status = rtc_compile_anew(nvrtc, device, program, &code, &why);
        if (!status)
            status = load(&code, ret_kernel, &why);
    }
    rtc_code_done(&code);
    if (status && ret_error)
        *ret_error = why;
    return status;
}

int rtc_other_kernel(const struct rtc_kernel *kernel, const char *name, const void **ret_function, kg_error *ret_error)
{
    cudaKernel_t other = NULL;
    const cudaError_t status = cudaLibraryGetKernel(&other, kernel->library, name);
    (void)cudaGetLastError();
    if (status != cudaSuccess)
        return kg_fail(ret_error, KG_EDEVICE, "no kernel %s beside %s: %s", name, kernel->compiled.name,
                       cudaGetErrorString(status));
    *ret_function = (const void *)other;
    return KG_OK;
}

void rtc_unload(struct rtc_kernel *kernel)
{
    if (kernel->library)
        (void)cudaLibraryUnload(kernel->library);
    *kernel = (struct rtc_kernel){ .function = NULL };
}
