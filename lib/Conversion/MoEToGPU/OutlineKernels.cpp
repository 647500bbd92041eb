//===- OutlineKernels.cpp - moe ops on memrefs become launches -*- C++ -*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Last step on the moe level. Before:
//
//   moe.activation ins(%h : memref<?x1536xbf16>) outs(%a : memref<?x768xbf16>)
//
// after:
//
//   gpu.launch_func @moe_kernels::@layer_0_activation blocks in (%R, ...)
//     threads in (...) args(%h : memref<?x1536xbf16>, %a : memref<?x768xbf16>)
//
// with the kernel in gpu.module @moe_kernels. The host function keeps its
// memrefs and every op of other dialects; nothing lowers it further.
//
//===----------------------------------------------------------------------===//

#include "moe/Conversion/MoEToGPU.h"
#include "moe/Transforms/Passes.h"

#include "Kernels.h"

#include "moe/CTA/CTADialect.h"
#include "moe/MoE/BufferFacts.h"
#include "moe/MoE/FunctionAttributes.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Remarks.h"
#include "mlir/Interfaces/ViewLikeInterface.h"
#include "llvm/ADT/TypeSwitch.h"

namespace mlir::moe {
#define GEN_PASS_DEF_OUTLINEKERNELSPASS
#include "moe/MoE/MoEPasses.h.inc"
} // namespace mlir::moe

using namespace mlir;
using namespace mlir::moe;

/// The attribute of a kernel under which its KernelInfoAttr is kept.
static constexpr llvm::StringLiteral kKernelInfo = "moe.kernel_info";

void moe::setKernelInfo(LLVM::LLVMFuncOp kernel, ArrayRef<std::string> params,
                        StringRef grid, int64_t block,
                        int64_t dynamicSharedBytes, ScheduleAttr schedule) {
  MLIRContext *context = kernel.getContext();
  SmallVector<StringRef> texts(params.begin(), params.end());
  Builder b(context);
  kernel->setDiscardableAttr(
      kKernelInfo, KernelInfoAttr::get(context, b.getStrArrayAttr(texts),
                                       b.getStringAttr(grid), block,
                                       dynamicSharedBytes, schedule));
}

KernelInfoAttr moe::getKernelInfo(Operation *kernelOrLaunch) {
  return dyn_cast_or_null<KernelInfoAttr>(
      kernelOrLaunch->getDiscardableAttr(kKernelInfo));
}

/// Repeats at each launch what its kernel says, for readers of the host
/// function after the kernels became PTX.
static void describeLaunches(func::FuncOp func, const SymbolTable &kernels) {
  func.walk([&](gpu::LaunchFuncOp launch) {
    auto kernel = kernels.lookup<LLVM::LLVMFuncOp>(launch.getKernelName());
    if (KernelInfoAttr info = kernel ? getKernelInfo(kernel) : nullptr)
      launch->setDiscardableAttr(kKernelInfo, info);
  });
}

namespace {
struct OutlineKernelsPass
    : public moe::impl::OutlineKernelsPassBase<OutlineKernelsPass> {
  using OutlineKernelsPassBase::OutlineKernelsPassBase;

  void runOnOperation() override;
  /// Outlines every moe op of `func`, in order.
  LogicalResult outlineFunction(func::FuncOp func, const Target &target);
  /// The gpu.module of all kernels, created at the first call.
  FailureOr<gpu::GPUModuleOp> kernelModule(const Target &target);
};
} // namespace

/// True for the moe ops that become kernels; moe.encode_tensor_map is a host
/// op.
static bool isKernelOp(Operation *op) {
  return isa<GateOp, RouteOp, AlignOp, GroupIdsOp, GroupedGemmOp, ActivationOp,
             CombineOp, PermuteOp, UnpermuteOp>(op);
}

/// True also for what bufferization leaves between them.
static bool becomesKernel(Operation *op) {
  auto fill = dyn_cast<linalg::FillOp>(op);
  return isKernelOp(op) || isa<memref::CopyOp>(op) ||
         (fill && isConstantFill(fill));
}

/// True where a kernel takes gaps between rows of the operand: in what holds
/// rows of features. Tables, ids and router weights are lists without gaps.
static bool mayHaveGaps(OpOperand &operand) {
  Value value = operand.get();
  return TypeSwitch<Operation *, bool>(operand.getOwner())
      .Case([&](GateOp op) { return value != op.getBias(); })
      .Case([&](RouteOp op) { return value == op.getLogits(); })
      .Case([&](GroupedGemmOp op) {
        return llvm::is_contained(
            {op.getA(), op.getB(), op.getBias(), op.getC()}, value);
      })
      .Case([&](CombineOp op) {
        return llvm::is_contained(
            {op.getY(), op.getX(), op.getResidual(), op.getOut()}, value);
      })
      .Case([&](PermuteOp op) {
        return llvm::is_contained({op.getX(), op.getRows()}, value);
      })
      .Case([&](UnpermuteOp op) { return value != op.getSource(); })
      .Case<ActivationOp, memref::CopyOp, linalg::FillOp>(
          [](auto) { return true; })
      .Default(false);
}

