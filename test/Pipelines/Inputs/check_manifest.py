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


class Manifest:
    def __init__(self, data, tokens):
        self.data, self.tokens = data, tokens
        self.buffers = data["arguments"] + data["workspace"]

    def value(self, expression):
        if isinstance(expression, int):
            return expression
        name, first, second = expression
        if name == "dim":
            # Every dynamic extent of an argument of these layers is T.
            argument = self.data["arguments"][first]
            assert argument["shape"][second] == expression, expression
            return self.tokens
        return OPERATORS[name](self.value(first), self.value(second))

    def check_buffers(self):
        for buffer in self.buffers:
            assert all(self.value(extent) >= 0 for extent in buffer["shape"]), buffer
            assert buffer["type"] in ("bf16", "f16", "f32", "i32"), buffer

    def check_maps(self):
        for entry in self.data["maps"]:
            buffer = self.buffers[entry["buffer"]]
            elements = math.prod(self.value(n) for n in buffer["shape"])
            shape = [self.value(n) for n in entry["shape"]]
            # A view of the whole buffer, whose last element is the buffer's.
            assert entry["type"] == buffer["type"] and math.prod(shape) == elements, entry
            assert len(entry["box"]) == len(entry["strides"]) == len(shape), entry
            last = sum((n - 1) * stride for n, stride in zip(shape, entry["strides"]))
            assert last == elements - 1 and entry["strides"][-1] == 1, entry
            assert all(1 <= n <= 256 for n in entry["box"]), entry
            assert entry["swizzle"] in (0, 32, 64, 128), entry

    def check_launch(self, launch, kernel):
        assert launch["block"] == [kernel["block"], 1, 1], launch
        assert launch["shared"] == kernel["shared"], launch
        assert len(launch["args"]) == len(kernel["params"]), launch
        for arg, text in zip(launch["args"], kernel["params"]):
            (kind,) = set(arg) - {"type"}
            if kind == "buffer":
                assert 0 <= arg["buffer"] < len(self.buffers), arg
            elif kind == "map":
                assert 0 <= arg["map"] < len(self.data["maps"]), arg
            else:
                assert arg["type"] == "i32" and 0 <= self.value(arg["scalar"]) < 2**31
                assert "i32" in text, text
        grid = [self.value(n) for n in launch["grid"]]
        assert all(n <= most for n, most in zip(grid, LARGEST_GRID)), grid
        assert min(grid) > 0 or self.tokens == 0, grid


def kernels_of(ptx):
    """Name -> params, block and shared of the comment in front of each entry."""
    kernels = {}
    for comment, name in re.findall(r"^//\n((?://.*\n)+)\.visible \.entry (\w+)\(", ptx, re.M):
        kernels[name] = {
            "params": re.findall(r"^//   param \d+  (.*)", comment, re.M),
            "block": int(re.search(r"^//   block +(\d+) threads", comment, re.M)[1]),
            "shared": int(re.search(r"^//   shared +(\d+) bytes", comment, re.M)[1]),
        }
    return kernels


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        data = json.load(file)
    with open(sys.argv[2], encoding="utf-8") as file:
        kernels = kernels_of(file.read())
    names = [launch["kernel"] for launch in data["launches"]]
    # Every kernel is launched, in the order of the entries, and nothing else is.
    assert names == list(kernels), (names, list(kernels))
    for tokens in TOKENS:
        manifest = Manifest(data, tokens)
        manifest.check_buffers()
        manifest.check_maps()
        for launch in data["launches"]:
            manifest.check_launch(launch, kernels[launch["kernel"]])
    used = {arg["buffer"] for launch in data["launches"] for arg in launch["args"]
            if "buffer" in arg} | {entry["buffer"] for entry in data["maps"]}
    assert used == set(range(len(manifest.buffers))), "a buffer that no launch uses"
    last = data["launches"][-1]["args"]
    results = [i for i, a in enumerate(data["arguments"]) if a["result"]]
    assert results and all({"buffer": i} in last for i in results)
    print(f"version {data['version']} @{data['function']} for {data['arch']}: "
          f"{len(data['arguments'])} arguments, {len(data['workspace'])} workspace, "
          f"{len(data['maps'])} maps, {len(names)} launches")
    for name in names:
        print(name)


if __name__ == "__main__":
    main()
