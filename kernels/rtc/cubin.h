/* cubin.h -- what of a cubin is code. */
#ifndef RTC_CUBIN_H
#define RTC_CUBIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CUBIN_HASH_START UINT64_C(0xcbf29ce484222325) /* FNV-1a */

/* Goes on with a hash; the size keeps neighbours apart. */
uint64_t cubin_hash_bytes(uint64_t hash, const void *bytes, size_t size);

/* Hash of all that is loaded: functions, constants, initialised data. Names and notes are none of it. false: it is no
 * cubin, or has no such kernel. */
bool cubin_hash(const void *cubin, size_t size, const char *kernel, uint64_t *ret_hash);

#endif