/// Checks the strides and the start of an operand.
static LogicalResult checkLayout(OpOperand &operand) {
  Operation *op = operand.getOwner();
  auto memref = cast<MemRefType>(operand.get().getType());
  auto refuse = [&](StringRef rule, StringRef change) {
    return op->emitOpError("requires ")
           << rule << " to become a kernel, but operand #"
           << operand.getOperandNumber() << " is " << memref << "; " << change;
  };
  SmallVector<int64_t> strides;
  int64_t offset;
  if (failed(memref.getStridesAndOffset(strides, offset)))
    return refuse("memrefs of a strided layout", "copy it to one");
  if (!bufferStart(operand.get()))
    return refuse("memrefs that start where their buffer does, or at a "
                  "constant place of it",
                  "pass the part as a buffer of its own");
  if (memref.getLayout().isIdentity())
    return success();
  if (!strides.empty() && strides.back() != 1)
    return refuse("an innermost stride of 1",
                  "copy it to a memref whose rows are without gaps");
  BufferFacts facts = bufferFacts(operand.get());
  if (facts.isContiguous(memref.getShape()))
    return success();
  if (!mayHaveGaps(operand))
    return refuse("memrefs without gaps for tables, ids and router weights",
                  "copy it to a contiguous memref");
  // Rows of masked groups count through the groups.
  auto gemm = dyn_cast<GroupedGemmOp>(op);
  bool groups = gemm && gemm.getGrouping() == Grouping::Masked &&
                operand.get() != gemm.getB() && operand.get() != gemm.getBias();
  if (groups && (ShapedType::isDynamic(strides[1]) ||
                 strides[0] != memref.getDimSize(1) * strides[1]))
    return refuse("groups that follow each other at the distance of their rows",
                  "copy it to such a memref");
  return success();
}

/// Says where rows are accessed in pieces, because of how they lie.
static void remarkPieces(OpOperand &operand) {
  BufferFacts facts = bufferFacts(operand.get());
  auto shape = cast<MemRefType>(operand.get().getType()).getShape();
  bool asUsual =
      facts.alignment == kDefaultAlignment && facts.isContiguous(shape);
  if (asUsual || facts.rowAlignment() >= kDefaultAlignment)
    return;
  remark::missed(
      operand.getOwner()->getLoc(),
      remark::RemarkOpts::name("row-alignment").category("moe-kernel"))
      << ("operand #" + Twine(operand.getOperandNumber()) +
          " is accessed in pieces of " + Twine(facts.rowAlignment()) +
          " bytes, the alignment of its rows; " + Twine(kDefaultAlignment) +
          " would be faster")
             .str();
}

/// Checks that kernels can take every operand.
static LogicalResult checkOperands(Operation *op) {
  for (OpOperand &operand : op->getOpOperands()) {
    Type type = operand.get().getType();
    auto memref = dyn_cast<MemRefType>(type);
    if (!memref && isa<linalg::FillOp>(op) && !isa<ShapedType>(type))
      continue; // the value
    if (!memref)
      return op->emitOpError(
                 "requires memrefs to become a kernel, but operand #")
             << operand.getOperandNumber() << " is " << type
             << "; bufferize the function first (one-shot-bufferize)";
    if (memref.getMemorySpace())
      return op->emitOpError("requires memrefs of the default memory space to "
                             "become a kernel, but operand #")
             << operand.getOperandNumber() << " is " << type
             << "; leave the memory space out of the type";
    for (int64_t extent : memref.getShape())
      if (extent > std::numeric_limits<int32_t>::max())
        return op->emitOpError("requires extents below 2^31 to become a "
                               "kernel, whose rows and columns are i32, but "
                               "operand #")
               << operand.getOperandNumber() << " is " << type
               << "; split the op into smaller ones";
    if (failed(checkLayout(operand)))
      return failure();
    remarkPieces(operand);
  }
  return success();
}

/// Marks the arguments of `func` that `op` writes.
static void markWritten(Operation *op, func::FuncOp func) {
  auto effects = dyn_cast<MemoryEffectOpInterface>(op);
  if (!effects)
    return;
  for (OpOperand &operand : op->getOpOperands()) {
    if (!effects.getEffectOnValue<MemoryEffects::Write>(operand.get()))
      continue;
    Value buffer = operand.get();
    while (auto view = buffer.getDefiningOp<ViewLikeOpInterface>())
      buffer = view.getViewSource();
    auto argument = dyn_cast<BlockArgument>(buffer);
    if (argument && argument.getOwner() == &func.front())
      func.setArgAttr(argument.getArgNumber(), kWritten,
                      UnitAttr::get(func.getContext()));
  }
}

static LogicalResult outlineOp(Operation *op, LaunchSite &site) {
  return TypeSwitch<Operation *, LogicalResult>(op)
      .Case<GateOp, RouteOp, AlignOp, GroupIdsOp, GroupedGemmOp, ActivationOp,
            CombineOp, PermuteOp, UnpermuteOp, memref::CopyOp, linalg::FillOp>(
          [&](auto typed) { return outline(typed, site); })
      .Default(failure());
}

