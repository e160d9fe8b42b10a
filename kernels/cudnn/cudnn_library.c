/* cudnn_library.c -- opens libcudnn.so.9, checks its version, and wraps backend descriptors so that errors stick.
 *
 * A function of cuDNN that is missing here needs a member in cudnn_library.h and a row in `symbols`.
 */
#include "cudnn/cudnn_library.h"

#include <stdlib.h>
#include <string.h>

#define SONAME "libcudnn.so.9"

static const struct {
    const char *name;
    size_t offset;
} symbols[] = {
#define SYMBOL(name) "cudnn" #name, offsetof(struct cudnn_functions, name)
    { SYMBOL(GetVersion) },
    { SYMBOL(GetErrorString) },
    { SYMBOL(GetLastErrorString) },
    { SYMBOL(GetCallback) },
    { SYMBOL(SetCallback) },
    { SYMBOL(Create) },
    { SYMBOL(Destroy) },
    { SYMBOL(SetStream) },
    { SYMBOL(BackendCreateDescriptor) },
    { SYMBOL(BackendDestroyDescriptor) },
    { SYMBOL(BackendFinalize) },
    { SYMBOL(BackendSetAttribute) },
    { SYMBOL(BackendGetAttribute) },
    { SYMBOL(BackendExecute) },
#undef SYMBOL
};

static int functions_find(const kg_host *host, struct cudnn_functions *ret_functions, kg_error *ret_error)
{
    void *library = NULL;
    kg_error why = { 0 };
    if (host->library_open(host, SONAME, &library, &why) != KG_OK)
        return kg_fail(ret_error, KG_EUNSUPPORTED, "cuDNN is not available: %.400s", why.text);

    for (size_t i = 0; i < sizeof symbols / sizeof *symbols; i++) {
        void *symbol = NULL;
        if (host->library_symbol(library, symbols[i].name, &symbol, &why) != KG_OK)
            return kg_fail(ret_error, KG_EUNSUPPORTED, "%s is not usable: %.400s", SONAME, why.text);
        /* ISO C has no conversion from void * to a function pointer; POSIX promises the same representation. */
        memcpy((char *)ret_functions + symbols[i].offset, &symbol, sizeof symbol);
    }
    return KG_OK;
}

static int version_check(size_t version, const char *text, kg_error *ret_error)
{
    if (version < 90000)
        return kg_fail(ret_error, KG_EUNSUPPORTED, "cuDNN %s is older than 9.0, whose interface is needed", text);
    if (version == 91000 || version == 91001)
        return kg_fail(ret_error, KG_EUNSUPPORTED,
                       "cuDNN %s is refused: NVIDIA declares FP16 and BF16 attention of 9.10.0 and 9.10.1 faulty; "
                       "9.10.2 mends it",
                       text);
    return KG_OK;
}

int cudnn_library_load(const kg_host *host, struct cudnn_library **ret_library, kg_error *ret_error)
{
    struct cudnn_library *library = calloc(1, sizeof *library);
    if (!library)
        return kg_fail(ret_error, KG_ENOMEM, "out of memory");

    int status = functions_find(host, &library->call, ret_error);
    if (status == KG_OK) {
        size_t version = library->call.GetVersion();
        (void)snprintf(library->version, sizeof library->version, "%u.%u.%u", (unsigned)(version / 10000 % 100),
                       (unsigned)(version / 100 % 100), (unsigned)(version % 100));
        status = version_check(version, library->version, ret_error);
    }
    if (status != KG_OK) {
        free(library);
        return status;
    }
    *ret_library = library;
    return KG_OK;
}

