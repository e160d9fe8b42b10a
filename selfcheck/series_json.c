/* series_json.c -- a head of texts, then a column of whole numbers for each member of a block. A new member is a row of
 * `columns`, a line in to_numbers and one in from_numbers. */
#include "selfcheck/series.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/record.h"

#define LOG_UNIT 1e-6
#define SAMPLE_UNIT 1e-5 /* of deviations of samples from their block's p50 */
#define PLANTED_UNIT_PCT 0.01
#define BUSY_UNIT_US 1000.0
#define MAX_NUMBER 9e15 /* doubles hold whole numbers up to it */
#define MAX_LOG 50.0

/* ---- the head, in the file's order ----------------------------------------------------------------------------- */

#define HEAD(field) KG_AT(struct kg_series, field)
static const char *const kinds[] = { [KG_CPU] = "cpu", [KG_CUDA] = "cuda" };
static const struct kg_member head_members[] = {
    { "key", KG_IS_NAME, HEAD(key) },
    { "class", KG_IS_TEXT, HEAD(kernel_class) },
    { "device", KG_IS_TEXT, HEAD(device) },
    { "uuid", KG_IS_NAME, HEAD(uuid) },
    { "driver", KG_IS_TEXT, HEAD(driver) },
    { "start", KG_IS_NAME, HEAD(start) },
    { "date", KG_IS_TEXT, HEAD(date) },
    { "git_sha", KG_IS_TEXT, HEAD(git_sha) },
    { "library", KG_IS_TEXT, HEAD(library) },
    { "timer", KG_IS_TEXT, HEAD(contract.timer) },
    { "l2", KG_IS_TEXT, HEAD(contract.l2) },
    { "data", KG_IS_TEXT, HEAD(contract.data) },
    { "kind", KG_IS_WORD, HEAD(kind), KG_WORDS(kinds) },
    { "nodes", KG_IS_COUNT, HEAD(nodes), .most = 10000, .optional = true },
    { "window_us", KG_IS_EXACT, HEAD(contract.window_us) },
    { "tick_us", KG_IS_EXACT, HEAD(tick_us) },
    { "blocks", KG_IS_COUNT, HEAD(n_blocks), .least = 1, .most = 100000 },
};
static const struct kg_record head = KG_RECORD(head_members);

/* ---- columns --------------------------------------------------------------------------------------------------- */

enum {
    P50,
    RATIO,
    AGAINST,
    BASELINE,
    ANCHOR,
    PERCENT,
    PLANTED,
    PLANTED_P50,
    BUSY,
    CALLS,
    CLOCK,
    THROTTLE,
    SAMPLES,
    N_COLUMNS
};

/* Relative: the first number is whole, the others are differences from it. A column of equal numbers is written as one
 * number. What others nearly tell is written as what they leave: BASELINE and PLANTED_P50 are what the logarithms of
 * the two ratios leave of the differences of p50s, PLANTED what the planted size leaves of its own. */
static const struct {
    const char *name;
    int per_block;
    bool relative, anchor;
} columns[N_COLUMNS] = {
    [P50] = { "p50", 1, true, false },
    [RATIO] = { "ratio", 1, true, true },
    [AGAINST] = { "against", 1, false, false },
    [BASELINE] = { "baseline", 1, false, false },
    [ANCHOR] = { "anchor", 1, true, true },
    [PERCENT] = { "planted_pct", 1, false, false },
    [PLANTED] = { "planted", 1, false, false },
    [PLANTED_P50] = { "planted_p50", 1, false, false },
    [BUSY] = { "busy_ms", 1, false, false },
    [CALLS] = { "calls", 1, false, false },
    [CLOCK] = { "clock_mhz", 1, true, false },
    [THROTTLE] = { "throttle", 1, false, false },
    [SAMPLES] = { "samples", KG_SERIES_SAMPLES, false, false },
};

struct numbers {
    long long of[N_COLUMNS][KG_SERIES_SAMPLES];
};

