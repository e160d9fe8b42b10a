/* resources_file.h -- what was blessed of kernels' resources: resources_<arch>.json, one kernel a line, sorted. */
#ifndef KG_RESOURCES_FILE_H
#define KG_RESOURCES_FILE_H

#include "judge/golden.h"
#include "kgate.h"

#define KG_RESOURCES_SCHEMA 1

struct cJSON;

/* Strings are the file's or, of what was put, the caller's: they must live as long as the set. */
struct kg_expected_kernel {
    const char *module;
    kg_kernel kernel;
    struct kg_provenance provenance; /* git_sha, branch, dirty, date and reason are kept */
};

struct kg_expected_kernels {
    struct kg_expected_kernel *items; /* sorted by architecture, module and name */
    size_t count;
    struct cJSON **roots; /* own the strings that were read */
    size_t n_roots;
};

/* Reads every resources_*.json of the folder, strictly, as goldens are read. No folder or no file: an empty set.
 * KG_EINVAL names the file and what is wrong. */
int kg_resources_load(const char *folder, struct kg_expected_kernels *ret_set, kg_error *ret_error);
void kg_resources_done(struct kg_expected_kernels *set);

/* NULL: none. */
const struct kg_expected_kernel *kg_resources_find(const struct kg_expected_kernels *set, const char *module,
                                                   const char *arch, const char *name);
int kg_resources_put(struct kg_expected_kernels *set, const struct kg_expected_kernel *item, kg_error *ret_error);
void kg_resources_remove(struct kg_expected_kernels *set, const struct kg_expected_kernel *item);

/* Writes the file of one architecture (kg_file_replace); the caller holds the folder's lock. */
int kg_resources_save(const struct kg_expected_kernels *set, const char *folder, const char *arch, kg_error *ret_error);

/* Adds the figures of a kernel to an object: code_hash, registers, … compiler, by the names that files have. */
void kg_kernel_add_json(struct cJSON *object, const kg_kernel *kernel);

#endif
