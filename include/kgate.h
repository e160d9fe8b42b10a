/* kgate.h -- the one public header: what authors of suites, ops and backends include.
 *
 * A module is a shared object that exports one symbol, `kg_module`. It names suites (tables of cases), and through
 * them ops (what is computed) and backends (how). Start with docs/writing-a-suite.md; the smallest whole module is
 * examples/saxpy.c. The host hands its services over by pointer, so a module resolves no symbol of the runner.
 *
 * Rules that hold throughout: functions return 0 or a negative `enum kg_status`; outputs come last, are named ret_*
 * and stay untouched on failure; a failure is described once, in one line, in the kg_error that came along.
 */
#ifndef KGATE_H
#define KGATE_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Raised at every change of a struct or function pointer below. A module of ABI 5 or later stays loadable when this
 * header has grown, since from then on
 *   - structs grow at their end only: the root states the module's sizes, and what is missing there reads as 0;
 *   - a struct with `reserved` stays as large as it is: a new member takes its place from there;
 *   - pairs of a pointer and a count, kg_table, kg_contest, KG_MAX_RANK and KG_TENSOR_KINDS stay as they are, and an
 *     enum gets a new value at its end.
 * An older or a newer module is refused. */
#define KG_ABI 8u

#define KG_MAX_RANK 5
#define KG_MAX_TENSORS 8

/* ---- errors ------------------------------------------------------------------------------------------------ */

enum kg_status {
    KG_OK = 0,
    KG_EINVAL = -1,       /* the caller's values: an option, a table row, a file's content */
    KG_EUNSUPPORTED = -2, /* cannot be done here; from a backend, before its output is checked: SKIP or LOST */
    KG_ENOMEM = -3,
    KG_EDEVICE = -4, /* the device or its library failed; the worker's context may be lost */
    KG_EIO = -5,
    KG_ENOTFOUND = -6,
};

typedef struct kg_error {
    int code;
    char text[500]; /* one line, no full stop, no prefix */
} kg_error;

#if defined(__GNUC__)
#define KG_PRINTF(text, first) __attribute__((format(printf, text, first)))
#define KG_EXPORT __attribute__((visibility("default")))
#else
#define KG_PRINTF(text, first)
#define KG_EXPORT
#endif

/* Writes the text and returns `code`, so that a failure is one line: return kg_fail(error, KG_EIO, "…", …). */
KG_PRINTF(3, 4)
static inline int kg_fail(kg_error *ret_error, int code, const char *format, ...)
{
    if (ret_error) {
        va_list arguments;
        va_start(arguments, format);
        ret_error->code = code;
        (void)vsnprintf(ret_error->text, sizeof ret_error->text, format, arguments);
        va_end(arguments);
    }
    return code;
}

/* ---- tensors ----------------------------------------------------------------------------------------------- */

/* An input of a call is never KG_E4M3: backends code what they read in 8 bits by themselves (kg_backend.stage). KG_I32
 * is for given inputs alone. */
enum kg_dtype { KG_F32 = 1, KG_F16, KG_BF16, KG_E4M3, KG_I32 };

/* The names that ids, JSON and --set use; entry 0 is 'not given'. */
#define KG_DTYPE_NAMES ((const char *const[]){ "", "f32", "f16", "bf16", "e4m3", NULL })

static inline size_t kg_dtype_bytes(enum kg_dtype dtype)
{
    return dtype == KG_F32 || dtype == KG_I32 ? 4 : dtype == KG_E4M3 ? 1 : 2;
}

enum kg_role { KG_INPUT, KG_OUTPUT, KG_WORKSPACE };

/* A packed tensor, row-major: the last dimension is contiguous. In a description `data` is NULL; in a call it points
 * to host memory on KG_CPU and to device memory on KG_CUDA, 256-byte aligned. */
typedef struct kg_tensor {
    const char *name;
    enum kg_dtype dtype;
    enum kg_role role;
    int rank;
    int64_t dims[KG_MAX_RANK];
    double std;  /* inputs: standard deviation of the approximately normal values drawn; 0 means 1 */
    double unit; /* outputs: what an element of 1 stands for, by which it is multiplied to be compared; 0 means 1 */
    void *data;
    uint64_t given;       /* inputs: 1: not drawn, but written by the op's `give` */
    uint64_t reserved[3]; /* 0 */
} kg_tensor;

static inline int64_t kg_tensor_count(const kg_tensor *tensor)
{
    int64_t count = 1;
    for (int i = 0; i < tensor->rank; i++)
        count *= tensor->dims[i];
    return count;
}

