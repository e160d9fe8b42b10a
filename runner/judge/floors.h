/* floors.h -- this machine's own noise, case by case, as `kgate selfcheck` found it: one file in the cache folder,
 * which later runs on this machine take priors and least thresholds from. */
#ifndef KG_FLOORS_H
#define KG_FLOORS_H

#include "judge/golden.h"

#define KG_FLOORS_FILE "floors.json"
#define KG_FLOORS_SCHEMA 2 /* 1 knew neither code nor conditions */
/* Most blocks that a floor counts for beside those of a run: the machine may be noisier now. */
#define KG_MACHINE_PRIOR_BLOCKS 12.0
#define KG_FLOOR_MIN_BLOCKS 6 /* fewer say nothing of a standard deviation, and leave no floor */

/* Of one case on one device under one driver and contract; of other code of the case it says nothing. */
struct kg_floor {
    char key[KG_ID_SIZE]; /* suite/shape/backend */
    char uuid[64], driver[32];
    struct kg_contract contract;
    char code[24];   /* kg_floor_code */
    char date[32];   /* ISO 8601, UTC */
    char under[256]; /* what others did meanwhile, and which noise held: "0.03 threads of others; clocks not locked" */
    int n_blocks;
    double sd[KG_QUANTITIES]; /* by enum kg_quantity: between blocks, of logarithms; 0: not measured */
    /* Two of it in per cent, and at least what kg_golden_floor_pct says; 0: not measured. */
    double floor_pct[KG_QUANTITIES];
    double detectable_pct; /* smallest change that --against finds at 99%, its threshold half of that; 0: not found */
};

struct kg_floors {
    struct kg_floor *items; /* sorted by uuid, driver, key, contract */
    size_t count;
};

/* A folder or file that is not there is an empty set. KG_EINVAL names the file and what is wrong with it. */
int kg_floors_load(const char *cache_folder, struct kg_floors *ret_floors, kg_error *ret_error);
void kg_floors_done(struct kg_floors *floors);

/* Of a case's identity, which is long. */
void kg_floor_code(const char *identity, char ret_code[24]);

/* NULL: none for this device, driver, case, contract and identity; the last NULL: not known yet, any. */
const struct kg_floor *kg_floors_find(const struct kg_floors *floors, const kg_device *device, const char *key,
                                      const struct kg_contract *contract, const char *identity);

/* Puts the items into the folder's file, over older ones of the same case, under a lock: the file is replaced as a
 * whole. Makes the folder. */
int kg_floors_update(const char *cache_folder, const struct kg_floor *items, size_t count, kg_error *ret_error);

#endif
