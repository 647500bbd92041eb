//===- Launch.cpp - kernel parameters and the launch ------------*- C++ -*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The host side of a KernelBuilder: each parameter of the kernel is bound to a
// value of the host function when it is created, so that the two lists cannot
// differ.
//
//===----------------------------------------------------------------------===//

#include "KernelBuilder.h"

#include "moe/Conversion/MoEToGPU.h"
#include "moe/MoE/BufferFacts.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/Remarks.h"
#include "llvm/Support/MathExtras.h"
#include <limits>

using namespace mlir;
using namespace mlir::moe;

//===----------------------------------------------------------------------===//
// LaunchSite
//===----------------------------------------------------------------------===//

Value LaunchSite::constant(int64_t value) {
  return arith::ConstantIndexOp::create(host, loc(), value);
}

Value LaunchSite::extent(Value memref, int64_t dim) {
  auto type = cast<MemRefType>(memref.getType());
  if (!type.isDynamicDim(dim))
    return constant(type.getDimSize(dim));
  return memref::DimOp::create(host, loc(), memref, dim);
}

Value LaunchSite::apply(AffineExpr rule, ValueRange symbols) {
  SmallVector<OpFoldResult> operands;
  for (Value symbol : symbols)
    operands.push_back(getAsOpFoldResult(symbol));
  AffineMap map = AffineMap::get(0, symbols.size(), rule);
  OpFoldResult result =
      affine::makeComposedFoldedAffineApply(host, loc(), map, operands);
  return getValueOrCreateConstantIndexOp(host, loc(), result);
}

Value LaunchSite::workspace(Type element, AffineExpr rule, ValueRange symbols) {
  auto type = MemRefType::get({ShapedType::kDynamic}, element);
  return memref::AllocOp::create(host, loc(), type, apply(rule, symbols));
}

std::string LaunchSite::kernelName(StringRef piece) {
  std::string name;
  do
    name = (prefix + Twine(kernelCount++) + "_" + piece).str();
  while (module.lookupSymbol(name));
  return name;
}

//===----------------------------------------------------------------------===//
// Parameters
//===----------------------------------------------------------------------===//

KernelBuilder::KernelBuilder(LaunchSite &site, StringRef piece, int64_t threads)
    : b(site.loc(), site.op->getContext()), site(site), threads(threads) {
  b.setInsertionPointToEnd(site.module.getBody());
  auto type =
      LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(b.getContext()), {});
  func = LLVM::LLVMFuncOp::create(b, site.kernelName(piece), type);
  func->setAttr(gpu::GPUDialect::getKernelFuncAttrName(), b.getUnitAttr());
  func->setAttr(NVVM::NVVMDialect::getKernelFuncAttrName(), b.getUnitAttr());
  func->setAttr(NVVM::NVVMDialect::getReqntidAttrName(),
                b.getDenseI32ArrayAttr({static_cast<int32_t>(threads)}));
  // Without a wish for occupancy ptxas spills rather than give up a block.
  func->setAttr(NVVM::NVVMDialect::getMinctasmAttrName(),
                b.getI32IntegerAttr(1));
  b.setInsertionPointToStart(func.addEntryBlock(b));
}

Val KernelBuilder::addParameter(Type type, Value host,
                                std::string description) {
  parameterTypes.push_back(type);
  hostOperands.push_back(host);
  parameterTexts.push_back(std::move(description));
  return wrap(func.getBody().addArgument(type, b.getLoc()));
}

template <typename T>
static std::string textOf(T printable) {
  std::string text;
  llvm::raw_string_ostream(text) << printable;
  return text;
}

/// The largest offset of an element, saturated; extents that only a call tells
/// count as 2^31 - 1, the most rows that a kernel counts.
static int64_t largestOffset(MemRefType type, ArrayRef<int64_t> strides) {
  constexpr int64_t kMostRows = std::numeric_limits<int32_t>::max();
  int64_t result = 0;
  for (auto [extent, stride] : llvm::zip_equal(type.getShape(), strides)) {
    int64_t most = ShapedType::isDynamic(extent) ? kMostRows : extent;
    int64_t step = ShapedType::isDynamic(stride) ? kMostRows : stride;
    int64_t distance;
    if (llvm::MulOverflow(std::max<int64_t>(most - 1, 0), step, distance) ||
        llvm::AddOverflow(result, distance, result))
      return std::numeric_limits<int64_t>::max();
  }
  return result;
}

