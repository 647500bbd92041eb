# Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Whole layers in the forms that importers write: by ids or permuted, with shared
experts (gated or not), identity experts, a shard's map, hash routing."""

from covering import Product
from gemm_forms import ACTIVATIONS

import numpy as np

DIMENSIONS = {
    "type": ["bf16", "f16", "f32"],
    "between": ["same", "f32"],
    "movement": ["ids", "permuted", "tables"],
    "activation": ["swiglu", "swigluoai interleaved", "geglu", "silu", "situ"],
    "router": ["softmax", "sigmoid groups", "topk first", "sparsemixer", "table"],
    "shared": [None, "plain", "gated"],
    "identity": [0, 3],
    "map": [False, True],
    "bias": [False, True],
    "weights on": ["combine", "input", "output"],
    "dynamic": [True, False],
    # T, k, E, H, I
    "shape": [(37, 2, 8, 128, 64), (1, 2, 4, 64, 64), (5, 3, 8, 72, 40), (130, 4, 16, 64, 24),
              (300, 1, 4, 136, 72), (0, 2, 4, 64, 64), (33, 2, 8, 66, 33)],
}


def valid(form):
    if form["weights on"] == "input" and (form["shape"][1] != 1 or form["bias"] or
                                          form["movement"] != "ids"):
        return False
    # The rows of a permuted layer know their slot through `source` only.
    if form["weights on"] == "output" and form["movement"] == "permuted":
        return False
    return True


