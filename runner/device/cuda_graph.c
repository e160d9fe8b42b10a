/* cuda_graph.c -- reads a captured graph: how many nodes of which sort, the kernels' names, sizes and arguments. Names
 * come from the driver, so kernels that a library compiled at run time are named too; its functions are found through
 * the runtime. */
#include "device/device_cuda.h"

#include <cuda.h>
#include <cudaTypedefs.h>
#include <stdlib.h>
#include <string.h>

#include "base/random.h"

struct driver {
    PFN_cuGraphKernelNodeGetParams_v12000 node_params;
    PFN_cuGraphKernelNodeGetAttribute_v11000 node_attribute;
    PFN_cuFuncGetName_v12030 function_name;
    PFN_cuKernelGetName_v12030 kernel_name;
    PFN_cuFuncGetParamInfo_v12040 function_argument;
    PFN_cuKernelGetParamInfo_v12040 kernel_argument;
};

/* What is walked, and where it goes to. */
struct walk {
    struct driver driver;
    struct kg_launch_info *info;
    struct kg_arguments *arguments;
};

static int find(const char *name, unsigned int version, void *ret_function, kg_error *ret_error)
{
    void *symbol = NULL;
    enum cudaDriverEntryPointQueryResult found = cudaDriverEntryPointSymbolNotFound;
    cudaError_t status = cudaGetDriverEntryPointByVersion(name, &symbol, version, cudaEnableDefault, &found);
    int rc = kg_cuda_check(status, name, ret_error);
    if (rc == KG_OK && (found != cudaDriverEntryPointSuccess || !symbol))
        rc = kg_fail(ret_error, KG_EDEVICE, "the driver has no %s", name);
    if (rc == KG_OK)
        memcpy(ret_function, &symbol, sizeof symbol);
    return rc;
}

static int find_driver(struct driver *driver, kg_error *ret_error)
{
    int rc = find("cuGraphKernelNodeGetParams", 12000, &driver->node_params, ret_error);
    if (rc == KG_OK)
        rc = find("cuGraphKernelNodeGetAttribute", 11000, &driver->node_attribute, ret_error);
    if (rc == KG_OK)
        rc = find("cuFuncGetName", 12030, &driver->function_name, ret_error);
    if (rc == KG_OK)
        rc = find("cuKernelGetName", 12030, &driver->kernel_name, ret_error);
    if (rc == KG_OK)
        rc = find("cuFuncGetParamInfo", 12040, &driver->function_argument, ret_error);
    if (rc == KG_OK)
        rc = find("cuKernelGetParamInfo", 12040, &driver->kernel_argument, ret_error);
    return rc;
}

static void take_sizes(const struct driver *driver, cudaGraphNode_t node, const CUDA_KERNEL_NODE_PARAMS_v2 *params,
                       struct kg_launched *kernel)
{
    CUlaunchAttributeValue value = { 0 };
    const unsigned sizes[] = { params->gridDimX,  params->gridDimY,  params->gridDimZ,
                               params->blockDimX, params->blockDimY, params->blockDimZ };
    for (int i = 0; i < 3; i++) {
        kernel->grid[i] = (int)sizes[i];
        kernel->block[i] = (int)sizes[3 + i];
    }
    kernel->shared_bytes = (int)params->sharedMemBytes;
    if (driver->node_attribute(node, CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION, &value) != CUDA_SUCCESS)
        return;
    kernel->cluster[0] = (int)value.clusterDim.x;
    kernel->cluster[1] = (int)value.clusterDim.y;
    kernel->cluster[2] = (int)value.clusterDim.z;
}

/* Bytes at `offset`. */
static int put(struct kg_arguments *arguments, size_t offset, const void *bytes, size_t size, kg_error *ret_error)
{
    const size_t count = (offset + size + 7) / 8;
    if (count > arguments->count) {
        uint64_t *words = realloc(arguments->words, count * sizeof *words);
        if (!words)
            return kg_fail(ret_error, KG_ENOMEM, "no host memory for a kernel's arguments");
        memset(words + arguments->count, 0, (count - arguments->count) * sizeof *words);
        *arguments = (struct kg_arguments){ words, count };
    }
    memcpy((char *)arguments->words + offset, bytes, size);
    return KG_OK;
}

