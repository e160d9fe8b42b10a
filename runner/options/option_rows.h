/* option_rows.h -- every option of the command line, a row each. Read twice: for the members of struct kg_options, and
 * for the table that the parser and `--help` walk. A new option is a row here, an entry in docs/kgate.1 and what it
 * does; the tests `options` and `completion` ask for the rest.
 *
 *     GROUP(heading of the help)
 *     OPTION(type, member, name, commands, value, ...)    the member is declared here, as its type wants it
 *     PLACED(type, member, name, commands, value, ...)    it is declared elsewhere: in options.h, plan.h or policy.h
 *
 * Types are the kg_take_ functions of option_values.c. The value is as the help shows it: NULL for none, in brackets
 * where it may be left out, a word's words between bars. */
#if !defined OPTION && !defined PLACED
struct kg_options; /* compiled alone, it is not empty */
#endif
#ifndef GROUP
#define GROUP(heading)
#endif
#ifndef OPTION
#define OPTION(type, member, ...)
#endif
#ifndef PLACED
#define PLACED(type, member, ...)
#endif

GROUP("selection")
OPTION(text, module, "module", ALL, "FILE")
PLACED(split, selection.backends, "backend", CASES | LEADERS, "NAME[,...]", .count = AT(selection.n_backends))
PLACED(seeds, selection.seeds, "seed", CASES, "N[,...]", .count = AT(selection.n_seeds))
PLACED(split, selection.regimes, "regime", CASES, "NAME[,...]|none", .count = AT(selection.n_regimes))
PLACED(sweep, selection.sweeps, "set", CASES, "FIELD=VALUE[,...]")
PLACED(list, selection.excludes, "exclude", CASES | LEADERS, "PATTERN", .count = AT(selection.n_excludes))
PLACED(shard, selection.shard, "shard", CASES, "I/N")
OPTION(device, device, "device", CASES | DOCTOR | LEADERS, "auto|cpu|cuda[:N]")

GROUP("timing")
OPTION(flag, no_time, "no-time", RUN, NULL, AGAIN)
PLACED(word, timing.timer, "timer", RUN, "graph|event", AGAIN)
PLACED(word, timing.l2, "l2", RUN | SELF, "warm|cold", AGAIN)
PLACED(count, timing.samples, "samples", RUN, "N", AGAIN, .least = 1, .most = 1000000)
PLACED(count, timing.warmup, "warmup", RUN, "N", AGAIN, .least = 0, .most = 1000000)
OPTION(rounds, rounds, "rounds", RUN | SELF, "MAX", AGAIN) /* 0: not given */
PLACED(real, timing.threshold_pct, "threshold", RUN | SELF, "PCT", AGAIN, .most = 1000)
OPTION(flag, time_every_seed, "time-every-seed", RUN, NULL)

GROUP("judging")
OPTION(name, expectations, "expectations", RUN | DOCTOR | RESOURCES | LEADERS, "DIR", AGAIN)
OPTION(text, require_device, "require-device", RUN | SELF, "KIND")
PLACED(undecided, allow_undecided, "allow-undecided", RUN | RESOURCES, "[=new]")
OPTION(flag, fail_fast, "fail-fast", RUN, NULL)
OPTION(count, repeat, "repeat", RUN, "N", AGAIN, .least = 1, .most = 1000000) /* further launches; 0: none */
OPTION(name, against, "against", RUN, "MODULE.so", AGAIN) /* judged by this build; NULL: by goldens */
OPTION(flag, allow_removed, "allow-removed", RUN, NULL, AGAIN)
OPTION(list, duels, "duel", RUN, "PLACE", AGAIN, .count = AT(n_duels))     /* where the builds of goldens are */
OPTION(real, budget_s, "budget", RUN, "SECONDS", AGAIN, .most = 86400) /* for what goldens leave open */
OPTION(count, jobs, "jobs", RUN, "N", AGAIN, .least = 1, .most = 64)            /* 0: by the device */
OPTION(real, timeout_s, "timeout", RUN | SELF, "SECONDS", AGAIN, .most = 86400) /* of the whole command; 0: none */

GROUP("blessing")
OPTION(flag, bless, "bless", RUN | RESOURCES, NULL, AGAIN)
OPTION(text, reason, "reason", RUN | RESOURCES, "TEXT", AGAIN)
OPTION(flag, allow_dirty, "allow-dirty", RUN | RESOURCES, NULL, AGAIN)
OPTION(flag, prune, "prune", RUN | RESOURCES, NULL, AGAIN)
OPTION(flag, reset_best, "reset-best", RUN, NULL, AGAIN)
OPTION(git_sha, git_sha, "git-sha", RUN | SELF | RESOURCES, "SHA", AGAIN)

GROUP("backends")
OPTION(knob, knobs, "knob", RUN | SELF, "NAME=VALUE", AGAIN, .count = AT(n_knobs))
OPTION(list, library_paths, "library-path", RUN | DOCTOR | SELF, "DIR", AGAIN, .count = AT(n_library_paths))
OPTION(list, baseline_library_paths, "baseline-library-path", RUN, "DIR", AGAIN, .count = AT(n_baseline_library_paths))
OPTION(text, cache, "cache", RUN | SELF, "DIR")
OPTION(real, case_timeout_s, "case-timeout", RUN | SELF, "SECONDS", AGAIN, .most = 86400) /* of a phase of a case */

GROUP("leaderboard")
OPTION(split, archs, "arch", LEADERS, "NAME[,...]", .count = AT(n_archs)) /* none: all that have golden files */
OPTION(count, top, "top", LEADERS, "N", .least = 1, .most = 1000)         /* backends of a shape; 0: all */

GROUP("selfcheck")
OPTION(name, record, "record", SELF, "FILE")                     /* blocks are appended to it, nothing is judged */
OPTION(real, plant_pct, "plant", SELF, "PCT", .most = 100)       /* in all recorded blocks; 0: not given */
OPTION(list, judge, "judge", SELF, "FILE", .count = AT(n_judge)) /* recorded blocks; nothing is measured */
OPTION(flag, gates, "gates", SELF, NULL)                         /* only whether they see wrong answers */

GROUP("output")
OPTION(text, output, "output", RUN | SELF, "DIR")
OPTION(text, junit, "junit", RUN, "FILE")
OPTION(format, format, "format", CASES | RESOURCES | LEADERS, "text|tap|json")
OPTION(flag, quiet, "quiet", RUN, NULL)
OPTION(flag, verbose, "verbose", CASES | RESOURCES, NULL)
OPTION(word, color, "color", RUN, "auto|always|never")
PLACED(shuffle, shuffle, "shuffle", RUN | SELF, "[=SEED]")
PLACED(command, command, "help", ALL, NULL, .most = KG_COMMAND_HELP)
PLACED(command, command, "version", ALL, NULL, .most = KG_COMMAND_VERSION)

#undef GROUP
#undef OPTION
#undef PLACED
