/* tables.h -- how a process that has loaded a module tells its tables, and answers for its ops, to one that has not.
 *
 * It writes a line, "tables LINKS IMAGE", kg_loaded.links and a kg_module_image in hex digits, or an error's. Then each
 * line that it reads is a question, "TURN QUESTION OP NAME PROBLEM": a number that the answer's line begins with, one
 * of enum kg_question, the op's place in the image, the problem's name and its bytes in hex digits. An error is "error
 * CODE TEXT".
 */
#ifndef KG_TABLES_H
#define KG_TABLES_H

#include "plan/problem.h"

/* The entry point of `kgate worker tables PATH NAME`, of what was found as NAME. Returns the exit status. */
int kg_worker_tables(const char *path, const char *name);

char *kg_hex_of(const void *bytes, size_t size);                 /* free() it; NULL: no memory */
bool kg_hex_read(const char *hex, void *ret_bytes, size_t size); /* false: not so many digits */

/* An answer as a line, without its newline, free() it, and back. Names of tensors stay as long as the process. */
char *kg_answers_format(enum kg_question question, const struct kg_answers *answers);
int kg_answers_parse(enum kg_question question, const char *line, struct kg_answers *ret_answers, kg_error *ret_error);

#endif
