# Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes NAME.mlir and NAME.small.mlir of this folder from the table below.

NAME.mlir is the layer at the size of the published model. NAME.small.mlir keeps
experts, k, router, shared experts, biases and activation, and narrows the
matrices so that a CPU can run it: H is six k-blocks of 64 and a tail, I one
block and a tail. Both have bf16 intermediates and any number of tokens.

  generate.py [FOLDER]          writes the files
  generate.py --check [FOLDER]  compares them, exit status 1 on a difference
"""

import sys
from dataclasses import dataclass, replace
from pathlib import Path

from moe_ir import Func

SMALL_HIDDEN = 6 * 64 + 40
SMALL_WIDTH = 64 + 40


@dataclass(frozen=True)
class Layer:
    """One MoE layer: its shapes, its router and its experts."""

    title: str
    experts: int
    k: int
    hidden: int
    width: int
    route: dict
    selection_bias: bool = False
    gate_bias: bool = False
    expert_bias: bool = False
    activation: str = "swiglu"
    shared_experts: int = 0


SOFTMAX_RENORMALIZED = {"renormalize": True}
SOFTMAX_OF_CHOSEN = {"order": "topk_then_score"}
SWIGLUOAI = "swigluoai, layout = interleaved, limit = 7.0"

LAYERS = {
    "mixtral-8x7b": Layer(
        "Mixtral 8x7B", 8, 2, 4096, 14336, SOFTMAX_OF_CHOSEN),
    "qwen3-30b-a3b": Layer(
        "Qwen3 30B-A3B", 128, 8, 2048, 768, SOFTMAX_RENORMALIZED),
    "qwen3-235b": Layer(
        "Qwen3 235B-A22B", 128, 8, 4096, 1536, SOFTMAX_RENORMALIZED),
    "gpt-oss-20b": Layer(
        "gpt-oss-20b", 32, 4, 2880, 2880, SOFTMAX_OF_CHOSEN, gate_bias=True,
        expert_bias=True, activation=SWIGLUOAI),
    "gpt-oss-120b": Layer(
        "gpt-oss-120b", 128, 4, 2880, 2880, SOFTMAX_OF_CHOSEN, gate_bias=True,
        expert_bias=True, activation=SWIGLUOAI),
    "deepseek-v3": Layer(
        "DeepSeek-V3", 256, 8, 7168, 2048,
        {"score": "sigmoid", "groups": 8, "keep_groups": 4,
         "group_rank": "top2_sum", "renormalize": True, "scale": 2.5},
        selection_bias=True, shared_experts=1),
    "deepseek-v2-lite": Layer(
        "DeepSeek-V2-Lite", 64, 6, 2048, 1408, {}, shared_experts=2),
}


def small(layer):
    """The layer with narrow matrices."""
    return replace(layer, hidden=SMALL_HIDDEN, width=SMALL_WIDTH)


def add_router(f, layer, x):
    """Adds gate and route; returns (weights, ids)."""
    wg = f.arg("wg", (layer.experts, layer.hidden), "bf16")
    gate_bias = selection_bias = None
    if layer.gate_bias:
        gate_bias = f.arg("bg", (layer.experts,), "bf16")
    if layer.selection_bias:
        selection_bias = f.arg("correction", (layer.experts,), "f32")
    f.comment("Router.")
    logits = f.gate(x, wg, gate_bias)
    return f.route(logits, layer.k, bias=selection_bias, **layer.route)


def add_routed_experts(f, layer, x, ids):
    """Adds GEMM, activation, GEMM; returns the rows of all slots [T*k, H]."""
    experts, hidden, width = layer.experts, layer.hidden, layer.width
    w13 = f.arg("w13", (experts, 2 * width, hidden), "bf16")
    b13 = layer.expert_bias and f.arg("b13", (experts, 2 * width), "bf16") or None
    w2 = f.arg("w2", (experts, hidden, width), "bf16")
    b2 = layer.expert_bias and f.arg("b2", (experts, hidden), "bf16") or None
    f.comment("Routed experts.")
    h = f.gemm(x, w13, ("R", 2 * width), "bf16", [ids], bias=b13, stem="h",
               grouping="ids", row_source="token")
    act = f.activation(h, width, "bf16", layer.activation)
    return f.gemm(act, w2, ("R", hidden), "bf16", [ids], bias=b2, stem="y",
                  grouping="ids")


def add_shared_experts(f, layer, x):
    """Adds the dense experts of every token; returns their output [T, H]."""
    hidden, width = layer.hidden, layer.shared_experts * layer.width
    w13 = f.arg("shared_w13", (1, 2 * width, hidden), "bf16")
    w2 = f.arg("shared_w2", (1, hidden, width), "bf16")
    f.comment("Shared experts, one of their joint width.")
    h = f.gemm(x, w13, ("T", 2 * width), "bf16", stem="shared_h", grouping="dense")
    act = f.activation(h, width, "bf16", layer.activation)
    return f.gemm(act, w2, ("T", hidden), "bf16", stem="shared_y", grouping="dense")


def add_layer(f, layer, given_routing=False):
    """Adds a whole layer to `f` and returns its output. With `given_routing` the
    weights and ids are arguments and there is no router."""
    x = f.arg("x", ("T", layer.hidden), "bf16")
    if given_routing:
        weights = f.arg("weights", ("T", layer.k), "f32")
        ids = f.arg("ids", ("T", layer.k), "i32")
    f.dim("T", x)
    f.times("R", "T", layer.k)
    if not given_routing:
        weights, ids = add_router(f, layer, x)
    y = add_routed_experts(f, layer, x, ids)
    residual = add_shared_experts(f, layer, x) if layer.shared_experts else None
    f.comment("Weighted sum of the slots.")
    return f.combine(y, weights, ids, "T", "bf16", residual=residual,
                     experts=layer.experts)


def file_text(layer, size):
    """The text of one file."""
    f = Func("layer")
    out = add_layer(f, layer)
    return (f"// {layer.title}, {size}: E = {layer.experts}, k = {layer.k}, "
            f"H = {layer.hidden}, I = {layer.width}.\n"
            f"// Written by generate.py; change that.\n\n" + f.text(out))


def files():
    """All (file name, text) of the folder."""
    for name, layer in LAYERS.items():
        yield f"{name}.mlir", file_text(layer, "one layer at full size")
        yield (f"{name}.small.mlir",
               file_text(small(layer), "one layer with narrow matrices"))


def main(arguments):
    check = "--check" in arguments
    folders = [a for a in arguments if not a.startswith("--")]
    folder = Path(folders[0]) if folders else Path(__file__).parent
    stale = []
    for name, text in files():
        path = folder / name
        if not check:
            path.write_text(text)
        elif not path.is_file() or path.read_text() != text:
            stale.append(name)
    known = {name for name, _ in files()}
    stale += sorted(p.name for p in folder.glob("*.mlir") if p.name not in known)
    for name in stale:
        print(f"{folder / name}: not what generate.py writes")
    print(f"{len(known)} files, {len(stale)} stale")
    return 1 if stale else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
