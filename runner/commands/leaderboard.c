/* leaderboard.c -- see leaderboard.h. Cases of one shape lie together in a plan: they are a group here, each backend of
 * it once, whatever seeds were selected. */
#include "commands/leaderboard.h"

#include <stdlib.h>
#include <string.h>

struct maker {
    const struct kg_plan *plan;
    const struct kg_goldens *set;
    struct kg_leaderboard out;
    size_t n_standings, n_without;
};

static bool same_group(const struct kg_case *a, const struct kg_case *b)
{
    return a->suite == b->suite && a->shape_ordinal == b->shape_ordinal && a->kind == b->kind;
}

/* Whether a bless writes goldens of it. */
static bool is_blessed(const struct kg_case *of)
{
    return kg_timed_by_tables(of->suite, of->backend) && !of->backend->candidates &&
           !(of->kind == KG_CPU && of->backend == of->suite->cpu_anchor);
}

/* Index behind the last case of the group. */
static size_t group_end(const struct kg_plan *plan, size_t first)
{
    size_t end = first + 1;
    while (end < plan->count && same_group(&plan->cases[end], &plan->cases[first]))
        end++;
    return end;
}

/* Its golden, where the case is the first of its backend in the group; ret_first says whether it is. */
static const struct kg_golden *golden_of(const struct maker *m, size_t first, size_t index, bool *ret_first)
{
    const struct kg_case *of = &m->plan->cases[index];
    char key[KG_ID_SIZE];
    *ret_first = true;
    for (size_t i = first; i < index && *ret_first; i++)
        *ret_first = m->plan->cases[i].backend != of->backend;
    kg_case_key(of, of->backend->name, key, sizeof key);
    return *ret_first ? kg_goldens_find(m->set, key) : NULL;
}

static bool is_better(const struct kg_golden *a, const struct kg_golden *b)
{
    if (a->best.p50_us != b->best.p50_us)
        return a->best.p50_us < b->best.p50_us;
    return strcmp(a->best.date, b->best.date) < 0;
}

/* Puts it behind what is as fast. */
static void insert(struct kg_standing *standings, size_t count, const kg_backend *backend,
                   const struct kg_golden *golden)
{
    size_t place = count;
    for (; place > 0 && golden->p50_us < standings[place - 1].golden->p50_us; place--)
        standings[place] = standings[place - 1];
    standings[place] = (struct kg_standing){ .backend = backend, .golden = golden };
}

static void rank(struct kg_board *board)
{
    struct kg_standing *standings = board->standings;
    size_t best = 0;
    for (size_t i = 0; i < board->count; i++) {
        const struct kg_golden *golden = standings[i].golden;
        bool equal = i && golden->p50_us == standings[i - 1].golden->p50_us;
        standings[i].rank = equal ? standings[i - 1].rank : (int)i + 1;
        best = is_better(golden, standings[best].golden) ? i : best;
        board->several_cards |= strcmp(golden->provenance.uuid, standings[0].golden->provenance.uuid) != 0 ||
                                strcmp(golden->best.uuid, golden->provenance.uuid) != 0;
    }
    for (size_t i = 0; i < board->count; i++)
        standings[i].over_best_pct = 100 * (standings[i].golden->p50_us / standings[best].golden->best.p50_us - 1);
    board->best = standings[best];
}

/* The board of the group's goldens under this contract; none where an earlier board has it. */
static void add_board(struct maker *m, size_t first, size_t end, const struct kg_contract *contract)
{
    struct kg_standing *standings = &m->out.standings[m->n_standings];
    struct kg_board board = { .set = m->set, .of = &m->plan->cases[first], .standings = standings };
    size_t of_group = 0; /* boards that the group has */
    for (size_t i = m->out.n_boards; i-- > 0 && m->out.boards[i].of == board.of && m->out.boards[i].set == m->set;) {
        if (kg_contract_same(&m->out.boards[i].standings[0].golden->contract, contract))
            return;
        of_group++;
    }
    board.without = &m->out.without[m->n_without];
    for (size_t i = first; i < end; i++) {
        bool first_of_backend;
        const struct kg_golden *golden = golden_of(m, first, i, &first_of_backend);
        if (golden && kg_contract_same(&golden->contract, contract))
            insert(standings, board.count++, m->plan->cases[i].backend, golden);
        if (!golden && !of_group && first_of_backend && is_blessed(&m->plan->cases[i]))
            m->out.without[m->n_without + board.n_without++] = m->plan->cases[i].backend;
    }
    rank(&board);
    m->n_standings += board.count;
    m->n_without += board.n_without;
    m->out.boards[m->out.n_boards++] = board;
}

static void add_group(struct maker *m, size_t first, size_t end)
{
    for (size_t i = first; i < end; i++) {
        bool first_of_backend;
        const struct kg_golden *golden = golden_of(m, first, i, &first_of_backend);
        if (golden)
            add_board(m, first, end, &golden->contract);
    }
}

int kg_leaderboard_make(const struct kg_plan *plan, const struct kg_goldens *sets, size_t n_sets,
                        struct kg_leaderboard *ret_leaderboard, kg_error *ret_error)
{
    size_t room = plan->count * n_sets + 1; /* each case stands once at most in each set, and a board has one */
    struct maker m = { .plan = plan };
    m.out.boards = calloc(room, sizeof *m.out.boards);
    m.out.standings = calloc(room, sizeof *m.out.standings);
    m.out.without = calloc(room, sizeof *m.out.without);
    if (!m.out.boards || !m.out.standings || !m.out.without) {
        kg_leaderboard_done(&m.out);
        return kg_fail(ret_error, KG_ENOMEM, "out of memory for the leaderboard");
    }
    for (size_t s = 0; s < n_sets; s++) {
        m.set = &sets[s];
        for (size_t i = 0, end; i < plan->count; i = end) {
            end = group_end(plan, i);
            add_group(&m, i, end);
        }
    }
    *ret_leaderboard = m.out;
    return KG_OK;
}

static bool has(const struct kg_plan *plan, const struct kg_case *shape, const kg_backend *backend)
{
    for (size_t i = 0; i < plan->count; i++) {
        const struct kg_case *of = &plan->cases[i];
        if (of->backend == backend && of->suite == shape->suite && of->kind == shape->kind &&
            !strcmp(of->shape, shape->shape))
            return true;
    }
    return false;
}

void kg_leaderboard_select(struct kg_leaderboard *leaderboard, const struct kg_plan *selected)
{
    size_t n_boards = 0;
    for (size_t b = 0; b < leaderboard->n_boards; b++) {
        struct kg_board board = leaderboard->boards[b];
        size_t count = 0, n_without = 0;
        for (size_t i = 0; i < board.count; i++)
            if (has(selected, board.of, board.standings[i].backend))
                board.standings[count++] = board.standings[i];
        for (size_t i = 0; i < board.n_without; i++)
            if (has(selected, board.of, board.without[i]))
                board.without[n_without++] = board.without[i];
        board.count = count;
        board.n_without = n_without;
        struct kg_board *next = b + 1 < leaderboard->n_boards ? &leaderboard->boards[b + 1] : NULL;
        if (count) {
            leaderboard->boards[n_boards++] = board;
        } else if (next && next->of == board.of && next->set == board.set) { /* the shape's first board now */
            next->without = board.without;
            next->n_without = n_without;
        }
    }
    leaderboard->n_boards = n_boards;
}

void kg_leaderboard_done(struct kg_leaderboard *leaderboard)
{
    free(leaderboard->boards);
    free(leaderboard->standings);
    free((void *)leaderboard->without);
    *leaderboard = (struct kg_leaderboard){ .n_boards = 0 };
}
