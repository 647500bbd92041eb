# Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the ops give, computed in f64 with numpy from their descriptions.

Written from dialect/MoE/MoEOps.td alone; shares nothing with the interpreter or
the compiler. Rows that an op does not write are NaN.
"""

import numpy as np

F32_MAX = float(np.finfo(np.float32).max)


def softmax(x):
    """Softmax of a vector that may hold -inf (weight 0); all -inf gives zeros."""
    top = np.max(x, initial=-np.inf)
    if top == -np.inf:
        return np.zeros_like(x)
    e = np.exp(x - top)
    return e / e.sum()


def score_function(score, l):
    with np.errstate(over="ignore"):
        if score == "softmax":
            return softmax(l)
        if score == "sigmoid":
            return 1 / (1 + np.exp(-l))
        if score == "sqrt_softplus":
            return np.sqrt(np.logaddexp(0, l))
    return l


def best(keys, count):
    """Indices of the `count` largest keys, ties to the lower index; -inf and NaN
    are never taken."""
    order = np.argsort(-keys, kind="stable")
    return [i for i in order[:count] if keys[i] > -np.inf]


def keep_best_groups(keys, groups, keep, rank):
    """The keys with those of all but the best `keep` groups set to -inf."""
    table = keys.reshape(groups, -1)
    ordered = -np.sort(-table, axis=1)
    value = ordered[:, 0].copy()
    if rank == "top2_sum" and table.shape[1] > 1:
        two = ordered[:, 1] > -np.inf
        value[two] += ordered[two, 1]
    out = np.full_like(table, -np.inf)
    for g in best(value, keep):
        out[g] = table[g]
    return out.reshape(-1)


def sparsemixer(l, k, jitter):
    """(ids, weights) of one token: slot after slot, each with its own softmax."""
    ids, weights, left = [], [], l.copy()
    for _ in range(k):
        taken = best(left, 1)
        if not taken:
            break
        m = left[taken[0]]
        with np.errstate(invalid="ignore", divide="ignore"):
            far = (m - l) / np.maximum(np.abs(l), m) > 2 * jitter
        part = np.where(far | (left == -np.inf), -np.inf, left)
        ids.append(taken[0])
        weights.append(softmax(part)[taken[0]])
        left[taken[0]] = -np.inf
    return ids, weights


def route(logits, k, bias=None, token_ids=None, table=None, expert_scale=None,
          score="softmax", order="score_then_topk", groups=1, keep_groups=1,
          group_rank="max", renormalize=False, scale=1.0, softcap=None, jitter=0.01):
    """(weights [T, k] f64, ids [T, k] i32) of moe.route."""
    logits = np.asarray(logits, np.float64)
    weights = np.zeros((len(logits), k))
    ids = np.full((len(logits), k), -1, np.int32)
    for t, row in enumerate(logits):
        selectable = ~np.isnan(row) & (row != -np.inf)
        l = np.where(selectable, np.minimum(row, F32_MAX), -np.inf)
        if softcap is not None:
            l = np.where(selectable, softcap * np.tanh(l / softcap), -np.inf)
        if score == "sparsemixer":
            chosen, w = sparsemixer(l, k, jitter)
        else:
            s = score_function(score, l).astype(np.float32).astype(np.float64)
            if table is not None:
                chosen = hashed(token_ids[t], table, len(row))
            else:
                keys = l if order == "topk_then_score" else s
                if bias is not None:
                    keys = keys + np.asarray(bias, np.float64)
                keys = np.where(selectable & ~np.isnan(keys), keys, -np.inf)
                if groups > 1:
                    keys = keep_best_groups(keys, groups, keep_groups, group_rank)
                chosen = best(keys, k)
            real = [e for e in chosen if e >= 0]
            if order == "topk_then_score":
                w = dict(zip(real, score_function(score, l[real])))
            else:
                w = {e: s[e] for e in real}
            w = [w[e] if e >= 0 and selectable[e] else 0.0 for e in chosen]
        w = np.array(w, np.float64)
        if renormalize:
            w = w / w.sum() if w.sum() != 0 else np.zeros_like(w)
        if expert_scale is not None:
            w = w * [expert_scale[e] if e >= 0 else 0.0 for e in chosen]
        ids[t, :len(chosen)] = chosen
        weights[t, :len(chosen)] = w * scale
    return weights, ids


def hashed(token, table, experts):
    """The experts that the table names for a token, -1 where it names none."""
    if not 0 <= token < len(table):
        return [-1] * table.shape[1]
    return [int(e) if 0 <= e < experts else -1 for e in table[token]]


def local_experts(ids, experts, expert_map=None):
    """The local expert of each id, -1 where the id is no expert."""
    ids = np.asarray(ids).reshape(-1)
    count = experts if expert_map is None else len(expert_map)
    inside = (ids >= 0) & (ids < count)
    local = np.where(inside, ids, -1)
    if expert_map is not None:
        local = np.where(inside, np.asarray(expert_map)[np.where(inside, ids, 0)], -1)
    return np.where((local >= 0) & (local < experts), local, -1)


def align(ids, experts, block, rows, expert_map=None):
    """(sorted_rows [rows], tile_expert, padded [1], counts [experts])."""
    local = local_experts(ids, experts, expert_map)
    table = np.full(rows, local.size, np.int32)
    tiles = np.full(-(-rows // block), -1, np.int32)
    counts = np.bincount(local[local >= 0], minlength=experts).astype(np.int32)
    order = np.argsort(local, kind="stable")[np.count_nonzero(local < 0):]
    at = taken = 0
    for e in np.flatnonzero(counts):
        table[at:at + counts[e]] = order[taken:taken + counts[e]]
        taken += counts[e]
        end = at + -(-counts[e] // block) * block
        tiles[at // block:end // block] = e
        at = end
    return table, tiles, np.array([at], np.int32), counts


def gemm(a, b, experts_of_rows, slots=1, bias=None, activation=None, before=None,
         after=None, b_layout="nk"):
    """c[r] = a[r // slots] . b[expert of r] with the epilogue; f64. `before` and
    `after` are router weights per row."""
    a, b = np.asarray(a, np.float64), np.asarray(b, np.float64)
    if b_layout == "kn":
        b = b.transpose(0, 2, 1)
    rows = len(experts_of_rows)
    columns = b.shape[1] // (2 if activation and activation["gated"] else 1)
    c = np.full((rows, columns), np.nan)
    for e in np.unique(experts_of_rows):
        if e < 0:
            continue
        mine = np.flatnonzero(experts_of_rows == e)
        x = a[mine // slots]
        if before is not None:
            x = x * before.reshape(-1)[mine, None]
        y = x @ b[e].T
        if bias is not None:
            y = y + np.asarray(bias[e], np.float64)
        if activation:
            y = activate(y, **activation)
        if after is not None:
            y = y * after.reshape(-1)[mine, None]
        c[mine] = y
    return c


def sigmoid(x):
    with np.errstate(over="ignore"):
        return 1 / (1 + np.exp(-x))


def gelu(x):
    return 0.5 * x * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x ** 3)))


def activate(h, kind, gated=True, interleaved=False, limit=np.inf, alpha=1.702,
             beta=4.0, linear_beta=25.0):
    """The activation function of each row of h, in f64."""
    h = np.asarray(h, np.float64)
    if not gated:
        return {"gelu": gelu, "relu2": lambda x: np.maximum(x, 0) ** 2,
                "silu": lambda x: x * sigmoid(x)}[kind](h)
    width = h.shape[1] // 2
    g, u = (h[:, 0::2], h[:, 1::2]) if interleaved else (h[:, :width], h[:, width:])
    clamped = np.clip(u, -limit, limit)
    low = np.minimum(g, limit)
    if kind == "swiglu":
        return low * sigmoid(low) * clamped
    if kind == "swigluoai":
        return (clamped + 1) * low * sigmoid(alpha * low)
    if kind == "swiglustep":
        return np.minimum(g * sigmoid(g), limit) * clamped
    if kind == "geglu":
        return gelu(g) * u
    assert kind == "situ", kind
    return (beta * np.tanh(g / beta) * sigmoid(g)
            * linear_beta * np.tanh(u / linear_beta))


def combine(y, weights, ids, experts, expert_map=None, identity_experts=0, x=None,
            residual=None, scale=1.0, routed_scale=1.0, residual_scale=1.0,
            weighted=True):
    """out [T, H] of moe.combine, f64."""
    tokens, k = np.shape(ids)
    local = local_experts(ids, experts, expert_map).reshape(tokens, k)
    total = experts if expert_map is None else len(expert_map)
    y = np.asarray(y, np.float64).reshape(tokens, k, np.shape(y)[1])
    out = np.zeros((tokens, y.shape[2]))
    for j in range(k):
        w = np.asarray(weights, np.float64)[:, j, None]
        has_row = local[:, j] >= 0
        out[has_row] += (w[has_row] if weighted else 1.0) * y[has_row, j]
        if identity_experts:
            same = (ids[:, j] >= total) & (ids[:, j] < total + identity_experts)
            out[same] += w[same] * np.asarray(x, np.float64)[same]
    out = routed_scale * out
    if residual is not None:
        out = out + residual_scale * np.asarray(residual, np.float64)
    return scale * out
