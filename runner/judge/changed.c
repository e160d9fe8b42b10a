/* changed.c -- see changed.h. An identity is a list, "cuDNN 9.19.0 engine 2; KERNEL:HASH; OTHER; knobs a=1". */
#include "judge/changed.h"

#include <string.h>

#include "judge/reason.h"

#define SEPARATOR "; "

/* Where an identity ends with knobs that are not at their fallbacks: "code; knobs a=1". NULL: it does not. A golden is
 * of none. */
static char *find_knobs(char *identity)
{
    char *later = strstr(identity, SEPARATOR "knobs ");
    return later ? later : !strncmp(identity, "knobs ", strlen("knobs ")) ? identity : NULL;
}

/* The identity without its knobs. */
static const char *code_of(const char *identity, char ret_code[1024])
{
    (void)snprintf(ret_code, 1024, "%s", identity);
    char *knobs = find_knobs(ret_code);
    if (knobs)
        *knobs = '\0';
    return ret_code;
}

static size_t part_length(const char *part)
{
    const char *end = strstr(part, SEPARATOR);
    return end ? (size_t)(end - part) : strlen(part);
}

static const char *next_part(const char *part)
{
    part += part_length(part);
    return *part ? part + strlen(SEPARATOR) : part;
}

static bool holds(const char *part, const char *text)
{
    const char *at = strstr(part, text);
    return at && at < part + part_length(part);
}

/* What a part is told by. What a backend says of itself, "code=linear,kv_lut=0", goes with its code. */
enum part { PART_LIBRARY, PART_CODE, PART_OF_LIBRARY };

static enum part part_of(const char *part)
{
    if (memchr(part, ':', part_length(part)) || (!holds(part, " ") && holds(part, "=")) ||
        !strncmp(part, "module code ", strlen("module code ")) || holds(part, " linked librar"))
        return PART_CODE;
    return holds(part, " ") ? PART_LIBRARY : PART_OF_LIBRARY;
}

static bool has_part(const char *identity, const char *part)
{
    const size_t length = part_length(part);
    for (; *identity; identity = next_part(identity))
        if (part_length(identity) == length && !memcmp(identity, part, length))
            return true;
    return false;
}

/* Has the one a part of this kind that the other lacks? */
static bool has_other(const char *one, const char *other, enum part kind)
{
    for (; *one; one = next_part(one))
        if (part_of(one) == kind && !has_part(other, one))
            return true;
    return false;
}

static bool differ(const char *one, const char *other, enum part kind)
{
    return has_other(one, other, kind) || has_other(other, one, kind);
}

static const char *library_of(const char *identity)
{
    while (*identity && part_of(identity) != PART_LIBRARY)
        identity = next_part(identity);
    return identity;
}

/* "cuDNN 9.19.0 → 9.14.0": what both begin with, then the words up to those that both end with. */
static void add_library(struct kg_result *result, const char *was, const char *is)
{
    size_t was_length = part_length(was), is_length = part_length(is), first = 0, same = 0;
    for (size_t i = 0; i < was_length && i < is_length && was[i] == is[i]; i++)
        if (was[i] == ' ')
            first = i + 1;
    for (size_t i = 1; first + i < was_length && first + i < is_length && was[was_length - i] == is[is_length - i]; i++)
        if (was[was_length - i] == ' ')
            same = i;
    const int was_end = (int)(was_length - same), its = (int)(is_length - same - first);
    kg_reason_add(result, ", %.*s → %.*s", *was ? was_end : 4, *was ? was : "none", *is ? its : 4,
                  *is ? is + first : "none");
}

/* `words`: how changed code is told; NULL: it is not. */
static void add_identity(struct kg_result *result, const char *other_identity, const char *words)
{
    char was[1024], is[1024];
    if (!*result->identity || !*other_identity)
        return;
    const char *library = library_of(code_of(other_identity, was)), *its = library_of(code_of(result->identity, is));
    if (words && differ(was, is, PART_CODE))
        kg_reason_add(result, ", %s", words);
    if (differ(was, is, PART_LIBRARY))
        add_library(result, library, its);
    else if (words && differ(was, is, PART_OF_LIBRARY))
        kg_reason_add(result, ", other kernels of the library");
}

/* Machine code that nothing tells: a kernel without a hash that is no library's, one that is counted only, a text that
 * was cut. */
