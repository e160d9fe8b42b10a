/* noise_model.h -- synthetic noise of timing windows, for judging the decision code without a device. A new model is a
 * row of the table in noise_model.c.
 *
 * A session stands for one start of the machine. Its blocks are fresh processes; a block takes windows of its arms in
 * balanced random order, as runner/measure/block.c does. All times are natural logarithms, relative to a case of log 0,
 * so a slowdown of p per cent is log1p(p / 100) added to what the case's arm gives. */
#ifndef KG_NOISE_MODEL_H
#define KG_NOISE_MODEL_H

#include <stddef.h>
#include <stdint.h>

#define KG_SYNTHETIC_TURNS 12 /* of a block: in each turn every arm has one window */
#define KG_SYNTHETIC_MODES 3

/* A golden's blocks have the first two arms, a run's of selfcheck all three. The baseline is the same code. */
enum kg_synthetic_arm { KG_SYNTHETIC_CASE, KG_SYNTHETIC_ANCHOR, KG_SYNTHETIC_BASELINE, KG_SYNTHETIC_ARMS };

/* Standard deviations are of logarithms, in per cent. Those of the machine are what all arms see at the same time; the
 * anchor, another kernel, follows them in part. The others are drawn for each arm by itself. */
struct kg_noise_model {
    const char *name, *source;
    double case_us;             /* of the kernel that it stands for */
    double white_pct;           /* of a window */
    double machine_pct;         /* of a window, of the machine: AR(1) over windows in time */
    double correlation;         /* between neighbouring windows of machine_pct */
    double slope_pct;           /* of the drift of the machine's clock from begin to end of a block */
    double walk_pct;            /* of the step of its random walk from block to block */
    double step_pct;            /* between two neighbouring levels of its clock */
    int levels;                 /* of the clock, each as likely */
    double hold_windows;        /* mean stay at a level */
    double tail_share;          /* of windows that are slower by a Pareto-distributed excess: */
    double tail_pct;            /* the least of it */
    double tail_power;          /* its exponent */
    double process_pct;         /* of an arm between processes */
    double session_pct;         /* of a kernel between sessions: builds of one kernel share it */
    double machine_session_pct; /* of the machine between sessions */
    int sets;                   /* of buffers that an arm's windows take turns on; divides KG_SYNTHETIC_TURNS */
    double modes_pct[KG_SYNTHETIC_MODES]; /* a set's offset is one of them, the middle one half of the time */
};

extern const struct kg_noise_model kg_noise_models[];
extern const size_t kg_n_noise_models;

const struct kg_noise_model *kg_noise_model_find(const char *name); /* NULL: none */

struct kg_synthetic_session {
    const struct kg_noise_model *model;
    uint64_t key;
    uint64_t n_blocks;
    double bias[KG_SYNTHETIC_ARMS], walk;
};

/* Sessions of the same model and key are the same. */
struct kg_synthetic_session kg_synthetic_session_of(const struct kg_noise_model *model, uint64_t key);

struct kg_synthetic_block {
    int sets;
    double logs[KG_SYNTHETIC_ARMS][KG_SYNTHETIC_TURNS]; /* by arm and turn; turn t is of set t % sets */
};

/* The session's next block, of its first n_arms arms (2 or 3). The others are 0. */
void kg_synthetic_next(struct kg_synthetic_session *session, int n_arms, struct kg_synthetic_block *ret_block);

/* What a block yields: the arm's p50, and the log-ratio of two arms, by mean over sets of medians over turns. */
double kg_synthetic_p50(const struct kg_synthetic_block *block, enum kg_synthetic_arm arm);
double kg_synthetic_ratio(const struct kg_synthetic_block *block, enum kg_synthetic_arm arm,
                          enum kg_synthetic_arm other);

/* Fills `count` (even) independent standard normal deviates; the same for the same key. */
void kg_synthetic_normals(uint64_t key, double *ret_values, int count);

#endif
