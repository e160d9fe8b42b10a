/* golden.h -- the expected time of a (suite, shape, backend) on one architecture, and the files that hold them:
 * expectations_<arch>.json, JSON with one case a line, sorted by key, so that a bless is a readable diff. */
#ifndef KG_GOLDEN_H
#define KG_GOLDEN_H

#include "kgate.h"
#include "judge/result.h"

#define KG_GOLDEN_SCHEMA 3 /* 1 and 2 are read too: they do not know what was timed */
#define KG_GOLDEN_PREFIX "expectations_"
#define KG_MAX_CARDS 64        /* of whose means a golden is told by fleet.h */
#define KG_GOLDEN_MIN_BLOCKS 3 /* a bless needs, and a file holds, at least so many */

struct kg_provenance {
    char git_sha[48], branch[128];
    bool dirty;
    char date[32]; /* ISO 8601, UTC */
    char reason[256];
    char device[96], uuid[64], driver[32];
    char cuda[32]; /* toolkit that built the module; empty on the CPU */
};

/* The fastest ever blessed under one contract. Times of two cards do not compare; ratios to the same anchor do. */
struct kg_best {
    double p50_us;
    char git_sha[48], date[32];
    char uuid[64]; /* of its card */
    double ratio;  /* median of case / anchor; 0: none */
    char anchor[KG_ANCHOR_SIZE], anchor_identity[1024];
};

/* What a case may lose. */
struct kg_threshold {
    double pct;
    char from[8]; /* "table", or "bless", which was given it at that commit; "" : no threshold is known */
    char git_sha[48], date[32], reason[256];
};

struct kg_golden {
    char key[KG_ID_SIZE]; /* suite/shape/backend */
    double p50_us;
    int n_blocks;
    double blocks_us[KG_MAX_BLOCKS];
    char anchor[KG_ANCHOR_SIZE]; /* kg_case_anchor; "" : none, and then no ratios */
    char anchor_identity[1024];
    double anchor_p50_us;
    double blocks_ratio[KG_MAX_BLOCKS]; /* case / anchor by block */
    enum kg_quantity quantity;
    double floor_pct;    /* noise of this case between blocks, of the judged quantity: kg_golden_floor_pct */
    struct kg_best best; /* on the golden's card never over p50_us, elsewhere with its anchor never over its ratio */
    struct kg_contract contract;
    char identity[1024];
    char pin[480];
    char problem[512]; /* kg_problem_format; "" : it is not known, nor are the next two */
    double flops, bytes;
    int tensors, given; /* digests of what the op describes and gives; 0: not known, or nothing is given */
    char answer[64];    /* the reference's, "seed 42 rms 0.0123457"; "" : not known */
    char launch[1024];  /* kg_launch_format; "" : it is not known, nor are the knobs */
    char knobs[256];    /* as they took effect: name=value,… */
    struct kg_threshold threshold;
    char creep[16];    /* per cent over the best that its table allowed; "" : KG_CREEP_PCT */
    char xfails[256];  /* regimes in which it was expected to fail, "normal" among them: "huge,sink"; "" : none */
    char compiler[31]; /* of what was compiled at run time; "" : nothing was */
    int registers;     /* of it, the most of a kernel */
    int spill_bytes;   /* of all of it, stores and loads */
    struct kg_provenance provenance;
    int n_cards; /* whose means are known, by kg_fleet_fit, of log ratios or, without an anchor, of log us; 0: none
                    asked */
    double card_means[KG_MAX_CARDS];
    double card_sd; /* between cards */
};

struct kg_goldens {
    char arch[64];
    char path[4096];         /* KG_RECORD_PATH */
    bool exists;             /* the architecture's file was there */
    struct kg_golden *items; /* sorted by key */
    size_t count;
};

/* Reads every expectations_*.json of the folder, all strictly, and keeps those of `arch`. A folder or file that is not
 * there is an empty set. KG_EINVAL names file, line where known, and what is wrong: syntax, text after the end,
 * duplicate keys, numbers that are not finite, a wrong type, an unknown schema or member, an unsorted or repeated case,
 * times that are not positive, a p50_us that is not the median of its blocks_us. */
int kg_goldens_load(const char *folder, const char *arch, struct kg_goldens *ret_goldens, kg_error *ret_error);
void kg_goldens_done(struct kg_goldens *goldens);

