# Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Bulk tensor copies: 1 to 5 dimensions, swizzles, out of bounds, steps between
elements, stores and reductions.
"""

import numpy as np

from operands import operand
from snippet import BYTES, EXACT, NAN, Result, Snippet, TensorMap, module

ELEMENT = {"u8": 1, "u16": 2, "u32": 4, "s32": 4, "u64": 8, "s64": 8, "f16": 2, "bf16": 2,
           "f32": 4, "f64": 8, "tf32": 4}
THREADS = 128


def input_of(type_, bytes_):
    """Elements that tell where they come from."""
    size = ELEMENT[type_]
    count = bytes_ // size
    if type_ == "u8":
        return (np.arange(count) % 251).astype("<u1").tobytes()
    if type_ == "tf32":
        return operand("f32", "tensor map", 1, count).astype("<u4").tobytes()
    if size == 2 and type_ != "u16":
        return operand("f16", "tensor map", 1, count).astype("<u2").tobytes()
    step = {2: 1, 4: 0x10001, 8: 0x100000001}[size]
    return (np.arange(count, dtype=np.uint64) * np.uint64(step)).astype(f"<u{size}").tobytes()


def dense(type_, extents, box, padding=0, **more):
    """A map of rows that lie one after the other, `padding` bytes apart."""
    strides, step = [], ELEMENT[type_]
    for index, extent in enumerate(extents[:-1]):
        step *= extent
        step += padding if index == 0 else 0
        strides.append(step)
    return TensorMap(type_, tuple(extents), tuple(strides), tuple(box), **more)


def rows_of(map_):
    steps = map_.element_strides or (1,) * len(map_.box)
    return int(np.prod([-(-b // s) for b, s in zip(map_.box[1:], steps[1:])]))


def bytes_of(map_):
    """Of a box; no elements are left out of the innermost dimension."""
    return map_.box[0] * rows_of(map_) * ELEMENT[map_.type]


def room_of(map_):
    """In shared memory, where rows are as far apart as the swizzle is wide."""
    return map_.swizzle * rows_of(map_) if map_.swizzle else bytes_of(map_)


def reach(map_):
    """Bytes from the first element to behind the last one."""
    if len(map_.extents) == 1:
        return map_.extents[0] * ELEMENT[map_.type]
    return map_.strides[-1] * map_.extents[-1]


SETUP = """
    mov.b32 %t0, dynamic; mov.b32 %t1, barrier; setp.eq.u32 %p, %i, 0
    @%p mbarrier.init.shared.b64 [%t1], 1
    @%p fence.mbarrier_init.release.cluster
    mov.b64 %u0, map0; cvta.param.u64 %u0, %u0
"""
WAIT = """
    $wait:
    mbarrier.try_wait.parity.shared::cta.b64 %q, [%t1], 0
    @!%q bra $wait
