/* notices.c -- kernels that work only where somebody wrote since their last call of these buffers: they see it in their
 * pages' protection or in what arithmetic left set, or are told by `stage`; or in the run's first processes alone,
 * which their pin counts. One works where somebody reads, one is wrong on what it meets first when it is timed.
 * tests/cli/late.sh asks. */
#include <fenv.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "kgate.h"
#include "module.h"

enum { A, B, Y, WORKSPACE };
enum { TERMS = 48, PLACES = 256 };

struct pair {
    const char *name;
    int64_t n;
};

/* Outputs that are right as long as nobody writes to them or to their inputs. */
static struct place {
    char *data[Y + 1];
    size_t bytes;
    volatile sig_atomic_t untouched, owed; /* owed: to who reads the output */
} places[PLACES];

static struct place *place_of(const kg_tensor *tensors)
{
    int at = 0;
    while (at < PLACES - 1 && places[at].bytes && places[at].data[Y] != tensors[Y].data)
        at++;
    struct place *place = &places[at];
    for (int i = A; i <= Y; i++) {
        if (place->data[i] != tensors[i].data)
            place->untouched = 0;
        place->data[i] = tensors[i].data;
    }
    place->bytes = kg_tensor_bytes(&tensors[Y]);
    return place;
}

/* y = a + a/2 + a/4 + … + b */
static void compute(const float *a, const float *b, float *y, int64_t n)
{
    for (int64_t i = 0; i < n; i++) {
        float sum = 0;
        for (int t = 0; t < TERMS; t++)
            sum = sum * 0.5f + a[i];
        y[i] = sum + b[i];
    }
}

/* Half of the work, so that the time can be believed. */
static void pretend(const float *a, const float *b, int64_t n)
{
    static float away[1 << 20];
    compute(a, b, away, n / 2);
}

/* Whole pages within. */
static void protect(const void *data, size_t bytes, int protection)
{
    const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), start = ((uintptr_t)data + page - 1) / page * page,
                    end = ((uintptr_t)data + bytes) / page * page;
    if (end > start)
        (void)mprotect((void *)start, end - start, protection);
}

static void protect_all(const struct place *place, int protection)
{
    for (int i = A; i <= Y; i++)
        protect(place->data[i], place->bytes, protection);
}

static struct sigaction before;

static void note(int signal, siginfo_t *info, void *context)
{
    const char *at = info->si_addr;
    bool any = false;
    (void)context;
    for (int i = 0; i < PLACES && places[i].bytes; i++)
        for (int t = A; t <= Y; t++) {
            if (at < places[i].data[t] || at >= places[i].data[t] + places[i].bytes)
                continue;
            places[i].untouched = 0;
            protect_all(&places[i], PROT_READ | PROT_WRITE);
            if (places[i].owed)
                compute((const float *)(const void *)places[i].data[A], (const float *)(const void *)places[i].data[B],
                        (float *)(void *)places[i].data[Y], (int64_t)(places[i].bytes / sizeof(float)));
            places[i].owed = 0;
            any = true;
        }
    if (!any)
        (void)sigaction(signal, &before, NULL);
}

static void listen(void)
{
    const struct sigaction action = { .sa_sigaction = note, .sa_flags = SA_SIGINFO | SA_NODEFER };
    struct sigaction now;
    (void)sigaction(SIGSEGV, NULL, &now);
    if (now.sa_sigaction == note)
        return;
    before = now;
    (void)sigaction(SIGSEGV, &action, NULL);
}

static int launch_protected(const kg_backend *self, void *state, const kg_tensor *tensors, void *stream,
                            kg_error *ret_error)
{
    struct place *place = place_of(tensors);
    (void)self, (void)state, (void)stream, (void)ret_error;
    listen();
    if (place->untouched) {
        pretend(tensors[A].data, tensors[B].data, kg_tensor_count(&tensors[Y]));
        return KG_OK;
    }
    protect_all(place, PROT_READ | PROT_WRITE);
    compute(tensors[A].data, tensors[B].data, tensors[Y].data, kg_tensor_count(&tensors[Y]));
    place->untouched = 1;
    protect_all(place, PROT_READ);
    return KG_OK;
}

