# Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Every form of a grouped GEMM: groupings, row orders, layouts, epilogues, types,
kernels and sizes, odd ones included."""

import numpy as np

from covering import Product
from form_program import MEMORY, row_alignment

# name: (attribute text, columns of b per column of c)
ACTIVATIONS = {
    "none": (None, 1), "silu": ("silu", 1), "gelu": ("gelu", 1), "relu2": ("relu2", 1),
    "swiglu": ("swiglu", 2),
    "swiglu interleaved": ("swiglu, layout = interleaved, limit = 0.5", 2),
    "swigluoai": ("swigluoai, limit = 0.5, alpha = 1.25", 2),
    "swigluoai interleaved": ("swigluoai, layout = interleaved", 2),
    "swiglustep": ("swiglustep, limit = 0.5", 2),
    "geglu": ("geglu", 2), "geglu interleaved": ("geglu, layout = interleaved", 2),
    "situ": ("situ, beta = 0.5, linear_beta = 1.25", 2),
    # An op of its own whose input is also a result, so that it stays one.
    "unfused": ("swiglu", 2),
}
# Element types of a, b and c.
TYPES = {
    "bf16": ("bf16", "bf16", "bf16"), "f16": ("f16", "f16", "f16"),
    "f32": ("f32", "f32", "f32"), "bf16 to f32": ("bf16", "bf16", "f32"),
    "f16 to f32": ("f16", "f16", "f32"), "f32 x bf16": ("f32", "bf16", "bf16"),
    "f32 x f16 to f32": ("f32", "f16", "f32"),
}
# T, k, E, I (columns of c), K. Whole tiles, ragged ends, rows that are not 16-byte
# aligned, single elements, nothing.
SHAPES = {
    "whole": (96, 2, 4, 128, 128), "ragged": (37, 3, 5, 72, 200),
    "odd": (23, 2, 3, 33, 77), "odd columns": (70, 1, 3, 35, 136),
    "odd depth": (41, 2, 3, 64, 66), "tiny": (1, 1, 1, 2, 8), "one": (3, 1, 2, 1, 1),
    "deep": (19, 4, 9, 24, 1032), "wide": (5, 2, 2, 520, 72), "many rows": (300, 2, 3, 40, 64),
    "no rows": (0, 2, 3, 16, 64), "many experts": (30, 6, 130, 16, 24),
}
# Kernels by name: None lets the selector choose for so many tokens.
FEW, MANY = "chosen for 16", "chosen for 8192"
WRITTEN = {
    "simt": "mma = simt, tile = [16, 64, 16]",
    "mma 16": "mma = mma_sync, tile = [16, 128, 64], stages = 5",
    "mma 32": "mma = mma_sync, tile = [32, 128, 64], stages = 3",
    "wgmma 64": "mma = wgmma, tile = [64, 128, 64], stages = 4, warps = 8",
    "wgmma 128": "mma = wgmma, tile = [128, 128, 64], stages = 4, warps = 12",
}
KERNELS = [FEW, MANY, *WRITTEN]

DIMENSIONS = {
    "grouping": ["ids", "aligned", "offsets", "sizes", "masked", "k_grouped", "dense"],
    "rows": ["flat", "token", "sorted in", "sorted out", "sorted both"],
    "layout": [None, "kn"],
    "bias": [None, "f32", "like b"],
    "activation": list(ACTIVATIONS),
    "weight": [None, "input", "output"],
    "map": [False, True],
    "types": list(TYPES),
    "kernel": KERNELS,
    "shape": list(SHAPES),
    "block": [16, 1, 64],
    "dynamic": [False, True],
    "load": ["uniform", "one", "wild"],
    "memory": MEMORY,
}


def takes_tensor_cores(form):
    """True where the tensor-core kernels of the form's family take it."""
    a, b, _ = TYPES[form["types"]]
    rows = row_alignment(SHAPES[form["shape"]][4], form["memory"], b)
    return (a == b != "f32" and form["layout"] is None and form["grouping"] != "k_grouped"
            and rows % (16 if form["kernel"].startswith("wgmma") else 4) == 0)


