/* order.c -- a permutation is its number in the factorial system: digit i picks among the arms not yet placed. */
#include "measure/order.h"

#include "base/random.h"

int kg_order_permutations(int arms)
{
    int count = 1;
    for (int i = 2; i <= arms; i++)
        count *= i;
    return count;
}

int kg_order_arm(int arms, int permutation, int position)
{
    int left[KG_ORDER_ARMS];
    for (int i = 0; i < arms; i++)
        left[i] = i;
    for (int place = 0;; place++) {
        const int others = kg_order_permutations(arms - place - 1);
        const int pick = permutation / others;
        const int arm = left[pick];
        if (place == position)
            return arm;
        permutation %= others;
        for (int i = pick; i + 1 < arms - place; i++)
            left[i] = left[i + 1];
    }
}

/* In place; `seed` gives every step a draw of its own. */
static void shuffle(uint64_t seed, uint8_t *items, int count)
{
    for (int i = count - 1; i > 0; i--) {
        const int j = (int)(kg_mix64(seed + (uint64_t)i * 0x9e3779b97f4a7c15u) % (uint64_t)(i + 1));
        const uint8_t kept = items[i];
        items[i] = items[j];
        items[j] = kept;
    }
}

void kg_order_balanced(uint64_t seed, int arms, uint8_t *ret_permutations, int count)
{
    uint8_t all[KG_ORDER_PERMUTATIONS];
    const int n = kg_order_permutations(arms);
    for (int i = 0; i < n; i++)
        all[i] = (uint8_t)i;
    shuffle(kg_mix64(seed), all, n);
    for (int i = 0; i < count; i++)
        ret_permutations[i] = all[i % n]; /* the first ones of a shuffled list come once more */
    shuffle(seed, ret_permutations, count);
}
