# Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random valid modules: reference and CPU code must agree on each.

Shapes are small and odd, attributes and groupings anything that verifies, ids and
offsets also what is no expert and no offset, logits also NaN and infinite.

  fuzz.py FOLDER [--count=N] [--seed=N] [--devices=A;B;...] [--kinds=layer,route]

FOLDER receives the modules that failed, with their inputs and outputs. A device may
be `reference after PASSES`: then the passes are what is tested.
"""

import argparse
import sys
from pathlib import Path

import numpy as np

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent / "Models"))

from moe_cases import DEVICES, rounded, run_cases  # noqa: E402

FLOATS = ("f32", "bf16", "f16")
GATED = {"swiglu": ("limit",), "swigluoai": ("limit", "alpha"),
         "swiglustep": ("limit",), "geglu": (), "situ": ("beta", "linear_beta")}
PLAIN = ("gelu", "relu2", "silu")


class Draw:
    """Random choices of one case."""

    def __init__(self, p, seed):
        self.p = p
        self.rng = np.random.default_rng(seed)

    def chance(self, probability):
        return self.rng.random() < probability

    def of(self, *choices):
        return choices[self.rng.integers(len(choices))]

    def number(self, low, high):
        return int(self.rng.integers(low, high + 1))

    def extent(self, high=40):
        """Mostly anything up to `high`, now and then 1 or a round number."""
        return self.number(1, high) if self.chance(0.7) else self.of(1, 8, 16, 32)

    def matrix(self, high=70):
        """(depth, even columns) of a matrix; half of them as tensor cores want."""
        if self.chance(0.5):
            return 8 * self.number(1, high // 8), 16 * self.number(1, 3)
        return self.extent(high), 2 * self.extent(24)

    def tokens(self):
        return 0 if self.chance(0.08) else self.extent(20)

    def floats(self, name, shape, element, dynamic=None, scale=1.0, step=None):
        values = self.rng.standard_normal(shape) * scale
        if step:
            values = np.round(values / step) * step
        return self.p.input(name, rounded(values, element), element, dynamic)

    def integers(self, name, shape, low, high, dynamic=None):
        values = self.rng.integers(low, high + 1, shape).astype(np.int32)
        return self.p.input(name, values, "i32", dynamic)

    def dynamic(self, name):
        """The name, for a dimension that the type does not show, or None."""
        return name if self.chance(0.5) else None

    def ids(self, name, tokens, k, experts, dynamic=None):
        """Ids by one of several loads; some are no expert."""
        load = self.of("uniform", "one", "skewed", "wild")
        if load == "uniform":
            values = self.rng.integers(0, experts, (tokens, k))
        elif load == "one":
            values = np.full((tokens, k), self.rng.integers(experts))
        elif load == "skewed":
            values = np.minimum(self.rng.geometric(0.4, (tokens, k)) - 1, experts - 1)
        else:
            values = self.rng.integers(-2, experts + 2, (tokens, k))
        return self.p.input(name, values.astype(np.int32), "i32", dynamic)

    def expert_map(self, total, local):
        """A map of `total` experts on `local` ones, with holes and repeats."""
        return self.integers("map", (total,), -1, local)

    def activation(self, gated=None):
        """(attribute text, whether it is gated)."""
        gated = self.chance(0.7) if gated is None else gated
        if not gated:
            return self.of(*PLAIN), False
        kind = self.of(*GATED)
        parts = [kind]
        if self.chance(0.5):
            parts.append("layout = interleaved")
        parts += [f"{name} = {self.of(0.5, 1.25, 7.0)}" for name in GATED[kind]
                  if self.chance(0.5)]
        return ", ".join(parts), True


def logits_data(d, tokens, experts):
    """Logits with ties, NaN and infinities now and then."""
    values = d.rng.standard_normal((tokens, experts)) * 3
    if d.chance(0.3):
        values = np.round(values)
    if d.chance(0.4):
        wild = d.rng.random(values.shape) < d.of(0.05, 0.5, 0.95)
        values[wild] = d.rng.choice([np.nan, np.inf, -np.inf, 0.0], wild.sum())
    return values


def route_attributes(d, experts, table):
    """Attributes that verify together; a table leaves only some."""
    out = {"score": d.of("softmax", "sigmoid", "sqrt_softplus", "identity")}
    if d.chance(0.4):
        out["order"] = "topk_then_score"
    if d.chance(0.3):
        out["softcap"] = d.of(0.5, 30.0)
    if d.chance(0.5):
        out["renormalize"] = True
    if d.chance(0.3):
        out["scale"] = d.of(2.5, -1.0, 0.0)
    divisors = [g for g in range(2, experts + 1) if experts % g == 0]
    if divisors and not table and d.chance(0.5):
        out["groups"] = d.of(*divisors)
        out["keep_groups"] = d.number(1, out["groups"])
        out["group_rank"] = d.of("max", "top2_sum")
    return out


def route_case(d):
    tokens, experts = d.tokens(), d.of(d.extent(), d.number(1, 300))
    k = min(experts, d.of(1, 2, 6, d.number(1, 32)))
    element, dynamic = d.of(*FLOATS), d.dynamic("T")
    values = rounded(logits_data(d, tokens, experts), element)
    logits = d.p.input("logits", values, element, dynamic)
    if d.chance(0.15):
        weights, ids = d.p.route(logits, k, score="sparsemixer",
                                 jitter=d.of(0.01, 0.3), renormalize=d.of(True, None))
        return [weights, ids]
    table = bias = scale = None
    if d.chance(0.2):
        rows = d.extent()
        table = [d.integers("token_ids", (tokens,), -1, rows, dynamic),
                 d.integers("table", (rows, k), -1, experts)]
    elif d.chance(0.5):
        bias = d.floats("bias", (experts,), d.of(*FLOATS))
    if d.chance(0.2):
        scale = d.floats("expert_scale", (experts,), d.of(*FLOATS))
    weights, ids = d.p.route(logits, k, bias=bias, table=table, expert_scale=scale,
                             **route_attributes(d, experts, table))
    return [weights, ids]


def gate_case(d):
    tokens, hidden, experts = d.tokens(), d.extent(80), d.extent()
    x, weight = d.of(*FLOATS), d.of(*FLOATS)
    bias = d.floats("bias", (experts,), d.of(*FLOATS)) if d.chance(0.5) else None
    return [d.p.gate(d.floats("x", (tokens, hidden), x, d.dynamic("T")),
                     d.floats("wg", (experts, hidden), weight), bias)]


def activation_case(d):
    rows, columns = d.tokens(), d.extent()
    activation, gated = d.activation()
    h = d.floats("h", (rows, columns * (2 if gated else 1)), d.of(*FLOATS),
                 d.dynamic("R"), 4.0)
    return [d.p.activation(h, columns, d.of(*FLOATS), activation)]


def table_rows(d, flat, experts, block):
    """Rows of a row table: just enough, or the bound that any load fits."""
    if d.chance(0.3):
        return flat + min(experts, flat) * (block - 1)
    return flat + experts * (block - 1) + d.number(0, 2 * block)


def align_case(d):
    tokens, k, experts = d.tokens(), d.number(1, 6), d.extent()
    block = d.of(1, 2, 4, 16, 64)
    total = d.extent() if d.chance(0.3) else None
    ids = d.ids("ids", tokens, k, total or experts, None)
    mapping = total and d.expert_map(total, experts)
    rows = table_rows(d, tokens * k, experts, block)
    return d.p.align(ids, rows, -(-rows // block), experts, block, mapping)


def gemm_types(d):
    """Element types of (a, b, c, bias)."""
    b = d.of(*FLOATS)
    a = d.of(b, b, "f32")
    return a, b, d.of(a, b, "f32"), d.of("f32", b)


def weights_of(d, experts, columns, depth, element):
    """(b, its layout or None)."""
    layout = d.of("kn", None)
    shape = (depth, columns) if layout else (columns, depth)
    return d.floats("b", (experts, *shape), element, scale=0.3), layout


def epilogue(d, experts, columns, gated_columns, bias_type):
    """Random bias and activation; returns (keyword arguments, columns of c)."""
    out, result = {}, columns
    if d.chance(0.4):
        out["bias"] = d.floats("bias", (experts, columns), bias_type)
    if d.chance(0.4):
        out["activation"], gated = d.activation(None if gated_columns else False)
        result = columns // 2 if gated else columns
    return out, result


def ids_gemm_case(d):
    """By ids, or by the row table of an align in front."""
    tokens, k, experts = d.tokens(), d.number(1, 6), d.extent(12)
    depth, columns = d.matrix()
    a_type, b_type, c_type, bias_type = gemm_types(d)
    token, aligned = d.chance(0.5), d.chance(0.4)
    total = d.extent() if d.chance(0.3) else None
    dynamic = None if aligned else d.dynamic("T")
    ids = d.ids("ids", tokens, k, total or experts, dynamic)
    mapping = d.expert_map(total, experts) if total else None
    flat = tokens * k
    if dynamic:
        d.p.times("R", "T", k)
        flat = "R"
    rows = "T" if dynamic and token else "R" if dynamic and k > 1 else dynamic
    a = d.floats("a", (tokens if token else tokens * k, depth), a_type, rows)
    b, layout = weights_of(d, experts, columns, depth, b_type)
    extra, result = epilogue(d, experts, columns, True, bias_type)
    place = d.of(None, "output", "input" if token and k == 1 and "bias" not in extra
                 else "output")
    weights = d.floats("weights", (tokens, k), "f32", dynamic) if place else None
    common = {"row_source": "token" if token else None, "b_layout": layout,
              "weights": weights, "weight": place, **extra}
    if not aligned:
        return [d.p.gemm(a, b, (flat, result), c_type, [ids], expert_map=mapping,
                         grouping="ids", **common)]
    block = d.of(1, 4, 16)
    size = table_rows(d, flat, experts, block)
    sorted_rows, tile, padded, _ = d.p.align(ids, size, -(-size // block), experts,
                                             block, mapping)
    table = [sorted_rows, tile, padded]
    chained = d.chance(0.5)
    c = d.p.gemm(a, b, (size if chained else flat, result), c_type, table,
                 grouping="aligned", top_k=k, block=block,
                 c_order="sorted" if chained else None, **common)
    if not chained:
        return [c]
    b2 = d.floats("b2", (experts, d.extent(24), result), b_type)
    second = {"grouping": "aligned", "top_k": k, "block": block, "a_order": "sorted"}
    if c_type not in (b_type, "f32"):
        return [c]
    return [c, d.p.gemm(c, b2, (flat, b2.shape[1]), "f32", table, **second)]


def ragged_gemm_case(d):
    """By offsets or sizes, sound or not."""
    rows, experts = d.tokens(), d.extent(12)
    depth, columns = d.matrix()
    a_type, b_type, c_type, bias_type = gemm_types(d)
    grouping, dynamic = d.of("offsets", "sizes"), d.dynamic("R")
    a = d.floats("a", (rows, depth), a_type, dynamic)
    b, layout = weights_of(d, experts, columns, depth, b_type)
    if grouping == "offsets":
        values = np.sort(d.rng.integers(0, rows + 1, experts))
    else:
        values = d.rng.multinomial(rows, np.full(experts, 1 / experts))
    if d.chance(0.3):
        values = d.rng.integers(-3, rows + 4, experts)
    extra, result = epilogue(d, experts, columns, True, bias_type)
    weights = d.floats("weights", (rows,), "f32", dynamic) if d.chance(0.3) else None
    return [d.p.gemm(a, b, (dynamic or rows, result), c_type,
                     [d.p.input("groups", values.astype(np.int32), "i32")],
                     grouping=grouping, b_layout=layout, weights=weights,
                     weight="output" if weights else None, **extra)]


def masked_gemm_case(d):
    experts, capacity = d.extent(12), d.number(0, 12)
    depth, columns = d.matrix()
    a_type, b_type, c_type, bias_type = gemm_types(d)
    a = d.floats("a", (experts, capacity, depth), a_type)
    b, layout = weights_of(d, experts, columns, depth, b_type)
    counts = d.integers("counts", (experts,), -1, capacity + 1)
    extra, result = epilogue(d, experts, columns, True, bias_type)
    weights = None
    if d.chance(0.3):
        weights = d.floats("weights", (experts, capacity), "f32")
    return [d.p.gemm(a, b, (experts, capacity, result), c_type, [counts],
                     grouping="masked", b_layout=layout, weights=weights,
                     weight="output" if weights else None, **extra)]


def dense_gemm_case(d):
    rows, (depth, columns) = d.tokens(), d.matrix()
    a_type, b_type, c_type, bias_type = gemm_types(d)
    dynamic = d.dynamic("R")
    a = d.floats("a", (rows, depth), a_type, dynamic)
    b, layout = weights_of(d, 1, columns, depth, b_type)
    extra, result = epilogue(d, 1, columns, True, bias_type)
    return [d.p.gemm(a, b, (dynamic or rows, result), c_type, grouping="dense",
                     b_layout=layout, **extra)]


def k_grouped_case(d):
    rows, experts, m, n = d.tokens(), d.extent(12), d.extent(24), d.extent(24)
    a_type, b_type, c_type, _ = gemm_types(d)
    layout = d.of("kn", None)
    ends = np.sort(d.rng.integers(0, rows + 1, experts))
    if d.chance(0.3):
        ends = d.rng.integers(-3, rows + 4, experts)
    return [d.p.gemm(d.floats("a", (m, rows), a_type),
                     d.floats("b", (rows, n) if layout else (n, rows), b_type),
                     (experts, m, n), c_type,
                     [d.p.input("ends", ends.astype(np.int32), "i32")],
                     grouping="k_grouped", b_layout=layout)]


def combine_case(d):
    tokens, k, experts, hidden = d.tokens(), d.number(1, 8), d.extent(), d.extent(70)
    identity = d.number(1, 5) if d.chance(0.3) else 0
    total = d.extent() if d.chance(0.3) else None
    dynamic = d.dynamic("T")
    ids = d.ids("ids", tokens, k, (total or experts) + identity, dynamic)
    y = d.floats("y", (tokens * k, hidden), d.of(*FLOATS),
                 dynamic and ("R" if k > 1 else "T"))
    weights = d.floats("weights", (tokens, k), "f32", dynamic)
    residual = None
    if d.chance(0.4):
        residual = d.floats("residual", (tokens, hidden), d.of(*FLOATS), dynamic)
    x = d.floats("x", (tokens, hidden), d.of(*FLOATS), dynamic) if identity else None
    return [d.p.combine(
        y, weights, ids, dynamic or tokens, d.of(*FLOATS),
        expert_map=d.expert_map(total, experts) if total else None, identity=x,
        residual=residual, experts=experts, identity_experts=identity or None,
        scale=d.of(None, 2.5), routed_scale=d.of(None, 0.5),
        residual_scale=d.of(None, 0.25) if residual else None,
        weighted=d.of(None, False))]


def permute_case(d):
    """Permute, and the rows back again."""
    tokens, k, experts, hidden = d.tokens(), d.number(1, 6), d.extent(), d.extent(70)
    element = d.of(*FLOATS)
    total = d.extent() if d.chance(0.3) else None
    x = d.floats("x", (tokens, hidden), element)
    ids = d.ids("ids", tokens, k, total or experts)
    mapping = d.expert_map(total, experts) if total else None
    flat = tokens * k
    rows, source, ends = d.p.op(
        "permute", ["rows", "source", "ends"],
        {"ins": [x, ids], "expert_map": [mapping]},
        [((flat, hidden), element), ((flat,), "i32"), ((experts,), "i32")],
        {"experts": experts})
    back = d.p.op("unpermute", ["y"], {"ins": [rows, source]},
                  [((flat, hidden), element)])
    return [rows, source, ends, back]


def group_ids_case(d):
    experts, rows, grouping = d.extent(), d.tokens(), d.of("offsets", "sizes", "masked")
    capacity = d.number(0, 5) if grouping == "masked" else None
    count = rows if capacity is None else experts * capacity
    table = d.integers("groups", (experts,), -2, max(rows, 4))
    return [d.p.op("group_ids", ["ids"], {"ins": [table]}, [((count, 1), "i32")],
                   {"grouping": grouping, "capacity": capacity})]


def routed_rows(d, x, ids, w13, w2, activation, between):
    """The rows [T*k, H] of all slots: by ids, or permuted and back."""
    experts, hidden, width = w2.shape
    columns = w13.shape[1]
    first = {"row_source": "token", "grouping": "ids"}
    rows, second = [ids], {"grouping": "ids"}
    permuted = d.chance(0.4)
    if permuted:
        x, source, ends = d.p.op(
            "permute", ["rows", "source", "ends"], {"ins": [x, ids]},
            [(("R", hidden), x.element), (("R",), "i32"), ((experts,), "i32")],
            {"experts": experts})
        rows, first, second = [ends], {"grouping": "offsets"}, {"grouping": "offsets"}
    h = d.p.gemm(x, w13, ("R", columns), between, rows, **first)
    act = d.p.activation(h, width, between, activation)
    y = d.p.gemm(act, w2, ("R", hidden), between, rows, **second)
    if permuted:
        y = d.p.op("unpermute", ["y"], {"ins": [y, source]}, [(("R", hidden), between)])
    return y


def layer_case(d):
    """A whole layer in a form that users write."""
    tokens, experts = d.tokens(), d.extent(16)
    k = d.number(1, min(experts, 6))
    (hidden, width), element = d.matrix(), d.of(*FLOATS)
    between = d.of(element, "f32")
    # In steps of 1/16 no sum of the gate rounds, whatever its order: no near tie is
    # decided here this way and there that way.
    x = d.floats("x", (tokens, hidden), element, "T", step=1 / 16)
    logits = d.p.gate(x, d.floats("wg", (experts, hidden), element, step=1 / 16))
    weights, ids = d.p.route(logits, k, **route_attributes(d, experts, None))
    d.p.times("R", "T", k)
    activation, gated = d.activation()
    columns = width * (2 if gated else 1)
    w13 = d.floats("w13", (experts, columns, hidden), element, scale=0.3)
    w2 = d.floats("w2", (experts, hidden, width), element, scale=0.3)
    y = routed_rows(d, x, ids, w13, w2, activation, between)
    return [d.p.combine(y, weights, ids, "T", element, experts=experts,
                        residual=x if d.chance(0.5) else None)]


# How often each kind comes.
KINDS = [(route_case, 5), (gate_case, 1), (activation_case, 2), (align_case, 2),
         (ids_gemm_case, 6), (ragged_gemm_case, 3), (masked_gemm_case, 2),
         (dense_gemm_case, 1), (k_grouped_case, 2), (combine_case, 3),
         (permute_case, 2), (group_ids_case, 1), (layer_case, 3)]


def fuzz_case(kind, seed):
    def build(p, name):
        for value in kind(Draw(p, seed)):
            p.output(name, value)

    return build


def all_cases(count, seed, only=""):
    """[(name, case)]; the i-th case depends on the seed, i and `only`, the names of
    the kinds to take."""
    bag = [kind for kind, times in KINDS for _ in range(times)
           if not only or kind.__name__.removesuffix("_case") in only.split(",")]
    kinds = [bag[i % len(bag)] for i in range(count)]
    return [(f"{kind.__name__}-{seed}-{i}", fuzz_case(kind, (seed, i)))
            for i, kind in enumerate(kinds)]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder")
    parser.add_argument("--count", type=int, default=500)
    parser.add_argument("--seed", type=int, default=20261130)
    parser.add_argument("--devices", default=";".join(DEVICES))
    parser.add_argument("--kinds", default="")
    options = parser.parse_args()
    print(f"seed {options.seed}")
    cases = all_cases(options.count, options.seed, options.kinds)
    return 1 if run_cases("fuzz", cases, options.devices.split(";"), batch=20,
                          target=options.folder) else 0


if __name__ == "__main__":
    sys.exit(main())
