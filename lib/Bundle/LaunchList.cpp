//===- LaunchList.cpp - a host function as JSON -----------------*- C++ -*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LaunchList.h"

#include "HostOps.h"

#include "moe/Conversion/MoEToGPU.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::moe;

std::string moe::typeName(Type type) {
  std::string name;
  llvm::raw_string_ostream(name) << type;
  return name;
}

Json moe::argumentExtent(func::FuncOp function, unsigned argument, int64_t i) {
  auto type = cast<MemRefType>(function.getArgumentTypes()[argument]);
  if (!type.isDynamicDim(i))
    return type.getDimSize(i);
  auto description =
      function.getArgAttrOfType<ArgumentAttr>(argument, kArgument);
  if (!description)
    return Json::array({"dim", argument, i});
  return extentAsJson(description.getShape()[i]);
}

Json moe::extentAsJson(ExtentAttr extent) {
  if (extent.getFactor() == 0)
    return extent.getOffset();
  Json result =
      Json::array({"dim", extent.getArgument(), extent.getDimension()});
  if (extent.getFactor() != 1)
    result = Json::array({"mul", result, extent.getFactor()});
  if (extent.getOffset() != 0)
    result = Json::array({"add", result, extent.getOffset()});
  return result;
}

namespace {
/// Walks the host function in order and fills its variant.
class LaunchListWriter {
public:
  LaunchListWriter(func::FuncOp func, KernelTable &kernels)
      : func(func), kernels(kernels) {}

  FailureOr<Json> write();

private:
  LogicalResult visit(Operation *op);
  LogicalResult visitAlloc(memref::AllocOp op);
  LogicalResult visitMap(EncodeTensorMapOp op);
  LogicalResult visitLaunch(gpu::LaunchFuncOp op);
  /// Adds the kernel of `op` to the table where it is new.
  LogicalResult addKernel(gpu::LaunchFuncOp op);
  /// How an operand of a launch is passed; null where it cannot be.
  Json argumentOf(Value operand);

  /// The value of an index or integer as an expression, or null.
  Json expression(Value value);
  Json expression(AffineExpr expr, unsigned numDims, ValueRange operands);
  Json applied(affine::AffineApplyOp op);
  /// The extents of a memref value, and its strides; an entry is null where it
  /// is no expression.
  Json shapeOf(Value memref);
  Json stridesOf(Value memref);
  Json extent(Value memref, int64_t dim);
  /// The number of the buffer that `memref` is or views, or -1.
  int64_t bufferOf(Value memref);

  func::FuncOp func;
  KernelTable &kernels;
  DenseMap<Value, int64_t> buffers;
  DenseMap<Value, Json> allocShapes;
  DenseMap<Value, int64_t> maps;
  Json variant;
};
} // namespace

Json LaunchListWriter::extent(Value memref, int64_t dim) {
  auto type = cast<MemRefType>(memref.getType());
  if (!type.isDynamicDim(dim))
    return type.getDimSize(dim);
  if (auto arg = dyn_cast<BlockArgument>(memref))
    return argumentExtent(func, arg.getArgNumber(), dim);
  auto shape = allocShapes.find(memref);
  return shape == allocShapes.end() ? Json() : shape->second[dim];
}

Json LaunchListWriter::shapeOf(Value memref) {
  Json shape = Json::array();
  for (int64_t i : llvm::seq(cast<MemRefType>(memref.getType()).getRank()))
    shape.push_back(extent(memref, i));
  return shape;
}

Json LaunchListWriter::stridesOf(Value memref) {
  auto type = cast<MemRefType>(memref.getType());
  SmallVector<int64_t> strides;
  int64_t offset;
  if (failed(type.getStridesAndOffset(strides, offset)))
    return Json::array({Json()});
  Json result = Json::array(), shape = shapeOf(memref);
  for (auto [i, stride] : llvm::enumerate(strides)) {
    if (!ShapedType::isDynamic(stride)) {
      result.push_back(stride);
      continue;
    }
    // Row-major: a stride is the product of the extents further in.
    Json product = type.getLayout().isIdentity() ? Json(1) : Json();
    for (size_t inner = i + 1; inner < shape.size(); ++inner)
      if (!product.is_null())
        product = shape[inner].is_null()
                      ? Json()
                      : Json::array({"mul", product, shape[inner]});
    result.push_back(product);
  }
  return result;
}

