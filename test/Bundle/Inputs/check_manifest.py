# Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks a manifest against itself and against the PTX of its kernels.

    check_manifest.py FILE.json FILE.ptx
"""

import json
import math
import re
import sys

TOKENS = (0, 1, 7, 64, 5000)
LARGEST_GRID = (2**31 - 1, 65535, 65535)
OPERATORS = {
    "add": lambda a, b: a + b, "mul": lambda a, b: a * b, "mod": lambda a, b: a % b,
    "floordiv": lambda a, b: a // b, "ceildiv": lambda a, b: -(-a // b),
    "min": min, "max": max,
}


KEYS = ["version", "function", "arch", "compiler", "tokens", "arguments", "kernels", "variants"]
TYPES = ("bf16", "f16", "f32", "i32")


class Variant:
    """One variant of a manifest at T = tokens."""

    def __init__(self, data, variant, tokens):
        self.data, self.variant, self.tokens = data, variant, tokens
        self.buffers = data["arguments"] + variant["workspace"]
        self.kernels = {kernel["name"]: kernel for kernel in data["kernels"]}

    def value(self, expression):
        if isinstance(expression, int):
            return expression
        name, first, second = expression
        if name == "dim":
            # Extents are told by free ones, here all T.
            argument = self.data["arguments"][first]
            assert argument["shape"][second] == expression, expression
            return self.tokens
        return OPERATORS[name](self.value(first), self.value(second))

    def check_buffers(self):
        for buffer in self.buffers:
            assert all(self.value(extent) >= 0 for extent in buffer["shape"]), buffer
            assert buffer["type"] in TYPES, buffer

    def check_maps(self):
        for entry in self.variant["maps"]:
            assert list(entry) == ["buffer", "type", "shape", "strides", "box", "swizzle"], entry
            buffer = self.buffers[entry["buffer"]]
            elements = math.prod(self.value(n) for n in buffer["shape"])
            shape = [self.value(n) for n in entry["shape"]]
            strides = [self.value(n) for n in entry["strides"]]
            # A view of the whole buffer, whose last element is the buffer's.
            assert entry["type"] == buffer["type"] and math.prod(shape) == elements, entry
            assert len(entry["box"]) == len(strides) == len(shape), entry
            last = sum((n - 1) * stride for n, stride in zip(shape, strides))
            assert last == elements - 1 and strides[-1] == 1, entry
            assert all(1 <= n <= 256 for n in entry["box"]), entry
            assert entry["swizzle"] in (0, 32, 64, 128), entry

    def check_launch(self, launch, ptx):
        assert list(launch) == ["kernel", "grid", "args"], launch
        kernel = self.kernels[launch["kernel"]]
        assert kernel["threads"] == ptx["block"] and kernel["shared"] == ptx["shared"], kernel
        assert kernel.get("schedule", "") == ptx["schedule"], kernel
        assert len(launch["args"]) == len(ptx["params"]), launch
        for arg, text in zip(launch["args"], ptx["params"]):
            (kind,) = set(arg) - {"type"}
            if kind == "buffer":
                assert 0 <= arg["buffer"] < len(self.buffers), arg
            elif kind == "map":
                assert 0 <= arg["map"] < len(self.variant["maps"]), arg
            else:
                assert arg["type"] == "i32" and 0 <= self.value(arg["scalar"]) < 2**31
                assert "i32" in text, text
        grid = [self.value(n) for n in launch["grid"]]
        assert len(grid) == 3 and all(n <= most for n, most in zip(grid, LARGEST_GRID)), grid
        assert min(grid) > 0 or self.tokens == 0, grid

    def check(self, ptx):
        assert list(self.variant) == ["tokens", "workspace", "maps", "launches"]
        self.check_buffers()
        self.check_maps()
        for launch in self.variant["launches"]:
            self.check_launch(launch, ptx[launch["kernel"]])
        used = {arg["buffer"] for launch in self.variant["launches"] for arg in launch["args"]
                if "buffer" in arg} | {entry["buffer"] for entry in self.variant["maps"]}
        assert used == set(range(len(self.buffers))), "a buffer that no launch uses"
        last = self.variant["launches"][-1]["args"]
        results = [i for i, a in enumerate(self.data["arguments"]) if a["result"]]
        assert results and all({"buffer": i} in last for i in results)


def check_arguments(data):
    for i, argument in enumerate(data["arguments"]):
        assert list(argument)[:4] == ["type", "shape", "alignment", "result"], argument
        assert argument["type"] in TYPES and argument["alignment"] == 16, argument
        if not argument["result"]:
            assert set(argument["input"]) <= {"role", "bound"}, argument
        else:
            assert "input" not in argument, argument
            assert all(extent != ["dim", i, d] for d, extent in enumerate(argument["shape"]))


def check_ranges(data):
    ranges = [variant["tokens"] for variant in data["variants"]]
    assert ranges[0][0] in (0, 1), ranges
    for (lo, hi), after in zip(ranges, ranges[1:] + [None]):
        assert hi is None if after is None else lo <= hi < after[0], ranges


def kernels_of(ptx):
    """Name -> params, block and shared of the comment in front of each entry."""
    kernels = {}
    for comment, name in re.findall(r"^//\n((?://.*\n)+)\.visible \.entry (\w+)\(", ptx, re.M):
        kernels[name] = {
            "params": re.findall(r"^//   param \d+  (.*)", comment, re.M),
            "block": int(re.search(r"^//   block +(\d+) threads", comment, re.M)[1]),
            "shared": int(re.search(r"^//   shared +(\d+) bytes", comment, re.M)[1]),
            "schedule": (re.findall(r"^//   schedule (.*)", comment, re.M) or [""])[0],
        }
    return kernels


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        data = json.load(file)
    with open(sys.argv[2], encoding="utf-8") as file:
        kernels = kernels_of(file.read())
    assert list(data) == KEYS and data["version"] == 2, list(data)
    assert data["tokens"] == ["dim", 0, 0] and set(data["compiler"]) == {"moe", "llvm", "ptxas"}
    # Every kernel is launched and in the PTX, and nothing else is.
    names = [kernel["name"] for kernel in data["kernels"]]
    launched = {launch["kernel"] for v in data["variants"] for launch in v["launches"]}
    assert set(names) == launched == set(kernels), (names, launched, list(kernels))
    check_arguments(data)
    check_ranges(data)
    for variant in data["variants"]:
        for tokens in TOKENS:
            Variant(data, variant, tokens).check(kernels)
    print(f"version {data['version']} @{data['function']} for {data['arch']}: "
          f"{len(data['arguments'])} arguments, {len(names)} kernels")
    for variant in data["variants"]:
        print(f"{variant['tokens']}: {len(variant['workspace'])} workspace, "
              f"{len(variant['maps'])} maps, {len(variant['launches'])} launches")
        for launch in variant["launches"]:
            print(launch["kernel"])


if __name__ == "__main__":
    main()
