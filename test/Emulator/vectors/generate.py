# Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""All snippets: small PTX modules, one instruction or one pattern each.

  generate.py                      counts per group
  generate.py --show GROUP NAME    the PTX of one
  generate.py --ptxas PTXAS        assembles every module

`record.py` runs them on a GPU and keeps what came out; `compare.py` runs them in
the emulator and compares.
"""

import argparse
import collections
import concurrent.futures
import pathlib
import subprocess
import sys
import tempfile

import barriers
import comparisons
import conversions
import floats
import integers
import matrices
import memory
import tensor_maps
import warps
import wgmma

FAMILIES = (integers, floats, conversions, comparisons, warps, memory, barriers, matrices,
            tensor_maps, wgmma)
FOLDER = pathlib.Path(__file__).resolve().parent


def all_snippets():
    """{group: [snippets]}, every name once in its group."""
    groups = collections.defaultdict(list)
    for family in FAMILIES:
        for snippet in family.snippets():
            groups[snippet.group].append(snippet)
    for group, snippets in groups.items():
        names = collections.Counter(s.name for s in snippets)
        assert max(names.values()) == 1, (group, names.most_common(1))
    return dict(groups)


def assemble(ptxas, snippets):
    """The snippets that ptxas refuses, with its message."""

    def one(snippet):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "snippet.ptx"
            path.write_text(snippet.ptx)
            done = subprocess.run([ptxas, "-arch=sm_90a", "-O1", str(path), "-o",
                                   str(path.with_suffix(".cubin"))], capture_output=True, text=True)
        return snippet, done

    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        for snippet, done in pool.map(one, snippets):
            if done.returncode:
                yield snippet, done.stderr.strip()


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ptxas")
    parser.add_argument("--show", nargs=2, metavar=("GROUP", "NAME"))
    arguments = parser.parse_args()
    groups = all_snippets()
    if arguments.show:
        group, name = arguments.show
        print(next(s for s in groups[group] if s.name == name).ptx)
        return 0
    refused = 0
    for group, snippets in groups.items():
        print(f"{group:12} {len(snippets):5} snippets {sum(s.output_bytes for s in snippets):8} "
              "bytes of results")
        for snippet, why in assemble(arguments.ptxas, snippets) if arguments.ptxas else ():
            refused += 1
            print(f"  {snippet.name}: {why}")
    print(f"{sum(map(len, groups.values()))} snippets")
    return 1 if refused else 0


if __name__ == "__main__":
    sys.exit(main())
