/* record.h -- measures blocks for selfcheck: a module beside a copy of itself, round after round, judging nothing. */
#ifndef KG_RECORD_H
#define KG_RECORD_H

#include "options/options.h"
#include "judge/noise.h"
#include "selfcheck/series.h"
#include "run/stop.h"

/* Rounds of a case, unless --rounds says otherwise: enough for a set of two looks at each planted size. */
#define KG_RECORD_ROUNDS 36
/* Rounds in a row that plant the same size: a SLOW needs a set of 3 blocks and one of 6. */
#define KG_RECORD_SAME_SIZE 9

/* What a recording leaves besides its blocks. */
struct kg_recording {
    kg_device device;
    char cache[4096], start[64];
    kg_noise_set noise;        /* that held, of blocks and of others' work on the CPU */
    double others;             /* CPU threads that others kept busy meanwhile; -1: not known */
    size_t n_wrong, n_skipped; /* n_wrong: a gate missed, or the worker died */
    int rounds;                /* begun */
    bool stopped;              /* by --timeout or a signal */
};

/* Adds the blocks of the selected cases of options->module to the set. Cases that are wrong or break are said on stderr
 * and left out. What `stop` says ends the rounds with what there is; one of zeros is armed once the device is had.
 * `start`: of a recording that this one belongs to; NULL: its own. */
int kg_record(const struct kg_options *options, struct kg_stop *stop, const char *start, struct kg_series_set *set,
              struct kg_recording *ret_recording, kg_error *ret_error);

/* The size that a case's block of a round has planted beside it. Pure. Rounds count from 1. To a file, which others add
 * up with, one size a case and recording, by the seed: a gate that wants more blocks than a few then gets them. */
double kg_record_planted_pct(uint64_t seed, size_t case_index, int round, bool to_file);

#endif
