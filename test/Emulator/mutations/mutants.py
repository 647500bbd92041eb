# Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The mutants: which kernel, what is wrong with it, and how the text says so."""

from edits import ALL, Mutant, after, both, drop, edit, never_waits, tries_once, twice
from edits import unconditional

WGMMA = "sm_90a 5_grouped_gemm"
SHORT_WGMMA = "sm_90a 6_grouped_gemm"
MMA = "sm_80 3_grouped_gemm"
SHORT_MMA = "sm_80 4_grouped_gemm"
ALIGN = "sm_80 2_align"

# A descriptor of rows of 128 bytes, 8 rows 1024 bytes apart, in a swizzle of 128.
DESCRIPTOR = 0x4000004000010000
SWIZZLE_64 = DESCRIPTOR ^ 0xC000000000000000
ROWS_512_BYTES_APART = DESCRIPTOR ^ 0x0000006000000000

# A warp, or a thread, that leaves; %r1 is the thread's number in these kernels.
LEAVES = "\t{\n\t.reg .pred q;\n\tsetp.%s.u32 \tq, %%r1, %d;\n\t@q ret;\n\t}\n"

FULL, EMPTY = 129, 4
# Of the layer in run.py: rows of the table of WGMMA and how many are in use, the
# last row that is no padding, elements of the first weights of an expert; two
# experts have no rows in MMA.
TABLE_ROWS, TABLE_USED, LAST_ROW = 512, 320, 287
EXPERT = 128 * 448
PARAMETER = r"ld\.param\.b64 \t(%%rd\d+), \[\w+_param_%d\]"

