/* result.h -- what was found of one case: a plain value that reports see by const pointer. */
#ifndef KG_RESULT_H
#define KG_RESULT_H

#include "device/device.h"
#include "device/comparison.h"
#include "kgate.h"
#include "base/stats.h"
#include "judge/strength.h"
#include "plan/plan.h"
#include "plan/problem.h"

struct cJSON;

#define KG_MAX_BLOCKS 32

enum kg_verdict {
    KG_PASS,
    KG_FAST,
    KG_XFAIL,
    KG_SKIP,
    KG_FAIL,
    KG_ERROR,
    KG_XPASS,
    KG_SLOW,
    KG_UNSURE,
    KG_UNGATED,
    KG_LOST,
    KG_WEAK,
    KG_VERDICTS
};

const char *kg_verdict_name(enum kg_verdict verdict); /* "PASS", … */

enum kg_phase {
    KG_NOT_RUN,
    KG_PREPARE,
    KG_BASELINE_PREPARE, /* --against */
    KG_BASELINE_LAUNCH,
    KG_CORRECTNESS,
    KG_REFERENCE, /* --against: the baseline's */
    KG_REPEATING,
    KG_TIMING,
    KG_BASELINE_RELEASE,
    KG_RELEASE,
    KG_CLOSE, /* the worker closes what its cases opened: its last case answers for it */
    KG_DONE
};

const char *kg_phase_name(enum kg_phase phase); /* "prepare", "the baseline's launch", … */

/* What became of a case before judging. */
enum kg_outcome {
    KG_RAN,      /* correctness was compared, and it may have been timed */
    KG_SKIPPED,  /* cannot run here: note */
    KG_BROKEN,   /* crash, hang, device error, guard band or input overwritten: note */
    KG_DEFERRED, /* right; time is measured on the shape's first seed */
    KG_ABSENT,   /* golden without a case (LOST): note */
};

/* What --bless made of a case, besides its verdict. */
enum kg_bless { KG_BLESS_NONE, KG_BLESSED, KG_NOT_BLESSED, KG_PRUNED, KG_BLESS_OUTCOMES };

/* One case in one worker. Times are per call. A run has the anchor beside the case; --against has the baseline, the
 * same backend of another build; selfcheck has both. */
struct kg_block {
    int round;
    int calls;              /* launches in a window */
    double p50_us;          /* median of the windows of each buffer set, averaged over the sets */
    double anchor_p50_us;   /* the same of the anchor; 0: no anchor */
    double log_ratio;       /* the same of log(case / anchor) over neighbouring windows; 0: no anchor */
    double baseline_p50_us; /* the same of the baseline; 0: none */
    double log_against;     /* the same of log(case / baseline); 0: none */
    double planted_pct;     /* selfcheck: the case once more, its windows longer by this; 0: no such arm */
    double planted_p50_us;
    double log_planted;    /* the same of log(planted case / baseline) */
    double span_us;        /* host's clock from the first window, of the warm-up, to the end of the last */
    double busy_us;        /* of it, the device in windows */
    uint64_t other_digest; /* of the outputs on other inputs, which were right; 0: not asked */
    size_t n_samples, n_anchor_samples, n_baseline_samples;
    double *samples_us, *anchor_samples_us, *baseline_samples_us; /* owned by the result */
    struct kg_device_state before, after;                         /* while the first and the last windows run */
};

enum kg_quantity { KG_QUANTITY_RAW, KG_QUANTITY_RATIO, KG_QUANTITY_AGAINST, KG_QUANTITIES };

