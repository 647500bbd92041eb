# Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A program whose float inputs can be made again from a seed, and whose arguments
may lie in memory with gaps or without alignment."""

import sys
from pathlib import Path

import numpy as np

TEST = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(TEST / "Models"), str(TEST.parent / "python")]

from moe import random_inputs  # noqa: E402
from moe_cases import Program  # noqa: E402

SEED = 7
# How arguments of rows lie: without gaps; rows padded to whole 16-byte pieces, or by
# three elements; at any multiple of an element.
MEMORY = ["plain", "padded", "padded odd", "unaligned"]
ELEMENT_BYTES = {"f32": 4, "i32": 4, "bf16": 2, "f16": 2}


def pitch_of(columns, memory):
    """Elements from one row to the next."""
    return {"padded": (columns // 8 + 1) * 8, "padded odd": columns + 3}.get(memory, columns)


def row_alignment(columns, memory, element):
    """Bytes, at most 16, that every row starts at a multiple of."""
    size = ELEMENT_BYTES[element]
    return size if memory == "unaligned" else int(np.gcd(16, pitch_of(columns, memory) * size))


def memory_attributes(shape, element, memory):
    """The text of the attributes of an argument."""
    if memory == "plain":
        return ""
    if memory == "unaligned":
        return f" {{moe.alignment = {ELEMENT_BYTES[element]} : i64}}"
    pitch = pitch_of(shape[-1], memory)
    strides = [1, pitch, pitch * shape[-2]][:len(shape)][::-1]
    return (" {bufferization.buffer_layout = strided<["
            + ", ".join(map(str, strides)) + "]>}")


class FormProgram(Program):
    """`arguments[i]` says how argument i is made: role, bound, type and shape as
    random_inputs.generate takes them, or nothing where only the array tells."""

    def __init__(self):
        super().__init__()
        self.arguments = []
        # The memory of the arguments that the case in hand adds from now on.
        self.memory = "plain"
        self.attributes = {}

    def begin_case(self):
        super().begin_case()
        self.memory = "plain"

    def text(self, *results):
        text = super().text(*results)
        for value in self.args:
            if value.name in self.attributes:
                head = f"{value.name}: {value.type}"
                text = text.replace(head, head + self.attributes[value.name], 1)
        return text

    def input(self, name, array, element, dynamic=None):
        self.arguments.append({})
        return super().input(name, array, element, dynamic)

    def floats(self, name, shape, element, dynamic=None, fan_in=0, scale=1.0):
        """Uniform floats; `fan_in` scales them as a weight of that many inputs.
        `scale` other than 1 makes an array that is saved with the case."""
        role = "weight" if fan_in else "uniform"
        array = random_inputs.generate(role, fan_in, element, shape, SEED, len(self.args))
        wide = random_inputs.bf16_values(array) if element == "bf16" else array
        value = self.input(name, np.asarray(wide, np.float32) * np.float32(scale),
                           element, dynamic)
        # Router weights are lists without gaps.
        if len(shape) > 1 and name != "weights":
            self.attributes[value.name] = memory_attributes(shape, element, self.memory)
        if scale == 1.0:
            self.arguments[-1] = {"role": role, "bound": fan_in, "type": element,
                                  "shape": list(shape)}
        return value

    def integers(self, name, values, dynamic=None):
        return self.input(name, np.asarray(values, np.int32), "i32", dynamic)

    def plus(self, name, dim, number):
        """Names the sum of a named dimension and a number."""
        constant = self.constant(number)
        self.sizes[name] = self.fresh(name.lower())
        self.line(f"{self.sizes[name]} = arith.addi {self.sizes[dim]}, {constant} : index")

    def ceildiv(self, name, dim, number):
        """Names the quotient of a named dimension and a number, rounded up."""
        constant = self.constant(number)
        self.sizes[name] = self.fresh(name.lower())
        self.line(f"{self.sizes[name]} = arith.ceildivui {self.sizes[dim]}, {constant} : index")
