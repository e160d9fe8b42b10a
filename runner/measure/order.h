/* order.h -- balanced random orders in which up to four arms take their turns. Pure. */
#ifndef KG_ORDER_H
#define KG_ORDER_H

#include <stdint.h>

#define KG_ORDER_ARMS 4
#define KG_ORDER_PERMUTATIONS 24

int kg_order_permutations(int arms); /* of so many arms: 1, 2, 6, 24 */

/* Which arm stands at `position` of a permutation. */
int kg_order_arm(int arms, int permutation, int position);

/* Fills `ret_permutations` with `count` of them in random order: all equally often, and where count is no multiple of
 * their number, those that come once more are different ones, picked at random. */
void kg_order_balanced(uint64_t seed, int arms, uint8_t *ret_permutations, int count);

#endif
