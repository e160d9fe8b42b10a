#!/usr/bin/env python3
"""peers.py -- outputs of PyTorch's attention kernels and of one in Triton, for the inputs that tests/modules/peers.c wrote.

    peers.py FOLDER [KERNEL...]       reads FOLDER/*.in, writes FOLDER/*.KERNEL; what a kernel refuses it leaves out"""
import collections
import json
import pathlib
import sys

import torch
import triton
import triton.language as tl
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.nn.attention.flex_attention import create_block_mask, flex_attention

DTYPES = {"f16": torch.float16, "bf16": torch.bfloat16}


def load(path):
    with open(path, "rb") as file:
        problem = json.loads(file.readline())
        raw = torch.frombuffer(bytearray(file.read()), dtype=DTYPES[problem["dtype"]])
    sizes = [(problem["B"], problem["H"], problem["S"], problem["D"]),
             *[(problem["B"], problem["Hkv"], problem["Skv"], problem["D"])] * 2]
    tensors = []
    for size in sizes:
        count = size[0] * size[1] * size[2] * size[3]
        tensors.append(raw[:count].reshape(size).cuda())
        raw = raw[count:]
    return problem, *tensors


def spread(problem, k, v):
    group = problem["H"] // problem["Hkv"]
    return (k, v) if group == 1 else (k.repeat_interleave(group, 1), v.repeat_interleave(group, 1))


def torch_sdpa(backend):
    def run(problem, q, k, v):
        if problem["causal"] and (problem["S"] != problem["Skv"] or problem["bottom_right"]):
            raise NotImplementedError("its causal mask is for squares")
        k, v = spread(problem, k, v)
        with sdpa_kernel([backend]):
            return torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=problem["causal"],
                                                                    scale=problem["scale"])
    return run


compiled_flex = torch.compile(flex_attention, dynamic=False)
FLEX_SHAPES = 16  # each is compiled
flex_seen = set()


def torch_flex(problem, q, k, v):
    key = tuple(problem.values())
    if problem["bottom_right"] or (key not in flex_seen and len(flex_seen) >= FLEX_SHAPES):
        raise NotImplementedError("enough shapes were compiled")
    flex_seen.add(key)
    mask = None
    if problem["causal"]:
        mask = create_block_mask(lambda b, h, i, j: i >= j, None, None, problem["S"], problem["Skv"])
    return compiled_flex(q, k, v, block_mask=mask, scale=problem["scale"],
                         enable_gqa=problem["H"] != problem["Hkv"])


@triton.jit(do_not_specialize=["S", "Skv", "group", "shift"])  # one compilation a dimension, dtype and mask
def attention_kernel(q, k, v, o, S, Skv, group, scale_log2, shift, CAUSAL: tl.constexpr, D: tl.constexpr,
                     DIMS: tl.constexpr, ROWS: tl.constexpr, KEYS: tl.constexpr):
    head, first = tl.program_id(1).to(tl.int64), tl.program_id(0) * ROWS
    rows, dims, keys = first + tl.arange(0, ROWS), tl.arange(0, DIMS), tl.arange(0, KEYS)
    inside = (rows[:, None] < S) & (dims[None, :] < D)
    at = head * S * D + rows[:, None] * D + dims[None, :]
    mine = tl.load(q + at, mask=inside, other=0.0)
    most, total = tl.full([ROWS], float("-inf"), tl.float32), tl.zeros([ROWS], tl.float32)
    sums = tl.zeros([ROWS, DIMS], tl.float32)
    for begin in range(0, Skv, KEYS):
        there = begin + keys
        held = (there[:, None] < Skv) & (dims[None, :] < D)
        place = head // group * Skv * D + there[:, None] * D + dims[None, :]
        scores = tl.dot(mine, tl.trans(tl.load(k + place, mask=held, other=0.0))) * scale_log2
        seen = there[None, :] < Skv
        if CAUSAL:
            seen = seen & (there[None, :] <= rows[:, None] + shift)
        scores = tl.where(seen, scores, float("-inf"))
        raised = tl.maximum(most, tl.max(scores, 1))
        base = tl.where(raised == float("-inf"), 0.0, raised)
        weights, rescale = tl.exp2(scores - base[:, None]), tl.exp2(most - base)
        values = tl.load(v + place, mask=held, other=0.0)
        sums = sums * rescale[:, None] + tl.dot(weights.to(values.dtype), values)
        total = total * rescale + tl.sum(weights, 1)
        most = raised
    result = sums / tl.where(total == 0.0, 1.0, total)[:, None]
    tl.store(o + at, result.to(o.dtype.element_ty), mask=inside)


def in_triton(problem, q, k, v):
    o = torch.empty_like(q)
    heads, S, Skv, D = problem["B"] * problem["H"], problem["S"], problem["Skv"], problem["D"]
    if heads > 65535:
        raise NotImplementedError("its grid has the heads second")
    attention_kernel[(triton.cdiv(S, 64), heads)](
        q, k, v, o, S, Skv, problem["H"] // problem["Hkv"], problem["scale"] * 1.4426950408889634,
        Skv - S if problem["bottom_right"] else 0, CAUSAL=problem["causal"], D=D,
        DIMS=max(16, triton.next_power_of_2(D)), ROWS=64, KEYS=64)
    return o


KERNELS = {
    "torch_flash": torch_sdpa(SDPBackend.FLASH_ATTENTION),
    "torch_efficient": torch_sdpa(SDPBackend.EFFICIENT_ATTENTION),
    "torch_cudnn": torch_sdpa(SDPBackend.CUDNN_ATTENTION),
    "torch_flex": torch_flex,
    "triton": in_triton,
}


def main(folder, names):
    refused = collections.Counter()
    done = collections.Counter()
    for path in sorted(pathlib.Path(folder).glob("*.in")):
        inputs = load(path)
        for name in names or KERNELS:
            try:
                output = KERNELS[name](*inputs)
                torch.cuda.synchronize()
            except (RuntimeError, NotImplementedError, ValueError) as error:
                refused[name, str(error).splitlines()[0][:100]] += 1
                continue
            path.with_suffix("." + name).write_bytes(
                output.contiguous().view(torch.int16).cpu().numpy().tobytes())
            done[name] += 1
    for name, count in done.items():
        print(f"{name}: {count} outputs")
    for (name, why), count in refused.items():
        print(f"{name}: {count} left out: {why}")


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
