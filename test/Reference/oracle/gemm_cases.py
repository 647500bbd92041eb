# Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""grouped_gemm and activation against the oracle."""

import itertools
import sys

import numpy as np

import oracle
from batch import main

ACTIVATIONS = [
    {"kind": "swiglu"}, {"kind": "swiglu", "layout": "interleaved", "limit": 0.5},
    {"kind": "swigluoai", "layout": "interleaved", "limit": 0.7},
    {"kind": "swigluoai", "alpha": 1.0}, {"kind": "swiglustep", "limit": 0.3},
    {"kind": "geglu"}, {"kind": "situ"}, {"kind": "situ", "beta": 2.0, "linear_beta": 3.0},
    {"kind": "gelu"}, {"kind": "relu2"}, {"kind": "silu"}]


def is_gated(act):
    return act is not None and act["kind"] not in ("gelu", "relu2", "silu")


def act_text(act):
    more = ", ".join(f"{k} = {v}" + (" : f32" if k != "layout" else "")
                     for k, v in act.items() if k != "kind")
    return f"#moe.activation<{act['kind']}{', ' + more if more else ''}>"


def add_activation(batch, rng, act, rows, columns, source, target):
    h = rng.normal(size=(rows, columns * (2 if is_gated(act) else 1))) * 3
    if rows == 1:
        h[0, :4] = (np.nan, 0.0, 80.0, -80.0)
    operand, values = batch.arg(h, source)
    batch.op(f"activation {act} {source} {target}", "activation", [("ins", [operand])],
             [batch.empty((rows, columns), target)], {"activation": act_text(act)},
             [oracle.activation(values, **act)])


def activations():
    for act, (rows, columns), (source, target) in itertools.product(
            ACTIVATIONS, ((3, 9), (1, 9), (0, 4), (2, 0)), (("f32", "f32"), ("bf16", "f32"),
                                                    ("f16", "f16"), ("bf16", "bf16"))):
        yield lambda b, rng, a=(act, rows, columns, source, target): add_activation(
            b, rng, *a)


class Gemm:
    """One random grouped_gemm; what it has follows from the keywords."""

    def __init__(self, batch, rng, grouping, experts=4, depth=24, columns=10,
                 element="f32", layout="nk", act=None, biased=False, place="none",
                 target=None):
        self.batch, self.rng, self.grouping = batch, rng, grouping
        self.experts, self.depth, self.columns = experts, depth, columns
        self.element, self.act, self.place = element, act, place
        self.target = target or element
        self.attributes = {"grouping": f"#moe.grouping<{grouping}>",
                           "b_layout": f"#moe.b_layout<{layout}>"}
        shape = (columns, depth) if layout == "nk" else (depth, columns)
        self.b, self.b_values = batch.arg(
            rng.normal(size=(experts, *shape)) / max(depth, 1)**0.5, element)
        self.keywords = {"b_layout": layout, "act": act, "weight": place}
        self.clauses = []
        self.bias = None
        if biased:
            self.bias, self.keywords["bias"] = batch.arg(
                rng.normal(size=(experts, columns)), element)
        if act:
            self.attributes["activation"] = act_text(act)
        if place != "none":
            self.attributes["weight"] = f"#moe.weight<{place}>"

    @property
    def width(self):
        return self.columns // 2 if is_gated(self.act) else self.columns

    def set(self, **attributes):
        for key, value in attributes.items():
            self.keywords[key] = value
            names = {"row_source": "row_source", "a_order": "row_order",
                     "c_order": "row_order"}
            self.attributes[key] = f"#moe.{names[key]}<{value}>" if key in names else value

    def add(self, a_shape, c_shape, rows=(), weights_shape=None, more=(), **keywords):
        a, a_values = self.batch.arg(self.rng.normal(size=a_shape), self.element)
        groups = [("ins", [a, self.b])]
        operands = [self.batch.arg(row, "i32") for row in rows]
        groups += [("rows", [operand for operand, _ in operands]), *more]
        if self.bias:
            groups.append(("bias", [self.bias]))
        if self.place != "none":
            weights, keywords["weights"] = self.batch.arg(
                self.rng.normal(size=weights_shape))
            groups.append(("weights", [weights]))
        c, old = self.batch.arg(self.rng.normal(size=c_shape), self.target)
        self.batch.op(
            f"gemm {a_shape} {c_shape} {self.attributes}", "grouped_gemm", groups, [c],
            self.attributes,
            [oracle.grouped_gemm(a_values, self.b_values, self.grouping,
                                 [values for _, values in operands], out=old,
                                 **self.keywords, **keywords)])


def add_ids(batch, rng, tokens, k, source, mapped, **options):
    gemm = Gemm(batch, rng, "ids", **options)
    extent = gemm.experts + (3 if mapped else 0)
    more, keywords = [], {}
    if mapped:
        operand, keywords["expert_map"] = batch.arg(
            rng.integers(-2, gemm.experts + 2, size=extent), "i32")
        more = [("expert_map", [operand])]
    gemm.set(row_source=source)
    gemm.add((tokens if source == "token" else tokens * k, gemm.depth),
             (tokens * k, gemm.width), [rng.integers(-1, extent + 1, size=(tokens, k))],
             (tokens, k), more, **keywords)


