/* broken.h -- the op of the broken kernels: y = x + x/2 + x/4 + … (TERMS terms), by Horner's rule. */
#ifndef BROKEN_H
#define BROKEN_H

#include "kgate.h"

#define TERMS 24

struct series {
    const char *name;
    int64_t n;
    double std; /* of x: a faint input makes a faint output */
};

enum { SERIES_X, SERIES_Y };

/* What a backend does besides computing y; its .data points at one. */
enum flaw {
    FLAW_NONE,
    FLAW_PRINTS,   /* on stdout */
    FLAW_NAN,      /* one element */
    FLAW_INF,      /* one element */
    FLAW_NOTHING,  /* writes nothing */
    FLAW_HALF,     /* leaves the second half unwritten */
    FLAW_ZERO,     /* writes zeros */
    FLAW_ONE_OFF,  /* one element off by 0.2: only max_abs sees it */
    FLAW_BIAS,     /* every element off by 0.015: only mean_abs */
    FLAW_SOME_OFF, /* one in fifty off by 0.05: only bad_pct */
    FLAW_OVERRUN,  /* one element past the end */
    FLAW_UNDERRUN, /* one element before the start */
    FLAW_INPUT,    /* writes into x */
    FLAW_BORROWS,  /* and puts it back */
    FLAW_CRASH,
    FLAW_HANG,
    FLAW_EXIT,       /* exit(0), as if all were well */
    FLAW_SLOW,       /* 30% more work */
    FLAW_FIRST_ONLY, /* right in its first call, writes nothing later */
    FLAW_REMEMBERS,  /* copies what its first call wrote */
    FLAW_LEAVES,     /* computes only where the output holds poison */
    FLAW_KNOWS,      /* inputs that it had, by the numbers of `memories` */
    FLAW_KNOWS_LAST,
    FLAW_KNOWS_TWO,
    FLAW_KNOWS_OFTEN,
    FLAW_KNOWS_SOON,
    FLAW_KNOWS_HALF,
    FLAW_KNOWS_PLACE,
    FLAW_KNOWS_PAST,
    FLAW_CLIPS,      /* at twice the largest of its first call's inputs */
    FLAW_KEEPS,      /* its inputs, while their ends are the same */
    FLAW_GOES_ON,    /* from the last call's sums times 0 */
    FLAW_SCALES,     /* rounds by the largest input that it ever had */
    FLAW_AFTER_FREE, /* writes into a scratch buffer of 1 MiB that it has freed */
    FLAW_DIRTY_HEAP, /* adds memory that it takes to be zero, as new memory is */
    FLAW_DIRTY_STACK,
    FLAW_DIRTY_SHARED, /* on a GPU */
    FLAW_OLD_STREAM,   /* on a GPU: the one that it was prepared with */
    FLAW_ALTERNATES,   /* computes at every other call, the first among them */
    FLAW_RESTS,        /* leaves out one call of 50, or of RESTS */
    FLAW_SAME_PLACE,   /* computes where the output is not the last call's */
    FLAW_LAZY,         /* computes a quarter where the last call was just before */
    FLAW_QUEUES,       /* leaves the work to a thread there */
    FLAW_TRAILS,       /* leaves half of it to a thread, which the next call waits for */
    FLAW_MARKS,        /* writes into x from its second call on */
    FLAW_ERROR,        /* launch returns an error */
    FLAW_REFUSES,      /* supports() says no */
    FLAW_DECLINES,     /* launch does */
    FLAWS
};

struct flawed {
    enum flaw flaw;
};

extern const kg_op series_op;

/* Where outputs are faint only rel_l2 sees anything, and of a few elements nothing does. */
#define FAINT_EXCUSE(wrong)                                                                                            \
    {                                                                                                                  \
        wrong, "output/faint", "limits of outputs of a thousand times the size"                                        \
    }
#define FAINT_EXCUSES                                                                                                  \
    FAINT_EXCUSE("factor"), FAINT_EXCUSE("dropped_row"), FAINT_EXCUSE("swapped_rows"), FAINT_EXCUSE("stale_tile"),     \
        FAINT_EXCUSE("largest_zeroed")

#endif
