/* identity.h -- what a prepared backend runs: the library's own words, kernel names, hashes of machine code. */
#ifndef KG_IDENTITY_H
#define KG_IDENTITY_H

#include "plan/module.h"
#include "measure/prepared.h"

/* Captures one launch (CUDA) and names its kernels; those of the module, or compiled at run time, get the hash of their
 * code for this device.
 * On the CPU the identity is the hash of the module's code and read-only data. On both, that of the libraries that came
 * with it. */
int kg_identity_of(kg_context *context, const struct kg_loaded *module, struct kg_prepared *prepared,
                   struct kg_launch_info *ret_launch, char *ret_text, size_t size, kg_error *ret_error);

/* The module's kernel of this name that the device loads; NULL: not one of the module's. */
const kg_kernel *kg_identity_kernel(const struct kg_module *module, const char *name, const kg_device *device);

/* Hash of an ELF file's code and read-only data, in which the text `without` does not count. KG_EIO, KG_EINVAL: no such
 * file; KG_ENOTFOUND: it has no code. */
int kg_identity_elf_code(const char *path, const char *without, uint64_t *ret_hash);

void kg_knobs_format(const kg_backend *backend, const void *knobs, char *ret_text, size_t size);

#endif
