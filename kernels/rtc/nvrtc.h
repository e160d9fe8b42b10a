/* nvrtc.h -- NVRTC: from a program's texts to a cubin, and what its log says. It is opened in a process of its own for
 * each question: cuDNN and cuBLAS bring NVRTCs too, of the same name, and an NVRTC makes other machine code of the same
 * text after other texts. */
#ifndef RTC_NVRTC_H
#define RTC_NVRTC_H

#include "rtc/rtc.h"

struct nvrtc {
    const kg_host *host;
    char version[31]; /* NVRTC 13.0 */
    int n_archs, archs[128];
};

/* KG_EUNSUPPORTED: it is not here, or not usable. */
int nvrtc_find(const kg_host *host, struct nvrtc *ret_nvrtc, kg_error *ret_error);

/* "sm_90a": the device's own, with all its features from 9.0 on. KG_EUNSUPPORTED: this NVRTC does not know it. */
int nvrtc_arch(const struct nvrtc *nvrtc, const kg_device *device, char ret_arch[16], kg_error *ret_error);

/* KG_EINVAL as rtc_compile has it; the cubin is to be free()d. `compiled` gets name, compiler, code and resources. */
int nvrtc_compile(const struct nvrtc *nvrtc, const struct rtc_program *program, const char *arch,
                  struct rtc_code *ret_code, kg_error *ret_error);

#endif
