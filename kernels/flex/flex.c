/* flex.c -- the op flex_attention: fields, tensors, the arrays of modifiers, and what one call costs. The semantics
 * stand in flex.h.
 */
#include "flex/flex.h"

#include <stdlib.h>
#include <string.h>

#include "flex/modifiers.h"

_Static_assert(offsetof(struct flex, attention) == 0, "what is sdpa_forward's is given the whole");
_Static_assert(SDPA_TENSORS + FLEX_ARRAYS <= KG_MAX_TENSORS, "a call may have all arrays");

#define FIELD(member, kind, low, high, text)                                                                           \
    {                                                                                                                  \
        .name = #member, .offset = offsetof(struct flex, attention.member), .type = kind, .min = low, .max = high,     \
        .help = text                                                                                                   \
    }
#define HAS(member, text)                                                                                              \
    {                                                                                                                  \
        .name = #member, .offset = offsetof(struct flex, member), .type = KG_BOOL, .help = text                        \
    }
#define NUMBER(member, kind, low, high, default, text)                                                                 \
    {                                                                                                                  \
        .name = #member, .offset = offsetof(struct flex, member), .type = kind, .min = low, .max = high,               \
        .fallback = default, .help = text                                                                              \
    }

static const char *const compile_modes[] = { "default|reduce-overhead", "max-autotune", NULL };

static const kg_field fields[] = {
    SDPA_SIZE_FIELDS,
    { .name = "dtype",
      .offset = offsetof(struct flex, attention.dtype),
      .type = KG_CHOICE,
      .choices = KG_DTYPE_NAMES,
      .help = "of q, k, v and o: f16 or bf16" },
    SDPA_MASK_FIELDS,
    HAS(cap, "scores level off at softcap"),
    HAS(alibi, "a penalty on the distance, steeper by head"),
    HAS(relative, "a bias by distance and head, from a table"),
    HAS(decay, "exp(-distance / doc_span) is added to scores"),
    HAS(prefix, "query i sees keys j <= i and those of the prefix"),
    HAS(sliding, "query i sees keys nearer than window"),
    HAS(document, "query i sees keys of its own document"),
    HAS(uneven, "documents of two lengths, slopes by no formula"),
    NUMBER(softcap, KG_REAL, 0x1p-10, 0x1p20, 30, "largest score under cap"),
    NUMBER(window, KG_INT, 1, 1 << 20, 256, "keys to either side under sliding, its own among both"),
    NUMBER(prefix_keys, KG_INT, 1, 1 << 20, 128, "keys of the prefix"),
    NUMBER(doc_span, KG_INT, 1, 1 << 20, 256, "tokens of a document, and the reach of decay"),
    NUMBER(reach, KG_INT, 1, 1 << 15, 128, "distances with a bias of their own"),
    NUMBER(block_size, KG_INT, FLEX_TILE, 1 << 12, FLEX_TILE, "queries and keys of a block of the block mask"),
    { .name = "compile_mode",
      .offset = offsetof(struct flex, compile_mode),
      .type = KG_CHOICE,
      .choices = compile_modes,
      .help = "max-autotune: the best of a few tiles; reduce-overhead is default, since graphs are replayed anyway" },
};

static int check(const void *problem, kg_error *ret_error)
{
    const struct flex *p = problem;
    if (p->attention.dtype == KG_E4M3)
        return kg_fail(ret_error, KG_EINVAL, "dtype must be f16 or bf16");
    if (p->attention.S > FLEX_MAX_ROWS || sdpa_kv_length(&p->attention) > FLEX_MAX_ROWS)
        return kg_fail(ret_error, KG_EINVAL, "more than %d queries or keys", FLEX_MAX_ROWS);
    if (p->block_size % FLEX_TILE != 0)
        return kg_fail(ret_error, KG_EINVAL, "block_size is %lld, no multiple of the tile, %d",
                       (long long)p->block_size, FLEX_TILE);
    if (p->relative && p->attention.H * (2 * p->reach + 1) > INT32_MAX)
        return kg_fail(ret_error, KG_EINVAL, "the table of biases would have more than 2^31 elements");
    return sdpa_forward.check(&p->attention, ret_error);
}

/* ---- arrays of modifiers --------------------------------------------------------------------------------------- */

static bool has_array(const struct flex *p, enum flex_array array)
{
    switch (array) {
    case FLEX_DOCUMENT:
        return p->document;
    case FLEX_SLOPES:
        return p->alibi;
    case FLEX_BIAS:
        return p->relative;
    case FLEX_ARRAYS:
        break;
    }
    return false;
}

int flex_array_place(const struct flex *p, enum flex_array array)
{
    int place = SDPA_TENSORS;
    for (int earlier = 0; earlier < (int)array; earlier++)
        place += has_array(p, (enum flex_array)earlier);
    return has_array(p, array) ? place : -1;
}

