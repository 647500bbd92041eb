# Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Every form of the ops that are not GEMMs: gate, route, align, group_ids,
activation, combine, permute and unpermute."""

import numpy as np

from covering import Product
from form_program import MEMORY
from gemm_forms import ACTIVATIONS

FLOATS = ["bf16", "f16", "f32"]


def describe(op, form):
    return f"{op} " + ", ".join(f"{key} {value}" for key, value in form.items()
                                if value not in (None, False, "plain"))


#===--- gate ----------------------------------------------------------------===#

GATE = {"memory": MEMORY, "x": FLOATS, "weight": FLOATS, "bias": [None, *FLOATS], "dynamic": [False, True],
        "shape": [(37, 128, 64), (1, 1, 1), (5, 2048, 130), (0, 40, 3), (130, 77, 33),
                  (4, 10, 4096)]}


def gate(form, p, _):
    tokens, hidden, experts = form["shape"]
    x = p.floats("x", (tokens, hidden), form["x"], "T" if form["dynamic"] else None)
    weight = p.floats("wg", (experts, hidden), form["weight"], fan_in=hidden)
    bias = p.floats("bias", (experts,), form["bias"]) if form["bias"] else None
    return [p.gate(x, weight, bias)]


#===--- route ---------------------------------------------------------------===#

ROUTE = {
    "score": ["softmax", "sigmoid", "sqrt_softplus", "identity", "sparsemixer"],
    "order": [None, "topk_then_score"],
    "groups": [None, ("max", 1), ("max", 2), ("top2_sum", 1), ("top2_sum", 2), ("top2_sum", 4)],
    "bias": [None, *FLOATS],
    "table": [False, True],
    "softcap": [None, 0.5, 30.0],
    "renormalize": [None, True],
    "scale": [None, 2.5, -1.0, 0.0],
    "expert_scale": [None, *FLOATS],
    "jitter": [None, 0.3],
    "logits": ["f32", "bf16", "f16"],
    "data": ["normal", "ties", "wild", "hopeless"],
    "dynamic": [False, True],
    # T, E, k; E is a multiple of 4 where there are groups.
    "shape": [(37, 64, 6), (1, 1, 1), (130, 8, 2), (5, 256, 8), (33, 300, 32), (3, 896, 16),
              (0, 16, 4), (4, 20, 20), (2, 4096, 9)],
}


def valid_route(form):
    experts = form["shape"][1]
    if form["groups"] and experts % 4:
        return False
    if form["table"] and (form["bias"] or form["groups"]):
        return False
    if form["score"] == "sparsemixer" and (form["bias"] or form["groups"] or form["table"] or
                                           form["order"]):
        return False
    return form["jitter"] is None or form["score"] == "sparsemixer"


def logits_of(form, rng):
    tokens, experts, _ = form["shape"]
    values = rng.standard_normal((tokens, experts)) * 3
    if form["data"] == "ties":
        return np.round(values)
    if form["data"] in ("wild", "hopeless"):
        chosen = rng.random(values.shape) < (0.3 if form["data"] == "wild" else 0.97)
        values[chosen] = rng.choice([np.nan, np.inf, -np.inf, 0.0], int(chosen.sum()))
    return values


def route(form, p, seed):
    from moe_cases import rounded
    rng = np.random.default_rng(seed)
    tokens, experts, k = form["shape"]
    dynamic = "T" if form["dynamic"] else None
    values = rounded(logits_of(form, rng), form["logits"])
    logits = p.input("logits", values, form["logits"], dynamic)
    options = {key: form[key] for key in ("score", "order", "softcap", "renormalize", "scale",
                                          "jitter")}
    if form["groups"]:
        rank, keep = form["groups"]
        options.update(groups=4, keep_groups=keep, group_rank=rank)
    bias = table = scale = None
    if form["bias"]:
        bias = p.floats("bias", (experts,), form["bias"])
    if form["table"]:
        table = [p.integers("token_ids", rng.integers(-1, 22, tokens), dynamic),
                 p.integers("table", rng.integers(-1, experts + 1, (21, k)))]
    if form["expert_scale"]:
        scale = p.floats("expert_scale", (experts,), form["expert_scale"])
    return list(p.route(logits, k, bias=bias, table=table, expert_scale=scale, **options))


#===--- rows ----------------------------------------------------------------===#

IDS = {"map": [False, True], "load": ["uniform", "one", "wild"], "dynamic": [False, True],
       # T, k, experts
       "shape": [(37, 3, 8), (1, 1, 1), (0, 2, 4), (140, 8, 130), (5, 32, 40), (1030, 1, 3)]}


def ids_of(form, p, rng):
    tokens, k, experts = form["shape"]
    known = 2 * experts + 1 if form["map"] else experts
    values = {"uniform": lambda: rng.integers(0, known, (tokens, k)),
              "one": lambda: np.full((tokens, k), known - 1),
              "wild": lambda: rng.integers(-2, known + 2, (tokens, k))}[form["load"]]()
    ids = p.integers("ids", values, "T" if form["dynamic"] else None)
    mapping = p.integers("map", rng.integers(-1, experts + 1, known)) if form["map"] else None
    return ids, mapping


ALIGN = {**IDS, "block": [16, 1, 4, 64, 256], "table": ["least", "bound"]}


def align(form, p, seed):
    tokens, k, experts = form["shape"]
    ids, mapping = ids_of(form, p, np.random.default_rng(seed))
    block = form["block"]
    if form["dynamic"]:
        p.times("R", "T", k)
        p.plus("P", "R", experts * (block - 1))
        p.ceildiv("B", "P", block)
        return list(p.align(ids, "P", "B", experts, block, mapping))
    flat = tokens * k
    held = min(experts, flat) if form["table"] == "least" else experts
    size = flat + held * (block - 1)
    return list(p.align(ids, size, -(-size // block), experts, block, mapping))


# As many rows as one block sorts in one launch (lib/Conversion/MoEToGPU/RowSortOneBlock.cpp),
# and one token more.
ALIGN_MOST = {**ALIGN, "dynamic": [False], "block": [16, 1, 64],
              "shape": [(256, 32, 60), (8192, 1, 1), (1024, 8, 8), (1024, 8, 257),
                        (88, 32, 1000), (8, 32, 4096), (257, 32, 60)]}


def valid_align(form):
    return not form["map"] or form["shape"][2] < 2048  # a map has at most 4096 entries


PERMUTE = {"memory": MEMORY, **IDS, "type": FLOATS, "columns": [64, 1, 7, 10, 260]}


def permute(form, p, seed):
    """Permute, and the rows back again."""
    tokens, k, experts = form["shape"]
    x = p.floats("x", (tokens, form["columns"]), form["type"],
                 "T" if form["dynamic"] else None)
    ids, mapping = ids_of(form, p, np.random.default_rng(seed))
    rows = tokens * k
    if form["dynamic"]:
        p.times("R", "T", k)
        rows = "R"
    outs = [((rows, form["columns"]), form["type"]), ((rows,), "i32"), ((experts,), "i32")]
    moved, source, ends = p.op("permute", ["rows", "source", "ends"],
                               {"ins": [x, ids], "expert_map": [mapping]}, outs,
                               {"experts": experts})
    back = p.op("unpermute", ["y"], {"ins": [moved, source]}, [outs[0]])
    return [moved, source, ends, back]


GROUP_IDS = {"grouping": ["offsets", "sizes", "masked"], "rows": [37, 1, 0, 700],
             "experts": [8, 1, 130], "dynamic": [False, True]}


def group_ids(form, p, seed):
    rng = np.random.default_rng(seed)
    grouping, experts = form["grouping"], form["experts"]
    capacity = form["rows"] % 13 if grouping == "masked" else None
    rows = form["rows"] if capacity is None else capacity * experts
    table = p.integers("groups", rng.integers(-2, max(4, rows // experts + 2), experts))
    if form["dynamic"]:
        p.dim("R", p.integers("like", np.zeros(rows), "R"))
    return [p.op("group_ids", ["ids"], {"ins": [table]},
                 [((("R" if form["dynamic"] else rows), 1), "i32")],
                 {"grouping": grouping, "capacity": capacity})]


#===--- activation and combine ----------------------------------------------===#

ACTIVATION = {"memory": MEMORY, "kind": [kind for kind in ACTIVATIONS if kind not in ("none", "unfused")],
              "h": FLOATS, "a": FLOATS, "dynamic": [False, True],
              "shape": [(37, 64), (1, 1), (0, 8), (5, 33), (3, 1100), (130, 6)]}


def activation(form, p, _):
    rows, columns = form["shape"]
    text, parts = ACTIVATIONS[form["kind"]]
    h = p.floats("h", (rows, columns * parts), form["h"], "R" if form["dynamic"] else None,
                 scale=8.0)
    return [p.activation(h, columns, form["a"], text)]


COMBINE = {"memory": MEMORY, "y": FLOATS, "x": [None, *FLOATS], "residual": [None, *FLOATS], "out": FLOATS,
           "map": [False, True], "weighted": [None, False], "scale": [None, 2.5],
           "routed_scale": [None, 0.5], "residual_scale": [None, 0.25],
           "load": ["uniform", "one", "wild"], "dynamic": [False, True],
           # T, k, experts, H
           "shape": [(37, 4, 8, 64), (1, 1, 1, 1), (0, 2, 4, 16), (5, 9, 40, 33),
                     (130, 2, 8, 1100), (3, 32, 64, 10)]}


def valid_combine(form):
    return form["residual_scale"] is None or form["residual"] is not None


def combine(form, p, seed):
    tokens, k, experts, hidden = form["shape"]
    rng = np.random.default_rng(seed)
    dynamic = "T" if form["dynamic"] else None
    identity = 3 if form["x"] else None
    known = 2 * experts + 1 if form["map"] else experts
    top = known + (identity or 0)
    values = {"uniform": lambda: rng.integers(0, top, (tokens, k)),
              "one": lambda: np.full((tokens, k), top - 1),
              "wild": lambda: rng.integers(-2, top + 2, (tokens, k))}[form["load"]]()
    ids = p.integers("ids", values, dynamic)
    mapping = p.integers("map", rng.integers(-1, experts + 1, known)) if form["map"] else None
    if dynamic:
        p.times("R", "T", k)
    y = p.floats("y", (tokens * k, hidden), form["y"], dynamic and "R")
    weights = p.floats("weights", (tokens, k), "f32", dynamic)
    x, residual = (form[key] and p.floats(key, (tokens, hidden), form[key], dynamic)
                   for key in ("x", "residual"))
    return [p.combine(y, weights, ids, dynamic or tokens, form["out"], expert_map=mapping,
                      identity=x, residual=residual, experts=experts,
                      identity_experts=identity, scale=form["scale"],
                      routed_scale=form["routed_scale"],
                      residual_scale=form["residual_scale"], weighted=form["weighted"])]


#===--- all of them ---------------------------------------------------------===#

def always(_):
    return True


# op, its dimensions, its rule, its builder
OPS = [("gate", GATE, always, gate), ("route", ROUTE, valid_route, route),
       ("align", ALIGN, always, align), ("align_most", ALIGN_MOST, valid_align, align),
       ("permute", PERMUTE, always, permute),
       ("group_ids", GROUP_IDS, always, group_ids),
       ("activation", ACTIVATION, always, activation),
       ("combine", COMBINE, valid_combine, combine)]


def case(op, form, builder, index):
    def build(p, name):
        p.memory = form.get("memory", "plain")
        for value in builder(form, p, index):
            p.output(name, value)

    return describe(op, form), build


def cases(seed=1, only=""):
    return [case(op, form, builder, i) for op, dimensions, rule, builder in OPS
            if not only or op in only.split(",")
            for i, form in enumerate(Product(dimensions, rule).pairwise(seed))]
