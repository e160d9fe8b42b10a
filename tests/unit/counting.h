/* counting.h -- what each image of the module in counting.c says of itself: its backend's .data points at one. */
#ifndef COUNTING_H
#define COUNTING_H

#include "kgate.h"

struct counts {
    int opened, prepared, launched, released, closed;
    char pin[64]; /* that it was prepared with last */
    bool refuses; /* to prepare */
    bool differs; /* in what it says it runs */
};

#endif
