/* rates.c -- counts of gates and the table of them. A new column is a line in line_of and one in the heads. */
#include "selfcheck/rates.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

#include "base/stats.h"
#include "base/json.h"
#include "selfcheck/columns.h"

const double kg_planted_pct[KG_PLANTED] = { 0, 0.5, 1, 2, 3, 5 };

void kg_rate_add(struct kg_rate *rate, const struct kg_decision *decision)
{
    size_t *const by_answer[] = { [KG_ANSWER_SLOW] = &rate->slow,
                                  [KG_ANSWER_FAST] = &rate->fast,
                                  [KG_ANSWER_PASS] = &rate->pass,
                                  [KG_ANSWER_MORE] = &rate->unsure };
    ++*by_answer[decision->answer];
    rate->unconfirmed += decision->alarm_blocks && decision->answer != KG_ANSWER_SLOW;
    rate->blocks += (size_t)(decision->alarm_blocks + decision->n_blocks);
}

/* Every member, in the order of the JSON. */
static const struct {
    const char *name;
    size_t offset;
} counts[] = {
    { "slow", offsetof(struct kg_rate, slow) },
    { "fast", offsetof(struct kg_rate, fast) },
    { "pass", offsetof(struct kg_rate, pass) },
    { "unsure", offsetof(struct kg_rate, unsure) },
    { "unconfirmed_alarms", offsetof(struct kg_rate, unconfirmed) },
    { "cut", offsetof(struct kg_rate, cut) },
    { "shared", offsetof(struct kg_rate, shared) },
    { "blocks", offsetof(struct kg_rate, blocks) },
};
#define N_COUNTS (sizeof counts / sizeof *counts)
_Static_assert(N_COUNTS * sizeof(size_t) == sizeof(struct kg_rate), "every count is summed and written");

static size_t count_of(const struct kg_rate *rate, size_t i)
{
    return *(const size_t *)((const char *)rate + counts[i].offset);
}

void kg_rate_sum(struct kg_rate *sum, const struct kg_rate *rate)
{
    for (size_t i = 0; i < N_COUNTS; i++)
        *(size_t *)((char *)sum + counts[i].offset) += count_of(rate, i);
}

void kg_rate_add_call(struct kg_rate *rate, bool slow, int n_blocks)
{
    *(slow ? &rate->slow : &rate->pass) += 1;
    rate->blocks += (size_t)n_blocks;
}

size_t kg_rate_gates(const struct kg_rate *rate)
{
    return rate->slow + rate->fast + rate->pass + rate->unsure;
}

size_t kg_rate_row_gates(const struct kg_rate_row *row)
{
    size_t gates = 0;
    for (int planted = 0; planted < KG_PLANTED; planted++)
        gates += kg_rate_gates(&row->rates[planted]);
    return gates;
}

static double share_pct(const struct kg_rate *rate, size_t count)
{
    size_t gates = kg_rate_gates(rate);
    return gates ? 100 * (double)count / (double)gates : NAN;
}

double kg_rate_slow_pct(const struct kg_rate *rate)
{
    return share_pct(rate, rate->slow);
}

double kg_rate_upper_pct(const struct kg_rate *rate)
{
    return 100 * kg_binomial_upper(rate->slow, kg_rate_gates(rate), KG_RATE_CONFIDENCE);
}

double kg_rate_lower_pct(const struct kg_rate *rate)
{
    return 100 * kg_binomial_lower(rate->slow, kg_rate_gates(rate), KG_RATE_CONFIDENCE);
}

/* ---- as text --------------------------------------------------------------------------------------------------- */

/* 100,000 */
void kg_rate_count_text(size_t count, char *ret_text, size_t size)
{
    char digits[32];
    int length = snprintf(digits, sizeof digits, "%zu", count);
    size_t used = 0;
    for (int i = 0; i < length && used + 2 < size; i++) {
        if (i && (length - i) % 3 == 0)
            ret_text[used++] = ',';
        ret_text[used++] = digits[i];
    }
    ret_text[used] = '\0';
}

void kg_rate_of_text(const struct kg_rate *rate, char *ret_text, size_t size)
{
    char slow[32], gates[32];
    kg_rate_count_text(rate->slow, slow, sizeof slow);
    kg_rate_count_text(kg_rate_gates(rate), gates, sizeof gates);
    (void)snprintf(ret_text, size, "%s of %s", slow, gates);
}

/* Two digits of the distance to the nearer of 0 and 100. Near 100 at most two behind the point, and never rounded up.
 */
void kg_rate_pct_text(double pct, char *ret_text, size_t size)
{
    double away = fmin(pct, 100 - pct), most = pct > 50 ? 2 : 9;
    double digits = away > 0 ? fmin(fmax(1 - floor(log10(away)), 0), most) : 0, unit = pow(10, -digits);
    (void)snprintf(ret_text, size, "%.*f%%", (int)digits, pct > 50 ? floor(pct / unit + 1e-6) * unit : pct);
}

/* ---- the table ------------------------------------------------------------------------------------------------- */

enum { C_NAME, C_JUDGED, C_THRESHOLD, C_FALSE, C_UNSURE, C_ALARMS, C_BLOCKS, C_GATES, C_FOUND };
_Static_assert(C_FOUND + KG_PLANTED - 1 <= KG_COLUMNS, "columns of the table");

static bool has_size(const struct kg_rate_row *rows, size_t n_rows, int planted)
{
    for (size_t i = 0; i < n_rows; i++)
        if (kg_rate_gates(&rows[i].rates[planted]))
            return true;
    return false;
}

