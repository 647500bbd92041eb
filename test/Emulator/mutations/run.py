# Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Breaks known-good kernels and looks at who notices.

  run.py FOLDER [--only=WORD] [--table]

Compiles a layer and a copy of rows for two chips, runs every kernel as it is
under several schedules, which must give no report and the same results, then
each mutant of mutants.py under two. A mutant is caught by a hazard, or by
results that differ from those of the kernel it was made of."""

import argparse
import os
import shutil
import subprocess
import sys

import numpy as np

import edits
import mutants
import replay

HERE = os.path.dirname(os.path.abspath(__file__))
SEEDS = [0, 1, 2, 3]
MUTANT_SEEDS = [0, 1]
TOKENS, EXPERTS, HIDDEN, INNER = 70, 5, 448, 64
# Of the mutants, and of those among them that nobody may notice.
LEAST, MOST_MISSED = 60, 5


def bf16(array):
    return (np.ascontiguousarray(array, np.float32).view(np.uint32) >> 16).astype(np.uint16)


def layer_arguments(tokens):
    """Expert 0 gets every token, the last one none."""
    random = np.random.default_rng(1)
    x = random.random((tokens, HIDDEN)) / 2
    gate = random.normal(size=(EXPERTS, HIDDEN)) / 20
    gate[0] += 0.2
    gate[-1] -= 0.5
    w13 = random.normal(size=(EXPERTS, 2 * INNER, HIDDEN)) / 20
    w2 = random.normal(size=(EXPERTS, HIDDEN, INNER)) / 8
    return [bf16(array) for array in (x, gate, w13, w2)]


def rows_arguments(tokens):
    random = np.random.default_rng(2)
    ids = np.stack([random.permutation(EXPERTS)[:2] for _ in range(tokens)]).astype(np.int32)
    # Slots without an expert are not copied.
    ids[ids == EXPERTS - 1] = -1
    return [bf16(random.random((tokens, 72))), ids]


# prefix: file, chip, variant, arguments
PROGRAMS = {
    "sm_90a": ("layer.mlir", "sm_90a", 1, layer_arguments(TOKENS)),
    "sm_80": ("layer.mlir", "sm_80", 0, layer_arguments(40)),
    "rows": ("rows.mlir", "sm_90a", 0, rows_arguments(TOKENS)),
}
# Weights of the expert without rows: arguments 2 and 3.
LAST_W13, LAST_W2 = (EXPERTS - 1) * 2 * INNER * HIDDEN, (EXPERTS - 1) * HIDDEN * INNER
IDLE = {"layer.mlir": {2: (LAST_W13, LAST_W13 + 2 * INNER * HIDDEN),
                       3: (LAST_W2, LAST_W2 + HIDDEN * INNER)},
        "rows.mlir": {}}
RANGES = {"layer.mlir": "1-64,65-", "rows.mlir": "none"}


def compile_program(folder, prefix):
    source, chip, variant, arguments = PROGRAMS[prefix]
    path = os.path.join(folder, f"{prefix}.bundle")
    subprocess.run(["moe-compile", os.path.join(HERE, "Inputs", source), f"--arch={chip}", "-o",
                    path, f"--token-ranges={RANGES[source]}", "--ptxas=none", "--quiet"],
                   check=True)
    return replay.Bundle(path, arguments, variant, folder, IDLE[source])


def same(found, expected):
    return all(len(found[name]) <= len(array) and
               np.array_equal(found[name].view(np.uint8),
                              array[: len(found[name])].view(np.uint8))
               for name, array in expected.items())


class Results:
    def __init__(self):
        self.problems, self.rows, self.refused = [], [], []

    def problem(self, kernel, seed, what):
        self.problems.append(f"{kernel}, seed {seed}: {what}")


def check_unchanged(kernels, results):
    for kernel in kernels.values():
        for seed in SEEDS:
            hazards, found = kernel.run(seed=seed)
            if hazards is None:
                results.problem(kernel.name, seed, found)
            elif hazards:
                results.problem(kernel.name, seed, [h["kind"] + ": " + h["message"]
                                                    for h in hazards])
            elif not same(found, kernel.expected):
                results.problem(kernel.name, seed, "other results")


def try_mutant(kernel, mutant, results):
    """Appends (mutant, kernel, hazards found, whether results differ)."""
    kinds, differs = [], False
    try:
        text = mutant.text(kernel)
    except edits.NoPlace as problem:
        results.problem(kernel.name, 0, f"{mutant.name}: {problem}")
        return
    for seed in MUTANT_SEEDS:
        hazards, found = kernel.run(text, mutant.launch, seed)
        if hazards is None:
            # The text, or the launch, breaks a rule.
            results.refused.append(f"{mutant.name}: {found.strip()}")
            kinds.append("refused")
            break
        kinds += sorted({h["kind"] for h in hazards} - set(kinds))
        differs |= not same(found, kernel.expected)
    results.rows.append((mutant, kernel.name, kinds, differs))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder")
    parser.add_argument("--only", default="")
    parser.add_argument("--table", action="store_true")
    options = parser.parse_args()
    shutil.rmtree(options.folder, ignore_errors=True)
    os.makedirs(options.folder)
    results, kernels = Results(), {}
    for prefix in PROGRAMS:
        bundle = compile_program(options.folder, prefix)
        for kernel in bundle.launches(prefix, results.problem):
            kernels[kernel.name] = kernel
    if not options.only:
        check_unchanged(kernels, results)
    for mutant in mutants.MUTANTS:
        if options.only not in mutant.name:
            continue
        if mutant.kernel not in kernels:
            sys.exit(f"{mutant.name}: there is no kernel {mutant.kernel}: {', '.join(kernels)}")
        try_mutant(kernels[mutant.kernel], mutant, results)
    report(results, options)


def report(results, options):
    caught = [row for row in results.rows if row[2] or row[3]]
    missed = [row for row in results.rows if not row[2] and not row[3]]
    for mutant, kernel, kinds, differs in results.rows:
        if options.table or not (kinds or differs):
            print(f"{mutant.name:44} {kernel:26} {', '.join(kinds) or '-':40} "
                  f"{'other results' if differs else 'same results'}"
                  + (f"  ({mutant.why})" if mutant.why else ""))
    print(f"{len(results.rows)} mutants: {len(caught)} caught, "
          f"{sum(1 for row in results.rows if row[2])} by a hazard, "
          f"{sum(1 for row in results.rows if not row[2] and row[3])} by results alone, "
          f"{len(missed)} missed")
    problems = results.problems
    if options.table:
        print(*results.refused, sep="\n")
    problems += [f"{mutant.name}: missed, and the table does not say why"
                 for mutant, _, _, _ in missed if not mutant.why]
    problems += [f"{mutant.name}: caught, but the table says why it is not"
                 for mutant, _, _, _ in caught if mutant.why]
    if not options.only and len(results.rows) < LEAST:
        problems.append(f"fewer than {LEAST} mutants")
    if len(missed) > MOST_MISSED:
        problems.append(f"more than {MOST_MISSED} missed")
    for problem in problems:
        print("problem:", problem)
    sys.exit(1 if problems else 0)


if __name__ == "__main__":
    main()
