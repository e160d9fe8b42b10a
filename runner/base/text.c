/* text.c -- texts that grow in an array of theirs: what does not fit is cut, and they end in a NUL. */
#include "base/text.h"

#include <string.h>

static void add(char *text, size_t size, const char *format, va_list arguments)
{
    size_t at = strlen(text);
    (void)vsnprintf(text + at, size - at, format, arguments);
}

void kg_text_add(char *text, size_t size, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    add(text, size, format, arguments);
    va_end(arguments);
}

void kg_text_join(char *text, size_t size, const char *separator, const char *format, ...)
{
    va_list arguments;
    if (*text)
        kg_text_add(text, size, "%s", separator);
    va_start(arguments, format);
    add(text, size, format, arguments);
    va_end(arguments);
}

void kg_text_add_quoted(char *text, size_t size, const char *word)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./@=,:+%";
    if (*word && !word[strspn(word, plain)]) {
        kg_text_add(text, size, " %s", word);
        return;
    }
    kg_text_add(text, size, " '");
    for (; *word; word++)
        kg_text_add(text, size, *word == '\'' ? "'\\''" : "%c", *word);
    kg_text_add(text, size, "'");
}

/* Length of the well-formed UTF-8 character at `s`, and its code point; 0 where it is none. */
static size_t decode(const unsigned char *s, uint32_t *ret_code)
{
    size_t length = *s < 0x80 ? 1 : *s >= 0xc2 && *s < 0xe0 ? 2 : (*s & 0xf0) == 0xe0 ? 3 : (*s & 0xf8) == 0xf0 ? 4 : 0;
    if (!length)
        return 0;
    static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
    uint32_t code = length == 1 ? *s : *s & (0x7fu >> length);
    for (size_t i = 1; i < length; i++) {
        if ((s[i] & 0xc0) != 0x80) /* the terminator included */
            return 0;
        code = code << 6 | (s[i] & 0x3f);
    }
    if (code < least[length] || code > 0x10ffff || (code >= 0xd800 && code < 0xe000))
        return 0;
    *ret_code = code;
    return length;
}

/* C1 controls are allowed in XML, but a terminal obeys them. */
static bool printable(uint32_t code)
{
    return code >= 0x20 && !(code >= 0x7f && code < 0xa0) && code != 0xfffe && code != 0xffff;
}

const char *kg_text_clean(const char *text, char *ret_text, size_t size)
{
    const unsigned char *s = (const unsigned char *)text;
    size_t at = 0;
    while (*s) {
        uint32_t code = 0;
        size_t length = decode(s, &code);
        const char *piece = (const char *)s;
        size_t piece_length = length;
        if (*s == '\n' || *s == '\t' || *s == '\r') {
            piece = " ";
        } else if (!length || !printable(code)) {
            piece = "\xef\xbf\xbd";
            piece_length = 3;
        }
        if (at + piece_length + 1 > size)
            break;
        memcpy(ret_text + at, piece, piece_length);
        at += piece_length;
        s += length ? length : 1;
    }
    ret_text[at] = '\0';
    return ret_text;
}

size_t kg_text_width(const char *text)
{
    size_t width = 0;
    for (; *text; text++)
        width += ((unsigned char)*text & 0xc0) != 0x80;
    return width;
}

void kg_text_put_escaped(const char *text, const char *special, FILE *out)
{
    char clean[KG_LINE];
    for (const char *c = kg_text_clean(text, clean, sizeof clean); *c; c++) {
        if (strchr(special, *c))
            fputc('\\', out);
        fputc(*c, out);
    }
}