int cudnn_library_open(const kg_host *host, const kg_device *device, struct cudnn_library **ret_library,
                       kg_error *ret_error)
{
    struct cudnn_library *library = NULL;
    int status = cudnn_library_load(host, &library, ret_error);
    if (status != KG_OK)
        return status;

    cudaError_t cuda = cudaSetDevice(device->index);
    if (cuda != cudaSuccess) {
        status = kg_fail(ret_error, KG_EDEVICE, "cudaSetDevice: %s", cudaGetErrorString(cuda));
    } else {
        cudnnStatus_t created = library->call.Create(&library->handle);
        if (created != CUDNN_STATUS_SUCCESS)
            status = cudnn_fail(library, created, "cudnnCreate", ret_error);
    }
    if (status != KG_OK) {
        cudnn_library_close(library);
        return status;
    }
    *ret_library = library;
    return KG_OK;
}

void cudnn_library_close(struct cudnn_library *library)
{
    if (!library)
        return;
    if (library->handle)
        library->call.Destroy(library->handle);
    free(library);
}

/* cuDNN's reasons have several lines; ours have one. */
static void lines_join(char *text)
{
    char *to = text;
    for (const char *from = text; *from; from++) {
        char c = *from == '\n' || *from == '\r' || *from == '\t' ? ' ' : *from;
        if (c != ' ' || (to > text && to[-1] != ' '))
            *to++ = c;
    }
    while (to > text && (to[-1] == ' ' || to[-1] == '.'))
        to--;
    *to = '\0';
}

static int describe(const struct cudnn_library *library, cudnnStatus_t status, const char *what, const char *heard,
                    kg_error *ret_error)
{
    char reason[400] = "";
    library->call.GetLastErrorString(reason, sizeof reason);
    reason[sizeof reason - 1] = '\0';
    lines_join(reason);
    const char *why = *reason ? reason : heard;

    int category = (int)CUDNN_STATUS_CATEGORY((int)status);
    /* Engines that cuDNN compiles at run time need an NVRTC that works, which is the machine's to have. */
    bool refused = category == CUDNN_STATUS_NOT_SUPPORTED || category == CUDNN_STATUS_BAD_PARAM ||
                   status == CUDNN_STATUS_INTERNAL_ERROR_COMPILATION_FAILED;
    return kg_fail(ret_error, refused ? KG_EUNSUPPORTED : KG_EDEVICE, "cuDNN %s: %s: %s%s%s", library->version, what,
                   library->call.GetErrorString(status), *why ? ": " : "", why);
}

int cudnn_fail(const struct cudnn_library *library, cudnnStatus_t status, const char *what, kg_error *ret_error)
{
    return describe(library, status, what, "", ret_error);
}

/* A message is lines that each end in a zero byte, then an empty one: a stack of reasons, the most telling first. */
static void message_hear(cudnnSeverity_t severity, void *context, const cudnnDebug_t *debug, const char *message)
{
    static const char mark[] = "Reason: ";
    struct cudnn_listener *listener = context;
    (void)severity;
    (void)debug;
    if (!listener)
        return;
    for (const char *line = message; *line && !*listener->reason; line += strlen(line) + 1) {
        const char *reason = strstr(line, "CUDNN_STATUS_SUCCESS") ? NULL : strstr(line, mark);
        if (reason)
            (void)snprintf(listener->reason, sizeof listener->reason, "%s", reason + sizeof mark - 1);
    }
    lines_join(listener->reason);
}

void cudnn_build_listen(struct cudnn_build *build)
{
    struct cudnn_listener *listener = &build->listener;
    const struct cudnn_functions *call = &build->library->call;
    if (call->GetCallback(&listener->mask, &listener->context, &listener->reader) == CUDNN_STATUS_SUCCESS)
        listener->on = call->SetCallback(CUDNN_SEV_ERROR_EN | CUDNN_SEV_WARNING_EN, listener, message_hear) ==
                       CUDNN_STATUS_SUCCESS;
}

/* Once a reader has been set, cuDNN prints errors where there is none. Where it was silent it stays so, by a reader
 * without a listener. */
