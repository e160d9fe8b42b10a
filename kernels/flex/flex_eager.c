/* flex_eager.c -- backend `flex_eager`: `math` whose softmax modifies each score in memory, as eager PyTorch would. */
#include "flex/flex.h"
#include "flex/flex_eager.h"
#include "math/math.h"

static int workspace_place(const void *problem)
{
    return flex_tensor_count(problem);
}

static int launch(const struct softmax_args *args, int dtype, const void *problem, const kg_tensor *tensors,
                  void *stream)
{
    const struct flex *p = problem;
    const struct flex_aux aux = flex_aux_of(p, tensors);
    return flex_softmax_launch(args, &aux, (int)p->attention.H, (float)sdpa_scale(&p->attention), dtype, stream);
}

static const struct math_softmax softmax = { workspace_place, launch };

const kg_backend flex_eager = {
    .name = "flex_eager",
    .help = "cuBLAS, modifiers and softmax on scores in memory, cuBLAS",
    .data = &softmax,
    MATH,
};