WGMMA_MUTANTS = [
    ("proxy fence missing, one step", drop(r"fence\.proxy\.async")),
    ("proxy fence missing, every step", drop(r"fence\.proxy\.async", ALL)),
    ("wgmma.fence missing", drop(r"wgmma\.fence")),
    ("wgmma.wait_group missing at the end", drop(r"wgmma\.wait_group", -1)),
    ("wgmma.wait_group missing everywhere", drop(r"wgmma\.wait_group", ALL)),
    ("wgmma.wait_group keeps one more, at the end",
     edit(r"(wgmma\.wait_group\S*\s+)0;", r"\g<1>1;", -1)),
    ("wgmma.commit_group missing", drop(r"wgmma\.commit_group", -1)),
    ("fence.mbarrier_init missing", drop(r"fence\.mbarrier_init")),
    ("bar.sync behind mbarrier.init missing", drop(r"bar\.sync")),
    ("bar.sync waits for half of the block", edit(r"bar\.sync \t0;", "bar.sync \t0, 128;")),
    ("producer does not wait for an empty stage", never_waits(4)),
    ("producer never waits", both(*[never_waits(0)] * 7)),
    ("consumer does not wait for a full stage", never_waits(7)),
    ("consumer tries once to wait", both(tries_once(8), tries_once(7))),
    ("consumer does not release a stage", drop(r"mbarrier\.arrive\.shared")),
    ("consumer releases a stage twice", twice(r"mbarrier\.arrive\.shared")),
    ("consumer releases another stage",
     edit(r"(mbarrier\.arrive\.shared\S*\s+\S+, \[%\w+)\]", r"\1+8]")),
    ("copies do not arrive", drop(r"cp\.async\.mbarrier\.arrive")),
    ("copies arrive twice", twice(r"cp\.async\.mbarrier\.arrive")),
    ("expect_tx of half the bytes", edit(r"(mov\.b32 \t%r\d+, )16384;", r"\g<1>8192;")),
    ("expect_tx of twice the bytes", edit(r"(mov\.b32 \t%r\d+, )16384;", r"\g<1>32768;")),
    ("expect_tx missing", drop(r"mbarrier\.arrive\.expect_tx")),
    ("full barrier with one arrival fewer", edit(rf"(mov\.b32 \t%r\d+, ){FULL};", r"\g<1>128;")),
    ("empty barrier with one arrival fewer",
     edit(rf"(mov\.b32 \t%r\d+, ){EMPTY};", r"\g<1>3;")),
    ("empty barrier with one arrival more", edit(rf"(mov\.b32 \t%r\d+, ){EMPTY};", r"\g<1>5;")),
    ("an mbarrier is not initialised", drop(r"mbarrier\.init", 2)),
    ("producer's parity swapped", edit(r"xor\.b32 (\t%r\d+, %r\d+), 1;", r"mov.b32 \1;")),
    ("producer counts one stage fewer", edit(r"(setp\.eq\.b32 \t%p\d+, %r\d+, )4;", r"\g<1>3;")),
    ("producer counts one stage more", edit(r"(setp\.eq\.b32 \t%p\d+, %r\d+, )4;", r"\g<1>5;", 4)),
    ("stage at the wrong address", edit(r"(mul\.lo\.s32 \t%r\d+, %r\d+, )24576;",
                                         r"\g<1>16384;", 1)),
    ("rows past the end are read",
     both(edit(r"selp\.b32 \t(%r\d+), (%r\d+), 0, ", r"selp.b32 \t\1, \2, \2, ", ALL),
          edit(r"selp\.b32 \t(%r\d+), 16, 0, ", r"selp.b32 \t\1, 16, 16, ", ALL))),
    ("cp.async reads half of 16 bytes", edit(r"selp\.b32 \t(%r\d+), 16, 0, ",
                                             r"selp.b32 \t\1, 8, 0, ")),
    ("cp.async reads 16 bytes of sentinel rows", edit(r"selp\.b32 \t(%r\d+), 16, 0, ",
                                                      r"selp.b32 \t\1, 16, 16, ", ALL), None,
     "it is row 0 that it reads then, and the products are not stored"),
    ("a piece of A is not copied", drop(r"cp\.async\.cg", 5)),
    ("A shifted by 16 bytes", edit(r"(cp\.async\.cg\S* \[[^]]*\], \[%rd\d+\+)128\]",
                                   r"\g<1>144]")),
    ("a step of K of B is skipped", edit(r"(mov\.b32 \t%r\d+, )64;", r"\g<1>128;")),
    ("descriptor with another swizzle", edit(str(DESCRIPTOR), str(SWIZZLE_64))),
    ("descriptor with another row distance", edit(str(DESCRIPTOR), str(ROWS_512_BYTES_APART))),
    ("descriptor at the wrong step of K", edit(str(DESCRIPTOR + 2), str(DESCRIPTOR + 4))),
    ("A is not swizzled", edit(r"xor\.b32 \t(%r\d+), (%r\d+), %r1;", r"mov.b32 \t\1, \2;")),
    ("the accumulator is not zeroed", edit(r"setp\.ne\.b32 p, 0, 0;", "setp.ne.b32 p, 1, 0;")),
    ("the accumulator is zeroed again", edit(r"setp\.ne\.b32 p, 1, 0;", "setp.ne.b32 p, 0, 0;",
                                              3)),
    ("sentinel rows are stored", unconditional(-4)),
    ("a row is stored twice", edit(r"or\.b32 (\t%r\d+, %r\d+), 4;(?=\n\tmul\.wide\.u32)",
                                   r"or.b32 \1, 0;", -1)),
    ("a row is stored a row further", edit(r"(st\.global\.v4\.b32 \t\[%rd\d+)\]", r"\1+128]")),
    ("a store shifted by 16 bytes", edit(r"(st\.global\.v4\.b32 \t\[%rd\d+)\]", r"\1+16]")),
    ("bar.warp.sync before stmatrix missing", drop(r"bar\.warp\.sync", 0), None,
     "between the loads of the tile before and the stores of this one the warp has arrived at "
     "mbarriers: that counts as an order of its lanes"),
    ("bar.warp.sync behind stmatrix missing", drop(r"bar\.warp\.sync", 1)),
    ("an stmatrix is missing", drop(r"stmatrix")),
    ("shfl of the row table from another lane",
     edit(r"(shfl\.sync\.idx\.b32 \t%r\d+, %r\d+, )%r\d+", r"\g<1>0")),
    ("a warp of the consumers leaves", after(r"setmaxnreg\.inc", LEAVES % ("ge", 224))),
    ("a thread of the consumers leaves", after(r"setmaxnreg\.inc", LEAVES % ("eq", 200))),
    ("setmaxnreg of no multiple of 8", edit(r"(setmaxnreg\.inc\S* \t)\d+", r"\g<1>203")),
    ("setmaxnreg of more registers than there are",
     edit(r"(setmaxnreg\.inc\S* \t)\d+", r"\g<1>256")),
    ("setmaxnreg.inc where dec is meant", edit(r"setmaxnreg\.dec", "setmaxnreg.inc")),
    ("a warp of the producers does not run setmaxnreg",
     edit(r"\tsetmaxnreg\.dec", "\t@%p1 setmaxnreg.dec")),
    ("every block computes every tile",
     both(edit(r"%ctaid\.x", "0"), edit(r"%nctaid\.x", "1"))),
    ("the last tile is left out",
     edit(r"(shr\.u32 \t(%r\d+), %r\d+, 6;\n)(?=\tshfl)", r"\1\tadd.s32 \t\2, \2, -1;\n")),
    ("the tensor map has another swizzle", None, {"--map": ("swizzle=128", "swizzle=64")}),
    ("the tensor map has a smaller box", None, {"--map": ("box=64,64", "box=64,32")}),
    ("the tensor map ends too early", None, {"--map": ("dims=448,64", "dims=448,63")}),
    ("too little shared memory", None, {"--shared": -2048}),
    ("the row table ends too early", None, {"b2": TABLE_USED - 1 - TABLE_ROWS}),
    ("the output ends too early", None, {"b5": 64 * (LAST_ROW - TABLE_ROWS)}),
]

