/* command_line.h -- commands as a shell reads them: the one that was typed, and the options that repeat a case. */
#ifndef KG_COMMAND_LINE_H
#define KG_COMMAND_LINE_H

#include "options/options.h"

void kg_command_line_quote(int argc, char *const argv[], char *ret_text, size_t size);

/* " --knob repeat=2 --timer event": what the next run needs to measure and judge as this one did, apart from the
 * selection. Empty when nothing of it was given. */
void kg_command_line_again(const struct kg_options *options, char *ret_text, size_t size);

#endif
