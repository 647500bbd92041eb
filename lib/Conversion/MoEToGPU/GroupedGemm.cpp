//===- GroupedGemm.cpp - the kernel that a schedule names -*- C++ -*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A schedule of mma.sync or wgmma goes to the builder of tensor-core kernels,
// everything else to the exact SIMT kernel. Tensor-core kernels are
// persistent: the grid is the smaller of what fills the chip and the number of
// tiles.
//
//===----------------------------------------------------------------------===//

#include "Kernels.h"

#include "moe/Conversion/MoEToCTA.h"
#include "moe/Conversion/MoEToGPU.h"
#include "moe/MoE/BufferFacts.h"
#include "moe/Schedule/TensorCoreSupport.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace mlir::moe;
using cta::GemmParam;

//===----------------------------------------------------------------------===//
// The description of the kernel
//===----------------------------------------------------------------------===//

static cta::GemmElement elementOf(Value memref) {
  Type type = cast<MemRefType>(memref.getType()).getElementType();
  return type.isBF16()  ? cta::GemmElement::BF16
         : type.isF16() ? cta::GemmElement::F16
                        : cta::GemmElement::F32;
}

static cta::GemmActivation activationKind(ActivationKind kind) {
  switch (kind) {
  case ActivationKind::SwiGLU:
    return cta::GemmActivation::SwiGLU;
  case ActivationKind::SwiGLUOAI:
    return cta::GemmActivation::SwiGLUOAI;
  case ActivationKind::SwiGLUStep:
    return cta::GemmActivation::SwiGLUStep;
  case ActivationKind::GeGLU:
    return cta::GemmActivation::GeGLU;
  case ActivationKind::SiTU:
    return cta::GemmActivation::SiTU;
  case ActivationKind::GELU:
    return cta::GemmActivation::Gelu;
  case ActivationKind::ReLU2:
    return cta::GemmActivation::Relu2;
  case ActivationKind::SiLU:
    return cta::GemmActivation::Silu;
  }
  llvm_unreachable("all kinds are handled above");
}

static cta::GemmActivationSpec describeActivation(ActivationAttr activation) {
  cta::GemmActivationSpec spec;
  if (!activation)
    return spec;
  spec.kind = activationKind(activation.getKind());
  spec.layout = activation.getLayout() == GateUpLayout::Halves
                    ? cta::GemmGateLayout::Halves
                    : cta::GemmGateLayout::Interleaved;
  if (activation.getLimit())
    spec.limit = static_cast<float>(activation.limitValue());
  spec.alpha = static_cast<float>(activation.alphaValue());
  spec.beta = static_cast<float>(activation.betaValue());
  spec.linearBeta = static_cast<float>(activation.linearBetaValue());
  return spec;
}

static cta::GemmWeight weightOf(WeightPlace place) {
  return place == WeightPlace::None    ? cta::GemmWeight::None
         : place == WeightPlace::Input ? cta::GemmWeight::Input
                                       : cta::GemmWeight::Output;
}

static cta::GemmRowOrder orderOf(RowOrder order) {
  return order == RowOrder::Sorted ? cta::GemmRowOrder::Sorted
                                   : cta::GemmRowOrder::Flat;
}

/// Where the rows of an operand of static strides lie.
static cta::GemmMemory memoryOf(Value memref) {
  auto type = cast<MemRefType>(memref.getType());
  auto [strides, offset] = type.getStridesAndOffset();
  cta::GemmMemory memory;
  memory.pitch = strides[strides.size() - 2];
  if (strides.size() == 3)
    memory.expertPitch = strides[0];
  memory.alignmentBytes = bufferFacts(memref).alignment;
  return memory;
}

