/* short_name.c -- the part of a mangled name that a reader wants: the function and its template arguments where these
 * are types by name, builtin types and constants. (The runner is C: no library of C++ is linked for this.) */
#include "resources/resources.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#define DEPTH 8

struct text {
    const char *at; /* what is left of the mangled name */
    char *to;
    size_t room; /* left, with the final NUL */
};

static void put(struct text *t, const char *from, size_t length)
{
    length = length < t->room ? length : t->room - 1;
    memcpy(t->to, from, length);
    t->to += length;
    t->room -= length;
    *t->to = '\0';
}

static void put_text(struct text *t, const char *from)
{
    put(t, from, strlen(from));
}

/* 4name */
static bool take_name(struct text *t)
{
    if (!isdigit((unsigned char)*t->at))
        return false;
    char *end = NULL;
    unsigned long length = strtoul(t->at, &end, 10);
    if (length > strlen(end))
        return false;
    put(t, end, length);
    t->at = end + length;
    return true;
}

static bool take_arguments(struct text *t, int depth);

/* N1a1bE, or one name; each may have arguments. */
static bool take_type_name(struct text *t, int depth)
{
    bool nested = *t->at == 'N';
    t->at += nested;
    do {
        if (!take_name(t) || (*t->at == 'I' && !take_arguments(t, depth)))
            return false;
        if (nested && *t->at != 'E')
            put_text(t, "::");
    } while (nested && *t->at != 'E');
    t->at += nested;
    return true;
}

static bool take_builtin(struct text *t)
{
    static const char letters[] = "vbcahstijlmxyfd";
    static const char *const names[] = {
        "void",     "bool", "char",          "signed char", "unsigned char",      "short", "unsigned short", "int",
        "unsigned", "long", "unsigned long", "long long",   "unsigned long long", "float", "double"
    };
    const char *letter = *t->at ? strchr(letters, *t->at) : NULL;
    if (!letter)
        return false;
    put_text(t, names[letter - letters]);
    t->at++;
    return true;
}

/* Li64E, Lb1E, Lin5E, L4kind1E */
static bool take_constant(struct text *t)
{
    struct text type = *t;
    char ignored[256];
    type.at++;
    type.to = ignored;
    type.room = sizeof ignored;
    bool is_bool = *type.at == 'b';
    if (!take_builtin(&type) && !take_type_name(&type, DEPTH))
        return false;
    const char *end = strchr(type.at, 'E');
    if (!end)
        return false;
    if (is_bool) {
        put_text(t, *type.at == '0' ? "false" : "true");
    } else {
        put_text(t, *type.at == 'n' ? "-" : "");
        type.at += *type.at == 'n';
        put(t, type.at, (size_t)(end - type.at));
    }
    t->at = end + 1;
    return true;
}

static bool take_arguments(struct text *t, int depth)
{
    const char *comma = "";
    if (depth >= DEPTH)
        return false;
    put_text(t, "<");
    for (t->at++; *t->at != 'E'; comma = ",") {
        put_text(t, comma);
        if (!(*t->at == 'L' ? take_constant(t) : take_builtin(t) || take_type_name(t, depth + 1)))
            return false;
    }
    t->at++;
    put_text(t, ">");
    return true;
}

void kg_resource_short_name(const char *mangled, char *ret_name, size_t size)
{
    struct text t = { mangled, ret_name, size };
    *ret_name = '\0';
    if (strncmp(mangled, "_Z", 2)) {
        snprintf(ret_name, size, "%s", mangled);
        return;
    }
    t.at += 2;
    t.at += *t.at == 'L'; /* static */
    if (take_type_name(&t, 0))
        return;
    char *arguments = strchr(ret_name, '<');
    if (*ret_name && arguments)
        snprintf(arguments, size - (size_t)(arguments - ret_name), "<...>");
    else
        snprintf(ret_name, size, "%s", mangled);
}
