# Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""ldmatrix, stmatrix, movmatrix and mma.sync.

Sums of a matrix product are exact where all operands are small integers. Else
hardware aligns the products of a few k to the largest of them and cuts bits off:
below 2^-24 of it or so, and for 8-bit floats in wgmma below 2^-13. With
S = k max|a| max|b| + max|c|, sums may differ by ERROR[type of the sum] S. The
largest difference from exact sums that was recorded is 2^-25 S for f32, 2^-15.4 S
for 8-bit floats in wgmma, and 2^-15 S for f16.
"""

import functools

import numpy as np

from operands import FLOATS, moderate_floats
from snippet import BYTES, EXACT, Result, Snippet, close, module, random_bits

ERROR = {"f32": 2.0 ** -23, "f16": 2.0 ** -12, "f64": 2.0 ** -50, "f32 of f8": 2.0 ** -14}

BITS = {"f16": 16, "bf16": 16, "tf32": 32, "e4m3": 8, "e5m2": 8, "s8": 8, "u8": 8, "s4": 4,
        "u4": 4, "b1": 1, "f64": 64, "f32": 32, "s32": 32}


@functools.lru_cache(None)
def codes_of_8_bits(kind):
    """What the 256 codes mean."""
    exponent, mantissa = (4, 3) if kind == "e4m3" else (5, 2)
    bias = (1 << (exponent - 1)) - 1
    out = []
    for code in range(256):
        power, fraction = (code >> mantissa) & ((1 << exponent) - 1), code & ((1 << mantissa) - 1)
        if kind == "e4m3" and code & 0x7F == 0x7F:
            value = np.nan
        elif kind == "e5m2" and power == 31:
            value = np.nan if fraction else np.inf
        elif power == 0:
            value = fraction * 2.0 ** (1 - bias - mantissa)
        else:
            value = (1 + fraction / (1 << mantissa)) * 2.0 ** (power - bias)
        out.append(-value if code & 128 else value)
    return np.array(out)


def values_of(kind, bits):
    """The numbers that the bits of floats stand for."""
    bits = bits.astype(np.uint64)
    if kind in ("e4m3", "e5m2"):
        return codes_of_8_bits(kind)[bits.astype(int)]
    if kind == "f16":
        return bits.astype(np.uint16).view(np.float16).astype(float)
    if kind == "bf16":
        return (bits << np.uint64(16)).astype(np.uint32).view(np.float32).astype(float)
    if kind == "f64":
        return bits.view(np.float64)
    return bits.astype(np.uint32).view(np.float32).astype(float)


def bits_of(kind, numbers):
    """The bits of numbers that the type can represent."""
    numbers = np.asarray(numbers)
    if kind in ("e4m3", "e5m2"):
        table = {v: i for i, v in reversed(list(enumerate(codes_of_8_bits(kind))))}
        return np.array([table[float(v)] for v in numbers], dtype=np.uint64)
    if kind == "f16":
        return numbers.astype(np.float16).view(np.uint16).astype(np.uint64)
    if kind == "f64":
        return numbers.astype(np.float64).view(np.uint64)
    words = numbers.astype(np.float32).view(np.uint32).astype(np.uint64)
    return words >> np.uint64(16) if kind == "bf16" else words


# NaN, infinity where there is one, zeros, denormals.
SPECIAL_8 = {"e4m3": np.array([0x7F, 0xFF, 0x00, 0x80, 0x01, 0x87], dtype=np.uint64),
             "e5m2": np.array([0x7C, 0xFC, 0x7E, 0x00, 0x80, 0x01, 0x83], dtype=np.uint64)}


def elements(kind, how, key, count):
    """Bits of `count` elements.

    small     integers in [-4, 4], zero a quarter of the time
    random    within a few powers of two of 1; all bits for integer types
    special   random, and a few infinities, NaNs, denormals and zeros
    tiny      denormals; the other operand is to be `large`
    large     numbers about as far from 1 as the denormals are, or near the largest
    """
    bits = random_bits(f"{key}/{how}", count, 32)
    if kind[0] in "su" or kind == "b1":
        return random_bits(key, count, BITS[kind])
    if how == "small":
        numbers = (bits % np.uint64(9)).astype(int) - 4
        return bits_of(kind, np.where(bits & np.uint64(0x30000) == 0, 0, numbers))
    if kind in ("e4m3", "e5m2"):
        codes = codes_of_8_bits(kind)
        usable = np.flatnonzero((np.abs(codes) <= 16) & (np.abs(codes) >= 2.0 ** -4))
        out = usable[(bits % np.uint64(len(usable))).astype(int)].astype(np.uint64)
        special = SPECIAL_8[kind][(bits % np.uint64(len(SPECIAL_8[kind]))).astype(int)]
        return np.where(bits >> np.uint64(26) == 0, special, out) if how == "special" else out
    base = "f32" if kind == "tf32" else kind
    exponent, mantissa = FLOATS[base]
    sign = (bits >> np.uint64(31)) << np.uint64(exponent + mantissa)
    out = moderate_floats(base, key, count)
    fraction = out & np.uint64((1 << mantissa) - 1)
    if how == "special":
        top = ((1 << exponent) - 1) << mantissa
        hard = np.array([top, top | 1 << (mantissa - 1), top, 0, 1 << (mantissa - 7), 3,
                         1 << mantissa], dtype=np.uint64)
        out = np.where(bits >> np.uint64(26) == 0, sign | hard[(bits % np.uint64(7)).astype(int)],
                       out)
    elif how == "tiny":
        out = sign | fraction
    elif how == "large":
        power = (1 << (exponent - 1)) - 1 + min((1 << (exponent - 1)) - 8, 100)
        out = sign | fraction | np.uint64(power << mantissa)
    if kind == "tf32":  # the low bits are not read
        out &= np.uint64(0xFFFFE000)
    return out


def words(bits, width):
    """Elements packed, the first in the lowest bits."""
    if width == 64:
        return bits.astype("<u8").tobytes()
    if width >= 8:
        return bits.astype(f"<u{width // 8}").tobytes()
    per = 8 // width
    parts = bits.reshape(-1, per) << (np.arange(per, dtype=np.uint64) * np.uint64(width))
    return parts.sum(axis=1).astype(np.uint8).tobytes()


def sum_rule(sum_, kind, how, k, a, b, c, other=None, wgmma=False):
    """How sums of k products of the elements a and b, and c, are compared."""
    if sum_ == "s32" or how == "small":
        return EXACT
    key = "f32 of f8" if wgmma and kind in ("e4m3", "e5m2") and sum_ == "f32" else sum_

    def largest(values, of):
        with np.errstate(invalid="ignore"):
            numbers = np.abs(values_of(of, values))
        return float(np.max(numbers[np.isfinite(numbers)]))

    scale = k * largest(a, kind) * largest(b, other or kind) + largest(c, sum_)
    return close(0, ERROR[key] * scale)


# Shape, registers of A and of B in a thread.
HALF_SHAPES = (("m16n8k8", 2, 1), ("m16n8k16", 4, 2))


def mma_forms():
    """(opcode, type of a, of b, of the sum, registers of a, b, c, k)"""
    for shape, a, b in HALF_SHAPES:
        k = int(shape.split("k")[1])
        for sum_ in ("f32", "f16"):
            yield (f"mma.sync.aligned.{shape}.row.col.{sum_}.f16.f16.{sum_}", "f16", "f16", sum_,
                   a, b, 4 if sum_ == "f32" else 2, k)
        yield (f"mma.sync.aligned.{shape}.row.col.f32.bf16.bf16.f32", "bf16", "bf16", "f32",
               a, b, 4, k)
    for shape, a, b in (("m16n8k4", 2, 1), ("m16n8k8", 4, 2)):
        k = int(shape.split("k")[1])
        yield (f"mma.sync.aligned.{shape}.row.col.f32.tf32.tf32.f32", "tf32", "tf32", "f32",
               a, b, 4, k)
    for x in ("e4m3", "e5m2"):
        for y in ("e4m3", "e5m2"):
            yield f"mma.sync.aligned.m16n8k32.row.col.f32.{x}.{y}.f32", x, y, "f32", 4, 2, 4, 32
    for x in ("s8", "u8"):
        for y in ("s8", "u8"):
            for shape, a, b, c in (("m8n8k16", 1, 1, 2), ("m16n8k16", 2, 1, 4),
                                   ("m16n8k32", 4, 2, 4)):
                k = int(shape.split("k")[1])
                for sat in ("", ".satfinite"):
                    if sat and (x != "s8" or y != "s8"):
                        continue
                    yield (f"mma.sync.aligned.{shape}.row.col{sat}.s32.{x}.{y}.s32", x, y, "s32",
                           a, b, c, k)
    for x, y in (("s4", "s4"), ("u4", "s4"), ("u4", "u4")):
        for shape, a, b, c in (("m8n8k32", 1, 1, 2), ("m16n8k32", 2, 1, 4), ("m16n8k64", 4, 2, 4)):
            yield (f"mma.sync.aligned.{shape}.row.col.s32.{x}.{y}.s32", x, y, "s32", a, b, c,
                   int(shape.split("k")[1]))
    for op in ("and", "xor"):
        for shape, a, b, c in (("m8n8k128", 1, 1, 2), ("m16n8k128", 2, 1, 4),
                               ("m16n8k256", 4, 2, 4)):
            yield (f"mma.sync.aligned.{shape}.row.col.s32.b1.b1.s32.{op}.popc", "b1", "b1", "s32",
                   a, b, c, int(shape.split("k")[1]))
    for shape, a, b, c in (("m8n8k4", 1, 1, 2), ("m16n8k4", 2, 1, 4), ("m16n8k8", 4, 2, 4),
                           ("m16n8k16", 8, 4, 4)):
        yield (f"mma.sync.aligned.{shape}.row.col.f64.f64.f64.f64", "f64", "f64", "f64", a, b, c,
               int(shape.split("k")[1]))


def mma():
    for opcode, x, y, sum_, na, nb, nc, k in mma_forms():
        hows = ("any",) if sum_ == "s32" else ("small", "random", "special")
        if sum_ == "f32" and BITS[x] > 8:
            hows += ("tiny",)
        for how in hows:
            yield one_mma(opcode, x, y, sum_, na, nb, nc, k, how)


def registers(prefix, count):
    return "{" + ", ".join(f"%{prefix}{i}" for i in range(count)) + "}"


def one_mma(opcode, x, y, sum_, na, nb, nc, k, how):
    wide = sum_ == "f64"
    bits, size = ("b64", 8) if wide else ("b32", 4)
    key = opcode + how
    per = 64 if wide else 32
    a = elements(x, how, key + "a", 32 * na * per // BITS[x])
    b = elements(y, "large" if how == "tiny" else how, key + "b", 32 * nb * per // BITS[y])
    c = elements(sum_, how if sum_ != "s32" else "any", key + "c", 32 * nc * per // BITS[sum_])
    body, offset = [], 0
    for prefix, count, data in (("a", na, a), ("b", nb, b), ("c", nc, c)):
        body.append(f"mad.wide.u32 %at, %i, {size * count}, %in")
        for i in range(count):
            body.append(f"ld.global.{bits} %{prefix}{i}, [%at+{offset + size * i}]")
        offset += 32 * size * count
    body.append(f"{opcode} {registers('d', nc)}, {registers('a', na)}, {registers('b', nb)}, "
                f"{registers('c', nc)}")
    body.append(f"mad.wide.u32 %at, %i, {size * nc}, %out")
    for i in range(nc):
        body.append(f"st.global.{bits} [%at+{size * i}], %d{i}")
    declarations = f".reg .{bits} %a<{na}>, %b<{nb}>, %c<{nc}>, %d<{nc}>"
    kind = sum_ if sum_ != "s32" else "b32"
    data = words(a, BITS[x]) + words(b, BITS[y]) + words(c, BITS[sum_])
    return Snippet("mma", f"{opcode} {how}", module("\n".join(body), declarations), data,
                   [Result(kind, 32 * nc * size // BYTES[kind],
                           sum_rule(sum_, x, how, k, a, b, c, y))])


def matrix_moves():
    """Rows lie anywhere in 4 KiB of shared memory, 16 bytes aligned."""
    for op in ("ldmatrix", "stmatrix"):
        for count in (1, 2, 4):
            for trans in ("", ".trans"):
                for space in ("shared", "shared::cta") if count == 4 else ("shared",):
                    name = f"{op}.sync.aligned.m8n8.x{count}{trans}.{space}.b16"
                    yield matrix_move(op, name, count)
    yield Snippet("mma", "movmatrix.sync.aligned.m8n8.trans.b16", module("""
        mad.wide.u32 %u0, %i, 4, %in; mad.wide.u32 %u1, %i, 4, %out
        ld.global.b32 %t0, [%u0]; movmatrix.sync.aligned.m8n8.trans.b16 %t1, %t0
        st.global.b32 [%u1], %t1"""), random_bits("movmatrix", 16).astype("<u8").tobytes(),
        [Result("b32", 32)])


def matrix_move(op, name, count):
    order = np.argsort(random_bits(name + "/rows", 256))[:32] * 16
    data = random_bits(name, 512).astype("<u8").tobytes() + order.astype("<u4").tobytes()
    regs = "{" + ", ".join(f"%t{8 + i}" for i in range(count)) + "}"
    fill = """
        mov.b32 %t0, cells
        mov.b32 %t1, 0
        $fill:
        mad.lo.u32 %t2, %t1, 512, 0; mad.lo.u32 %t2, %i, 16, %t2
        cvt.u64.u32 %u0, %t2; add.u64 %u1, %u0, %in; add.u32 %t3, %t0, %t2
        ld.global.v4.b32 {%t4, %t5, %t6, %t7}, [%u1]
        st.shared.v4.b32 [%t3], {%t4, %t5, %t6, %t7}
        add.u32 %t1, %t1, 1; setp.lt.u32 %p, %t1, 8
        @%p bra $fill
        bar.sync 0
        mad.wide.u32 %u2, %i, 4, %in; ld.global.b32 %t1, [%u2+4096]; add.u32 %t1, %t1, %t0
        """
    if op == "ldmatrix":
        body = fill + f"""
            {name} {regs}, [%t1]
            mad.wide.u32 %u3, %i, {4 * count}, %out
            """ + "\n".join(f"st.global.b32 [%u3+{4 * i}], %t{8 + i}" for i in range(count))
        results = [Result("b32", 32 * count)]
    else:
        # Four values of the thread are stored; the first KiB is dumped, and
        # rows go there.
        order = np.argsort(random_bits(name + "/rows", 64))[:32] * 16
        data = data[:4096] + order.astype("<u4").tobytes()
        body = fill + "\n".join(
            f"mad.lo.u32 %t{8 + i}, %i, {0x10203 + 2 * i}, {7 + 1000 * i}" for i in range(count)
        ) + f"""
            {name} [%t1], {regs}
            bar.sync 0
            mov.b32 %t1, 0
            $dump:
            mad.lo.u32 %t2, %t1, 512, 0; mad.lo.u32 %t2, %i, 16, %t2
            cvt.u64.u32 %u0, %t2; add.u64 %u1, %u0, %out; add.u32 %t3, %t0, %t2
            ld.shared.v4.b32 {{%t4, %t5, %t6, %t7}}, [%t3]
            st.global.v4.b32 [%u1], {{%t4, %t5, %t6, %t7}}
            add.u32 %t1, %t1, 1; setp.lt.u32 %p, %t1, 2
            @%p bra $dump"""
        results = [Result("b32", 256)]
    return Snippet("mma", name, module(body, ".shared .align 16 .b8 cells[4096]"), data, results)


def snippets():
    yield from matrix_moves()
    yield from mma()