/* How the time was judged. */
struct kg_judgement {
    bool judged;
    enum kg_quantity quantity;
    /* What p50_us was compared with, or could not be (RATIO: the golden's p50, for display; AGAINST: the baseline's).
     * 0: there is none. */
    double golden_us;
    double change_pct; /* + is slower */
    double margin_pct; /* half-width of the confidence interval of change_pct */
    double threshold_pct;
    double floor_pct; /* noise of this case that a SLOW must clear */
    bool same_code;   /* identity equals the golden's, or the baseline's */
    bool wants_extra; /* more blocks are wanted, past those of --rounds */
    bool creep;       /* SLOW, or undecided, over the best and not over the golden */
    bool unchanged;   /* and launch and knobs the golden's: kg_changed_nothing */
    int alarm_blocks; /* blocks after which a first set of rounds said SLOW; 0: none did */
    double alarm_pct; /* its estimate. A verdict other than SLOW then says that a second set did not confirm it */
};

/* --repeat: what further launches gave. */
struct kg_repeats {
    int launches;    /* 0: none was asked for */
    int other_bits;  /* of them; right all the same, but for the wrong one */
    char wrong[400]; /* which launch was wrong, the last then, and how; "": none was */
};

struct kg_result {
    struct kg_case of;
    char id[KG_ID_SIZE];
    char backend[64]; /* what ran: for `auto`, the backend it resolved to; else the case's own */
    enum kg_outcome outcome;
    enum kg_phase phase; /* the last one begun */
    char note[600];      /* reason of a skip or an error; for KG_DEFERRED where its time is */

    bool compared;
    struct kg_comparison comparison;
    struct kg_gate_marks marks;
    struct kg_repeats repeats;
    uint64_t output_digest;
    struct kg_strength strength; /* of the gates on these inputs, whoever wrote the output */

    struct kg_block blocks[KG_MAX_BLOCKS];
    int n_blocks;
    struct kg_stats time_us; /* over all samples of all blocks; p50 is the median of the blocks' p50s */
    double tick_us;          /* of the timer */
    struct kg_work work;
    double tflop_per_s, gb_per_s, queries_per_s, roofline_pct; /* at p50; 0 where not timed */
    bool impossible;                                           /* p50 under what the machine could physically do */

    char identity[1024]; /* library text, kernels and code hashes */
    char pin[480];
    char anchor_identity[1024];
    char anchor_pin[480];
    char baseline_identity[1024]; /* --against: of the baseline's backend */
    char baseline_pin[480];
    bool is_new;          /* --against: the baseline has no such case (or why: note), so only correctness is gated */
    bool baseline_broken; /* --against: what failed is the baseline, not the candidate */
    char knobs[256];      /* name=value,… as they took effect */
    double prepare_ms;    /* of its backend, as the process says that was last to prepare it */
    struct kg_launch_info launch;
    int n_compiled;
    kg_compiled compiled[KG_MAX_COMPILED]; /* at run time, by its backend; as the process says that saw each first */

    enum kg_verdict verdict;
    char reason[600]; /* one line: why the verdict */
    enum kg_bless bless;
    char bless_note[300]; /* why it was not blessed; "" : it was, or nobody asked */
    bool stopped;         /* the run ended before the case was decided: UNSURE */
    struct kg_judgement judgement;
};

/* Its time is to be measured, should it be right. */
static inline bool kg_result_is_timed(const struct kg_result *result)
{
    return result->of.policy.timed && !result->is_new;
}

/* Does its op give an error scale on its kind of device? */
bool kg_case_has_scale(const struct kg_case *of);

/* The gates in force for it; `largest`: of |expected|. */
kg_gates kg_case_gates(const struct kg_case *of, double largest);

/* Of the backend that ran: what `auto` became; the case's own where that is not known. */
const char *kg_result_backend(const struct kg_result *result);

void kg_result_done(struct kg_result *result); /* frees the samples */

const kg_compiled *kg_compiled_find(const kg_compiled *items, int count, const char *name); /* NULL: none */
int kg_result_spill_bytes(const struct kg_result *result); /* of all that was compiled at run time, stores and loads */
extern const struct kg_record kg_compiled_record;
void kg_compiled_add_json(struct cJSON *object, const struct kg_result *result); /* a list; nothing where it is empty */

/* The time of a case over its blocks, throughput and the roofline test. */
void kg_result_summarise(struct kg_result *result, const kg_device *device);

#endif