static struct kg_columns_line heads(const struct kg_rate_row *rows, size_t n_rows)
{
    struct kg_columns_line line = { { [C_NAME] = "gates of",
                                      [C_JUDGED] = "judged",
                                      [C_THRESHOLD] = "by",
                                      [C_FALSE] = "false SLOW (95% bound)",
                                      [C_UNSURE] = "unsure",
                                      [C_ALARMS] = "unconfirmed",
                                      [C_BLOCKS] = "blocks",
                                      [C_GATES] = "gates a size" } };
    for (int i = 1; i < KG_PLANTED; i++)
        if (has_size(rows, n_rows, i))
            kg_columns_set(&line, C_FOUND + i - 1, "+%g%% found", kg_planted_pct[i]);
    return line;
}

/* "98.7% (98.5)"; sizes of fewer gates than the row's say of how many. */
static void put_found(const struct kg_rate *rate, size_t usual, int column, struct kg_columns_line *line)
{
    char share[32], bound[32], gates[40] = "", count[32];
    if (kg_rate_gates(rate) == 0)
        return;
    kg_rate_pct_text(kg_rate_slow_pct(rate), share, sizeof share);
    kg_rate_pct_text(kg_rate_lower_pct(rate), bound, sizeof bound);
    bound[strlen(bound) - 1] = '\0'; /* its sign stands before it */
    if (kg_rate_gates(rate) != usual) {
        kg_rate_count_text(kg_rate_gates(rate), count, sizeof count);
        (void)snprintf(gates, sizeof gates, " of %s", count);
    }
    kg_columns_set(line, column, "%s (%s)%s", share, bound, gates);
}

static void put_same(const struct kg_rate *same, struct kg_columns_line *line)
{
    char bound[32], found[80];
    if (kg_rate_gates(same) == 0)
        return;
    kg_rate_of_text(same, found, sizeof found);
    kg_rate_pct_text(kg_rate_upper_pct(same), bound, sizeof bound);
    kg_columns_set(line, C_FALSE, "%s (%s)", found, bound);
    kg_rate_pct_text(share_pct(same, same->unsure), line->cells[C_UNSURE], KG_COLUMNS_CELL);
    kg_rate_count_text(same->unconfirmed, line->cells[C_ALARMS], KG_COLUMNS_CELL);
    kg_columns_set(line, C_BLOCKS, "%.1f", (double)same->blocks / (double)kg_rate_gates(same));
}

static struct kg_columns_line line_of(const void *of, size_t row_index)
{
    const struct kg_rate_row *row = (const struct kg_rate_row *)of + row_index;
    struct kg_columns_line line = { { { 0 } } };
    size_t usual = 0;
    kg_columns_set(&line, C_NAME, "%s", row->name);
    kg_columns_set(&line, C_JUDGED, "%s%s", row->judged, row->resampled ? " (resampled)" : "");
    if (row->threshold_pct > 0)
        kg_columns_set(&line, C_THRESHOLD, "%g%%", row->threshold_pct);
    put_same(&row->rates[0], &line);
    for (int i = 1; i < KG_PLANTED; i++)
        if (kg_rate_gates(&row->rates[i]) > usual)
            usual = kg_rate_gates(&row->rates[i]);
    if (usual)
        kg_rate_count_text(usual, line.cells[C_GATES], KG_COLUMNS_CELL);
    for (int i = 1; i < KG_PLANTED; i++)
        put_found(&row->rates[i], usual, C_FOUND + i - 1, &line);
    return line;
}

void kg_rates_put_table(const struct kg_rate_row *rows, size_t n_rows, FILE *out)
{
    const struct kg_columns_line head = heads(rows, n_rows);
    kg_columns_put(
        &(struct kg_columns){
            .head = &head, .left = 1u << C_NAME | 1u << C_JUDGED, .line = line_of, .of = rows, .n_lines = n_rows },
        out);
}

/* ---- as JSON --------------------------------------------------------------------------------------------------- */

static cJSON *rate_to_json(const struct kg_rate *rate, double planted_pct)
{
    cJSON *object = cJSON_CreateObject();
    kg_json_add_real(object, "planted_pct", planted_pct);
    kg_json_add_real(object, "gates", (double)kg_rate_gates(rate));
    for (size_t i = 0; i < N_COUNTS; i++)
        kg_json_add_real(object, counts[i].name, (double)count_of(rate, i));
    kg_json_add_real(object, "slow_pct", kg_rate_slow_pct(rate));
    kg_json_add_real(object, "slow_lower_pct", kg_rate_lower_pct(rate));
    if (!kg_json_add_real(object, "slow_upper_pct", kg_rate_upper_pct(rate))) {
        cJSON_Delete(object);
        return NULL;
    }
    return object;
}

static cJSON *row_to_json(const struct kg_rate_row *row)
{
    cJSON *object = cJSON_CreateObject();
    cJSON_AddStringToObject(object, "name", row->name);
    cJSON_AddStringToObject(object, "judged", row->judged);
    kg_json_add_real(object, "threshold_pct", row->threshold_pct);
    cJSON_AddBoolToObject(object, "independent", !row->resampled);
    cJSON *rates = cJSON_AddArrayToObject(object, "rates");
    bool whole = rates != NULL;
    for (int i = 0; i < KG_PLANTED && whole; i++)
        if (kg_rate_gates(&row->rates[i]))
            whole = cJSON_AddItemToArray(rates, rate_to_json(&row->rates[i], kg_planted_pct[i]));
    if (whole)
        return object;
    cJSON_Delete(object);
    return NULL;
}

cJSON *kg_rates_to_json(const struct kg_rate_row *rows, size_t n_rows)
{
    cJSON *array = cJSON_CreateArray();
    bool whole = array != NULL;
    for (size_t i = 0; i < n_rows && whole; i++)
        whole = cJSON_AddItemToArray(array, row_to_json(&rows[i]));
    if (whole)
        return array;
    cJSON_Delete(array);
    return NULL;
}