void KernelBuilder::addStrides(StringRef name, Value memref, Buffer &buffer) {
  auto type = cast<MemRefType>(memref.getType());
  auto [strides, offset] = type.getStridesAndOffset();
  bool isIdentity = type.getLayout().isIdentity();
  Operation *metadata = nullptr;
  for (auto [i, stride] : llvm::enumerate(strides)) {
    if (!ShapedType::isDynamic(stride)) {
      buffer.strides.push_back(stride);
      continue;
    }
    if (isIdentity) {
      buffer.strides.push_back(0);
      continue;
    }
    if (!metadata)
      metadata = memref::ExtractStridedMetadataOp::create(site.host, site.loc(),
                                                          memref);
    Value host = arith::IndexCastOp::create(
        site.host, site.loc(), b.getI64Type(),
        cast<memref::ExtractStridedMetadataOp>(metadata).getStrides()[i]);
    std::string text = (name + " stride " + Twine(i) + ": i64").str();
    buffer.strides.push_back(addParameter(b.getI64Type(), host, text));
  }
  int64_t largest = largestOffset(type, strides);
  buffer.isNarrow = largest <= std::numeric_limits<int32_t>::max();
  if (!buffer.isNarrow && type.getRank() > 1)
    remark::analysis(site.loc(), remark::RemarkOpts::name("wide-offsets")
                                     .category("moe-offsets")
                                     .function(func.getSymName()))
        << ("offsets in " + name + " take 64 bits: " + textOf<Type>(type) +
            " may reach beyond 2^31 elements")
               .str();
}

Buffer KernelBuilder::buffer(StringRef name, Value memref) {
  auto type = cast<MemRefType>(memref.getType());
  auto pointer = LLVM::LLVMPointerType::get(b.getContext(), 1);
  // The op was checked to start at a constant place.
  BufferStart start = *bufferStart(memref);
  Val value = addParameter(pointer, start.memref,
                           (name + ": " + textOf<Type>(type)).str());
  if (start.offset != 0) {
    Val distance = i64(start.offset);
    value = wrap(LLVM::GEPOp::create(b, pointer, type.getElementType(), value,
                                     ValueRange{distance}));
  }
  Buffer buffer{value, type.getElementType()};
  addStrides(name, memref, buffer);
  return buffer;
}

AffineExpr KernelBuilder::gridExtent(StringRef name, Value memref,
                                     int64_t dim) {
  auto symbol = getAffineSymbolExpr(extentNames.size(), b.getContext());
  extentNames.push_back(name.str());
  extentValues.push_back(site.extent(memref, dim));
  return symbol;
}

Extent KernelBuilder::extent(StringRef name, Value memref, int64_t dim) {
  AffineExpr symbol = gridExtent(name, memref, dim);
  Value host = arith::IndexCastOp::create(site.host, site.loc(), b.getI32Type(),
                                          extentValues.back());
  return {addParameter(b.getI32Type(), host, (name + ": i32").str()), symbol};
}

AffineExpr KernelBuilder::rule(int64_t value) {
  return getAffineConstantExpr(value, b.getContext());
}

//===----------------------------------------------------------------------===//
// Launch
//===----------------------------------------------------------------------===//

/// The grid rule in words of the extents, such as "(T ceildiv 4, 16, 1)".
static std::string gridText(ArrayRef<AffineExpr> grid,
                            ArrayRef<std::string> names) {
  std::string text;
  llvm::raw_string_ostream os(text);
  os << "(";
  for (int dim = 0; dim < 3; ++dim) {
    os << (dim ? ", " : "");
    if (dim >= static_cast<int>(grid.size())) {
      os << 1;
      continue;
    }
    // Symbols print as s0, s1, ... and no name of an extent is one of them.
    std::string rule = textOf(grid[dim]);
    for (size_t i = names.size(); i-- > 0;) {
      std::string symbol = "s" + std::to_string(i);
      for (size_t at = 0; (at = rule.find(symbol, at)) != std::string::npos;)
        rule.replace(at, symbol.size(), names[i]);
    }
    os << rule;
  }
  os << ")";
  return text;
}

void KernelBuilder::launch(ArrayRef<AffineExpr> grid) {
  LLVM::ReturnOp::create(b, ValueRange{});
  func.setFunctionType(LLVM::LLVMFunctionType::get(
      LLVM::LLVMVoidType::get(b.getContext()), parameterTypes));
  setKernelInfo(func, parameterTexts, gridText(grid, extentNames), threads,
                /*dynamicSharedBytes=*/0, ScheduleAttr());

  Value one = site.constant(1);
  gpu::KernelDim3 blocks{one, one, one};
  Value *dims[] = {&blocks.x, &blocks.y, &blocks.z};
  for (auto [dim, rule] : llvm::enumerate(grid))
    *dims[dim] = site.apply(rule, extentValues);
  gpu::KernelDim3 blockSize{site.constant(threads), one, one};
  auto kernel = SymbolRefAttr::get(site.module.getNameAttr(),
                                   {SymbolRefAttr::get(func.getSymNameAttr())});
  gpu::LaunchFuncOp::create(site.host, site.loc(), kernel, blocks, blockSize,
                            /*dynamicSharedMemorySize=*/Value(), hostOperands);
}

int64_t moe::vectorWidth(ArrayRef<Value> memrefs, int64_t columns) {
  if (ShapedType::isDynamic(columns))
    return 1;
  int64_t width = kDefaultAlignment;
  for (Value memref : memrefs) {
    BufferFacts facts = bufferFacts(memref);
    width = std::min(width, facts.rowAlignment() / facts.elementBytes);
    width = std::min(width, kDefaultAlignment / facts.elementBytes);
  }
  while (columns % width)
    width /= 2;
  return width;
}
