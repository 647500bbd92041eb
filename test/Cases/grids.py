# Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Cases of the parameter grids. The grids are other projects'; data and
expectation are ours: random inputs, f64 results."""

import itertools

import numpy as np

from common import (Case, Experts, align_case, distinct_ids, generator, load, normal,
                    padded_input, rounded)

import oracle

ALIGN = load("align_grid")
LAYERS = load("fused_moe_grid")
PRODUCTS = load("mul_mat_id_grid")

# Elements of the first weight stack and of the intermediates that the default
# tier takes; what is bigger and fits a CPU runs in the full tier.
DEFAULT_WEIGHTS = 8_000_000
CPU_ROWS = 1_000
TOO_MANY_TOKENS = "T of 32768 and 40000 with experts this wide need a GPU"
NO_FORMAT = "needs weights of 4 or 8 bits (mxfp4, q4_0, q4_K, q8_0)"

REASONS = {}


def align_points():
    """(record, T, k, E, block, pad) of the row-table grid."""
    grid = itertools.product(ALIGN["T"], ALIGN["top_k"], ALIGN["num_experts"],
                             ALIGN["block"], ALIGN["pad_to_block"])
    for tokens, k, experts, block, pad in grid:
        yield (f"align_grid/T={tokens} k={k} E={experts} block={block} pad={pad}",
               tokens, k, experts, block, pad)


def align_grid():
    for record, *point in align_points():
        yield Case(record, row_table(record, *point))


def row_table(record, tokens, k, experts, block, pad):
    """The ids are made with the program: all 320 take seconds."""
    rows = tokens * k + experts * (block - 1)
    if pad:
        rows = -(-rows // block) * block

    def build(p, name):
        ids = distinct_ids(generator(record), tokens, experts, k)
        align_case(record, ids, experts, block, rows=rows).build(p, name)

    return build


def layer_points():
    """(record, T, I, H, E, k, ep, padded) of the whole-layer grid."""
    grid = itertools.product(LAYERS["T_I_H"], LAYERS["E"], LAYERS["top_k"],
                             LAYERS["ep_size"], LAYERS["padded_weight_rows"])
    for (tokens, width, hidden), experts, k, ep, padded in grid:
        yield (f"fused_moe_grid/T={tokens} I={width} H={hidden} E={experts} k={k} "
               f"ep={ep} padded={padded}", tokens, width, hidden, experts, k, ep,
               padded)


def layer_grid():
    for record, tokens, width, hidden, experts, k, ep, padded in layer_points():
        if tokens * k > CPU_ROWS:
            REASONS[record] = TOO_MANY_TOKENS
            continue
        slow = experts // ep * 3 * width * hidden > DEFAULT_WEIGHTS
        yield Case(record, layer(tokens, width, hidden, experts, k, ep, padded),
                   slow=slow)


def layer(tokens, width, hidden, experts, k, ep, padded):
    """Softmax, top-k without renormalizing, experts, sum; bf16 as in the grid."""

    def build(p, name):
        rng = generator(name)
        scores = normal(rng, (tokens, experts), "f32")
        local, mapping = experts, None
        if ep > 1:
            local = experts // ep
            mapping = np.full(experts, -1, np.int32)
            mapping[rng.integers(0, experts, local)] = np.arange(local)
        data = Experts(
            normal(rng, (tokens, hidden), "bf16", 0.1), None, None,
            normal(rng, (local, 2 * width, hidden), "bf16", 0.1),
            normal(rng, (local, hidden, width), "bf16", 0.1), "bf16", mapping)
        logits = p.input("scores", scores, "f32", "T")
        weights, ids = p.route(logits, k)
        data.weights, data.ids = oracle.route(scores, k)
        p.output(name, ids, data.ids)
        out = add_experts(p, data, weights, ids, 128 if padded else 0)
        bound = ("absolute", LAYERS["tolerance"]["atol"])
        p.output(name, out, data.expected("bf16"), bound)

    return build


def add_experts(p, data, weights, ids, padding):
    """The layer after a router that is part of the program, all in bf16."""
    width, hidden = data.w2.shape[2], data.x.shape[1]
    x = p.input("x", data.x, "bf16", "T")
    w13 = padded_input(p, "w13", data.w13, "bf16", padding)
    w2 = padded_input(p, "w2", data.w2, "bf16", padding)
    mapping = None
    if data.expert_map is not None:
        mapping = p.input("map", data.expert_map, "i32")
    p.times("R", "T", ids.shape[1])
    shared = {"rows": [ids], "expert_map": mapping, "grouping": "ids"}
    h = p.gemm(x, w13, ("R", 2 * width), "bf16", row_source="token", **shared)
    act = p.activation(h, width, "bf16", "swiglu")
    y = p.gemm(act, w2, ("R", hidden), "bf16", **shared)
    return p.combine(y, weights, ids, "T", "bf16", expert_map=mapping,
                     experts=len(data.w13))


def product(record, types, experts, used, broadcast, m, n, k, times=1, weighted=False,
            variant="", slow=False):
    """A product by expert id: `n` tokens with `used` slots each, weights [E, m, k].
    `types` are those of weights and rows; the result is f32."""

    def build(p, name):
        rng = generator(name)
        a = normal(rng, (n if broadcast else n * used, k), types[1])
        b = [rounded(rng.uniform(-1, 1, (experts, m, k)), types[0])
             for _ in range(times)]
        slots = np.arange(used) % experts
        ids = np.stack([rng.permutation(slots) for _ in range(n)]).astype(np.int32)
        factors = rng.random((n, used), np.float32) if weighted else None
        value = p.input("a", a, types[1], "T" if broadcast else "R")
        rows = p.input("ids", ids, "i32", "T")
        p.times("R", "T", used)
        weights = p.input("weights", factors, "f32", "T") if weighted else None
        for w in b:
            c = p.gemm(value, p.input("b", w, types[0]), ("R", m), "f32", [rows],
                       grouping="ids", row_source="token" if broadcast else None,
                       weights=weights, weight="output" if weighted else None)
            p.output(name, c, oracle.grouped_gemm(
                a, w, "ids", [ids], row_source="token" if broadcast else "flat",
                weights=factors, weight="output" if weighted else "none"))

    return Case(record, build, variant, slow)


def group(name):
    return next(g for g in PRODUCTS["groups"] if g["name"] == name)


# Weights and rows: the grid has f32 rows, and f16 and bf16 ones are ours.
TYPES = {"f32": ("f32", "f32"), "f16 x f32": ("f16", "f32"), "f16": ("f16", "f16"),
         "bf16": ("bf16", "bf16")}


def product_points():
    """(record, group, parameters) of every product, whatever its type."""
    large = group("large experts*tokens")
    for shape, broadcast in itertools.product(large["E_used_m_n_k"], large["broadcast"]):
        yield f"large/{shape} broadcast={broadcast}", ("large", *shape, broadcast)
    yield "single", ("single",)
    yield "gpt-oss shapes", ("format",)
    yield "short k", ("short",)
    sweep = group("main sweep")
    for point in itertools.product(sweep["E"], sweep["n_used"], sweep["broadcast"],
                                   sweep["n"]):
        yield f"main sweep/{point}", ("sweep", *point)
    for n in group("other types")["n"]:
        yield f"other types/n={n}", ("sweep", 4, 2, False, n)
    for _, k, _, _, n, _ in group("fused weight multiply")["cases"]:
        yield f"fused weight multiply/n={n}", ("multiply", k, n)
    yield "fusion of several mul_mat_id", ("several",)
    yield "disabled upstream (too slow)", ("format",)


def product_grid():
    for name, (kind, *arguments) in product_points():
        record = "mul_mat_id_grid/" + name
        if kind == "format":
            REASONS[record] = NO_FORMAT
        elif kind == "large":
            experts, used, m, n, k, broadcast = arguments
            yield product(record, TYPES["f16 x f32"], experts, used, broadcast, m, n, k)
        elif kind == "single":
            yield product(record, TYPES["f16 x f32"], 1, 1, False, 8, 16, 1)
        elif kind == "several":
            yield product(record, TYPES["f16 x f32"], 16, 16, False, 32, 32, 32, 3)
        elif kind == "short":
            for type_name, types in TYPES.items():
                yield product(record, types, 4, 2, False, 64, 16, 3, variant=type_name)
        elif kind == "sweep":
            experts, used, broadcast, n = arguments
            # The default tier takes small products, and two types of the four in
            # turn.
            turn = (experts // 4 + used.bit_length() + broadcast + n) % 2
            for i, (type_name, types) in enumerate(TYPES.items()):
                yield product(record, types, experts, used, broadcast,
                              group("main sweep")["m"], n, group("main sweep")["k"],
                              variant=type_name, slow=n * used > 40 or i % 2 != turn)
        elif kind == "multiply":
            k, n = arguments
            # 768 x 2048 weights of 128 experts are 200 million elements; the narrow
            # variant keeps experts, slots and tokens.
            yield product(record, TYPES["f16"], 128, k, False, 48, n, 136,
                          weighted=True, variant="narrow")
            yield product(record, TYPES["f16"], 128, k, False, 768, n, 2048,
                          weighted=True, variant="full width", slow=True)


def records():
    yield from (point[0] for point in align_points())
    yield from (point[0] for point in layer_points())
    yield from ("mul_mat_id_grid/" + name for name, _ in product_points())


def cases():
    yield from align_grid()
    yield from layer_grid()
    yield from product_grid()
