# Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Cases of chapter.json and ragged_dot.json: values that are published or exact."""

import numpy as np

from common import Case, Experts, layer_case, load

CHAPTER = load("chapter")
RAGGED = load("ragged_dot")
# What the chapter's f32 layers had; ours have the same shapes and other data.
SMALL = CHAPTER["small_layer"]

REASONS = {
    "chapter/mma_choice": "decided on the emitted PTX: tests of the PTX lowering",
    "chapter/router": "its inputs are not published; its relations are checked on "
                      "router_ours",
}


def records():
    for key in ("align", "small_layer", "router", "router_ours", "mma_choice"):
        yield f"chapter/{key}"
    for item in CHAPTER["padded_totals"]:
        yield f"chapter/padded_totals/{item['name']}"
        yield f"chapter/fused_tolerance/{item['name']}"
    for row in CHAPTER["padding_table"]["rows"]:
        yield f"chapter/padding_table/T={row[0]} skew={row[1]} block={row[4]}"
    for i in range(len(RAGGED["cases"])):
        yield f"ragged_dot/{i}"


def align_example():
    """The worked example, compared with the numbers of the chapter."""
    item = CHAPTER["align"]

    def build(p, name):
        ids = p.input("ids", np.array(item["topk_ids"]), "i32")
        sizes = item["num_experts"], item["block"]
        rows = 12 + sizes[0] * (sizes[1] - 1)
        table, tile, padded, counts = p.align(ids, rows, -(-rows // sizes[1]), *sizes)
        listed, tiles = item["sorted_rows"], item["tile_expert"]
        tail = [item["sentinel"]] * (rows - len(listed))
        p.output(name, table, np.array(listed + tail, np.int32))
        p.output(name, tile, np.array(tiles + [-1] * (-(-rows // 4) - 4), np.int32))
        p.output(name, padded, np.array([item["padded"]], np.int32))
        p.output(name, counts, np.bincount(item["flat_expert"], minlength=sizes[0])
                 .astype(np.int32))

    return Case("chapter/align", build)


def ids_with_counts(counts, k):
    """ids [T, k] with the given load per expert, no expert twice in a token: the
    j-th slots are a stretch of the list that is sorted by expert."""
    return np.repeat(np.arange(len(counts)), counts).astype(np.int32) \
        .reshape(k, -1).T.copy()


def padded_total(item):
    counts = np.array(item["counts"], np.int32)
    ids = ids_with_counts(counts, item["top_k"])

    def build(p, name):
        value = p.input("ids", ids, "i32")
        rows = ids.size + item["E"] * (item["block"] - 1)
        _, _, padded, found = p.align(value, rows, -(-rows // item["block"]),
                                      item["E"], item["block"])
        p.output(name, padded, np.array([item["padded"]], np.int32))
        p.output(name, found, counts)

    return Case(f"chapter/padded_totals/{item['name']}", build)


def fused_tolerance(item, bound):
    """Layer in fused form against f64, within the chapter's f32 differences. It
    does not tell the scale of its data: its bounds are taken for outputs up to 1."""
    def data():
        ids = ids_with_counts(item["counts"], item["top_k"])
        return Experts.random(item["name"], item["T"], item["E"], item["top_k"],
                              SMALL["H"], SMALL["I"], "f32", ids)

    largest = np.abs(data().expected()).max()
    return layer_case(f"chapter/fused_tolerance/{item['name']}", data, fused=True,
                      tolerance=("absolute", bound * max(1, largest)))


def small_layer(fused):
    def data():
        return Experts.random("small", SMALL["T"], SMALL["E"], SMALL["top_k"],
                              SMALL["H"], SMALL["I"], "f32")

    return layer_case("chapter/small_layer", data, "fused" if fused else "plain",
                      fused=fused)


def router(with_bias):
    """Our router vector: ids exact, weights to the digits given, and what the
    chapter says holds of every such router."""
    item = CHAPTER["router_ours"]
    suffix = "" if with_bias else "_without_bias"
    ids = np.array(item["ids" + suffix], np.int32)

    def weights_right(found):
        want = np.array(item["weights" + suffix])
        if not np.abs(found - want).max() <= 1e-6:  # a NaN is not
            return f"weights {found.tolist()}, expected {want.tolist()}"
        if np.abs(found.sum(1) - item["scale"]).max() > 1e-5:
            return "a row of weights does not sum to the scale"
        leaked = np.array(item["weights_if_bias_leaks"])
        if with_bias and np.abs(found - leaked).max() < 0.05:
            return "the bias reached the weights"
        return None

    def groups_right(found):
        per_group = item["E"] // item["n_group"]
        kept = {len(set(row // per_group)) for row in found}
        if kept != {item["topk_group"]}:
            return f"experts lie in {kept} groups"
        return None

    def build(p, name):
        logits = p.input("logits", np.array(item["logits"], np.float32), "f32", "T")
        bias = with_bias and p.input("bias", np.array(item["bias"]), "f32") or None
        weights, chosen = p.route(
            logits, item["top_k"], bias=bias, score="sigmoid", groups=item["n_group"],
            keep_groups=item["topk_group"], group_rank="top2_sum", renormalize=True,
            scale=item["scale"])
        p.output(name, weights, weights_right)
        p.output(name, chosen, ids)
        p.output(name, chosen, groups_right)

    return Case("chapter/router_ours", build, "bias" if with_bias else "no-bias")


def padding_table():
    """Row tables at E = 256; the draw is the one the file describes."""
    table = CHAPTER["padding_table"]
    rng = np.random.default_rng(0)
    ids = {}
    ranks = np.arange(1, table["E"] + 1)
    for tokens in (1, 16, 128, 1024, 8192):
        for skew in (0.0, 1.0):
            p = 1.0 / ranks ** int(skew)
            p = p / p.sum()
            ids[tokens, skew] = np.array(
                [rng.choice(table["E"], table["top_k"], replace=False, p=p)
                 for _ in range(tokens)], np.int32)
    for tokens, skew, active, heaviest, block, padded_rows, _ in table["rows"]:
        yield padding_row(table["E"], ids[tokens, skew], skew, active, heaviest, block,
                          padded_rows)


def padding_row(experts, ids, skew, active, heaviest, block, padded_rows):
    def loads(found):
        got = np.count_nonzero(found), found.max()
        if got != (active, heaviest):
            return f"(active, heaviest) = {got}, expected {(active, heaviest)}"
        return None

    def build(p, name):
        value = p.input("ids", ids, "i32")
        rows = ids.size + experts * (block - 1)
        _, _, padded, counts = p.align(value, rows, -(-rows // block), experts, block)
        p.output(name, padded, np.array([padded_rows], np.int32))
        p.output(name, counts, loads)

    return Case(f"chapter/padding_table/T={len(ids)} skew={skew} block={block}", build)


def ragged(i):
    """Ragged products on counting inputs, exact in f32."""
    item = RAGGED["cases"][i]
    m, k, n, sizes = item["m"], item["k"], item["n"], item["group_sizes"]

    def build(p, name):
        lhs = p.input("lhs", np.arange(m * k).reshape(m, k), "f32", "R")
        rhs = p.input("rhs", np.arange(len(sizes) * k * n).reshape(-1, k, n), "f32")
        groups = p.input("sizes", np.array(sizes), "i32")
        c = p.gemm(lhs, rhs, ("R", n), "f32", [groups], grouping="sizes",
                   b_layout="kn")
        p.output(name, c, np.array(item["expected"]), tolerance=0.0)

    return Case(f"ragged_dot/{i}", build)


def cases():
    yield align_example()
    totals = CHAPTER["padded_totals"]
    yield from map(padded_total, totals)
    bounds = CHAPTER["fused_tolerance"]["f32_max_abs"]
    yield from map(fused_tolerance, totals, bounds)
    yield from map(small_layer, (False, True))
    yield from map(router, (False, True))
    yield from padding_table()
    yield from map(ragged, range(len(RAGGED["cases"])))
