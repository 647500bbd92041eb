# Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""support-matrix.py README.md FOLDER [PTXAS]: is the table of support true?

For each row of the table under "What works where" and each element type the
statements below are run on the CPU and compared with the reference, compiled to
PTX, and assembled when a ptxas is given. The kinds of kernels found in the PTX
have to be those of the row, and every row has to be known here.
"""

import re
import subprocess
import sys
from pathlib import Path

FLOATS = ("f32", "bf16", "f16")
IDS = "rows(%i : tensor<24x2xi32>)"
GROUPS = "rows(%i : tensor<8xi32>)"
SCORES = ("softmax", "sigmoid", "sqrt_softplus", "identity", "sparsemixer")
GATED = ("swiglu", "swigluoai", "swiglustep", "geglu", "situ")
PLAIN = ("gelu", "relu2", "silu")


def gemm(grouping, rows=GROUPS, a="24x256x{t}", b="8x256x256x{t}", c="24x256x{t}", more=""):
    return (f"moe.grouped_gemm ins(%a, %b : tensor<{a}>, tensor<{b}>) {rows} "
            f"outs(%c : tensor<{c}>) {{grouping = #moe.grouping<{grouping}>{more}}}")


TOKEN = ", row_source = #moe.row_source<token>"
NK_GEMMS = [
    gemm("dense", "", b="1x256x256x{t}"), gemm("ids", IDS, c="48x256x{t}", more=TOKEN),
    gemm("offsets"), gemm("sizes"),
    gemm("masked", a="8x48x256x{t}", c="8x48x256x{t}"),
]
ROWS = {
    "gate": ([
        "moe.gate ins(%x, %w : tensor<24x64x{t}>, tensor<8x64x{t}>) bias(%b : tensor<8x{t}>) "
        "outs(%l : tensor<24x8xf32>)"], FLOATS),
    "route, all five scores": ([
        "moe.route ins(%l : tensor<24x8x{t}>) outs(%w, %i : tensor<24x2xf32>, tensor<24x2xi32>) "
        f"{{renormalize, score = #moe.score<{score}>}}" for score in SCORES], FLOATS),
    "align, group_ids, permute, unpermute": ([
        "moe.align ins(%i : tensor<24x2xi32>) outs(%s, %e, %p, %c : tensor<176xi32>, "
        "tensor<11xi32>, tensor<1xi32>, tensor<8xi32>) {experts = 8, block = 16}",
        "moe.group_ids ins(%g : tensor<8xi32>) outs(%i : tensor<96x1xi32>) "
        "{grouping = #moe.grouping<offsets>}",
        "moe.group_ids ins(%g : tensor<8xi32>) outs(%i : tensor<96x1xi32>) "
        "{grouping = #moe.grouping<masked>, capacity = 12}",
        "moe.permute ins(%x, %i : tensor<24x64x{t}>, tensor<24x2xi32>) "
        "outs(%r, %s, %o : tensor<48x64x{t}>, tensor<48xi32>, tensor<8xi32>) {experts = 8}",
        "moe.unpermute ins(%r, %s : tensor<48x64x{t}>, tensor<48xi32>) outs(%y : tensor<48x64x{t}>)",
        ], FLOATS),
    "grouped_gemm, weights [E, N, K]: dense, ids, offsets, sizes, masked": (
        NK_GEMMS, ("bf16", "f16")),
    "the same": (NK_GEMMS, ("f32",)),
    "grouped_gemm, weights [E, K, N]": ([
        gemm("ids", IDS, c="48x256x{t}", more=TOKEN + ", b_layout = #moe.b_layout<kn>")], FLOATS),
    "grouped_gemm, k_grouped": ([
        gemm("k_grouped", a="64x96x{t}", b="32x96x{t}", c="8x64x32xf32")], FLOATS),
    "activation, all eight kinds": ([
        "moe.activation ins(%h : tensor<24x64x{t}>) outs(%a : tensor<24x32x{t}>) "
        f"{{activation = #moe.activation<{kind}>}}" for kind in GATED] + [
        "moe.activation ins(%h : tensor<24x64x{t}>) outs(%a : tensor<24x64x{t}>) "
        f"{{activation = #moe.activation<{kind}>}}" for kind in PLAIN], FLOATS),
    "combine, with residual, scales, identity experts": ([
        "moe.combine ins(%y, %w, %i : tensor<48x64x{t}>, tensor<24x2xf32>, tensor<24x2xi32>) "
        "identity(%x : tensor<24x64x{t}>) residual(%r : tensor<24x64x{t}>) "
        "outs(%o : tensor<24x64x{t}>) {experts = 8, identity_experts = 2, scale = 2.0 : f32}"],
        FLOATS),
}


def module(statements):
    """A function per statement, for 24 tokens and 2 slots: the inputs are its
    arguments, the destinations are fresh.
    """
    text = ""
    for number, statement in enumerate(statements):
        arguments, outs, results = [], [], []
        for word, names, types in re.findall(r"(\w+)\((%[^:]*) : ([^)]*)\)", statement):
            if word == "outs":
                outs, results = names.split(", "), types.split(", ")
            else:
                arguments += zip(names.split(", "), types.split(", "))
        count = len(results)
        values = [f"%0#{i}" for i in range(count)] if count > 1 else ["%0"]
        text += (f"func.func @f{number}(" + ", ".join(f"{n}: {t}" for n, t in arguments)
                 + f") -> ({', '.join(results)}) {{\n"
                 + "".join(f"  {n} = tensor.empty() : {t}\n" for n, t in zip(outs, results))
                 + f"  %0{f':{count}' if count > 1 else ''} = {statement} "
                 f"-> {', '.join(results)}\n"
                 f"  return {', '.join(values)} : {', '.join(results)}\n}}\n")
    return text


def call(*command):
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command))}: exit status {done.returncode}\n"
                 f"{done.stdout[-2000:]}{done.stderr[-2000:]}")


def kernel_kinds(source, arch, ptxas):
    """What computes the functions of a file: simt, mma, wgmma."""
    found = set()
    for tokens in (8, 8192):
        ptx = source.with_suffix(f".{arch}.{tokens}.ptx")
        call("moe-opt", source, f"--moe-to-ptx=arch={arch} tokens={tokens}", "--emit=ptx",
             "-o", ptx)
        if ptxas:
            call(ptxas, f"-arch={arch}", ptx, "-o", "/dev/null")
        text = ptx.read_text()
        tensor = {kind for kind, name in (("wgmma", "wgmma.mma_async"), ("mma", "mma.sync.al"))
                  if name in text}
        found |= tensor or {"simt"}
    return found


def table(readme):
    """{row label: its cells} of the table, without backticks."""
    section = readme.read_text().split("## What works where")[1].split("\n## ")[0]
    rows = [line.strip("| ").replace("`", "").split(" | ")
            for line in section.splitlines() if line.startswith("| ")]
    return {cells[0]: cells[1:] for cells in rows[1:]}


def main():
    readme, folder = Path(sys.argv[1]), Path(sys.argv[2])
    ptxas = sys.argv[3] if len(sys.argv) > 3 else None
    folder.mkdir(parents=True, exist_ok=True)
    rows, errors = table(readme), []
    if rows.keys() != ROWS.keys():
        sys.exit(f"rows not known here or not in the table: {sorted(rows.keys() ^ ROWS.keys())}")
    for number, (label, (statements, types)) in enumerate(ROWS.items()):
        cells = rows[label]
        kinds = {"sm_80": set(), "sm_90a": set()}
        for element in types:
            if element not in cells[0]:
                errors.append(f"{label}: {element} is not in the table")
            source = folder / f"{number}.{element}.mlir"
            source.write_text(module([text.replace("{t}", element) for text in statements]))
            for function in range(len(statements)):
                call("moe-run", source, f"--function=f{function}", "--device=cpu", "--compare=reference")
            for arch, found in kinds.items():
                found |= kernel_kinds(source, arch, ptxas)
        for cell, (arch, found) in zip(cells[3:], kinds.items()):
            stated = set(re.findall(r"\b(?:simt|mma|wgmma)\b", cell))
            if stated != found:
                errors.append(f"{label}: {arch} has {sorted(found)}, the table {sorted(stated)}")
    sys.exit("\n".join(errors) if errors else 0)


main()
