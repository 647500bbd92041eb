//===- GemmSpec.cpp - legality and shape of a GEMM kernel -------*- C++ -*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Gemm.h"
#include "llvm/Support/MathExtras.h"
#include <numeric>

using namespace mlir;
using namespace mlir::cta;

//===----------------------------------------------------------------------===//
// Legality
//===----------------------------------------------------------------------===//

static LogicalResult refuse(Location loc, const GemmKernelSpec &spec,
                            const Twine &rule) {
  return emitError(loc) << "kernel '" << spec.name << "' " << rule;
}

static LogicalResult verifyTile(Location loc, const GemmKernelSpec &spec) {
  bool wgmma = spec.family == GemmFamily::Wgmma;
  if (wgmma && spec.arch != "sm_90a")
    return refuse(loc, spec,
                  "uses wgmma, which needs sm_90a, but is for " +
                      Twine(spec.arch));
  moe::TensorCoreTile tile;
  tile.wgmma = wgmma;
  tile.rows = spec.block;
  tile.parts = isGated(spec.activation.kind) ? 2 : 1;
  if (spec.tileCols != 0)
    tile.columns = spec.tileCols * tile.parts;
  tile.block = spec.tableBlock;
  std::string reason = moe::refuseTile(tile);
  return reason.empty() ? success() : refuse(loc, spec, reason);
}

/// Elements from row to row of a buffer of rows of `columns`.
static int64_t pitchOf(const GemmMemory &memory, int64_t columns) {
  return memory.pitch ? memory.pitch : columns;
}

/// Elements from expert to expert of b.
static int64_t expertPitchOf(const GemmKernelSpec &spec) {
  return spec.b.expertPitch ? spec.b.expertPitch
                            : spec.n * pitchOf(spec.b, spec.k);
}

/// Bytes that rows of the multiplicand start at multiples of, at most 16.
static int64_t alignmentOf(const GemmMemory &memory, int64_t pitch,
                           int64_t expertPitch) {
  int64_t result = std::gcd(moe::kCopyBytes, memory.alignmentBytes);
  for (int64_t elements : {pitch, expertPitch})
    result = std::gcd(result, elements * kMultiplicandBytes);
  return result;
}

static LogicalResult verifyOperands(Location loc, const GemmKernelSpec &spec) {
  moe::TensorCoreOperands operands;
  operands.is16Bit = spec.element != GemmElement::F32;
  operands.n = spec.n;
  operands.k = spec.k;
  operands.alignmentA = alignmentOf(spec.a, pitchOf(spec.a, spec.k), 0);
  operands.alignmentB =
      alignmentOf(spec.b, pitchOf(spec.b, spec.k), expertPitchOf(spec));
  std::string reason = moe::refuseOperands(operands);
  if (reason.empty() && spec.family == GemmFamily::Wgmma)
    reason = moe::refuseWgmma(operands);
  return reason.empty() ? success()
                        : refuse(loc, spec, "cannot be built: " + reason);
}

LogicalResult cta::verifyGemmKernelSpec(Location loc,
                                        const GemmKernelSpec &spec) {
  if (spec.name.empty())
    return emitError(loc) << "a kernel requires a name";
  if (spec.experts < 1 || spec.n < 1 || spec.topK < 1)
    return refuse(loc, spec, "requires positive experts, n and top_k");
  if (failed(verifyOperands(loc, spec)))
    return failure();
  if (isGated(spec.activation.kind) && spec.n % 2)
    return refuse(loc, spec,
                  "has a gate, so it requires an even n, but got " +
                      Twine(spec.n));
  if (spec.aOrder == GemmRowOrder::Sorted &&
      spec.source == GemmRowSource::Token)
    return refuse(loc, spec, "has sorted rows of a, which have no token");
  if (spec.dense &&
      (spec.experts != 1 || spec.source != GemmRowSource::Flat ||
       spec.aOrder != GemmRowOrder::Flat || spec.cOrder != GemmRowOrder::Flat))
    return refuse(loc, spec,
                  "is dense, so it requires one expert and flat rows");
  if (spec.bias && *spec.bias != GemmElement::F32 && *spec.bias != spec.element)
    return refuse(loc, spec, "requires a bias of f32 or of the type of b");
  if (spec.bias && spec.weight == GemmWeight::Input)
    return refuse(loc, spec,
                  "weighs its input, which a bias does not commute "
                  "with");
  return verifyTile(loc, spec);
}

//===----------------------------------------------------------------------===//
// Shape
//===----------------------------------------------------------------------===//

/// Bytes of the two barriers of a stage.
static constexpr int64_t kBarrierBytes = 16;