int flex_tensor_count(const struct flex *p)
{
    int count = SDPA_TENSORS;
    for (int array = 0; array < FLEX_ARRAYS; array++)
        count += has_array(p, (enum flex_array)array);
    return count;
}

/* Of queries and keys alike. */
static int64_t document_length(const struct flex *p)
{
    const int64_t Skv = sdpa_kv_length(&p->attention);
    return p->attention.S > Skv ? p->attention.S : Skv;
}

/* Documents are equally long, and a batch's begin a quarter of a span before the next one's, with another rest in every
 * fourth batch. Uneven: every second one leaves its first third to the one before it, and three numbers come again and
 * again. */
static void give_document(const struct flex *p, int *ret_document)
{
    const int64_t length = document_length(p);
    for (int64_t b = 0; b < p->attention.B; b++)
        for (int64_t i = 0; i < length; i++) {
            const int64_t at = i + b % 4 * (p->doc_span / 4) + b / 4, document = at / p->doc_span;
            const bool left = p->uneven && document % 2 && at % p->doc_span < p->doc_span / 3;
            ret_document[b * length + i] = (int)(p->uneven ? (document - left) % 3 : document);
        }
}

/* 2^(-8 (h + 1) / H), as the paper has them for powers of two. */
static void give_slopes(const struct flex *p, float *ret_slopes)
{
    for (int64_t h = 0; h < p->attention.H; h++) {
        const float by_formula = exp2f(-8 * (float)(h + 1) / (float)p->attention.H);
        ret_slopes[h] = p->uneven ? by_formula * (h % 2 ? 1.25f : 0.75f) : by_formula;
    }
}

/* Within -2 and 2, another by head and distance, of all bits that a float has. */
static void give_bias(const struct flex *p, float *ret_bias)
{
    const int64_t count = p->attention.H * (2 * p->reach + 1);
    for (int64_t i = 0; i < count; i++)
        ret_bias[i] = (float)((uint64_t)(i + 1) * 0x9e3779b97f4a7c15u >> 40) / (1 << 22) - 2;
}

static int give(const void *problem, const kg_tensor *tensors, kg_error *ret_error)
{
    const struct flex *p = problem;
    (void)ret_error;
    if (p->document)
        give_document(p, tensors[flex_array_place(p, FLEX_DOCUMENT)].data);
    if (p->alibi)
        give_slopes(p, tensors[flex_array_place(p, FLEX_SLOPES)].data);
    if (p->relative)
        give_bias(p, tensors[flex_array_place(p, FLEX_BIAS)].data);
    return KG_OK;
}

static kg_tensor array_of(const char *name, enum kg_dtype dtype, int64_t rows, int64_t columns)
{
    kg_tensor array = { .name = name, .dtype = dtype, .role = KG_INPUT, .given = 1, .rank = columns ? 2 : 1 };
    array.dims[0] = rows;
    array.dims[1] = columns;
    return array;
}

static int tensors(const void *problem, kg_tensor ret_tensors[KG_MAX_TENSORS], int *ret_count)
{
    const struct flex *p = problem;
    const int64_t B = p->attention.B, H = p->attention.H;
    int status = sdpa_forward.tensors(&p->attention, ret_tensors, ret_count);
    if (p->document)
        ret_tensors[flex_array_place(p, FLEX_DOCUMENT)] = array_of("document", KG_I32, B, document_length(p));
    if (p->alibi)
        ret_tensors[flex_array_place(p, FLEX_SLOPES)] = array_of("slopes", KG_F32, H, 0);
    if (p->relative)
        ret_tensors[flex_array_place(p, FLEX_BIAS)] = array_of("bias", KG_F32, H, 2 * p->reach + 1);
    *ret_count = flex_tensor_count(p);
    return status;
}

static const void *array_data(const struct flex *p, const kg_tensor *tensors_of_call, enum flex_array array)
{
    const int place = flex_array_place(p, array);
    return place < 0 ? NULL : tensors_of_call[place].data;
}

struct flex_aux flex_aux_of(const struct flex *p, const kg_tensor *tensors_of_call)
{
    struct flex_aux aux = {
        .first_keys = (int)sdpa_first_keys(&p->attention),
        .window = (int)p->window,
        .prefix_keys = (int)p->prefix_keys,
        .doc_span = (int)p->doc_span,
        .reach = (int)p->reach,
        .length = (int)document_length(p),
        .softcap = (float)p->softcap,
        .softcap_inverse = (float)(1 / p->softcap),
        .doc_span_inverse = (float)(1 / (double)p->doc_span),
        .document = array_data(p, tensors_of_call, FLEX_DOCUMENT),
        .slopes = array_data(p, tensors_of_call, FLEX_SLOPES),
        .bias = array_data(p, tensors_of_call, FLEX_BIAS),
    };
#define USES(name, has) aux.uses |= (has) ? 1u << FLEX_NUMBER_##name : 0;
    FLEX_SCORES(USES)
    FLEX_MASKS(USES)
#undef USES
    return aux;
}

