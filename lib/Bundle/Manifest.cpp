//===- Manifest.cpp - the launch list of a lowered function as JSON -*- C++
//-*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "moe/Bundle/Manifest.h"
#include "moe/MoE/MoEDialect.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"
#include <nlohmann/json.hpp>

using namespace mlir;
using namespace mlir::moe;
using Json = nlohmann::ordered_json;

/// Marks the parameters that hold results, as bufferization names it.
static constexpr llvm::StringLiteral kResultAttr = "bufferize.result";

static std::string typeName(Type type) {
  std::string name;
  llvm::raw_string_ostream(name) << type;
  return name;
}

namespace {
/// Walks the host function in order and fills the manifest.
class ManifestWriter {
public:
  explicit ManifestWriter(func::FuncOp func) : func(func) {}

  FailureOr<Json> write();

private:
  LogicalResult visit(Operation *op);
  LogicalResult visitAlloc(memref::AllocOp op);
  LogicalResult visitMap(EncodeTensorMapOp op);
  LogicalResult visitLaunch(gpu::LaunchFuncOp op);

  /// The value of an index or integer as an expression, or null.
  Json expression(Value value);
  Json expression(AffineExpr expr, unsigned numDims, ValueRange operands);
  Json applied(affine::AffineApplyOp op);
  /// The extents of a memref value.
  Json shapeOf(Value memref);
  Json extent(Value memref, int64_t dim);
  /// The number of the buffer that `memref` is or views, or -1.
  int64_t bufferOf(Value memref);

  func::FuncOp func;
  DenseMap<Value, int64_t> buffers;
  DenseMap<Value, Json> allocShapes;
  DenseMap<Value, int64_t> maps;
  Json manifest;
};
} // namespace

Json ManifestWriter::extent(Value memref, int64_t dim) {
  auto type = cast<MemRefType>(memref.getType());
  if (!type.isDynamicDim(dim))
    return type.getDimSize(dim);
  if (auto arg = dyn_cast<BlockArgument>(memref))
    return Json::array({"dim", arg.getArgNumber(), dim});
  auto shape = allocShapes.find(memref);
  return shape == allocShapes.end() ? Json() : shape->second[dim];
}

Json ManifestWriter::shapeOf(Value memref) {
  Json shape = Json::array();
  for (int64_t i : llvm::seq(cast<MemRefType>(memref.getType()).getRank()))
    shape.push_back(extent(memref, i));
  return shape;
}

Json ManifestWriter::expression(AffineExpr expr, unsigned numDims,
                                ValueRange operands) {
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return constant.getValue();
  if (auto dim = dyn_cast<AffineDimExpr>(expr))
    return expression(operands[dim.getPosition()]);
  if (auto symbol = dyn_cast<AffineSymbolExpr>(expr))
    return expression(operands[numDims + symbol.getPosition()]);
  auto binary = cast<AffineBinaryOpExpr>(expr);
  Json lhs = expression(binary.getLHS(), numDims, operands);
  Json rhs = expression(binary.getRHS(), numDims, operands);
  if (lhs.is_null() || rhs.is_null())
    return Json();
  const char *name = nullptr;
  switch (expr.getKind()) {
  case AffineExprKind::Add:
    name = "add";
    break;
  case AffineExprKind::Mul:
    name = "mul";
    break;
  case AffineExprKind::FloorDiv:
    name = "floordiv";
    break;
  case AffineExprKind::CeilDiv:
    name = "ceildiv";
    break;
  case AffineExprKind::Mod:
    name = "mod";
    break;
  default:
    return Json();
  }
  return Json::array({name, lhs, rhs});
}

Json ManifestWriter::applied(affine::AffineApplyOp op) {
  AffineMap map = op.getAffineMap();
  return expression(map.getResult(0), map.getNumDims(), op.getMapOperands());
}