static bool has_anchor(const struct kg_series *series)
{
    for (int i = 0; i < series->n_blocks; i++)
        if (!isfinite(series->blocks[i].log_ratio) || !isfinite(series->blocks[i].log_anchor))
            return false;
    return true;
}

static bool is_usable(const struct kg_recorded_block *block)
{
    bool usable = isfinite(block->log_p50) && isfinite(block->log_against) && isfinite(block->log_baseline) &&
                  isfinite(block->busy_us);
    if (block->planted_pct > 0)
        usable = usable && isfinite(block->log_planted) && isfinite(block->log_planted_p50);
    for (int i = 0; i < KG_SERIES_SAMPLES; i++)
        usable = usable && isfinite(block->samples[i]);
    return usable;
}

static long long log_of_percent(long long hundredths)
{
    return llround(log1p((double)hundredths * PLANTED_UNIT_PCT / 100) / LOG_UNIT);
}

static struct numbers to_numbers(const struct kg_recorded_block *block, bool anchored)
{
    const long long baseline = llround(block->log_baseline / LOG_UNIT);
    struct numbers n = { 0 };
    n.of[P50][0] = llround(block->log_p50 / LOG_UNIT);
    n.of[AGAINST][0] = llround(block->log_against / LOG_UNIT);
    n.of[BASELINE][0] = n.of[P50][0] - n.of[AGAINST][0] - baseline;
    n.of[RATIO][0] = anchored ? llround(block->log_ratio / LOG_UNIT) : 0;
    n.of[ANCHOR][0] = anchored ? llround(block->log_anchor / LOG_UNIT) : 0;
    n.of[PERCENT][0] = llround(block->planted_pct / PLANTED_UNIT_PCT);
    if (n.of[PERCENT][0]) {
        const long long planted = llround(block->log_planted / LOG_UNIT);
        n.of[PLANTED][0] = planted - log_of_percent(n.of[PERCENT][0]);
        n.of[PLANTED_P50][0] = llround(block->log_planted_p50 / LOG_UNIT) - planted - baseline;
    }
    n.of[BUSY][0] = llround(block->busy_us / BUSY_UNIT_US);
    n.of[CALLS][0] = block->calls;
    n.of[CLOCK][0] = block->clock_mhz;
    n.of[THROTTLE][0] = block->throttle;
    for (int i = 0; i < KG_SERIES_SAMPLES; i++)
        n.of[SAMPLES][i] = llround((block->samples[i] - block->log_p50) / SAMPLE_UNIT);
    return n;
}

static struct kg_recorded_block from_numbers(const struct numbers *n, bool anchored)
{
    const long long baseline = n->of[P50][0] - n->of[AGAINST][0] - n->of[BASELINE][0];
    const long long planted = n->of[PLANTED][0] + log_of_percent(n->of[PERCENT][0]);
    struct kg_recorded_block block = {
        .log_p50 = (double)n->of[P50][0] * LOG_UNIT,
        .log_ratio = anchored ? (double)n->of[RATIO][0] * LOG_UNIT : NAN,
        .log_against = (double)n->of[AGAINST][0] * LOG_UNIT,
        .log_baseline = (double)baseline * LOG_UNIT,
        .log_anchor = anchored ? (double)n->of[ANCHOR][0] * LOG_UNIT : NAN,
        .planted_pct = (double)n->of[PERCENT][0] * PLANTED_UNIT_PCT,
        .log_planted = n->of[PERCENT][0] ? (double)planted * LOG_UNIT : NAN,
        .log_planted_p50 = n->of[PERCENT][0] ? (double)(n->of[PLANTED_P50][0] + planted + baseline) * LOG_UNIT : NAN,
        .busy_us = (double)n->of[BUSY][0] * BUSY_UNIT_US,
        .calls = (int)n->of[CALLS][0],
        .clock_mhz = (int)n->of[CLOCK][0],
        .throttle = n->of[THROTTLE][0],
    };
    for (int i = 0; i < KG_SERIES_SAMPLES; i++)
        block.samples[i] = block.log_p50 + (double)n->of[SAMPLES][i] * SAMPLE_UNIT;
    return block;
}

