/* buffer.h -- one set of a call's tensors on a device, each between guard bands. */
#ifndef KG_BUFFER_H
#define KG_BUFFER_H

#include "device/device.h"

#define KG_GUARD_BYTES 16384 /* on both sides; a multiple of the alignment */

/* What memory holds that no element owns, guard bands and workspaces: a value of the tensor's dtype that shows in what
 * is computed from it. NaN is seen by sums, but not by a comparison; the largest finite value by a maximum, the lowest
 * by a minimum. For an integer, which numbers things, 0 stands for the lowest.
 */
enum kg_guards { KG_GUARDS_NAN, KG_GUARDS_LARGEST, KG_GUARDS_LOWEST };

struct kg_buffers {
    kg_context *context;
    enum kg_guards guards;
    int count;
    kg_tensor tensors[KG_MAX_TENSORS];
    void *blocks[KG_MAX_TENSORS]; /* guard, data, guard */
};

/* Allocates and paints the guards; data is not initialised. */
int kg_buffers_new(kg_context *context, const kg_tensor *tensors, int count, enum kg_guards guards,
                   struct kg_buffers *ret_buffers, kg_error *ret_error);
void kg_buffers_done(struct kg_buffers *buffers); /* a zeroed one is accepted */

/* Outputs to KG_POISON, workspaces to what guards hold. */
int kg_buffers_poison(const struct kg_buffers *buffers, kg_error *ret_error);

int kg_buffers_paint_guards(const struct kg_buffers *buffers, kg_error *ret_error); /* as they were when allocated */

/* KG_EDEVICE, and which tensor was written past, on which side, how many bytes. */
int kg_buffers_check_guards(const struct kg_buffers *buffers, kg_error *ret_error);

/* Inputs are only to be read until unsealed, which says whether they were written; on a GPU nothing says so. */
int kg_buffers_seal_inputs(const struct kg_buffers *buffers, kg_error *ret_error);
bool kg_buffers_unseal_inputs(const struct kg_buffers *buffers);

/* Digest of all tensors of a role, in order. */
int kg_buffers_digest(const struct kg_buffers *buffers, enum kg_role role, uint64_t *ret_digest, kg_error *ret_error);

/* Inputs of `from` into `to`, a set of the same shapes. */
int kg_buffers_copy_inputs(const struct kg_buffers *to, const struct kg_buffers *from, kg_error *ret_error);

/* NaN in a quarter of each drawn input of over 64 bytes and its dtype's largest finite value in another, in stripes,
 * but for the first bytes and the last. */
int kg_buffers_poison_stripes(const struct kg_buffers *buffers, kg_error *ret_error);

/* Where the memory of such a tensor begins, its guard band, and how much of it there is with both bands. */
void *kg_buffers_block(const kg_tensor *tensor, size_t *ret_bytes);

size_t kg_buffers_bytes(const struct kg_buffers *buffers); /* data only */

uint64_t kg_buffers_room(const kg_tensor *tensors, int count); /* what kg_buffers_new would allocate */

#endif
