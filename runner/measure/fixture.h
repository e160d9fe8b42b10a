/* fixture.h -- what the backends of one (suite, shape, seed) share: inputs and reference output. Kept for as long as
 * the next case asks for the same. */
#ifndef KG_FIXTURE_H
#define KG_FIXTURE_H

#include "measure/buffer.h"
#include "judge/result.h"

struct kg_fixture {
    kg_context *context;
    struct kg_case of; /* backend is not read */
    struct kg_buffers buffers;
    struct kg_buffers expected; /* outputs in FP32; count 0 until the reference has run */
    uint64_t input_digest;
};

/* Fills the inputs. */
int kg_fixture_new(kg_context *context, const struct kg_case *of, struct kg_fixture *ret_fixture, kg_error *ret_error);
void kg_fixture_done(struct kg_fixture *fixture);
bool kg_fixture_serves(const struct kg_fixture *fixture, const struct kg_case *of);

/* KG_EINVAL where another build's case describes other tensors than the fixture holds: nothing of it can be compared.
 */
int kg_fixture_admits(const struct kg_fixture *fixture, const struct kg_case *candidate, kg_error *ret_error);

/* Runs the reference unless it has run. KG_EUNSUPPORTED: it cannot be computed on this device. */
int kg_fixture_reference(struct kg_fixture *fixture, kg_error *ret_error);

/* Compares a set's outputs with the reference; several outputs are summed up into one set of figures. */
int kg_fixture_compare(struct kg_fixture *fixture, const struct kg_buffers *got, struct kg_comparison *ret_comparison,
                       kg_error *ret_error);

#endif
