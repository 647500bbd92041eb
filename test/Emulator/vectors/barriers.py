# Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""mbarriers, and what the blocks of a cluster do to each other's shared memory."""

from operands import operand
from snippet import Result, Snippet, module, random_bits
from tensor_maps import dense, input_of

STEP = "st.global.b32 [%u1], {}; add.u64 %u1, %u1, 4\n"


def script(name, steps, block=32, words=16, declarations=""):
    """Thread 0 runs the steps and writes down what it sees. `?N` asks whether the
    phase of parity N is over, `=REG` records a register."""
    body = ["mov.b32 %t1, barrier; mov.b64 %u1, %out", "setp.ne.u32 %s, %i, 0", "@%s bra $end"]
    for step in steps:
        if step[0] == "?":
            body.append(f"mbarrier.test_wait.parity.shared::cta.b64 %q, [%t1], {step[1:]}; "
                        "selp.b32 %t2, 1, 0, %q")
            body.append(STEP.format("%t2"))
        elif step[0] == "=":
            body.append(STEP.format(step[1:]))
        else:
            body.append(step)
    body.append("$end:\nbar.warp.sync -1")
    return Snippet("mbarrier", name, module(
        "\n".join(body), f".shared .align 8 .b64 barrier; {declarations}"), b"\0" * 16,
        [Result("b32", words)], block=(block, 1, 1))


def phases():
    init = "mbarrier.init.shared.b64 [%t1], {}"
    arrive = "mbarrier.arrive.shared.b64 %u2, [%t1]"
    yield script("count 1", [init.format(1), "?0", "?1", arrive, "?0", "?1", arrive, "?0", "?1"])
    yield script("count 3", [init.format(3), arrive, "?0", arrive, "?0", "?1", arrive, "?0", "?1",
                             arrive, arrive, "?1", arrive, "?1", "?0"])
    yield script("arrive with a count", [
        init.format(5), "mbarrier.arrive.shared.b64 %u2, [%t1], 3", "?0",
        "mbarrier.arrive.shared::cta.b64 _, [%t1], 2", "?0", "?1"])
    yield script("pending_count", [
        init.format(7), arrive, "mbarrier.pending_count.b64 %t3, %u2", "=%t3", arrive,
        "mbarrier.pending_count.b64 %t3, %u2", "=%t3",
        "mbarrier.arrive.noComplete.shared.b64 %u2, [%t1], 2",
        "mbarrier.pending_count.b64 %t3, %u2", "=%t3", arrive, arrive, "?0", arrive, "?0", arrive,
        "?0", "?1"])
    yield script("arrive_drop", [
        init.format(3), "mbarrier.arrive_drop.shared.b64 %u2, [%t1]", "?0", arrive, arrive, "?0",
        arrive, "?1", arrive, "?1", "?0"])
    yield script("arrive_drop with a count", [
        init.format(4), "mbarrier.arrive_drop.shared.b64 _, [%t1], 2", arrive, arrive, "?0",
        arrive, arrive, "?1", "?0"])
    yield script("states", [
        init.format(2), arrive, "mbarrier.test_wait.shared::cta.b64 %q, [%t1], %u2",
        "selp.b32 %t2, 1, 0, %q", "=%t2", "mbarrier.arrive.shared.b64 %u3, [%t1]",
        "mbarrier.test_wait.shared::cta.b64 %q, [%t1], %u2", "selp.b32 %t2, 1, 0, %q", "=%t2",
        "mbarrier.arrive.shared.b64 %u4, [%t1]",
        "mbarrier.test_wait.shared::cta.b64 %q, [%t1], %u4", "selp.b32 %t2, 1, 0, %q", "=%t2"])
    yield script("expect_tx", [
        init.format(1), "mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%t1], 64", arrive, "?0",
        "mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [%t1], 24", "?0",
        "mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [%t1], 40", "?0", "?1"])
    yield script("complete before expect", [
        init.format(2), "mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [%t1], 32", arrive, "?0",
        "mbarrier.arrive.expect_tx.shared.b64 _, [%t1], 32", "?0", "?1"])
    yield script("arrive.expect_tx", [
        init.format(1), "mbarrier.arrive.expect_tx.release.cta.shared::cta.b64 %u2, [%t1], 16",
        "?0", "mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [%t1], 16", "?0", "?1", arrive,
        "?1", "?0"])
    yield script("inval", [
        init.format(1), arrive, "?0", "mbarrier.inval.shared.b64 [%t1]", init.format(2), "?0",
        arrive, "?0", arrive, "?0"])
    yield script("try_wait", [
        init.format(1), arrive, "mbarrier.try_wait.parity.shared::cta.b64 %q, [%t1], 0",
        "selp.b32 %t2, 1, 0, %q", "=%t2",
        "mbarrier.try_wait.parity.acquire.cta.shared::cta.b64 %q, [%t1], 0, 100",
        "selp.b32 %t2, 1, 0, %q", "=%t2",
        "mbarrier.try_wait.shared::cta.b64 %q, [%t1], %u2", "selp.b32 %t2, 1, 0, %q", "=%t2"])
    yield script("try_wait gives up", [
        init.format(1), "mbarrier.try_wait.parity.shared::cta.b64 %q, [%t1], 0, 20",
        "selp.b32 %t2, 1, 0, %q", "=%t2"])