SHORT_WGMMA_MUTANTS = [
    ("bar.warp.sync between stores of two halves missing", drop(r"bar\.warp\.sync", 2)),
    ("consumer's first parity swapped",
     edit(r"(mov\.b32 \t%r\d+, )0;(?=\n\tsetp\.ne\.b32 \t%p\d+, %r\d+, 0;\n\tmov\.b32)",
          r"\g<1>1;")),
    ("weights of the routing not applied", edit(r"mul\.rn\.f32 \t(%r\d+), (%r\d+), %r\d+;",
                                                r"mov.b32 \t\1, \2;")),
    ("an expert's number comes from a lane that has another",
     edit(r"max\.s32 (\t%r\d+), (%r\d+), 0;", r"add.s32 \1, \2, 1;")),
]

MMA_MUTANTS = [
    ("cp.async.wait_group missing", drop(r"cp\.async\.wait_group")),
    ("cp.async.wait_group keeps one more", edit(r"(cp\.async\.wait_group \t)2;", r"\g<1>3;")),
    ("bar.sync behind the wait missing", drop(r"bar\.sync")),
    ("bar.sync between tiles missing", drop(r"bar\.sync", -1)),
    ("bar.sync of two warps", edit(r"bar\.sync \t0;", "bar.sync \t0, 64;")),
    ("commit_group missing in the prologue", drop(r"cp\.async\.commit_group")),
    ("commit_group missing in the loop", drop(r"cp\.async\.commit_group", -1)),
    ("a piece of B is not copied", drop(r"cp\.async\.cg", 4)),
    ("a copy of 8 bytes", edit(r"(cp\.async\.c)g(\S* \[[^]]*\], \[[^]]*\], )16;", r"\1a\g<2>8;")),
    ("rows past the end are read",
     both(edit(r"selp\.b32 \t(%r\d+), (%r\d+), 0, ", r"selp.b32 \t\1, \2, \2, ", ALL),
          edit(r"selp\.b32 \t(%r\d+), 16, 0, ", r"selp.b32 \t\1, 16, 16, ", ALL))),
    ("ldmatrix with two registers swapped",
     edit(r"(ldmatrix\S* \{%r\d+, )(%r\d+), (%r\d+)", r"\1\3, \2")),
    ("ldmatrix 16 bytes further", edit(r"(ldmatrix[^[]*\[%rd\d+)\]", r"\1+16]")),
    ("ldmatrix without swizzle", edit(r"xor\.b32 \t(%r\d+), (%r\d+), (%r\d+);",
                                      r"mov.b32 \t\1, \2;", 1)),
    ("an accumulator is not zeroed",
     drop(r"mov\.b32 \t%r\d+, (%r\d+)(?=;\n\tmov\.b32 \t%r\d+, \1;\n\tmov)", 3)),
    ("a matrix product is left out", edit(r"^\tmma\.sync[^;]*;\n", "", 5)),
    ("producer counts one stage fewer", edit(r"(setp\.eq\.b32 \t%p\d+, %r\d+, )4;", r"\g<1>3;",
                                              1)),
    ("consumer counts one stage fewer", edit(r"(setp\.eq\.b32 \t%p\d+, %r\d+, )4;", r"\g<1>3;")),
    ("stage at the wrong address", edit(r"(mul\.lo\.s32 \t%r\d+, %r\d+, )18432;",
                                        r"\g<1>16384;")),
    ("one step of K fewer", edit(r"(setp\.ne\.b32 \t%p\d+, %r\d+, )7;", r"\g<1>6;")),
    ("one step of K more is copied", edit(r"(setp\.gt\.u32 \t%p\d+, %r\d+, )3;", r"\g<1>4;")),
    ("sentinel rows are stored", unconditional(-2)),
    ("a store shifted by an element", edit(r"(st\.global\.b32 \t\[%rd\d+)\]", r"\1+4]")),
    ("a misaligned store", edit(r"(st\.global\.b32 \t\[%rd\d+)\]", r"\1+2]")),
    ("a row is stored twice", edit(r"(st\.global\.b32 \t\[%rd\d+)\+16\]", r"\1]", -1)),
    ("a warp leaves before the loop", after(r"shr\.u32 \t%r\d+, (%r\d+), 3",
                                            (LEAVES % ("ge", 96)).replace("%r1", r"\2"))),
    ("a thread leaves before the loop", after(r"shr\.u32 \t%r\d+, (%r\d+), 3",
                                              (LEAVES % ("eq", 37)).replace("%r1", r"\2"))),
    ("every block computes every tile",
     both(edit(r"%ctaid\.x", "0"), edit(r"%nctaid\.x", "1"))),
    ("weights of an expert without rows are read",
     after(PARAMETER % 1, "\t{\n\t.reg .b32 unused;\n"
           "\tld.global.b32 \tunused, [\\2+%d];\n\t}\n" % (4 * 2 * EXPERT))),
    ("A is one row short", None, {"b0": -448}),
    ("the weights end too early", None, {"b1": -2 * EXPERT - 1}),
    ("too little shared memory", None, {"--shared": -1024}),
]

