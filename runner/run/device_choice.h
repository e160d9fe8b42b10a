/* device_choice.h -- the device that a run is on. */
#ifndef KG_DEVICE_CHOICE_H
#define KG_DEVICE_CHOICE_H

#include "run/session.h"

/* --device: auto (kind 0), cpu, cuda or cuda:N. KG_EINVAL. */
int kg_device_choice_parse(const char *text, enum kg_device_kind *ret_kind, int *ret_index, kg_error *ret_error);

/* Sets session->device. auto: the GPU if one is there and a case is for it; without a GPU its cases stay, to be skipped
 * aloud (session->no_cuda). KG_EINVAL: the device that was named is not there. */
int kg_device_choose(struct kg_session *session, bool wants_cuda, kg_error *ret_error);

/* KG_EINVAL where --require-device wants another one. */
int kg_device_check_required(const struct kg_session *session, kg_error *ret_error);

#endif