def everyone():
    """Values pass from one half of the block to the other and back, four times."""
    body = """
        mov.b32 %t0, cells; mov.b32 %t1, barriers; setp.eq.u32 %p, %i, 0
        @%p mbarrier.init.shared.b64 [%t1], 64
        @%p mbarrier.init.shared.b64 [%t1+8], 64
        bar.sync 0
        setp.ge.u32 %r, %i, 64
        mov.b32 %t2, 0; mad.wide.u32 %u0, %i, 4, %in; ld.global.b32 %t3, [%u0]
        @%r bra $second
        $produce:
        mad.lo.u32 %t4, %t2, %t3, %i; mad.lo.u32 %t5, %i, 4, %t0; st.shared.b32 [%t5], %t4
        mbarrier.arrive.release.cta.shared::cta.b64 _, [%t1]
        and.b32 %t6, %t2, 1
        $full:
        mbarrier.try_wait.parity.acquire.cta.shared::cta.b64 %q, [%t1+8], %t6
        @!%q bra $full
        ld.shared.b32 %t7, [%t5+256]; add.u32 %t3, %t3, %t7
        add.u32 %t2, %t2, 1; setp.lt.u32 %s, %t2, 4
        @%s bra $produce
        bra $end
        $second:
        and.b32 %t6, %t2, 1
        $wait:
        mbarrier.try_wait.parity.acquire.cta.shared::cta.b64 %q, [%t1], %t6
        @!%q bra $wait
        xor.b32 %t5, %i, 85; mad.lo.u32 %t5, %t5, 4, %t0; ld.shared.b32 %t4, [%t5]
        mad.lo.u32 %t3, %t3, 3, %t4
        mad.lo.u32 %t5, %i, 4, %t0; st.shared.b32 [%t5], %t3
        mbarrier.arrive.release.cta.shared::cta.b64 _, [%t1+8]
        add.u32 %t2, %t2, 1; setp.lt.u32 %s, %t2, 4
        @%s bra $second
        $end:
        mad.wide.u32 %u1, %i, 4, %out; st.global.b32 [%u1], %t3"""
    data = operand("b32", "everyone", 0, 128).astype("<u4").tobytes()
    yield Snippet("mbarrier", "ping pong", module(
        body, ".shared .align 16 .b8 cells[512]; .shared .align 8 .b8 barriers[16]"), data,
        [Result("b32", 128)], block=(128, 1, 1))


# Clusters: each block has 32 threads.

SYNC = "barrier.cluster.arrive.release.aligned; barrier.cluster.wait.acquire.aligned\n"
CLUSTER = """
    mov.u32 %t9, %ctaid.x; mov.u32 %t10, %cluster_ctarank; mov.u32 %t11, %cluster_nctarank
    mad.lo.u32 %t12, %t9, 32, %i
    mad.wide.u32 %u0, %t12, 4, %in; mad.wide.u32 %u1, %t12, 4, %out
    ld.global.b32 %t3, [%u0]
    add.u32 %t13, %t10, 1; rem.u32 %t13, %t13, %t11
    mov.b32 %t0, cells; mov.b32 %t1, barrier; mad.lo.u32 %t2, %i, 4, %t0
    setp.eq.u32 %p, %i, 0
"""


