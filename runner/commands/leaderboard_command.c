/* leaderboard_command.c -- `kgate leaderboard`: the goldens' best, shape by shape, whatever machine this is. What is
 * ranked, and how, is leaderboard.c's; a new figure of a standing goes into print_standing and standing_to_json. */
#include <stdlib.h>
#include <string.h>

#include "base/format.h"
#include "base/json.h"
#include "commands/leaderboard.h"
#include "run/tables.h"
#include "commands/commands.h"
#include "run/session.h"

/* ---- text ------------------------------------------------------------------------------------------------------ */

static size_t shown(const struct kg_board *board, const struct kg_options *o)
{
    return o->top && (size_t)o->top < board->count ? (size_t)o->top : board->count;
}

/* Of the columns that hold what may be long. */
struct widths {
    int backend, golden, best, behind;
};

static void widen(int *width, const char *text)
{
    if ((int)strlen(text) > *width)
        *width = (int)strlen(text);
}

static struct widths widths_of(const struct kg_board *board, size_t count)
{
    const int least = sizeof "own best" - 1; /* of the figures' headings, the longest */
    struct widths widths = { .backend = sizeof "backend" - 1, .golden = least, .best = least, .behind = least };
    for (size_t i = 0; i < count; i++) {
        const struct kg_standing *standing = &board->standings[i];
        widen(&widths.backend, standing->backend->name);
        widen(&widths.golden, kg_format_time(standing->golden->p50_us).s);
        widen(&widths.best, kg_format_time(standing->golden->best.p50_us).s);
        widen(&widths.behind, kg_format_change(standing->over_best_pct, 1).s);
    }
    return widths;
}

static void print_standing(const struct kg_standing *standing, const struct widths *widths)
{
    const struct kg_golden *golden = standing->golden;
    printf("  %4d  %-*s  %*s  %*s  %*s  %-12.12s  %-10.10s  %.12s\n", standing->rank, widths->backend,
           standing->backend->name, widths->golden, kg_format_time(golden->p50_us).s, widths->best,
           kg_format_time(golden->best.p50_us).s, widths->behind, kg_format_change(standing->over_best_pct, 1).s,
           golden->best.git_sha, golden->best.date, golden->best.uuid);
}

static void print_board(const struct kg_board *board, const struct kg_options *options)
{
    const struct kg_golden *best = board->best.golden;
    const size_t count = shown(board, options);
    const struct widths widths = widths_of(board, count);
    printf("%s/%s (%s, L2 %s): best %s by %s, %.12s of %.10s, %s\n", board->of->suite->name, board->of->shape,
           best->contract.timer, best->contract.l2, kg_format_time(best->best.p50_us).s, board->best.backend->name,
           best->best.git_sha, best->best.date, best->provenance.device);
    printf("  rank  %-*s  %*s  %*s  %*s  %-12s  %-10s  %s\n", widths.backend, "backend", widths.golden, "golden",
           widths.best, "own best", widths.behind, "behind", "commit", "date", "card");
    for (size_t i = 0; i < count; i++)
        print_standing(&board->standings[i], &widths);
    if (count < board->count)
        printf("  %zu more\n", board->count - count);
    if (board->n_without) {
        printf("  no golden:");
        for (size_t i = 0; i < board->n_without; i++)
            printf(" %s", board->without[i]->name);
        putchar('\n');
    }
    if (board->several_cards)
        printf("  times of several cards: some per cent between them say nothing, and a best of another card is one by "
               "its ratio\n");
}

static void print_text(const struct kg_leaderboard *leaderboard, const struct kg_options *options)
{
    const struct kg_goldens *set = NULL;
    for (size_t i = 0; i < leaderboard->n_boards; i++) {
        const struct kg_board *board = &leaderboard->boards[i];
        if (board->set != set)
            printf("%s%s: %s\n", i ? "\n" : "", board->set->arch, board->set->path);
        set = board->set;
        print_board(board, options);
    }
}

/* ---- JSON ------------------------------------------------------------------------------------------------------ */

static void add_best(cJSON *object, const struct kg_golden *golden)
{
    cJSON_AddNumberToObject(object, "best_us", golden->best.p50_us);
    cJSON_AddStringToObject(object, "best_git_sha", golden->best.git_sha);
    cJSON_AddStringToObject(object, "best_date", golden->best.date);
    cJSON_AddStringToObject(object, "device", golden->provenance.device);
    cJSON_AddStringToObject(object, "uuid", golden->best.uuid);
}

static cJSON *standing_to_json(const struct kg_standing *standing)
{
    const struct kg_golden *golden = standing->golden;
    cJSON *object = cJSON_CreateObject();
    cJSON_AddNumberToObject(object, "rank", standing->rank);
    cJSON_AddStringToObject(object, "backend", standing->backend->name);
    cJSON_AddNumberToObject(object, "golden_us", golden->p50_us);
    cJSON_AddStringToObject(object, "golden_git_sha", golden->provenance.git_sha);
    cJSON_AddStringToObject(object, "golden_date", golden->provenance.date);
    cJSON_AddNumberToObject(object, "over_best_pct", standing->over_best_pct);
    add_best(object, golden);
    return object;
}

