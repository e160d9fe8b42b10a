/* resources_print.c -- see resources_print.h. A new figure is a column of print_row and of the heading. */
#include "resources/resources_print.h"

#include <stdlib.h>
#include <string.h>

#include "base/format.h"
#include "base/json.h"
#include "resources/resources_file.h"

const char *kg_resource_name(const struct kg_resource *resource)
{
    return resource->now ? resource->now->name : resource->expected->name;
}

const char *kg_resource_arch(const struct kg_resource *resource)
{
    return resource->now ? resource->now->arch : resource->expected->arch;
}

/* "32 mma.sync", "8 wgmma + 2 mma.sync", "-" */
static void tensor_text(const kg_kernel *kernel, char *ret_text, size_t size)
{
    size_t used = 0;
    snprintf(ret_text, size, "-");
    for (int i = 0; i < KG_TENSOR_KINDS; i++)
        if (kernel->tensor[i] && used < size)
            used += (size_t)snprintf(ret_text + used, size - used, "%s%d %s", used ? " + " : "", kernel->tensor[i],
                                     KG_TENSOR_NAMES[i]);
}

static void print_row(const struct kg_resource *resource, FILE *out)
{
    const kg_kernel *kernel = resource->now ? resource->now : resource->expected;
    char name[KG_SHORT_NAME_SIZE], tensor[128], spills[32], sass[16] = "-";
    kg_resource_short_name(kernel->name, name, sizeof name);
    tensor_text(kernel, tensor, sizeof tensor);
    snprintf(spills, sizeof spills, "%d/%d", kernel->spill_store_bytes, kernel->spill_load_bytes);
    if (kernel->tensor_sass >= 0)
        snprintf(sass, sizeof sass, "%d", kernel->tensor_sass);
    fprintf(out, "%-8s %-8s %4d %6d %11s %6d %4d %7d %6d  %-14s %5s  %-16s  %s\n", kg_verdict_name(resource->verdict),
            kernel->arch, kernel->registers, kernel->stack_bytes, spills, kernel->shared_bytes, kernel->barriers,
            kg_resource_threads(kernel), kg_resource_blocks(kernel), tensor, sass, kernel->code_hash, name);
}

/* Other machine code alone is a matter of course wherever a source is touched: it is counted, not told. */
static bool is_told(const struct kg_resource *resource, bool verbose)
{
    return resource->reason[0] &&
           (verbose || resource->verdict != KG_PASS || strcmp(resource->reason, KG_RESOURCE_CODE_CHANGED));
}

static void print_reason(const struct kg_resource *resource, FILE *out)
{
    char name[KG_SHORT_NAME_SIZE];
    kg_resource_short_name(kg_resource_name(resource), name, sizeof name);
    fprintf(out, "%s %s/%s: %s\n", kg_verdict_name(resource->verdict), kg_resource_arch(resource), name,
            resource->reason);
    if (strcmp(name, kg_resource_name(resource)))
        fprintf(out, "    %s\n", kg_resource_name(resource));
}

static void print_table(const struct kg_resource *items, size_t count, bool verbose, FILE *out)
{
    bool begun = false;
    for (size_t i = 0; i < count; i++) {
        if (items[i].verdict == KG_PASS && !verbose)
            continue;
        if (!begun)
            fprintf(out, "%-8s %-8s %4s %6s %11s %6s %4s %7s %6s  %-14s %5s  %-16s  %s\n", "verdict", "arch", "regs",
                    "stack", "spill st/ld", "shared", "bar", "threads", "blocks", "tensor (PTX)", "SASS", "code",
                    "kernel");
        begun = true;
        print_row(&items[i], out);
    }
}

/* "sm_90a: 70 PASS, 1 FAIL; 12 with other code" */
static void print_counts(const char *of, const struct kg_resource *items, size_t count, FILE *out)
{
    size_t counts[KG_VERDICTS] = { 0 }, other = 0;
    const char *comma = ":";
    for (size_t i = 0; i < count; i++) {
        counts[items[i].verdict]++;
        other += items[i].now && items[i].expected && strcmp(items[i].now->code_hash, items[i].expected->code_hash);
    }
    fputs(of, out);
    for (int verdict = 0; verdict < KG_VERDICTS; verdict++) {
        if (!counts[verdict])
            continue;
        fprintf(out, "%s %zu %s", comma, counts[verdict], kg_verdict_name(verdict));
        comma = ",";
    }
    if (other)
        fprintf(out, "; %zu with other code", other);
    fputc('\n', out);
}

void kg_resources_print_text(const struct kg_resource *items, size_t count, bool verbose, FILE *out)
{
    print_table(items, count, verbose, out);
    for (size_t i = 0; i < count; i++)
        if (is_told(&items[i], verbose))
            print_reason(&items[i], out);
    for (size_t first = 0, end = 0; first < count; first = end) {
        while (end < count && !strcmp(kg_resource_arch(&items[end]), kg_resource_arch(&items[first])))
            end++;
        print_counts(kg_resource_arch(&items[first]), &items[first], end - first, out);
    }
    print_counts(kg_format("%zu kernel%s", count, count == 1 ? "" : "s").s, items, count, out);
}

static cJSON *to_json(const struct kg_resource *resource)
{
    const kg_kernel *kernel = resource->now ? resource->now : resource->expected;
    char name[KG_SHORT_NAME_SIZE];
    cJSON *one = cJSON_CreateObject();
    kg_resource_short_name(kernel->name, name, sizeof name);
    cJSON_AddStringToObject(one, "name", kernel->name);
    cJSON_AddStringToObject(one, "short_name", name);
    cJSON_AddStringToObject(one, "arch", kernel->arch);
    cJSON_AddStringToObject(one, "verdict", kg_verdict_name(resource->verdict));
    cJSON_AddStringToObject(one, "reason", resource->reason);
    if (resource->now)
        kg_kernel_add_json(one, resource->now);
    cJSON_AddNumberToObject(one, "blocks", kg_resource_blocks(kernel));
    if (resource->expected)
        kg_kernel_add_json(cJSON_AddObjectToObject(one, "expected"), resource->expected);
    return one;
}

int kg_resources_print_json(const struct kg_module *module, const struct kg_resource *items, size_t count, int status,
                            FILE *out, kg_error *ret_error)
{
    cJSON *root = cJSON_CreateObject();
    cJSON_AddStringToObject(root, "module", module->name);
    cJSON_AddStringToObject(root, "git_sha", module->git_sha);
    cJSON_AddNumberToObject(root, "status", status);
    cJSON *kernels = cJSON_AddArrayToObject(root, "kernels");
    for (size_t i = 0; i < count; i++)
        cJSON_AddItemToArray(kernels, to_json(&items[i]));
    return kg_json_put(root, out, ret_error);
}
