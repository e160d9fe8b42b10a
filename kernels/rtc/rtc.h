/* rtc.h -- kernels compiled at run time: texts become machine code by NVRTC, which the host's cache keeps, and that a
 * kernel to launch. rtc.c compiles and needs no GPU, nvrtc.c speaks to the library, rtc_load.c to the device. */
#ifndef RTC_H
#define RTC_H

#include "kgate.h"

/* CUDA C++ that includes nothing but its own headers: the toolkit's are not there. A text may open with #line. */
struct rtc_program {
    const char *name; /* what messages call the text: flex.cu */
    const char *text;
    const char *kernel;         /* its extern "C" __global__ function */
    const kg_source *headers;   /* by the names in #include, up to a NULL name; NULL: none */
    const char *const *options; /* for NVRTC, besides the architecture, up to a NULL: -DD=64; NULL: none */
};

struct rtc_code {
    void *cubin;
    size_t cubin_bytes;
    kg_compiled compiled;
};

struct nvrtc; /* as it was found: a backend's library */

/* For a backend's `open`: finding it is then none of a prepare's work. KG_EUNSUPPORTED: there is none. */
int rtc_open(const kg_host *host, struct nvrtc **ret_nvrtc, kg_error *ret_error);
void rtc_close(struct nvrtc *nvrtc);

/* For the device's compute capability, out of the host's cache where the same texts, names and options were compiled
 * for it by the same NVRTC under the same driver. KG_EUNSUPPORTED: this NVRTC does not know the device. KG_EINVAL:
 * NVRTC's errors, with file and line the first one first; its whole log is in the host's. */
int rtc_compile(const struct nvrtc *nvrtc, const kg_device *device, const struct rtc_program *program,
                struct rtc_code *ret_code, kg_error *ret_error);
/* The same, whatever the cache holds. */
int rtc_compile_anew(const struct nvrtc *nvrtc, const kg_device *device, const struct rtc_program *program,
                     struct rtc_code *ret_code, kg_error *ret_error);
void rtc_code_done(struct rtc_code *code);

struct rtc_kernel {
    const void *function; /* for cudaLaunchKernel and cudaFuncSetAttribute */
    void *library;
    kg_compiled compiled; /* for kg_identity */
};

/* Compiled, and loaded on the device. KG_EDEVICE: it does not load, nor does what is compiled anew. */
int rtc_load(const struct nvrtc *nvrtc, const kg_device *device, const struct rtc_program *program,
             struct rtc_kernel *ret_kernel, kg_error *ret_error);
/* Another kernel of a loaded program, for cudaLaunchKernel. */
int rtc_other_kernel(const struct rtc_kernel *kernel, const char *name, const void **ret_function, kg_error *ret_error);

void rtc_unload(struct rtc_kernel *kernel); /* accepts one that was not loaded: all 0 */

#endif