Json ManifestWriter::expression(Value value) {
  APInt constant;
  if (matchPattern(value, m_ConstantInt(&constant)))
    return constant.getSExtValue();
  Operation *op = value.getDefiningOp();
  if (!op)
    return Json();
  auto binary = [&](const char *name) {
    Json lhs = expression(op->getOperand(0));
    Json rhs = expression(op->getOperand(1));
    return lhs.is_null() || rhs.is_null() ? Json()
                                          : Json::array({name, lhs, rhs});
  };
  return TypeSwitch<Operation *, Json>(op)
      .Case([&](memref::DimOp dim) {
        std::optional<int64_t> index = dim.getConstantIndex();
        return index ? extent(dim.getSource(), *index) : Json();
      })
      .Case([&](arith::IndexCastOp cast) { return expression(cast.getIn()); })
      .Case([&](affine::AffineApplyOp apply) { return applied(apply); })
      .Case([&](arith::AddIOp) { return binary("add"); })
      .Case([&](arith::MulIOp) { return binary("mul"); })
      .Case([&](arith::CeilDivSIOp) { return binary("ceildiv"); })
      .Case([&](arith::CeilDivUIOp) { return binary("ceildiv"); })
      .Case([&](arith::DivUIOp) { return binary("floordiv"); })
      .Case([&](arith::MaxSIOp) { return binary("max"); })
      .Case([&](arith::MinSIOp) { return binary("min"); })
      .Default(Json());
}

int64_t ManifestWriter::bufferOf(Value memref) {
  // These views start where their source starts.
  while (Operation *op = memref.getDefiningOp()) {
    if (!isa<memref::CollapseShapeOp, memref::ExpandShapeOp, memref::CastOp,
             memref::TransposeOp>(op))
      break;
    memref = op->getOperand(0);
  }
  auto buffer = buffers.find(memref);
  return buffer == buffers.end() ? -1 : buffer->second;
}

LogicalResult ManifestWriter::visitAlloc(memref::AllocOp op) {
  Json shape = Json::array();
  auto sizes = op.getDynamicSizes().begin();
  for (int64_t extent : op.getType().getShape()) {
    shape.push_back(ShapedType::isDynamic(extent) ? expression(*sizes++)
                                                  : Json(extent));
    if (shape.back().is_null())
      return op.emitOpError("has a size that is no expression of the extents "
                            "of the arguments");
  }
  buffers[op] = static_cast<int64_t>(buffers.size());
  allocShapes[op] = shape;
  manifest["workspace"].push_back(
      {{"type", typeName(op.getType().getElementType())}, {"shape", shape}});
  return success();
}

LogicalResult ManifestWriter::visitMap(EncodeTensorMapOp op) {
  int64_t buffer = bufferOf(op.getSource());
  if (buffer < 0)
    return op.emitOpError("describes a buffer that is neither an argument nor "
                          "workspace");
  auto type = cast<MemRefType>(op.getSource().getType());
  auto [strides, offset] = type.getStridesAndOffset();
  maps[op] = static_cast<int64_t>(maps.size());
  manifest["maps"].push_back({{"buffer", buffer},
                              {"type", typeName(type.getElementType())},
                              {"shape", shapeOf(op.getSource())},
                              {"strides", strides},
                              {"box", op.getBox()},
                              {"swizzle", op.getSwizzle()}});
  return success();
}