static inline size_t kg_tensor_bytes(const kg_tensor *tensor)
{
    return (size_t)kg_tensor_count(tensor) * kg_dtype_bytes(tensor->dtype);
}

static inline float kg_tensor_unit(const kg_tensor *tensor)
{
    return tensor->unit != 0 ? (float)tensor->unit : 1;
}

/* ---- field tables ------------------------------------------------------------------------------------------ */

enum kg_field_type {
    KG_INT,    /* int64_t */
    KG_REAL,   /* double */
    KG_BOOL,   /* bool */
    KG_CHOICE, /* int (or an enum of that size): the index into `choices` */
};

/* One member of a problem struct or of a backend's knobs. Ids, JSON, --set, --knob, range checks and `kgate list` all
 * come from this table. A row that leaves a member zero takes `fallback`; the range holds after that. */
typedef struct kg_field {
    const char *name;
    size_t offset;
    enum kg_field_type type;
    double min, max;            /* inclusive; not read for KG_BOOL and KG_CHOICE */
    double fallback;            /* what zero stands for; KG_CHOICE: an index */
    const char *const *choices; /* KG_CHOICE: NULL-terminated; "a|b": b is another word for a; "" cannot be chosen */
    const char *help;           /* unit and meaning, one line */
} kg_field;

typedef struct kg_fields {
    const kg_field *items;
    size_t count;
} kg_fields;

/* ---- regimes: what inputs are like ----------------------------------------------------------------------------- */

/* A distribution of inputs besides the normal one, checked for correctness, never timed. The host has some for any op
 * (docs/regimes.md); those of an op come before them where names are equal. All functions run on the host; where the
 * call is one of a GPU, what they wrote is copied there, so both kinds of device see the same bits. Tensors are the
 * op's description. */
typedef struct kg_regime {
    const char *name; /* letters, digits, _ and . */
    const char *help;
    const void *data; /* lets regimes share functions, which get it */

    /* Changes inputs, which are KG_F32 in host memory and hold the normal values; `data` of outputs and of given inputs
     * is NULL. What is left there is rounded to the tensors' dtypes, beyond their largest finite value to that.
     * KG_EUNSUPPORTED: not for this problem, SKIP. NULL: they stay normal. */
    int (*change)(const void *data, const void *problem, uint64_t seed, const kg_tensor *tensors, kg_error *ret_error);

    /* Writes into the outputs, KG_F32 and NaN, each element whose right value is known without the reference, which is
     * held to it. Inputs are KG_F32, as rounded. NULL: none is known. */
    int (*answer)(const void *data, const void *problem, uint64_t seed, const kg_tensor *tensors, kg_error *ret_error);

    /* Writes 1 into the outputs, KG_F32 and 0, at each element that must have the bits that it has on normal inputs:
     * `change` touched nothing that counts for it. NULL: none must. */
    int (*same)(const void *data, const void *problem, uint64_t seed, const kg_tensor *tensors, kg_error *ret_error);

    void *reserved[2]; /* NULL */
} kg_regime;

typedef struct kg_regimes {
    const kg_regime *items;
    size_t count;
} kg_regimes;

/* ---- texts that a module brings along ------------------------------------------------------------------------- */

/* A source for a compiler at run time. tools/embed, installed as kgate-embed, makes lists of files. */
typedef struct kg_source {
    const char *name; /* as #include says it */
    const char *text;
} kg_source;

/* ---- devices and services of the host ---------------------------------------------------------------------- */

enum kg_device_kind { KG_CPU = 1, KG_CUDA };

typedef struct kg_device {
    enum kg_device_kind kind;
    int index;     /* CUDA ordinal; 0 on the CPU */
    char name[96]; /* product name as the driver or /proc/cpuinfo says it */
    char arch[64]; /* key of goldens: h200, h100_80gb_hbm3, cpu_genuineintel_6_207 */
    char uuid[64]; /* GPU-…; on the CPU the machine's name */
    int cc_major;  /* compute capability; 0 on the CPU */
    int cc_minor;
    int units;         /* multiprocessors; on the CPU: threads that OpenMP may use */
    int clock_mhz_max; /* highest clock the device admits; 0 where it is not known */
    int fp64_ratio;    /* single-precision rate over double-precision rate (2 on H200, 64 on L4); 1 on the CPU */
    uint64_t memory_bytes;
    uint64_t l2_bytes;       /* last-level cache */
    uint64_t shared_bytes;   /* most shared memory a block may ask for; 0 on the CPU */
    double peak_flops;       /* FLOP/s in FP16 that no kernel can exceed (tensor cores); 0: not known */
    double peak_bytes_per_s; /* of device memory; 0: not known */
    int driver_version;      /* as cuDriverGetVersion says it; 0 on the CPU */
    char driver[32];         /* e.g. 580.159.03; empty on the CPU */
} kg_device;

