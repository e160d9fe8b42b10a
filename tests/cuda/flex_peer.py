#!/usr/bin/env python3
"""flex_peer.py -- PyTorch's compiled FlexAttention on rows of the suite flex_attention.

    flex_peer.py compile ROWS.json          into PyTorch's cache, several at a time
    flex_peer.py time ROWS.json             a line `row,us,us` each: by PyTorch's own choice of tiles, and the fastest
                                            of several; ROWS.json: kgate list --format json
    flex_peer.py table BEFORE AFTER COMPARISON.csv     beside kgate's p50s, as Markdown

Modifiers are those of kernels/flex/modifiers, told anew."""
import concurrent.futures
import csv
import json
import math
import multiprocessing
import os
import statistics
import sys


def mask_of(torch, p, documents):
    S, Skv = p["S"], p["Skv"] or p["S"]

    def mask(b, h, q, k):
        seen = k >= 0
        if p["causal"]:
            seen = seen & (k <= q + (Skv - S if p["bottom_right"] else 0))
        if p["prefix"]:
            seen = seen & ((k < p["prefix_keys"]) | (k <= q))
        if p["sliding"]:
            seen = seen & (q - k < p["window"]) & (k - q < p["window"])
        if p["document"]:
            seen = seen & (documents[b, q] == documents[b, k])
        return seen

    return mask if p["causal"] or p["prefix"] or p["sliding"] or p["document"] else None


def score_of(torch, p, slopes, bias):
    cap, span, reach = p["softcap"], p["doc_span"], p["reach"]

    def score_mod(score, b, h, q, k):
        if p["cap"]:
            score = cap * torch.tanh(score / cap)
        if p["alibi"]:
            score = score - slopes[h] * (q - k).abs()
        if p["relative"]:
            score = score + bias[h, torch.clamp(k - q, -reach, reach) + reach]
        if p["decay"]:
            score = score + torch.exp(-(q - k).abs() / span)
        return score

    return score_mod if p["cap"] or p["alibi"] or p["relative"] or p["decay"] else None


def choices(p):
    """Blocks of the mask, and tiles; None: PyTorch's choice, for which blocks may be too small to compile. The first
    that compiles is what a call without options gets."""
    tiles = {"BLOCK_M": 64, "BLOCK_N": 64}
    return [(p["block_size"], None)] + [(128, None)] * (p["block_size"] != 128) + [(p["block_size"], tiles)]