static cta::GemmKernelSpec describe(GroupedGemmOp op, LaunchSite &site) {
  ScheduleAttr schedule = *op.getSchedule();
  bool gated = op.getActivation() && op.getActivation()->isGated();
  cta::GemmKernelSpec spec;
  spec.name = site.kernelName("grouped_gemm");
  spec.arch = site.target.arch;
  spec.family = schedule.getMma() == Mma::Wgmma ? cta::GemmFamily::Wgmma
                                                : cta::GemmFamily::MmaSync;
  spec.element = elementOf(op.getB());
  spec.output = elementOf(op.getC());
  spec.experts = op.getNumExperts();
  spec.n = op.getNumColumns();
  spec.k = op.getK();
  spec.block = schedule.tileRows();
  spec.tableBlock = op.getBlock() ? static_cast<int64_t>(*op.getBlock()) : 0;
  spec.tileCols = schedule.tileColumns() / (gated ? 2 : 1);
  spec.stages = schedule.getStages();
  spec.sharedLimit = site.target.sharedPerBlock;
  spec.sharedPerSM = site.target.sharedPerSM;
  spec.sharedReserved = site.target.sharedReserved;
  if (op.getRowSource() == RowSource::Token)
    spec.source = cta::GemmRowSource::Token;
  spec.topK = op.getSlots();
  spec.aOrder = orderOf(op.getAOrder());
  spec.cOrder = orderOf(op.getCOrder());
  spec.dense = op.getGrouping() == Grouping::Dense;
  spec.a = memoryOf(op.getA());
  spec.b = memoryOf(op.getB());
  spec.c = memoryOf(op.getC());
  auto setStart = [&](GemmParam param, Value memref) {
    if (int64_t offset = memref ? bufferStart(memref)->offset : 0)
      spec.startBytes[static_cast<int>(param)] =
          offset * bufferFacts(memref).elementBytes;
  };
  setStart(GemmParam::A, op.getA());
  setStart(GemmParam::B, op.getB());
  setStart(GemmParam::C, op.getC());
  setStart(GemmParam::Bias, op.getBias());
  setStart(GemmParam::Weights, op.getWeights());
  static constexpr GemmParam kTables[] = {
      GemmParam::SortedRows, GemmParam::TileExpert, GemmParam::Padded};
  for (auto [i, rows] : llvm::enumerate(op.getRows()))
    setStart(kTables[i], rows);
  spec.rowsInMemory =
      op.getGrouping() == Grouping::Aligned && !flatRows(op).memref;
  if (op.getBias()) {
    spec.bias = elementOf(op.getBias());
    spec.biasMemory = memoryOf(op.getBias());
  }
  spec.activation = describeActivation(op.getActivationAttr());
  spec.weight = weightOf(op.getWeight());
  return spec;
}

//===----------------------------------------------------------------------===//
// The launch
//===----------------------------------------------------------------------===//

namespace {
/// The launch of a kernel that the builder has made.
struct GemmLaunch {
  GroupedGemmOp op;
  LaunchSite &site;
  const cta::GemmKernel &kernel;
  /// Rows of a tile, and tiles of a block of the row table.
  int64_t rows, tilesPerBlock;
  Value tableRows; // the number of flat rows, where only a table tells
  SmallVector<Value> operands = {};
  SmallVector<std::string> texts = {};

  void add(GemmParam param);
  void emit();

private:
  void addMemRef(StringRef name, Value memref);
  Value encodeMap();
  Value rowCount();
};
} // namespace

void GemmLaunch::addMemRef(StringRef name, Value memref) {
  std::string text = name.str() + ": ";
  llvm::raw_string_ostream(text) << memref.getType();
  operands.push_back(bufferStart(memref)->memref);
  texts.push_back(std::move(text));
}

/// The tensor map over b. Where a box holds gate and up rows, the rows of an
/// expert are split in two dimensions.
Value GemmLaunch::encodeMap() {
  const cta::GemmTensorMap &map = *kernel.map;
  Value source = op.getB();
  SmallVector<int64_t> box(llvm::reverse(map.box));
  if (map.dims.size() == 4) {
    // [E, N, K] as [E, 2, I, K]: halves are stored so, interleaved rows as
    // [E, I, 2, K].
    bool interleaved =
        op.getActivation()->getLayout() == GateUpLayout::Interleaved;
    auto type = cast<MemRefType>(source.getType());
    SmallVector<int64_t> shape(llvm::reverse(map.dims));
    if (interleaved)
      std::swap(shape[1], shape[2]);
    SmallVector<ReassociationIndices> groups = {{0}, {1, 2}, {3}};
    // Splitting one dimension suits every layout with strides.
    MemRefType split =
        *memref::ExpandShapeOp::computeExpandedType(type, shape, groups);
    source = memref::ExpandShapeOp::create(site.host, site.loc(), split, source,
                                           groups);
    if (interleaved) {
      SmallVector<unsigned> order = {0, 2, 1, 3};
      source = memref::TransposeOp::create(
          site.host, site.loc(), source,
          AffineMapAttr::get(
              AffineMap::getPermutationMap(order, op.getContext())));
    }
  }
  return EncodeTensorMapOp::create(
      site.host, site.loc(), TensorMapType::get(op.getContext()), source,
      site.host.getDenseI64ArrayAttr(box),
      site.host.getI64IntegerAttr(map.swizzleBytes));
}

