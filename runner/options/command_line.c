/* command_line.c -- quoting for a shell. An option that changes what is measured or judged gets a line in `again`. */
#include "options/command_line.h"

#include <string.h>

static void append(char *text, size_t size, const char *format, const char *value)
{
    size_t used = strlen(text);
    snprintf(text + used, size - used, format, value);
}

/* A word between single quotes, its own single quotes closed, escaped and opened again. */
static void append_word(char *text, size_t size, const char *word)
{
    static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-./=,:@%+";
    if (*word && !word[strspn(word, plain)]) {
        append(text, size, "%s", word);
        return;
    }
    append(text, size, "%s", "'");
    for (const char *c = word; *c; c++)
        append(text, size, "%s", *c == '\'' ? "'\\''" : (const char[]){ *c, '\0' });
    append(text, size, "%s", "'");
}

void kg_command_line_quote(int argc, char *const argv[], char *ret_text, size_t size)
{
    ret_text[0] = '\0';
    for (int i = 0; i < argc; i++) {
        append(ret_text, size, "%s", i ? " " : "");
        append_word(ret_text, size, argv[i]);
    }
}

static void add(char *text, size_t size, const char *option, const char *value)
{
    if (!value)
        return;
    append(text, size, " --%s ", option);
    append_word(text, size, value);
}

static void add_number(char *text, size_t size, const char *option, double value)
{
    char number[32];
    snprintf(number, sizeof number, "%.9g", value);
    if (value >= 0)
        add(text, size, option, number);
}

void kg_command_line_again(const struct kg_options *o, char *ret_text, size_t size)
{
    static const char *const timers[] = { "graph", "event" }, *const caches[] = { "warm", "cold" };
    ret_text[0] = '\0';
    for (size_t i = 0; i < o->n_knobs; i++)
        add(ret_text, size, "knob", o->knobs[i]);
    for (size_t i = 0; i < o->n_library_paths; i++)
        add(ret_text, size, "library-path", o->library_paths[i]);
    add(ret_text, size, "expectations", o->expectations);
    add(ret_text, size, "against", o->against);
    append(ret_text, size, "%s", o->allow_removed ? " --allow-removed" : "");
    add(ret_text, size, "timer", o->timing.timer >= 0 && !o->against ? timers[o->timing.timer] : NULL);
    add(ret_text, size, "l2", o->timing.l2 >= 0 ? caches[o->timing.l2] : NULL);
    add_number(ret_text, size, "samples", o->timing.samples);
    add_number(ret_text, size, "warmup", o->timing.warmup);
    add_number(ret_text, size, "threshold", o->timing.threshold_pct);
    add_number(ret_text, size, "rounds", o->rounds ? o->rounds : -1);
    add_number(ret_text, size, "timeout", o->timeout_s > 0 ? o->timeout_s : -1);
    add_number(ret_text, size, "case-timeout", o->case_timeout_s != KG_CASE_TIMEOUT_S ? o->case_timeout_s : -1);
    append(ret_text, size, "%s", o->no_time ? " --no-time" : "");
}
