# Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The routers of 56 published models, from the facts in models.json.

  routers.py write FILE    one module with a router of each at full width
  routers.py run           each at narrow width, on every CPU device, against f64

Where the router's meaning shows only in a later op, that op is there as well:
weights on the input rows (Llama 4), identity experts (LongCat), the sigmoid
gate of a shared expert (Qwen), the scale on the routed sum (GLM).
"""

import json
import sys
from pathlib import Path

import numpy as np

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE.parent), str(HERE.parent / "Models")]

import oracle  # noqa: E402
from moe_cases import Program, rounded, run_cases  # noqa: E402
from moe_ir import Func  # noqa: E402

NARROW_HIDDEN = 64
NARROW_WIDTH = 32
NARROW_VOCABULARY = 50
VOCABULARY = 129280
TOKENS = 5
SEED = 20261130

SCORES = {"softmax": "softmax", "sigmoid": "sigmoid", "sqrtsoftplus": "sqrt_softplus",
          "sparsemixer": "sparsemixer"}


def models():
    """The facts of each model, neutral values filled in."""
    data = json.loads((HERE / "models.json").read_text())
    return [{**data["neutral"], **m} for m in data["models"]]


def variants():
    """(name, model, hash) of each router: models with hash layers have two."""
    for model in models():
        name = "".join(c if c.isalnum() else "_" for c in model["name"])
        yield name, model, False
        if model["hash_layers"]:
            yield name + "_hash", model, True


def scale_place(model):
    """`route` or `combine`: where the routed scaling factor belongs."""
    return "combine" if model["name"].startswith("GLM") else "route"


def route_attributes(model, use_hash):
    """The attributes of moe.route that differ from their defaults."""
    out = {}
    if model["scoring"] != "softmax":
        out["score"] = SCORES[model["scoring"]]
    if model["order"].startswith("topk_then"):
        out["order"] = "topk_then_score"
    if model["n_group"] > 1 and not use_hash:
        out["groups"] = model["n_group"]
        out["keep_groups"] = model["topk_group"]
        if model["group_score"].startswith("top2_sum"):
            out["group_rank"] = "top2_sum"
    # A softmax over the chosen, and one sigmoid, have nothing to renormalize.
    if model["norm_topk_prob"] and "order" not in out:
        out["renormalize"] = True
    if model["routed_scaling_factor"] != 1 and scale_place(model) == "route":
        out["scale"] = float(model["routed_scaling_factor"])
    if model["router_logit_softcap"]:
        out["softcap"] = float(model["router_logit_softcap"])
    return out


class Inputs:
    """Makes the arguments of a router: types alone, or random data as well."""

    def __init__(self, f, rng=None):
        self.f = f
        self.rng = rng
        self.data = {}

    def floats(self, name, shape, element, spread, dynamic=None):
        return self.make(name, shape, element, dynamic,
                         lambda: self.rng.uniform(-spread, spread, shape))

    def integers(self, name, shape, low, high, dynamic=None):
        return self.make(name, shape, "i32", dynamic,
                         lambda: self.rng.integers(low, high, shape))

    def make(self, name, shape, element, dynamic, draw):
        if self.rng is None:
            dims = ((dynamic,) if dynamic else shape[:1]) + shape[1:]
            value = self.f.arg(name, dims, element)
            if dynamic and dynamic not in self.f.sizes:
                self.f.dim(dynamic, value)
            return value
        self.data[name] = rounded(draw(), element)
        return self.f.input(name, self.data[name], element, dynamic)


def add_router(f, make, model, use_hash, hidden, vocabulary):
    """Adds gate and route; returns (x, logits, weights, ids)."""
    experts = model["num_experts"] + model["zero_experts"]
    x = make.floats("x", (TOKENS, hidden), "bf16", 1, "T")
    wg = make.floats("wg", (experts, hidden), "bf16", 0.5)
    gate_bias = bias = table = scales = None
    if model["router_linear_bias"]:
        gate_bias = make.floats("bg", (experts,), "bf16", 0.5)
    if model["selection_bias"] and not use_hash:
        bias = make.floats("correction", (experts,), "f32", 0.2)
    if use_hash:
        table = [make.integers("token_ids", (TOKENS,), -1, vocabulary + 1, "T"),
                 make.integers("table", (vocabulary, model["top_k"]), 0, experts)]
    if model["per_expert_output_scale"]:
        scales = make.floats("expert_scale", (experts,), "f32", 2)
    logits = f.gate(x, wg, gate_bias)
    weights, ids = f.route(logits, model["top_k"], bias=bias, table=table,
                           expert_scale=scales, **route_attributes(model, use_hash))
    return x, logits, weights, ids


def add_shared_gate(f, make, x, hidden):
    """Adds the sigmoid gate of a shared expert; returns its weights [T, 1]."""
    wg = make.floats("shared_gate", (1, hidden), "bf16", 0.5)
    weights, _ = f.route(f.gate(x, wg), 1, score="sigmoid")
    return weights


def add_experts(f, make, model, x, weights, ids, width):
    """Adds the two GEMMs and the combine; returns the layer's output in f32."""
    experts, hidden, k = model["num_experts"], x.shape[1], model["top_k"]
    on_input = model["apply_router_weight_on_input"]
    w13 = make.floats("w13", (experts, 2 * width, hidden), "bf16", 0.5)
    w2 = make.floats("w2", (experts, hidden, width), "bf16", 0.5)
    f.times("R", "T", k)
    h = f.gemm(x, w13, ("R", width), "f32", [ids], grouping="ids", row_source="token",
               weights=weights if on_input else None,
               weight="input" if on_input else None, activation="swiglu")
    y = f.gemm(h, w2, ("R", hidden), "f32", [ids], grouping="ids")
    zero = model["zero_experts"]
    scale = model["routed_scaling_factor"] if scale_place(model) == "combine" else 1
    return f.combine(y, weights, ids, "T", "f32", experts=experts,
                     identity=x if zero else None, identity_experts=zero or None,
                     weighted=False if on_input else None,
                     routed_scale=float(scale) if scale != 1 else None)


