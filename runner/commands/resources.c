/* resources.c -- `kgate resources`: the kernels of a module's build, gated against what was blessed of them.
 * Nothing is run: this needs no GPU. */
#include <stdlib.h>
#include <string.h>

#include "run/bless.h"
#include "base/lock.h"
#include "resources/resources_file.h"
#include "resources/resources_print.h"
#include "commands/commands.h"
#include "judge/verdict.h"
#include "run/tables.h"

#define ALL_SKIPPED 77

struct gate {
    const struct kg_options *options;
    struct kg_loaded module;
    char folder[KG_PATH_SIZE];
    struct kg_expected_kernels expected;
    struct kg_resource *items; /* by architecture, then name */
    size_t count;
};

/* ---- what is judged -------------------------------------------------------------------------------------------- */

/* A pattern is over sm_90a/flash_kernel<…> and sm_90a/_Z12flash_kernel…. */
static bool pattern_matches(const char *pattern, const char *arch, const char *name)
{
    char brief[KG_SHORT_NAME_SIZE], id[5000];
    kg_resource_short_name(name, brief, sizeof brief);
    snprintf(id, sizeof id, "%s/%s", arch, name);
    if (kg_pattern_matches(pattern, id))
        return true;
    snprintf(id, sizeof id, "%s/%s", arch, brief);
    return kg_pattern_matches(pattern, id);
}

static bool selected(const struct kg_options *options, const char *arch, const char *name)
{
    const struct kg_selection *s = &options->selection;
    bool any = s->n_patterns == 0;
    for (size_t i = 0; i < s->n_patterns && !any; i++)
        any = pattern_matches(s->patterns[i], arch, name);
    return any;
}

static bool built_for(const struct kg_module *module, const char *arch)
{
    for (size_t i = 0; i < module->n_kernels; i++)
        if (!strcmp(module->kernels[i].arch, arch))
            return true;
    return false;
}

static const kg_kernel *find_kernel(const struct kg_module *module, const kg_kernel *like)
{
    for (size_t i = 0; i < module->n_kernels; i++)
        if (!strcmp(module->kernels[i].name, like->name) && !strcmp(module->kernels[i].arch, like->arch))
            return &module->kernels[i];
    return NULL;
}

static int compare(const void *left, const void *right)
{
    const struct kg_resource *a = left, *b = right;
    int by_arch = strcmp(kg_resource_arch(a), kg_resource_arch(b));
    return by_arch ? by_arch : strcmp(kg_resource_name(a), kg_resource_name(b));
}

/* What was blessed of architectures that this build leaves out is not asked for. */
static int collect(struct gate *g, kg_error *ret_error)
{
    const struct kg_module *module = g->module.root;
    g->items = calloc(module->n_kernels + g->expected.count, sizeof *g->items);
    if (!g->items)
        return kg_fail(ret_error, KG_ENOMEM, "out of memory");
    for (size_t i = 0; i < module->n_kernels; i++) {
        const kg_kernel *kernel = &module->kernels[i];
        if (!kernel->notes || !kernel->compiler)
            return kg_fail(ret_error, KG_EINVAL, "module %s: its table of kernels is not by kernel_table",
                           module->name);
        const struct kg_expected_kernel *expected =
            kg_resources_find(&g->expected, module->name, kernel->arch, kernel->name);
        if (selected(g->options, kernel->arch, kernel->name))
            g->items[g->count++] =
                (struct kg_resource){ .now = kernel, .expected = expected ? &expected->kernel : NULL };
    }
    for (size_t i = 0; i < g->expected.count; i++) {
        const struct kg_expected_kernel *expected = &g->expected.items[i];
        if (!strcmp(expected->module, module->name) && built_for(module, expected->kernel.arch) &&
            !find_kernel(module, &expected->kernel) &&
            selected(g->options, expected->kernel.arch, expected->kernel.name))
            g->items[g->count++] = (struct kg_resource){ .expected = &expected->kernel };
    }
    qsort(g->items, g->count, sizeof *g->items, compare);
    for (size_t i = 0; i < g->count; i++)
        kg_resource_judge(&g->items[i]);
    return KG_OK;
}