/// The number of flat rows, an index.
Value GemmLaunch::rowCount() {
  FlatRows rows = op.getGrouping() == Grouping::Dense ? FlatRows{op.getA(), 1}
                                                      : flatRows(op);
  AffineExpr rule = getAffineSymbolExpr(0, op.getContext()) * rows.factor;
  return site.apply(rule, site.extent(rows.memref, 0));
}

void GemmLaunch::add(GemmParam param) {
  switch (param) {
  case GemmParam::A:
    return addMemRef("a", op.getA());
  case GemmParam::B:
    return addMemRef("b", op.getB());
  case GemmParam::BMap:
    operands.push_back(encodeMap());
    texts.push_back("b: !moe.tensor_map");
    return;
  case GemmParam::SortedRows:
    return addMemRef("sorted_rows", op.getRows()[0]);
  case GemmParam::TileExpert:
    return addMemRef("tile_expert", op.getRows()[1]);
  case GemmParam::Padded:
    return addMemRef("padded", op.getRows()[2]);
  case GemmParam::Bias:
    return addMemRef("bias", op.getBias());
  case GemmParam::Weights:
    return addMemRef("weights", op.getWeights());
  case GemmParam::C:
    return addMemRef("c", op.getC());
  case GemmParam::Rows:
    operands.push_back(arith::IndexCastOp::create(
        site.host, site.loc(), site.host.getI32Type(), rowCount()));
    texts.push_back("R: i32");
    return;
  case GemmParam::RowsBuffer:
    return addMemRef("flat_rows", tableRows);
  }
}

void GemmLaunch::emit() {
  for (GemmParam param : kernel.params)
    add(param);
  bool dense = op.getGrouping() == Grouping::Dense;
  AffineExpr count = getAffineSymbolExpr(0, op.getContext());
  AffineExpr rule =
      (dense ? count.ceilDiv(rows) : count * tilesPerBlock) * kernel.colTiles;
  Value tiles =
      site.apply(rule, dense ? rowCount() : site.extent(op.getRows()[1], 0));
  int64_t resident = site.target.numSMs * kernel.ctasPerSM;
  Value one = site.constant(1);
  Value grid = arith::MinSIOp::create(site.host, site.loc(),
                                      site.constant(resident), tiles);
  std::string text =
      "(min(" + std::to_string(resident) + ", " +
      (dense ? "(R ceildiv " + std::to_string(rows) + ")" : std::string("B")) +
      " * " + std::to_string(tilesPerBlock * kernel.colTiles) + "), 1, 1)";
  LLVM::LLVMFuncOp func = kernel.func;
  setKernelInfo(func, texts, text, kernel.threads, kernel.sharedBytes,
                *op.getSchedule());
  Value shared = arith::ConstantIntOp::create(site.host, site.loc(),
                                              kernel.sharedBytes, /*width=*/32);
  auto symbol = SymbolRefAttr::get(site.module.getNameAttr(),
                                   {SymbolRefAttr::get(func.getSymNameAttr())});
  gpu::LaunchFuncOp::create(
      site.host, site.loc(), symbol, gpu::KernelDim3{grid, one, one},
      gpu::KernelDim3{site.constant(kernel.threads), one, one}, shared,
      operands);
}

LogicalResult moe::outline(GroupedGemmOp op, LaunchSite &site) {
  if (!op.getSchedule() || op.getSchedule()->getMma() == Mma::Simt)
    return outlineSimtGemm(op, site);
  if (failed(checkSchedule(op, site.target)))
    return failure();
  Value tableRows = tableRowsOf(op, site);
  cta::GemmKernelSpec spec = describe(op, site);
  FailureOr<cta::GemmKernel> kernel =
      cta::buildGemmKernel(op.getLoc(), site.module, spec);
  if (failed(kernel))
    return failure();
  int64_t tilesPerBlock = std::max<int64_t>(spec.tableBlock / spec.block, 1);
  GemmLaunch{op, site, *kernel, spec.block, tilesPerBlock, tableRows}.emit();
  return success();
}
