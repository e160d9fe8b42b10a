/* cpu_strength.c -- the CPU's passes over a reference for its wrong answers, one for each kernel of
 * strength_kernels.cu; what an element adds is in wrong_answers.h, shared by both. */
#include "device/device_parts.h"

#define PARTS KG_ERROR_SUMS_PARTS
#define FEW 8192 /* elements that one thread passes over sooner than several start */

/* The elements of a part, from *ret_first on. */
static uint64_t end_of_part(uint64_t count, uint64_t part, uint64_t *ret_first)
{
    const uint64_t size = (count + PARTS - 1) / PARTS, first = part * size < count ? part * size : count;
    *ret_first = first;
    return first + size < count ? first + size : count;
}

static void measure(struct kg_wrong_terms *terms)
{
    struct kg_wrong_sizes parts[PARTS];
#pragma omp parallel for if (terms->facts.count > FEW)
    for (uint64_t part = 0; part < PARTS; part++) {
        struct kg_wrong_sizes sizes = { 0 };
        uint64_t i, end = end_of_part(terms->facts.count, part, &i);
        for (; i < end; i++)
            kg_wrong_sizes_add(&sizes, terms->expected, i);
        parts[part] = sizes;
    }
    kg_wrong_facts_measured(&terms->facts, parts, PARTS);
}

static void place(struct kg_wrong_terms *terms)
{
    struct kg_wrong_places parts[PARTS];
#pragma omp parallel for if (terms->facts.count > FEW)
    for (uint64_t part = 0; part < PARTS; part++) {
        struct kg_wrong_places places = { KG_WRONG_NOWHERE, KG_WRONG_NOWHERE, KG_WRONG_NOWHERE };
        uint64_t i, end = end_of_part(terms->facts.count, part, &i);
        for (; i < end; i++)
            kg_wrong_places_add(&places, &terms->facts, terms->expected, i);
        parts[part] = places;
    }
    kg_wrong_facts_placed(&terms->facts, parts, PARTS);
}

static void add_part(const struct kg_wrong_terms *terms, enum kg_wrong wrong, uint64_t part,
                     struct kg_error_sums *ret_sums)
{
    struct kg_error_sums sums = { 0 };
    uint64_t i, end = end_of_part(terms->facts.count, part, &i);
    for (; i < end; i++)
        kg_wrong_add(&sums, wrong, terms, i);
    *ret_sums = sums;
}

void kg_cpu_strength(const struct kg_wrong_terms *terms, struct kg_comparison ret_comparisons[KG_WRONGS])
{
    struct kg_error_sums parts[KG_WRONGS][PARTS];
    struct kg_wrong_terms known = *terms;
    measure(&known);
    place(&known);
#pragma omp parallel for if (known.facts.count > FEW)
    for (uint64_t part = 0; part < PARTS; part++) {
        uint64_t first, end = end_of_part(known.facts.count, part, &first);
        struct kg_error_sums right; /* of a part that a wrong answer leaves as it is; most of them leave most */
        add_part(&known, KG_WRONGS, part, &right);
        for (int wrong = 0; wrong < KG_WRONGS; wrong++) {
            if (kg_wrong_spares((enum kg_wrong)wrong, &known.facts, first, end))
                parts[wrong][part] = right;
            else
                add_part(&known, (enum kg_wrong)wrong, part, &parts[wrong][part]);
        }
    }
    for (int wrong = 0; wrong < KG_WRONGS; wrong++)
        kg_error_sums_finish(parts[wrong], PARTS, &ret_comparisons[wrong]);
}
