/* resources.h -- what the compiler made of a kernel, judged against what it made of it when that was blessed. Pure: no
 * files, no device. */
#ifndef KG_RESOURCES_H
#define KG_RESOURCES_H

#include "judge/result.h"

#define KG_RESOURCE_CODE_CHANGED "code changed" /* a reason's last words */

/* A kernel of one architecture. `now` NULL: it is gone. `expected` NULL: it was never blessed. Not both. */
struct kg_resource {
    const kg_kernel *now, *expected;
    enum kg_verdict verdict; /* PASS, FAIL, UNGATED, LOST */
    bool other_compiler;     /* UNGATED since another nvcc made what was blessed */
    char reason[700];        /* what differs, and by how much; "" : nothing does */
};

/* Sets verdict and reason.
 *   FAIL     more stack or spilled bytes; fewer tensor-core instructions of a family (PTX), or in all (machine code,
 *            where both builds had a disassembler); a note that was not there; more registers or static shared memory,
 *            where so much more that fewer blocks fit a multiprocessor
 *   UNGATED  no expectation, or one of another nvcc, whose register allocation differs, and other machine code
 *   PASS     the rest; other machine code alone is only said */
void kg_resource_judge(struct kg_resource *resource);

/* Blocks of kg_resource_threads that a multiprocessor holds by registers, static shared memory and its own limits.
 * Shared memory that a launch asks for is not known here. */
int kg_resource_blocks(const kg_kernel *kernel);
int kg_resource_threads(const kg_kernel *kernel); /* by its launch bounds; 128 where it has none */

/* Are the figures, hash, notes and compiler the same? */
bool kg_resource_same(const kg_kernel *a, const kg_kernel *b);

/* "flash_kernel<__half,flash_tile<64,2>>" of a mangled name; arguments that are not simple are left out as <...>, and a
 * name that is not mangled is its own. */
void kg_resource_short_name(const char *mangled, char *ret_name, size_t size);

#endif