SHORT_MMA_MUTANTS = [
    ("cp.async.wait_group missing", drop(r"cp\.async\.wait_group")),
    ("bar.sync missing", drop(r"bar\.sync")),
    ("bar.sync between tiles missing", drop(r"bar\.sync", -1)),
]

GATE_MUTANTS = [
    ("bar.sync missing", drop(r"bar\.sync")),
    ("a sum over half of the lanes", edit(r"(shfl\.sync\.bfly\.b32 \t%r\d+, %r\d+, )16",
                                          r"\g<1>8")),
    ("rows past the end are read", edit(r"min\.s32 \t(%r\d+), %r\d+, (%r\d+);",
                                        r"mov.b32 \t\1, \2;", ALL)),
    ("rows past the end are written", edit(r"setp\.ge\.s32 \t(%p\d+), %r\d+, %r\d+;",
                                           r"setp.ne.u32 \t\1, 0, 0;")),
    ("a partial sum is not stored", drop(r"st\.shared", 3)),
    ("columns past the end are written", edit(r"(setp\.gt\.u32 \t%p\d+, %r\d+, )4;",
                                              r"\g<1>5;", -1)),
]

ROUTE_MUTANTS = [
    ("bar.warp.sync behind the keys missing", drop(r"bar\.warp\.sync", 0), None,
     "with at most 32 experts a lane reads its own key"),
    ("bar.warp.sync behind the choice missing", drop(r"bar\.warp\.sync", 1)),
    ("bar.warp.sync behind the weights missing", drop(r"bar\.warp\.sync", 2)),
    ("tokens past the end", unconditional(0)),
    ("a chosen expert is not taken out", drop(r"st\.shared\.b32 \t\[%rd\d+\], -2147483648")),
]

ALIGN_MUTANTS = [
    ("counters are not zeroed", drop(r"st\.shared\.b32 \t\[%rd\d+\], 0")),
    ("bar.sync behind zeroing missing", drop(r"bar\.sync", 0)),
    ("bar.sync behind counting missing", drop(r"bar\.sync", 1)),
    ("bar.sync behind the sums missing", drop(r"bar\.sync", 2)),
    ("bar.warp.sync before counting missing", drop(r"bar\.warp\.sync", 1)),
    ("sentinels are not written", drop(r"st\.global", 0)),
    ("sentinels past the end", edit(r"(setp\.lt\.s32 \t%p\d+, %r\d+, )%r(\d+)", r"\g<1>10000", 1)),
]