struct flex_aux *flex_aux_new(const struct flex *p)
{
    kg_tensor call[KG_MAX_TENSORS] = { 0 };
    size_t used = (sizeof(struct flex_aux) + 63) / 64 * 64, size = used;
    int count;
    if (tensors(p, call, &count) != KG_OK)
        return NULL;
    for (int i = SDPA_TENSORS; i < count; i++)
        size += (kg_tensor_bytes(&call[i]) + 63) / 64 * 64;
    char *memory = calloc(1, size);
    for (int i = SDPA_TENSORS; i < count && memory; i++) {
        call[i].data = memory + used;
        used += (kg_tensor_bytes(&call[i]) + 63) / 64 * 64;
    }
    struct flex_aux *aux = (struct flex_aux *)(void *)memory;
    if (!aux)
        return NULL;
    (void)give(p, call, NULL); /* cannot fail */
    *aux = flex_aux_of(p, call);
    return aux;
}

bool flex_sees(const struct flex_aux *aux, int64_t b, int64_t h, int64_t i, int64_t j)
{
    return flex_mask((int)b, (int)h, (int)i, (int)j, aux);
}

void flex_attention_tensors(const struct flex *p, const kg_tensor *tensors_of_call, kg_tensor *ret_tensors)
{
    for (int t = 0; t < SDPA_TENSORS; t++)
        ret_tensors[t] = tensors_of_call[t];
    ret_tensors[SDPA_ERROR] = tensors_of_call[flex_tensor_count(p)];
}

/* ---- cost -------------------------------------------------------------------------------------------------------- */

static int64_t visible_keys(const struct flex_aux *aux, int64_t b, int64_t h, int64_t i, int64_t Skv)
{
    int64_t count = 0;
    for (int64_t j = 0; j < Skv; j++)
        count += flex_mask((int)b, (int)h, (int)i, (int)j, aux);
    return count;
}

/* Pairs that no mask hides; NAN: no memory. */
static double visible_pairs(const struct flex *p)
{
    struct flex_aux *aux = flex_aux_new(p);
    if (!aux)
        return NAN;
    const int64_t heads = aux->uses & FLEX_MASKS_BY_HEAD ? p->attention.H : 1;
    int64_t pairs = 0;
#pragma omp parallel for collapse(3) reduction(+ : pairs)
    for (int64_t b = 0; b < p->attention.B; b++)
        for (int64_t h = 0; h < heads; h++)
            for (int64_t i = 0; i < p->attention.S; i++)
                pairs += visible_keys(aux, b, h, i, sdpa_kv_length(&p->attention));
    free(aux);
    return (double)pairs * (double)(p->attention.H / heads);
}

/* Two products, each a multiplication and an addition for every visible pair and element, as in sdpa_flops. Counted
 * pair by pair, so the last answers are kept: reports ask for each case several times. */
static double flops(const void *problem)
{
    enum { KEPT = 512 }; /* more than the shipped suites have on either kind of device */
    static struct {
        struct flex of;
        double pairs;
    } kept[KEPT];
    static size_t n_kept;
    struct flex own = *(const struct flex *)problem;
    own.attention.name = NULL;
    for (size_t i = 0; i < n_kept && i < KEPT; i++)
        if (!memcmp(&kept[i].of, &own, sizeof own))
            return 4 * kept[i].pairs * (double)own.attention.D;
    const size_t place = n_kept++ % KEPT;
    kept[place].of = own;
    kept[place].pairs = visible_pairs(&own);
    return 4 * kept[place].pairs * (double)own.attention.D;
}

static double bytes(const void *problem)
{
    const struct flex *p = problem;
    kg_tensor call[KG_MAX_TENSORS] = { 0 };
    double sum = 0;
    int count;
    if (tensors(p, call, &count) != KG_OK)
        return NAN;
    for (int i = 0; i < count; i++)
        sum += (double)kg_tensor_bytes(&call[i]);
    return sum;
}

const kg_op flex_attention_op = {
    .name = "flex_attention",
    .help = "attention with score modifiers and masks, forward",
    .problem_size = sizeof(struct flex),
    .fields = KG_LIST(fields),
    .check = check,
    .tensors = tensors,
    .reference_cpu = flex_reference_cpu,
    .reference_cuda = SDPA_CUDA(flex_reference_cuda),
    .flops = flops,
    .bytes = bytes,
    .queries = sdpa_queries,
    .regimes = { flex_regimes, SDPA_REGIMES },
    .error_scale_cpu = flex_error_scale_cpu,
    .error_scale_cuda = SDPA_CUDA(flex_error_scale_cuda),
    .give = give,
};
