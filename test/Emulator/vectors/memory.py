# Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Loads, stores, cp.async, and atomics of every type."""

import numpy as np

from operands import FLOATS, operand, packed
from snippet import BYTES, EXACT, NAN, Result, Snippet, elementwise, module, random_bits

COUNT = 64


def plain(group, name, body, results, count=COUNT, bytes_=None, declarations="", **more):
    """`body` addresses memory by itself; the input is `bytes_` random bytes."""
    data = random_bits(name, (bytes_ or 16 * count) // 8).astype("<u8").tobytes()
    keys = {k: more.pop(k) for k in ("globals_", "attributes") if k in more}
    return Snippet(group, name, module(body, declarations, **keys), data, results,
                   block=(count, 1, 1), **more)


def loads():
    at = "mad.wide.u32 %u0, %i, {step}, %in; mad.wide.u32 %u1, %i, {to}, %out\n"
    for type_ in ("b8", "u8", "s8", "b16", "u16", "s16", "b32", "u32", "s32", "f32", "b64",
                  "u64", "s64", "f64"):
        size = int(type_[1:]) // 8
        for target in (16, 32, 64):
            if target < 8 * size or (type_[0] == "f" and target != 8 * size):
                continue
            register = {16: "%h0", 32: "%t0", 64: "%u2"}[target]
            yield plain("memory", f"ld.global.{type_} into {target}", at.format(
                step=size, to=target // 8) + f"""
                ld.global.{type_} {register}, [%u0]
                st.global.b{target} [%u1], {register}""", [Result(f"b{target}", COUNT)])
    for type_ in ("b8", "u8", "s8", "b16", "u16", "b32", "f32"):
        size = int(type_[1:]) // 8
        yield plain("memory", f"st.global.{type_} of 64" if size < 4 else f"st.global.{type_}",
                    at.format(step=8, to=size) + f"""
            ld.global.b64 %u2, [%u0]; cvt.u32.u64 %t0, %u2
            st.global.{type_} [%u1], {'%u2' if size < 4 else '%t0'}""",
            [Result(f"b{8 * size}", COUNT)])
    for type_, parts in (("b8", 2), ("b8", 4), ("b16", 2), ("b16", 4), ("b32", 2), ("b32", 4),
                         ("f32", 4), ("b64", 2), ("u16", 4), ("s32", 2)):
        size = int(type_[1:]) // 8
        prefix = {1: "%h", 2: "%h", 4: "%t", 8: "%u"}[size]
        first = 4 if size == 8 else 0
        regs = [f"{prefix}{first + i}" for i in range(parts)]
        back = ", ".join(reversed(regs))
        for space in ("global", "shared"):
            name = f"v{parts}.{type_}"
            copy = ""
            source = "%u0"
            if space == "shared":
                copy = f"""
                    mul.lo.u32 %t8, %i, {size * parts}; mov.b32 %t9, cells; add.u32 %t8, %t8, %t9
                    ld.global.{name} {{{', '.join(regs)}}}, [%u0]
                    st.shared.{name} [%t8], {{{', '.join(regs)}}}"""
                source = "%t8"
            yield plain("memory", f"ld.{space}.{name}", at.format(
                step=size * parts, to=size * parts) + copy + f"""
                ld.{space}.{name} {{{', '.join(regs)}}}, [{source}]
                st.global.{name} [%u1], {{{back}}}""", [Result(f"b{8 * size}", COUNT * parts)],
                declarations=f".shared .align 16 .b8 cells[{COUNT * 16}]")


QUALIFIERS = ("ld.global.nc.b32", "ld.global.L1::no_allocate.b32", "ld.global.L1::evict_last.b32",
              "ld.global.nc.L1::no_allocate.L2::128B.b32", "ld.global.L2::256B.b32",
              "ld.global.ca.b32", "ld.global.cg.b32", "ld.global.cs.b32", "ld.global.lu.b32",
              "ld.volatile.global.b32", "ld.relaxed.gpu.global.b32", "ld.acquire.gpu.global.b32",
              "ld.acquire.sys.global.b32", "ld.weak.global.b32", "ldu.global.b32", "ld.b32",
              "ld.global.nc.v4.b32", "ld.global.nc.L1::evict_first.v2.b32")
STORES = ("st.global.wb.b32", "st.global.cg.b32", "st.global.cs.b32", "st.global.wt.b32",
          "st.volatile.global.b32", "st.relaxed.gpu.global.b32", "st.release.gpu.global.b32",
          "st.global.L1::no_allocate.b32", "st.global.L1::evict_last.b32", "st.weak.global.b32",
          "st.b32", "st.release.cluster.global.b32")


def qualifiers():
    at = "mad.wide.u32 %u0, %i, 16, %in; mad.wide.u32 %u1, %i, 4, %out\n"
    for name in QUALIFIERS:
        parts = 4 if ".v4" in name else 2 if ".v2" in name else 1
        regs = [f"%t{i}" for i in range(parts)]
        target = regs[0] if parts == 1 else "{" + ", ".join(regs) + "}"
        yield plain("memory", name, at + f"{name} {target}, [%u0+{4 if parts == 1 else 0}]; " +
                    "".join(f"xor.b32 %t0, %t0, {r}; " for r in regs[1:]) +
                    "st.global.b32 [%u1], %t0", [Result("b32", COUNT)])
    for name in STORES:
        yield plain("memory", name, at + f"ld.global.b32 %t0, [%u0]; {name} [%u1], %t0",
                    [Result("b32", COUNT)])
    yield plain("memory", "ld.global.L2::cache_hint.b32", at + """
        createpolicy.fractional.L2::evict_last.b64 %u5, 1.0
        ld.global.L2::cache_hint.b32 %t0, [%u0], %u5
        st.global.L2::cache_hint.b32 [%u1], %t0, %u5""", [Result("b32", COUNT)])
    yield plain("memory", "prefetch", at + """
        prefetch.global.L1 [%u0]; prefetch.global.L2 [%u0+8]
        ld.global.b32 %t0, [%u0+8]; st.global.b32 [%u1], %t0""", [Result("b32", COUNT)])


def spaces():
    at = "mad.wide.u32 %u0, %i, 4, %in; mad.wide.u32 %u1, %i, 4, %out\n"
    numbers = ", ".join(str(int(v)) for v in random_bits("table", 16, 32))
    for space in ("const", "global"):
        yield plain("memory", f"ld.{space} initialised", at + f"""
            and.b32 %t0, %i, 15; mul.wide.u32 %u2, %t0, 4; mov.b64 %u3, table
            add.u64 %u2, %u2, %u3; ld.{space}.b32 %t1, [%u2]; ld.{space}.b32 %t2, [table+12]
            add.u32 %t1, %t1, %t2; st.global.b32 [%u1], %t1""", [Result("b32", COUNT)],
            globals_=f".{space} .align 4 .b32 table[16] = {{{numbers}}};\n")
    yield plain("memory", "ld.param halves", at + """
        ld.global.nc.b16 %h0, [%u0]; cvt.u32.u16 %t0, %h0
        ld.param.b32 %t1, [out]; ld.param.b32 %t2, [out+4]; mov.b64 %u2, {%t1, %t2}
        mad.wide.u32 %u2, %i, 4, %u2; st.global.b32 [%u2], %t0""", [Result("b32", COUNT)])
    yield plain("memory", "ld.local", at + """
        ld.global.b32 %t0, [%u0]; mov.b64 %u2, cells; and.b32 %t1, %i, 7
        mad.wide.u32 %u3, %t1, 4, %u2; st.local.b32 [%u3], %t0; st.local.b32 [%u2+32], %i
        ld.local.b32 %t2, [%u3]; ld.local.b32 %t3, [%u2+32]; add.u32 %t2, %t2, %t3
        st.global.b32 [%u1], %t2""", [Result("b32", COUNT)],
        declarations=".local .align 4 .b8 cells[64]")
    yield plain("memory", "generic local", at + """
        ld.global.b32 %t0, [%u0]; mov.b64 %u2, cells; cvta.local.u64 %u2, %u2
        st.b32 [%u2+4], %t0; ld.b32 %t1, [%u2+4]; st.global.b32 [%u1], %t1""",
        [Result("b32", COUNT)], declarations=".local .align 4 .b8 cells[64]")
    yield plain("memory", "generic shared", at + """
        ld.global.b32 %t0, [%u0]; mov.b64 %u2, cells; cvta.shared.u64 %u2, %u2
        mad.wide.u32 %u2, %i, 4, %u2; st.b32 [%u2], %t0; ld.b32 %t1, [%u2]
        cvta.to.shared.u64 %u3, %u2; cvt.u32.u64 %t3, %u3; ld.shared.b32 %t2, [%t3]
        add.u32 %t1, %t1, %t2; st.global.b32 [%u1], %t1""",
        [Result("b32", COUNT)], declarations=f".shared .align 4 .b8 cells[{4 * COUNT}]")
    yield plain("memory", "dynamic shared", at + """
        ld.global.b32 %t0, [%u0]; mov.b32 %t2, dynamic; mad.lo.u32 %t2, %i, 4, %t2
        st.shared.b32 [%t2+64], %t0; ld.shared.b32 %t1, [%t2+64]; st.global.b32 [%u1], %t1""",
        [Result("b32", COUNT)], shared=64 + 4 * COUNT,
        globals_=".extern .shared .align 16 .b8 dynamic[];\n")
    yield plain("memory", "isspacep", at + """
        mov.b64 %u2, cells; cvta.shared.u64 %u2, %u2
        isspacep.shared %p, %u2; isspacep.global %q, %u2; isspacep.global %r, %u0
        isspacep.local %s, %u0
        selp.b32 %t0, 1, 0, %p; selp.b32 %t1, 2, 0, %q; selp.b32 %t2, 4, 0, %r
        selp.b32 %t3, 8, 0, %s; or.b32 %t0, %t0, %t1; or.b32 %t2, %t2, %t3
        or.b32 %t0, %t0, %t2; st.global.b32 [%u1], %t0""", [Result("b32", COUNT)],
        declarations=".shared .align 4 .b8 cells[64]")


def fences():
    at = "mad.wide.u32 %u0, %i, 4, %in; mad.wide.u32 %u1, %i, 4, %out; ld.global.b32 %t0, [%u0]\n"
    for name in ("membar.cta", "membar.gl", "membar.sys", "fence.acq_rel.gpu", "fence.sc.gpu",
                 "fence.acq_rel.cta", "fence.acq_rel.cluster", "fence.proxy.async",
                 "fence.proxy.async.global", "fence.proxy.async.shared::cta",
                 "fence.mbarrier_init.release.cluster", "fence.proxy.alias",
                 "griddepcontrol.wait", "griddepcontrol.launch_dependents", "nanosleep.u32 20",
                 "cp.async.bulk.commit_group", "cp.async.wait_all", "wgmma.fence.sync.aligned"):
        count = 128 if "wgmma" in name else COUNT
        yield plain("memory", name, at + f"{name}; st.global.b32 [%u1], %t0",
                    [Result("b32", count)], count=count)
    yield plain("memory", "setmaxnreg", at + """setmaxnreg.dec.sync.aligned.u32 40
        setmaxnreg.inc.sync.aligned.u32 64
        st.global.b32 [%u1], %t0""", [Result("b32", 128)], count=128,
        attributes=".maxntid 128, 1, 1\n.minnctapersm 8\n")


def asynchronous():
    """Shared memory holds a pattern where nothing is copied to."""
    begin = """
        mad.lo.u32 %t0, %i, 16, 0; mov.b32 %t1, cells; add.u32 %t0, %t0, %t1
        mov.b32 %t2, 0x5a5a5a5a
        st.shared.v4.b32 [%t0], {%t2, %t2, %t2, %i}
        mad.wide.u32 %u0, %i, 16, %in; mad.wide.u32 %u1, %i, 16, %out
    """
    end = """
        bar.sync 0
        xor.b32 %t3, %i, 33; mad.lo.u32 %t3, %t3, 16, %t1
        ld.shared.v4.b32 {%t4, %t5, %t6, %t7}, [%t3]
        st.global.v4.b32 [%u1], {%t4, %t5, %t6, %t7}"""
    cells = f".shared .align 16 .b8 cells[{16 * COUNT}]"
    results = [Result("b32", 4 * COUNT)]
    groups = "cp.async.commit_group; cp.async.wait_group 0"
    for kind in ("ca", "cg"):
        for size in (4, 8, 16) if kind == "ca" else (16,):
            name = f"cp.async.{kind}.shared.global"
            yield plain("async", f"{name} {size}", begin +
                        f"{name} [%t0], [%u0], {size}; {groups}" + end, results,
                        declarations=cells)
            yield plain("async", f"{name} {size} zfill", begin + f"""
                rem.u32 %t8, %i, {size + 1}
                {name} [%t0], [%u0], {size}, %t8; {groups}""" + end, results,
                declarations=cells)
    for name in ("cp.async.ca.shared::cta.global.L2::128B", "cp.async.cg.shared.global.L2::256B"):
        yield plain("async", name, begin + f"""
            {name} [%t0], [%u0], 16; cp.async.wait_all""" + end, results, declarations=cells)
    yield plain("async", "cp.async ignore-src", begin + f"""
        and.b32 %t8, %i, 3; setp.eq.u32 %p, %t8, 0
        cp.async.cg.shared.global [%t0], [%u0], 16, %p; {groups}""" + end, results,
        declarations=cells)
    yield plain("async", "cp.async guarded", begin + f"""
        and.b32 %t8, %i, 3; setp.eq.u32 %p, %t8, 1
        @%p cp.async.ca.shared.global [%t0], [%u0], 16
        @!%p cp.async.ca.shared.global [%t0+4], [%u0+4], 4; {groups}""" + end, results,
        declarations=cells)
    yield plain("async", "cp.async groups", begin + """
        cp.async.ca.shared.global [%t0], [%u0], 4; cp.async.commit_group
        cp.async.ca.shared.global [%t0+4], [%u0+4], 4; cp.async.commit_group
        cp.async.ca.shared.global [%t0+8], [%u0+8], 4; cp.async.commit_group
        cp.async.wait_group 2
        ld.shared.b32 %t8, [%t0]
        cp.async.wait_group 1
        ld.shared.b32 %t9, [%t0+4]
        add.u32 %t8, %t8, %t9
        st.shared.b32 [%t0], %t8
        cp.async.wait_group 0""" + end, results, declarations=cells)
    for noinc in ("", ".noinc"):
        yield plain("async", f"cp.async.mbarrier.arrive{noinc}", begin + f"""
            mov.b32 %t8, barrier
            setp.eq.u32 %p, %i, 0
            @%p mbarrier.init.shared.b64 [%t8], {COUNT}
            bar.sync 0
            cp.async.cg.shared.global [%t0], [%u0], 16
            cp.async.mbarrier.arrive{noinc}.shared.b64 [%t8]
            {'mbarrier.arrive.shared.b64 _, [%t8]' if not noinc else ''}
            $wait:
            mbarrier.try_wait.parity.shared.b64 %q, [%t8], 0
            @!%q bra $wait""" + end, results,
            declarations=cells + "; .shared .align 8 .b64 barrier")


def bulk():
    cells = ".shared .align 128 .b8 cells[1024]; .shared .align 8 .b64 barrier"
    begin = """
        mov.b32 %t0, cells; mov.b32 %t1, barrier; setp.eq.u32 %p, %i, 0
        @%p mbarrier.init.shared.b64 [%t1], 1
        mad.wide.u32 %u0, %i, 16, %in; mad.wide.u32 %u1, %i, 16, %out
        mad.lo.u32 %t2, %i, 16, %t0
        st.shared.v4.b32 [%t2], {%i, %i, %i, %i}
        fence.proxy.async.shared::cta
        bar.sync 0
    """
    wait = """
        $wait:
        mbarrier.try_wait.parity.shared::cta.b64 %q, [%t1], 0
        @!%q bra $wait
    """
    results = [Result("b32", 4 * COUNT)]
    for space in ("cluster", "cta"):
        name = f"cp.async.bulk.shared::{space}.global.mbarrier::complete_tx::bytes"
        for size in (16, 1024, 336):
            yield plain("async", f"{name} {size}", begin + f"""
                @%p mbarrier.arrive.expect_tx.shared.b64 _, [%t1], {size}
                @%p {name} [%t0], [%in], {size}, [%t1]
                {wait}
                ld.shared.v4.b32 {{%t4, %t5, %t6, %t7}}, [%t2]
                st.global.v4.b32 [%u1], {{%t4, %t5, %t6, %t7}}""", results, declarations=cells)
    for size in (16, 1024, 208):
        yield plain("async", f"cp.async.bulk.global.shared::cta.bulk_group {size}", begin + f"""
            ld.global.v4.b32 {{%t4, %t5, %t6, %t7}}, [%u0]
            st.shared.v4.b32 [%t2], {{%t4, %t5, %t6, %t7}}
            fence.proxy.async.shared::cta
            bar.sync 0
            @%p cp.async.bulk.global.shared::cta.bulk_group [%out], [%t0], {size}
            cp.async.bulk.commit_group
            cp.async.bulk.wait_group.read 0
            cp.async.bulk.wait_group 0""", results, declarations=cells)
    for op, type_ in (("add", "u32"), ("add", "s32"), ("min", "s32"), ("max", "u32"),
                      ("and", "b32"), ("or", "b32"), ("xor", "b32"), ("add", "u64"),
                      ("inc", "u32"), ("dec", "u32")):
        name = f"cp.reduce.async.bulk.global.shared::cta.bulk_group.{op}.{type_}"
        yield plain("async", name, begin + f"""
            ld.global.v4.b32 {{%t4, %t5, %t6, %t7}}, [%u0]
            st.shared.v4.b32 [%t2], {{%t4, %t5, %t6, %t7}}
            st.global.v4.b32 [%u1], {{%t7, %i, %t4, %t5}}
            fence.proxy.async
            bar.sync 0
            @%p {name} [%out], [%t0], 512
            cp.async.bulk.commit_group
            cp.async.bulk.wait_group 0""", results, declarations=cells)
    for kind, noftz in (("f16", ".noftz"), ("bf16", ".noftz"), ("f32", ""), ("f64", "")):
        name = f"cp.reduce.async.bulk.global.shared::cta.bulk_group.add{noftz}.{kind}"
        snippet = plain("async", name, begin + f"""
            ld.global.v4.b32 {{%t4, %t5, %t6, %t7}}, [%u0]
            st.shared.v4.b32 [%t2], {{%t4, %t5, %t6, %t7}}
            ld.global.v4.b32 {{%t4, %t5, %t6, %t7}}, [%u0+1024]
            st.global.v4.b32 [%u1], {{%t4, %t5, %t6, %t7}}
            fence.proxy.async
            bar.sync 0
            @%p {name} [%out], [%t0], 1024
            cp.async.bulk.commit_group
            cp.async.bulk.wait_group 0""",
            [Result(kind, 16 * COUNT // BYTES[kind], NAN)], declarations=cells)
        values = operand(kind, name, 1, 2048 // BYTES[kind])
        snippet.input = values.astype(f"<u{BYTES[kind]}").tobytes()
        yield snippet


# Atomics: each thread has its own cell first, then all share one.

INTEGER_ATOMICS = [("add", t) for t in ("u32", "s32", "u64")] + [
    (op, t) for op in ("min", "max") for t in ("u32", "s32", "u64", "s64")] + [
    (op, t) for op in ("and", "or", "xor", "exch") for t in ("b32", "b64")] + [
    ("inc", "u32"), ("dec", "u32"), ("cas", "b32"), ("cas", "b64"), ("cas", "b16")]
FLOAT_ATOMICS = [("add", "f32"), ("add", "f64"), ("add.noftz", "f16"), ("add.noftz", "f16x2"),
                 ("add.noftz", "bf16"), ("add.noftz", "bf16x2")]


def cells(space, register):
    """%t8 or %u5 is the address of the thread's own cell, which holds %a."""
    size = int(register[1:]) // 8
    if space == "global":
        return "%u5", f"mad.wide.u32 %u5, %i, {size}, %in"
    return "%t8", (f"mov.b32 %t8, cells; mad.lo.u32 %t8, %i, {size}, %t8; "
                   f"st.shared.{register} [%t8], %a")


def atomics():
    for space in ("global", "shared"):
        for op, type_ in INTEGER_ATOMICS + FLOAT_ATOMICS:
            floats = type_.lstrip("b").startswith("f")
            kind = type_.replace("x2", "")
            register = f"b{1 + sum(FLOATS[kind])}" if floats else f"b{type_[1:]}"
            if type_.endswith("x2"):
                register = "b32"
            name = f"{space}.{op}.{type_}"
            inputs = [packed(kind, name, i, COUNT) if type_.endswith("x2") else
                      operand(kind if floats else register, name, i, COUNT) for i in range(3)]
            if op == "cas":  # half of them find what they look for
                inputs[1] = np.where(np.arange(COUNT) % 2 == 0, inputs[0], inputs[1])
            address, setup = cells(space, register)
            more = ", %c" if op == "cas" else ""
            rule = NAN if floats else EXACT
            result = kind if floats else register
            declarations = f".shared .align 8 .b8 cells[{8 * COUNT}]"
            yield elementwise("atomic", f"atom.{name}", f"""
                {setup}; atom.{name} %d, [{address}], %b{more}
                ld.{space}.{register} %e, [{address}]""", [(register, v) for v in inputs],
                [(register, result, rule)] * 2, declarations)
            if op in ("exch", "cas"):
                continue
            yield elementwise("atomic", f"red.{name}", f"""
                {setup}; red.{name} [{address}], %b
                ld.{space}.{register} %d, [{address}]""", [(register, v) for v in inputs],
                [(register, result, rule)], declarations)


def contended():
    """The sum of all threads of all blocks does not depend on their order."""
    for op, type_ in INTEGER_ATOMICS:
        if op in ("exch", "cas", "inc", "dec"):
            continue
        width = int(type_[1:])
        bits = "b" + type_[1:]
        name = f"red.global.{op}.{type_}"
        yield plain("atomic", f"{name} contended", f"""
            mad.wide.u32 %u0, %i, 8, %in; ld.global.{bits} {'%t0' if width == 32 else '%u1'}, [%u0]
            and.b32 %t1, %i, 3; mad.wide.u32 %u2, %t1, {width // 8}, %out
            {name} [%u2], {'%t0' if width == 32 else '%u1'}""", [Result(bits, 4)], grid=(3, 1, 1))
    yield plain("atomic", "atom.shared.add.u32 contended", """
        mad.wide.u32 %u0, %i, 8, %in; ld.global.b32 %t0, [%u0]; and.b32 %t0, %t0, 0xff
        mov.b32 %t1, cells; setp.eq.u32 %p, %i, 0
        @%p st.shared.b32 [%t1], 7
        bar.sync 0
        atom.shared.add.u32 %t2, [%t1], %t0
        bar.sync 0
        ld.shared.b32 %t3, [%t1]; mad.wide.u32 %u1, %i, 4, %out; st.global.b32 [%u1], %t3""",
        [Result("b32", COUNT)], declarations=".shared .align 4 .b32 cells")


ORDERED = ("atom.relaxed.gpu.global.add.u32", "atom.acquire.gpu.global.add.u32",
           "atom.release.gpu.global.add.u32", "atom.acq_rel.gpu.global.add.u32",
           "atom.acq_rel.sys.global.exch.b32", "atom.add.u32", "atom.relaxed.cta.global.or.b32")


def ordered():
    for name in ORDERED:
        a, b = operand("b32", name, 0, COUNT), operand("b32", name, 1, COUNT)
        yield elementwise("atomic", name, f"""
            mad.wide.u32 %u5, %i, 4, %in; {name} %d, [%u5], %b; ld.global.b32 %e, [%u5]""",
            [("b32", a), ("b32", b)], [("b32", "b32", EXACT)] * 2)
    for name in ("red.relaxed.gpu.global.add.u32", "red.release.gpu.global.add.s32", "red.add.f32"):
        kind = "f32" if "f32" in name else "b32"
        a, b = operand(kind, name, 0, COUNT), operand(kind, name, 1, COUNT)
        yield elementwise("atomic", name, f"""
            mad.wide.u32 %u5, %i, 4, %in; {name} [%u5], %b; ld.global.b32 %d, [%u5]""",
            [("b32", a), ("b32", b)], [("b32", kind, NAN if kind == "f32" else EXACT)])
    for name, kind, parts in (("red.global.add.v2.f32", "f32", 2),
                              ("red.global.add.v4.f32", "f32", 4),
                              ("red.global.add.noftz.v4.bf16x2", "bf16", 4),
                              ("red.global.add.noftz.v2.f16x2", "f16", 2)):
        regs = ", ".join(f"%t{i}" for i in range(parts))
        snippet = plain("atomic", name, f"""
            mad.wide.u32 %u0, %i, {4 * parts}, %in; mad.wide.u32 %u1, %i, {4 * parts}, %out
            ld.global.v{parts}.b32 {{{regs}}}, [%u0]; st.global.v{parts}.b32 [%u1], {{{regs}}}
            ld.global.v{parts}.b32 {{{regs}}}, [%u0+{4 * parts * COUNT}]
            {name} [%u1], {{{regs}}}""",
            [Result(kind, COUNT * parts * 4 // BYTES[kind], NAN)])
        values = operand(kind, name, 1, 2 * COUNT * parts * 4 // BYTES[kind])
        snippet.input = values.astype(f"<u{BYTES[kind]}").tobytes()
        yield snippet


def snippets():
    for family in (loads, qualifiers, spaces, fences, asynchronous, bulk, atomics, contended,
                   ordered):
        yield from family()
