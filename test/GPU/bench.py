# Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Times whole layers beside PyTorch's grouped_mm on one GPU, in one process.

  bench.py BUNDLES [--models NAME ...] [--tokens T ...] [--json FILE]

BUNDLES holds what `make_bundles.py --bench` writes. A layer is everything from
tokens, router weights and ids to the combined output: row table, GEMM 1,
activation, GEMM 2, combine. Peers:

  moe    the bundle, through the runtime library
  torch  sort, gather, torch.nn.functional.grouped_mm twice, with one Triton
         kernel each for the activation and the weighted sum

Method: the calls of one figure are captured in a CUDA graph that walks through
slots with their own routing, and through two sets of weights where one is below
4 GB, so that no call finds its weights in L2. The graphs of the peers are
replayed in turn; the figure is the median over the replays, per call. Each peer
is compared with float32 for a few tokens before it is timed. The floor is the
larger of two times: the weights of the active experts at the measured read rate
of the chip, and the useful FLOPs at its measured dense rate.
"""

import argparse
import json
import pathlib
import statistics
import sys

import torch
import triton
import triton.language as tl

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "python"), str(ROOT / "test" / "Models")]

from generate import LAYERS  # noqa: E402
from make_bundles import BENCH_MODELS  # noqa: E402
from moe import runtime  # noqa: E402

READ_BYTES_PER_US = 4.62e6  # H200, read-only stream
DENSE_FLOPS_PER_US = 700e6  # H200, bf16, sustained
BF16 = torch.bfloat16


@triton.jit
def silu_mul_kernel(h, out, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    column = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    mask = column < columns
    gate = tl.load(h + row * 2 * columns + column, mask=mask).to(tl.float32)
    up = tl.load(h + row * 2 * columns + columns + column, mask=mask).to(tl.float32)
    tl.store(out + row * columns + column, (gate * tl.sigmoid(gate) * up).to(tl.bfloat16),
             mask=mask)


@triton.jit
def weighted_sum_kernel(y, position, weights, out, columns, K: tl.constexpr,
                        BLOCK: tl.constexpr):
    token = tl.program_id(0).to(tl.int64)
    column = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    mask = column < columns
    total = tl.zeros((BLOCK,), tl.float32)
    for slot in tl.static_range(K):
        row = tl.load(position + token * K + slot).to(tl.int64)
        value = tl.load(y + row * columns + column, mask=mask).to(tl.float32)
        total += tl.load(weights + token * K + slot) * value
    tl.store(out + token * columns + column, total.to(tl.bfloat16), mask=mask)


class Case:
    """Inputs of one model and number of tokens; slot i has its own routing."""

    def __init__(self, layer, tokens, weight_sets):
        self.layer, self.tokens, self.weight_sets = layer, tokens, weight_sets
        self.slots = 16 if tokens <= 64 else 8 if tokens <= 256 else 4 if tokens <= 1024 else 2
        generator = torch.Generator(device="cuda").manual_seed(tokens)
        self.x = torch.empty(tokens, layer.hidden, device="cuda", dtype=BF16)
        self.x.normal_(generator=generator)
        self.ids, self.weights = [], []
        for _ in range(self.slots):
            keys = torch.rand(tokens, layer.experts, device="cuda", generator=generator)
            self.ids.append(keys.topk(layer.k, dim=1).indices.to(torch.int32))
            weight = torch.rand(tokens, layer.k, device="cuda", generator=generator) + 0.1
            self.weights.append(weight / weight.sum(dim=1, keepdim=True))
        self.active = statistics.mean(ids.unique().numel() for ids in self.ids)

    def matrices(self, i):
        return self.weight_sets[i % len(self.weight_sets)]

    def error(self, out, i, count=6):
        """Relative L2 error of `out` against float32, over a few tokens."""
        w13, w2 = self.matrices(i)
        chosen = torch.linspace(0, self.tokens - 1, min(count, self.tokens)).long().tolist()
        wanted = torch.zeros(len(chosen), self.layer.hidden, device="cuda")
        for row, token in enumerate(chosen):
            for slot in range(self.layer.k):
                e = int(self.ids[i][token, slot])
                gate, up = (w13[e].float() @ self.x[token].float()).chunk(2)
                act = torch.nn.functional.silu(gate) * up
                wanted[row] += self.weights[i][token, slot] * (w2[e].float() @ act)
        return float((out[chosen].float() - wanted).norm() / wanted.norm())

    def floor(self):
        layer = self.layer
        weights = self.active * 3 * layer.hidden * layer.width * 2
        flops = 2 * self.tokens * layer.k * 3 * layer.hidden * layer.width
        return max(weights / READ_BYTES_PER_US, flops / DENSE_FLOPS_PER_US)


def moe_peer(case, compiled):
    """A function that enqueues the compiled layer for slot i."""
    out = torch.empty(case.tokens, case.layer.hidden, device="cuda", dtype=BF16)
    calls = []
    for i in range(case.slots):
        w13, w2 = case.matrices(i)
        tensors = [case.x, case.weights[i], case.ids[i], w13, w2, out]
        calls.append(tensors)
    size = compiled.bundle.workspace_bytes([t.shape for t in calls[0]])
    workspace = torch.empty(size, device="cuda", dtype=torch.uint8)

    def call(i):
        compiled.launch(calls[i], workspace, torch.cuda.current_stream().cuda_stream)
        return out

    return call


def torch_peer(case):
    layer = case.layer
    grouped_mm = getattr(torch.nn.functional, "grouped_mm", None) or torch._grouped_mm
    rows = torch.arange(case.tokens * layer.k, device="cuda")
    experts = torch.arange(layer.experts, device="cuda")
    act = torch.empty(case.tokens * layer.k, layer.width, device="cuda", dtype=BF16)
    out = torch.empty(case.tokens, layer.hidden, device="cuda", dtype=BF16)
    block = min(1024, triton.next_power_of_2(layer.width))

    def call(i):
        w13, w2 = case.matrices(i)
        sorted_ids, order = torch.sort(case.ids[i].reshape(-1), stable=True)
        ends = torch.searchsorted(sorted_ids, experts, right=True, out_int32=True)
        position = torch.empty_like(order).scatter_(0, order, rows)
        h = grouped_mm(case.x[order // layer.k], w13.transpose(1, 2), offs=ends)
        silu_mul_kernel[(len(rows), triton.cdiv(layer.width, block))](
            h, act, layer.width, BLOCK=block)
        y = grouped_mm(act, w2.transpose(1, 2), offs=ends)
        weighted_sum_kernel[(case.tokens, triton.cdiv(layer.hidden, 1024))](
            y, position, case.weights[i], out, layer.hidden, K=layer.k, BLOCK=1024)
        return out

    return call


def capture(call, slots, calls):
    """A CUDA graph of `calls` calls that walk through the slots."""
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        for i in range(slots):
            call(i)
        stream.synchronize()
        graph = torch.cuda.CUDAGraph()
        graph.capture_begin(capture_error_mode="relaxed")
        for i in range(calls):
            call(i % slots)
        graph.capture_end()
    return graph


def replay(graph, calls):
    begin, end = torch.cuda.Event(True), torch.cuda.Event(True)
    begin.record()
    graph.replay()
    end.record()
    end.synchronize()
    return begin.elapsed_time(end) * 1e3 / calls


def measure(case, peers, rounds):
    """Peer -> {us, low, high, error}, with replays in turn."""
    figures, graphs = {}, {}
    calls = max(case.slots, min(64, int(8000 / max(case.floor(), 1)) // case.slots * case.slots))
    for name, call in peers.items():
        error = case.error(call(0), 0)
        figures[name] = {"error": error}
        if error > 1e-2:
            raise RuntimeError(f"{name} is wrong: relative L2 {error:.2e}")
        graphs[name] = capture(call, case.slots, calls)
        replay(graphs[name], calls)
    times = {name: [] for name in peers}
    for _ in range(rounds):
        for name, graph in graphs.items():
            times[name].append(replay(graph, calls))
    for name, values in times.items():
        figures[name].update(us=statistics.median(values), low=min(values), high=max(values))
    return figures


def make_weight_sets(layer):
    size = layer.experts * 3 * layer.hidden * layer.width * 2
    sets = []
    for _ in range(2 if size < 4e9 else 1):
        w13 = torch.empty(layer.experts, 2 * layer.width, layer.hidden, device="cuda", dtype=BF16)
        w2 = torch.empty(layer.experts, layer.hidden, layer.width, device="cuda", dtype=BF16)
        for matrices, fan_in in ((w13, layer.hidden), (w2, layer.width)):
            for matrix in matrices:
                matrix.normal_(0, fan_in ** -0.5)
        sets.append((w13, w2))
    return sets


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("bundles", type=pathlib.Path)
    parser.add_argument("--models", nargs="+", default=BENCH_MODELS)
    parser.add_argument("--tokens", type=int, nargs="+", default=[1, 16, 256, 4096])
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--json", type=pathlib.Path)
    args = parser.parse_args()
    device = runtime.Device("cuda")
    print(f"{torch.cuda.get_device_name()}, torch {torch.__version__}, Triton {triton.__version__}")
    print("model            T     active  floor us |   moe us   x floor | torch us   moe/torch")
    rows = []
    for name in args.models:
        compiled = runtime.Layer(runtime.Bundle(args.bundles / name), device)
        weight_sets = make_weight_sets(LAYERS[name])
        for tokens in args.tokens:
            case = Case(LAYERS[name], tokens, weight_sets)
            figures = measure(case, {"moe": moe_peer(case, compiled), "torch": torch_peer(case)},
                              args.rounds)
            moe, peer, floor = figures["moe"]["us"], figures["torch"]["us"], case.floor()
            print(f"{name:16} {tokens:<5} {case.active:6.1f} {floor:9.1f} | {moe:8.1f} "
                  f"{moe / floor:9.2f} | {peer:8.1f} {moe / peer:9.2f}", flush=True)
            rows.append({"model": name, "tokens": tokens, "active": case.active,
                         "floor_us": floor, "peers": figures})
            if args.json:
                args.json.write_text(json.dumps(rows, indent=1))
            del case
        del weight_sets, compiled
        torch.cuda.empty_cache()
    return 0


if __name__ == "__main__":
    sys.exit(main())
