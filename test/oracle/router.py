# Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""moe.gate and moe.route."""

import numpy as np

LARGEST_F32 = float(np.finfo(np.float32).max)


def gate(x, weight, bias=None):
    """logits [T, E] of x [T, H], weight [E, H] and bias [E]."""
    logits = np.asarray(x, np.float64) @ np.asarray(weight, np.float64).T
    return logits if bias is None else logits + np.asarray(bias, np.float64)


def _softmax(values):
    """Softmax of a vector in which -inf counts nothing."""
    if values.size == 0 or np.isneginf(values).all():
        return np.zeros_like(values)
    powers = np.exp(values - values.max())
    return powers / powers.sum()


def _scores(logits, score):
    """f of the logits [E], -inf where not selectable; f64 rounded to f32."""
    with np.errstate(invalid="ignore", over="ignore", divide="ignore"):
        if score == "softmax":
            values = _softmax(logits)
        elif score == "sigmoid":
            values = np.where(logits < 0, np.exp(logits) / (1 + np.exp(logits)),
                              1 / (1 + np.exp(-logits)))
            values[np.isneginf(logits)] = 0
        elif score == "sqrt_softplus":
            values = np.sqrt(np.logaddexp(0, logits))
        else:
            values = logits.copy()
    return values.astype(np.float32)


def _descending(keys, members):
    """`members` by descending key, lower numbers first among equals."""
    members = np.asarray(members, np.int64)
    return members[np.lexsort((members, -keys[members]))] if members.size else members


def _kept_groups(keys, candidate, groups, keep, rank):
    """The candidates that are in the best groups."""
    size = keys.size // groups
    ranks = np.full(groups, -np.inf)
    alive = []
    for g in range(groups):
        inside = keys[g * size:(g + 1) * size][candidate[g * size:(g + 1) * size]]
        if inside.size == 0:
            continue
        alive.append(g)
        best = np.sort(inside)[::-1]
        ranks[g] = best[0]
        if rank == "top2_sum" and best.size > 1:
            with np.errstate(invalid="ignore"):
                total = np.float32(best[0]) + np.float32(best[1])
            ranks[g] = -np.inf if np.isnan(total) else total
    kept = _descending(ranks, alive)[:keep]
    return candidate & np.isin(np.arange(keys.size) // size, kept)


def _sparsemixer(logits, k, jitter):
    """(weights [k], ids [k]) of one token."""
    ids, weights = np.full(k, -1), np.zeros(k, np.float32)
    left = ~np.isneginf(logits)
    for j in range(k):
        if not left.any():
            break
        best = int(np.argmax(np.where(left, logits.astype(np.float32), -np.inf)))
        largest = logits[best]
        with np.errstate(invalid="ignore", divide="ignore"):
            distance = (largest - logits) / np.maximum(np.abs(logits), largest)
        part = left & ~(distance > 2 * np.float64(np.float32(jitter)))
        ids[j] = best
        weights[j] = 1 / np.exp(logits[part] - largest).sum()
        left[best] = False
    return weights, ids


def _hash_ids(token, table, experts, k):
    if not 0 <= token < table.shape[0]:
        return np.full(k, -1)
    row = table[token].astype(np.int64)
    return np.where((row >= 0) & (row < experts), row, -1)


def _route_token(logits, k, bias, token, table, score, order, groups, keep_groups,
                 group_rank, jitter):
    """(weights, ids) of one token, before anything scales the weights. `logits`
    has -inf where not selectable."""
    experts = logits.size
    if score == "sparsemixer":
        return _sparsemixer(logits, k, jitter)
    scores = _scores(logits, score)
    if table is not None:
        ids = _hash_ids(token, table, experts, k)
    else:
        keys = logits.astype(np.float32) if order == "topk_then_score" else scores
        candidate = ~np.isneginf(logits)
        if bias is not None:
            with np.errstate(invalid="ignore", over="ignore"):
                keys = keys + bias
            candidate &= ~np.isnan(bias)
        if keep_groups != groups:
            candidate = _kept_groups(keys, candidate, groups, keep_groups, group_rank)
        chosen = _descending(keys, np.flatnonzero(candidate))[:k]
        ids = np.concatenate([chosen, np.full(k - chosen.size, -1, np.int64)])
    weights = np.zeros(k, np.float32)
    real = ids >= 0
    if order == "topk_then_score" and score == "softmax":
        weights[real] = _softmax(logits[ids[real]])
    else:
        weights[real] = scores[ids[real]]
    weights[real] = np.where(np.isneginf(logits[ids[real]]), 0, weights[real])
    return weights, ids


def route(logits, k, bias=None, token_ids=None, table=None, expert_scale=None,
          score="softmax", order="score_then_topk", groups=1, keep_groups=1,
          group_rank="max", renormalize=False, scale=1.0, softcap=None, jitter=0.01):
    """(weights [T, k], ids [T, k]) of logits [T, E]."""
    logits = np.array(logits, np.float64)
    logits[np.isnan(logits)] = -np.inf
    logits = np.minimum(logits, LARGEST_F32)
    if softcap is not None:
        cap = np.float64(np.float32(softcap))
        logits = np.where(np.isneginf(logits), logits, cap * np.tanh(logits / cap))
    bias = None if bias is None else np.asarray(bias, np.float32)
    tokens = logits.shape[0]
    weights, ids = np.zeros((tokens, k)), np.full((tokens, k), -1, np.int32)
    for t in range(tokens):
        token = None if token_ids is None else int(token_ids[t])
        weights[t], ids[t] = _route_token(logits[t], k, bias, token, table, score, order,
                                          groups, keep_groups, group_rank, jitter)
    live = (ids >= 0) & ~np.isneginf(np.take_along_axis(logits, np.maximum(ids, 0), 1))
    if renormalize:
        sums = weights.sum(axis=1, keepdims=True)
        weights = np.divide(weights, sums, out=np.zeros_like(weights), where=sums != 0)
    if expert_scale is not None:
        weights = weights * np.asarray(expert_scale, np.float64)[np.maximum(ids, 0)]
    weights = weights * np.float64(np.float32(scale))
    return np.where(live, weights, 0.0), ids
