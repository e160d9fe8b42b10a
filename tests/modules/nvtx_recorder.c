/* nvtx_recorder.c -- a tool as NVTX loads one by NVTX_INJECTION64_PATH: appends what it is told to the file that
 * NVTX_RECORD names, a line each, at once, so that what a dying worker leaves open shows:
 *
 *     THREAD push DEPTH DOMAIN TEXT
 *     THREAD pop DEPTH DOMAIN        DEPTH: of the range, 1 the outermost; 0: none was open */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <nvtx3/nvToolsExt.h>

static int record = -1;
static _Thread_local int depth;

static nvtxDomainHandle_t NVTX_API create(const char *name)
{
    return (nvtxDomainHandle_t)strdup(name); /* kept, as the domain is */
}

static int NVTX_API push(nvtxDomainHandle_t domain, const nvtxEventAttributes_t *range)
{
    dprintf(record, "%d push %d %s %s\n", gettid(), ++depth, (const char *)domain, range->message.ascii);
    return depth - 1;
}

static int NVTX_API pop(nvtxDomainHandle_t domain)
{
    dprintf(record, "%d pop %d %s\n", gettid(), depth, (const char *)domain);
    depth -= depth > 0;
    return depth;
}

int InitializeInjectionNvtx2(NvtxGetExportTableFunc_t export_table);
int InitializeInjectionNvtx2(NvtxGetExportTableFunc_t export_table)
{
    const NvtxExportTableCallbacks *callbacks = export_table(NVTX_ETID_CALLBACKS);
    const char *path = getenv("NVTX_RECORD");
    NvtxFunctionTable table = NULL;
    unsigned size = 0;
    if (!path || !callbacks || !callbacks->GetModuleFunctionTable(NVTX_CB_MODULE_CORE2, &table, &size) ||
        size <= NVTX_CBID_CORE2_DomainCreateA)
        return 0;
    record = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    if (record < 0)
        return 0;
    *table[NVTX_CBID_CORE2_DomainCreateA] = (NvtxFunctionPointer)create;
    *table[NVTX_CBID_CORE2_DomainRangePushEx] = (NvtxFunctionPointer)push;
    *table[NVTX_CBID_CORE2_DomainRangePop] = (NvtxFunctionPointer)pop;
    return 1;
}
