# Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the acceptance cases share: the JSON files, random data, whole layers."""

import json
import sys
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import Callable

import numpy as np

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE.parent), str(HERE.parent / "Models")]

import oracle  # noqa: E402
from moe_cases import rounded  # noqa: E402


@dataclass(frozen=True)
class Case:
    """A test of the record `record`; `slow` ones run in the full tier only."""

    record: str
    build: Callable
    variant: str = ""
    slow: bool = False

    @property
    def name(self):
        return self.record + ("#" + self.variant if self.variant else "")


def load(name):
    """The contents of Inputs/NAME.json."""
    return json.loads((HERE / "Inputs" / f"{name}.json").read_text())


def generator(name):
    """A random generator that depends on the name of the case only."""
    return np.random.default_rng(zlib.crc32(name.encode()))


def normal(rng, shape, element, scale=1.0):
    """Normal values as the element type holds them, in f32."""
    values = rng.standard_normal(shape, np.float32) * np.float32(scale)
    return values if element == "f32" else rounded(values, element)


def distinct_ids(rng, tokens, experts, k):
    """For each token k different experts, uniformly: ids [T, k]."""
    keys = rng.random((tokens, experts))
    return np.argsort(keys, axis=1)[:, :k].astype(np.int32)


@dataclass
class Experts:
    """Data of routed experts: x [T, H], ids and weights [T, k], w13 [E, 2I, H],
    w2 [E, H, I] and, for a shard, expert_map."""

    x: np.ndarray
    ids: np.ndarray
    weights: np.ndarray
    w13: np.ndarray
    w2: np.ndarray
    element: str
    expert_map: np.ndarray = None

    @staticmethod
    def random(name, tokens, experts, k, hidden, width, element="bf16", ids=None):
        rng = generator(name)
        if ids is None:
            ids = distinct_ids(rng, tokens, experts, k)
        return Experts(
            normal(rng, (tokens, hidden), element), ids,
            rng.random((tokens, k), np.float32),
            normal(rng, (experts, 2 * width, hidden), element, hidden ** -0.5),
            normal(rng, (experts, hidden, width), element, width ** -0.5), element)

    def expected(self, intermediate="f32"):
        """The layer in f64, with intermediates rounded to their type."""
        rows = {"rows": [self.ids], "expert_map": self.expert_map}
        h = oracle.grouped_gemm(self.x, self.w13, "ids", row_source="token", **rows)
        act = oracle.activation(rounded(h, intermediate), "swiglu")
        y = oracle.grouped_gemm(rounded(act, intermediate), self.w2, "ids", **rows)
        return oracle.combine(rounded(y, intermediate), self.weights, self.ids,
                              len(self.w13), self.expert_map)

    def add(self, p, intermediate="f32", fused=False, padding=0):
        """Adds the layer to a program; returns the output value [T, H].

        `fused` has the activation in the first GEMM and the router weight in the
        second. `padding` gives the rows of the weights so many more elements,
        that no result may depend on.
        """
        experts, width = len(self.w13), self.w2.shape[2]
        k, hidden = self.ids.shape[1], self.x.shape[1]
        x = p.input("x", self.x, self.element, "T")
        ids = p.input("ids", self.ids, "i32", "T")
        weights = p.input("weights", self.weights, "f32", "T")
        w13 = padded_input(p, "w13", self.w13, self.element, padding)
        w2 = padded_input(p, "w2", self.w2, self.element, padding)
        mapping = None
        if self.expert_map is not None:
            mapping = p.input("map", self.expert_map, "i32")
        p.times("R", "T", k)
        shared = {"rows": [ids], "expert_map": mapping, "grouping": "ids"}
        if fused:
            act = p.gemm(x, w13, ("R", width), intermediate, row_source="token",
                         activation="swiglu", **shared)
            y = p.gemm(act, w2, ("R", hidden), intermediate, weights=weights,
                       weight="output", **shared)
        else:
            h = p.gemm(x, w13, ("R", 2 * width), intermediate, row_source="token",
                       **shared)
            act = p.activation(h, width, intermediate, "swiglu")
            y = p.gemm(act, w2, ("R", hidden), intermediate, **shared)
        return p.combine(y, weights, ids, "T", self.element, expert_map=mapping,
                         experts=experts, weighted=False if fused else None)


def padded_input(p, name, array, element, padding):
    """An argument for `array`; with padding it is cut out of wider rows."""
    if not padding:
        return p.input(name, array, element)
    wide = np.full((*array.shape[:-1], array.shape[-1] + padding), np.nan, np.float32)
    wide[..., :array.shape[-1]] = array
    return p.cut(p.input(name + "_wide", wide, element), array.shape)


def layer_case(record, data, variant="", slow=False, tolerance=None, **options):
    """A case that compares one layer; `data()` makes the Experts."""

    def build(p, name):
        experts = data()
        intermediate = options.get("intermediate", "f32")
        p.output(name, experts.add(p, **options), experts.expected(intermediate),
                 tolerance)

    return Case(record, build, variant, slow)


def route_case(record, logits, k, variant="", slow=False, weights_too=True,
               expected=None, **attributes):
    """A case of moe.route on given logits; arrays among the attributes (bias,
    expert_scale) are operands. `expected` overrides (weights, ids)."""

    def build(p, name):
        arrays = {key: value for key, value in attributes.items()
                  if isinstance(value, np.ndarray)}
        plain = {key: value for key, value in attributes.items()
                 if key not in arrays}
        value = p.input("logits", logits, "f32", "T")
        operands = {key: p.input(key, array, "f32") for key, array in arrays.items()}
        weights, ids = p.route(value, k, **operands, **plain)
        want = expected or oracle.route(logits, k, **attributes)
        if weights_too:
            p.output(name, weights, want[0])
        p.output(name, ids, want[1])

    return Case(record, build, variant, slow)


def align_rows(tokens, k, experts, block):
    """Rows of the table that are always enough."""
    return tokens * k + experts * (block - 1)


def align_case(record, ids, experts, block, variant="", slow=False, rows=None,
               expert_map=None, times=1):
    """A case of moe.align; `times` runs it so often in one program."""

    def build(p, name):
        size = rows or align_rows(*ids.shape, experts, block)
        value = p.input("ids", ids, "i32")
        mapping = None
        if expert_map is not None:
            mapping = p.input("map", expert_map, "i32")
        want = oracle.align(ids, experts, block, size, expert_map)
        for _ in range(times):
            results = p.align(value, size, -(-size // block), experts, block, mapping)
            for result, array in zip(results, want):
                p.output(name, result, array)

    return Case(record, build, variant, slow)
