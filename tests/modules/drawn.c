/* drawn.c -- a module whose tables stand in the file `tables` beside it, for tests/status: suites, rows, backends and
 * what these do.
 *
 *     suite NAME timed|untimed ROWS SEEDS     two of them; rows r0, r1, …, seeds 0, 1, …
 *     half ROW                                the last suite's row has half as many elements
 *     backend NAME cpu|cuda DEED ROW          of that suite; the deed is done for this row, -1: for each
 *     xfail PATTERN
 */
#include "kgate.h"
#include "spin.h"

#include <dlfcn.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* By the clock, whatever else the machine does; one that is slow takes thrice as long. */
#define CALL_NS 40000

enum { N_SUITES = 2, MOST_BACKENDS = 8, MOST_ROWS = 4, MOST_SEEDS = 4, MOST_XFAILS = 4 };

struct half {
    const char *name;
    int64_t n;
};

/* What a backend does, and for whom. */
struct deed {
    char word[16];
    int row;
};

struct drawn_suite {
    kg_suite of;
    char name[32], row_names[MOST_ROWS][8], names[MOST_BACKENDS][32], patterns[MOST_XFAILS][160];
    struct half rows[MOST_ROWS];
    kg_backend backends[MOST_BACKENDS];
    const kg_backend *list[MOST_BACKENDS];
    struct deed deeds[MOST_BACKENDS];
    kg_xfail xfails[MOST_XFAILS];
    uint64_t seeds[MOST_SEEDS];
};
static struct drawn_suite drawn[N_SUITES];
static const kg_suite *suites[N_SUITES];

/* ---- the op: half of its input ---- */

static int tensors(const void *problem, kg_tensor ret_tensors[KG_MAX_TENSORS], int *ret_count)
{
    const struct half *p = problem;
    kg_tensor x = { .name = "x", .dtype = KG_F32, .role = KG_INPUT, .rank = 1, .dims = { p->n } }, y = x;
    y.name = "y";
    y.role = KG_OUTPUT;
    ret_tensors[0] = x;
    ret_tensors[1] = y;
    *ret_count = 2;
    return KG_OK;
}

static int reference(const void *problem, const kg_tensor *call, kg_error *ret_error)
{
    const struct half *p = problem;
    (void)ret_error;
    for (int64_t i = 0; i < p->n; i++)
        ((float *)call[1].data)[i] = ((const float *)call[0].data)[i] * 0.5f;
    return KG_OK;
}

static double work(const void *problem)
{
    return (double)((const struct half *)problem)->n;
}

static const kg_field fields[] = {
    { "n", offsetof(struct half, n), KG_INT, .min = 1, .max = 1 << 20, .fallback = 4096, .help = "elements" },
};
static const kg_op half = { .name = "half",
                            .problem_size = sizeof(struct half),
                            .fields = KG_LIST(fields),
                            .tensors = tensors,
                            .reference_cpu = reference,
                            .flops = work,
                            .bytes = work };

/* ---- backends ---- */

static bool does(const kg_backend *self, const struct half *p)
{
    const struct deed *deed = self->data;
    return deed->row < 0 || deed->row == p->name[1] - '0';
}

/* Writes to it, and puts back what was there. */
static void borrow(volatile float *x)
{
    const float kept = x[0];
    x[0] = kept + 1;
    x[0] = kept;
}

static int prepare(const kg_backend *self, const kg_call *call, void **ret_state, kg_identity *ret_identity,
                   kg_error *ret_error)
{
    (void)self, (void)ret_identity, (void)ret_error;
    *ret_state = (void *)(uintptr_t)call->problem;
    return KG_OK;
}

static void release(const kg_backend *self, void *state)
{
    const struct deed *deed = self->data;
    if (does(self, state) && !strcmp(deed->word, "falls"))
        raise(SIGSEGV);
}