def add_aligned(batch, rng, tokens, k, block, source, a_order, c_order, **options):
    gemm = Gemm(batch, rng, "aligned", **options)
    flat = tokens * k
    rows = flat + gemm.experts * (block - 1)
    table = oracle.align(rng.integers(-1, gemm.experts + 1, size=(tokens, k)),
                         gemm.experts, block, rows)[:3]
    gemm.set(row_source=source, a_order=a_order, c_order=c_order, top_k=k, block=block)
    height = {"flat": flat, "sorted": rows}
    gemm.add((tokens if source == "token" else height[a_order], gemm.depth),
             (height[c_order], gemm.width), table, (tokens, k), flat_rows=flat)


def add_groups(batch, rng, grouping, rows, **options):
    gemm = Gemm(batch, rng, grouping, **({"experts": 1} if grouping == "dense" else {}),
                **options)
    tables = {"dense": [], "offsets": [np.sort(rng.integers(-1, rows + 2, gemm.experts))],
              "sizes": [rng.integers(-1, rows // 2 + 1, gemm.experts)],
              "masked": [rng.integers(-1, rows + 2, gemm.experts)]}[grouping]
    outer = (gemm.experts, rows) if grouping == "masked" else (rows,)
    gemm.add((*outer, gemm.depth), (*outer, gemm.width), tables, outer)


def add_k_grouped(batch, rng, rows, layout, element, offsets):
    shape = (5, rows) if layout == "nk" else (rows, 5)
    a, a_values = batch.arg(rng.normal(size=(6, rows)), element)
    b, b_values = batch.arg(rng.normal(size=shape), element)
    operand, ends = batch.arg(offsets, "i32")
    batch.op(f"k_grouped {rows} {layout} {offsets}", "grouped_gemm",
             [("ins", [a, b]), ("rows", [operand])],
             [batch.empty((len(offsets), 6, 5), element)],
             {"grouping": "#moe.grouping<k_grouped>", "b_layout": f"#moe.b_layout<{layout}>"},
             [oracle.grouped_gemm(a_values, b_values, "k_grouped", [ends],
                                  b_layout=layout)])


EPILOGUES = [{}, {"biased": True, "act": ACTIVATIONS[0], "place": "output"},
             {"act": ACTIVATIONS[2], "layout": "kn", "element": "bf16"},
             {"biased": True, "element": "f16", "target": "f32"},
             {"act": ACTIVATIONS[9], "place": "output", "element": "bf16", "layout": "kn"}]


def ids_gemms():
    for (t, k), source, mapped, options in itertools.product(
            ((7, 3), (0, 2), (1, 1)), ("token", "flat"), (False, True), EPILOGUES):
        yield lambda b, rng, a=(t, k, source, mapped), o=options: add_ids(b, rng, *a, **o)
    for options in ({"depth": 0}, {"columns": 0}, {"experts": 1},
                    {"depth": 0, "biased": True}):
        yield lambda b, rng, o=options: add_ids(b, rng, 4, 2, "token", False, **o)
    yield lambda b, rng: add_ids(b, rng, 5, 1, "token", False, place="input")
    yield lambda b, rng: add_ids(b, rng, 5, 1, "token", True, place="input",
                                 element="bf16", act=ACTIVATIONS[0])


def aligned_gemms():
    orders = [("token", "flat", "flat"), ("flat", "flat", "flat"),
              ("token", "flat", "sorted"), ("flat", "sorted", "flat"),
              ("flat", "flat", "sorted"), ("flat", "sorted", "sorted")]
    for (t, k), block, order, options in itertools.product(
            ((6, 3), (0, 2)), (1, 16), orders, EPILOGUES[:3]):
        yield lambda b, rng, a=(t, k, block, *order), o=options: add_aligned(
            b, rng, *a, **o)


def other_gemms():
    for grouping, rows, options in itertools.product(
            ("dense", "offsets", "sizes", "masked"), (11, 0), EPILOGUES):
        yield lambda b, rng, a=(grouping, rows), o=options: add_groups(b, rng, *a, **o)
    for layout, element, offsets in itertools.product(
            ("nk", "kn"), ("f32", "bf16"), ([4, 4, 9], [12, 3, 20], [0, 0], [-3, 12])):
        yield lambda b, rng, a=(12, layout, element, offsets): add_k_grouped(b, rng, *a)
    yield lambda b, rng: add_k_grouped(b, rng, 0, "nk", "f32", [0, 0])


if __name__ == "__main__":
    sys.exit(main("grouped_gemm and activation",
                  [activations, ids_gemms, aligned_gemms, other_gemms], per_batch=24))
