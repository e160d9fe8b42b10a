/* suites.h -- the suites of the attention module. A new one: its table in a file of its own, a line here, and a line in
 * module.c and meson.build. */
#ifndef SUITES_H
#define SUITES_H

#include "kgate.h"

extern const kg_suite cudnn_sdpa, attention_matrix, sdpa_parity, fa_s512, fp8_sdpa, fp8_sdpa_e4m3, fp8_cudnn, pathology;

#endif
