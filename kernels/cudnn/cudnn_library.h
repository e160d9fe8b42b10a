/* cudnn_library.h -- cuDNN opened at run time, and its backend descriptors with errors that stick.
 *
 * A graph is written as a plain sequence of cudnn_make / cudnn_set / cudnn_finalize on one cudnn_build: the first
 * failure is kept in the build, every later call then does nothing, and the caller looks at build.status once.
 */
#ifndef CUDNN_LIBRARY_H
#define CUDNN_LIBRARY_H

#include <cudnn.h>

#include "kgate.h"

/* What is called of cuDNN; one row of a table in cudnn_library.c each. */
struct cudnn_functions {
    size_t (*GetVersion)(void);
    const char *(*GetErrorString)(cudnnStatus_t);
    void (*GetLastErrorString)(char *, size_t);
    cudnnStatus_t (*GetCallback)(unsigned *, void **, cudnnCallback_t *);
    cudnnStatus_t (*SetCallback)(unsigned, void *, cudnnCallback_t);
    cudnnStatus_t (*Create)(cudnnHandle_t *);
    cudnnStatus_t (*Destroy)(cudnnHandle_t);
    cudnnStatus_t (*SetStream)(cudnnHandle_t, cudaStream_t);
    cudnnStatus_t (*BackendCreateDescriptor)(cudnnBackendDescriptorType_t, cudnnBackendDescriptor_t *);
    cudnnStatus_t (*BackendDestroyDescriptor)(cudnnBackendDescriptor_t);
    cudnnStatus_t (*BackendFinalize)(cudnnBackendDescriptor_t);
    cudnnStatus_t (*BackendSetAttribute)(cudnnBackendDescriptor_t, cudnnBackendAttributeName_t,
                                         cudnnBackendAttributeType_t, int64_t, const void *);
    cudnnStatus_t (*BackendGetAttribute)(cudnnBackendDescriptor_t, cudnnBackendAttributeName_t,
                                         cudnnBackendAttributeType_t, int64_t, int64_t *, void *);
    cudnnStatus_t (*BackendExecute)(cudnnHandle_t, cudnnBackendDescriptor_t, cudnnBackendDescriptor_t);
};

struct cudnn_library {
    struct cudnn_functions call;
    char version[16]; /* 9.19.0 */
    cudnnHandle_t handle;
    /* A finalised DEVICEPROP descriptor stands in for `handle` where plans are made for a device that is not here.
     * NULL otherwise. Needs 9.8. */
    cudnnBackendDescriptor_t device;
};

/* Finds the functions and refuses versions that are known to be faulty. `handle` stays NULL. */
int cudnn_library_load(const kg_host *host, struct cudnn_library **ret_library, kg_error *ret_error);

/* cudnn_library_load, and a handle on the device. */
int cudnn_library_open(const kg_host *host, const kg_device *device, struct cudnn_library **ret_library,
                       kg_error *ret_error);
void cudnn_library_close(struct cudnn_library *library);

/* Describes a status with cuDNN's own reason, prefixed by its version: KG_EUNSUPPORTED where cuDNN refuses what it was
 * asked for, KG_EDEVICE where something broke. */
int cudnn_fail(const struct cudnn_library *library, cudnnStatus_t status, const char *what, kg_error *ret_error);

#define CUDNN_BUILD_MAX 160

/* cuDNN tells only its log why it turns something down. */
struct cudnn_listener {
    bool on;
    char reason[240]; /* heard during the step at hand; empty: none */
    unsigned mask;    /* of whoever read the log before */
    void *context;
    cudnnCallback_t reader;
};

struct cudnn_build {
    const struct cudnn_library *library;
    struct cudnn_listener listener;
    int status; /* 0, or the first failure, described in `error` */
    kg_error error;
    int n_made;
    cudnnBackendDescriptor_t made[CUDNN_BUILD_MAX]; /* destroyed by cudnn_build_done */
};

void cudnn_build_init(struct cudnn_build *build, const struct cudnn_library *library);
void cudnn_build_done(struct cudnn_build *build);

/* Failures from here on name the reason that cuDNN logs. Builds that listen nest, and do not move; not for launches. */
void cudnn_build_listen(struct cudnn_build *build);

/* Hands the description of the failure on; returns build->status. */
int cudnn_build_status(const struct cudnn_build *build, kg_error *ret_error);

/* Without `what`, steps say which attribute or descriptor failed by its number in cudnn_graph.h. */
cudnnBackendDescriptor_t cudnn_make(struct cudnn_build *build, cudnnBackendDescriptorType_t type);
void cudnn_set(struct cudnn_build *build, cudnnBackendDescriptor_t descriptor, cudnnBackendAttributeName_t name,
               cudnnBackendAttributeType_t type, int64_t count, const void *values);
void cudnn_set_descriptor(struct cudnn_build *build, cudnnBackendDescriptor_t descriptor,
                          cudnnBackendAttributeName_t name, cudnnBackendDescriptor_t value);
void cudnn_get(struct cudnn_build *build, cudnnBackendDescriptor_t descriptor, cudnnBackendAttributeName_t name,
               cudnnBackendAttributeType_t type, int64_t room, int64_t *ret_count, void *ret_values);
void cudnn_finalize(struct cudnn_build *build, cudnnBackendDescriptor_t descriptor, const char *what);

/* Takes a descriptor out of the build: the caller destroys it. NULL after a failure. */
cudnnBackendDescriptor_t cudnn_take(struct cudnn_build *build, cudnnBackendDescriptor_t descriptor);

#endif
