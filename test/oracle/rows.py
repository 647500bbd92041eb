# Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The ops that move rows: align, group_ids, permute, unpermute, combine."""

import numpy as np


def local_experts(ids, experts, expert_map=None):
    """The local expert of each id, -1 where it has none."""
    ids = np.asarray(ids, np.int64)
    known = experts if expert_map is None else len(expert_map)
    inside = (ids >= 0) & (ids < known)
    local = np.where(inside, ids, 0)
    if expert_map is not None:
        local = np.asarray(expert_map, np.int64)[local]
    return np.where(inside & (local >= 0) & (local < experts), local, -1)


def _sorted_rows(ids, experts, expert_map):
    """(flat rows by expert, their experts)."""
    local = local_experts(ids, experts, expert_map).ravel()
    rows = np.argsort(local, kind="stable")
    rows = rows[local[rows] >= 0]
    return rows, local[rows]


def align(ids, experts, block, rows, expert_map=None):
    """(sorted_rows [rows], tile_expert, padded [1], counts [experts])."""
    flat, owner = _sorted_rows(ids, experts, expert_map)
    counts = np.bincount(owner, minlength=experts)
    heights = -(-counts // block) * block
    starts = np.cumsum(heights) - heights
    table = np.full(rows, np.size(ids), np.int32)
    rank = np.arange(flat.size) - (np.cumsum(counts) - counts)[owner]
    table[starts[owner] + rank] = flat
    tiles = np.full(-(-rows // block), -1, np.int32)
    listed = np.repeat(np.arange(experts), heights // block)
    tiles[:listed.size] = listed
    return (table, tiles, np.array([heights.sum()], np.int32),
            counts.astype(np.int32))


def group_ends(table, grouping, rows):
    """Ends of the groups of `rows` rows, ascending whatever the table holds."""
    table = np.asarray(table, np.int64)
    if grouping == "sizes":
        table = np.cumsum(np.maximum(table, 0))
    return np.minimum(np.maximum.accumulate(np.maximum(table, 0)), rows)


def group_ids(table, grouping, rows, capacity=None):
    """ids [rows, 1]."""
    r = np.arange(rows)
    if grouping == "masked":
        expert = r // max(capacity, 1)
        ids = np.where(r % max(capacity, 1) < np.asarray(table)[expert], expert, -1)
    else:
        ends = group_ends(table, grouping, rows)
        expert = np.searchsorted(ends, r, side="right")
        ids = np.where(expert < len(ends), expert, -1)
    return ids.astype(np.int32).reshape(rows, 1)


def permute(x, ids, experts, expert_map=None, out=None):
    """(rows [T*k, H], source [T*k], offsets [experts])."""
    x, ids = np.asarray(x, np.float64), np.asarray(ids)
    flat, owner = _sorted_rows(ids, experts, expert_map)
    rows = np.full((ids.size, x.shape[1]), np.nan) if out is None else np.array(out, float)
    rows[:flat.size] = x[flat // ids.shape[1]]
    source = np.full(ids.size, ids.size, np.int32)
    source[:flat.size] = flat
    offsets = np.cumsum(np.bincount(owner, minlength=experts)).astype(np.int32)
    return rows, source, offsets


def unpermute(rows, source, out=None):
    """y [R, H]."""
    rows = np.asarray(rows, np.float64)
    y = np.full(rows.shape, np.nan) if out is None else np.array(out, float)
    for p, row in enumerate(source):
        if 0 <= row < len(y):
            y[row] = rows[p]
    return y


def combine(y, weights, ids, experts, expert_map=None, x=None, residual=None,
            identity_experts=0, scale=1.0, routed_scale=1.0, residual_scale=1.0,
            weighted=True):
    """out [T, H]."""
    ids = np.asarray(ids, np.int64)
    tokens, k = ids.shape
    y = np.asarray(y, np.float64)
    y = y.reshape(tokens, k, y.shape[1])
    weights = np.asarray(weights, np.float64)
    routed = local_experts(ids, experts, expert_map) >= 0
    terms = y * (weights if weighted else np.ones_like(weights))[..., None]
    total = np.where(routed[..., None], terms, 0).sum(axis=1)
    if identity_experts:
        known = experts if expert_map is None else len(expert_map)
        same = ~routed & (ids >= known) & (ids < known + identity_experts)
        total = total + np.where(same, weights, 0).sum(axis=1)[:, None] * np.asarray(x, float)
    total = np.float32(routed_scale) * total
    if residual is not None:
        total = total + np.float32(residual_scale) * np.asarray(residual, np.float64)
    return np.float32(scale) * total
