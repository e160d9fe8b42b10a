/* flex_program.h -- what of flex_kernel.cuh and flex_blocks.cuh is compiled at run time, for a problem's own modifiers.
 */
#ifndef FLEX_PROGRAM_H
#define FLEX_PROGRAM_H

#include "flex/flex_cuda.h"

extern const kg_source flex_texts[]; /* the files that a program may include, embedded by the build */

#define FLEX_MAX_TEXTS 63

struct flex_program {
    struct rtc_program of;
    char *text;
    kg_source texts[FLEX_MAX_TEXTS + 1];
};

/* `uses`: the bits of struct flex_aux; `texts` are those embedded. Done with flex_program_done. */
int flex_attend_program(const struct flex *p, unsigned uses, enum flex_tile_id tile, const kg_source *texts,
                        struct flex_program *ret_program, kg_error *ret_error);
int flex_blocks_program(unsigned uses, const kg_source *texts, struct flex_program *ret_program, kg_error *ret_error);
void flex_program_done(struct flex_program *program); /* a zeroed one is accepted */

#endif
