/* commands.h -- the commands. Each returns the exit status. */
#ifndef KG_RUN_H
#define KG_RUN_H

#include "options/options.h"

int kg_command_run(const struct kg_options *options, kg_error *ret_error);
int kg_command_list(const struct kg_options *options, kg_error *ret_error);
int kg_command_doctor(const struct kg_options *options, kg_error *ret_error);
int kg_command_selfcheck(const struct kg_options *options, kg_error *ret_error);
int kg_command_resources(const struct kg_options *options, kg_error *ret_error);
int kg_command_leaderboard(const struct kg_options *options, kg_error *ret_error);
int kg_command_checkout(const struct kg_options *options, kg_error *ret_error);

#endif
