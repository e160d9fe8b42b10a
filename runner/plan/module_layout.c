/* module_layout.c -- copies of a module's tables: in the layout of this kgate.h, where they were built against an older
 * one, and judged as a baseline's. Another struct that stands in a table gets its size in the root and its line here.
 */
#include <stdlib.h>
#include <string.h>

#include "plan/module.h"

#define OLDEST_ABI 5u

/* Structs in this layout, made of the module's `own`; until exit, as modules stay loaded. */
struct piece {
    struct piece *next;
    const void *own;
    max_align_t copy[];
};
static struct piece *pieces;

struct layout {
    const struct kg_module *own;
    const struct piece *others; /* made before, of other modules */
    bool failed;
};

/* Of `count` structs of `own_size` bytes each as many of `size`; members that they lack are 0. NULL: there is none, or
 * no memory. */
static void *lay_out(struct layout *l, const void *own, size_t count, size_t own_size, size_t size)
{
    struct piece *piece = own && count ? calloc(1, sizeof *piece + count * size) : NULL;
    l->failed = l->failed || (own && count && !piece);
    if (!piece)
        return NULL;
    *piece = (struct piece){ .next = pieces, .own = own };
    pieces = piece;
    for (size_t i = 0; i < count; i++)
        memcpy((char *)piece->copy + i * size, (const char *)own + i * own_size, own_size);
    return piece->copy;
}

/* What stands for this one already: tables name it more than once, and candidates may name each other. */
static void *find(const struct layout *l, const void *own)
{
    for (struct piece *piece = pieces; piece != l->others; piece = piece->next)
        if (piece->own == own)
            return piece->copy;
    return NULL;
}

static kg_fields fields(struct layout *l, kg_fields own)
{
    return (kg_fields){ lay_out(l, own.items, own.count, l->own->field_size, sizeof(kg_field)), own.count };
}

static const kg_backend *const *backends(struct layout *l, const kg_backend *const *own, size_t count);

static const kg_backend *backend(struct layout *l, const kg_backend *own)
{
    kg_backend *copy = find(l, own);
    if (copy || !(copy = lay_out(l, own, 1, l->own->backend_size, sizeof *copy)))
        return copy;
    copy->self = own;
    copy->knobs = fields(l, copy->knobs);
    size_t count = 0;
    while (copy->candidates && copy->candidates[count])
        count++;
    if (copy->candidates)
        copy->candidates = backends(l, copy->candidates, count + 1);
    return copy;
}

static const kg_backend *const *backends(struct layout *l, const kg_backend *const *own, size_t count)
{
    const kg_backend **copy = lay_out(l, own, count, sizeof *own, sizeof *own);
    for (size_t i = 0; copy && i < count; i++)
        copy[i] = backend(l, own[i]);
    return copy;
}

static const kg_op *op(struct layout *l, const kg_op *own)
{
    kg_op *copy = find(l, own);
    if (copy || !(copy = lay_out(l, own, 1, l->own->op_size, sizeof *copy)))
        return copy;
    copy->fields = fields(l, copy->fields);
    return copy;
}

static const kg_suite *suite(struct layout *l, const kg_suite *own)
{
    kg_suite *copy = find(l, own);
    if (copy || !(copy = lay_out(l, own, 1, l->own->suite_size, sizeof *copy)))
        return copy;
    copy->op = op(l, copy->op);
    copy->backends.items = backends(l, copy->backends.items, copy->backends.count);
    copy->anchor = backend(l, copy->anchor);
    copy->cpu_anchor = backend(l, copy->cpu_anchor);
    copy->contest = (kg_contest){ backend(l, copy->contest.ours), backend(l, copy->contest.baseline) };
    copy->clean = backend(l, copy->clean);
    copy->xfails.items = lay_out(l, copy->xfails.items, copy->xfails.count, l->own->xfail_size, sizeof(kg_xfail));
    return copy;
}

static const struct kg_module *the_module(struct layout *l)
{
    struct kg_module *copy = lay_out(l, l->own, 1, l->own->module_size, sizeof *copy);
    if (!copy)
        return NULL;
    const kg_suite **suites = lay_out(l, copy->suites, copy->n_suites, sizeof *suites, sizeof *suites);
    for (size_t i = 0; suites && i < copy->n_suites; i++)
        suites[i] = suite(l, suites[i]);
    copy->suites = suites;
    copy->kernels = lay_out(l, copy->kernels, copy->n_kernels, l->own->kernel_size, sizeof(kg_kernel));
    return copy;
}

int kg_module_lay_out(const struct kg_module *own, const struct kg_module **ret_module, kg_error *ret_error)
{
    if (own->abi < OLDEST_ABI || own->abi > KG_ABI)
        return kg_fail(ret_error, KG_EUNSUPPORTED, "module of ABI %u, this kgate has %u: %s", own->abi, KG_ABI,
                       own->abi < KG_ABI ? "rebuild the module" : "take a newer kgate");
    const struct kg_module here = { KG_MODULE_SIZES };
    const uint32_t sizes[][2] = { { own->module_size, here.module_size }, { own->suite_size, here.suite_size },
                                  { own->op_size, here.op_size },         { own->backend_size, here.backend_size },
                                  { own->kernel_size, here.kernel_size }, { own->field_size, here.field_size },
                                  { own->xfail_size, here.xfail_size } };
    bool same = true;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        if (sizes[i][0] > sizes[i][1])
            return kg_fail(ret_error, KG_EUNSUPPORTED, "module built against another kgate.h: rebuild the module");
        same = same && sizes[i][0] == sizes[i][1];
    }
    struct layout l = { .own = own, .others = pieces };
    const struct kg_module *module = same ? own : the_module(&l);
    if (l.failed)
        return kg_fail(ret_error, KG_ENOMEM, "out of memory for a module's tables");
    *ret_module = module;
    return KG_OK;
}

const kg_suite *kg_suite_with_gates(const kg_suite *suite, const kg_gates *gates)
{
    struct layout l = { 0 };
    kg_suite *held = lay_out(&l, suite, 1, sizeof *held, sizeof *held);
    if (held)
        held->gates = *gates;
    return held;
}

int kg_module_hold_to(const struct kg_module *baseline, const struct kg_module **module, kg_error *ret_error)
{
    const struct kg_module *own = *module;
    struct layout l = { .own = own };
    struct kg_module *copy = lay_out(&l, own, 1, sizeof *copy, sizeof *copy);
    const kg_suite **suites = lay_out(&l, own->suites, own->n_suites, sizeof *suites, sizeof *suites);
    for (size_t i = 0; suites && i < own->n_suites; i++) {
        const kg_suite *judge = kg_module_suite(baseline, suites[i]->name);
        kg_suite *held = judge ? lay_out(&l, suites[i], 1, sizeof *held, sizeof *held) : NULL;
        if (!held)
            continue;
        held->gates = judge->gates;
        held->xfails = judge->xfails;
        suites[i] = held;
    }
    if (l.failed)
        return kg_fail(ret_error, KG_ENOMEM, "out of memory for a module's tables");
    copy->suites = suites;
    *module = copy;
    return KG_OK;
}