def cluster(name, body, size=2, blocks=4, maps=(), input_=None, words=None, globals_="",
            shared=0):
    data = input_ or random_bits(name, 16 * blocks).astype("<u8").tobytes()
    return Snippet("cluster", name, module(
        CLUSTER + body, ".shared .align 128 .b8 cells[1024]; .shared .align 8 .b64 barrier",
        maps=len(maps), attributes=f".explicitcluster\n.reqnctapercluster {size}, 1, 1\n",
        globals_=globals_), data, [Result("b32", words or 32 * blocks)], grid=(blocks, 1, 1),
        block=(32, 1, 1), maps=tuple(maps), shared=shared)


INIT = """
    @%p mbarrier.init.shared.b64 [%t1], {}
    fence.mbarrier_init.release.cluster
""" + SYNC
AWAIT = """
    $wait:
    mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %q, [%t1], 0
    @!%q bra $wait
"""
OUT = "ld.shared.b32 %t4, [%t2]; st.global.b32 [%u1], %t4\n"


def clusters():
    for size in (2, 4):
        yield cluster(f"ld.shared::cluster of {size}", "st.shared.b32 [%t2], %t3\n" + SYNC + """
            mapa.shared::cluster.u32 %t5, %t2, %t13
            ld.shared::cluster.b32 %t4, [%t5]; st.global.b32 [%u1], %t4
            """ + SYNC, size)
        yield cluster(f"st.shared::cluster of {size}", SYNC + """
            mapa.shared::cluster.u32 %t5, %t2, %t13
            st.shared::cluster.b32 [%t5], %t3
            """ + SYNC + OUT, size)
        yield cluster(f"cluster registers of {size}", """
            mov.u32 %t4, %clusterid.x; mov.u32 %t5, %nclusterid.x; mov.u32 %t6, %cluster_ctaid.x
            mov.u32 %t7, %cluster_nctaid.x
            mad.lo.u32 %t4, %t4, 10, %t5; mad.lo.u32 %t4, %t4, 10, %t6
            mad.lo.u32 %t4, %t4, 10, %t7; mad.lo.u32 %t4, %t4, 10, %t10
            mad.lo.u32 %t4, %t4, 10, %t11; st.global.b32 [%u1], %t4""", size)
        yield cluster(f"remote arrive of {size}", "st.shared.b32 [%t2], %t3\n" +
                      INIT.format(32) + """
            mapa.shared::cluster.u32 %t5, %t1, %t13; mapa.shared::cluster.u32 %t6, %t2, %t13
            st.shared::cluster.b32 [%t6], %t3
            mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%t5]
            """ + AWAIT + OUT + SYNC, size)
        yield cluster(f"remote arrive with a count of {size}", INIT.format(64) + """
            mapa.shared::cluster.u32 %t5, %t1, %t13
            mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%t5], 2
            """ + AWAIT + "st.global.b32 [%u1], %t3\n" + SYNC, size)
        yield cluster(f"remote atomic of {size}", "st.shared.b32 [%t2], %t3\n" + SYNC + """
            mapa.shared::cluster.u32 %t5, %t2, %t13
            atom.shared::cluster.add.u32 %t6, [%t5], 17
            """ + SYNC + OUT, size)
    yield cluster("mapa.u64", "st.shared.b32 [%t2], %t3\n" + SYNC + """
        cvt.u64.u32 %u2, %t2; cvta.shared.u64 %u2, %u2; mapa.u64 %u3, %u2, %t13
        ld.b32 %t4, [%u3]; getctarank.u64 %t5, %u3; add.u32 %t4, %t4, %t5
        st.global.b32 [%u1], %t4
        """ + SYNC)
    yield cluster("mapa.shared::cluster.u64", "st.shared.b32 [%t2], %t3\n" + SYNC + """
        cvt.u64.u32 %u2, %t2; mapa.shared::cluster.u64 %u3, %u2, %t13
        ld.shared::cluster.b32 %t4, [%u3]; getctarank.shared::cluster.u64 %t5, %u3
        add.u32 %t4, %t4, %t5; st.global.b32 [%u1], %t4
        """ + SYNC)
    yield cluster("cvta.to.shared::cluster.u64", INIT.format(32) + """
        cvt.u64.u32 %u2, %t2; cvta.shared.u64 %u2, %u2; cvta.to.shared::cluster.u64 %u2, %u2
        cvt.u64.u32 %u4, %t1; cvta.shared.u64 %u4, %u4; cvta.to.shared::cluster.u64 %u4, %u4
        mapa.shared::cluster.u64 %u3, %u2, %t13; st.shared::cluster.b32 [%u3], %t3
        mapa.shared::cluster.u64 %u5, %u4, %t13
        fence.acq_rel.cluster
        mbarrier.arrive.shared::cluster.b64 _, [%u5]
        """ + AWAIT + OUT + SYNC)
    yield cluster("barrier.cluster relaxed", """
        barrier.cluster.arrive.relaxed; barrier.cluster.wait
        barrier.cluster.arrive; barrier.cluster.wait
        st.global.b32 [%u1], %t3""")
    yield cluster("st.async", INIT.format(1) + """
        @%p mbarrier.arrive.expect_tx.shared.b64 _, [%t1], 128
        mapa.shared::cluster.u32 %t5, %t1, %t13; mapa.shared::cluster.u32 %t6, %t2, %t13
        st.async.shared::cluster.mbarrier::complete_tx::bytes.b32 [%t6], %t3, [%t5]
        """ + AWAIT + OUT + SYNC)
    yield cluster("red.async", "st.shared.b32 [%t2], %t3\n" + INIT.format(1) + """
        @%p mbarrier.arrive.expect_tx.shared.b64 _, [%t1], 128
        mapa.shared::cluster.u32 %t5, %t1, %t13; mapa.shared::cluster.u32 %t6, %t2, %t13
        red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u32 [%t6], %i, [%t5]
        """ + AWAIT + OUT + SYNC)
    yield cluster("bulk copy to the other block", "st.shared.b32 [%t2+128], %t3\n" +
                  "fence.proxy.async.shared::cta\n" + INIT.format(1) + """
        @%p mbarrier.arrive.expect_tx.shared.b64 _, [%t1], 128
        mapa.shared::cluster.u32 %t5, %t1, %t13; mapa.shared::cluster.u32 %t6, %t0, %t13
        add.u32 %t7, %t0, 128
        @%p cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%t6], [%t7], 128, [%t5]
        """ + AWAIT + OUT + SYNC)
    yield from multicasts()


