/* flex_aux.h -- what modifiers are given besides score and place. Shared by C and CUDA code. */
#ifndef FLEX_AUX_H
#define FLEX_AUX_H

/* By value to kernels. Indices into arrays are 32-bit: they are small. */
struct flex_aux {
    unsigned uses;   /* a bit for each modifier of the problem */
    int first_keys;  /* keys that query 0 sees under a causal mask, each query after it one more */
    int window;      /* keys to either side of a query, itself among both */
    int prefix_keys; /* keys that every query sees */
    int doc_span;    /* tokens */
    int reach;       /* distances from -reach to reach have a bias of their own */
    int length;      /* of a batch in `document` */
    float softcap, softcap_inverse, doc_span_inverse;
    const int *document; /* [B, length]: the number of a token's document */
    const float *slopes; /* [H] */
    const float *bias;   /* [H, 2 * reach + 1] */
};

#endif
