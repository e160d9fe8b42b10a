/* resources_print.c -- see resources_print.h. */
#include "resources/resources_print.h"

#include <stdlib.h>
#include <string.h>

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

static void print_reason(const struct kg_resource *resource, FILE *out)
{
    char name[KG_SHORT_NAME_SIZE];
    if (!resource->reason[0])
        return;
    kg_resource_short_name(kg_resource_name(resource), name, sizeof name);
    fprintf(out, "%s %s/%s: %s\n", kg_verdict_name(resource->verdict), kg_resource_arch(resource), name,
            resource->reason);
    if (strcmp(name, kg_resource_name(resource)))
        fprintf(out, "    %s\n", kg_resource_name(resource));
}

void kg_resources_print_text(const struct kg_resource *items, size_t count, FILE *out)
{
    size_t counts[KG_VERDICTS] = { 0 };
    const char *comma = ":";
    fprintf(out, "%-8s %-8s %4s %6s %11s %6s %4s %7s %6s  %-14s %5s  %-16s  %s\n", "verdict", "arch", "regs", "stack",
            "spill st/ld", "shared", "bar", "threads", "blocks", "tensor (PTX)", "SASS", "code", "kernel");
    for (size_t i = 0; i < count; i++)
        print_row(&items[i], out);
    for (size_t i = 0; i < count; i++) {
        counts[items[i].verdict]++;
        print_reason(&items[i], out);
    }
    fprintf(out, "%zu kernel%s", count, count == 1 ? "" : "s");
    for (int verdict = 0; verdict < KG_VERDICTS; verdict++) {
        if (!counts[verdict])
            continue;
        fprintf(out, "%s %zu %s", comma, counts[verdict], kg_verdict_name(verdict));
        comma = ",";
    }
    fputc('\n', out);
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