def fits_block(form):
    """Whether a written schedule fits the written blocks of a row table."""
    if form["grouping"] != "aligned":
        return form["block"] == 16  # no other effect
    if form["kernel"] not in WRITTEN or form["kernel"] == "simt":
        return True
    rows = int(form["kernel"].split()[1])
    return form["block"] % rows == 0 or (form["block"] < 16 and rows == 16)


def valid(form):
    grouping, rows = form["grouping"], form["rows"]
    if rows != "flat" and grouping != "aligned" and (rows != "token" or grouping != "ids"):
        return False
    if grouping == "k_grouped" and (form["bias"] or form["weight"] or
                                    form["activation"] != "none"):
        return False
    if form["weight"] == "input" and (form["bias"] or rows not in ("token", "sorted out") or
                                      SHAPES[form["shape"]][1] != 1):
        return False
    if form["weight"] == "input" and rows == "sorted out" and grouping != "aligned":
        return False
    if form["map"] and grouping not in ("ids", "aligned"):
        return False
    if form["load"] == "wild" and grouping == "dense":
        return False
    if not fits_block(form):
        return False
    if form["kernel"] in WRITTEN and form["kernel"] != "simt":
        return takes_tensor_cores(form)
    return True


def product():
    return Product(DIMENSIONS, valid)


def name_of(form):
    return "gemm " + ", ".join(
        f"{key} {value}" if key not in ("grouping", "types") else str(value)
        for key, value in form.items() if value not in (None, False, "none", "plain"))


