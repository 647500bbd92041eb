"""Checks the counts in two reports of one call.

usage: compare_counts.py REPORT.json REPORT.json
"""

import json
import sys


def read(path):
    with open(path) as file:
        kernels = json.load(file)["kernels"]
    launches = 0
    for kernel in kernels:
        launches += kernel["launches"]
        del kernel["seconds"]
        total = sum(kernel["classes"].values())
        if total != kernel["thread_instructions"] or total == 0:
            sys.exit(f"{kernel['kernel']}: {total} in classes")
    print(f"{len(kernels)} kernels, {launches} launches, instructions add up")
    return kernels


first, second = map(read, sys.argv[1:])
if first != second:
    sys.exit(f"other counts:\n{first}\n{second}")
print("the same counts")
