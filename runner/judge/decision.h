/* decision.h -- from the blocks of a case to an answer: has its time got worse by more than the threshold? Pure; a run,
 * selfcheck and selfcheck's simulation decide by this code. Formulas and their sources: docs/deciding.md.
 *
 * Blocks are looked at in sets. A set is looked at after every KG_LOOK_EVERY blocks, at last after max_blocks; its
 * error KG_SET_ALPHA is spent over these looks. A first set that says SLOW is an alarm: the blocks after it are a
 * second set, looked at by itself, and only its answer counts. Its first look comes after KG_CONFIRM_BLOCKS, so that
 * noise which is larger than the prior has had time to show. Where there is time for it a set goes on past max_blocks,
 * as far as `room` lets it, and spends half of its error once more over these looks. */
#ifndef KG_DECISION_H
#define KG_DECISION_H

#include <stdbool.h>

#define KG_LOOK_EVERY 3
#define KG_CONFIRM_BLOCKS 6 /* of the second set, before its first look; max_blocks where that is less */
/* One-sided error of one set: a false SLOW needs two sets, so at most the square of it. */
#define KG_SET_ALPHA 0.01
#define KG_MAX_SET 16 /* most blocks of a set */

/* What is known beforehand of the standard deviation between blocks of a logarithm of time, and how many blocks' worth
 * that knowledge is. */
struct kg_prior {
    double sd;
    double blocks;
};

/* What a case is judged by. Logarithms are natural, of us, of ratios to the anchor, or of candidate / baseline. */
struct kg_criteria {
    const double *golden; /* logarithms of the golden's blocks; n_golden 0: the change itself is what blocks hold */
    int n_golden;
    struct kg_prior prior;
    double threshold_pct, floor_pct, resolution_pct;
    int max_blocks;  /* of a set: --rounds, KG_LOOK_EVERY to KG_MAX_SET */
    int room;        /* most blocks of both sets, where what is undecided goes on; 0: it does not */
    bool is_trusted; /* a look after one block may pass it, and does no more */
};

/* MORE: more blocks are wanted, or, where none are to come, that the rounds ran out. */
enum kg_answer { KG_ANSWER_PASS, KG_ANSWER_FAST, KG_ANSWER_SLOW, KG_ANSWER_MORE };

struct kg_decision {
    enum kg_answer answer;
    double change_pct, margin_pct; /* of the set that decides: estimate, and half-width of its interval; NAN: none */
    int look;                      /* looks taken at that set */
    int n_blocks;                  /* blocks of that set that were looked at */
    int alarm_blocks;              /* blocks of a first set that raised an alarm; 0: none did */
    double alarm_pct;              /* its estimate */
    int wanted;                    /* blocks of both sets at the next look; 0: decided, or the rounds ran out */
    bool extra;                    /* and that look is past max_blocks */
};

/* `logs`: of n_blocks blocks, in the order they were measured. A value that is not finite: MORE with NAN figures. */
struct kg_decision kg_decide(const struct kg_criteria *criteria, const double *logs, int n_blocks);

/* Looks at a set of at most max_blocks blocks whose first look is after `first`: KG_LOOK_EVERY, or KG_CONFIRM_BLOCKS in
 * the second set. Blocks at look 1, 2, …; one-sided error spent at it. */
int kg_look_count(int first, int max_blocks);
int kg_look_blocks(int look, int first, int max_blocks);
double kg_look_alpha(int look, int n_looks);

#endif
