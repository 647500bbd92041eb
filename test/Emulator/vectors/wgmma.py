# Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""wgmma.mma_async: types, shapes, both sources of A, layouts, transposes, scales.

Shared memory is full of elements of the type, so that every descriptor whose
extent lies inside names a legal matrix, and where each element is taken from
shows in the product.
"""

import numpy as np

from matrices import BITS, elements, sum_rule, words
from snippet import BYTES, Result, Snippet, module

SHARED = 40960
LAYOUT = {0: 0, 128: 1, 64: 2, 32: 3}  # bits 62 and 63 of a descriptor
MIX = 128  # wider products are recorded as one mixed word a thread

FILL = f"""
    mov.b32 %t0, dynamic
    mov.b32 %t1, 0
    $fill:
    mul.lo.u32 %t2, %t1, 2048; mad.lo.u32 %t2, %i, 16, %t2
    cvt.u64.u32 %u0, %t2; add.u64 %u1, %u0, %in; add.u32 %t3, %t0, %t2
    ld.global.v4.b32 {{%t4, %t5, %t6, %t7}}, [%u1]
    st.shared.v4.b32 [%t3], {{%t4, %t5, %t6, %t7}}
    add.u32 %t1, %t1, 1; setp.lt.u32 %p, %t1, {SHARED // 2048}
    @%p bra $fill
    fence.proxy.async.shared::cta
    bar.sync 0
"""


def descriptor(register, offset, leading, stride, swizzle):
    """Code that puts a descriptor into a register; all numbers in bytes."""
    constant = (leading >> 4) << 16 | (stride >> 4) << 32 | LAYOUT[swizzle] << 62
    return f"""
        add.u32 %t1, %t0, {offset}; and.b32 %t1, %t1, 0x3ffff; shr.u32 %t1, %t1, 4
        cvt.u64.u32 {register}, %t1; or.b64 {register}, {register}, 0x{constant:x}
    """


class Product:
    """One wgmma. `a` and `b` are (offset, leading, stride, swizzle) of their
    descriptors; a is None where it comes from registers."""

    def __init__(self, x, sum_, n, a, b, y=None, how="small", transpose=(0, 0), scale_d=1,
                 signs=(1, 1), suffix="", steps=1, what=""):
        self.x, self.y, self.sum, self.n, self.a, self.b = x, y or x, sum_, n, a, b
        self.how, self.transpose, self.scale_d = how, transpose, scale_d
        self.signs, self.suffix, self.steps = signs, suffix, steps
        self.what = what

    @property
    def k(self):
        return 256 // BITS[self.x]

    @property
    def opcode(self):
        middle = ".b1.b1.and.popc" if self.x == "b1" else f".{self.x}.{self.y}"
        return (f"wgmma.mma_async.sync.aligned.m64n{self.n}k{self.k}.{self.sum}"
                f"{middle}").replace(".and.popc", "") + (
                    ".and.popc" if self.x == "b1" else self.suffix)

    @property
    def name(self):
        parts = [self.opcode, self.what, "A registers" if self.a is None else f"A {self.a}",
                 f"B {self.b}", self.how]
        if self.transpose != (0, 0):
            parts.append(f"transpose {self.transpose}")
        if self.scale_d != 1:
            parts.append(f"scale-d {self.scale_d}")
        if self.signs != (1, 1):
            parts.append(f"signs {self.signs}")
        if self.steps != 1:
            parts.append(f"{self.steps} steps")
        return " ".join(p for p in parts if p)

    def operands(self, count):
        regs = "{" + ", ".join(f"%d{i}" for i in range(count)) + "}"
        a = "{%a0, %a1, %a2, %a3}" if self.a is None else "%u4"
        out = f"{regs}, {a}, %u5, %p"
        if self.sum != "s32":
            out += f", {self.signs[0]}, {self.signs[1]}"
            if self.x in ("f16", "bf16"):
                turns = self.transpose[1:] if self.a is None else self.transpose
                out += "".join(f", {t}" for t in turns)
        return out

    def snippet(self):
        count = self.n // 2 if self.sum != "f16" else self.n // 4
        key = f"{self.x} {self.y} {self.how}"
        low = elements(self.x, self.how, key, SHARED // 2 * 8 // BITS[self.x])
        high = elements(self.y, self.how, key + "/b", SHARED // 2 * 8 // BITS[self.y])
        registers = elements(self.x, self.how, key + "/registers", 128 * 128 // BITS[self.x])
        # The sums start with a small number that differs per register.
        body = [FILL]
        if self.a is None:
            body.append(f"mad.wide.u32 %u1, %i, 16, %in; "
                        f"ld.global.v4.b32 {{%a0, %a1, %a2, %a3}}, [%u1+{SHARED}]")
        else:
            body.append(descriptor("%u4", *self.a))
        body.append(descriptor("%u5", *self.b))
        for i in range(count):
            body.append(f"add.u32 %t2, %i, {3 * i}; and.b32 %t2, %t2, 7")
            if self.sum == "f32":
                body.append(f"cvt.rn.f32.u32 %d{i}, %t2")
            elif self.sum == "f16":
                body.append(f"cvt.rn.f16.u32 %h0, %t2; mov.b32 %d{i}, {{%h0, %h0}}")
            else:
                body.append(f"mov.b32 %d{i}, %t2")
        body.append(f"mov.b32 %t2, {self.scale_d}; setp.ne.b32 %p, %t2, 0")
        body.append("wgmma.fence.sync.aligned")
        for step in range(self.steps):
            if step:  # along K, as kernels do it: 32 bytes on
                if self.a is not None:
                    body.append("add.s64 %u4, %u4, 2")
                body.append("add.s64 %u5, %u5, 2; mov.b32 %t2, 1; setp.ne.b32 %p, %t2, 0")
            body.append(f"{self.opcode} {self.operands(count)}")
        body.append("wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0")
        kind = self.sum if self.sum != "s32" else "b32"
        rule = sum_rule(self.sum, self.x, self.how, self.k * self.steps, low, high,
                        np.zeros(1, dtype=np.uint64), self.y, wgmma=True)
        if self.n >= MIX and rule.kind == "exact":
            body.append("mov.b32 %t3, 0")
            body += [f"mad.lo.u32 %t3, %t3, 0x01000193, %d{i}" for i in range(count)]
            body.append("mad.wide.u32 %at, %i, 4, %out; st.global.b32 [%at], %t3")
            results = [Result("b32", 128)]
        else:
            body.append(f"mad.wide.u32 %at, %i, {4 * count}, %out")
            body += [f"st.global.b32 [%at+{4 * i}], %d{i}" for i in range(count)]
            results = [Result(kind, 128 * count * 4 // BYTES[kind], rule)]
        declarations = f".reg .b32 %a<4>, %d<{count}>"
        text = module("\n".join(body), declarations,
                      globals_=".extern .shared .align 1024 .b8 dynamic[];\n")
        data = words(low, BITS[self.x]) + words(high, BITS[self.y]) + words(
            registers, BITS[self.x])
        return Snippet("wgmma", self.name, text, data, results, block=(128, 1, 1), shared=SHARED)


# Descriptors of matrices whose rows lie along K; A in the lower half, B above.
B_AT = SHARED // 2


def along_k(offset, swizzle):
    """8 rows are `swizzle` bytes each; without a swizzle, core matrices of 128
    bytes, two along K, 8 rows apart."""
    return (offset, 128, 256, 0) if swizzle == 0 else (offset, 16, 8 * swizzle, swizzle)


def types():
    pairs = [("f16", "f16", "f32"), ("f16", "f16", "f16"), ("bf16", "bf16", "f32"),
             ("tf32", "tf32", "f32")]
    pairs += [(x, y, s) for x in ("e4m3", "e5m2") for y in ("e4m3", "e5m2") for s in ("f32", "f16")]
    pairs += [(x, y, "s32") for x in ("s8", "u8") for y in ("s8", "u8")] + [("b1", "b1", "s32")]
    for x, y, sum_ in pairs:
        for how in ("any",) if sum_ == "s32" else ("small", "random", "special"):
            for a in (along_k(0, 128), None):
                if how == "special" and a is None:
                    continue
                yield Product(x, sum_, 8, a, along_k(B_AT, 128), y, how)
    for x in ("s8", "u8"):
        yield Product(x, "s32", 8, along_k(0, 128), along_k(B_AT, 128), suffix=".satfinite",
                      how="any")


def shapes():
    for n in (16, 24, 32, 40, 48, 64, 96, 104, 128, 160, 192, 256):
        small = n * 128 > SHARED - B_AT
        swizzle = 64 if small else 128
        yield Product("bf16", "f32", n, along_k(0, 128), along_k(B_AT, swizzle))
    yield Product("f16", "f16", 256, None, along_k(B_AT, 64))
    yield Product("e4m3", "f32", 64, None, along_k(B_AT, 128))
    yield Product("e4m3", "f32", 256, along_k(0, 64), along_k(B_AT, 64))
    yield Product("s8", "s32", 128, along_k(0, 128), along_k(B_AT, 128), how="any")
    yield Product("tf32", "f32", 128, along_k(0, 128), along_k(B_AT, 128))


def layouts():
    for x, sum_ in (("bf16", "f32"), ("e4m3", "f32"), ("tf32", "f32"), ("s8", "s32")):
        for swizzle in (0, 32, 64, 128):
            how = "small" if sum_ == "f32" else "any"
            yield Product(x, sum_, 16, along_k(0, swizzle), along_k(B_AT, swizzle), how=how,
                          what="layouts")
    # Other distances than the dense ones; A and B differ.
    yield Product("bf16", "f32", 24, (64, 2048, 160, 0), (B_AT + 32, 160, 2048, 0))
    yield Product("bf16", "f32", 16, (0, 16, 2048, 128), (B_AT, 16, 1024, 64))
    yield Product("bf16", "f32", 16, (0, 16, 1024, 32), (B_AT, 16, 512, 32))
    # Along K inside the swizzled rows, one step and several.
    for swizzle in (32, 64, 128):
        for step in range(1, swizzle // 32):
            yield Product("bf16", "f32", 16, along_k(32 * step, swizzle),
                          along_k(B_AT + 32 * step, swizzle), what=f"step {step}")
    yield Product("bf16", "f32", 16, along_k(0, 128), along_k(B_AT, 128), steps=4)
    yield Product("bf16", "f32", 16, along_k(0, 128), along_k(B_AT, 128), steps=4, scale_d=0)
    yield Product("f16", "f16", 16, along_k(0, 128), along_k(B_AT, 128), steps=4, scale_d=0)
    yield Product("bf16", "f32", 16, along_k(0, 128), along_k(B_AT, 128), steps=4, how="random")
    yield Product("e4m3", "f32", 16, along_k(0, 128), along_k(B_AT, 128), steps=4, how="random")


def transposed():
    """Rows of one matrix or both lie along M or N. Their groups of 8 along K and
    pieces along M or N are the two distances of the descriptor."""
    for x in ("bf16", "f16"):
        for swizzle in (0, 32, 64, 128):
            for leading, stride in ((1024, 2048), (2048, 1024), (4096, 1536)):
                if swizzle == 128 and stride % 1024:
                    continue
                for turn in ((1, 0), (0, 1), (1, 1)):
                    if x == "f16" and (turn != (1, 1) or leading == 4096):
                        continue
                    a = (0, leading, stride, swizzle) if turn[0] else along_k(0, 128)
                    n = 16 if swizzle == 32 or swizzle == 0 else 72
                    b = (B_AT, leading, stride, swizzle) if turn[1] else along_k(B_AT, 128)
                    yield Product(x, "f32", n if turn[1] else 16, *clip(a, b), transpose=turn)
    yield Product("bf16", "f32", 128, None, (B_AT, 4096, 1024, 128), transpose=(0, 1))
    yield Product("bf16", "f32", 256, None, (B_AT, 4096, 1024, 128), transpose=(0, 1))


def clip(a, b):
    """Keeps what A without a swizzle, 8 pieces along M, reaches inside the half."""
    if a[3] == 0 and max(a[1], a[2]) > 2048:
        a = (a[0], min(a[1], 2048), min(a[2], 2048), 0)
    return a, b


def scales():
    for x, sum_ in (("bf16", "f32"), ("f16", "f16"), ("tf32", "f32"), ("e4m3", "f32"),
                    ("s8", "s32")):
        how = "any" if sum_ == "s32" else "small"
        yield Product(x, sum_, 8, along_k(0, 128), along_k(B_AT, 128), scale_d=0, how=how)
        if sum_ == "s32":
            continue
        for signs in ((-1, 1), (1, -1), (-1, -1)):
            yield Product(x, sum_, 8, along_k(0, 128), along_k(B_AT, 128), signs=signs)
        yield Product(x, sum_, 8, None, along_k(B_AT, 128), signs=(-1, 1), scale_d=0)


def snippets():
    seen = set()
    for family in (types, shapes, layouts, transposed, scales):
        for product in family():
            if product.name not in seen:
                seen.add(product.name)
                yield product.snippet()
