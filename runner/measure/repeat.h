/* repeat.h -- a case launched many times more: its output must keep its bits while it is alone, beside somebody else's
 * work on the device, and behind inputs that are still being written when it is enqueued. */
#ifndef KG_REPEAT_H
#define KG_REPEAT_H

#include "measure/prepared.h"

struct kg_repeat {
    struct kg_fixture *fixture;    /* its buffers hold the output that was checked and is right */
    struct kg_prepared *prepared;  /* on these buffers */
    int launches;                  /* how many */
    uint64_t digest;               /* of that output */
    void (*alive)(void *argument); /* called about once a second */
    void *argument;
};

/* Launches by turns in the three conditions, each time on a poisoned output and workspace, staged anew. Other bits than
 * the first output's are wrong, but of a backend that varies the gates decide; the first wrong launch is the last.
 * Needs room for another buffer set. KG_EDEVICE: something outside the outputs was overwritten, or as a launch fails.
 */
int kg_repeat_check(const struct kg_repeat *repeat, struct kg_repeats *ret_repeats, kg_error *ret_error);

#endif