def call_of(torch, flex, p, block_size, tiles):
    """What is timed: one call of the compiled function."""
    B, H, Hkv, S, D = p["B"], p["H"], p["Hkv"] or p["H"], p["S"], p["D"]
    Skv, dtype = p["Skv"] or S, {"f16": torch.float16, "bf16": torch.bfloat16}[p["dtype"]]
    on = {"device": "cuda", "dtype": dtype}
    q, k, v = (torch.randn(B, heads, rows, D, **on) for heads, rows in ((H, S), (Hkv, Skv), (Hkv, Skv)))
    place = torch.arange(max(S, Skv), device="cuda")
    batch = torch.arange(B, device="cuda")
    documents = (place[None, :] + (batch % 4 * (p["doc_span"] // 4) + batch // 4)[:, None]) // p["doc_span"]
    slopes = torch.tensor([2 ** (-8 * (h + 1) / H) for h in range(H)], device="cuda")
    bias = torch.rand(H, 2 * p["reach"] + 1, device="cuda") * 2 - 1
    mask, score = mask_of(torch, p, documents), score_of(torch, p, slopes, bias)
    block_mask = flex.create_block_mask(mask, B if p["document"] else None, None, S, Skv, device="cuda",
                                        BLOCK_SIZE=block_size) if mask else None
    compiled = torch.compile(flex.flex_attention, dynamic=False)
    return lambda: compiled(q, k, v, score_mod=score, block_mask=block_mask, enable_gqa=H != Hkv,
                            kernel_options=tiles)


def time_us(torch, call):
    """The median over windows of a CUDA graph of calls."""
    for _ in range(3):
        call()
    torch.cuda.synchronize()
    calls, graph = 10, torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        for _ in range(calls):
            call()
    start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    times = []
    for window in range(40):
        start.record()
        graph.replay()
        end.record()
        end.synchronize()
        if window >= 10:
            times.append(start.elapsed_time(end) * 1000 / calls)
    return statistics.median(times)


def with_row(row, use):
    """[(what `use` returns, blocks and tiles)] of those that compile; raises where none does."""
    import torch
    from torch.nn.attention import flex_attention as flex
    used, refusal = [], None
    for choice in choices(row["problem"]):
        torch.compiler.reset()
        with torch.no_grad():
            try:
                used.append((use(torch, call_of(torch, flex, row["problem"], *choice)), choice))
            except Exception as error:  # PyTorch's own, of any kind
                refusal = error
    if not used:
        raise refusal
    return used


def call_once(row):
    try:
        with_row(row, lambda torch, call: call() is None)
    except Exception:  # said by measure
        return


def compile_all(rows):
    with concurrent.futures.ProcessPoolExecutor(os.cpu_count() // 2, multiprocessing.get_context("spawn")) as pool:
        list(pool.map(call_once, json.load(open(rows))))


def measure(rows):
    for row in json.load(open(rows)):
        try:
            used = with_row(row, time_us)
            us, (block_size, tiles) = min(used, key=lambda one: one[0])
            print(f"{row['shape']}: {'tiles of 64, ' if tiles else ''}blocks of {block_size}", file=sys.stderr)
            print(f"{row['shape']},{used[0][0]:.3f},{us:.3f}", flush=True)
        except Exception as error:  # PyTorch's own, of a row that it cannot compile
            print(f"{row['shape']}: {str(error).splitlines()[0]}", file=sys.stderr)


PEERS = "PyTorch's", "its fastest"
GEOMEAN = 0.75  # how many times as fast ours must be, by shape
LEAST, LEAST_SOFTCAP = 1.0, 3.0  # on the seed workload


def table(before, after, comparison):
    torch_us = {}
    for file in (before, after):
        for row, *us in csv.reader(open(file)):
            torch_us.setdefault(row, []).append([float(one) for one in us])
    ours = {}
    for one in csv.DictReader(open(comparison)):
        if one["p50_us"]:
            ours.setdefault(one["shape"], {})[one["backend"]] = float(one["p50_us"])
    print("| row | flex_compiled, us | PyTorch's, before and after | times as fast | its fastest | times as fast "
          "| flex_eager, us |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    ratios, missing = {}, []
    for row, own in ours.items():
        if row not in torch_us:
            print(f"| {row} | {own['flex_compiled']:.2f} | does not compile | | | | {own['flex_eager']:.2f} |")
            missing.append(row)
    for row, us in torch_us.items():
        name, shape = row.rsplit("_", 1)
        own = ours.get(row, {}).get("flex_compiled", math.nan)
        both = [f"{' '.join(f'{x:.2f}' for x in one)} | {statistics.mean(one) / own:.2f}" for one in zip(*us)]
        print(f"| {row} | {own:.2f} | {' | '.join(both)} | {ours.get(row, {}).get('flex_eager', math.nan):.2f} |")
        for what, one in zip(PEERS, zip(*us)):
            ratios.setdefault((shape, what), {})[name] = statistics.mean(one) / own
    slow = []
    for (shape, what), of in ratios.items():
        mean, least = math.exp(statistics.mean(map(math.log, of.values()))), min(of.values())
        print(f"\n{shape}, {what}: geometric mean {mean:.3f}, least {least:.3f}")
        enough = mean >= GEOMEAN and (shape != "seed" or least >= LEAST and of.get("softcap", 0) >= LEAST_SOFTCAP)
        if what == PEERS[0] and not enough:  # a row of ours that is missing is NaN, and not enough either
            slow.append(shape)
    if missing or not ratios:
        sys.exit(f"nothing of PyTorch's beside {', '.join(missing) or 'any row'}")
    if slow:
        sys.exit(f"slower than it may be beside PyTorch's: {', '.join(slow)}")


if __name__ == "__main__":
    {"compile": compile_all, "time": measure, "table": table}[sys.argv[1]](*sys.argv[2:])
