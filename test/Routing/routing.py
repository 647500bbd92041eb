# Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Layers driven by the router decisions of real models (Inputs/README.md).

The small layers of test/Models take ids and weights as arguments here and get
those of the captures: gpt-oss-20b at decode sizes, DeepSeek-V2-Lite at a prefill
size. Every CPU device is compared with f64, intermediates rounded to bf16 as the
layer's types say.

  routing.py FOLDER          FOLDER receives what failed
  routing.py export FOLDER   FOLDER receives layer.mlir and in/N.npy for moe-run:
                             the middle captured layer of DeepSeek-V2-Lite
"""

import argparse
import sys
from pathlib import Path

try:
    import numpy as np
except ImportError as error:
    sys.exit(f"routing.py: {error}; it needs a python3 with NumPy")

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE.parent), str(HERE.parent / "Models")]

import oracle  # noqa: E402
from generate import LAYERS, add_layer, small  # noqa: E402
from moe_cases import Program, rounded, run_cases  # noqa: E402

SEED = 20261130
CAPTURES = [("gpt-oss-20b-decode", "gpt-oss-20b", (1, 16, 64)),
            ("deepseek-v2-lite-prefill", "deepseek-v2-lite", (256,))]
ACTIVATIONS = {
    "gpt-oss-20b": {"kind": "swigluoai", "layout": "interleaved", "limit": 7.0},
    "deepseek-v2-lite": {"kind": "swiglu"},
}


def draw_from(tokens, rng, given):
    """A function that makes each argument of a layer and keeps it in `given`."""

    def draw(name, shape, element):
        if name not in given:
            dims = tuple(tokens if d == "T" else d for d in shape)
            # Wide enough that swigluoai's limit cuts some values.
            spread = 8.0 if name == "x" else 1.0 if len(dims) < 3 else dims[-1] ** -0.5
            values = rng.standard_normal(dims, np.float32) * spread
            given[name] = rounded(values, element)
        return given[name]

    return draw


def expected(layer, activation, d):
    """The layer's output in f64 with bf16 intermediates."""

    def bf16(x):
        return rounded(x, "bf16")

    def expert(x, w13, w2, grouping, first, second, b13=None, b2=None):
        h = bf16(oracle.grouped_gemm(x, w13, grouping, bias=b13, **first))
        act = bf16(oracle.activation(h, **activation))
        return bf16(oracle.grouped_gemm(act, w2, grouping, bias=b2, **second))

    rows = {"rows": [d["ids"]]}
    y = expert(d["x"], d["w13"], d["w2"], "ids", {**rows, "row_source": "token"}, rows,
               d.get("b13"), d.get("b2"))
    residual = None
    if layer.shared_experts:
        residual = expert(d["x"], d["shared_w13"], d["shared_w2"], "dense", {}, {})
    return oracle.combine(y, d["weights"], d["ids"], layer.experts, residual=residual)


def case(model, tokens, ids, weights):
    def build(program, name):
        layer = small(LAYERS[model])
        given = {"ids": ids[:tokens].astype(np.int32),
                 "weights": weights[:tokens].astype(np.float32)}
        program.draw = draw_from(tokens, np.random.default_rng(SEED), given)
        out = add_layer(program, layer, given_routing=True)
        program.output(name, out, expected(layer, ACTIVATIONS[model], given))

    return build


def main(target):
    print(f"seed {SEED}")
    cases = []
    for file, model, sizes in CAPTURES:
        data = np.load(HERE / "Inputs" / f"{file}.npz")
        for i, number in enumerate(data["layers"]):
            for tokens in sizes:
                ids = data["ids"][i]
                loads = np.bincount(ids[:tokens].ravel())
                print(f"{file}, layer {number}, {tokens} tokens: "
                      f"{np.count_nonzero(loads)} experts, heaviest {loads.max()} rows")
                cases.append((f"{file}-{number}-{tokens}",
                              case(model, tokens, ids, data["weights"][i])))
    return 1 if run_cases("captured routing", cases, batch=1, target=target) else 0


def export(folder):
    """A layer with captured ids and weights as files, and its load in words."""
    file, model, (tokens,) = CAPTURES[1]
    data = np.load(HERE / "Inputs" / f"{file}.npz")
    i = len(data["layers"]) // 2
    program = Program()
    program.begin_case()
    case(model, tokens, data["ids"][i], data["weights"][i])(program, "layer")
    folder = Path(folder)
    (folder / "in").mkdir(parents=True, exist_ok=True)
    (folder / "layer.mlir").write_text(program.module())
    for number, array in enumerate(program.arrays):
        np.save(folder / "in" / f"{number}.npy", array)
    loads = np.bincount(data["ids"][i][:tokens].ravel(), minlength=64)
    print(f"{model}, layer {data['layers'][i]}: {tokens} tokens of a real text, "
          f"{np.count_nonzero(loads)} of 64 experts used, the heaviest has {loads.max()} rows, "
          f"the mean is {loads.mean():.0f}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("words", nargs="+", metavar="[export] FOLDER")
    words = parser.parse_args().words
    if len(words) == 2 and words[0] == "export":
        export(words[1])
    elif len(words) == 1 and words[0] != "export":
        sys.exit(main(words[0]))
    else:
        parser.error("one FOLDER, or export and one FOLDER")