def needs_experts(model):
    """Whether a part of the router's meaning sits in a later op."""
    return bool(model["apply_router_weight_on_input"] or model["zero_experts"]
                or scale_place(model) == "combine")


def full_module():
    """One function per router at the width of the model."""
    texts = []
    for name, model, use_hash in variants():
        f = Func("router_" + name)
        make = Inputs(f)
        hidden = model["hidden"]
        x, _, weights, ids = add_router(f, make, model, use_hash, hidden, VOCABULARY)
        results = [weights, ids]
        if model["shared_gate"]:
            results.append(add_shared_gate(f, make, x, hidden))
        if needs_experts(model):
            results.append(add_experts(f, make, model, x, weights, ids,
                                       model["intermediate"]))
        texts.append(f"// {model['name']}\n" + f.text(*results))
    return "\n".join(texts)


def expected_route(model, use_hash, data):
    """(logits, weights, ids) in f64."""
    logits = oracle.gate(data["x"], data["wg"], data.get("bg"))
    weights, ids = oracle.route(
        logits.astype(np.float32), model["top_k"], bias=data.get("correction"),
        token_ids=data.get("token_ids"), table=data.get("table"),
        expert_scale=data.get("expert_scale"), **route_attributes(model, use_hash))
    return logits, weights, ids


def expected_layer(model, data, weights, ids):
    experts = model["num_experts"]
    on_input = model["apply_router_weight_on_input"]
    h = oracle.grouped_gemm(
        data["x"], data["w13"], "ids", [ids], row_source="token",
        weights=weights, weight="input" if on_input else "none",
        act={"kind": "swiglu"})
    y = oracle.grouped_gemm(h, data["w2"], "ids", [ids])
    scale = model["routed_scaling_factor"] if scale_place(model) == "combine" else 1
    return oracle.combine(y, weights, ids, experts, x=data["x"],
                          identity_experts=model["zero_experts"],
                          weighted=not on_input, routed_scale=scale)


def narrow_case(index, model, use_hash):
    """The case of one router at narrow width; the data depends on `index` only."""

    def case(program, name):
        make = Inputs(program, np.random.default_rng(SEED + index))
        x, logits, weights, ids = add_router(program, make, model, use_hash,
                                             NARROW_HIDDEN, NARROW_VOCABULARY)
        want = expected_route(model, use_hash, make.data)
        for value, expected in zip((logits, weights, ids), want):
            program.output(name, value, expected)
        if model["shared_gate"]:
            gate = add_shared_gate(program, make, x, NARROW_HIDDEN)
            score = oracle.gate(make.data["x"], make.data["shared_gate"])
            program.output(name, gate, oracle.route(score, 1, score="sigmoid")[0])
        if needs_experts(model):
            out = add_experts(program, make, model, x, weights, ids, NARROW_WIDTH)
            program.output(name, out, expected_layer(model, make.data, *want[1:]))

    return case


def run(target):
    """Runs all narrow routers; returns the exit status."""
    print(f"seed {SEED}")
    cases = [(name, narrow_case(i, model, use_hash))
             for i, (name, model, use_hash) in enumerate(variants())]
    failed = run_cases("routers", cases, batch=15, target=target)
    print(f"{len(models())} models, {len(cases)} routers")
    return 1 if failed else 0


if __name__ == "__main__":
    if sys.argv[1] == "write":
        Path(sys.argv[2]).write_text(full_module())
    else:
        sys.exit(run(sys.argv[2]))
