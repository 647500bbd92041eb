# Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Cases of bug-inputs.json: inputs that broke MoE code elsewhere.

A record that no CPU can decide has its reason in REASONS, one that is decided on
the emitted code its test in ELSEWHERE; a free dimension takes a value that runs
quickly, and says so where the record names a bigger one.
"""

import numpy as np

from common import (Case, Experts, align_case, align_rows, distinct_ids, generator,
                    layer_case, load, normal, route_case)

import oracle
from moe_cases import difference, rounded

DATA = load("bug-inputs")
RECORDS = {item["id"]: item for item in DATA["records"]}
H, I, E, K, T = (DATA["defaults"][key] for key in ("H", "I", "E", "top_k", "T"))

PTX = "decided on the emitted PTX or on a GPU"
FORMAT = "needs quantised weights (fp8 or 4 bits)"
TIME = "a matter of time on a GPU"
HOST = "decided on a bundle and the runtime that launches it"

REASONS = {"bug-inputs/" + key: reason for key, reason in {
    "empty-and-padding-2": TIME, "degenerate-2": PTX, "edge-shapes-5": PTX,
    "shards-and-alignment-2": FORMAT, "shards-and-alignment-3": FORMAT,
    "shards-and-alignment-4": FORMAT, "scales-and-accuracy-1": FORMAT,
    "scales-and-accuracy-3": "a distribution over 10^6 outputs of a GPU",
    "ties-and-determinism-3": PTX, "ties-and-determinism-5": PTX,
    "resources-and-tuning-3": TIME, "resources-and-tuning-4": TIME,
    "compile-time-and-caches-1": HOST, "compile-time-and-caches-2": HOST,
    "compile-time-and-caches-3": HOST,
    "graphs-1": HOST, "graphs-2": HOST, "graphs-3": HOST, "graphs-4": HOST,
    "performance-asks-1": PTX, "performance-asks-2": TIME,
    "performance-asks-4": PTX, "performance-asks-5": TIME,
    "performance-asks-6": TIME,
}.items()}

# Records that another test decides, which names them.
ELSEWHERE = {f"bug-inputs/offsets-{number}": "PTX/offsets.mlir" for number in range(1, 7)}


def records():
    yield from ("bug-inputs/" + key for key in RECORDS)


def bug(key):
    return "bug-inputs/" + key


def logits_of(name, tokens, experts):
    return generator(name).standard_normal((tokens, experts)).astype(np.float32)


def ids_cases():
    """Ids that are no expert, logits that cannot be selected."""
    # The map's last entry names a valid expert: -1 must not reach it.
    data = Experts.random("ids-1", T, E, K, H, I)
    data.ids[::3, 1] = -1
    data.expert_map = np.roll(np.arange(E), 3).astype(np.int32)
    yield layer_case(bug("ids-1"), lambda: data)
    yield align_case(bug("ids-1"), data.ids, E, 16, "align", expert_map=data.expert_map)

    logits = logits_of("ids-2", T, E)
    logits[20:] = np.nan
    yield route_case(bug("ids-2"), logits, K, renormalize=True)
    logits = logits_of("ids-3", 4, 896)
    logits[2] = np.nan
    yield route_case(bug("ids-3"), logits, 16)
    logits = np.full((3, 32), -np.inf, np.float32)
    logits[:, [3, 30, 7, 8, 19]] = [0.5, 2, -1, 0.25, 1]
    for score in ("softmax", "sigmoid"):
        yield route_case(bug("ids-4"), logits, 8, score, score=score, renormalize=True)

    # Seven routed slots and the shared expert, number E, in the eighth.
    shared = Experts.random("ids-5", T, 17, 8, H, I,
                            ids=np.hstack([distinct_ids(generator("ids-5"), T, 16, 7),
                                           np.full((T, 1), 16, np.int32)]))
    yield layer_case(bug("ids-5"), lambda: shared)
    yield align_case(bug("ids-5"), shared.ids, 17, 16, "align")

    logits = logits_of("ids-6", 5, 512)
    logits[2, 338] = 9
    yield route_case(bug("ids-6"), logits, 10)

    dropped = Experts.random("ids-7", T, E, K, H, I)
    dropped.ids[5, 0] = -1
    wrapped = Experts(**{**vars(dropped), "ids": np.where(dropped.ids < 0, E - 1,
                                                          dropped.ids)})
    assert difference(wrapped.expected(), dropped.expected(), "bf16", 5e-3), \
        "-1 as the last expert must give another result"
    yield layer_case(bug("ids-7"), lambda: dropped)


def masked_case(key, groups, capacity, counts, variant="", depth=64, columns=48):
    """A masked product; rows past a group's count stay as they were."""

    def build(p, name):
        rng = generator(name)
        a = normal(rng, (groups, capacity, depth), "bf16")
        # What lies in unused rows is poison.
        a[np.arange(capacity) >= np.array(counts)[:, None]] = np.nan
        b = normal(rng, (groups, columns, depth), "bf16", depth ** -0.5)
        values = (p.input("a", a, "bf16"), p.input("b", b, "bf16"))
        rows = p.input("counts", np.array(counts), "i32")
        c = p.gemm(*values, (groups, capacity, columns), "bf16", [rows],
                   grouping="masked")
        want = np.einsum("eck,enk->ecn", a.astype(np.float64), b.astype(np.float64))
        p.output(name, c, want)

    return Case(bug(key), build, variant)