class GemmForm:
    """Builds one form in a FormProgram."""

    def __init__(self, form, p, seed):
        self.form, self.p = form, p
        p.memory = form["memory"]
        self.rng = np.random.default_rng(seed)
        self.tokens, self.k, self.experts, self.width, self.depth = SHAPES[form["shape"]]
        if form["grouping"] == "dense":
            self.experts = 1
        self.activation, self.parts = ACTIVATIONS[form["activation"]]
        self.columns = self.width * self.parts
        self.types = TYPES[form["types"]]

    def dim(self, name):
        return name if self.form["dynamic"] else None

    def weights_of(self, shape):
        """b with the layout of the form; `shape` is [.., N, K]."""
        if self.form["layout"]:
            shape = (*shape[:-2], shape[-1], shape[-2])
        return self.p.floats("b", shape, self.types[1], fan_in=self.depth)

    def ids(self, dynamic):
        shape, load = (self.tokens, self.k), self.form["load"]
        known = 2 * self.experts + 1 if self.form["map"] else self.experts
        if load == "uniform":
            values = self.rng.integers(0, known, shape)
        elif load == "one":
            values = np.full(shape, known - 1)
        else:
            values = self.rng.integers(-2, known + 2, shape)
        ids = self.p.integers("ids", values, dynamic)
        mapping = None
        if self.form["map"]:
            mapping = self.p.integers("map", self.rng.integers(-1, self.experts + 1, known))
        return ids, mapping

    def groups(self, rows):
        """End offsets or sizes of groups over so many rows."""
        grouping, load = self.form["grouping"], self.form["load"]
        if load == "wild":
            values = self.rng.integers(-3, rows + 4, self.experts)
        elif grouping == "sizes":
            share = np.full(self.experts, 1 / self.experts)
            values = self.rng.multinomial(rows, share)
            if load == "one":
                values = np.zeros(self.experts, int)
                values[-1] = rows
        else:
            values = np.sort(self.rng.integers(0, rows + 1, self.experts))
            if load == "one":
                values = np.full(self.experts, rows)
        return self.p.integers("groups", values)

    def finish(self, a, b, c_shape, rows, weight_shape, dynamic, **attributes):
        """The GEMM with the epilogue of the form; its results."""
        p, form = self.p, self.form
        bias = weights = None
        if form["bias"]:
            bias = p.floats("bias", (self.experts, self.columns),
                            "f32" if form["bias"] == "f32" else self.types[1])
        if form["weight"]:
            weights = p.floats("weights", weight_shape, "f32", dynamic)
        unfused = form["activation"] == "unfused"
        if form["kernel"] in WRITTEN:
            attributes["schedule"] = f"#moe.schedule<{WRITTEN[form['kernel']]}>"
        columns = self.columns if unfused else self.width
        c = p.gemm(a, b, (*c_shape, columns), self.types[2], rows, bias=bias, weights=weights,
                   weight=form["weight"], b_layout=form["layout"],
                   activation=None if unfused else self.activation, **attributes)
        if not unfused or len(c_shape) > 1:
            return [c]
        return [c, p.activation(c, self.width, self.types[2], self.activation)]

    def build(self):
        method = {"ids": self.by_ids, "aligned": self.aligned, "masked": self.masked,
                  "k_grouped": self.k_grouped}.get(self.form["grouping"], self.ragged)
        return method()

    def by_ids(self):
        p, t = self.p, self.dim("T")
        ids, mapping = self.ids(t)
        flat = self.tokens * self.k
        token = self.form["rows"] == "token"
        if t:
            p.times("R", "T", self.k)
        a = p.floats("a", (self.tokens if token else flat, self.depth), self.types[0],
                     t and ("T" if token else "R"))
        b = self.weights_of((self.experts, self.columns, self.depth))
        return self.finish(a, b, ("R" if t else flat,), [ids], (self.tokens, self.k), t,
                           grouping="ids", expert_map=mapping,
                           row_source="token" if token else None)

    def aligned(self):
        p, t, block, rows = self.p, self.dim("T"), self.form["block"], self.form["rows"]
        ids, mapping = self.ids(t)
        flat = self.tokens * self.k
        size = flat + self.experts * (block - 1)
        names = {"R": flat, "P": size, "B": -(-size // block)}
        if t:
            p.times("R", "T", self.k)
            p.plus("P", "R", self.experts * (block - 1))
            p.ceildiv("B", "P", block)
            names = {name: name for name in names}
        table = p.align(ids, names["P"], names["B"], self.experts, block, mapping)[:3]
        sorted_in = rows in ("sorted in", "sorted both")
        sorted_out = rows in ("sorted out", "sorted both")
        # The weight of an input needs rows by token.
        token = rows == "token" or self.form["weight"] == "input"
        a = p.floats("a", (size if sorted_in else self.tokens if token else flat, self.depth),
                     self.types[0], t and ("P" if sorted_in else "T" if token else "R"))
        b = self.weights_of((self.experts, self.columns, self.depth))
        return self.finish(
            a, b, (names["P" if sorted_out else "R"],), list(table), (self.tokens, self.k), t,
            grouping="aligned", top_k=self.k, block=block,
            row_source="token" if token else None,
            a_order="sorted" if sorted_in else None, c_order="sorted" if sorted_out else None)

    def ragged(self):
        """offsets, sizes and dense."""
        r, rows = self.dim("R"), self.tokens * self.k
        a = self.p.floats("a", (rows, self.depth), self.types[0], r)
        b = self.weights_of((self.experts, self.columns, self.depth))
        groups = [] if self.form["grouping"] == "dense" else [self.groups(rows)]
        return self.finish(a, b, (r or rows,), groups, (rows,), r,
                           grouping=self.form["grouping"])

    def masked(self):
        p = self.p
        capacity = max(1, self.tokens // 2) if self.tokens else 0
        if self.form["load"] == "wild":
            counts = self.rng.integers(-1, capacity + 2, self.experts)
        elif self.form["load"] == "one":
            counts = np.zeros(self.experts, int)
            counts[0] = capacity
        else:
            counts = self.rng.integers(0, capacity + 1, self.experts)
        a = p.floats("a", (self.experts, capacity, self.depth), self.types[0])
        counts = p.integers("counts", counts)
        b = self.weights_of((self.experts, self.columns, self.depth))
        return self.finish(a, b, (self.experts, capacity), [counts],
                           (self.experts, capacity), None, grouping="masked")

    def k_grouped(self):
        p = self.p
        rows, m, n = self.tokens * self.k, self.depth, self.width
        a = p.floats("a", (m, rows), self.types[0])
        shape = (rows, n) if self.form["layout"] else (n, rows)
        b = p.floats("b", shape, self.types[1])
        ends = self.groups(rows)
        return self.finish(a, b, (self.experts, m), [ends], (), None, grouping="k_grouped")


def case(form, index):
    """A case for Program.begin_case and run_cases."""

    def build(p, name):
        for value in GemmForm(form, p, index).build():
            p.output(name, value)

    return name_of(form), build


def cases(seed=1):
    return [case(form, i) for i, form in enumerate(product().pairwise(seed))]
