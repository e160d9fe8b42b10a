/* window.h -- what a timed window is made of; seen by the implementations of device.h only. */
#ifndef KG_WINDOW_H
#define KG_WINDOW_H

#include "device/device.h"

struct kg_window {
    kg_launch_fn *launch;
    void *argument;
    int calls;
    double spin_us; /* at its end; negative: none */
    void *replay;   /* cudaGraphExec_t; NULL: launched call by call */
    size_t nodes;   /* of the graph */
    double us;      /* shortest time so far; 0: has not run */
};

#endif