def weight_gradient(key, sizes, m, n):
    """A ragged contraction; empty groups give zeros."""

    def build(p, name):
        rng = generator(name)
        ends = np.cumsum(sizes).astype(np.int32)
        a, b = (normal(rng, (d, ends[-1]), "bf16") for d in (m, n))
        c = p.gemm(p.input("a", a, "bf16"), p.input("b", b, "bf16"),
                   (len(sizes), m, n), "f32", [p.input("ends", ends, "i32")],
                   grouping="k_grouped")
        parts = np.split(np.arange(ends[-1]), ends[:-1])
        p.output(name, c, np.stack([a[:, r].astype(np.float64) @ b[:, r].T
                                    for r in parts]))

    return Case(bug(key), build)


def empty_cases():
    """Empty groups and padding."""
    yield masked_case("empty-and-padding-1", 256, 64,
                      [0] * 77 + [23] + [0] * 178)
    # 8192 tokens over 256 experts, narrowed: the loads are what matters.
    name = "empty-and-padding-3"
    many = distinct_ids(generator(name), 8192, 256, 1)
    yield layer_case(bug(name), lambda: Experts.random(name, 8192, 256, 1, 32, 24,
                                                       ids=many))
    yield align_case(bug(name), many, 256, 128, "align")
    yield align_case(bug("empty-and-padding-4"), np.full((3, 2), 5, np.int32), E, 4,
                     rows=64)
    yield weight_gradient("empty-and-padding-5", [162, 0, 2577, 446, 0, 83], 64, 48)
    yield weight_gradient("empty-and-padding-6", [0, 7, 0, 0, 12, 0], 33, 17)


def degenerate_cases():
    """No tokens, all experts."""
    for key in ("degenerate-1", "degenerate-3"):
        yield layer_case(bug(key), lambda: Experts.random("empty", 0, E, K, H, I))
        yield align_case(bug(key), np.zeros((0, K), np.int32), E, 16, "align")
        yield route_case(bug(key), np.zeros((0, E), np.float32), K, "route")
    yield no_rows_case("degenerate-3")
    shapes = [("degenerate-4", 1, 8)]
    shapes += [("degenerate-5", tokens, experts)
               for tokens in RECORDS["degenerate-5"]["shape"]["T"]
               for experts in RECORDS["degenerate-5"]["shape"]["E"]]
    for key, tokens, experts in shapes:
        yield all_experts_case(key, tokens, experts)


def no_rows_case(key):
    """Permute, contiguous product and unpermute of no tokens."""

    def build(p, name):
        x = p.input("x", np.zeros((0, H)), "f16", "T")
        ids = p.input("ids", np.zeros((0, K)), "i32", "T")
        w = p.input("w", np.ones((E, I, H)), "f16")
        p.times("R", "T", K)
        rows, source, ends = p.op(
            "permute", ["rows", "source", "ends"], {"ins": [x, ids]},
            [(("R", H), "f16"), (("R",), "i32"), ((E,), "i32")], {"experts": E})
        c = p.gemm(rows, w, ("R", I), "f16", [ends], grouping="offsets")
        y = p.op("unpermute", ["y"], {"ins": [c, source]}, [(("R", I), "f16")])
        p.output(name, ends, np.zeros(E, np.int32))
        p.output(name, y, np.zeros((0, I)))

    return Case(bug(key), build, "permute")


