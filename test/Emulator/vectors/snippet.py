# Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What a snippet is: one PTX module, its input, and how its output is compared.

Every module has one entry, `k(in, out, map0, map1, ...)`: two addresses of global
memory and the tensor maps, byval. `out` is zero before the launch.
"""

import dataclasses
import hashlib

import numpy as np

THREADS = 160  # of an elementwise snippet: one value each

HEADER = """.version 8.6
.target sm_90a
.address_size 64
"""


@dataclasses.dataclass(frozen=True)
class Rule:
    """How an array of results is compared with the recorded one.

    exact   bit for bit
    nan     bit for bit, but any NaN is as good as another
    close   within relative * |recorded| + absolute; NaN where NaN is, and
            infinities equal. Both sides may be off by the ISA's error of an
            approx function, so the numbers here are twice that.
    """

    kind: str = "exact"
    relative: float = 0.0
    absolute: float = 0.0


EXACT = Rule()
NAN = Rule("nan")


def close(relative=0.0, absolute=0.0):
    return Rule("close", relative, absolute)


@dataclasses.dataclass(frozen=True)
class Result:
    """`count` values of `type` in the output, which lie where the last result ends."""

    type: str  # b8, b16, b32, b64, f16, bf16, f32, f64
    count: int
    rule: Rule = EXACT
    name: str = ""


BYTES = {"b8": 1, "b16": 2, "b32": 4, "b64": 8, "f16": 2, "bf16": 2, "f32": 4, "f64": 8}


@dataclasses.dataclass(frozen=True)
class TensorMap:
    """Arguments of cuTensorMapEncodeTiled; innermost first, strides in bytes."""

    type: str  # u8, u16, u32, f16, bf16, f32, ...
    extents: tuple
    strides: tuple  # of dimensions 1, 2, ...
    box: tuple
    element_strides: tuple = ()
    swizzle: int = 0  # 0, 32, 64 or 128 bytes
    fill_nan: bool = False
    buffer: str = "in"
    offset: int = 0  # of the buffer, bytes


@dataclasses.dataclass
class Snippet:
    group: str
    name: str
    ptx: str
    input: bytes
    results: list
    grid: tuple = (1, 1, 1)
    block: tuple = (32, 1, 1)
    shared: int = 0  # dynamic, bytes
    maps: tuple = ()
    faults: bool = False  # hardware refuses it

    @property
    def output_bytes(self):
        return sum(BYTES[r.type] * r.count for r in self.results)

    def digest(self):
        """Changes with everything that the hardware's answer depends on."""
        what = repr((self.ptx, self.output_bytes, self.grid, self.block, self.shared, self.maps))
        return hashlib.sha256(what.encode() + self.input).digest()[:8]


# Random bits, the same with every version of NumPy.


def random_bits(key, count, width=64):
    """`count` unsigned integers of `width` bits that only the key decides."""
    seed = int.from_bytes(hashlib.sha256(key.encode()).digest()[:8], "little")
    with np.errstate(over="ignore"):
        z = np.uint64(seed) + np.arange(1, count + 1, dtype=np.uint64) * np.uint64(
            0x9E3779B97F4A7C15)
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        z ^= z >> np.uint64(31)
    return z >> np.uint64(64 - width)


# Kernels.

PREAMBLE = """.visible .entry k(.param .b64 in, .param .b64 out{maps})
{attributes}{{
\t.reg .pred %p, %q, %r, %s;
\t.reg .b16 %h<8>;
\t.reg .b32 %t<16>, %i;
\t.reg .b64 %u<16>, %in, %out, %at;
{declarations}
\tld.param.b64 %in, [in];
\tld.param.b64 %out, [out];
\tcvta.to.global.u64 %in, %in;
\tcvta.to.global.u64 %out, %out;
\tmov.u32 %i, %tid.x;
"""


def lines(text):
    """PTX, one instruction a line, indented."""
    out = []
    for line in text.replace("\n", ";").split(";"):
        line = line.strip()
        if line.startswith("$") and line.endswith(":"):
            out.append(line)
        elif line in ("{", "}"):
            out.append("\t" + line)
        elif line:
            out.append("\t" + line + ";")
    return "\n".join(out) + "\n"


def module(body, declarations="", maps=0, attributes="", globals_=""):
    """The text of a module around `body`, which ends without `ret`."""
    parameters = "".join(f", .param .align 64 .b8 map{i}[128]" for i in range(maps))
    text = HEADER + globals_ + PREAMBLE.format(
        maps=parameters, attributes=attributes, declarations=lines(declarations))
    return text + lines(body) + "\tret;\n}\n"


def width_of(register):
    return int(register[1:])


def elementwise(group, name, body, inputs, outputs, declarations="", block=None):
    """Thread i applies `body` to the i-th value of every input.

    Inputs are (register type, array), in %a, %b, %c, ...; outputs are (register
    type, type of the result, rule), from %d, %e, ... of the body.
    """
    count = len(inputs[0][1])
    text, offset = [], 0
    names = iter("abcwxyz")
    declared = [declarations]
    for register, values in inputs:
        name_, size = next(names), width_of(register) // 8
        declared.append(f".reg .{register} %{name_}")
        text.append(f"mad.wide.u32 %at, %i, {size}, %in")
        text.append(f"ld.global.{register} %{name_}, [%at+{offset}]")
        offset += size * count
    text.append(body)
    offset = 0
    results = []
    for name_, (register, kind, rule) in zip("defg", outputs):
        size = width_of(register) // 8
        declared.append(f".reg .{register} %{name_}")
        text.append(f"mad.wide.u32 %at, %i, {size}, %out")
        text.append(f"st.global.{register} [%at+{offset}], %{name_}")
        offset += size * count
        results.append(Result(kind, size * count // BYTES[kind], rule, name_))
    data = b"".join(
        np.ascontiguousarray(values).astype(f"<u{width_of(register) // 8}").tobytes()
        for register, values in inputs)
    return Snippet(group, name, module("\n".join(text), "\n".join(declared)), data, results,
                   block=(block or count, 1, 1))