class LayerForm:
    """Builds one layer in a FormProgram."""

    def __init__(self, form, p, seed):
        self.form, self.p = form, p
        self.rng = np.random.default_rng(seed)
        self.tokens, self.k, self.experts, self.hidden, self.width = form["shape"]
        self.type = form["type"]
        self.between = self.type if form["between"] == "same" else "f32"
        self.activation, self.parts = ACTIVATIONS[form["activation"]]

    def router(self, x, t):
        """(weights, ids, expert_map)"""
        p, kind = self.p, self.form["router"]
        known = 2 * self.experts if self.form["map"] else self.experts
        logits = p.gate(x, p.floats("wg", (known + self.form["identity"], self.hidden),
                                    self.type, fan_in=self.hidden))
        total = known + self.form["identity"]
        options = {"softmax": {"renormalize": True}, "sigmoid groups": {"score": "sigmoid"},
                   "topk first": {"order": "topk_then_score"},
                   "sparsemixer": {"score": "sparsemixer"},
                   "table": {"score": "sqrt_softplus", "scale": 2.5}}[kind]
        if kind == "sigmoid groups":
            options = {**options, "bias": p.floats("bias", (total,), "f32")}
            if total % 4 == 0:
                options.update(groups=4, keep_groups=2, group_rank="top2_sum")
        if kind == "table":
            options = {**options, "table": [
                p.integers("token_ids", self.rng.integers(0, 50, self.tokens), t),
                p.integers("table", self.rng.integers(0, total, (50, self.k)))]}
        weights, ids = p.route(logits, self.k, **options)
        mapping = None
        if self.form["map"]:
            places = np.full(known, -1)
            places[self.rng.permutation(known)[:self.experts]] = np.arange(self.experts)
            mapping = p.integers("map", places)
        return weights, ids, mapping

    def experts_of(self, x, weights, ids, mapping, rows):
        """y [T*k, H] of the routed experts."""
        p, form = self.p, self.form
        inner = self.width * self.parts
        w13 = p.floats("w13", (self.experts, inner, self.hidden), self.type, fan_in=self.hidden)
        w2 = p.floats("w2", (self.experts, self.hidden, self.width), self.type,
                      fan_in=self.width)
        bias13 = bias2 = None
        if form["bias"]:
            bias13 = p.floats("b13", (self.experts, inner), "f32")
            bias2 = p.floats("b2", (self.experts, self.hidden), self.type)
        first = {"bias": bias13, "row_source": "token", "rows": [ids], "grouping": "ids",
                 "expert_map": mapping}
        second = {"bias": bias2, "rows": [ids], "grouping": "ids", "expert_map": mapping}
        if form["movement"] == "permuted":
            x, source, ends = p.op(
                "permute", ["rows", "source", "ends"],
                {"ins": [x, ids], "expert_map": [mapping]},
                [((rows, self.hidden), self.type), ((rows,), "i32"), ((self.experts,), "i32")],
                {"experts": self.experts})
            first = {"bias": bias13, "rows": [ends], "grouping": "offsets"}
            second = {"bias": bias2, "rows": [ends], "grouping": "offsets"}
        elif form["movement"] == "tables":
            first, second = self.tables(ids, mapping, rows, bias13, bias2)
        if form["weights on"] == "input":
            first.update(weights=weights, weight="input")
        elif form["weights on"] == "output":
            second.update(weights=weights, weight="output")
        middle = first.pop("middle", rows)
        h = p.gemm(x, w13, (middle, inner), self.between, **first)
        act = p.activation(h, self.width, self.between, self.activation)
        y = p.gemm(act, w2, (rows, self.hidden), self.between, **second)
        if form["movement"] == "permuted":
            y = p.op("unpermute", ["y"], {"ins": [y, source]},
                     [((rows, self.hidden), self.between)])
        return y

    def tables(self, ids, mapping, rows, bias13, bias2, block=16):
        """The layer with its row table written out, sorted rows between the GEMMs."""
        p = self.p
        extra = self.experts * (block - 1)
        if isinstance(rows, str):
            p.plus("P", rows, extra)
            p.ceildiv("B", "P", block)
            size, tiles = "P", "B"
        else:
            size, tiles = rows + extra, -(-(rows + extra) // block)
        table = list(p.align(ids, size, tiles, self.experts, block, mapping)[:3])
        common = {"rows": table, "grouping": "aligned", "top_k": self.k, "block": block}
        return ({"bias": bias13, "row_source": "token", "c_order": "sorted", "middle": size,
                 **common}, {"bias": bias2, "a_order": "sorted", **common})

    def shared_expert(self, x, tokens):
        """[T, H] of the expert that every token goes to, or None."""
        p, form = self.p, self.form
        if not form["shared"]:
            return None
        w1 = p.floats("s13", (1, self.width * self.parts, self.hidden), self.type,
                      fan_in=self.hidden)
        w2 = p.floats("s2", (1, self.hidden, self.width), self.type, fan_in=self.width)
        h = p.gemm(x, w1, (tokens, self.width * self.parts), self.between, grouping="dense")
        act = p.activation(h, self.width, self.between, self.activation)
        options = {"grouping": "dense"}
        if form["shared"] == "gated":
            logits = p.gate(x, p.floats("sg", (1, self.hidden), self.type, fan_in=self.hidden))
            weights, ids = p.route(logits, 1, score="sigmoid")
            options = {"grouping": "ids", "rows": [ids], "weights": weights, "weight": "output"}
        return p.gemm(act, w2, (tokens, self.hidden), self.between, **options)

    def build(self):
        p, form = self.p, self.form
        t = "T" if form["dynamic"] else None
        rows = self.tokens * self.k
        x = p.floats("x", (self.tokens, self.hidden), self.type, t)
        if t:
            p.times("R", "T", self.k)
            rows = "R"
        weights, ids, mapping = self.router(x, t)
        y = self.experts_of(x, weights, ids, mapping, rows)
        residual = self.shared_expert(x, t or self.tokens)
        out = p.combine(y, weights, ids, t or self.tokens, self.type, expert_map=mapping,
                        identity=x if form["identity"] else None, residual=residual,
                        experts=self.experts, identity_experts=form["identity"] or None,
                        weighted=None if form["weights on"] == "combine" else False,
                        routed_scale=1.5)
        return [out]


def case(form, index):
    def build(p, name):
        for value in LayerForm(form, p, index).build():
            p.output(name, value, tolerance=1e-2 if value.element != "f32" else None)

    return "layer " + ", ".join(f"{k} {v}" for k, v in form.items() if v), build


def product():
    return Product(DIMENSIONS, valid)


def cases(seed=1):
    return [case(form, i) for i, form in enumerate(product().pairwise(seed))]