/* What does not fill pages it writes at once. */
static int launch_read(const kg_backend *self, void *state, const kg_tensor *tensors, void *stream, kg_error *ret_error)
{
    struct place *place = place_of(tensors);
    const int64_t n = kg_tensor_count(&tensors[Y]), page = 4096 / sizeof(float);
    const float *a = tensors[A].data, *b = tensors[B].data;
    float *y = tensors[Y].data;
    static int calls;
    (void)self, (void)state, (void)stream, (void)ret_error;
    protect_all(place, PROT_READ | PROT_WRITE);
    if (calls++ < 6) {
        compute(a, b, y, n);
        return KG_OK;
    }
    listen();
    compute(a, b, y, page);
    compute(a + n - page, b + n - page, y + n - page, page);
    pretend(a, b, n);
    place->owed = 1;
    protect(y, place->bytes, PROT_NONE);
    return KG_OK;
}

/* The first few inputs are looked at, so much is known. */
static int launch_first_met(const kg_backend *self, void *state, const kg_tensor *tensors, void *stream,
                            kg_error *ret_error)
{
    enum { FEW = 6, MOST = 8192 };
    static float met[MOST];
    static int count;
    const float *a = tensors[A].data;
    int at = 0;
    (void)self, (void)state, (void)stream, (void)ret_error;
    while (at < count && met[at] != a[0])
        at++;
    compute(a, tensors[B].data, tensors[Y].data, kg_tensor_count(&tensors[Y]));
    if (at == count && count < MOST) {
        met[count++] = a[0];
        if (count > FEW)
            memset(tensors[Y].data, 0, kg_tensor_bytes(&tensors[Y]) / 64);
    }
    return KG_OK;
}

static size_t room_for_a(const kg_backend *self, const void *state)
{
    (void)self;
    return (size_t)((const struct pair *)((const kg_call *)state)->problem)->n * sizeof(float);
}

static int stage_a(const kg_backend *self, void *state, const kg_tensor *tensors, void *stream, kg_error *ret_error)
{
    (void)self, (void)state, (void)stream, (void)ret_error;
    memcpy(tensors[WORKSPACE].data, tensors[A].data, kg_tensor_bytes(&tensors[A]));
    for (int i = 0; i < PLACES; i++)
        places[i].untouched = 0;
    return KG_OK;
}

static int launch_staged(const kg_backend *self, void *state, const kg_tensor *tensors, void *stream,
                         kg_error *ret_error)
{
    struct place *place = place_of(tensors);
    (void)state, (void)stream, (void)ret_error;
    if (self->data && place->untouched) {
        pretend(tensors[WORKSPACE].data, tensors[B].data, kg_tensor_count(&tensors[Y]));
        return KG_OK;
    }
    compute(tensors[WORKSPACE].data, tensors[B].data, tensors[Y].data, kg_tensor_count(&tensors[Y]));
    place->untouched = 1;
    return KG_OK;
}

static int launch_flagged(const kg_backend *self, void *state, const kg_tensor *tensors, void *stream,
                          kg_error *ret_error)
{
    struct place *place = place_of(tensors);
    (void)self, (void)state, (void)stream, (void)ret_error;
    if (fetestexcept(FE_INEXACT))
        for (int i = 0; i < PLACES; i++)
            places[i].untouched = 0;
    if (place->untouched)
        pretend(tensors[A].data, tensors[B].data, kg_tensor_count(&tensors[Y]));
    else
        compute(tensors[A].data, tensors[B].data, tensors[Y].data, kg_tensor_count(&tensors[Y]));
    place->untouched = 1;
    (void)feclearexcept(FE_INEXACT);
    return KG_OK;
}

