# Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the threads of a warp do together, and where they part and meet."""

import numpy as np

from operands import operand
from snippet import EXACT, Result, Snippet, elementwise, module, random_bits

WARPS = 3  # each with its own values
LANES = 32 * WARPS


def lanes(group, name, body, inputs, outputs=1, block=LANES):
    """32-bit inputs and outputs."""
    return elementwise(group, name, body, [("b32", v) for v in inputs],
                       [("b32", "b32", EXACT)] * outputs, block=block)


def values(name, index=0, count=LANES):
    return operand("b32", name, index, count)


def few(name, below, index=1, count=LANES):
    return random_bits(f"{name}/few{index}", count, 32) % np.uint64(below)


def per_warp(name, below, index=1):
    return np.repeat(few(name, below, index, WARPS), 32)


def shuffles():
    for mode in ("up", "down", "bfly", "idx"):
        for width in (32, 16, 8, 4, 1):
            clamp = ((32 - width) << 8) | (0 if mode == "up" else 31)
            name = f"shfl.sync.{mode}.b32"
            yield lanes("warp", f"{name} width {width}", f"""
                {name} %d|%p, %a, %b, {clamp}, -1
                selp.b32 %e, 1, 0, %p""", [values(name), per_warp(name + str(width), 36)], 2)
        name = f"shfl.sync.{mode}.b32"
        yield lanes("warp", f"{name} lane-dependent", f"""
            {name} %d|%p, %a, %b, {0 if mode == 'up' else 31}, -1
            selp.b32 %e, 1, 0, %p""", [values(name), few(name, 40)], 2)
        yield lanes("warp", f"{name} any clamp", f"""
            {name} %d|%p, %a, %b, %c, -1
            selp.b32 %e, 1, 0, %p""",
            [values(name), few(name, 32), per_warp(name, 0x2000, 2)], 2)
        yield lanes("warp", f"{name} immediate",
                    f"{name} %d, %a, 3, {0 if mode == 'up' else 31}, -1", [values(name)])
    # Both sides of a branch shuffle among themselves.
    for mode in ("bfly", "idx"):
        name = f"shfl.sync.{mode}.b32"
        yield lanes("warp", f"{name} divergent", f"""
            mov.u32 %t0, %laneid
            setp.lt.u32 %p, %t0, 16
            @%p bra $low
            {name} %d, %a, {'4' if mode == 'bfly' else '21'}, 31, 0xffff0000
            bra $join
            $low:
            {name} %d, %a, {'2' if mode == 'bfly' else '5'}, 31, 0x0000ffff
            $join:
            add.u32 %d, %d, 1""", [values(name)])


def votes():
    for rate, what in ((2, "some"), (33, "most"), (1, "none")):
        for mode in ("all", "any", "uni"):
            for negate in ("", "!"):
                yield lanes("warp", f"vote.sync.{mode}.pred {negate}{what}", f"""
                    setp.ne.b32 %p, %a, 0; vote.sync.{mode}.pred %q, {negate}%p, -1
                    selp.b32 %d, 1, 0, %q""", [few(what, rate)])
        yield lanes("warp", f"vote.sync.ballot.b32 {what}",
                    "setp.ne.b32 %p, %a, 0; vote.sync.ballot.b32 %d, %p, -1", [few(what, rate)])
    yield lanes("warp", "vote.sync.ballot.b32 divergent", """
        mov.u32 %t0, %laneid
        and.b32 %t1, %t0, 1
        setp.eq.b32 %p, %t1, 0
        setp.lt.s32 %q, %a, 100
        @%p bra $even
        vote.sync.ballot.b32 %d, %q, 0xaaaaaaaa
        bra $join
        $even:
        vote.sync.ballot.b32 %d, !%q, 0x55555555
        $join:
        add.u32 %d, %d, 3""", [values("divergent ballot")])