/* Services of the host. Pointers stay valid while the module is loaded. */
typedef struct kg_host kg_host;

/* Answers in another process than it is asked in, the answer to be free()d there. */
typedef int kg_apart_fn(const kg_host *host, const void *asked, size_t size, void **ret_answer, size_t *ret_size,
                        kg_error *ret_error);

struct kg_host {
    uint32_t abi;
    /* Opens a shared library by soname, in --library-path first, then where the loader looks. Stays open. */
    int (*library_open)(const kg_host *host, const char *soname, void **ret_library, kg_error *ret_error);
    int (*library_symbol)(void *library, const char *name, void **ret_symbol, kg_error *ret_error);
    /* Text kept across workers and runs, by key (compiled plans). Read returns KG_ENOTFOUND, or text to free(). */
    int (*cache_read)(const kg_host *host, const char *key, char **ret_text);
    int (*cache_write)(const kg_host *host, const char *key, const char *text);
    /* A line for the run's log. Never printf: stdout is not yours. */
    void (*log)(const kg_host *host, const char *format, ...) KG_PRINTF(2, 3);
    /* The same cache for bytes of any kind (machine code). What is cut or damaged there is KG_ENOTFOUND, and of many
     * that write one key at once one entry is left whole. */
    int (*cache_read_bytes)(const kg_host *host, const char *key, void **ret_bytes, size_t *ret_size);
    int (*cache_write_bytes)(const kg_host *host, const char *key, const void *bytes, size_t size);
    /* What prepare does next, for profilers: a range `what CASE-ID` within the case's phase, up to the next call. NULL:
     * nothing of its own. */
    void (*part)(const kg_host *host, const char *what);
    /* For modules of ABI 7: library_open. */
    int (*library_open_of_abi_7)(const kg_host *host, const char *soname, void **ret_library, kg_error *ret_error);
    /* What a function of the module answers in a process of its own, in which nothing is open but the module, no
     * library, no device, and which ends then: so what it opens shares nothing with what others of this process opened
     * under the same name, and no answer hangs on an earlier one. `asked` is copied there, not what it points to.
     * free() the answer. What the function returns, with its error; KG_EDEVICE: it ended without (a crash). */
    int (*ask_apart)(const kg_host *host, kg_apart_fn *function, const void *asked, size_t size, void **ret_answer,
                     size_t *ret_size, kg_error *ret_error);
};

/* ---- ops: what is computed ---------------------------------------------------------------------------------- */

/* The problem is a plain struct, copied by value, whose first member is `const char *name`. */
typedef struct kg_op {
    const char *name;
    const char *help;
    size_t problem_size;
    kg_fields fields;

    /* What the field table cannot say (H divisible by the key heads, say). May be NULL. */
    int (*check)(const void *problem, kg_error *ret_error);

    /* Describes the tensors of one call, inputs and outputs, in the order that launch and reference get them. */
    int (*tensors)(const void *problem, kg_tensor ret_tensors[KG_MAX_TENSORS], int *ret_count);

    /* The reference. Gets the tensors with every output replaced by one of dtype KG_F32 to write. Accumulates in
     * double precision. `reference_cuda` enqueues on `stream` (a cudaStream_t), may be NULL for ops without CUDA
     * backends, and may return KG_EUNSUPPORTED, which skips the case with that reason. */
    int (*reference_cpu)(const void *problem, const kg_tensor *tensors, kg_error *ret_error);
    int (*reference_cuda)(const void *problem, const kg_device *device, const kg_tensor *tensors, void *stream,
                          kg_error *ret_error);

    double (*flops)(const void *problem); /* floating-point operations of one call that the result needs */
    double (*bytes)(const void *problem); /* fewest bytes of one call: each input read once, each output written once */
    double (*queries)(const void *problem); /* what one call answers, for queries/s; NULL: 1 */

    /* The device's peak rate for the narrowest arithmetic that a right backend may use, over that for FP16; a time that
     * would need more is impossible. 2 where 8-bit products will do; NULL: 1 */
    double (*peak_ratio)(const void *problem);

    kg_regimes regimes; /* its own */

    /* Error scale: how far off an element of honest arithmetic may be expected, about a standard deviation of its
     * rounding errors, never less than what the output's dtype rounds. Gets the reference's tensors, outputs written,
     * and after them a KG_F32 one for each output, of its shape, to write. `arithmetic` is the backend's; NULL: that of
     * the tensors' dtypes. NULL: errors are held against limits in the output's unit only. */
    int (*error_scale_cpu)(const void *problem, const void *arithmetic, const kg_tensor *tensors, kg_error *ret_error);
    int (*error_scale_cuda)(const void *problem, const void *arithmetic, const kg_device *device,
                            const kg_tensor *tensors, void *stream, kg_error *ret_error);

    /* Writes the given inputs: indices, tables. They are part of the problem, the same for every seed and in every
     * regime. Tensors are in host memory; `data` of others is NULL. NULL: there are none. */
    int (*give)(const void *problem, const kg_tensor *tensors, kg_error *ret_error);
} kg_op;