static cJSON *board_to_json(const struct kg_board *board, const struct kg_options *options)
{
    const struct kg_contract *of = &board->best.golden->contract;
    cJSON *object = cJSON_CreateObject();
    cJSON_AddStringToObject(object, "arch", board->set->arch);
    cJSON_AddStringToObject(object, "suite", board->of->suite->name);
    cJSON_AddStringToObject(object, "shape", board->of->shape);
    cJSON *contract = cJSON_AddObjectToObject(object, "contract");
    cJSON_AddStringToObject(contract, "timer", of->timer);
    cJSON_AddStringToObject(contract, "l2", of->l2);
    cJSON_AddNumberToObject(contract, "window_us", of->window_us);
    cJSON_AddStringToObject(contract, "data", of->data);
    cJSON *best = cJSON_AddObjectToObject(object, "best");
    cJSON_AddStringToObject(best, "backend", board->best.backend->name);
    add_best(best, board->best.golden);
    cJSON *standings = cJSON_AddArrayToObject(object, "standings");
    for (size_t i = 0; i < shown(board, options); i++)
        cJSON_AddItemToArray(standings, standing_to_json(&board->standings[i]));
    cJSON *without = cJSON_AddArrayToObject(object, "no_golden");
    for (size_t i = 0; i < board->n_without; i++)
        cJSON_AddItemToArray(without, cJSON_CreateString(board->without[i]->name));
    cJSON_AddBoolToObject(object, "several_cards", board->several_cards);
    return object;
}

static int print_json(const struct kg_module *module, const struct kg_leaderboard *leaderboard,
                      const struct kg_options *options, kg_error *ret_error)
{
    cJSON *root = cJSON_CreateObject();
    cJSON_AddStringToObject(root, "module", module->name);
    cJSON *boards = cJSON_AddArrayToObject(root, "boards");
    for (size_t i = 0; i < leaderboard->n_boards; i++)
        cJSON_AddItemToArray(boards, board_to_json(&leaderboard->boards[i], options));
    return kg_json_put(root, stdout, ret_error);
}

/* ---- the command ----------------------------------------------------------------------------------------------- */

/* Moves the sets that --arch names to the front, in its order. */
static int choose_archs(const struct kg_options *options, const char *folder, struct kg_goldens *sets, size_t count,
                        kg_error *ret_error)
{
    for (size_t i = 0; i < options->n_archs; i++) {
        size_t found = i;
        for (size_t j = 0; j < i; j++)
            if (!strcmp(options->archs[j], options->archs[i]))
                return kg_fail(ret_error, KG_EINVAL, "--arch %.80s: named twice", options->archs[i]);
        while (found < count && strcmp(sets[found].arch, options->archs[i]))
            found++;
        if (found >= count)
            return kg_fail(ret_error, KG_EINVAL, "--arch %.80s: no golden file of it in %.300s", options->archs[i],
                           folder);
        struct kg_goldens chosen = sets[found];
        sets[found] = sets[i];
        sets[i] = chosen;
    }
    return KG_OK;
}

static int print(const struct kg_options *options, const struct kg_module *module,
                 const struct kg_leaderboard *leaderboard, kg_error *ret_error)
{
    if (options->format == KG_FORMAT_JSON)
        return print_json(module, leaderboard, options, ret_error);
    print_text(leaderboard, options);
    return KG_OK;
}

/* Ranks all cases, shows the selected ones. */
static int show(const struct kg_options *options, const struct kg_module *module, kg_error *ret_error)
{
    struct kg_selection selection = options->selection;
    struct kg_plan all = { 0 }, selected = { 0 };
    struct kg_goldens *sets = NULL;
    struct kg_leaderboard leaderboard = { 0 };
    char folder[KG_PATH_SIZE];
    size_t n_sets = 0;
    selection.kind = kg_options_kind(options);
    kg_session_find_expectations(options, folder);
    int status = kg_plan_make(module, &selection, &selected, ret_error);
    if (!status)
        status = kg_plan_make(module, &(struct kg_selection){ .kind = selection.kind, .variable = selection.variable },
                              &all, ret_error);
    if (!status)
        status = kg_goldens_load_all(folder, &sets, &n_sets, ret_error);
    if (!status)
        status = choose_archs(options, folder, sets, n_sets, ret_error);
    if (!status)
        status = kg_leaderboard_make(&all, sets, options->n_archs ? options->n_archs : n_sets, &leaderboard, ret_error);
    if (!status)
        kg_leaderboard_select(&leaderboard, &selected);
    if (!status && !n_sets)
        status = kg_fail(ret_error, KG_EINVAL, "no golden file in %.400s", folder);
    if (!status && !leaderboard.n_boards)
        status = kg_fail(ret_error, KG_EINVAL, "no golden of a selected case in %.400s", folder);
    if (!status)
        status = print(options, module, &leaderboard, ret_error);
    kg_leaderboard_done(&leaderboard);
    kg_goldens_free_all(sets, n_sets);
    kg_plan_done(&selected);
    kg_plan_done(&all);
    return status;
}

int kg_command_leaderboard(const struct kg_options *options, kg_error *ret_error)
{
    struct kg_loaded module;
    int status = kg_tables_open(options->module, options, &module, ret_error);
    if (!status)
        status = show(options, module.root, ret_error);
    return status ? 2 : 0;
}
