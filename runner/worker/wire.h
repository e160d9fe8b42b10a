/* wire.h -- the pipe between parent and worker: one JSON value a line. The job goes down, messages come up. */
#ifndef KG_WIRE_H
#define KG_WIRE_H

#include <stdio.h>

#include "worker/job.h"
#include "base/json.h"

enum kg_message_type {
    KG_MESSAGE_DEVICES,  /* answer to a probe */
    KG_MESSAGE_BEGIN,    /* a case's phase begins: what is blamed for a crash or a hang from now on */
    KG_MESSAGE_READY,    /* prepared: backend, identity, pin, knobs, launch */
    KG_MESSAGE_STRENGTH, /* of the gates on the case's inputs */
    KG_MESSAGE_COMPARISON,
    KG_MESSAGE_REPEATS,
    KG_MESSAGE_BLOCK,
    KG_MESSAGE_SKIP,
    KG_MESSAGE_BROKEN,
    KG_MESSAGE_BASELINE_BROKEN,
    KG_MESSAGE_LOST, /* this build does not run what the baseline runs */
    KG_MESSAGE_END,  /* of a case */
    KG_MESSAGE_BYE,  /* of the worker, after the last case or where its context is lost */
};

/* ---- worker's side: each writes and flushes one line ---- */
void kg_wire_devices(FILE *out, const kg_device *devices, const struct kg_device_health *healths, int count,
                     const char *why);
void kg_wire_begin(FILE *out, size_t index, enum kg_phase phase);
void kg_wire_ready(FILE *out, size_t index, const struct kg_result *result);
void kg_wire_strength(FILE *out, size_t index, const struct kg_strength *strength);
void kg_wire_comparison(FILE *out, size_t index, const struct kg_comparison *comparison, uint64_t digest);
void kg_wire_repeats(FILE *out, size_t index, const struct kg_repeats *repeats);
void kg_wire_block(FILE *out, size_t index, const struct kg_block *block, double tick_us);
void kg_wire_note(FILE *out, enum kg_message_type type, size_t index, const char *note);
void kg_wire_end(FILE *out, size_t index);
void kg_wire_bye(FILE *out);

/* Messages begin with the job's token from now on. */
void kg_wire_sign(const char *token);

double kg_wire_said_s(void); /* when the last message was written (kg_now_s) */

/* ---- parent's side ---- */

struct kg_message {
    enum kg_message_type type;
    size_t index;
    cJSON *root; /* cJSON_Delete it */
};

/* KG_EINVAL: no message that begins with the token, or of no case here. */
int kg_wire_parse(const char *line, size_t length, const char *token, size_t n_results, struct kg_message *ret_message,
                  kg_error *ret_error);

/* Writes what it says into its case's result. */
void kg_wire_apply(const struct kg_message *message, struct kg_result *result);
int kg_wire_read_devices(const char *line, size_t length, kg_device *ret_devices, struct kg_device_health *ret_healths,
                         int max, int *ret_count, kg_error *ret_error);

/* ---- the job ---- */
int kg_wire_write_job(int file, const struct kg_job *job, kg_error *ret_error);

/* Reads to the end of the stream, and resolves names in `module` once the caller has loaded it: two steps, since the
 * path is in the job. */
struct kg_wire_job {
    cJSON *root;
    struct kg_job job;
    const char **lists[3];
};
int kg_wire_read_job(FILE *in, struct kg_wire_job *ret_job, kg_error *ret_error);
int kg_wire_resolve_job(struct kg_wire_job *job, const struct kg_module *module, kg_error *ret_error);
void kg_wire_job_done(struct kg_wire_job *job);

#endif
