/* window.h -- what a timed window is made of; seen by the implementations of device.h only. */
#ifndef KG_WINDOW_H
#define KG_WINDOW_H

#include "device.h"

struct kg_window {
    kg_launch_fn *launch;
    void *argument;
    int calls;
    void *replay; /* cudaGraphExec_t; NULL: launched call by call */
};

#endif
