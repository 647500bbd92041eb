# Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Asks test/Runtime/CInterface/parse.c about many bundles at once."""

import subprocess
from pathlib import Path

FOLDER = Path(__file__).parent / "small.bundle"
MANIFEST = (FOLDER / "manifest.json").read_bytes()
PTX = (FOLDER / "kernels.ptx").read_bytes()


def ask(program, cases):
    """One (parse status, solve status or None, text) per (manifest, ptx, tokens)."""
    text = b"".join(b"%d %d %d\n" % (len(m), len(p), t) + m + p for m, p, t in cases)
    done = subprocess.run([program], input=text, capture_output=True, check=False)
    if done.returncode != 0:
        raise SystemExit(f"{program} ended with {done.returncode}\n{done.stderr.decode(errors='replace')[-4000:]}")
    answers = []
    for line in done.stdout.decode(errors="replace").splitlines():
        parsed, solved, rest = line.split(" ", 2)
        answers.append((int(parsed), None if solved == "-" else int(solved), rest))
    if len(answers) != len(cases):
        raise SystemExit(f"{len(cases)} bundles, but {len(answers)} answers")
    return answers
