# Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Gate and route on random parameters against the oracle."""

import itertools
import sys

import numpy as np

import oracle
from batch import main


def logits_of(rng, tokens, experts, coarse):
    """Random logits; coarse ones tie often. A row in five has corners."""
    logits = rng.normal(size=(tokens, experts)) * 2
    if coarse:
        logits = np.round(logits * 2) / 2
    for t in range(0, tokens, 5):
        for value in (np.nan, -np.inf, np.inf, 0.0):
            logits[t, rng.integers(experts)] = value
    if tokens > 1:
        logits[1] = rng.choice([np.nan, -np.inf], experts)
    return logits


def attributes_of(options):
    names = {"score": "score", "order": "order", "group_rank": "group_rank"}
    text = {}
    for key, value in options.items():
        if key in names:
            text[key] = f"#moe.{names[key]}<{value}>"
        elif key == "renormalize":
            text.update({"renormalize": ""} if value else {})
        elif key in ("groups", "keep_groups"):
            text[key] = value
        else:
            text[key] = f"{value!r} : f32"
    return text


def add_route(batch, rng, label, tokens, experts, k, element="f32", bias=None,
              scaled=False, vocabulary=0, coarse=True, **options):
    logits, values = batch.arg(logits_of(rng, tokens, experts, coarse), element)
    groups, more = [("ins", [logits])], {}
    if bias is not None:
        steer = np.round(rng.normal(size=experts) * 2) / 4
        steer[rng.integers(experts)] = bias
        operand, more["bias"] = batch.arg(steer)
        groups.append(("bias", [operand]))
    if vocabulary:
        table, more["table"] = batch.arg(
            rng.integers(-1, experts + 1, size=(vocabulary, k)), "i32")
        ids, more["token_ids"] = batch.arg(
            rng.integers(-1, vocabulary + 1, size=tokens), "i32")
        groups.append(("table", [ids, table]))
    if scaled:
        operand, more["expert_scale"] = batch.arg(rng.normal(size=experts), "bf16")
        groups.append(("expert_scale", [operand]))
    outs = [batch.empty((tokens, k)), batch.empty((tokens, k), "i32")]
    batch.op(label, "route", groups, outs, attributes_of(options),
             oracle.route(values, k, **more, **options))


def routes():
    sizes = [(9, 8, 2), (3, 1, 1), (5, 6, 6), (0, 4, 2), (7, 60, 8), (2, 513, 32)]
    scores = ("softmax", "sigmoid", "sqrt_softplus", "identity")
    orders = ("score_then_topk", "topk_then_score")
    for (t, e, k), score, order in itertools.product(sizes, scores, orders):
        for renormalize in (False, True):
            yield lambda b, rng, t=t, e=e, k=k, s=score, o=order, n=renormalize: add_route(
                b, rng, f"route {t} {e} {k} {s} {o} {n}", t, e, k, score=s, order=o,
                renormalize=n)
    for bias in (0.0, np.nan, np.inf, -np.inf):
        for order in orders:
            yield lambda b, rng, v=bias, o=order: add_route(
                b, rng, f"route bias {v} {o}", 11, 12, 4, bias=v, score="sigmoid", order=o,
                renormalize=True, scale=2.5)
    for element in ("bf16", "f16"):
        yield lambda b, rng, v=element: add_route(
            b, rng, f"route {v}", 6, 10, 3, element=v, scaled=True, softcap=30.0)


def grouped_routes():
    shapes = [(12, 4, 2, 3), (16, 4, 1, 4), (8, 8, 3, 3), (6, 1, 1, 2), (6, 2, 1, 6),
              (256, 8, 4, 8)]
    for (e, groups, keep, k), rank in itertools.product(shapes, ("max", "top2_sum")):
        for bias in (None, np.nan, -np.inf):
            yield lambda b, rng, e=e, g=groups, p=keep, k=k, r=rank, v=bias: add_route(
                b, rng, f"groups {e} {g} {p} {k} {r} {v}", 13, e, k, bias=v, groups=g,
                keep_groups=p, group_rank=r, score="sigmoid", renormalize=True)


def hash_and_mixer_routes():
    for order, score in itertools.product(("score_then_topk", "topk_then_score"),
                                          ("softmax", "sqrt_softplus")):
        yield lambda b, rng, o=order, s=score: add_route(
            b, rng, f"hash {o} {s}", 17, 6, 3, vocabulary=9, order=o, score=s,
            renormalize=True, scaled=True)
    for k, jitter in itertools.product((1, 2, 5), (0.0, 0.01, 0.3)):
        yield lambda b, rng, k=k, j=jitter: add_route(
            b, rng, f"sparsemixer {k} {j}", 12, 5, k, score="sparsemixer", jitter=j)


def add_gate(batch, rng, tokens, hidden, experts, element, biased):
    x, x_values = batch.arg(rng.normal(size=(tokens, hidden)), element)
    w, w_values = batch.arg(rng.normal(size=(experts, hidden)), element)
    groups, bias = [("ins", [x, w])], None
    if biased:
        operand, bias = batch.arg(rng.normal(size=experts), "bf16")
        groups.append(("bias", [operand]))
    batch.op(f"gate {tokens} {hidden} {experts} {element}", "gate", groups,
             [batch.empty((tokens, experts))], {}, [oracle.gate(x_values, w_values, bias)])


def gates():
    for (t, h, e), element in itertools.product(
            [(5, 64, 8), (1, 7, 1), (0, 8, 3), (3, 0, 4)], ("f32", "bf16", "f16")):
        for biased in (False, True):
            yield lambda b, rng, t=t, h=h, e=e, v=element, u=biased: add_gate(
                b, rng, t, h, e, v, u)


if __name__ == "__main__":
    sys.exit(main("gate and route", [gates, routes, grouped_routes, hash_and_mixer_routes]))
