/* fixture.h -- what the backends of one (suite, shape, seed, regime) share: inputs and reference output. Kept for as
 * long as the next case asks for the same. */
#ifndef KG_FIXTURE_H
#define KG_FIXTURE_H

#include "measure/buffer.h"
#include "judge/result.h"

struct kg_fixture {
    kg_context *context;
    struct kg_case of; /* backend is not read */
    void *problem;     /* as it was before anything ran */
    struct kg_buffers buffers;
    struct kg_buffers expected; /* outputs in FP32; count 0 until the reference has run */
    struct kg_buffers scale;    /* of their errors, for `arithmetic`; count 0: none, or not computed */
    const void *arithmetic;     /* kg_backend's */
    double largest;             /* of |expected|, where limits depend on it */
    uint64_t input_digest;
    struct kg_strength strength; /* of its gates, for `arithmetic`, once it was asked for */
};

/* Fills the inputs. KG_EUNSUPPORTED: the regime is not for them, or not enough memory is free. */
int kg_fixture_new(kg_context *context, const struct kg_case *of, struct kg_fixture *ret_fixture, kg_error *ret_error);
void kg_fixture_done(struct kg_fixture *fixture);
bool kg_fixture_serves(const struct kg_fixture *fixture, const struct kg_case *of);

/* KG_EINVAL where another build's case describes other tensors than the fixture holds: nothing of it can be compared.
 */
int kg_fixture_admits(const struct kg_fixture *fixture, const struct kg_case *candidate, kg_error *ret_error);

/* Whose error scale the outputs are held to: that of the backend that runs. NULL at first. */
void kg_fixture_set_arithmetic(struct kg_fixture *fixture, const void *arithmetic);

/* Runs the reference and computes the error scale, where the op gives one, unless that has been done. KG_EUNSUPPORTED:
 * it cannot be computed on this device. KG_EINVAL: it is not what the regime knows to be right. KG_EDEVICE: what ran
 * changed the problem. */
int kg_fixture_reference(struct kg_fixture *fixture, kg_error *ret_error);

/* Compares a set's outputs with the reference by the gates in force (kg_case_gates); several outputs
 * are summed up into one set of figures. */
int kg_fixture_compare(struct kg_fixture *fixture, const struct kg_buffers *got, struct kg_comparison *ret_comparison,
                       kg_error *ret_error);
void kg_comparison_merge(struct kg_comparison *all, const struct kg_comparison *one); /* how they are summed up */

/* Does it pass the gates in force? Nearly: four times their limits. Where inputs are drawn anew in each run an honest
 * output may once be over a gate. */
bool kg_fixture_accepts(const struct kg_fixture *fixture, const struct kg_comparison *comparison);
bool kg_fixture_nearly_accepts(const struct kg_fixture *fixture, const struct kg_comparison *comparison);

#endif