def multicasts():
    """Each block of a cluster loads its share and sends it to all."""
    for size in (2, 4):
        share = 32 // size
        yield cluster(f"bulk multicast of {size}", INIT.format(1) + f"""
            @%p mbarrier.arrive.expect_tx.shared.b64 _, [%t1], 128
            mov.b16 %h0, {(1 << size) - 1}
            mad.lo.u32 %t5, %t10, {4 * share}, %t0
            mul.lo.u32 %t6, %t9, {4 * share}; cvt.u64.u32 %u2, %t6; add.u64 %u2, %u2, %in
            @%p cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%t5], [%u2], {4 * share}, [%t1], %h0
            """ + AWAIT + OUT + SYNC, size)
        rows = 4 // size
        map_ = dense("u32", (32, 8), (32, rows))
        yield cluster(f"tensor multicast of {size}", INIT.format(1) + f"""
            @%p mbarrier.arrive.expect_tx.shared.b64 _, [%t1], 512
            mov.b16 %h0, {(1 << size) - 1}
            mov.b64 %u2, map0; cvta.param.u64 %u2, %u2
            mad.lo.u32 %t5, %t10, {128 * rows}, %t0; mul.lo.u32 %t6, %t9, {rows}; mov.b32 %t7, 4
            @%p cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster [%t5], [%u2, {{%t7, %t6}}], [%t1], %h0
            """ + AWAIT + """
            mov.b32 %t4, 0
            """ + "".join(f"ld.shared.b32 %t8, [%t2+{128 * i}]; mad.lo.u32 %t4, %t4, 7, %t8\n"
                          for i in range(4)) + """
            st.global.b32 [%u1], %t4
            """ + SYNC, size, maps=(map_,), input_=input_of("u32", 1024))


def snippets():
    for family in (phases, everyone, clusters):
        yield from family()
