/* series_json.c -- a head of texts, then a column of whole numbers for each member of a block. A new member is a row of
 * `columns`, a line in to_numbers and one in from_numbers. */
#include "selfcheck/series.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"

#define LOG_UNIT 1e-6
#define SAMPLE_UNIT 1e-5 /* of deviations of samples from their block's p50 */
#define PLANTED_UNIT_PCT 0.01
#define BUSY_UNIT_US 1000.0
#define MAX_BLOCKS 100000
#define MAX_NODES 10000
#define MAX_NUMBER 9e15 /* doubles hold whole numbers up to it */
#define MAX_LOG 50.0

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

/* The texts of the head, in the file's order. */
#define HEAD(name, member)                                                                                             \
    {                                                                                                                  \
        name, offsetof(struct kg_series, member), sizeof(((struct kg_series *)0)->member)                              \
    }
static const struct {
    const char *name;
    size_t offset, size;
} texts[] = {
    HEAD("key", key),         HEAD("class", kernel_class),   HEAD("device", device),  HEAD("uuid", uuid),
    HEAD("driver", driver),   HEAD("start", start),          HEAD("date", date),      HEAD("git_sha", git_sha),
    HEAD("library", library), HEAD("timer", contract.timer), HEAD("l2", contract.l2), HEAD("data", contract.data),
};
#define N_TEXTS (sizeof texts / sizeof *texts)

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
    for (size_t i = 0; i < N_TEXTS; i++)
        cJSON_AddStringToObject(root, texts[i].name, (const char *)series + texts[i].offset);
    cJSON_AddStringToObject(root, "kind", series->kind == KG_CUDA ? "cuda" : "cpu");
    if (series->nodes)
        cJSON_AddNumberToObject(root, "nodes", series->nodes);
    cJSON_AddNumberToObject(root, "window_us", series->contract.window_us);
    cJSON_AddNumberToObject(root, "tick_us", series->tick_us);
    cJSON_AddNumberToObject(root, "blocks", series->n_blocks);
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

static bool is_known(const char *name)
{
    static const char *const others[] = { "schema", "kind", "nodes", "window_us", "tick_us", "blocks" };
    for (size_t i = 0; i < N_TEXTS; i++)
        if (!strcmp(name, texts[i].name))
            return true;
    for (int c = 0; c < N_COLUMNS; c++)
        if (!strcmp(name, columns[c].name))
            return true;
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (!strcmp(name, others[i]))
            return true;
    return false;
}

static int read_head(const cJSON *root, struct kg_series *series, int *ret_blocks, kg_error *ret_error)
{
    double schema = 0, nodes = 0, blocks = 0;
    char kind[8];
    const cJSON *item;
    cJSON_ArrayForEach(item, root) if (!is_known(item->string)) return kg_fail(ret_error, KG_EINVAL,
                                                                               "unknown member '%.60s'", item->string);
    int status = kg_json_number(root, "schema", &schema, ret_error);
    if (!status && schema != KG_SERIES_SCHEMA)
        status = kg_fail(ret_error, KG_EINVAL, "schema %g, this kgate reads %d", schema, KG_SERIES_SCHEMA);
    for (size_t i = 0; i < N_TEXTS && !status; i++)
        status = kg_json_string(root, texts[i].name, (char *)series + texts[i].offset, texts[i].size, ret_error);
    if (!status && (!*series->key || !*series->uuid || !*series->start))
        status = kg_fail(ret_error, KG_EINVAL, "key, uuid or start is empty");
    if (!status)
        status = kg_json_string(root, "kind", kind, sizeof kind, ret_error);
    if (!status && strcmp(kind, "cuda") && strcmp(kind, "cpu"))
        status = kg_fail(ret_error, KG_EINVAL, "kind '%s': cuda or cpu wanted", kind);
    if (!status && cJSON_HasObjectItem(root, "nodes"))
        status = kg_json_number(root, "nodes", &nodes, ret_error);
    if (!status && !(nodes >= 0 && nodes <= MAX_NODES && nodes == floor(nodes)))
        status = kg_fail(ret_error, KG_EINVAL, "nodes: %g", nodes);
    if (!status)
        status = kg_json_number(root, "window_us", &series->contract.window_us, ret_error);
    if (!status)
        status = kg_json_number(root, "tick_us", &series->tick_us, ret_error);
    if (!status)
        status = kg_json_number(root, "blocks", &blocks, ret_error);
    if (!status && !(blocks >= 1 && blocks <= MAX_BLOCKS && blocks == floor(blocks)))
        status = kg_fail(ret_error, KG_EINVAL, "blocks: %g", blocks);
    if (status)
        return status;
    series->kind = strcmp(kind, "cuda") ? KG_CPU : KG_CUDA;
    series->nodes = (int)nodes;
    *ret_blocks = (int)blocks;
    return KG_OK;
}

static bool is_whole(const cJSON *item)
{
    return cJSON_IsNumber(item) && fabs(item->valuedouble) <= MAX_NUMBER &&
           item->valuedouble == rint(item->valuedouble);
}

static int read_column(const cJSON *root, int column, int n_blocks, struct numbers *numbers, kg_error *ret_error)
{
    const int per_block = columns[column].per_block, wanted = n_blocks * per_block;
    const cJSON *found = cJSON_GetObjectItemCaseSensitive(root, columns[column].name), *item;
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

static int read_blocks(const cJSON *root, int n_blocks, struct kg_series *series, kg_error *ret_error)
{
    struct numbers *numbers = calloc((size_t)n_blocks, sizeof *numbers);
    const bool anchored = cJSON_HasObjectItem(root, columns[RATIO].name);
    int status = numbers ? KG_OK : kg_fail(ret_error, KG_ENOMEM, "out of memory for recorded blocks");
    for (int c = 0; c < N_COLUMNS && !status; c++)
        if (anchored || !columns[c].anchor)
            status = read_column(root, c, n_blocks, numbers, ret_error);
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

int kg_series_parse(const char *line, size_t length, struct kg_series *ret_series, kg_error *ret_error)
{
    struct kg_series series = { .n_blocks = 0 };
    cJSON *root = NULL;
    int n_blocks = 0, status = kg_json_parse(line, length, &root, ret_error);
    if (status)
        return status;
    status = cJSON_IsObject(root) ? read_head(root, &series, &n_blocks, ret_error)
                                  : kg_fail(ret_error, KG_EINVAL, "not an object");
    if (!status)
        status = read_blocks(root, n_blocks, &series, ret_error);
    cJSON_Delete(root);
    if (status)
        free(series.blocks);
    else
        *ret_series = series;
    return status;
}
