/* json_parts.h -- pieces that the JSON reports share: build_meta.c and json.c. */
#ifndef KG_JSON_PARTS_H
#define KG_JSON_PARTS_H

#include "base/json.h"
#include "judge/noise.h"
#include "reports/report.h"

cJSON *kg_json_add_text(cJSON *object, const char *name, const char *text); /* made valid UTF-8; NULL is "" */
cJSON *kg_json_add_count(cJSON *object, const char *name, uint64_t value);  /* all digits, past 2^53 too */
void kg_json_add_state(cJSON *object, const char *name, const struct kg_device_state *state);
void kg_json_add_noise(cJSON *object, kg_noise_set held); /* its names */

/* Appends an object with what names a case and its verdict. Its problem's fields come last: kg_json_add_problem is
 * called when the record is otherwise whole, and a field named like one of ours gets the prefix problem_. */
cJSON *kg_json_add_record(cJSON *array, const struct kg_result *result);
void kg_json_add_problem(cJSON *record, const struct kg_result *result);

/* How idle the device was, over the run and round by round. */
void kg_json_add_use(cJSON *root, const struct kg_run *run);

/* What build_meta.json holds. */
void kg_json_fill_build_meta(const struct kg_run *run, cJSON *root);

typedef void kg_json_fill_fn(const struct kg_run *run, cJSON *root);
int kg_json_put_document(const struct kg_run *run, kg_json_fill_fn *fill, FILE *out, kg_error *ret_error);

#endif
