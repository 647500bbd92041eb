# Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Prepares every form of the ops (test/Forms) for run_cases.py: GEMMs for four chips,
other ops and schedules of `mma` for sm_80 and sm_90a, whole layers and schedules of
`wgmma` for sm_90a. PTX for an older chip runs on a newer one.

  make_form_cases.py --output DIR [--suites=gemms,ops,...] [--archs=sm_90a,...]

A case is a function of several forms. Arguments that random_inputs makes again from
the seed are not written.
"""

import itertools
import json
import pathlib
import re
import sys

import numpy as np

TEST = pathlib.Path(__file__).resolve().parents[1]
sys.path[:0] = [str(TEST / folder) for folder in ("", "Models", "Forms", "GPU")]

import case_folder  # noqa: E402
import form_suites  # noqa: E402
from form_program import SEED, FormProgram  # noqa: E402

ARCHS = ["sm_90a", "sm_90", "sm_89", "sm_80"]


class Maker:
    """Makes the folders of the batches of one suite."""

    def __init__(self, args, suite):
        self.args, self.suite = args, suite

    def reference(self, program, data, source):
        """Writes what the function has to give; (near ties, None) or (None, error)."""
        case_folder.write_arrays(data, "inputs", program.arrays)
        options = ["--f32-intermediates"] if self.suite == "layers" else []
        report, error = case_folder.call(
            self.args.bin / "moe-run", source, f"--inputs={data / 'inputs'}",
            f"--outputs={data / 'expected'}", "--json", *options)
        if error:
            return None, error
        for i, argument in enumerate(program.arguments):
            if argument:
                (data / "inputs" / f"{i}.npy").unlink()
        for i, (_, value, expected, _) in enumerate(program.expected):
            if isinstance(expected, np.ndarray):
                self.write_expected(data / "expected" / f"{i}.npy", expected, value.element)
        return json.loads(report)["near_tie_tokens"], None

    @staticmethod
    def write_expected(path, expected, element):
        """The result of the oracle where there is one, in place of the reference's."""
        from moe_cases import to_bits
        np.save(path, to_bits(expected, element).reshape(np.load(path).shape))

    def make(self, batch):
        """[(folder name, error or None)] of one batch."""
        data = self.args.output / f"{self.suite}-{batch.name}.data"
        data.mkdir(parents=True, exist_ok=True)
        program = FormProgram().add_cases(batch.cases)
        source = data / "case.mlir"
        source.write_text(program.module())
        near_ties, error = self.reference(program, data, source)
        if error:
            return [(data.name, error)]
        found = []
        for arch, tokens in itertools.product(self.args.archs, batch.tokens):
            if arch not in batch.archs:
                continue
            folder = self.args.output / f"{self.suite}-{batch.name}-t{tokens}-{arch}"
            error = case_folder.compile_case(folder, source, arch, tokens, self.args.bin)
            found.append((folder.name, error))
            if error:
                continue
            case_folder.write_facts(
                folder, data, source="case.mlir", seed=SEED, arguments=program.arguments,
                results=len(program.expected),
                # Ties matter where a gate computes the logits.
                near_ties=near_ties if self.suite == "layers" else [],
                names=[entry[0] for entry in program.expected],
                types=[entry[1].element for entry in program.expected],
                tolerances=[entry[3] for entry in program.expected])
        return found


def main():
    parser = case_folder.argument_parser(__doc__)
    parser.add_argument("--suites", default=",".join(form_suites.SUITES))
    parser.add_argument("--archs", default=",".join(ARCHS))
    parser.add_argument("--filter", default="", help="batches whose name matches")
    args = parser.parse_args()
    args.archs = args.archs.split(",")
    made = failed = 0
    for suite in args.suites.split(","):
        batches = [b for b in form_suites.SUITES[suite]() if re.search(args.filter, b.name)]
        counts = case_folder.make_all(Maker(args, suite).make, batches, args.jobs)
        made, failed = made + counts[0], failed + counts[1]
        print(f"{suite}: {sum(len(b.cases) for b in batches)} cases in {len(batches)} functions",
              flush=True)
    print(f"{made} folders, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
