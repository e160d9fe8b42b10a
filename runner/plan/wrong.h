/* wrong.h -- the wrong answers that a suite's gates must see, by name. What each is made of stands in
 * device/wrong_answers.h. Shared by C and CUDA code. */
#ifndef KG_WRONG_H
#define KG_WRONG_H

#include "kgate.h"

struct kg_case;

enum kg_wrong {
    KG_WRONG_ZEROS,          /* zeros everywhere */
    KG_WRONG_NOISE,          /* random values of the reference's rms */
    KG_WRONG_FACTOR,         /* 1.01 times the reference */
    KG_WRONG_BIAS,           /* a quarter of the rms added everywhere */
    KG_WRONG_DROPPED_ROW,    /* a row of zeros */
    KG_WRONG_SWAPPED_ROWS,   /* two rows that differ, exchanged */
    KG_WRONG_STALE_TILE,     /* the rows of a tile are those of the tile before */
    KG_WRONG_LARGEST_ZEROED, /* the element of the largest size is 0 */
    KG_WRONG_CUT_TAIL,       /* the last rows are zeros */
    KG_WRONG_NAN,            /* one element is NaN */
    KG_WRONGS
};

/* A bit by kg_wrong. */
typedef unsigned kg_wrong_set;

extern const char *const kg_wrong_names[KG_WRONGS]; /* "zeros", … */
int kg_wrong_find(const char *name);                /* -1: there is none of this name */

/* The suite's row of excuses that holds for a case of this id; NULL: none does. */
const kg_excuse *kg_case_excuse(const struct kg_case *of, const char *id, enum kg_wrong wrong);
kg_wrong_set kg_case_excused(const struct kg_case *of, const char *id);

#endif