"""


def dump(bytes_, to="%out"):
    """Shared memory to the output, 16 bytes a thread and turn."""
    return f"""
        shl.b32 %t2, %i, 4
        $dump:
        setp.ge.u32 %r, %t2, {bytes_}
        @%r bra $dumped
        add.u32 %t3, %t0, %t2; ld.shared.v4.b32 {{%t4, %t5, %t6, %t7}}, [%t3]
        cvt.u64.u32 %u2, %t2; add.u64 %u2, %u2, {to}
        st.global.v4.b32 [%u2], {{%t4, %t5, %t6, %t7}}
        add.u32 %t2, %t2, {16 * THREADS}
        bra $dump
        $dumped:
    """


GLOBALS = ".extern .shared .align 1024 .b8 dynamic[];\n"
BARRIER = ".shared .align 8 .b64 barrier"


def load(name, map_, at, hint=False, space="cluster"):
    rank, size = len(map_.extents), bytes_of(map_)
    # All of a swizzle's pattern is shown, also what the box leaves alone.
    unit = 1024 if map_.swizzle or map_.element_strides else 16
    whole = -(-room_of(map_) // unit) * unit
    coordinates = "{" + ", ".join(str(c) for c in at) + "}"
    opcode = (f"cp.async.bulk.tensor.{rank}d.shared::{space}.global.tile"
              ".mbarrier::complete_tx::bytes")
    policy = ""
    if hint:
        policy = "createpolicy.fractional.L2::evict_first.b64 %u3, 1.0"
        opcode += ".L2::cache_hint"
    body = SETUP + f"""
        mad.lo.u32 %t2, %i, 4, %t0; add.u32 %t4, %t0, {whole}
        mov.b32 %t3, 0x5a5a5a5a
        $fill:
        setp.lt.u32 %s, %t2, %t4
        @%s st.shared.b32 [%t2], %t3
        add.u32 %t2, %t2, {4 * THREADS}
        @%s bra $fill
        fence.proxy.async.shared::cta
        bar.sync 0
        {policy}
        @%p mbarrier.arrive.expect_tx.shared.b64 _, [%t1], {size}
        @%p {opcode} [%t0], [%u0, {coordinates}], [%t1]{', %u3' if hint else ''}
        {WAIT}
        {dump(whole)}"""
    return Snippet("tensor_map", f"load {name} {map_.type} {map_.box} at {at}"
                   + (f" swizzle {map_.swizzle}" if map_.swizzle else ""),
                   module(body, BARRIER, maps=1, globals_=GLOBALS),
                   input_of(map_.type, reach(map_)), [Result("b8", whole)],
                   block=(THREADS, 1, 1), shared=whole, maps=(map_,))


def faulting(snippet):
    snippet.faults = True
    return snippet


def ranks():
    """Boxes inside, over every edge, and far away. What a box starts with must be a
    multiple of 16 bytes in the innermost dimension."""
    extents = (24, 7, 5, 4, 3)
    boxes = (16, 3, 2, 2, 2)
    for rank in range(1, 6):
        for type_ in ("u16", "f32", "u8") if rank == 2 else ("u16",):
            unit = 16 // ELEMENT[type_]
            map_ = dense(type_, (48 if type_ == "u8" else 24,) + extents[1:rank], boxes[:rank], 16)
            inside = (unit, 1, 1, 1, 0)[:rank]
            yield load("inside", map_, inside)
            yield load("before", map_, (-unit, -1, -1, -1, -1)[:rank])
            yield load("behind", map_, (map_.extents[0] - unit, 5, 4, 3, 2)[:rank])
        yield load("far away", map_, (1024,) + (-40,) * (rank - 1))
        yield load("hint", map_, inside, hint=True)


def unaligned():
    """Boxes that start elsewhere: the GPU stops with an illegal instruction."""
    for type_, rank, at in (("u16", 1, (4,)), ("u16", 2, (-3, -1)), ("f32", 2, (15, 5)),
                            ("u8", 2, (4, 1)), ("u16", 5, (15, 5, 4, 3, 2))):
        inner = 32 if type_ == "u8" else 24
        map_ = dense(type_, (inner, 7, 5, 4, 3)[:rank], (16, 3, 2, 2, 2)[:rank], 16)
        name = "behind" if at[0] == 15 else "before" if at[0] < 0 else "inside"
        yield faulting(load(name, map_, at))
    out = {"buffer": "out"}
    yield faulting(store("inside", dense("u16", (24, 7), (16, 3), 16, **out), (4, 1)))
    yield faulting(store("behind", dense("u16", (24,), (16,), 16, **out), (15,)))
    yield faulting(store("2d", dense("f16", (16, 6), (8, 4), **out), (12, 3), "add", NAN))


def element_types():
    for type_ in ELEMENT:
        unit = 16 // ELEMENT[type_]
        at = (32 - unit, 4) if ELEMENT[type_] < 4 else (20, 4)
        map_ = dense(type_, (32, 6), (16, 4))
        yield load("type", map_, at)
        if type_ in ("f16", "bf16", "f32", "f64", "tf32"):
            yield load("fill nan", dense(type_, (32, 6), (16, 4), fill_nan=True), at)
    yield load("shared::cta", dense("u32", (32, 6), (16, 4)), (20, 4), space="cta")


def swizzles():
    for swizzle in (32, 64, 128):
        for type_ in ("bf16", "u8", "f32"):
            inner = swizzle // ELEMENT[type_]
            yield load("swizzle", dense(type_, (2 * inner, 20), (inner, 16), swizzle=swizzle),
                       (0, 0))
            yield load("swizzle", dense(type_, (2 * inner, 20), (inner, 16), swizzle=swizzle),
                       (inner + 16 // ELEMENT[type_], 7))
        narrow = dense("bf16", (64, 20), (swizzle // 4, 9), swizzle=swizzle)
        yield load("narrow swizzle", narrow, (8, -2))
        inner = swizzle // 2
        yield load("swizzle 3d", dense("bf16", (inner, 6, 4), (inner, 4, 3), swizzle=swizzle),
                   (-8, 1, 2))


def element_strides():
    yield load("element strides", dense("u16", (64, 9), (32, 6), element_strides=(2, 1)), (8, 0))
    yield load("element strides", dense("u16", (64, 9), (16, 6), element_strides=(1, 2)), (8, 1))
    yield load("element strides", dense("f32", (64, 9), (24, 6), element_strides=(1, 3)), (52, 4))
    yield load("element strides", dense("bf16", (64, 9, 7), (32, 5, 4), element_strides=(1, 2, 3),
                                        swizzle=64), (0, -1, 1))


def store(name, map_, at, reduce=None, rule=EXACT):
    """The input's second part goes to shared memory, and from there to the output."""
    rank = len(map_.extents)
    whole = -(-room_of(map_) // 16) * 16
    total = reach(map_)
    coordinates = "{" + ", ".join(str(c) for c in at) + "}"
    opcode = f"cp.async.bulk.tensor.{rank}d.global.shared::cta.tile.bulk_group"
    if reduce:
        opcode = f"cp.reduce.async.bulk.tensor.{rank}d.global.shared::cta.{reduce}.tile.bulk_group"
    body = SETUP + f"""
        shl.b32 %t2, %i, 4
        $fill:
        setp.ge.u32 %r, %t2, {total}
        @%r bra $filled
        cvt.u64.u32 %u2, %t2; add.u64 %u3, %u2, %in; add.u64 %u2, %u2, %out
        ld.global.v4.b32 {{%t4, %t5, %t6, %t7}}, [%u3]
        st.global.v4.b32 [%u2], {{%t4, %t5, %t6, %t7}}
        setp.ge.u32 %s, %t2, {whole}
        @%s bra $next
        ld.global.v4.b32 {{%t4, %t5, %t6, %t7}}, [%u3+{total}]
        add.u32 %t3, %t0, %t2
        st.shared.v4.b32 [%t3], {{%t4, %t5, %t6, %t7}}
        $next:
        add.u32 %t2, %t2, {16 * THREADS}
        bra $fill
        $filled:
        fence.proxy.async
        bar.sync 0
        @%p {opcode} [%u0, {coordinates}], [%t0]
        cp.async.bulk.commit_group
        cp.async.bulk.wait_group 0"""
    snippet = Snippet("tensor_map", f"{'reduce ' + reduce if reduce else 'store'} {name} "
                      f"{map_.type} {map_.box} at {at}"
                      + (f" swizzle {map_.swizzle}" if map_.swizzle else ""),
                      module(body, BARRIER, maps=1, globals_=GLOBALS), b"",
                      [Result("b8", total)], block=(THREADS, 1, 1), shared=whole, maps=(map_,))
    if map_.type in ("f16", "bf16", "f32", "f64"):
        size = ELEMENT[map_.type]
        values = operand(map_.type, snippet.name, 0, (total + whole) // size)
        snippet.input = values.astype(f"<u{size}").tobytes()
        snippet.results = [Result(map_.type, total // BYTES[map_.type], rule)]
    else:
        snippet.input = input_of(map_.type, total + whole)
    return snippet


def stores():
    out = {"buffer": "out"}
    extents, boxes = (24, 7, 5, 4, 3), (16, 3, 2, 2, 2)
    for rank in range(1, 6):
        map_ = dense("u16", extents[:rank], boxes[:rank], 16, **out)
        yield store("inside", map_, (8, 1, 1, 1, 0)[:rank])
        yield store("behind", map_, (16, 5, 4, 3, 2)[:rank])
    for swizzle in (32, 64, 128):
        map_ = dense("bf16", (swizzle, 12), (swizzle // 2, 10), swizzle=swizzle, **out)
        for at in ((0, 0), (8, 1), (swizzle // 2 + 8, 5)):
            yield store("swizzle", map_, at)
        narrow = dense("bf16", (swizzle, 12), (swizzle // 4, 10), swizzle=swizzle, **out)
        yield store("narrow swizzle", narrow, (8, 1))
    # Only loads may begin before the tensor: the GPU stops with an illegal instruction.
    for at in ((8, -1), (-8, 1), (-24, 1)):
        yield faulting(store("before", dense("u16", (24, 7), (16, 3), 16, **out), at))
    yield faulting(store("2d", dense("u32", (16, 6), (8, 4), **out), (-4, 3), "add"))
    for op, type_ in (("add", "u32"), ("add", "s32"), ("min", "s32"), ("max", "u32"),
                      ("and", "u32"), ("or", "u32"), ("xor", "u32"), ("add", "u64"),
                      ("inc", "u32"), ("dec", "u32"), ("add", "f32"), ("add", "f16"),
                      ("add", "bf16"), ("add", "f64"), ("min", "f16"), ("max", "bf16")):
        at = (8 if ELEMENT[type_] == 2 else 12, 3)
        yield store("2d", dense(type_, (16, 6), (8, 4), **out), at, op, NAN)


def snippets():
    for family in (ranks, unaligned, element_types, swizzles, element_strides, stores):
        yield from family()
