/* fleet.h -- one golden on many cards: files expectations_<arch>.<uuid>.json beside the architecture's, a card each, so
 * that blesses on two cards touch no common line. What they hold is a key, the code that was timed, and its blocks.
 *
 * Two levels: a case's mean on a card, log ratio to the anchor or log p50 where it has none, differs from card to card
 * with a standard deviation of its own; blocks scatter round it. On a card that has blocks of the golden's code these
 * judge, as sharp as a golden of that card. On another the mean of the cards' means does, and a SLOW must clear twice
 * the deviation between cards, estimated from all cards whose code was the same, this golden's or an older one's, with
 * a prior worth KG_CARD_PRIOR cards. */
#ifndef KG_FLEET_H
#define KG_FLEET_H

#include "judge/golden.h"

#define KG_CARD_PRIOR 4
/* Standard deviations between cards of the prior: half of the floors that hold where nothing is measured. */
#define KG_CARD_RATIO_SD 0.0075
#define KG_CARD_RAW_SD 0.05

/* A golden's blocks on another card. */
struct kg_card_blocks {
    char key[KG_ID_SIZE];
    char identity[1024];
    char work[17];                                      /* a hash of problem, launch, knobs and contract */
    char anchor[KG_ANCHOR_SIZE], anchor_identity[1024]; /* "" : none, and then no ratios */
    int n_blocks;
    double blocks_us[KG_MAX_BLOCKS], blocks_ratio[KG_MAX_BLOCKS];
    double anchor_p50_us;
    char git_sha[48], date[32];
};

struct kg_card {
    char uuid[64];
    struct kg_card_blocks *items; /* sorted by key */
    size_t count;
};

struct kg_fleet {
    struct kg_card *cards;
    size_t count;
};

/* Every card's file of the architecture, strictly, as kg_goldens_load reads. No folder, no file: no cards. */
int kg_fleet_load(const char *folder, const char *arch, struct kg_fleet *ret_fleet, kg_error *ret_error);
void kg_fleet_done(struct kg_fleet *fleet);

/* Goldens as they judge on this card: of its own blocks where it has some, else with the means of all cards. */
void kg_fleet_fit(const struct kg_fleet *fleet, const char *uuid, struct kg_goldens *goldens);

/* Is the new golden the old one's code on another card of the kind? Then it goes to that card's file. */
bool kg_fleet_takes(const struct kg_golden *old, const struct kg_golden *golden);

/* Replaces or inserts, on the golden's own card. */
int kg_fleet_put(struct kg_fleet *fleet, const struct kg_golden *golden, kg_error *ret_error);

/* Writes that card's file, less what the architecture's has no golden of, by kg_file_replace; the caller holds the
 * folder's lock. */
int kg_fleet_save(const struct kg_fleet *fleet, const char *uuid, const struct kg_goldens *goldens, const char *folder,
                  kg_error *ret_error);

#endif
