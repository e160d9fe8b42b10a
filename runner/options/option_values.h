/* option_values.h -- what stands behind an option, parsed and range-checked. Each fails with KG_EINVAL, or KG_ENOMEM,
 * and a line that names the option. Texts are pieces of argv: lists are split in place and point into it. */
#ifndef KG_OPTION_VALUES_H
#define KG_OPTION_VALUES_H

#include "plan/plan.h"

/* Appends one item; a text of items between commas, none of them empty. The list is grown by realloc. */
int kg_option_push(const char ***list, size_t *count, const char *item, kg_error *ret_error);
int kg_option_push_split(const char ***list, size_t *count, char *text, const char *option, kg_error *ret_error);

int kg_option_seeds(struct kg_selection *selection, char *text, kg_error *ret_error);       /* 0,1,2; none twice */
int kg_option_sweep(struct kg_selection *selection, char *text, kg_error *ret_error);       /* FIELD=VALUE[,VALUE...] */
int kg_option_shard(struct kg_selection *selection, const char *text, kg_error *ret_error); /* I/N */

int kg_option_u64(const char *text, uint64_t *ret_value); /* digits only */
int kg_option_word(const char *option, const char *text, const char *const *words, int *ret_index, kg_error *ret_error);
int kg_option_count(const char *option, const char *text, int min, int max, int *ret_value, kg_error *ret_error);
int kg_option_real(const char *option, const char *text, double max, double *ret_value, kg_error *ret_error);

#endif
