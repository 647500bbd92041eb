# Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs the model layers at full size on a GPU and compares them with float32.

  full_layers.py BUNDLES [--models NAME ...] [--tokens T ...]

BUNDLES holds one bundle per model, BUNDLES/NAME (make_bundles.py writes them).
Weights and tokens are made on the GPU; the expected values are computed there by
PyTorch, one expert at a time, in float32 without TF32. The routing is computed
from float32 logits by the f64 oracle of the tests. Tokens whose choice of
experts changes when the logits move by 1e-5 are left out.

Results and workspace start as NaN; each layer runs twice and must give the same
bits, and so must a CUDA graph of it that is replayed after the tokens changed, and
(up to 256 tokens) calls queued behind each other on two streams. The
limit is a relative L2 error of 5e-3 (bf16).
"""

import argparse
import pathlib
import sys
import time

import numpy as np
import torch

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "python"), str(ROOT / "test"), str(ROOT / "test" / "Models")]

from generate import LAYERS, add_layer  # noqa: E402
from moe import runtime  # noqa: E402
from moe_ir import Func  # noqa: E402
from oracle import router  # noqa: E402

LIMIT = 5e-3
DTYPES = {"bf16": torch.bfloat16, "f32": torch.float32}


def arguments_of(layer):
    """Name -> (shape with "T" for the number of tokens, element type), in order."""
    f = Func("layer")
    add_layer(f, layer)
    return {a.name.lstrip("%"): (a.shape, a.element) for a in f.args}


def make_weights(arguments, generator):
    """Uniform in [-0.5, 0.5), matrices scaled by 1/sqrt(fan-in)."""
    weights = {}
    for name, (shape, element) in arguments.items():
        if "T" in shape:
            continue
        scale = shape[-1] ** -0.5 if len(shape) > 1 and not name.startswith("b") else 1.0
        tensor = torch.empty(shape, dtype=DTYPES[element], device="cuda")
        for part in tensor if len(shape) == 3 else [tensor]:
            part.uniform_(-0.5 * scale, 0.5 * scale, generator=generator)
        weights[name] = tensor
    return weights


def activate(h, kind):
    """The activations of the model table, in float32."""
    if kind == "swiglu":
        gate, up = h.chunk(2, dim=1)
        return torch.nn.functional.silu(gate) * up
    assert kind.startswith("swigluoai") and "limit = 7.0" in kind, kind
    gate, up = h[:, 0::2].clamp(max=7.0), h[:, 1::2].clamp(-7.0, 7.0)
    return (up + 1) * gate * torch.sigmoid(1.702 * gate)


def expert(x, w13, w2, kind, b13=None, b2=None):
    h = x @ w13.float().T
    a = activate(h if b13 is None else h + b13.float(), kind)
    y = a @ w2.float().T
    return y if b2 is None else y + b2.float()


def expected(layer, x, w):
    """(output [T, H] in float32, tokens whose routing is firm)."""
    x = x.float()
    logits = x @ w["wg"].float().T
    if layer.gate_bias:
        logits = logits + w["bg"].float()
    bias = w["correction"].cpu().numpy() if layer.selection_bias else None
    logits = logits.double().cpu().numpy()

    def route(values):
        return router.route(values, layer.k, bias=bias, **layer.route)

    weights, ids = route(logits)
    firm = np.ones(len(logits), bool)
    noise = np.random.default_rng(0)
    for _ in range(3):
        moved = logits + 1e-5 * noise.choice([-1.0, 1.0], logits.shape)
        firm &= (np.sort(route(moved)[1]) == np.sort(ids)).all(axis=1)
    out = torch.zeros(x.shape[0], layer.hidden, device="cuda")
    for e in np.unique(ids):
        tokens, slots = np.nonzero(ids == e)
        y = expert(x[tokens], w["w13"][e], w["w2"][e], layer.activation,
                   w["b13"][e] if layer.expert_bias else None,
                   w["b2"][e] if layer.expert_bias else None)
        factor = torch.tensor(weights[tokens, slots], dtype=torch.float32, device="cuda")
        out.index_add_(0, torch.tensor(tokens, device="cuda"), y * factor[:, None])
    if layer.shared_experts:
        out += expert(x, w["shared_w13"][0], w["shared_w2"][0], layer.activation)
    return out, torch.tensor(firm, device="cuda")


class Call:
    """A layer with its tensors, results and workspace poisoned."""

    def __init__(self, compiled, layer, arguments, x, weights):
        self.compiled = compiled
        self.tensors = [x if "T" in shape else weights[name]
                        for name, (shape, _) in arguments.items()]
        self.out = torch.full((x.shape[0], layer.hidden), float("nan"),
                              dtype=torch.bfloat16, device="cuda")
        self.tensors.append(self.out)
        size = compiled.bundle.workspace_bytes([t.shape for t in self.tensors])
        self.workspace = torch.full((size,), 0xFF, dtype=torch.uint8, device="cuda")

    def enqueue(self):
        self.compiled.launch(self.tensors, self.workspace,
                             torch.cuda.current_stream().cuda_stream)

    def run(self):
        self.enqueue()
        torch.cuda.synchronize()
        return self.out


def replays_alike(compiled, layer, arguments, x, weights):
    """Whether a graph captured with other tokens gives the bits of a launch."""
    wanted = Call(compiled, layer, arguments, x, weights).run()
    tokens = x.flip(0).neg()
    call, graph = Call(compiled, layer, arguments, tokens, weights), torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        call.enqueue()
    tokens.copy_(x)
    for _ in range(2):
        call.out.fill_(float("nan"))
        graph.replay()
        torch.cuda.synchronize()
        if not same_bits(call.out, wanted):
            return False
    return True


def queued_alike(compiled, layer, arguments, x, weights):
    """Whether calls that wait for each other on a stream, with other tokens, more
    of them and other buffers in turn, give the bits of a launch alone."""
    others = [x, x.flip(0).neg(), torch.cat([x, x])]
    wanted = [Call(compiled, layer, arguments, tokens, weights).run() for tokens in others]
    calls = [(Call(compiled, layer, arguments, others[i % 3], weights), wanted[i % 3]) for i in range(12)]
    streams = [torch.cuda.Stream(), torch.cuda.Stream()]
    torch.cuda.synchronize()
    for i, (call, _) in enumerate(calls):
        with torch.cuda.stream(streams[i // 5 % 2]):
            call.enqueue()
    torch.cuda.synchronize()
    return all(same_bits(call.out, bits) for call, bits in calls)


def same_bits(a, b):
    return torch.equal(a.view(torch.int16), b.view(torch.int16))


def check(compiled, name, tokens, generator, weights):
    """An error text, or None after printing the figures."""
    layer, start = LAYERS[name], time.time()
    arguments = arguments_of(layer)
    x = torch.empty(tokens, layer.hidden, dtype=torch.bfloat16, device="cuda")
    x.uniform_(-0.5, 0.5, generator=generator)
    first = Call(compiled, layer, arguments, x, weights).run()
    if not same_bits(first, Call(compiled, layer, arguments, x, weights).run()):
        return "two runs differ"
    if not replays_alike(compiled, layer, arguments, x, weights):
        return "the replay of a graph differs"
    if tokens <= 256 and not queued_alike(compiled, layer, arguments, x, weights):
        return "calls in a queue differ from calls alone"
    wanted, firm = expected(layer, x, weights)
    found, wanted = first.float()[firm], wanted[firm]
    if not torch.isfinite(found).all():
        return f"{int((~torch.isfinite(found)).any(dim=1).sum())} rows are not finite"
    if firm.sum() < 0.97 * tokens:
        return f"only {int(firm.sum())} of {tokens} tokens are firm"
    error = float((found - wanted).norm() / wanted.norm())
    if not error <= LIMIT:
        return f"relative L2 {error:.2e} above {LIMIT:.0e}"
    print(f"pass {name} T={tokens}: {error:.2e}, {int(firm.sum())} tokens compared, "
          f"{time.time() - start:.1f} s", flush=True)
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("bundles", type=pathlib.Path)
    parser.add_argument("--models", nargs="+", default=list(LAYERS))
    parser.add_argument("--tokens", type=int, nargs="+", default=[1, 16, 77, 256, 1024])
    args = parser.parse_args()
    torch.backends.cuda.matmul.allow_tf32 = False
    device, passed, failed = runtime.Device("cuda"), 0, 0
    for name in args.models:
        compiled = runtime.Layer(runtime.Bundle(args.bundles / name), device)
        generator = torch.Generator(device="cuda").manual_seed(1)
        weights = make_weights(arguments_of(LAYERS[name]), generator)
        for tokens in args.tokens:
            error = check(compiled, name, tokens, generator, weights)
            passed, failed = passed + (error is None), failed + (error is not None)
            if error:
                print(f"FAIL {name} T={tokens}: {error}", flush=True)
        del weights
        torch.cuda.empty_cache()
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
