/* nvrtc.h -- NVRTC, opened at run time: from a program's texts to a cubin, and what its log says. */
#ifndef RTC_NVRTC_H
#define RTC_NVRTC_H

#include "rtc/rtc.h"

/* As nvrtc.h of the toolkit declares them, which may not be installed: a program is a pointer, a result an int. */
struct nvrtc {
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

struct nvrtc_library {
    struct nvrtc call;
    char version[31]; /* NVRTC 13.0 */
};

/* KG_EUNSUPPORTED: it is not here, or not usable. */
int nvrtc_open(const kg_host *host, struct nvrtc_library *ret_library, kg_error *ret_error);

/* "sm_90a": the device's own, with all its features from 9.0 on. KG_EUNSUPPORTED: this NVRTC does not know it. */
int nvrtc_arch(const struct nvrtc_library *library, const kg_device *device, char ret_arch[16], kg_error *ret_error);

/* KG_EINVAL as rtc_compile has it; the cubin is to be free()d. `compiled` gets name, compiler, code and resources. */
int nvrtc_compile(const struct nvrtc_library *library, const kg_host *host, const struct rtc_program *program,
                  const char *arch, struct rtc_code *ret_code, kg_error *ret_error);

#endif