def matches():
    for width, kinds in ((32, 3), (32, 40), (32, 1), (64, 4), (64, 1)):
        name = f"match.sync.b{width}"
        a = few(name, kinds) * np.uint64(0x1000000010001 if width == 64 else 0x10001)
        yield elementwise("warp", f"match.any.sync.b{width} {kinds}",
                          f"match.any.sync.b{width} %d, %a, -1", [(f"b{width}", a)],
                          [("b32", "b32", EXACT)])
        yield elementwise("warp", f"match.all.sync.b{width} {kinds}", f"""
            match.all.sync.b{width} %d|%p, %a, -1; selp.b32 %e, 1, 0, %p""",
            [(f"b{width}", a)], [("b32", "b32", EXACT)] * 2)


def reductions():
    for op, types in (("add", ("u32", "s32")), ("min", ("u32", "s32")), ("max", ("u32", "s32")),
                      ("and", ("b32",)), ("or", ("b32",)), ("xor", ("b32",))):
        for type_ in types:
            name = f"redux.sync.{op}.{type_}"
            yield lanes("warp", name, f"{name} %d, %a, -1", [values(name)])
            yield lanes("warp", f"{name} divergent", f"""
                mov.u32 %t0, %laneid
                setp.lt.u32 %p, %t0, 11
                @%p bra $low
                {name} %d, %a, 0xfffff800
                bra $join
                $low:
                {name} %d, %a, 0x000007ff
                $join:
                xor.b32 %d, %d, 1""", [values(name)])


def elections():
    yield lanes("warp", "activemask.b32", "activemask.b32 %d", [values("activemask")])
    yield lanes("warp", "elect.sync", """
        elect.sync %d|%p, -1; selp.b32 %e, 1, 0, %p; add.u32 %d, %d, %a""",
        [few("elect", 9)], 2)
    yield lanes("warp", "elect.sync sink", """
        elect.sync _|%p, -1; mov.b32 %d, %a; @%p add.u32 %d, %d, 1000""", [few("elect", 9)])
    yield lanes("warp", "elect.sync divergent", """
        mov.u32 %t0, %laneid
        setp.lt.u32 %p, %t0, 7
        mov.b32 %d, %a
        @%p bra $join
        elect.sync %d|%q, 0xffffff80
        @%q add.u32 %d, %d, 100
        $join:
        add.u32 %d, %d, 1""", [few("elect", 9)])
    yield shared_exchange("bar.warp.sync", "bar.warp.sync -1", 36)


def shared_exchange(name, barrier, flip, declarations="", group="warp", threads=128):
    """Writes shared memory, waits, reads what another thread wrote."""
    return elementwise(group, name, f"""
        shl.b32 %t0, %i, 2
        mov.b32 %t1, cells
        add.u32 %t2, %t1, %t0
        st.shared.b32 [%t2], %a
        {barrier}
        xor.b32 %t0, %t0, {flip}
        add.u32 %t2, %t1, %t0
        ld.shared.b32 %d, [%t2]""", [("b32", values(name, count=threads))],
        [("b32", "b32", EXACT)], f".shared .align 16 .b8 cells[{4 * threads}]; {declarations}")