static int check_patterns(const struct gate *g, kg_error *ret_error)
{
    const struct kg_selection *s = &g->options->selection;
    for (size_t p = 0; p < s->n_patterns; p++) {
        bool matched = false;
        int status = kg_pattern_check(s->patterns[p], ret_error);
        for (size_t i = 0; i < g->count && !matched && !status; i++)
            matched = pattern_matches(s->patterns[p], kg_resource_arch(&g->items[i]), kg_resource_name(&g->items[i]));
        if (!status && !matched)
            status = kg_fail(ret_error, KG_EINVAL, "no kernel matches %.300s", s->patterns[p]);
        if (status)
            return status;
    }
    return KG_OK;
}

/* ---- blessing -------------------------------------------------------------------------------------------------- */

static int provenance_of(const struct gate *g, struct kg_provenance *ret_provenance, kg_error *ret_error)
{
    struct kg_git git;
    struct kg_provenance p = { .dirty = false };
    kg_error why = { 0 };
    kg_git_read(".", g->options->git_sha, &git);
    p.dirty = kg_bless_check_commit(&git, g->module.root, &why) != KG_OK;
    if (p.dirty && !g->options->allow_dirty)
        return kg_fail(ret_error, KG_EINVAL, "%s", why.text);
    snprintf(p.git_sha, sizeof p.git_sha, "%s", git.sha);
    snprintf(p.branch, sizeof p.branch, "%s", git.branch);
    snprintf(p.reason, sizeof p.reason, "%s", g->options->reason);
    kg_session_utc(p.date, sizeof p.date, "%Y-%m-%dT%H:%M:%SZ");
    *ret_provenance = p;
    return KG_OK;
}

/* An entry that says the same keeps its line, so that a bless is a readable diff; but a clean commit replaces a dirty
 * tree. */
static int bless_one(struct kg_expected_kernels *set, const struct kg_module *module,
                     const struct kg_resource *resource, const struct kg_provenance *provenance, FILE *out,
                     kg_error *ret_error)
{
    const kg_kernel *now = resource->now;
    const struct kg_expected_kernel *old = kg_resources_find(set, module->name, now->arch, now->name);
    if (old && kg_resource_same(&old->kernel, now) && (!old->provenance.dirty || provenance->dirty))
        return KG_OK;
    struct kg_resource change = { .now = now, .expected = old ? &old->kernel : NULL };
    kg_resource_judge(&change);
    fprintf(out, "blessed %s/%s: %s\n", now->arch, now->name,
            !old                    ? "new"
            : *change.reason        ? change.reason
            : old->provenance.dirty ? "from a clean commit"
                                    : "recorded anew");
    const struct kg_expected_kernel item = { module->name, *now, *provenance };
    return kg_resources_put(set, &item, ret_error);
}

static void prune_one(struct kg_expected_kernels *set, const struct kg_module *module,
                      const struct kg_resource *resource, FILE *out)
{
    const kg_kernel *gone = resource->expected;
    const struct kg_expected_kernel *old = kg_resources_find(set, module->name, gone->arch, gone->name);
    if (!old)
        return;
    fprintf(out, "pruned %s/%s\n", gone->arch, gone->name);
    kg_resources_remove(set, old);
}

/* The files of the architectures that something was judged of. */
static int save(const struct gate *g, const struct kg_expected_kernels *set, kg_error *ret_error)
{
    int status = KG_OK;
    for (size_t i = 0; i < g->count && !status; i++)
        if (!i || strcmp(kg_resource_arch(&g->items[i - 1]), kg_resource_arch(&g->items[i])))
            status = kg_resources_save(set, g->folder, kg_resource_arch(&g->items[i]), ret_error);
    return status;
}

