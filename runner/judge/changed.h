/* changed.h -- what of a case is not as its golden, or the baseline beside it, says: code, launch, knobs, library,
 * driver. Pure. */
#ifndef KG_CHANGED_H
#define KG_CHANGED_H

#include "judge/golden.h"

/* Against a golden. A golden of an older schema knows no launch, and nothing is known to be the same then. */
struct kg_changed {
    bool known;
    bool code;    /* machine code that has a hash: the module's own, or compiled by it */
    bool library; /* what a backend says of its library, or kernels without a hash, which are a library's */
    bool launch;  /* grids, blocks, clusters, shared memory, other nodes */
    bool knobs;
};
struct kg_changed kg_changed_since(const struct kg_result *result, const struct kg_golden *golden);

/* Nothing of what is launched: a change of code cannot have made it slower. What a driver makes of it is not seen. */
bool kg_changed_nothing(const struct kg_result *result, const struct kg_golden *golden);

/* Has one of two identities machine code with a hash that the other lacks? */
bool kg_changed_code(const char *identity, const char *other_identity);

/* Something that two builds beside each other would show; not a library that both would load. */
bool kg_changed_own(const struct kg_result *result, const struct kg_golden *golden);

/* Appends to the reason what changed since the golden: "code changed since the golden", "cuDNN 9.19.0 → 9.14.0", … . Of
 * a case that passes only library and knobs, which nobody sees in its sources. Nothing where one of the two has no
 * identity. */
void kg_changed_add(struct kg_result *result, const struct kg_golden *golden, const char *driver, bool passed);

/* The same of the baseline's code and library. */
void kg_changed_add_baseline(struct kg_result *result, bool passed);

#endif