/// Stages of a ring when `ctas` blocks share a multiprocessor.
static int64_t stagesThatFit(const GemmKernelSpec &spec, const GemmShape &shape,
                             int64_t ctas, int64_t most) {
  int64_t budget =
      std::min(spec.sharedLimit, spec.sharedPerSM / ctas - spec.sharedReserved);
  int64_t barriers = spec.family == GemmFamily::Wgmma ? kBarrierBytes : 0;
  // Staging starts at the next swizzle atom.
  budget -= shape.stagingBytes ? shape.stagingBytes + kSwizzleAtomBytes : 0;
  return std::min(most, budget / (shape.stageBytes + barriers));
}

static LogicalResult chooseRing(Location loc, const GemmKernelSpec &spec,
                                GemmShape &shape, int64_t preferredCtas,
                                int64_t preferred) {
  int64_t most = spec.stages ? spec.stages : preferred;
  int64_t enough = spec.stages ? spec.stages : std::min<int64_t>(4, preferred);
  for (int64_t ctas = preferredCtas; ctas >= 1; --ctas) {
    shape.ctasPerSM = ctas;
    shape.stages = stagesThatFit(spec, shape, ctas, most);
    if (shape.stages >= enough)
      return success();
  }
  int64_t least = spec.stages ? spec.stages : 2;
  if (shape.stages >= least && least >= 2)
    return success();
  return refuse(
      loc, spec,
      "needs " + Twine(std::max<int64_t>(least, 2)) + " stages of " +
          Twine(shape.stageBytes) + " bytes of shared memory beside " +
          Twine(shape.stagingBytes) + " bytes of staging, but the limit is " +
          Twine(spec.sharedLimit) +
          "; use fewer stages, a smaller block or fewer columns");
}

/// True when rows of c can be written in aligned 16-byte pieces, through
/// stmatrix and staging.
static bool isStaged(const GemmKernelSpec &spec, int64_t outCols) {
  return spec.family == GemmFamily::Wgmma && spec.output != GemmElement::F32 &&
         outCols % 8 == 0 && spec.c.pitch % 8 == 0 &&
         spec.c.alignmentBytes % moe::kCopyBytes == 0;
}

/// Columns of c a tile: what the family likes, less for a narrow c. Direct
/// stores keep 128 accumulators and their masks alive, which spills.
static int64_t defaultTileCols(const GemmKernelSpec &spec, int64_t parts,
                               int64_t outCols) {
  int64_t rows = spec.block == 128 && isStaged(spec, outCols) ? 256 : 128;
  int64_t narrow = llvm::alignTo(outCols, 64);
  return std::min(rows / parts, narrow);
}

FailureOr<GemmShape> cta::deriveShape(Location loc,
                                      const GemmKernelSpec &spec) {
  GemmShape shape;
  bool wgmma = spec.family == GemmFamily::Wgmma;
  shape.parts = isGated(spec.activation.kind) ? 2 : 1;
  shape.outCols = spec.n / shape.parts;
  shape.tileCols = spec.tileCols
                       ? spec.tileCols
                       : defaultTileCols(spec, shape.parts, shape.outCols);
  shape.tileRowsB = shape.tileCols * shape.parts;
  shape.colTiles = llvm::divideCeil(shape.outCols, shape.tileCols);
  shape.kBlocks = llvm::divideCeil(spec.k, kBlockK);
  shape.pitchA = pitchOf(spec.a, spec.k);
  shape.pitchB = pitchOf(spec.b, spec.k);
  shape.pitchC = pitchOf(spec.c, shape.outCols);
  shape.expertB = expertPitchOf(spec);
  shape.alignA = alignmentOf(spec.a, shape.pitchA, 0);
  shape.alignB = alignmentOf(spec.b, shape.pitchB, shape.expertB);
  shape.stageBytes = (spec.block + shape.tileRowsB) * kRowBytes;
  shape.consumers = wgmma ? spec.block / 64 : 0;
  shape.threads = kWarpgroupThreads * (1 + shape.consumers);

  if (isStaged(spec, shape.outCols) && shape.tileCols % 64 == 0)
    shape.stagingBytes = shape.consumers * 4 * 16 * kRowBytes;

  bool two = spec.block == 64 && shape.tileRowsB <= 128;
  if (failed(
          chooseRing(loc, spec, shape, wgmma && !two ? 1 : 2, wgmma ? 4 : 5)))
    return failure();
  if (wgmma && shape.consumers == 2) {
    shape.producerRegisters = 56;
    shape.consumerRegisters = 224;
  } else if (wgmma && shape.ctasPerSM == 2) {
    shape.producerRegisters = 56;
    shape.consumerRegisters = 200;
  }
  return shape;
}
