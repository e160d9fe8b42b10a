/* flex_rows.h -- the rows of the FlexAttention suites: each set of modifiers that is used in practice, for a shape. */
#ifndef FLEX_ROWS_H
#define FLEX_ROWS_H

#include "flex/flex.h"

/* clang-format off */
/* What follows `with` is said of a struct sdpa: sizes, dtype, the causal mask. */
#define FLEX_WITH(...) __VA_ARGS__
#define FLEX_ROW(label, with, ...) { .attention = { label, __VA_ARGS__ }, with }

#define FLEX_ROWS(suffix, ...)                                                                                         \
    FLEX_ROW("full" suffix, FLEX_WITH(), __VA_ARGS__),                                                                 \
    FLEX_ROW("causal" suffix, FLEX_WITH(), __VA_ARGS__, .causal = true),                                               \
    FLEX_ROW("sliding" suffix, FLEX_WITH(.sliding = true), __VA_ARGS__),                                               \
    FLEX_ROW("prefix" suffix, FLEX_WITH(.prefix = true), __VA_ARGS__),                                                 \
    FLEX_ROW("document" suffix, FLEX_WITH(.document = true), __VA_ARGS__),                                             \
    FLEX_ROW("document_causal" suffix, FLEX_WITH(.document = true), __VA_ARGS__, .causal = true),                      \
    FLEX_ROW("alibi" suffix, FLEX_WITH(.alibi = true), __VA_ARGS__),                                                   \
    FLEX_ROW("softcap" suffix, FLEX_WITH(.cap = true), __VA_ARGS__),                                                   \
    FLEX_ROW("decay" suffix, FLEX_WITH(.decay = true), __VA_ARGS__),                                                   \
    FLEX_ROW("relative" suffix, FLEX_WITH(.relative = true), __VA_ARGS__),                                             \
    FLEX_ROW("lab" suffix, FLEX_WITH(.document = true, .decay = true), __VA_ARGS__), /* the harness's own */           \
    FLEX_ROW("softcap_window_causal" suffix, FLEX_WITH(.cap = true, .sliding = true), __VA_ARGS__, .causal = true),    \
    FLEX_ROW("alibi_document" suffix, FLEX_WITH(.alibi = true, .document = true), __VA_ARGS__)

/* For more or fewer keys than queries. */
#define FLEX_BOTTOM_RIGHT(suffix, ...)                                                                                 \
    FLEX_ROW("bottom_right" suffix, FLEX_WITH(), __VA_ARGS__, .causal = true, .bottom_right = true)
/* clang-format on */

#endif