LogicalResult ManifestWriter::visitLaunch(gpu::LaunchFuncOp op) {
  Json args = Json::array();
  for (Value operand : op.getKernelOperands()) {
    Json arg;
    if (isa<MemRefType>(operand.getType())) {
      if (int64_t buffer = bufferOf(operand); buffer >= 0)
        arg = {{"buffer", buffer}};
    } else if (isa<TensorMapType>(operand.getType())) {
      if (auto map = maps.find(operand); map != maps.end())
        arg = {{"map", map->second}};
    } else if (Json value = expression(operand); !value.is_null()) {
      arg = {{"scalar", value}, {"type", typeName(operand.getType())}};
    }
    if (arg.is_null())
      return op.emitOpError("passes a value that is no buffer, no tensor map "
                            "and no expression of the extents of the "
                            "arguments");
    args.push_back(arg);
  }
  auto dims = [&](gpu::KernelDim3 dim) {
    return Json::array(
        {expression(dim.x), expression(dim.y), expression(dim.z)});
  };
  Value shared = op.getDynamicSharedMemorySize();
  manifest["launches"].push_back(
      {{"kernel", op.getKernelName().getValue().str()},
       {"grid", dims(op.getGridSizeOperandValues())},
       {"block", dims(op.getBlockSizeOperandValues())},
       {"shared", shared ? expression(shared) : Json(0)},
       {"args", args}});
  return success();
}

LogicalResult ManifestWriter::visit(Operation *op) {
  return TypeSwitch<Operation *, LogicalResult>(op)
      .Case([&](memref::AllocOp alloc) { return visitAlloc(alloc); })
      .Case([&](EncodeTensorMapOp map) { return visitMap(map); })
      .Case([&](gpu::LaunchFuncOp launch) { return visitLaunch(launch); })
      .Case<func::ReturnOp, memref::DeallocOp, memref::DimOp,
            memref::CollapseShapeOp, memref::ExpandShapeOp, memref::CastOp,
            memref::TransposeOp, affine::AffineApplyOp>(
          [](Operation *) { return success(); })
      .Default([](Operation *op) -> LogicalResult {
        if (isa_and_present<arith::ArithDialect>(op->getDialect()))
          return success();
        InFlightDiagnostic diag = op->emitOpError(
            "cannot be part of a launch list: only launches, allocations "
            "and size computations can; ");
        if (isa<memref::CopyOp>(op))
          return diag << "let the function write its result into a "
                         "tensor.empty, so that nothing has to be copied";
        return diag << "compute it before or after the layer";
      });
}

FailureOr<Json> ManifestWriter::write() {
  manifest["version"] = 1;
  manifest["function"] = func.getSymName().str();
  for (const char *key : {"arguments", "workspace", "maps", "launches"})
    manifest[key] = Json::array();
  for (BlockArgument arg : func.getArguments()) {
    auto type = dyn_cast<MemRefType>(arg.getType());
    if (!type)
      return func.emitOpError("requires its arguments to be memrefs, but #")
             << arg.getArgNumber() << " is " << arg.getType();
    buffers[arg] = arg.getArgNumber();
    manifest["arguments"].push_back(
        {{"type", typeName(type.getElementType())},
         {"shape", shapeOf(arg)},
         {"result", static_cast<bool>(
                        func.getArgAttr(arg.getArgNumber(), kResultAttr))}});
  }
  for (Operation &op : func.getBody().front())
    if (failed(visit(&op)))
      return failure();
  return manifest;
}

LogicalResult moe::emitManifest(Operation *module, raw_ostream &os) {
  SmallVector<func::FuncOp> functions;
  module->walk([&](func::FuncOp func) {
    bool launches = false;
    func.walk([&](gpu::LaunchFuncOp) { launches = true; });
    if (launches)
      functions.push_back(func);
  });
  if (functions.size() != 1)
    return emitError(module->getLoc(),
                     "a manifest describes one function with launches, but "
                     "there are ")
           << functions.size();
  FailureOr<Json> manifest = ManifestWriter(functions.front()).write();
  if (failed(manifest))
    return failure();
  module->walk([&](gpu::BinaryOp binary) {
    for (auto object : binary.getObjects().getAsRange<gpu::ObjectAttr>())
      if (auto target = dyn_cast<NVVM::NVVMTargetAttr>(object.getTarget()))
        (*manifest)["arch"] = target.getChip().str();
  });
  os << manifest->dump(1) << "\n";
  return success();
}