def barriers():
    for name in ("bar.sync 0", "bar.sync 3", "bar.sync 1, 128", "barrier.sync 2",
                 "barrier.sync.aligned 4, 128", "barrier.cta.sync 5", "bar.cta.sync 0",
                 "barrier.cta.sync.aligned 6, 128"):
        yield shared_exchange(name, name, 0x1C4)
    yield shared_exchange("bar.sync register",
                          "mov.b32 %t5, 7; mov.b32 %t6, 128; bar.sync %t5, %t6", 0x144)
    # The first half arrives, the second waits; only what the first wrote is read.
    yield elementwise("warp", "bar.arrive", """
        shl.b32 %t0, %i, 2
        mov.b32 %t1, cells
        add.u32 %t2, %t1, %t0
        mov.b32 %d, 0
        setp.lt.u32 %p, %i, 64
        @!%p bra $wait
        st.shared.b32 [%t2], %a
        bar.arrive 2, 128
        bra $join
        $wait:
        bar.sync 2, 128
        ld.shared.b32 %d, [%t2+-256]
        $join:
        add.u32 %d, %d, 1""", [("b32", values("arrive", count=128))], [("b32", "b32", EXACT)],
        ".shared .align 16 .b8 cells[512]")
    for op in ("popc.u32", "and.pred", "or.pred"):
        for rate in (2, 1):
            name = f"bar.red.{op}"
            target, negate = ("%d", "!") if "popc" in op else ("%q", "")
            yield lanes("warp", f"{name} {rate}", f"""
                setp.ne.b32 %p, %a, 0
                mov.b32 %d, 0
                {name} {target}, 1, {negate}%p
                {'' if 'popc' in op else 'selp.b32 %d, 1, 0, %q'}""", [few(name, rate)])


# Divergence.

PATTERNS = {
    "if": """
        setp.lt.s32 %p, %a, 0
        @!%p bra $end
        neg.s32 %d, %d
        $end:
        add.s32 %d, %d, 7""",
    "if else": """
        setp.lt.s32 %p, %a, 100
        @%p bra $then
        mul.lo.s32 %d, %d, 3
        bra.uni $end
        $then:
        xor.b32 %d, %d, 0x55
        $end:
        add.s32 %d, %d, 7""",
    "nested": """
        and.b32 %t0, %a, 1; and.b32 %t1, %a, 2; and.b32 %t2, %i, 4
        setp.ne.b32 %p, %t0, 0; setp.ne.b32 %q, %t1, 0; setp.ne.b32 %r, %t2, 0
        @%p bra $a
        @%q bra $b
        add.s32 %d, %d, 1
        bra $bend
        $b:
        add.s32 %d, %d, 2
        @%r bra $bend
        mul.lo.s32 %d, %d, 5
        $bend:
        add.s32 %d, %d, 4
        bra $end
        $a:
        @!%r bra $end
        add.s32 %d, %d, 8
        $end:
        mul.lo.s32 %d, %d, 9""",
    "loop": """
        and.b32 %t0, %a, 15
        mov.b32 %t1, 0
        $loop:
        mad.lo.s32 %d, %d, 3, %t1
        add.s32 %t1, %t1, 1
        setp.le.u32 %p, %t1, %t0
        @%p bra $loop
        add.s32 %d, %d, %t1""",
    "loop with break": """
        mov.b32 %t1, 0
        $loop:
        shr.u32 %t2, %a, %t1
        and.b32 %t2, %t2, 3
        setp.eq.b32 %p, %t2, 3
        @%p bra $out
        add.s32 %d, %d, %t2
        add.s32 %t1, %t1, 2
        setp.lt.u32 %q, %t1, 32
        @%q bra $loop
        mul.lo.s32 %d, %d, 11
        $out:
        add.s32 %d, %d, %t1""",
    "loop with continue": """
        mov.b32 %t1, 0
        $loop:
        add.s32 %t1, %t1, 1
        and.b32 %t2, %t1, %a
        setp.eq.b32 %p, %t2, 0
        @%p bra $next
        add.s32 %d, %d, %t1
        and.b32 %t3, %d, 1
        setp.eq.b32 %q, %t3, 0
        @%q bra $next
        xor.b32 %d, %d, 0x300
        $next:
        setp.lt.u32 %r, %t1, 12
        @%r bra $loop""",
    "nested loops": """
        and.b32 %t0, %a, 3
        mov.b32 %t1, 0
        $outer:
        and.b32 %t2, %i, 3
        $inner:
        mad.lo.s32 %d, %d, 5, %t2
        setp.ne.b32 %p, %t2, 0
        @!%p bra $done
        sub.s32 %t2, %t2, 1
        bra $inner
        $done:
        add.s32 %t1, %t1, 1
        setp.le.u32 %q, %t1, %t0
        @%q bra $outer""",
    "shared block": """
        setp.lt.s32 %p, %a, 0
        and.b32 %t0, %a, 8
        setp.eq.b32 %q, %t0, 0
        @%p bra $x
        @%q bra $y
        add.s32 %d, %d, 100
        bra $end
        $x:
        add.s32 %d, %d, 10
        $y:
        mul.lo.s32 %d, %d, 2
        $end:
        add.s32 %d, %d, 1""",
    "meet and vote": """
        setp.lt.s32 %p, %a, 0
        @%p bra $x
        add.s32 %d, %d, 3
        bra $end
        $x:
        sub.s32 %d, %d, 4
        $end:
        bar.warp.sync -1
        and.b32 %t0, %d, 1
        setp.eq.b32 %q, %t0, 0
        vote.sync.ballot.b32 %t1, %q, -1
        add.s32 %d, %d, %t1""",
    "early exit": """
        setp.lt.s32 %p, %a, 0
        @%p exit
        add.s32 %d, %d, 3""",
    "early ret": """
        and.b32 %t0, %a, 4
        setp.eq.b32 %p, %t0, 0
        @%p ret
        add.s32 %d, %d, 5""",
    "brx.idx": """
        and.b32 %t0, %a, 3
        $table: .branchtargets $c0, $c1, $c2, $c3
        brx.idx %t0, $table
        $c0:
        add.s32 %d, %d, 1
        bra $end
        $c1:
        mul.lo.s32 %d, %d, 3
        $c2:
        xor.b32 %d, %d, 0xff
        bra $end
        $c3:
        not.b32 %d, %d
        $end:
        add.s32 %d, %d, 2""",
}