/* ---- writing --------------------------------------------------------------------------------------------------- */

static cJSON *column_to_json(const struct numbers *numbers, int n_blocks, int column)
{
    const int per_block = columns[column].per_block;
    const long long first = numbers[0].of[column][0];
    bool equal = true;
    for (int i = 0; i < n_blocks * per_block; i++)
        equal = equal && numbers[i / per_block].of[column][i % per_block] == first;
    if (equal)
        return cJSON_CreateNumber((double)first);
    cJSON *array = cJSON_CreateArray();
    for (int i = 0; i < n_blocks * per_block; i++) {
        long long value = numbers[i / per_block].of[column][i % per_block];
        cJSON_AddItemToArray(array,
                             cJSON_CreateNumber((double)(columns[column].relative && i ? value - first : value)));
    }
    return array;
}

static char *print(const struct kg_series *series, const struct numbers *numbers, bool anchored)
{
    cJSON *root = cJSON_CreateObject();
    cJSON_AddNumberToObject(root, "schema", KG_SERIES_SCHEMA);
    (void)kg_record_add(root, &head, series);
    for (int c = 0; c < N_COLUMNS; c++)
        if (anchored || !columns[c].anchor)
            cJSON_AddItemToObject(root, columns[c].name, column_to_json(numbers, series->n_blocks, c));
    char *text = cJSON_PrintUnformatted(root);
    cJSON_Delete(root);
    size_t length = text ? strlen(text) : 0;
    char *line = text ? malloc(length + 2) : NULL;
    if (line)
        (void)snprintf(line, length + 2, "%s\n", text);
    cJSON_free(text);
    return line;
}

char *kg_series_format(const struct kg_series *series)
{
    const bool anchored = has_anchor(series);
    struct numbers *numbers = malloc(((size_t)series->n_blocks + 1) * sizeof *numbers);
    bool usable = numbers && series->n_blocks > 0;
    for (int i = 0; i < series->n_blocks && usable; i++) {
        usable = is_usable(&series->blocks[i]);
        if (usable)
            numbers[i] = to_numbers(&series->blocks[i], anchored);
    }
    char *line = usable ? print(series, numbers, anchored) : NULL;
    free(numbers);
    return line;
}

/* ---- reading --------------------------------------------------------------------------------------------------- */

static bool is_whole(const cJSON *item)
{
    return cJSON_IsNumber(item) && fabs(item->valuedouble) <= MAX_NUMBER &&
           item->valuedouble == rint(item->valuedouble);
}

static int read_column(const cJSON *found, int column, int n_blocks, struct numbers *numbers, kg_error *ret_error)
{
    const int per_block = columns[column].per_block, wanted = n_blocks * per_block;
    const cJSON *item;
    int count = 0;
    if (is_whole(found)) {
        for (; count < wanted; count++)
            numbers[count / per_block].of[column][count % per_block] = (long long)found->valuedouble;
        return KG_OK;
    }
    if (!cJSON_IsArray(found))
        return kg_fail(ret_error, KG_EINVAL, "member '%s' is missing, or no array of numbers", columns[column].name);
    cJSON_ArrayForEach(item, found)
    {
        if (count >= wanted || !is_whole(item))
            return kg_fail(ret_error, KG_EINVAL, "member '%s': not %d whole numbers", columns[column].name, wanted);
        long long value = (long long)item->valuedouble;
        if (columns[column].relative && count)
            value += numbers[0].of[column][0];
        numbers[count / per_block].of[column][count % per_block] = value;
        count++;
    }
    if (count != wanted)
        return kg_fail(ret_error, KG_EINVAL, "member '%s': not %d whole numbers", columns[column].name, wanted);
    return KG_OK;
}

static bool is_log(double value)
{
    return fabs(value) <= MAX_LOG;
}

