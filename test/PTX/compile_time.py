# Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Times moe-opt from an .mlir file to PTX, the whole process, best of N.

Fails if one takes longer than --limit seconds.
"""

import argparse
import subprocess
import sys
import time


def best_of(command, runs):
    best = float("inf")
    for _ in range(runs):
        start = time.perf_counter()
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        best = min(best, time.perf_counter() - start)
    return best


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--limit", type=float, default=1.0)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("files", nargs="+")
    args = parser.parse_args()
    slow = []
    for path in args.files:
        seconds = best_of(["moe-opt", path, "--moe-to-ptx", "--emit=ptx"], args.runs)
        print(f"{seconds:.2f} s {path}")
        if seconds > args.limit:
            slow.append(path)
    if slow:
        print(f"slower than {args.limit} s: {', '.join(slow)}", file=sys.stderr)
    return 1 if slow else 0


if __name__ == "__main__":
    sys.exit(main())