static bool is_cut(const char *identity, const char *launch)
{
    bool library = false, nameless = false;
    for (const char *part = identity; *part; part = next_part(part)) {
        library = library || part_of(part) == PART_LIBRARY;
        nameless = nameless || part_of(part) == PART_OF_LIBRARY;
    }
    return (nameless && !library) || strlen(identity) >= 1023 || strlen(launch) >= 1023 ||
           strstr(launch, "more kernel");
}

bool kg_changed_code(const char *identity, const char *other_identity)
{
    return differ(identity, other_identity, PART_CODE);
}

static bool has_word(const char *part, const char *word)
{
    return !strncmp(part, word, strlen(word));
}

static size_t sizes_length(const char *part)
{
    const char *word = strstr(part, " " KG_LAUNCH_ARGUMENTS);
    const size_t length = part_length(part);
    return word && word < part + length ? (size_t)(word - part) : length;
}

static bool is_data(const char *part)
{
    return has_word(part, KG_LAUNCH_GIVEN) || has_word(part, KG_LAUNCH_STAGED);
}

/* The digest that `launch` has of this kind; NULL: none. */
static const char *find_data(const char *launch, const char *word)
{
    for (; *launch; launch = next_part(launch))
        if (has_word(launch, word))
            return launch;
    return NULL;
}

/* What only one of the two knows is not compared: older goldens have no such words. */
static bool same_part(const char *one, const char *other)
{
    const size_t length = part_length(one), sizes = sizes_length(one);
    if (sizes != sizes_length(other) || memcmp(one, other, sizes) != 0)
        return false;
    const bool both_know = sizes < length && sizes < part_length(other);
    return !both_know || (length == part_length(other) && !memcmp(one, other, length));
}

static bool same_launch(const char *one, const char *other)
{
    static const char *const data[] = { KG_LAUNCH_GIVEN, KG_LAUNCH_STAGED };
    for (size_t i = 0; i < sizeof data / sizeof *data; i++) {
        const char *its = find_data(one, data[i]), *others = find_data(other, data[i]);
        if (its && others && !same_part(its, others))
            return false;
    }
    while (*one && !is_data(one) && *other && !is_data(other)) {
        if (!same_part(one, other))
            return false;
        one = next_part(one);
        other = next_part(other);
    }
    return (!*one || is_data(one)) && (!*other || is_data(other));
}

struct kg_changed kg_changed_since(const struct kg_result *result, const struct kg_golden *golden)
{
    char was[1024], is[1024], launch[1024], identity[1024];
    memcpy(identity, result->identity, sizeof identity);
    code_of(golden->identity, was);
    code_of(result->identity, is);
    kg_launch_format(&result->launch, launch, sizeof launch);
    const bool known = *was && *is, knows_launch = *golden->launch;
    return (struct kg_changed){
        .known = known && knows_launch && !is_cut(is, launch),
        .code = known && differ(was, is, PART_CODE),
        .library = known && (differ(was, is, PART_LIBRARY) || differ(was, is, PART_OF_LIBRARY)),
        .launch = knows_launch && !same_launch(launch, golden->launch),
        .knobs = knows_launch ? strcmp(result->knobs, golden->knobs) != 0 : find_knobs(identity) != NULL,
    };
}

bool kg_changed_nothing(const struct kg_result *result, const struct kg_golden *golden)
{
    const struct kg_changed c = kg_changed_since(result, golden);
    return c.known && !c.code && !c.library && !c.launch && !c.knobs;
}

bool kg_changed_own(const struct kg_result *result, const struct kg_golden *golden)
{
    const struct kg_changed c = kg_changed_since(result, golden);
    return c.code || c.knobs || (c.launch && !c.library);
}

void kg_changed_add(struct kg_result *result, const struct kg_golden *golden, const char *driver, bool passed)
{
    char launch[1024];
    const char *was = golden->provenance.driver;
    const struct kg_changed changed = kg_changed_since(result, golden);
    kg_launch_format(&result->launch, launch, sizeof launch);
    add_identity(result, golden->identity, passed ? NULL : "code changed since the golden");
    if (!passed && changed.launch)
        kg_reason_add(result, ", launch %.100s → %.100s", golden->launch, launch);
    if (changed.knobs)
        kg_reason_add(result, ", knobs differ from the golden's: %s", result->knobs[0] ? result->knobs : "none");
    if (!passed && driver && *driver && *was && strcmp(driver, was))
        kg_reason_add(result, ", driver %s → %s", was, driver);
}

void kg_changed_add_baseline(struct kg_result *result, bool passed)
{
    add_identity(result, result->baseline_identity, passed ? NULL : "code differs from the baseline's");
}