Json LaunchListWriter::expression(AffineExpr expr, unsigned numDims,
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

Json LaunchListWriter::applied(affine::AffineApplyOp op) {
  AffineMap map = op.getAffineMap();
  return expression(map.getResult(0), map.getNumDims(), op.getMapOperands());
}

Json LaunchListWriter::expression(Value value) {
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

int64_t LaunchListWriter::bufferOf(Value memref) {
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

LogicalResult LaunchListWriter::visitAlloc(memref::AllocOp op) {
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
  variant["workspace"].push_back(
      {{"type", typeName(op.getType().getElementType())}, {"shape", shape}});
  return success();
}

LogicalResult LaunchListWriter::visitMap(EncodeTensorMapOp op) {
  int64_t buffer = bufferOf(op.getSource());
  if (buffer < 0)
    return op.emitOpError("describes a buffer that is neither an argument nor "
                          "workspace");
  auto type = cast<MemRefType>(op.getSource().getType());
  Json shape = shapeOf(op.getSource()), strides = stridesOf(op.getSource());
  auto isNull = [](const Json &entry) { return entry.is_null(); };
  if (llvm::any_of(shape, isNull) || llvm::any_of(strides, isNull))
    return op.emitOpError("describes a buffer with an extent or a stride that "
                          "is no expression of the extents of the arguments");
  maps[op] = static_cast<int64_t>(maps.size());
  variant["maps"].push_back({{"buffer", buffer},
                             {"type", typeName(type.getElementType())},
                             {"shape", shape},
                             {"strides", strides},
                             {"box", op.getBox()},
                             {"swizzle", op.getSwizzle()}});
  return success();
}

LogicalResult LaunchListWriter::addKernel(gpu::LaunchFuncOp op) {
  Value sharedBytes = op.getDynamicSharedMemorySize();
  std::optional<int64_t> shared =
      sharedBytes ? getConstantIntValue(sharedBytes) : 0;
  gpu::KernelDim3 block = op.getBlockSizeOperandValues();
  std::optional<int64_t> threads = getConstantIntValue(block.x);
  if (!shared || !threads || getConstantIntValue(block.y) != 1 ||
      getConstantIntValue(block.z) != 1)
    return op.emitOpError("requires a constant one-dimensional block and "
                          "constant dynamic shared memory to be part of a "
                          "launch list");
  std::string name = op.getKernelName().getValue().str();
  Json kernel = {{"name", name}, {"threads", *threads}, {"shared", *shared}};
  if (KernelInfoAttr info = getKernelInfo(op))
    if (ScheduleAttr schedule = info.getSchedule()) {
      std::string text;
      llvm::raw_string_ostream(text) << schedule;
      kernel["schedule"] = text;
    }
  auto [known, isNew] =
      kernels.positions.try_emplace(name, kernels.list.size());
  if (isNew)
    kernels.list.push_back(kernel);
  else if (kernels.list[known->second] != kernel)
    return op.emitOpError("launches a kernel with other threads or another "
                          "size of shared memory than an earlier launch");
  return success();
}

Json LaunchListWriter::argumentOf(Value operand) {
  if (isa<MemRefType>(operand.getType())) {
    int64_t buffer = bufferOf(operand);
    return buffer >= 0 ? Json({{"buffer", buffer}}) : Json();
  }
  if (isa<TensorMapType>(operand.getType())) {
    auto map = maps.find(operand);
    return map == maps.end() ? Json() : Json({{"map", map->second}});
  }
  Json value = expression(operand);
  if (value.is_null())
    return Json();
  return {{"scalar", value}, {"type", typeName(operand.getType())}};
}

LogicalResult LaunchListWriter::visitLaunch(gpu::LaunchFuncOp op) {
  Json args = Json::array(), grid = Json::array();
  for (Value operand : op.getKernelOperands()) {
    args.push_back(argumentOf(operand));
    if (args.back().is_null())
      return op.emitOpError("passes a value that is no buffer, no tensor map "
                            "and no expression of the extents of the "
                            "arguments");
  }
  gpu::KernelDim3 blocks = op.getGridSizeOperandValues();
  for (Value extent : {blocks.x, blocks.y, blocks.z}) {
    grid.push_back(expression(extent));
    if (grid.back().is_null())
      return op.emitOpError("has a grid that is no expression of the extents "
                            "of the arguments");
  }
  variant["launches"].push_back(
      {{"kernel", op.getKernelName().getValue().str()},
       {"grid", grid},
       {"args", args}});
  return addKernel(op);
}

LogicalResult LaunchListWriter::visit(Operation *op) {
  return TypeSwitch<Operation *, LogicalResult>(op)
      .Case([&](memref::AllocOp alloc) { return visitAlloc(alloc); })
      .Case([&](EncodeTensorMapOp map) { return visitMap(map); })
      .Case([&](gpu::LaunchFuncOp launch) { return visitLaunch(launch); })
      .Case<func::ReturnOp, memref::DeallocOp, memref::DimOp,
            memref::CollapseShapeOp, memref::ExpandShapeOp, memref::CastOp,
            memref::SubViewOp, memref::TransposeOp, affine::AffineApplyOp>(
          [](Operation *) { return success(); })
      .Default([](Operation *op) -> LogicalResult {
        if (isa_and_present<arith::ArithDialect>(op->getDialect()))
          return success();
        // A tensor in between is not what the user wrote; what reads it is.
        if (isa<bufferization::ToTensorOp>(op)) {
          auto culprit = llvm::find_if(op->getUsers(), computesOnData);
          if (culprit != op->getUsers().end())
            op = *culprit;
        }
        InFlightDiagnostic diag = op->emitOpError(
            "cannot be part of a launch list: only launches, allocations "
            "and size computations can; ");
        if (isa<memref::CopyOp>(op))
          return diag << "let the function write its result into a "
                         "tensor.empty, so that nothing has to be copied";
        return diag << "compute it before or after the layer";
      });
}

FailureOr<Json> LaunchListWriter::write() {
  for (const char *key : {"workspace", "maps", "launches"})
    variant[key] = Json::array();
  for (BlockArgument arg : func.getArguments())
    buffers[arg] = arg.getArgNumber();
  for (Operation &op : func.getBody().front())
    if (failed(visit(&op)))
      return failure();
  return variant;
}

FailureOr<Json> moe::buildLaunchList(func::FuncOp function,
                                     KernelTable &kernels) {
  return LaunchListWriter(function, kernels).write();
}