/* ---- backends: how it is computed --------------------------------------------------------------------------- */

typedef struct kg_backend kg_backend;

/* What a backend is prepared for. Valid for as long as the state lives, except `tensors`, which are examples. */
typedef struct kg_call {
    const kg_host *host;
    const kg_device *device;
    const void *problem;
    const void *knobs;        /* the backend's knobs struct; NULL where it declares none */
    const kg_tensor *tensors; /* real buffers of the call's shapes; prepare may run on them (to pick a configuration) */
    int n_tensors;
    void *stream;    /* cudaStream_t; NULL on the CPU */
    const char *pin; /* identity.pin of an earlier round or of the golden: use that configuration. NULL: choose */
    void *library;   /* what open returned */
} kg_call;

#define KG_MAX_COMPILED 4

/* A kernel that the backend had compiled when it was prepared. */
typedef struct kg_compiled {
    char name[256];     /* as the driver names it */
    char code_hash[17]; /* of its machine code, 16 hex digits */
    char compiler[31];  /* NVRTC 13.0 */
    int registers;
    int spill_store_bytes;
    int spill_load_bytes;
    int shared_bytes;     /* static */
    double compile_ms;    /* 0: it was not compiled now */
    bool cache_hit;       /* it was in the host's cache */
    uint64_t reserved[4]; /* 0 */
} kg_compiled;

/* What runs, for backends that call a library: its version, engine and configuration. Kernel names and code hashes
 * are found by the host, but for those of kernels compiled at run time. Leave empty for kernels of the module. */
typedef struct kg_identity {
    char text[480]; /* e.g. cuDNN 9.19.0 engine 8 */
    char pin[480];  /* chooses the same configuration again; no newline */
    int n_compiled;
    kg_compiled compiled[KG_MAX_COMPILED];
} kg_identity;

struct kg_backend {
    const char *name;
    const char *help;
    enum kg_device_kind device;
    const void *data;    /* lets variants share code and keep names of their own */
    const char *toggles; /* what it was compiled with, name=value,…, for the reports; NULL: nothing was chosen */
    bool untimed;        /* gated for correctness only, in every suite: it prints, or only shows what is right */

    kg_fields knobs; /* over a struct of knobs_size bytes, filled from fallbacks and --knob */
    size_t knobs_size;

    /* `auto` and its like: the first of these that supports and prepares the problem runs, and its golden judges.
     * With candidates no function below is called. NULL-terminated. */
    const kg_backend *const *candidates;

    /* KG_OK, or KG_EUNSUPPORTED and why. Cheap, and needs no open library. NULL: supports everything. */
    int (*supports)(const kg_backend *self, const kg_device *device, const void *problem, kg_error *ret_error);

    /* Library handles, once a worker, on the first case that needs them. Both may be NULL. */
    int (*open)(const kg_backend *self, const kg_host *host, const kg_device *device, void **ret_library,
                kg_error *ret_error);
    void (*close)(const kg_backend *self, void *library);

    /* All that is slow, allocates or chooses. May be NULL: the state is then a kg_call by the host. */
    int (*prepare)(const kg_backend *self, const kg_call *call, void **ret_state, kg_identity *ret_identity,
                   kg_error *ret_error);

    /* Bytes of device memory that a launch uses besides the op's tensors; 0, or NULL: none. The host gives each of its
     * buffer sets one, between guard bands, since where it lies changes the time of a small kernel. What it holds at a
     * launch is not defined, unless `stage` filled it. */
    size_t (*workspace)(const kg_backend *self, const void *state);

