# Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The entries of malformed.py: (name, words of the error, edits of valid.mlir).

An edit (old, new) replaces every occurrence; words "" accept any located error.
"""

# What the numbered constraints of the ops refuse.
CONSTRAINTS = [
    ("gate-experts-differ", "(C3)", ("%l0 : tensor<?x8xf32>)", "%l1 : tensor<?x9xf32>)"),
     ("%l0 =", "%l1 = tensor.empty(%t) : tensor<?x9xf32>\n  %l0 ="),
     ("-> tensor<?x8xf32>\n  %s0", "-> tensor<?x9xf32>\n  %s0"),
     ("%s, %i = moe.route ins(%l : tensor<?x8xf32>)",
      "%s, %i = moe.route ins(%l : tensor<?x9xf32>)")),
    ("gate-bias-short", "(C3)", ("tensor<8xbf16>", "tensor<7xbf16>")),
    ("gate-bias-rank", "(C1)", ("tensor<8xbf16>", "tensor<1x8xbf16>")),
    ("gate-dynamic-experts", "(C4)", ("%wg: tensor<8x64xbf16>", "%wg: tensor<?x64xbf16>"),
     ("%wg : tensor<?x64xbf16>, tensor<8x64xbf16>",
      "%wg : tensor<?x64xbf16>, tensor<?x64xbf16>")),
    ("route-groups", "(C5)", ("groups = 4", "groups = 3")),
    ("route-no-groups", "(C5)", ("groups = 4", "groups = 0")),
    ("route-groups-negative", "(C5)", ("groups = 4", "groups = -4")),
    ("route-keep-too-many", "(C5)", ("keep_groups = 2", "keep_groups = 5")),
    ("route-bias-length", "(C6)", ("tensor<8xf32>", "tensor<16xf32>")),
    ("route-bias-type", "(C6)", ("tensor<8xf32>", "tensor<8xi32>")),
    ("route-k-over-experts", "(C3)", ("?x2x", "?x9x")),
    ("route-k-dynamic", "(C3)", ("?x2x", "?x?x"),
     ("tensor.empty(%t) : tensor<?x?x", "tensor.empty(%t, %t) : tensor<?x?x")),
    ("route-sparsemixer-bias", "(C9)", ("score<sigmoid>", "score<sparsemixer>")),
    ("route-scale-infinite", "(C10)", ("2.5 : f32", "0x7F800000 : f32")),
    ("route-scale-nan", "(C10)", ("2.5 : f32", "0x7FC00000 : f32")),
    ("route-softcap-zero", "(C10)", ("renormalize", "softcap = 0.0 : f32")),
    ("route-jitter-negative", "(C10)", ("renormalize", "jitter = -0.5 : f32")),
    ("align-block-48", "(C2)", ("{experts = 8, block = 4}", "{experts = 8, block = 48}")),
    ("align-block-0", "(C2)", ("{experts = 8, block = 4}", "{experts = 8, block = 0}")),
    ("align-block-512", "(C2)", ("{experts = 8, block = 4}", "{experts = 8, block = 512}")),
    ("align-experts-0", "(C3)", ("{experts = 8, block = 4}", "{experts = 0, block = 4}")),
    ("align-experts-differ", "(C4)", ("{experts = 8, block", "{experts = 9, block")),
    ("align-too-few-rows", "(C6)", ("tensor<34xi32>", "tensor<33xi32>")),
    ("align-too-few-tiles", "(C5)", ("tensor<9xi32>", "tensor<8xi32>")),
    ("group-ids-grouping", "(C2)", ("masked>, capacity = 4", "ids>, capacity = 4")),
    ("group-ids-capacity", "(C3)", ("masked>, capacity = 4", "masked>, capacity = 5")),
    ("group-ids-capacity-huge", "(C3)",
     ("capacity = 4", "capacity = 9223372036854775807")),
    ("gemm-types", "(C1)", ("%w: tensor<8x64x32xf16>", "%w: tensor<8x64x32xbf16>"),
     ("tensor<10x64xf16>, tensor<8x64x32xf16>", "tensor<10x64xf16>, tensor<8x64x32xbf16>")),
    ("gemm-no-rows", "(C2)", ("grouping<masked>}", "grouping<dense>}")),
    ("gemm-depth-differs", "(C5)", ("8x96x64x", "8x96x60x")),
    ("gemm-too-many-experts", "(C4)", ("8x96x64x", "5000x96x64x"),
     ("8x96xf32", "5000x96xf32")),
    ("gemm-c-columns", "(C5)", ("8x64x48x", "8x65x48x")),
    ("gemm-odd-gate", "(C6)", ("grouping<ids>} -> tensor<?x64xbf16>",
                              "grouping<ids>, activation = #moe.activation<swiglu>}"
                              " -> tensor<?x64xbf16>")),
    ("gemm-bias-columns", "(C7)", ("tensor<8x96xf32>", "tensor<8x48xf32>")),
    ("gemm-bias-type", "(C7)", ("tensor<8x96xf32>", "tensor<8x96xf16>")),
    ("gemm-weights-unused", "(C8)", ("weight = #moe.weight<output>, ", "")),
    ("gemm-weights-missing", "(C8)", ("grouping<k_grouped>", "grouping<k_grouped>, "
                                      "weight = #moe.weight<output>")),
    ("gemm-weight-on-input", "(C9)", ("weight<output>", "weight<input>")),
    ("gemm-k-grouped-token", "(C10)", ("grouping<k_grouped>", "grouping<k_grouped>, "
                                       "row_source = #moe.row_source<token>")),
    ("gemm-token-offsets", "(C11)", ("grouping<offsets>", "grouping<offsets>, "
                                     "row_source = #moe.row_source<token>")),
    ("gemm-no-block", "(C12)", ("top_k = 2, block = 4", "top_k = 2")),
    ("gemm-top-k-0", "(C12)", ("top_k = 2, block = 4", "top_k = 0, block = 4")),
    ("gemm-sorted-ids", "(C13)", ("row_source<token>,\n       schedule",
                                  "row_source<token>, a_order = #moe.row_order<sorted>,"
                                  "\n       schedule")),
    ("activation-columns", "(C2)", ("?x48xbf16", "?x47xbf16"),
     ("8x64x48x", "8x64x47x")),
    ("combine-experts-0", "(C4)", ("{experts = 8} -> tensor<?x64xbf16>",
                                   "{experts = 0} -> tensor<?x64xbf16>")),
    ("combine-identity-missing", "(C5)",
     ("{experts = 8} -> tensor<?x64xbf16>",
      "{experts = 8, identity_experts = 4} -> tensor<?x64xbf16>")),
    ("combine-scale-nan", "(C6)",
     ("{experts = 8} -> tensor<?x64xbf16>",
      "{experts = 8, scale = 0xFFC00000 : f32} -> tensor<?x64xbf16>")),
    ("combine-no-residual", "(C6)",
     ("residual(%x : tensor<?x64xbf16>) ", ""),
     ("{experts = 8} -> tensor<?x64xbf16>",
      "{experts = 8, residual_scale = 2.0 : f32} -> tensor<?x64xbf16>")),
    ("permute-experts-differ", "(C3)", ("{experts = 8} -> tensor<10x64xf16>",
                                        "{experts = 7} -> tensor<10x64xf16>")),
    ("permute-rows", "(C2)", ("tensor<10x64xf16>", "tensor<11x64xf16>")),
    ("tensor-map-box", "(C2)", ("box [64, 64]", "box [64, 512]")),
    ("tensor-map-rank", "(C2)", ("box [64, 64]", "box [64]")),
    ("tensor-map-swizzle", "(C3)", ("swizzle = 128", "swizzle = 48")),
    ("tensor-map-rows", "(C1)", ("memref<256x64xbf16>", "memref<256x63xbf16>")),
]

# What attributes refuse.
ATTRIBUTES = [
    ("activation-limit-negative", "limit", ("limit = 10.0", "limit = -1.0")),
    ("activation-limit-unused", "limit", ("swiglu, limit", "geglu, limit")),
    ("activation-layout", "layout", ("swiglu, limit = 10.0", "gelu, layout = interleaved")),
    ("activation-kind", "", ("activation<swiglu, limit = 10.0>", "activation<swish>")),
    ("schedule-tile", "tile", ("tile = [64, 96, 64]", "tile = [64, 96]")),
    ("schedule-tile-0", "tile", ("tile = [64, 96, 64]", "tile = [64, 0, 64]")),
    ("schedule-stages", "stages", ("stages = 4", "stages = 0")),
    ("schedule-mma", "", ("mma = wgmma", "mma = tcgen05")),
    ("schedule-unknown", "", ("stages = 4", "stage = 4")),
    ("schedule-huge", "", ("stages = 4", "stages = 99999999999999999999")),
    ("score-kind", "", ("score<sigmoid>", "score<relu>")),
    ("grouping-kind", "", ("grouping<k_grouped>", "grouping<by_hand>")),
    ("grouping-missing", "grouping", ("{grouping = #moe.grouping<masked>}", "")),
    ("experts-float", "experts", ("{experts = 8, block", "{experts = 8.0, block")),
    ("scale-integer", "scale", ("scale = 2.5 : f32", "scale = 2 : i64")),
    ("scale-f64", "scale", ("scale = 2.5 : f32", "scale = 2.5 : f64")),
    ("grouping-string", "grouping", ("#moe.grouping<masked>}", '"masked"}')),
    ("attribute-twice", "", ("groups = 4", "groups = 4, groups = 4")),
    ("attribute-of-another-dialect", "", ("#moe.grouping<masked>}", "#gpu.address_space<global>}")),
]

# Wrong types and wrong numbers of values.
TYPES = [
    ("tensor-and-memref", "tensors or all memrefs", ("%x: tensor<5x64xf32>", "%x: memref<5x64xf32>"),
     ("%x, %w : tensor<5x64xf32>", "%x, %w : memref<5x64xf32>")),
    ("vector-operand", "", ("%x: tensor<5x64xf32>", "%x: vector<5x64xf32>"),
     ("%x, %w : tensor<5x64xf32>", "%x, %w : vector<5x64xf32>")),
    ("unranked-operand", "", ("%x: tensor<5x64xf32>", "%x: tensor<*xf32>"),
     ("%x, %w : tensor<5x64xf32>", "%x, %w : tensor<*xf32>")),
    ("ids-i64", "(C1)", ("tensor<5x2xi32>", "tensor<5x2xi64>")),
    ("ids-float", "(C1)", ("tensor<5x2xi32>", "tensor<5x2xf32>")),
    ("float-f64", "(C1)", ("x64xf32", "x64xf64"), ("x32xf32", "x32xf64")),
    ("float-fp8", "", ("xbf16", "xf8E4M3FN")),
    ("float-complex", "(C1)", ("x64xf32", "x64xcomplex<f32>")),
    ("element-index", "", ("xf16", "xindex")),
    ("result-type", "", ("-> tensor<10x32xf16>\n  %y0", "-> tensor<10x31xf16>\n  %y0")),
    ("result-missing", "", ("-> tensor<10x32xf16>\n  %y0", "\n  %y0")),
    ("result-count", "", ("%rows, %source, %ends =", "%rows, %source =")),
    ("tensor-encoding", "encoding", ("%x: tensor<5x64xf32>", '%x: tensor<5x64xf32, "csr">'),
     ("%x, %w : tensor<5x64xf32>", '%x, %w : tensor<5x64xf32, "csr">')),
    ("return-count", "", ("return %c, %counts : tensor<10x32xf32>, tensor<8xi32>",
                          "return %c : tensor<10x32xf32>")),
]

# Text that does not parse.
SYNTAX = [
    ("unknown-op", "", ("moe.unpermute", "moe.shuffle")),
    ("unknown-dialect", "", ("moe.unpermute", "mix.unpermute")),
    ("undefined-value", "", ("ins(%c, %source", "ins(%d, %source")),
    ("redefined-value", "", ("%y0 = tensor.empty() : tensor<10x32xf16>",
                             "%c0 = tensor.empty() : tensor<10x32xf16>")),
    ("no-comma", "", ("(%c, %source :", "(%c %source :")),
    ("no-paren", "", ("ins(%c, %source : tensor<10x32xf16>, tensor<10xi32>)",
                      "ins(%c, %source : tensor<10x32xf16>, tensor<10xi32>")),
    ("no-outs", "", ("outs(%y0 : tensor<10x32xf16>)", "")),
    ("outs-twice", "", ("outs(%y0 : tensor<10x32xf16>)",
                        "outs(%y0 : tensor<10x32xf16>) outs(%y0 : tensor<10x32xf16>)")),
    ("clause-order", "", ("rows(%ends : tensor<8xi32>) outs(%c0 : tensor<10x32xf16>)",
                          "outs(%c0 : tensor<10x32xf16>) rows(%ends : tensor<8xi32>)")),
    ("open-string", "", ("{experts = 8, block = 4}", '{experts = 8, block = "4}')),
    ("open-attribute", "", ("#moe.grouping<masked>}", "#moe.grouping<masked}")),
    ("negative-extent", "", ("tensor<34xi32>", "tensor<-34xi32>")),
    ("extent-too-big", "", ("tensor<34xi32>", "tensor<99999999999999999999xi32>")),
    ("control-bytes", "", ("moe.unpermute", "moe.\x01\x02permute")),
    ("nul-byte", "", ("moe.unpermute", "moe.un\0permute")),
    ("not-utf-8", "", ("moe.unpermute", "moe.un\udcffpermute")),
]


def function(arguments, body, results=""):
    return f"func.func @layer({arguments}) {results} {{\n{body}\n}}\n"


HUGE = 2**62
# Whole texts: (name, words, text).
TEXTS = [
    ("garbage", "", "lorem ipsum\n"),
    ("another-language", "", "int main() { return 0; }\n"),
    ("empty-function", "", "func.func @layer() -> tensor<4xf32> {}\n"),
    ("nested-attributes", "", "module attributes {a = " + "[" * 200 + "]" * 199 + "} {}\n"),
    ("nested-modules", "", "module {" * 200 + "}" * 199 + "\n"),
    ("nested-types", "", "func.func private @f(" + "tuple<" * 200 + ")\n"),
    ("long-line", "", "func.func @layer(" + "%x: i32, " * 20000 + ")\n"),
    ("long-name", "", "func.func @" + "a" * 100000 + "(\n"),
    ("self-reference", "", "#a = #a\nmodule attributes {a = #a} {}\n"),
    ("huge-extents", "(C", function(
        f"%ids: tensor<{HUGE}x8xi32>, %y: tensor<{HUGE}x4xf32>, %w: tensor<{HUGE}x8xf32>,"
        f"%o: tensor<{HUGE}x4xf32>",
        "  %0 = moe.combine ins(%y, %w, %ids : "
        f"tensor<{HUGE}x4xf32>, tensor<{HUGE}x8xf32>, tensor<{HUGE}x8xi32>) "
        f"outs(%o : tensor<{HUGE}x4xf32>) {{experts = 8}} -> tensor<{HUGE}x4xf32>\n"
        "  return")),
    ("huge-columns", "(C2)", function(
        f"%h: tensor<?x4xf32>, %a: tensor<?x{2**63 - 1}xf32>",
        "  %0 = moe.activation ins(%h : tensor<?x4xf32>) "
        f"outs(%a : tensor<?x{2**63 - 1}xf32>) "
        f"{{activation = #moe.activation<swiglu>}} -> tensor<?x{2**63 - 1}xf32>\n"
        "  return")),
    ("operand-segments", "operandSegmentSizes", function(
        "%a: tensor<4x4xf32>",
        '  %0 = "moe.grouped_gemm"(%a, %a, %a) <{grouping = #moe.grouping<dense>, '
        "operandSegmentSizes = array<i32: 1, 0, 1, 0, 0, 0, 0, 1>}> : "
        "(tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>\n"
        "  return")),
    ("operand-segments-negative", "", function(
        "%a: tensor<4x4xf32>",
        '  %0 = "moe.grouped_gemm"(%a, %a, %a) <{grouping = #moe.grouping<dense>, '
        "operandSegmentSizes = array<i32: 1, 1, -1, 0, 0, 0, 0, 2>}> : "
        "(tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>\n"
        "  return")),
    ("no-operands", "", function("", '  "moe.unpermute"() : () -> ()\n  return')),
    ("generic-no-attributes", "", function(
        "%a: tensor<4x4xf32>",
        '  %0 = "moe.activation"(%a, %a) : (tensor<4x4xf32>, tensor<4x4xf32>) -> '
        "tensor<4x4xf32>\n  return")),
]

# Modules that parse, but that a pipeline or a device must refuse: (name, words,
# command, text).
TO_CPU, TO_PTX = ["moe-opt", "--moe-to-cpu"], ["moe-opt", "--moe-to-ptx"]
RUN = ["moe-run", "--device=reference", "--tokens=3"]
RUN_CPU = ["moe-run", "--device=cpu", "--tokens=3"]

SCHEDULED = """func.func @layer(%x: tensor<?x64xbf16>, %w: tensor<1x{n}x64xbf16>,
                 %c: tensor<?x{n}xbf16>) -> tensor<?x{n}xbf16> {{
  %r = moe.grouped_gemm ins(%x, %w : tensor<?x64xbf16>, tensor<1x{n}x64xbf16>)
      outs(%c : tensor<?x{n}xbf16>)
      {{grouping = #moe.grouping<dense>, schedule = #moe.schedule<{schedule}>}}
      -> tensor<?x{n}xbf16>
  return %r : tensor<?x{n}xbf16>
}}
"""


def scheduled(schedule, n=64):
    return SCHEDULED.format(schedule=schedule, n=n)


CAST = function(
    "%x: tensor<2x3xf32>",
    "  %d = tensor.cast %x : tensor<2x3xf32> to tensor<?x3xf32>\n"
    "  %e = tensor.cast %d : tensor<?x3xf32> to tensor<4x3xf32>\n"
    "  return %e : tensor<4x3xf32>", "-> tensor<4x3xf32>")
FOREIGN = function("%x: tensor<2x3xf32>",
                   "  %i = arith.constant dense<0> : tensor<2x1xindex>\n"
                   "  %e = tensor.gather %x[%i] gather_dims([0])\n"
                   "    : (tensor<2x3xf32>, tensor<2x1xindex>) -> tensor<2x1x3xf32>\n"
                   "  return %e : tensor<2x1x3xf32>", "-> tensor<2x1x3xf32>")
ENDLESS = function("%x: tensor<2xf32>", "  cf.br ^bb1\n^bb1:\n  cf.br ^bb1",
                   "-> tensor<2xf32>")
MEMREFS = function(
    "%x: memref<4x8xf32, strided<[16, 2]>>, %w: memref<4x8xf32>, %l: memref<4x4xf32>",
    "  moe.gate ins(%x, %w : memref<4x8xf32, strided<[16, 2]>>, memref<4x8xf32>) "
    "outs(%l : memref<4x4xf32>)\n  return")
RECURSIVE = function("%x: tensor<2xf32>",
                     "  %y = func.call @layer(%x) : (tensor<2xf32>) -> tensor<2xf32>\n"
                     "  return %y : tensor<2xf32>", "-> tensor<2xf32>")
WHILE = function("%x: tensor<2xf32>",
                 "  %t = arith.constant true\n  scf.while : () -> () {\n"
                 "    scf.condition(%t)\n  } do {\n    scf.yield\n  }\n"
                 "  return %x : tensor<2xf32>", "-> tensor<2xf32>")


def empty(extent):
    return function("", f"  %c = arith.constant {extent} : index\n"
                    "  %e = tensor.empty(%c) : tensor<?xf32>\n"
                    "  return %e : tensor<?xf32>", "-> tensor<?xf32>")


def indexed(op, result):
    return function("%x: tensor<2x3xf32>", "  %c = arith.constant 7 : index\n"
                    f"  %e = {op}\n  return %e : {result}", f"-> {result}")


REFUSED = [
    ("cast-cpu", "", TO_CPU, CAST),
    ("cast-ptx", "", TO_PTX, CAST),
    ("cast-run", "requires a value of type", RUN, CAST),
    ("foreign-cpu", "form on buffers", TO_CPU, FOREIGN),
    ("foreign-run-cpu", "form on buffers", RUN_CPU, FOREIGN),
    ("endless-cpu", "", TO_CPU, ENDLESS),
    ("endless-ptx", "", TO_PTX, ENDLESS),
    ("endless-run", "one block", RUN, ENDLESS),
    ("strided-ptx", "an innermost stride of 1", TO_PTX, MEMREFS),
    ("memrefs-run", "a tensor or a scalar", RUN, MEMREFS),
    ("recursion-run", "recursion", RUN, RECURSIVE),
    ("while-run", "scf.while", RUN, WHILE),
    ("empty-negative-run", "negative extent", RUN, empty(-1)),
    ("empty-negative-run-cpu", "negative extent", RUN_CPU, empty(-1)),
    ("empty-huge-run", "memory", RUN, empty(9 * 10**18)),
    ("dim-run", "dimension", RUN, indexed(
        "tensor.dim %x, %c : tensor<2x3xf32>", "index")),
    ("extract-run", "index", RUN, indexed(
        "tensor.extract %x[%c, %c] : tensor<2x3xf32>", "f32")),
    ("slice-run", "slice", RUN, indexed(
        "tensor.extract_slice %x[0, 0] [%c, 3] [1, 1] : "
        "tensor<2x3xf32> to tensor<?x3xf32>", "tensor<?x3xf32>")),
    ("vector-run", "a tensor or a scalar", RUN, function(
        "%x: vector<4xf32>", "  return %x : vector<4xf32>", "-> vector<4xf32>")),
    ("arch-unknown", "sm_70", ["moe-opt", "--moe-to-ptx=arch=sm_70"], scheduled(
        "mma = simt, tile = [64, 64, 16]")),
    ("arch-without-wgmma", "wgmma", ["moe-opt", "--moe-to-ptx=arch=sm_80"], scheduled(
        "mma = wgmma, tile = [64, 64, 64], stages = 4")),
    ("stages-too-many", "stages", TO_PTX, scheduled(
        "mma = wgmma, tile = [64, 64, 64], stages = 40")),
    ("shared-memory", "bytes of shared memory", TO_PTX, scheduled(
        "mma = wgmma, tile = [128, 64, 64], stages = 16, warps = 12")),
    ("warps-overflow", "warps", TO_PTX, scheduled(
        f"mma = wgmma, tile = [64, 64, 64], stages = 2, warps = {2**63 - 1}")),
    ("tokens-negative", "tokens", ["moe-opt", "--moe-to-ptx=tokens=-5"], scheduled(
        "mma = simt, tile = [64, 64, 16]")),
    ("stages-overflow", "", TO_PTX, scheduled(
        f"mma = wgmma, tile = [64, 64, 64], stages = {2**63 - 1}")),
    ("tile-overflow", "", TO_PTX, scheduled(
        f"mma = wgmma, tile = [64, {2**63 - 64}, 64], stages = 2")),
    ("tile-odd", "columns", TO_PTX, scheduled(
        "mma = wgmma, tile = [64, 60, 64], stages = 2")),
    ("columns-overflow", "", TO_PTX, scheduled(
        "mma = wgmma, tile = [64, 64, 64], stages = 2", n=2**62)),
]
