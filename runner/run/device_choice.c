/* device_choice.c -- which device a run is on; devices are found by a worker of their own. */
#include <stdlib.h>
#include <string.h>

#include "run/dispatch.h"
#include "run/session.h"

int kg_device_choice_parse(const char *text, enum kg_device_kind *ret_kind, int *ret_index, kg_error *ret_error)
{
    char *end = NULL;
    *ret_index = 0;
    if (!strcmp(text, "auto"))
        *ret_kind = 0;
    else if (!strcmp(text, "cpu"))
        *ret_kind = KG_CPU;
    else if (!strcmp(text, "cuda"))
        *ret_kind = KG_CUDA;
    else if (!strncmp(text, "cuda:", 5) && text[5] >= '0' && text[5] <= '9') {
        *ret_kind = KG_CUDA;
        *ret_index = (int)strtol(text + 5, &end, 10);
        if (*end)
            return kg_fail(ret_error, KG_EINVAL, "--device %s: auto, cpu, cuda or cuda:N wanted", text);
    } else {
        return kg_fail(ret_error, KG_EINVAL, "--device %s: auto, cpu, cuda or cuda:N wanted", text);
    }
    return KG_OK;
}

static int find_device(struct kg_session *s, enum kg_device_kind kind, int index, kg_error *ret_error)
{
    kg_device devices[KG_MAX_DEVICES];
    struct kg_device_health healths[KG_MAX_DEVICES];
    int count = 0;
    int status = kg_dispatch_probe(kind, -1, devices, healths, KG_MAX_DEVICES, &count, ret_error);
    if (!status && index >= count)
        status = kg_fail(ret_error, KG_EUNSUPPORTED, "no CUDA device %d: there are %d", index, count);
    if (status)
        return status;
    s->device = devices[index];
    memcpy(s->run.nvml, healths[index].nvml, sizeof s->run.nvml);
    return KG_OK;
}

/* auto: the GPU if one is there and a case is for it. Without a GPU its cases stay, to be skipped aloud. */
int kg_device_choose(struct kg_session *s, bool wants_cuda, kg_error *ret_error)
{
    enum kg_device_kind kind = 0;
    int index = 0;
    kg_error cause = { 0 };
    int status = kg_device_choice_parse(s->options->device, &kind, &index, ret_error);
    if (status)
        return status;
    if (kind == KG_CUDA || (!kind && wants_cuda)) {
        status = find_device(s, KG_CUDA, index, &cause);
        if (!status)
            return KG_OK;
        if (kind == KG_CUDA)
            return kg_fail(ret_error, KG_EINVAL, "--device %s: %.400s", s->options->device, cause.text);
        snprintf(s->no_cuda, sizeof s->no_cuda, "%.380s", cause.text);
    }
    return find_device(s, KG_CPU, 0, ret_error);
}

int kg_device_check_required(const struct kg_session *s, kg_error *ret_error)
{
    const char *wanted = s->options->require_device;
    const char *kind = s->device.kind == KG_CUDA ? "cuda" : "cpu";
    if (!wanted || !strcmp(wanted, kind) || !strcmp(wanted, s->device.arch))
        return KG_OK;
    return kg_fail(ret_error, KG_EINVAL, "required device %s is absent: this is %s (%s)%s%s", wanted, s->device.arch,
                   kind, *s->no_cuda ? "; " : "", s->no_cuda);
}