static void listener_stop(const struct cudnn_listener *listener, const struct cudnn_functions *call)
{
    bool silent = listener->mask == 0 && !listener->reader;
    if (listener->on)
        (void)call->SetCallback(listener->mask, listener->context, silent ? message_hear : listener->reader);
}

void cudnn_build_init(struct cudnn_build *build, const struct cudnn_library *library)
{
    memset(build, 0, sizeof *build);
    build->library = library;
}

void cudnn_build_done(struct cudnn_build *build)
{
    listener_stop(&build->listener, &build->library->call);
    while (build->n_made > 0)
        build->library->call.BackendDestroyDescriptor(build->made[--build->n_made]);
}

int cudnn_build_status(const struct cudnn_build *build, kg_error *ret_error)
{
    if (build->status != KG_OK && ret_error)
        *ret_error = build->error;
    return build->status;
}

static void check(struct cudnn_build *build, cudnnStatus_t status, const char *verb, int number)
{
    if (status == CUDNN_STATUS_SUCCESS)
        return;
    char what[64];
    (void)snprintf(what, sizeof what, "%s %d", verb, number);
    build->status = describe(build->library, status, what, build->listener.reason, &build->error);
}

cudnnBackendDescriptor_t cudnn_make(struct cudnn_build *build, cudnnBackendDescriptorType_t type)
{
    if (build->status != KG_OK)
        return NULL;
    if (build->n_made == CUDNN_BUILD_MAX) {
        build->status =
            kg_fail(&build->error, KG_EINVAL, "more than %d descriptors in one cuDNN graph", CUDNN_BUILD_MAX);
        return NULL;
    }
    cudnnBackendDescriptor_t descriptor = NULL;
    check(build, build->library->call.BackendCreateDescriptor(type, &descriptor), "create descriptor", (int)type);
    if (build->status != KG_OK)
        return NULL;
    build->made[build->n_made++] = descriptor;
    return descriptor;
}

void cudnn_set(struct cudnn_build *build, cudnnBackendDescriptor_t descriptor, cudnnBackendAttributeName_t name,
               cudnnBackendAttributeType_t type, int64_t count, const void *values)
{
    if (build->status == KG_OK)
        check(build, build->library->call.BackendSetAttribute(descriptor, name, type, count, values), "set attribute",
              (int)name);
}

void cudnn_set_descriptor(struct cudnn_build *build, cudnnBackendDescriptor_t descriptor,
                          cudnnBackendAttributeName_t name, cudnnBackendDescriptor_t value)
{
    cudnn_set(build, descriptor, name, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &value);
}

void cudnn_get(struct cudnn_build *build, cudnnBackendDescriptor_t descriptor, cudnnBackendAttributeName_t name,
               cudnnBackendAttributeType_t type, int64_t room, int64_t *ret_count, void *ret_values)
{
    if (build->status != KG_OK)
        return;
    int64_t count = 0;
    build->listener.reason[0] = '\0';
    check(build, build->library->call.BackendGetAttribute(descriptor, name, type, room, &count, ret_values),
          "get attribute", (int)name);
    if (build->status == KG_OK && ret_count)
        *ret_count = count;
}

void cudnn_finalize(struct cudnn_build *build, cudnnBackendDescriptor_t descriptor, const char *what)
{
    if (build->status != KG_OK)
        return;
    build->listener.reason[0] = '\0';
    cudnnStatus_t status = build->library->call.BackendFinalize(descriptor);
    if (status != CUDNN_STATUS_SUCCESS)
        build->status = describe(build->library, status, what, build->listener.reason, &build->error);
}

cudnnBackendDescriptor_t cudnn_take(struct cudnn_build *build, cudnnBackendDescriptor_t descriptor)
{
    if (build->status != KG_OK)
        return NULL;
    for (int i = 0; i < build->n_made; i++) {
        if (build->made[i] == descriptor) {
            build->made[i] = build->made[--build->n_made];
            return descriptor;
        }
    }
    return NULL;
}