    /* Makes of a set's inputs what launch reads in their place: inputs coded to 8 bits, say. Called for a buffer set
     * before its first launch and whenever its inputs changed, outside of timing, with the tensors that launch will
     * get; enqueues like launch. It writes into the workspace, which launch then only reads, and makes each byte of one
     * input: the host checks all three, the last by calls in which all inputs but one hold NaN, so that a timed
     * backend of an op with one drawn input has no stage. NULL: launch reads the inputs. */
    int (*stage)(const kg_backend *self, void *state, const kg_tensor *tensors, void *stream, kg_error *ret_error);

    /* Only enqueues work on `stream` (computes, on the CPU). May be given other tensors of the same shapes at every
     * call, after them a KG_WORKSPACE one where `workspace` asks for it, and runs inside a CUDA stream capture. Without
     * prepare, `state` is the `const kg_call *`. */
    int (*launch)(const kg_backend *self, void *state, const kg_tensor *tensors, void *stream, kg_error *ret_error);

    void (*release)(const kg_backend *self, void *state); /* may be NULL */

    const kg_backend *self; /* leave it NULL; the runner's copy of this struct names the module's own */

    const void *arithmetic; /* what its op's error scale shall know of it, 8-bit codes say; NULL: nothing */
    bool varies;            /* the bits of its output may differ from call to call: atomic sums, say */
};

/* ---- suites: tables of cases -------------------------------------------------------------------------------- */

/* Error of an element: e = |got - ref|. It is bad when !(e <= bad_abs + bad_rel * |ref|). A non-finite element always
 * fails. The first six must be given; INFINITY says that a limit is not meant to hold. bad_pct and bad_rel may be 0.
 *
 * Limits in the output's unit are for normal inputs. In another regime `scaled` holds in their place, where the op has
 * an error scale; where it has none they are multiplied by the largest |ref|, if that is over 1. */
typedef struct kg_gates {
    double max_abs;  /* largest e */
    double mean_abs; /* mean of e */
    double bad_abs;
    double bad_rel;
    double bad_pct;     /* per cent of bad elements allowed */
    double rel_l2;      /* ||got - ref|| / ||ref||: fails outputs that are small and wrong */
    double scaled;      /* largest e / error scale; 0: not held */
    double slope;       /* |<got, ref> / <ref, ref> - 1|: a wrong factor that noise hides; 0: not held */
    double reserved[2]; /* 0 */
} kg_gates;

enum kg_l2 { KG_L2_WARM, KG_L2_COLD };
enum kg_timer { KG_TIMER_GRAPH, KG_TIMER_EVENT };

typedef struct kg_time_policy {
    bool off;               /* correctness only */
    double regress_pct;     /* a p50 slower than its golden by more than this is SLOW; 0: 2 */
    double cpu_regress_pct; /* the same for CPU rows, judged by the ratio to their anchor; 0: 10 */
    double creep_pct;       /* CUDA: a p50 over the best ever blessed by more than this is SLOW; 0: 5 */
    enum kg_timer timer;
    enum kg_l2 l2;
    int warmup, samples; /* KG_TIMER_EVENT: calls; 0: 200 and 500 */
    double reserved[4];  /* 0 */
} kg_time_policy;

typedef struct kg_table {
    const void *rows;
    size_t count;
    size_t row_size; /* must be the op's problem_size */
} kg_table;

typedef struct kg_seeds {
    const uint64_t *items;
    size_t count;
} kg_seeds;

typedef struct kg_backends {
    const kg_backend *const *items;
    size_t count;
} kg_backends;

/* A case that must fail: XFAIL when it does, XPASS when it passes. */
typedef struct kg_xfail {
    const char *pattern; /* shell glob over the id */
    const char *reason;
} kg_xfail;

typedef struct kg_xfails {
    const kg_xfail *items;
    size_t count;
} kg_xfails;

/* A regime, and the rows that it is for. */
typedef struct kg_suite_regime {
    const char *regime;
    const char *rows; /* shell glob over rows' names; NULL: all */
} kg_suite_regime;

typedef struct kg_suite_regimes {
    const kg_suite_regime *items;
    size_t count;
} kg_suite_regimes;

/* A wrong answer (kgate selfcheck --gates) that the suite's gates need not see. */
typedef struct kg_excuse {
    const char *wrong;   /* its name: zeros, noise, … */
    const char *pattern; /* shell glob over suite/shape/sSEED */
    const char *reason;
} kg_excuse;

