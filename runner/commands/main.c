/* main.c -- picks the command; the only place that prints an error. */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "kg_build.h"
#include "options/options.h"
#include "commands/commands.h"
#include "worker/tables.h"
#include "worker/twin.h"
#include "worker/worker.h"

static int run_worker(const char *const *arguments)
{
    if (arguments[0] && !strcmp(arguments[0], "run"))
        return kg_worker_run();
    if (arguments[0] && !strcmp(arguments[0], "probe") && arguments[1])
        return kg_worker_probe(arguments[1], arguments[2]);
    if (arguments[0] && !strcmp(arguments[0], "tables") && arguments[1] && arguments[2])
        return kg_worker_tables(arguments[1], arguments[2]);
    if (arguments[0] && !strcmp(arguments[0], "twin"))
        return kg_twin_worker();
    fputs("kgate: worker is kgate's own; see kgate --help\n", stderr);
    return 2;
}

/* A closed stdout would have the next file that is opened in its place, and the report written into it. */
static void open_standard_files(void)
{
    for (int file = 0; file <= STDERR_FILENO; file++)
        if (fcntl(file, F_GETFD) < 0 && open("/dev/null", file ? O_RDONLY : O_WRONLY) != file)
            _exit(2);
}

static int run_command(const struct kg_options *options, kg_error *ret_error)
{
    switch (options->command) {
    case KG_COMMAND_RUN:
        return kg_command_run(options, ret_error);
    case KG_COMMAND_LIST:
        return kg_command_list(options, ret_error);
    case KG_COMMAND_DOCTOR:
        return kg_command_doctor(options, ret_error);
    case KG_COMMAND_SELFCHECK:
        return kg_command_selfcheck(options, ret_error);
    case KG_COMMAND_RESOURCES:
        return kg_command_resources(options, ret_error);
    case KG_COMMAND_LEADERBOARD:
        return kg_command_leaderboard(options, ret_error);
    case KG_COMMAND_CHECKOUT:
        return kg_command_checkout(options, ret_error);
    case KG_COMMAND_WORKER:
        return run_worker(options->arguments);
    case KG_COMMAND_HELP:
        kg_options_help(options->help_of, stdout);
        return 0;
    case KG_COMMAND_VERSION:
        printf("kgate %s%s%.12s%s\n", KG_VERSION, *KG_GIT_SHA ? " build " : "", KG_GIT_SHA,
               KG_GIT_DIRTY ? "-dirty" : "");
        return 0;
    }
    return 2;
}

int main(int argc, char *argv[])
{
    struct kg_options options = { 0 };
    kg_error error = { 0 };
    open_standard_files();
    signal(SIGXFSZ, SIG_IGN); /* a file past the limit is an error like a full disk */
    int exit_status = kg_options_parse(argc, argv, &options, &error) ? 2 : run_command(&options, &error);
    /* A worker's is a log of what kernels print. */
    if (!error.code && options.command != KG_COMMAND_WORKER && (fflush(stdout) || ferror(stdout))) {
        (void)kg_fail(&error, KG_EIO, "cannot write to standard output");
        exit_status = 2;
    }
    if (error.code)
        fprintf(stderr, "kgate: %s\n", error.text);
    kg_options_done(&options);
    return exit_status;
}