static int bless(struct gate *g, kg_error *ret_error)
{
    struct kg_expected_kernels set = { .count = 0 };
    struct kg_provenance provenance;
    struct kg_changes changes;
    int status = provenance_of(g, &provenance, ret_error);
    if (!status)
        status = kg_changes_begin(g->folder, &changes, ret_error);
    if (status)
        return status;
    /* Again, under the lock: another bless may have written. */
    status = kg_resources_load(g->folder, &set, ret_error);
    for (size_t i = 0; i < g->count && !status; i++) {
        if (g->items[i].now)
            status = bless_one(&set, g->module.root, &g->items[i], &provenance, changes.lines, ret_error);
        else if (g->options->prune)
            prune_one(&set, g->module.root, &g->items[i], changes.lines);
    }
    if (!status)
        status = save(g, &set, ret_error);
    (void)kg_changes_end(&changes, status, g->options->format == KG_FORMAT_JSON ? stderr : stdout);
    if (status) {
        kg_resources_done(&set);
        return status;
    }
    kg_resources_done(&g->expected);
    g->expected = set;
    free(g->items);
    g->items = NULL;
    g->count = 0;
    return collect(g, ret_error);
}

/* ---- the command ----------------------------------------------------------------------------------------------- */

/* Was anything of this architecture blessed with the nvcc that made this kernel? */
static bool is_known(const struct gate *g, const kg_kernel *kernel)
{
    for (size_t i = 0; i < g->expected.count; i++)
        if (!strcmp(g->expected.items[i].module, g->module.root->name) &&
            !strcmp(g->expected.items[i].kernel.arch, kernel->arch) &&
            !strcmp(g->expected.items[i].kernel.compiler, kernel->compiler))
            return true;
    return false;
}

/* --allow-undecided=new: kernels of an architecture, or of an nvcc, that nothing was blessed of. */
static int status_of(const struct gate *g)
{
    size_t counts[KG_VERDICTS] = { 0 }, n_new = 0;
    if (!g->count) /* all that was selected was gone, and is pruned: patterns that match nothing were refused before */
        return 0;
    for (size_t i = 0; i < g->count; i++) {
        const struct kg_resource *resource = &g->items[i];
        bool is_new = resource->verdict == KG_UNGATED && !is_known(g, resource->now);
        n_new += is_new;
        if (!is_new || !g->options->allow_undecided_new)
            counts[resource->verdict]++;
        else
            counts[KG_PASS]++;
    }
    if (n_new && g->options->allow_undecided_new)
        fprintf(stderr, "kgate: %zu kernels are UNGATED and allowed: nothing was blessed of them with this nvcc\n",
                n_new);
    return kg_verdict_status(counts, g->options->allow_undecided);
}

static int judge(struct gate *g, kg_error *ret_error)
{
    int status = kg_resources_load(g->folder, &g->expected, ret_error);
    if (!status)
        status = collect(g, ret_error);
    if (!status)
        status = check_patterns(g, ret_error);
    if (!status && g->options->bless)
        status = bless(g, ret_error);
    return status;
}

int kg_command_resources(const struct kg_options *options, kg_error *ret_error)
{
    struct gate g = { .options = options };
    int exit_status = 2, status = kg_tables_open(options->module, options, &g.module, ret_error);
    if (status)
        return 2;
    if (!g.module.root->n_kernels) {
        printf("module %s has no kernels of a GPU\n", g.module.root->name);
        return ALL_SKIPPED;
    }
    kg_session_find_expectations(options, g.folder);
    status = judge(&g, ret_error);
    if (!status) {
        exit_status = status_of(&g);
        if (options->format == KG_FORMAT_JSON)
            status = kg_resources_print_json(g.module.root, g.items, g.count, exit_status, stdout, ret_error);
        else
            kg_resources_print_text(g.items, g.count, options->verbose, stdout);
    }
    free(g.items);
    kg_resources_done(&g.expected);
    return status ? 2 : exit_status;
}