typedef struct kg_excuses {
    const kg_excuse *items;
    size_t count;
} kg_excuses;

/* An environment variable that sets a field in every row, as --set does (docs/writing-a-suite.md). */
typedef struct kg_variable {
    const char *name;  /* upper-case letters, digits and _; no digit first */
    const char *field; /* of the op */
} kg_variable;

typedef struct kg_variables {
    const kg_variable *items;
    size_t count;
} kg_variables;

/* Two backends of a suite, of one kind of device: summary.md says of each shape how many times as fast `ours` is, both
 * timed in one run, and whether the criteria of success are met (reports/success.h). No verdict hangs on it. */
typedef struct kg_contest {
    const kg_backend *ours, *baseline; /* both NULL: there is no contest */
} kg_contest;

/* clang-format off */
#define KG_TABLE(array) { (array), sizeof(array) / sizeof *(array), sizeof *(array) }
#define KG_LIST(array) { (array), sizeof(array) / sizeof *(array) }
/* clang-format on */

typedef struct kg_suite {
    const char *name;
    const char *help;
    const kg_op *op;
    kg_table shapes;     /* rows for CUDA backends, and for CPU backends where cpu_shapes is empty */
    kg_table cpu_shapes; /* rows for CPU backends, sized for a CPU */
    kg_seeds seeds;
    kg_backends backends;
    const kg_backend *anchor;     /* timed beside every CUDA case */
    const kg_backend *cpu_anchor; /* the same for CPU cases */
    kg_gates gates;
    kg_time_policy time;
    kg_xfails xfails;
    kg_contest contest;
    const kg_backend *clean;  /* of the backends: summary.md ranks the others by their cost over it. NULL: no ranking */
    kg_suite_regimes regimes; /* checked with the first seed, or with each that --seed names; ids end in sSEED-REGIME */
    kg_excuses excuses;
    kg_variables environment;
    const char *anchor_case; /* "SUITE/SHAPE/BACKEND" of the module: timed beside what has no anchor, the anchor itself
                              * too. NULL: nothing is */
} kg_suite;

/* ---- the module --------------------------------------------------------------------------------------------- */

/* Families of tensor-core instructions, as PTX names them. */
enum kg_tensor_kind { KG_TENSOR_MMA, KG_TENSOR_WMMA, KG_TENSOR_WGMMA, KG_TENSOR_TCGEN05, KG_TENSOR_KINDS };
#define KG_NOTE_SEPARATOR " | "
#define KG_TENSOR_NAMES ((const char *const[]){ "mma.sync", "wmma", "wgmma", "tcgen05" })

/* What the compiler made of one kernel for one architecture. The build writes this table. */
typedef struct kg_kernel {
    const char *name;      /* as it is mangled */
    const char *arch;      /* sm_90a */
    const char *code_hash; /* of its machine code, 16 hex digits */
    const char *compiler;  /* nvcc's version: 13.0.88 */
    const char *notes;     /* what ptxas warned of, KG_NOTE_SEPARATOR between; "" : nothing */
    int registers;
    int stack_bytes;
    int spill_store_bytes;
    int spill_load_bytes;
    int shared_bytes; /* static */
    int barriers;
    int block_threads;           /* most that its launch bounds allow; 0: it has none */
    int tensor[KG_TENSOR_KINDS]; /* tensor-core instructions in its PTX */
    int tensor_sass;             /* the same in its machine code; -1: the build had no disassembler */
} kg_kernel;

struct kg_module {
    uint32_t abi; /* KG_ABI */
    /* sizeof the structs in the module's tables, by which they are read */
    uint32_t module_size, suite_size, op_size, backend_size, kernel_size, field_size, xfail_size;
    const char *name;
    const char *git_sha; /* 40 hex digits, or "" where the build saw no repository */
    bool git_dirty;
    const char *flags; /* compiler and options, for build_meta.json */
    const kg_suite *const *suites;
    size_t n_suites;
    const kg_kernel *kernels;
    size_t n_kernels;
};

#define KG_MODULE_SIZES                                                                                                \
    .abi = KG_ABI, .module_size = sizeof(struct kg_module), .suite_size = sizeof(kg_suite), .op_size = sizeof(kg_op),  \
    .backend_size = sizeof(kg_backend), .kernel_size = sizeof(kg_kernel), .field_size = sizeof(kg_field),              \
    .xfail_size = sizeof(kg_xfail)

extern KG_EXPORT const struct kg_module kg_module;

#endif