/* Before a logarithm is taken of them, or they are narrowed. */
static int check_numbers(const struct numbers *n, int number, kg_error *ret_error)
{
    static const struct {
        int column;
        long long least;
        double most;
    } ranges[] = { { PERCENT, 0, 100 / PLANTED_UNIT_PCT },
                   { CALLS, 1, INT_MAX },
                   { BUSY, 0, MAX_NUMBER },
                   { CLOCK, -1, INT_MAX },
                   { THROTTLE, -1, MAX_NUMBER } };
    for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++) {
        const long long value = n->of[ranges[i].column][0];
        if (value < ranges[i].least || (double)value > ranges[i].most)
            return kg_fail(ret_error, KG_EINVAL, "block %d: %s %lld is out of range", number,
                           columns[ranges[i].column].name, value);
    }
    return KG_OK;
}

static int check_block(const struct kg_recorded_block *block, bool anchored, int number, kg_error *ret_error)
{
    if (!is_log(block->log_p50) || !is_log(block->log_against) || !is_log(block->log_baseline) ||
        (anchored && (!is_log(block->log_ratio) || !is_log(block->log_anchor))))
        return kg_fail(ret_error, KG_EINVAL, "block %d: a logarithm of a time is over %g", number, MAX_LOG);
    if (block->planted_pct > 0 && (!is_log(block->log_planted) || !is_log(block->log_planted_p50)))
        return kg_fail(ret_error, KG_EINVAL, "block %d: a logarithm of a planted time is over %g", number, MAX_LOG);
    for (int i = 0; i < KG_SERIES_SAMPLES; i++)
        if (!is_log(block->samples[i]))
            return kg_fail(ret_error, KG_EINVAL, "block %d: a sample out of range", number);
    return KG_OK;
}

static int read_blocks(cJSON *const found[N_COLUMNS], int n_blocks, struct kg_series *series, kg_error *ret_error)
{
    struct numbers *numbers = calloc((size_t)n_blocks, sizeof *numbers);
    const bool anchored = found[RATIO];
    int status = numbers ? KG_OK : kg_fail(ret_error, KG_ENOMEM, "out of memory for recorded blocks");
    for (int c = 0; c < N_COLUMNS && !status; c++)
        if (anchored || !columns[c].anchor)
            status = read_column(found[c], c, n_blocks, numbers, ret_error);
    for (int i = 0; i < n_blocks && !status; i++) {
        status = check_numbers(&numbers[i], i + 1, ret_error);
        if (status)
            break;
        const struct kg_recorded_block block = from_numbers(&numbers[i], anchored);
        status = check_block(&block, anchored, i + 1, ret_error);
        if (!status)
            status = kg_series_add_block(series, &block, ret_error);
    }
    free(numbers);
    return status;
}

/* The columns and the schema are taken out of the tree, so that what is left is the head. */
static int read_series(cJSON *root, struct kg_series *series, kg_error *ret_error)
{
    cJSON *found[N_COLUMNS];
    int schema = 0, status = kg_record_schema(root, KG_SERIES_SCHEMA, KG_SERIES_SCHEMA, &schema, ret_error);
    cJSON_DeleteItemFromObjectCaseSensitive(root, "schema");
    for (int c = 0; c < N_COLUMNS; c++)
        found[c] = cJSON_DetachItemFromObjectCaseSensitive(root, columns[c].name);
    if (!status)
        status = kg_record_read(&head, root, schema, series, ret_error);
    const int n_blocks = series->n_blocks;
    series->n_blocks = 0;
    if (!status)
        status = read_blocks(found, n_blocks, series, ret_error);
    for (int c = 0; c < N_COLUMNS; c++)
        cJSON_Delete(found[c]);
    return status;
}

int kg_series_parse(const char *line, size_t length, struct kg_series *ret_series, kg_error *ret_error)
{
    struct kg_series series = { .n_blocks = 0 };
    cJSON *root = NULL;
    int status = kg_json_parse(line, length, &root, ret_error);
    if (status)
        return status;
    status = read_series(root, &series, ret_error);
    cJSON_Delete(root);
    if (status)
        free(series.blocks);
    else
        *ret_series = series;
    return status;
}
