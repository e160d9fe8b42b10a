/* module_image.h -- a module's tables as one block of bytes, to be read in a process that never loads the module. */
#ifndef KG_MODULE_IMAGE_H
#define KG_MODULE_IMAGE_H

#include "kgate.h"

struct kg_image_part;

struct kg_module_image {
    char *bytes; /* pointers are offsets from here, 0 for NULL; the root is first */
    size_t size;
    struct kg_image_part *parts; /* structs in it, and what they were made of */
    size_t n_parts;
};

/* All that hangs on the root by pointers of kgate.h. Functions are told from NULL only, `data` and `arithmetic` are
 * left out; of a problem, the bytes and its name. */
int kg_module_image_make(const struct kg_module *root, struct kg_module_image *ret_image, kg_error *ret_error);
void kg_module_image_done(struct kg_module_image *image);

/* The op that stands at this place of the image; NULL: none does. */
const kg_op *kg_module_image_op(const struct kg_module_image *image, size_t at);

/* Makes pointers of the offsets of `bytes`, which are on, zeros follow `size`, and stay as long as the root. Functions
 * abort. KG_EINVAL: an offset leads astray. */
int kg_module_image_read(char *bytes, size_t size, const struct kg_module **ret_root, kg_error *ret_error);

#endif
