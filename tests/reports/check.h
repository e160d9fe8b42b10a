/* check.h -- checks that go on after a failure and count it. */
#ifndef KG_CHECK_H
#define KG_CHECK_H

#include <stdio.h>

static int failures;

#define CHECK(condition)                                                                                               \
    do {                                                                                                               \
        if (!(condition)) {                                                                                            \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition);                                            \
            failures++;                                                                                                \
        }                                                                                                              \
    } while (0)

#define COUNT(array) (sizeof(array) / sizeof *(array))

#endif