static int launch(const kg_backend *self, void *state, const kg_tensor *call, void *stream, kg_error *ret_error)
{
    const struct half *p = state;
    const struct deed *deed = self->data;
    const int64_t began_ns = now_ns();
    (void)stream;
    int status = reference(p, call, ret_error);
    spin_until(began_ns + CALL_NS * (does(self, p) && !strcmp(deed->word, "slow") ? 3 : 1));
    if (status || !does(self, p))
        return status;
    if (!strcmp(deed->word, "wrong"))
        ((float *)call[1].data)[1] += 100;
    if (!strcmp(deed->word, "overruns"))
        ((volatile float *)call[1].data)[p->n] = 1;
    if (!strcmp(deed->word, "borrows"))
        borrow(call[0].data);
    if (!strcmp(deed->word, "crashes"))
        raise(SIGSEGV);
    if (!strcmp(deed->word, "exits"))
        exit(0);
    if (!strcmp(deed->word, "fails"))
        return kg_fail(ret_error, KG_EDEVICE, "as it was drawn");
    if (!strcmp(deed->word, "refuses"))
        return kg_fail(ret_error, KG_EUNSUPPORTED, "as it was drawn");
    while (!strcmp(deed->word, "hangs"))
        pause();
    return KG_OK;
}

/* ---- the file ---- */

static void read_suite(struct drawn_suite *s, const char *line)
{
    char timed[16];
    int rows = 0, seeds = 0;
    if (sscanf(line, "suite %31s %15s %d %d", s->name, timed, &rows, &seeds) != 4)
        return;
    for (int i = 0; i < MOST_ROWS; i++) {
        (void)snprintf(s->row_names[i], sizeof s->row_names[i], "r%d", i);
        s->rows[i] = (struct half){ s->row_names[i], 1024 << i };
        s->seeds[i] = (uint64_t)i;
    }
    s->of = (kg_suite){ .name = s->name,
                        .op = &half,
                        .shapes = { s->rows, (size_t)rows, sizeof *s->rows },
                        .seeds = { s->seeds, (size_t)seeds },
                        .backends = { s->list, 0 },
                        .gates = { .max_abs = 0.01, .mean_abs = 1e-4, .bad_abs = 0.001, .rel_l2 = 1e-4 },
                        .time = { .off = strcmp(timed, "timed") != 0, .cpu_regress_pct = 50 },
                        .xfails = { s->xfails, 0 } };
}

static void read_half(struct drawn_suite *s, const char *line)
{
    int row = 0;
    (void)sscanf(line, "half %d", &row);
    s->rows[row % MOST_ROWS].n /= 2;
}

static void read_backend(struct drawn_suite *s, const char *line)
{
    const size_t i = s->of.backends.count++;
    char kind[8];
    if (sscanf(line, "backend %31s %7s %15s %d", s->names[i], kind, s->deeds[i].word, &s->deeds[i].row) != 4)
        abort();
    s->backends[i] = (kg_backend){ .name = s->names[i],
                                   .device = strcmp(kind, "cuda") ? KG_CPU : KG_CUDA,
                                   .data = &s->deeds[i],
                                   .prepare = prepare,
                                   .launch = launch,
                                   .release = release };
    s->list[i] = &s->backends[i];
}

static void read_xfail(struct drawn_suite *s, const char *line)
{
    const size_t i = s->of.xfails.count++;
    (void)sscanf(line, "xfail %159s", s->patterns[i]);
    s->xfails[i] = (kg_xfail){ s->patterns[i], "as it was drawn" };
}

KG_EXPORT const struct kg_module kg_module = {
    KG_MODULE_SIZES, .name = "drawn", .git_sha = "", .flags = "", .suites = suites, .n_suites = N_SUITES,
};

__attribute__((constructor)) static void read_tables(void)
{
    Dl_info self = { 0 };
    char path[4096] = "", line[256];
    if (dladdr(&kg_module, &self))
        (void)snprintf(path, sizeof path, "%.*stables", (int)(strrchr(self.dli_fname, '/') + 1 - self.dli_fname),
                       self.dli_fname);
    FILE *file = fopen(path, "r");
    struct drawn_suite *s = NULL;
    size_t n = 0;
    while (file && fgets(line, sizeof line, file)) {
        if (!strncmp(line, "suite ", 6)) {
            s = &drawn[n % N_SUITES];
            read_suite(s, line);
            suites[n++ % N_SUITES] = &s->of;
        } else if (s && !strncmp(line, "backend ", 8)) {
            read_backend(s, line);
        } else if (s && !strncmp(line, "half ", 5)) {
            read_half(s, line);
        } else if (s && !strncmp(line, "xfail ", 6)) {
            read_xfail(s, line);
        }
    }
    if (file)
        fclose(file);
}
