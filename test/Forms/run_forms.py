# Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs forms by the reference and the CPU code, which have to agree.

  run_forms.py FOLDER [--every=N]
"""

import argparse
import sys

import gemm_forms
import layer_forms
import moe_cases
import op_forms
from form_program import FormProgram


class RowMajorProgram(FormProgram):
    """The same without gaps between rows: the arrays of moe-run have none."""

    def text(self, *results):
        self.attributes = {}
        return super().text(*results)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder")
    parser.add_argument("--every", type=int, default=1)
    args = parser.parse_args()
    moe_cases.Program = RowMajorProgram
    cases = gemm_forms.cases() + op_forms.cases() + layer_forms.cases()
    return 1 if moe_cases.run_cases("forms", cases[::args.every], batch=20,
                                    target=args.folder) else 0


if __name__ == "__main__":
    sys.exit(main())