RANK_MUTANTS = [
    ("bar.sync behind zeroing missing", drop(r"bar\.sync", 0)),
    ("bar.sync between warps missing", drop(r"bar\.sync", 1)),
    ("bar.warp.sync before counting missing", drop(r"bar\.warp\.sync")),
    ("rows past the end", edit(r"setp\.ge\.s32 \t(%p\d+), %r\d+, %r\d+;",
                               r"setp.ne.u32 \t\1, 0, 0;", 1)),
]

SCAN_MUTANTS = [
    ("bar.sync behind the counts missing", drop(r"bar\.sync", 0), None,
     "a thread reads its own count; the barrier is for other shapes"),
    ("bar.sync behind the sums of warps missing", drop(r"bar\.sync", 1)),
    ("bar.sync behind the starts missing", drop(r"bar\.sync", 2)),
    ("a sum of a warp is not stored", drop(r"st\.shared", 1)),
]

SCATTER_MUTANTS = [
    ("rows past the end", unconditional(0)),
    ("rows shifted by one", edit(r"(st\.global\.b32 \t\[%rd\d+)\]", r"\1+4]")),
    ("two threads write one row", edit(r"add\.s32 \t(%r\d+), %r\d+, (%r\d+);",
                                       r"mov.b32 \t\1, \2;")),
]

ROWS_SCATTER_MUTANTS = [("ids of no expert are used", unconditional(1))]

PERMUTE_MUTANTS = [
    ("slots without expert are copied", unconditional(0)),
    ("pieces past the end of a row", edit(r"(setp\.gt\.u32 \t%p\d+, %r\d+, )8;", r"\g<1>9;")),
    ("two blocks write one row", edit(r"(cvt\.u64\.u32 \t(%rd\d+), %r\d+;\n)",
                                      r"\1\tand.b64 \t\2, \2, -2;\n")),
    ("a block writes its row twice",
     edit(r"(st\.global\.v4\.b32 \t\[[^;]*;\n)", r"\1\1")),
]

UNPERMUTE_MUTANTS = [
    ("one element is not cleared", edit(r"setp\.ge\.s32 \t(%p\d+), (%r\d+), ",
                                        r"setp.lt.s32 \t\1, \2, 1;\n\tsetp.eq.s32 \t\1, \2, ")),
    ("clears one element more", edit(r"setp\.ge\.s32", "setp.gt.s32")),
]

COMBINE_MUTANTS = [
    ("pieces past the end of a row", edit(r"(setp\.gt\.u32 \t%p\d+, %r\d+, )55;", r"\g<1>56;")),
    ("one token is left out, another computed twice",
     edit(r"(mov\.u32 \t(%r\d+), %ctaid\.x;\n)", r"\1\tmax.u32 \t\2, \2, 1;\n")),
    ("the second expert's row is the first's", edit(r"or\.b64 (\t%rd\d+, %rd\d+), 1;",
                                                    r"or.b64 \1, 0;")),
]

TABLE = {
    WGMMA: WGMMA_MUTANTS,
    SHORT_WGMMA: SHORT_WGMMA_MUTANTS,
    MMA: MMA_MUTANTS,
    SHORT_MMA: SHORT_MMA_MUTANTS,
    "sm_90a 0_gate": GATE_MUTANTS,
    "sm_90a 1_route": ROUTE_MUTANTS,
    ALIGN: ALIGN_MUTANTS,
    "sm_90a 2_align_rank": RANK_MUTANTS,
    "sm_90a 3_align_scan": SCAN_MUTANTS,
    "sm_90a 4_align_scatter": SCATTER_MUTANTS,
    "rows 2_align_scatter": ROWS_SCATTER_MUTANTS,
    "rows 3_permute_copy": PERMUTE_MUTANTS,
    "rows 4_unpermute_clear": UNPERMUTE_MUTANTS,
    "sm_90a 5_combine": COMBINE_MUTANTS,
}
MUTANTS = [Mutant(kernel, *row) for kernel, rows in TABLE.items() for row in rows]
