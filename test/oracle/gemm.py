# Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""moe.grouped_gemm and moe.activation."""

import numpy as np

from .rows import group_ends, group_ids, local_experts

GATED = ("swiglu", "swigluoai", "swiglustep", "geglu", "situ")


def _sigmoid(x):
    with np.errstate(over="ignore"):
        return 1 / (1 + np.exp(-x))


def _gelu(x):
    return 0.5 * x * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3)))


def _gated(kind, g, u, limit, alpha, beta, linear_beta):
    with np.errstate(over="ignore", invalid="ignore"):
        if kind == "geglu":
            return _gelu(g) * u
        if kind == "situ":
            return (beta * np.tanh(g / beta) * _sigmoid(g) * linear_beta
                    * np.tanh(u / linear_beta))
        u = np.clip(u, -limit, limit)
        if kind == "swiglustep":
            return np.minimum(g * _sigmoid(g), limit) * u
        g = np.minimum(g, limit)
        if kind == "swigluoai":
            return (u + 1) * g * _sigmoid(alpha * g)
        return g * _sigmoid(g) * u


def activation(h, kind, layout="halves", limit=np.inf, alpha=1.702, beta=4.0,
               linear_beta=25.0):
    """The activation along the last dimension."""
    h = np.asarray(h, np.float64)
    if kind == "gelu":
        return _gelu(h)
    if kind == "relu2":
        return np.square(np.maximum(h, 0))
    if kind == "silu":
        return h * _sigmoid(h)
    if layout == "halves":
        g, u = np.split(h, 2, axis=-1)
    else:
        g, u = h[..., 0::2], h[..., 1::2]
    return _gated(kind, g, u, limit, alpha, beta, linear_beta)


def _kn(b, b_layout):
    b = np.asarray(b, np.float64)
    return b if b_layout == "kn" else np.swapaxes(b, -1, -2)


def _by_expert(left, b, expert, b_layout):
    """Each row of `left` times the matrix of its expert; a matrix is converted
    only if a row needs it."""
    columns = np.shape(b)[1 if b_layout == "nk" else 2]
    c = np.zeros((len(left), columns))
    for e in np.unique(expert):
        c[expert == e] = left[expert == e] @ _kn(b[e], b_layout)
    return c


def _k_grouped(a, b, offsets, b_layout):
    a, b = np.asarray(a, np.float64), _kn(b, b_layout)
    ends = group_ends(offsets, "offsets", a.shape[1])
    begins = np.concatenate([[0], ends[:-1]])
    return np.stack([a[:, s:e] @ b[s:e] for s, e in zip(begins, ends)])


def _aligned_plan(rows, block, flat_rows):
    """(position in the table, flat row, expert) of every row that exists."""
    table, tiles, padded = (np.asarray(r, np.int64) for r in rows)
    position = np.arange(np.clip(padded[0], 0, table.size))
    expert = tiles[position // block]
    real = (table[position] >= 0) & (table[position] < flat_rows) & (expert >= 0)
    position = position[real]
    return position, table[position], expert[real]


def grouped_gemm(a, b, grouping, rows=(), expert_map=None, bias=None, weights=None,
                 weight="none", row_source="flat", b_layout="nk", act=None,
                 a_order="flat", c_order="flat", top_k=1, block=None, out=None,
                 flat_rows=None):
    """c. `act` is a dictionary of arguments of `activation`. `out` is needed for
    aligned, where the extents of c do not follow from the other operands; there
    `flat_rows` is T*k."""
    if grouping == "k_grouped":
        return _k_grouped(a, b, rows[0], b_layout)
    a = np.asarray(a, np.float64)
    shape = a.shape
    a = a.reshape(int(np.prod(shape[:-1])), shape[-1])
    slots = top_k
    if grouping == "dense":
        expert = np.zeros(len(a), np.int64)
    elif grouping == "ids":
        slots = rows[0].shape[1]
        expert = local_experts(rows[0], len(b), expert_map).ravel()
    elif grouping == "masked":
        expert = group_ids(rows[0], "masked", len(a), shape[1]).ravel()
    elif grouping != "aligned":
        expert = group_ids(rows[0], grouping, len(a)).ravel()
    if grouping == "aligned":
        position, r, e = _aligned_plan(rows, block, flat_rows)
    else:
        r = position = np.flatnonzero(expert >= 0)
        e = expert[r]
    source = position if a_order == "sorted" else r // slots if row_source == "token" else r
    target = position if c_order == "sorted" else r
    factor = None if weights is None else np.asarray(weights, np.float64).ravel()[r, None]
    left = a[source] * factor if weight == "input" else a[source]
    c = _by_expert(left, b, e, b_layout)
    if bias is not None:
        c = c + np.asarray(bias, np.float64)[e]
    if act is not None:
        c = activation(c, **act)
    if weight == "output":
        c = c * factor
    if out is None:
        height = expert.size if grouping == "ids" else len(a)
        out = np.full((height, c.shape[1]), np.nan)
    result = np.array(out, np.float64).reshape(int(np.prod(np.shape(out)[:-1])), c.shape[1])
    result[target] = c
    return result.reshape(*shape[:-1], c.shape[1]) if grouping == "masked" else result
