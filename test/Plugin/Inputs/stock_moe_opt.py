# Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""stock_moe_opt.py FOLDER PLUGIN: makes FOLDER/moe-opt, the stock mlir-opt with
the plugin, which takes the command lines of the moe-opt that is on PATH now.

A stock mlir-opt reads its flags before it loads plugins. So flags of passes
become a pipeline as text, and what `--emit` prints comes from moe-opt, given
the IR that mlir-opt left.
"""

import os
import shutil
import subprocess
import sys
import tempfile

PASS_FLAGS = ("moe-", "cta-", "convert-cta-", "convert-moe-", "canonicalize", "cse")


def make(folder, plugin):
    os.makedirs(folder, exist_ok=True)
    path = os.path.join(folder, "moe-opt")
    with open(path, "w") as file:
        file.write(f'#!/bin/sh\nexec "{sys.executable}" "{os.path.abspath(__file__)}" '
                   f'--run "{plugin}" "{shutil.which("moe-opt")}" "$@"\n')
    os.chmod(path, 0o755)


def translate(arguments):
    """(passes, what to emit, the other arguments)."""
    passes, emit, rest = [], None, []
    for argument in arguments:
        name, equals, value = argument.lstrip("-").partition("=")
        if argument.startswith("-") and name.startswith(PASS_FLAGS):
            passes.append(name + (f"{{{value}}}" if equals else ""))
        elif argument.startswith("--emit="):
            emit = argument
        else:
            rest.append(argument)
    return passes, emit, rest


def run(plugin, moe_opt, arguments):
    passes, emit, rest = translate(arguments)
    command = ["mlir-opt", f"--load-dialect-plugin={plugin}", f"--load-pass-plugin={plugin}"]
    if not any("mlir-print-op-on-diagnostic" in argument for argument in rest):
        command.append("--mlir-print-op-on-diagnostic=false")
    if passes:
        command.append(f"--pass-pipeline=builtin.module({','.join(passes)})")
    if not emit:
        return subprocess.call(command + rest)
    output = []
    if "-o" in rest:
        place = rest.index("-o")
        output = rest[place:place + 2]
        del rest[place:place + 2]
    with tempfile.NamedTemporaryFile() as lowered:
        command += rest + ["--mlir-print-debuginfo", "-o", lowered.name]
        status = subprocess.call(command)
        return status or subprocess.call([moe_opt, lowered.name, emit] + output)


if __name__ == "__main__":
    if sys.argv[1] == "--run":
        sys.exit(run(sys.argv[2], sys.argv[3], sys.argv[4:]))
    make(*sys.argv[1:])
