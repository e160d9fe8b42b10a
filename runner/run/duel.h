/* duel.h -- what goldens leave open, judged beside the build that they are of, on this card. A golden's time was
 * measured on another card, or another day; a build beside another has no such doubt. */
#ifndef KG_DUEL_H
#define KG_DUEL_H

#include "run/rounds.h"

/* After the rounds, under --duel: each case whose golden is of another card and whose own code, launch or knobs
 * changed, and each that goldens left undecided though it changed, is run --against the build of its golden's commit,
 * for --budget at most. Verdict, reason, blocks and figures are then the duel's; where no build is found, or it cannot
 * be judged beside this one, the case has the rounds that waited for the duel, says "not duelled" and why, and its
 * verdict stands. What a library or a driver changed is none of a duel's business, since both builds would have it. */
int kg_duels_run(struct kg_rounds *rounds, kg_error *ret_error);

#endif