/* The same of every architecture that has a file there, sorted by its file's name. */
int kg_goldens_load_all(const char *folder, struct kg_goldens **ret_sets, size_t *ret_count, kg_error *ret_error);
void kg_goldens_free_all(struct kg_goldens *sets, size_t count);

/* Is the golden's work that of the problem? Otherwise ret_what says what differs: "problem: n=8192 -> n=512; bytes: …".
 * One that does not know its work is of any. */
bool kg_golden_is_of(const struct kg_golden *golden, const kg_op *op, const void *problem, const struct kg_work *work,
                     char *ret_what, size_t size);

/* Does the golden's threshold hold, and not the table's? One that was given does; the table's at the bless does where
 * the table is milder by now. */
bool kg_golden_holds_threshold(const struct kg_golden *golden, double table_pct);

/* What may creep over the best: what the table allows, but no more than it did when the golden was blessed. */
double kg_golden_creep_pct(const struct kg_golden *golden, double table_pct);

/* Was the case expected to fail in that regime, NULL: on normal inputs, when the golden was blessed? */
bool kg_golden_excuses(const struct kg_golden *golden, const kg_regime *regime);
const char *kg_golden_regime_name(const kg_regime *regime);

const struct kg_golden *kg_goldens_find(const struct kg_goldens *goldens, const char *key); /* NULL: none */

/* What the golden is as a best. */
struct kg_best kg_golden_as_best(const struct kg_golden *golden);

/* Whether both are ratios, and to the same anchor. */
bool kg_best_same_anchor(const struct kg_best *a, const struct kg_best *b);

/* What becomes of the best of `old` when `golden`, its own best, takes its place: on one card p50 tells which is
 * faster, on two the ratio to the same anchor. What cannot be compared stays. */
enum kg_best_fate {
    KG_BEST_BEATEN, /* the new one is as fast, or faster */
    KG_BEST_KEPT,
    KG_BEST_APART, /* kept: it is of another card, and there are no two ratios to the same anchor */
    KG_BEST_RESET, /* forgotten since that was asked for; it was faster, or may have been */
    KG_BEST_STALE, /* forgotten: another contract */
    KG_BEST_OTHER, /* forgotten: of another problem */
};
enum kg_best_fate kg_golden_best_fate(const struct kg_golden *old, const struct kg_golden *golden, bool reset_best);

/* Whether both know their work, and it is not the same. */
bool kg_golden_is_other_work(const struct kg_golden *a, const struct kg_golden *b);

/* Takes what a golden of an older kgate does not know of its work from another of the same; false: it knew all. */
bool kg_golden_learn(struct kg_golden *golden, const struct kg_golden *of);

/* Replaces or inserts, with the best that kg_golden_best_fate says. */
int kg_goldens_put(struct kg_goldens *goldens, const struct kg_golden *golden, bool reset_best, kg_error *ret_error);
int kg_goldens_remove(struct kg_goldens *goldens, const char *key); /* KG_ENOTFOUND */

/* Writes the architecture's file: a temporary file in the same folder, fsync, rename, fsync of the folder. The caller
 * holds the folder's lock (from before it loaded, or another bless is lost). The folder is made where it is missing.
 * On any failure the old file is whole and the temporary file is gone; only the last fsync, of the folder, can fail
 * with the new file in place. */
int kg_goldens_save(const struct kg_goldens *goldens, const char *folder, kg_error *ret_error);

/* The golden that a bless writes from a result. KG_EINVAL where the result is not right, or has too few blocks
 * (KG_GOLDEN_MIN_BLOCKS), or they are unsteady: the standard deviation between blocks of the logarithm of the judged
 * quantity is over 3% (CUDA) or 10% (CPU). Judged by the steadier of p50 and ratio; on the CPU by the ratio wherever
 * there is one. */
int kg_golden_of_result(const struct kg_result *result, const char *key, const struct kg_contract *contract,
                        const struct kg_provenance *provenance, struct kg_golden *ret_golden, kg_error *ret_error);

/* Noise floor of blocks (us or ratios): twice the standard deviation of their logarithms, in per cent, and at least
 * 0.05 (CUDA) or 1.0 (CPU), since a few blocks can agree by luck. */
double kg_golden_floor_pct(const double *blocks, int n_blocks, enum kg_device_kind kind);

/* git_sha, branch, dirty, date and reason: what a bless that measures nothing keeps of a provenance. */
extern const struct kg_record kg_bless_record;

#endif