/* A process is told the pin of the one before. */
static int count_process(const kg_backend *self, const kg_call *call, void **ret_state, kg_identity *ret_identity,
                         kg_error *ret_error)
{
    static int process;
    (void)self, (void)ret_error;
    process = call->pin ? atoi(call->pin) + 1 : 1;
    (void)snprintf(ret_identity->pin, sizeof ret_identity->pin, "%d", process);
    *ret_state = &process;
    return KG_OK;
}

static int launch_counted(const kg_backend *self, void *state, const kg_tensor *tensors, void *stream,
                          kg_error *ret_error)
{
    struct place *place = place_of(tensors);
    (void)self, (void)stream, (void)ret_error;
    if (*(const int *)state > 2 && place->untouched++ > 8)
        pretend(tensors[A].data, tensors[B].data, kg_tensor_count(&tensors[Y]));
    else
        compute(tensors[A].data, tensors[B].data, tensors[Y].data, kg_tensor_count(&tensors[Y]));
    return KG_OK;
}

static const kg_backend flags = { .name = "flags", .device = KG_CPU, .launch = launch_flagged };
static const kg_backend later = {
    .name = "later", .device = KG_CPU, .prepare = count_process, .launch = launch_counted
};
static const kg_backend reading = { .name = "reading", .device = KG_CPU, .launch = launch_read };
static const kg_backend first_met = { .name = "first_met", .device = KG_CPU, .launch = launch_first_met };
static const kg_backend protection = { .name = "protection", .device = KG_CPU, .launch = launch_protected };
#define STAGED .device = KG_CPU, .workspace = room_for_a, .stage = stage_a, .launch = launch_staged
static const kg_backend staging = { .name = "staging", STAGED, .data = "" };
static const kg_backend honest = { .name = "honest", STAGED };

static const kg_field fields[] = { { "n", offsetof(struct pair, n), KG_INT, .min = 1, .max = 1 << 26 } };

static int describe(const void *problem, kg_tensor ret_tensors[KG_MAX_TENSORS], int *ret_count)
{
    const kg_tensor tensor = {
        .dtype = KG_F32, .role = KG_INPUT, .rank = 1, .dims = { ((const struct pair *)problem)->n }
    };
    for (int i = A; i <= Y; i++)
        ret_tensors[i] = tensor;
    ret_tensors[A].name = "a";
    ret_tensors[B].name = "b";
    ret_tensors[Y].name = "y";
    ret_tensors[Y].role = KG_OUTPUT;
    *ret_count = Y + 1;
    return KG_OK;
}

static int reference(const void *problem, const kg_tensor *tensors, kg_error *ret_error)
{
    (void)ret_error;
    for (int64_t i = 0; i < ((const struct pair *)problem)->n; i++) {
        double sum = 0;
        for (int t = 0; t < TERMS; t++)
            sum = sum * 0.5 + ((const float *)tensors[A].data)[i];
        ((float *)tensors[Y].data)[i] = (float)(sum + ((const float *)tensors[B].data)[i]);
    }
    return KG_OK;
}

static double flops(const void *problem)
{
    return 2.0 * TERMS * (double)((const struct pair *)problem)->n;
}

static double bytes(const void *problem)
{
    return 12.0 * (double)((const struct pair *)problem)->n;
}

static const kg_op pair_op = { .name = "pair",
                               .problem_size = sizeof(struct pair),
                               .fields = KG_LIST(fields),
                               .tensors = describe,
                               .reference_cpu = reference,
                               .flops = flops,
                               .bytes = bytes };

static const struct pair shapes[] = { { "plain", .n = 16384 } };
static const uint64_t seeds[] = { 0 };
static const kg_backend *const backends[] = { &honest, &staging, &protection, &flags, &later, &reading, &first_met };
static const kg_suite notices = {
    .name = "notices",
    .op = &pair_op,
    .shapes = KG_TABLE(shapes),
    .seeds = KG_LIST(seeds),
    .backends = KG_LIST(backends),
    .gates = { .max_abs = 0.1, .mean_abs = 0.01, .bad_abs = 0.02, .bad_pct = 1.0, .rel_l2 = 0.05 },
};
static const kg_suite *const suites[] = { &notices };

MODULE_ROOT("notices");