/// `name` with what PTX does not take in a symbol replaced by '_'.
static std::string ptxName(StringRef name) {
  std::string result = name.str();
  for (char &c : result)
    if (!llvm::isAlnum(c) && c != '_')
      c = '_';
  if (!result.empty() && llvm::isDigit(result.front()))
    result.insert(result.begin(), '_');
  return result;
}

FailureOr<gpu::GPUModuleOp>
OutlineKernelsPass::kernelModule(const Target &target) {
  ModuleOp module = getOperation();
  OpBuilder b = OpBuilder::atBlockEnd(module.getBody());
  auto nvvmTarget = NVVM::NVVMTargetAttr::get(&getContext(), /*optLevel=*/3,
                                              "nvptx64-nvidia-cuda",
                                              target.arch, target.ptxFeatures);
  auto targets = b.getArrayAttr({nvvmTarget});
  if (Operation *existing = module.lookupSymbol(kKernelModuleName)) {
    auto gpuModule = dyn_cast<gpu::GPUModuleOp>(existing);
    if (gpuModule && gpuModule.getTargetsAttr() == targets)
      return gpuModule;
    return existing->emitOpError("has the name of the module of all kernels, "
                                 "but is not a gpu.module for ")
           << target.arch << "; rename it";
  }
  module->setAttr(gpu::GPUDialect::getContainerModuleAttrName(),
                  b.getUnitAttr());
  return gpu::GPUModuleOp::create(b, module.getLoc(), kKernelModuleName,
                                  targets);
}

/// Checks the grids of the launches between `before`, null at the start of the
/// block, and `op`, which are the op's own: a constant extent beyond what a
/// chip launches is an error here, not there.
static LogicalResult checkGrids(Operation *before, Operation *op) {
  constexpr int64_t kMaxGridX = std::numeric_limits<int32_t>::max();
  constexpr int64_t kMaxGridYZ = 65535;
  for (Operation *prev = op->getPrevNode(); prev != before;
       prev = prev->getPrevNode()) {
    auto launch = dyn_cast<gpu::LaunchFuncOp>(prev);
    if (!launch)
      continue;
    gpu::KernelDim3 grid = launch.getGridSizeOperandValues();
    for (auto [dim, value] :
         llvm::enumerate(std::array<Value, 3>{grid.x, grid.y, grid.z})) {
      std::optional<int64_t> extent = getConstantIntValue(value);
      int64_t limit = dim == 0 ? kMaxGridX : kMaxGridYZ;
      if (extent && *extent > limit)
        return op->emitOpError("needs a grid of ")
               << *extent << " thread blocks in dimension " << dim
               << ", but a launch takes at most " << limit
               << "; split the op into smaller ones";
    }
  }
  return success();
}

/// Emits an error at the first moe op that no function at the top level holds:
/// it stayed as it was.
static LogicalResult checkNothingLeft(ModuleOp module) {
  WalkResult result = module.walk([](Operation *op) {
    if (!isKernelOp(op))
      return WalkResult::advance();
    op->emitOpError("becomes a kernel only in a func.func at the top level of "
                    "the module; move it there");
    return WalkResult::interrupt();
  });
  return success(!result.wasInterrupted());
}

LogicalResult OutlineKernelsPass::outlineFunction(func::FuncOp func,
                                                  const Target &target) {
  SmallVector<Operation *> ops;
  func.walk([&](Operation *op) {
    if (becomesKernel(op))
      ops.push_back(op);
  });
  // A function without ops of ours is left as it is.
  if (llvm::none_of(ops, isKernelOp))
    return success();
  std::string prefix = ptxName(func.getSymName()) + "_";
  int64_t kernelCount = 0;
  for (Operation *op : ops) {
    if (failed(checkOperands(op)))
      return failure();
    FailureOr<gpu::GPUModuleOp> module = kernelModule(target);
    if (failed(module))
      return failure();
    LaunchSite site{op, OpBuilder(op), *module, target, prefix, kernelCount};
    Operation *before = op->getPrevNode();
    if (failed(outlineOp(op, site)) || failed(checkGrids(before, op)))
      return failure();
    markWritten(op, func);
    op->erase();
  }
  return success();
}

void OutlineKernelsPass::runOnOperation() {
  const Target *target = lookupTarget(getOperation()->getLoc(), arch);
  if (!target)
    return signalPassFailure();
  SmallVector<func::FuncOp> functions(getOperation().getOps<func::FuncOp>());
  for (func::FuncOp func : functions)
    if (failed(outlineFunction(func, *target)))
      return signalPassFailure();
  if (failed(checkNothingLeft(getOperation())))
    return signalPassFailure();
  if (auto module =
          getOperation().lookupSymbol<gpu::GPUModuleOp>(kKernelModuleName)) {
    SymbolTable kernels(module);
    for (func::FuncOp func : functions)
      describeLaunches(func, kernels);
  }
}
