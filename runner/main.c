/* main.c -- picks the command; the only place that prints an error. */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "kg_build.h"
#include "options.h"
#include "run.h"
#include "selfcheck.h"
#include "worker.h"

static int run_worker(const char *const *arguments)
{
    if (arguments[0] && !strcmp(arguments[0], "run"))
        return kg_worker_run();
    if (arguments[0] && !strcmp(arguments[0], "probe") && arguments[1])
        return kg_worker_probe(arguments[1], arguments[2]);
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

int main(int argc, char *argv[])
{
    struct kg_options options = { 0 };
    kg_error error = { 0 };
    int exit_status = 2;
    open_standard_files();
    if (kg_options_parse(argc, argv, &options, &error)) {
        fprintf(stderr, "kgate: %s\n", error.text);
        return 2;
    }
    switch (options.command) {
    case KG_COMMAND_RUN:
        exit_status = kg_command_run(&options, &error);
        break;
    case KG_COMMAND_LIST:
        exit_status = kg_command_list(&options, &error);
        break;
    case KG_COMMAND_DOCTOR:
        exit_status = kg_command_doctor(&options, &error);
        break;
    case KG_COMMAND_SELFCHECK:
        exit_status = kg_command_selfcheck(&options, &error);
        break;
    case KG_COMMAND_RESOURCES:
        exit_status = kg_command_resources(&options, &error);
        break;
    case KG_COMMAND_CHECKOUT:
        exit_status = kg_command_checkout(&options, &error);
        break;
    case KG_COMMAND_WORKER:
        exit_status = run_worker(options.arguments);
        break;
    case KG_COMMAND_HELP:
        kg_options_help(stdout);
        exit_status = 0;
        break;
    case KG_COMMAND_VERSION:
        printf("kgate %s%s%.12s%s\n", KG_VERSION, *KG_GIT_SHA ? " build " : "", KG_GIT_SHA,
               KG_GIT_DIRTY ? "-dirty" : "");
        exit_status = 0;
        break;
    }
    if (error.code)
        fprintf(stderr, "kgate: %s\n", error.text);
    kg_options_done(&options);
    return exit_status;
}