def all_experts_case(key, tokens, experts):
    """k = E against the dense weighted sum of all experts."""

    def build(p, name):
        data = Experts.random(name, tokens, experts, experts, H, I)
        dense = np.zeros((tokens, H))
        for e in range(experts):
            h = data.x.astype(np.float64) @ data.w13[e].astype(np.float64).T
            y = oracle.activation(h, "swiglu") @ data.w2[e].astype(np.float64).T
            dense += data.weights[data.ids == e].reshape(-1, 1) * y
        p.output(name, data.add(p), dense)

    return Case(bug(key), build, f"T={tokens} E={experts}")


def edge_cases():
    """Widths and capacities below or beside a tile."""
    for capacity in RECORDS["edge-shapes-1"]["shape"]["max_m"]:
        yield masked_case("edge-shapes-1", 4, capacity,
                          [capacity, capacity - 3, 0, 1], f"capacity={capacity}")
    for groups in RECORDS["edge-shapes-2"]["shape"]["groups"]:
        yield masked_case("edge-shapes-2", groups, 24, list(range(1, groups + 1)),
                          f"groups={groups}")
    for columns in RECORDS["edge-shapes-3"]["shape"]["N"]:
        yield masked_case("edge-shapes-3", 2, 9, [9, 4], f"N={columns}",
                          columns=columns)
    yield masked_case("edge-shapes-4", 3, 20, [20, 7, 13], depth=511)
    yield permute_case("edge-shapes-6", 8192, 128, 8, 8)
    for key, width in (("shards-and-alignment-1", 192), ("shards-and-alignment-5", 320),
                       ("shards-and-alignment-8", 96), ("shards-and-alignment-9", 352),
                       ("shards-and-alignment-10", 704)):
        for tokens in (1, 17, 300):
            yield layer_case(bug(key), lambda width=width, tokens=tokens: Experts.random(
                f"width {width}", tokens, E, K, H, width), f"T={tokens}")
    # Rows one element longer than the width: H narrowed, I as reported.
    yield layer_case(bug("shards-and-alignment-11"), lambda: Experts.random(
        "stride", 7, 2, K, 48, 2880), padding=1)
    yield repeated_case("shards-and-alignment-7")


