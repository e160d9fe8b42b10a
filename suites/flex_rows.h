/* flex_rows.h -- the rows of the FlexAttention suites: each set of modifiers that is used in practice, for a shape. */
#ifndef FLEX_ROWS_H
#define FLEX_ROWS_H

#include "flex/flex.h"

/* clang-format off */
#define FLEX_WITH(...) __VA_ARGS__
#define FLEX_ROW(label, with, numbers, ...) { .attention = { label, __VA_ARGS__ }, FLEX_WITH numbers, FLEX_WITH with }

/* `numbers` are (some of modifiers'); what follows is said of a struct sdpa: sizes and dtype. */
#define FLEX_ROWS(suffix, numbers, ...)                                                                                \
    FLEX_ROW("full" suffix, (), numbers, __VA_ARGS__),                                                                 \
    FLEX_ROW("causal" suffix, (), numbers, __VA_ARGS__, .causal = true),                                               \
    FLEX_ROW("sliding" suffix, (.sliding = true), numbers, __VA_ARGS__),                                               \
    FLEX_ROW("prefix" suffix, (.prefix = true), numbers, __VA_ARGS__),                                                 \
    FLEX_ROW("document" suffix, (.document = true), numbers, __VA_ARGS__),                                             \
    FLEX_ROW("document_causal" suffix, (.document = true), numbers, __VA_ARGS__, .causal = true),                      \
    FLEX_ROW("alibi" suffix, (.alibi = true), numbers, __VA_ARGS__),                                                   \
    FLEX_ROW("softcap" suffix, (.cap = true), numbers, __VA_ARGS__),                                                   \
    FLEX_ROW("decay" suffix, (.decay = true), numbers, __VA_ARGS__),                                                   \
    FLEX_ROW("relative" suffix, (.relative = true), numbers, __VA_ARGS__),                                             \
    FLEX_ROW("lab" suffix, (.document = true, .decay = true), numbers, __VA_ARGS__), /* the harness's own */           \
    FLEX_ROW("softcap_window_causal" suffix, (.cap = true, .sliding = true), numbers, __VA_ARGS__,                     \
             .causal = true),                                                                                          \
    FLEX_ROW("alibi_document" suffix, (.alibi = true, .document = true), numbers, __VA_ARGS__)

/* For more or fewer keys than queries. */
#define FLEX_BOTTOM_RIGHT(suffix, numbers, ...)                                                                        \
    FLEX_ROW("bottom_right" suffix, (), numbers, __VA_ARGS__, .causal = true, .bottom_right = true)
/* clang-format on */

#endif