/* Of attributes those that nobody sets by the way. */
static int take_arguments(const struct driver *driver, cudaGraphNode_t node, const CUDA_KERNEL_NODE_PARAMS_v2 *params,
                          struct kg_arguments *arguments, kg_error *ret_error)
{
    static const CUlaunchAttributeID ids[] = { CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW,
                                               CU_LAUNCH_ATTRIBUTE_COOPERATIVE, CU_LAUNCH_ATTRIBUTE_PRIORITY };
    int rc = KG_OK;
    for (size_t i = 0, offset, size; params->kernelParams && rc == KG_OK; i++) {
        const CUresult found = params->func ? driver->function_argument(params->func, i, &offset, &size)
                                            : driver->kernel_argument(params->kern, i, &offset, &size);
        if (found != CUDA_SUCCESS)
            break;
        rc = put(arguments, offset, params->kernelParams[i], size, ret_error);
    }
    for (size_t i = 0; i < sizeof ids / sizeof *ids && rc == KG_OK; i++) {
        CUlaunchAttributeValue value = { 0 };
        (void)driver->node_attribute(node, ids[i], &value);
        rc = put(arguments, 8 * arguments->count, &value, sizeof value, ret_error);
    }
    return rc;
}

static bool is_address(uint64_t word)
{
    struct cudaPointerAttributes found = { .type = cudaMemoryTypeUnregistered };
    void *pointer = NULL;
    memcpy(&pointer, &word, sizeof pointer);
    const cudaError_t status = cudaPointerGetAttributes(&found, pointer);
    (void)cudaGetLastError();
    return status == cudaSuccess && found.type != cudaMemoryTypeUnregistered;
}

int kg_cuda_arguments_hash(const struct kg_arguments *one, const struct kg_arguments *other)
{
    uint64_t hash = 0;
    if (!one->count || one->count != other->count)
        return 0;
    for (size_t i = 0; i < one->count; i++)
        if (one->words[i] && one->words[i] == other->words[i] && !is_address(one->words[i]))
            hash = kg_mix64(hash ^ kg_mix64(one->words[i] + i));
    return (int)(hash >> 33) + !(hash >> 33);
}

static int add_kernel(struct walk *w, cudaGraphNode_t node, kg_error *ret_error)
{
    const struct driver *driver = &w->driver;
    CUDA_KERNEL_NODE_PARAMS_v2 params = { 0 };
    const char *name = NULL;
    CUresult status = driver->node_params(node, &params);
    if (status == CUDA_SUCCESS)
        status = params.func ? driver->function_name(&name, params.func) : driver->kernel_name(&name, params.kern);
    if (status != CUDA_SUCCESS || !name)
        return kg_fail(ret_error, KG_EDEVICE, "the driver does not name a kernel of the graph: CUDA error %d",
                       (int)status);
    w->info->kernels++;
    if (w->info->n_launched == KG_MAX_KERNELS)
        return KG_OK;
    const int at = w->info->n_launched++;
    struct kg_launched *kernel = &w->info->launched[at];
    (void)snprintf(kernel->name, sizeof kernel->name, "%s", name);
    take_sizes(driver, node, &params, kernel);
    return take_arguments(driver, node, &params, &w->arguments[at], ret_error);
}

static int walk(struct walk *w, cudaGraph_t graph, kg_error *ret_error);

static int add_node(struct walk *w, cudaGraphNode_t node, kg_error *ret_error)
{
    enum cudaGraphNodeType type;
    int rc = kg_cuda_check(cudaGraphNodeGetType(node, &type), "type of a graph's node", ret_error);
    if (rc < 0)
        return rc;
    cudaGraph_t child;
    switch (type) {
    case cudaGraphNodeTypeKernel:
        return add_kernel(w, node, ret_error);
    case cudaGraphNodeTypeMemcpy:
    case cudaGraphNodeTypeMemset:
    case cudaGraphNodeTypeMemAlloc:
    case cudaGraphNodeTypeMemFree:
        w->info->memory_nodes++;
        return KG_OK;
    case cudaGraphNodeTypeGraph:
        rc = kg_cuda_check(cudaGraphChildGraphNodeGetGraph(node, &child), "child graph", ret_error);
        return rc < 0 ? rc : walk(w, child, ret_error);
    default:
        w->info->other_nodes++;
        return KG_OK;
    }
}

