/* gates_table.c -- what `kgate selfcheck --gates` prints: a line for each set of inputs, then each wrong answer that
 * passes, and the limit that would see it. */
#include <string.h>

#include "base/json.h"
#include "base/text.h"
#include "plan/wrong.h"
#include "selfcheck/columns.h"
#include "selfcheck/gates_check.h"

enum column { C_SUITE, C_SHAPE, C_SEED, C_ARITHMETIC, C_APPLY, C_CAUGHT, C_WORD };

static int count_of(kg_wrong_set set)
{
    int count = 0;
    for (int wrong = 0; wrong < KG_WRONGS; wrong++)
        count += set >> wrong & 1;
    return count;
}

static int caught(const struct kg_result *result)
{
    return count_of(result->strength.applies & ~result->strength.accepted);
}

/* The id without its backend, and the last part of that. */
static void inputs_of(const struct kg_result *result, char *ret_id, size_t size, const char **ret_seed)
{
    const char *end = strrchr(result->id, '/');
    (void)snprintf(ret_id, size, "%.*s", (int)(end - result->id), result->id);
    *ret_seed = strrchr(ret_id, '/') + 1;
}

static struct kg_columns_line line_of(const void *of, size_t i)
{
    const struct kg_result *result = ((const struct kg_gates_table *)of)->items[i];
    struct kg_columns_line line = { { "" } };
    char id[KG_ID_SIZE];
    const char *seed;
    inputs_of(result, id, sizeof id, &seed);
    kg_columns_set(&line, C_SUITE, "%s", result->of.suite->name);
    kg_columns_set(&line, C_SHAPE, "%s", result->of.shape);
    kg_columns_set(&line, C_SEED, "%s", seed);
    if (result->of.backend->arithmetic)
        kg_columns_set(&line, C_ARITHMETIC, "%s", result->of.backend->name);
    if (!result->strength.judged) {
        kg_columns_set(&line, C_WORD, "not judged");
        return line;
    }
    kg_columns_set(&line, C_APPLY, "%d", count_of(result->strength.applies));
    kg_columns_set(&line, C_CAUGHT, "%d", caught(result));
    if (result->strength.accepted)
        kg_columns_set(&line, C_WORD, "%s", kg_gates_weak(result) ? "WEAK" : "excused");
    return line;
}

static void put_accepted(const struct kg_result *result, FILE *out)
{
    char id[KG_ID_SIZE], remedy[KG_LINE];
    const char *seed;
    inputs_of(result, id, sizeof id, &seed);
    for (int wrong = 0; wrong < KG_WRONGS; wrong++) {
        if (!(result->strength.accepted >> wrong & 1))
            continue;
        const kg_excuse *excuse = kg_case_excuse(&result->of, result->id, (enum kg_wrong)wrong);
        *remedy = '\0';
        kg_remedy_say(&result->strength.remedies[wrong], remedy, sizeof remedy);
        fprintf(out, "%s passes %s: %s", id, kg_wrong_names[wrong], remedy);
        if (excuse)
            fprintf(out, "; excused: %s", excuse->reason);
        fputc('\n', out);
    }
    if (!result->strength.judged)
        fprintf(out, "%s is not judged: %s\n", id, *result->note ? result->note : "it was not reached");
}

void kg_gates_table_put(const struct kg_gates_table *table, FILE *out)
{
    struct kg_columns_line head = { { [C_SUITE] = "suite",
                                      [C_SHAPE] = "shape",
                                      [C_SEED] = "inputs",
                                      [C_APPLY] = "wrong answers",
                                      [C_CAUGHT] = "caught" } };
    for (size_t i = 0; i < table->count; i++)
        if (table->items[i]->of.backend->arithmetic)
            kg_columns_set(&head, C_ARITHMETIC, "as in");
    const struct kg_columns columns = { .head = &head,
                                        .left =
                                            1 << C_SUITE | 1 << C_SHAPE | 1 << C_SEED | 1 << C_ARITHMETIC | 1 << C_WORD,
                                        .line = line_of,
                                        .of = table,
                                        .n_lines = table->count };
    kg_columns_put(&columns, out);
    for (size_t i = 0; i < table->count; i++)
        put_accepted(table->items[i], out);
    fprintf(out, "kgate: gates of %zu sets of inputs judged, %zu weak", table->n_judged, table->n_weak);
    if (table->n_skipped || table->n_broken)
        fprintf(out, ", %zu skipped, %zu failed", table->n_skipped, table->n_broken);
    fprintf(out, "%s%s\n", *table->stopped ? "; stopped: " : "", table->stopped);
}

static void add_accepted(cJSON *object, const struct kg_result *result)
{
    cJSON *list = cJSON_AddArrayToObject(object, "accepted");
    for (int wrong = 0; wrong < KG_WRONGS; wrong++) {
        const struct kg_remedy *remedy = &result->strength.remedies[wrong];
        if (!(result->strength.accepted >> wrong & 1))
            continue;
        const kg_excuse *excuse = kg_case_excuse(&result->of, result->id, (enum kg_wrong)wrong);
        cJSON *one = cJSON_CreateObject();
        cJSON_AddItemToArray(list, one);
        cJSON_AddStringToObject(one, "wrong", kg_wrong_names[wrong]);
        cJSON_AddStringToObject(one, "limit", kg_limit_names[remedy->limit]);
        kg_json_add_real(one, "wanted", remedy->wanted);
        kg_json_add_real(one, "in_force", remedy->in_force);
        if (excuse)
            cJSON_AddStringToObject(one, "excuse", excuse->reason);
    }
}

int kg_gates_table_put_json(const struct kg_gates_table *table, FILE *out, kg_error *ret_error)
{
    cJSON *root = cJSON_CreateObject(), *list = cJSON_AddArrayToObject(root, "inputs");
    for (size_t i = 0; i < table->count; i++) {
        const struct kg_result *result = table->items[i];
        char id[KG_ID_SIZE];
        const char *seed;
        inputs_of(result, id, sizeof id, &seed);
        cJSON *one = cJSON_CreateObject();
        cJSON_AddItemToArray(list, one);
        cJSON_AddStringToObject(one, "id", id);
        cJSON_AddBoolToObject(one, "judged", result->strength.judged);
        if (!result->strength.judged) {
            cJSON_AddStringToObject(one, "note", result->note);
            continue;
        }
        if (result->of.backend->arithmetic)
            cJSON_AddStringToObject(one, "as_in", result->of.backend->name);
        cJSON_AddNumberToObject(one, "applicable", count_of(result->strength.applies));
        cJSON_AddNumberToObject(one, "caught", caught(result));
        add_accepted(one, result);
    }
    cJSON_AddNumberToObject(root, "judged", (double)table->n_judged);
    cJSON_AddNumberToObject(root, "weak", (double)table->n_weak);
    return kg_json_put(root, out, ret_error);
}