def permute_case(key, tokens, experts, k, hidden):
    def build(p, name):
        rng = generator(name)
        ids = distinct_ids(rng, tokens, experts, k)
        x = normal(rng, (tokens, hidden), "bf16")
        order = np.argsort(ids.reshape(-1), kind="stable")
        rows, source, ends = p.op(
            "permute", ["rows", "source", "ends"],
            {"ins": [p.input("x", x, "bf16"), p.input("ids", ids, "i32")]},
            [((tokens * k, hidden), "bf16"), ((tokens * k,), "i32"),
             ((experts,), "i32")], {"experts": experts})
        p.output(name, rows, x[order // k], 0.0)
        p.output(name, source, order.astype(np.int32))
        p.output(name, ends, np.cumsum(np.bincount(ids.reshape(-1), minlength=experts))
                 .astype(np.int32))
        back = p.op("unpermute", ["y"], {"ins": [rows, source]},
                    [((tokens * k, hidden), "bf16")])
        p.output(name, back, np.repeat(x, k, axis=0), 0.0)

    return Case(bug(key), build)


def repeated_case(key):
    """One product again and again: each call is accepted, all have equal bits. Ten
    calls stand for the record's hundred, because each is compiled."""

    def build(p, name):
        rng = generator(name)
        a = p.input("a", normal(rng, (5, 33), "bf16"), "bf16")
        b = p.input("b", normal(rng, (3, 7, 33), "bf16"), "bf16")
        ends = p.input("ends", np.array([2, 2, 5]), "i32")
        seen = []

        def same_bits(found):
            seen.append(found)
            # Each device runs all calls in turn.
            first = seen[(len(seen) - 1) // calls * calls]
            return None if np.array_equal(found, first) else "bits differ"

        calls = RECORDS[key]["shape"]["calls"] // 10
        for _ in range(calls):
            p.output(name, p.gemm(a, b, (5, 7), "bf16", [ends], grouping="offsets"),
                     same_bits)

    return Case(bug(key), build)


def limit_cases():
    """Numbers of experts and slots."""
    name = "expert-and-topk-limits-"
    yield align_case(bug(name + "1"), distinct_ids(generator("128"), T, 128, K), 128, 64)
    for experts in RECORDS[name + "2"]["shape"]["E"]:
        yield route_and_align(name + "2", experts, 8)
    for experts in RECORDS[name + "3"]["shape"]["E"]:
        for k in RECORDS[name + "3"]["shape"]["top_k"]:
            logits = logits_of("limits", 9, experts)
            bias = logits_of("bias", 1, experts)[0] * np.float32(0.1)
            groups = next(g for g in (8, 5, 1) if experts % g == 0)
            yield route_case(bug(name + "3"), logits, k, f"E={experts} k={k}",
                             bias=bias, score="sigmoid", groups=groups,
                             keep_groups=-(-groups // 2), group_rank="top2_sum",
                             renormalize=True, scale=2.5)
    yield route_case(bug(name + "4"), logits_of("384", T, 384), 8, score="sigmoid")
    for experts in RECORDS[name + "5"]["shape"]["E"]:
        yield route_and_align(name + "5", experts, 8)
    for k in (*RECORDS[name + "6"]["shape"]["top_k"], 32):
        yield layer_case(bug(name + "6"), lambda k=k: Experts.random(
            "wide", 3, 40, k, RECORDS[name + "6"]["shape"]["H"], 16), f"k={k}")
    for number in range(7, 18):
        key = f"{name}{number}"
        shape = RECORDS[key]["shape"]
        for tokens in shape["T"]:
            yield route_and_align(key, shape["E"], shape["top_k"], tokens)
            yield layer_case(
                bug(key), lambda shape=shape, tokens=tokens: Experts.random(
                    "limits", tokens, shape["E"], shape["top_k"], 64, 96),
                f"layer T={tokens}", slow=shape["E"] > 512)


def route_and_align(key, experts, k, tokens=T):
    """Route on random logits, and the row table of what it chose."""

    def build(p, name):
        logits = logits_of(name, tokens, experts)
        weights, ids = p.route(p.input("logits", logits, "f32"), k, renormalize=True)
        want = oracle.route(logits, k, renormalize=True)
        rows = align_rows(tokens, k, experts, 16)
        table = p.align(ids, rows, -(-rows // 16), experts, 16)
        for value, array in zip((weights, ids, *table),
                                (*want, *oracle.align(want[1], experts, 16, rows))):
            p.output(name, value, array)

    return Case(bug(key), build, f"route E={experts} T={tokens}")


def tie_cases():
    """Equal keys, and results that must not depend on the run or the batch."""
    name = "ties-and-determinism-"
    constant = np.full((3, 256), 0.25, np.float32)
    first = np.tile(np.arange(8, dtype=np.int32), (3, 1))
    for rank in ("top2_sum", "max"):
        yield route_case(bug(name + "1"), constant, 8, rank, score="sigmoid", groups=8,
                         keep_groups=4, group_rank=rank,
                         expected=(np.full((3, 8), 1 / (1 + np.exp(-0.25))), first))
    logits = np.tile(np.float32([1, 3, 2, 3, 3, 0, 2, 1]), (2, 1))
    for order in ("score_then_topk", "topk_then_score"):
        want = np.tile(np.int32([1, 3, 4, 2, 6]), (2, 1))
        weights, _ = oracle.route(logits, 5, order=order)
        yield route_case(bug(name + "2"), logits, 5, order, order=order,
                         expected=(weights, want))
    ids = distinct_ids(generator("runs"), 100, 16, 4)
    yield align_case(bug(name + "4"), ids, 16, 16, times=RECORDS[name + "4"]["shape"]["runs"])
    for experts in RECORDS[name + "6"]["shape"]["E"]:
        yield route_case(bug(name + "6"), np.full((2, experts), -3, np.float32), 8,
                         f"E={experts}", expected=(np.full((2, 8), 1 / experts),
                                                   first[:2]))
    yield same_row_case(name + "7")


def same_row_case(key):
    """One row alone and inside a batch of 4096: the same ids and weight bits."""

    def build(p, name):
        logits = logits_of(name, 4096, 64)
        kept = []

        def keep(found):
            kept.append(found)

        def same(found):
            row, alone = found[1234], kept.pop(0)[0]
            return None if np.array_equal(row, alone) else f"{row} and {alone}"

        both = []
        for rows in (logits[1234:1235], logits):
            value = p.input("logits", rows, "f32")
            both.append(p.route(value, 6, score="sigmoid", renormalize=True))
        for alone, batch in zip(*both):
            p.output(name, alone, keep)
            p.output(name, batch, same)

    return Case(bug(key), build)


def meaning_cases():
    """Tolerances, roundings, and the places of weights and scales."""
    exact = generator("tolerance").standard_normal((50, 40))
    shifted = exact * (1 + 0.026)
    for element in ("bf16", "f16", "f32"):
        tolerance = {"bf16": 5e-3, "f16": 2e-3, "f32": 1e-5}[element]
        assert difference(shifted, exact, element, tolerance), "2.6 % must not pass"
        assert not difference(rounded(exact, element), exact, element, tolerance)
    yield injected_error_case("scales-and-accuracy-2")
    yield one_rounding_case("scales-and-accuracy-4")
    yield weight_place_case("router-semantics-1")
    yield from scale_place_cases("router-semantics-2")


def injected_error_case(key):
    """An error of 2 % in a result of the tools fails the comparison used here."""

    def build(p, name):
        data = Experts.random(name, T, E, K, H, I)
        want = data.expected()

        def finds_errors(found):
            if difference(found, want, "bf16", 5e-3):
                return "the true result is refused"
            if not difference(found * np.float32(1.02), want, "bf16", 5e-3):
                return "an error of 2 % is accepted"
            return None

        p.output(name, data.add(p), finds_errors)

    return Case(bug(key), build)


def one_rounding_case(key):
    """1 + 7 * 2^-9: rounding to bf16 after every slot would give 1."""

    def build(p, name):
        y = np.full((8, 4), 2.0 ** -9)
        y[0] = 1
        out = p.combine(p.input("y", y, "bf16"), p.input("w", np.ones((1, 8)), "f32"),
                        p.input("ids", np.arange(8)[None], "i32"), 1, "bf16", experts=8)
        p.output(name, out, rounded(np.full((1, 4), 1 + 7 * 2.0 ** -9), "bf16"), 0.0)

    return Case(bug(key), build)


def weight_place_case(key):
    """The weight of a top-1 router on the input rows and on the output rows."""

    def build(p, name):
        rng = generator(name)
        logits = logits_of(name, T, E)
        x, w13 = normal(rng, (T, H), "bf16"), normal(rng, (E, 2 * I, H), "bf16", 0.1)
        weights, ids = p.route(p.input("logits", logits, "f32"), 1, score="sigmoid")
        values = p.input("x", x, "bf16"), p.input("w13", w13, "bf16")
        want_weights, want_ids = oracle.route(logits, 1, score="sigmoid")
        results = {}
        for place in ("input", "output"):
            c = p.gemm(*values, (T, I), "f32", [ids], weights=weights, weight=place,
                       grouping="ids", row_source="token", activation="swiglu")
            results[place] = oracle.grouped_gemm(
                x, w13, "ids", [want_ids], row_source="token", weight=place,
                weights=want_weights, act={"kind": "swiglu"})
            p.output(name, c, results[place])
        assert difference(results["input"], results["output"], "f32", 0.05), \
            "the activation must make the two places differ"

    return Case(bug(key), build)


def scale_place_cases(key):
    """The routed scaling factor on the weights, on the routed sum, on everything;
    only the last scales the shared expert."""
    for place in ("weights", "routed_scale", "scale"):
        def build(p, name, place=place):
            rng = generator(name)
            logits = logits_of(name, T, E)
            y, shared = normal(rng, (T * K, H), "f32"), normal(rng, (T, H), "f32")
            on_weights = {"scale": 2.5} if place == "weights" else {}
            on_combine = {} if place == "weights" else {place: 2.5}
            weights, ids = p.route(p.input("logits", logits, "f32"), K, **on_weights)
            out = p.combine(p.input("y", y, "f32"), weights, ids, T, "f32",
                            residual=p.input("shared", shared, "f32"), experts=E,
                            **on_combine)
            plain, _ = oracle.route(logits, K)
            routed = np.einsum("tk,tkh->th", plain, y.reshape(T, K, H))
            factor = 2.5 if place == "scale" else 1
            p.output(name, out, 2.5 * routed + factor * shared)

        yield Case(bug(key), build, place)


def cases():
    yield from ids_cases()
    yield from empty_cases()
    yield from degenerate_cases()
    yield from edge_cases()
    yield from limit_cases()
    yield from tie_cases()
    yield from meaning_cases()