def divergence():
    for name, body in PATTERNS.items():
        inputs = operand("b32", name, 0, LANES)
        yield lanes("divergence", name, "mov.b32 %d, %i\n" + body, [inputs])
        # The same with a whole warp of one mind.
        same = np.repeat(random_bits(name, WARPS, 32), 32)
        yield lanes("divergence", name + " uniform", "mov.b32 %d, %i\n" + body, [same])


def special_registers():
    names = ("tid.x", "tid.y", "tid.z", "ntid.x", "ntid.y", "ntid.z", "ctaid.x", "ctaid.y",
             "ctaid.z", "nctaid.x", "nctaid.y", "nctaid.z", "laneid", "lanemask_eq",
             "lanemask_lt", "lanemask_le", "lanemask_gt", "lanemask_ge", "dynamic_smem_size",
             "cluster_nctarank", "cluster_ctarank",
             "cluster_ctaid.x", "cluster_nctaid.x", "clusterid.x", "nclusterid.x")
    body = ["mov.u32 %t0, %tid.y; mov.u32 %t1, %tid.z; mov.u32 %t2, %ntid.x; mov.u32 %t3, %ntid.y",
            "mad.lo.u32 %t1, %t1, %t3, %t0; mad.lo.u32 %i, %t1, %t2, %i",
            "mov.u32 %t4, %ctaid.x; mov.u32 %t5, %ctaid.y; mov.u32 %t6, %nctaid.x",
            "mad.lo.u32 %t5, %t5, %t6, %t4; mad.lo.u32 %i, %t5, 48, %i",
            f"mul.lo.u32 %i, %i, {4 * len(names)}; cvt.u64.u32 %at, %i; add.u64 %at, %at, %out"]
    for index, name in enumerate(names):
        body.append(f"mov.u32 %t7, %{name}; st.global.b32 [%at+{4 * index}], %t7")
    yield Snippet("warp", "special registers", module("\n".join(body)), b"",
                  [Result("b32", len(names) * 48 * 6)], grid=(3, 2, 1), block=(6, 4, 2), shared=64)


def snippets():
    for family in (shuffles, votes, matches, reductions, elections, barriers, divergence,
                   special_registers):
        yield from family()
