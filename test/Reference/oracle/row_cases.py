# Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""align, group_ids, permute, unpermute and combine against the oracle."""

import itertools
import sys

import numpy as np

import oracle
from batch import main


def ids_of(rng, tokens, k, experts, style):
    """ids with the load that `style` names; all but `plain` hold foreign ids."""
    if style == "skewed":
        return rng.choice([0, experts - 1, -1], size=(tokens, k))
    if style == "foreign":
        return rng.integers(-2, experts + 3, size=(tokens, k))
    if style == "none":
        return np.full((tokens, k), -1)
    return rng.integers(0, experts, size=(tokens, k))


def map_of(rng, extent, experts):
    """A map with repeats, -1 and values outside the local experts."""
    return rng.integers(-2, experts + 2, size=extent)


def add_ids(batch, rng, tokens, k, experts, style, mapped):
    """(groups of an op on ids, keywords of the oracle, ids)."""
    extent = experts + 3 if mapped else experts
    ids, values = batch.arg(ids_of(rng, tokens, k, extent, style), "i32")
    if not mapped:
        return ids, [], {}, values
    operand, table = batch.arg(map_of(rng, extent, experts), "i32")
    return ids, [("expert_map", [operand])], {"expert_map": table}, values


IDS = list(itertools.product(((0, 2), (1, 1), (7, 3), (40, 4)), (1, 5, 33),
                             ("plain", "skewed", "foreign", "none"), (False, True)))


def add_align(batch, rng, tokens, k, experts, style, mapped, block):
    ids, more, keywords, values = add_ids(batch, rng, tokens, k, experts, style, mapped)
    rows = tokens * k + min(experts, tokens * k) * (block - 1)
    outs = [batch.empty(shape, "i32")
            for shape in ((rows,), (-(-rows // block),), (1,), (experts,))]
    batch.op(f"align {tokens} {k} {experts} {style} {mapped} {block}", "align",
             [("ins", [ids]), *more], outs, {"experts": experts, "block": block},
             oracle.align(values, experts, block, rows, **keywords))


def aligns():
    for ((t, k), e, style, mapped), block in itertools.product(IDS, (1, 16, 256)):
        yield lambda b, rng, a=(t, k, e, style, mapped, block): add_align(b, rng, *a)


def add_permute(batch, rng, tokens, k, experts, style, mapped):
    x, rows = batch.arg(rng.normal(size=(tokens, 6)), "bf16")
    ids, more, keywords, values = add_ids(batch, rng, tokens, k, experts, style, mapped)
    outs = [batch.empty((tokens * k, 6), "bf16"), batch.empty((tokens * k,), "i32"),
            batch.empty((experts,), "i32")]
    batch.op(f"permute {tokens} {k} {experts} {style} {mapped}", "permute",
             [("ins", [x, ids]), *more], outs, {"experts": experts},
             oracle.permute(rows, values, experts, **keywords))


def add_unpermute(batch, rng, rows):
    moved, values = batch.arg(rng.normal(size=(rows, 5)))
    source, where = batch.arg(rng.integers(-1, rows + 2, size=rows), "i32")
    y, old = batch.arg(rng.normal(size=(rows, 5)))
    batch.op(f"unpermute {rows}", "unpermute", [("ins", [moved, source])], [y], {},
             [oracle.unpermute(values, where, old)])


def permutes():
    for (t, k), e, style, mapped in IDS:
        yield lambda b, rng, a=(t, k, e, style, mapped): add_permute(b, rng, *a)
    for rows in (0, 1, 30):
        yield lambda b, rng, r=rows: add_unpermute(b, rng, r)


def add_group_ids(batch, table, rows, grouping, capacity=None):
    operand, values = batch.arg(table, "i32")
    attributes = {"grouping": f"#moe.grouping<{grouping}>"}
    if capacity is not None:
        attributes["capacity"] = capacity
    batch.op(f"group_ids {grouping} {list(table)}", "group_ids", [("ins", [operand])],
             [batch.empty((rows, 1), "i32")], attributes,
             [oracle.group_ids(values, grouping, rows, capacity)])


def group_ids():
    tables = ([3, 7, 9], [0, 0, 9], [5, 2, 20], [-4, 3, 3], [9, 9, 9], [-1, -2, -3],
              [2**31 - 1, 2**31 - 1, 1])
    for table, grouping in itertools.product(tables, ("offsets", "sizes")):
        yield lambda b, rng, t=table, g=grouping: add_group_ids(b, t, 9, g)
    for table in ([2, 0, 4], [9, -1, 3]):
        yield lambda b, rng, t=table: add_group_ids(b, t, 12, "masked", 4)
    yield lambda b, rng: add_group_ids(b, [1, 2], 0, "masked", 0)


def add_combine(batch, rng, tokens, k, experts, style, mapped, element, residual,
                identity, options):
    y, y_values = batch.arg(rng.normal(size=(tokens * k, 7)), element)
    weights, w_values = batch.arg(rng.normal(size=(tokens, k)))
    ids, more, keywords, values = add_ids(batch, rng, tokens, k, experts, style, mapped)
    attributes = {"experts": experts}
    if identity:
        operand, keywords["x"] = batch.arg(rng.normal(size=(tokens, 7)), element)
        more.append(("identity", [operand]))
        attributes["identity_experts"] = keywords["identity_experts"] = identity
    if residual:
        operand, keywords["residual"] = batch.arg(rng.normal(size=(tokens, 7)), "f16")
        more.append(("residual", [operand]))
    for key, value in options.items():
        attributes[key] = str(value).lower() if key == "weighted" else f"{value} : f32"
    batch.op(f"combine {tokens} {k} {experts} {style} {mapped} {options}", "combine",
             [("ins", [y, weights, ids]), *more], [batch.empty((tokens, 7), element)],
             attributes, [oracle.combine(y_values, w_values, values, experts, **keywords,
                                         **options)])


def combines():
    for index, ((t, k), e, style, mapped) in enumerate(IDS):
        residual, identity = index % 2 == 0, (0, 2)[index // 8 % 2]
        options = [{}, {"weighted": False}, {"scale": 0.5, "routed_scale": 2.5}][index % 3]
        if residual and index % 4 == 0:
            options = {**options, "residual_scale": 0.25}
        element = ("f32", "bf16", "f16")[index // 4 % 3]
        yield lambda b, rng, a=(t, k, e, style, mapped, element, residual, identity,
                                options): add_combine(b, rng, *a)


if __name__ == "__main__":
    sys.exit(main("rows", [aligns, permutes, group_ids, combines], per_batch=40))