struct edges {
    size_t count;
    cudaGraphNode_t *from, *to;
    cudaGraphEdgeData *data; /* asked for because a query without it fails where an edge is a programmatic one */
};

static int read_edges(cudaGraph_t graph, struct edges *edges, kg_error *ret_error)
{
    int rc = kg_cuda_check(cudaGraphGetEdges(graph, NULL, NULL, NULL, &edges->count), "edges of a graph", ret_error);
    if (rc < 0 || edges->count == 0)
        return rc;
    edges->from = calloc(edges->count, sizeof *edges->from);
    edges->to = calloc(edges->count, sizeof *edges->to);
    edges->data = calloc(edges->count, sizeof *edges->data);
    if (!edges->from || !edges->to || !edges->data)
        return kg_fail(ret_error, KG_ENOMEM, "no host memory for %zu edges of a graph", edges->count);
    return kg_cuda_check(cudaGraphGetEdges(graph, edges->from, edges->to, edges->data, &edges->count),
                         "edges of a graph", ret_error);
}

static void edges_done(struct edges *edges)
{
    free(edges->from);
    free(edges->to);
    free(edges->data);
}

static bool waits(cudaGraphNode_t node, const struct edges *edges, cudaGraphNode_t *pending, size_t n_pending)
{
    for (size_t i = 0; i < edges->count; i++)
        for (size_t k = 0; edges->to[i] == node && k < n_pending; k++)
            if (pending[k] == edges->from[i])
                return true;
    return false;
}

/* Launch order: at each step the first node left that no other node left precedes. */
static void sort_nodes(cudaGraphNode_t *nodes, size_t count, const struct edges *edges)
{
    for (size_t done = 0; done < count; done++) {
        size_t next = done;
        while (next + 1 < count && waits(nodes[next], edges, nodes + done, count - done))
            next++;
        cudaGraphNode_t node = nodes[next];
        memmove(nodes + done + 1, nodes + done, (next - done) * sizeof *nodes);
        nodes[done] = node;
    }
}

static int walk(struct walk *w, cudaGraph_t graph, kg_error *ret_error)
{
    struct edges edges = { 0 };
    cudaGraphNode_t *nodes = NULL;
    size_t count = 0;
    int rc = kg_cuda_check(cudaGraphGetNodes(graph, NULL, &count), "nodes of a graph", ret_error);
    if (rc < 0 || count == 0)
        return rc;
    nodes = calloc(count, sizeof *nodes);
    if (!nodes) {
        rc = kg_fail(ret_error, KG_ENOMEM, "no host memory for %zu nodes of a graph", count);
        goto out;
    }
    rc = kg_cuda_check(cudaGraphGetNodes(graph, nodes, &count), "nodes of a graph", ret_error);
    if (rc == KG_OK)
        rc = read_edges(graph, &edges, ret_error);
    if (rc == KG_OK)
        sort_nodes(nodes, count, &edges);
    for (size_t i = 0; rc == KG_OK && i < edges.count; i++)
        w->info->early_starts += edges.data[i].type == cudaGraphDependencyTypeProgrammatic;
    for (size_t i = 0; rc == KG_OK && i < count; i++)
        rc = add_node(w, nodes[i], ret_error);
out:
    edges_done(&edges);
    free(nodes);
    return rc;
}

int kg_cuda_graph_walk(cudaGraph_t graph, struct kg_launch_info *info, struct kg_arguments arguments[KG_MAX_KERNELS],
                       kg_error *ret_error)
{
    struct walk w = { .info = info, .arguments = arguments };
    const int rc = find_driver(&w.driver, ret_error);
    return rc < 0 ? rc : walk(&w, graph, ret_error);
}
