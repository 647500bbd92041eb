//===- MergeKernels.cpp - keep one of kernels that are equal ----*- C++ -*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The variants of a function share most of their kernels. Before:
//
//   gpu.launch_func @moe_kernels::@layer_t1_16_0_gate ...
//   gpu.launch_func @moe_kernels::@layer_t17_up_0_gate ...
//
// after, with one kernel less in gpu.module @moe_kernels:
//
//   gpu.launch_func @moe_kernels::@layer_t1_16_0_gate ...
//   gpu.launch_func @moe_kernels::@layer_t1_16_0_gate ...
//
// Two kernels are equal if their ops are, one by one, with the same attributes
// and types, operands from the same places, and names of equal globals.
//
//===----------------------------------------------------------------------===//

#include "moe/Conversion/MoEToGPU.h"
#include "moe/Transforms/Passes.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Remarks.h"
#include "llvm/ADT/SetVector.h"

namespace mlir::moe {
#define GEN_PASS_DEF_MERGEKERNELSPASS
#include "moe/MoE/MoEPasses.h.inc"
} // namespace mlir::moe

using namespace mlir;
using namespace mlir::moe;

namespace {
/// Walks two kernels side by side.
class KernelComparison {
public:
  explicit KernelComparison(const SymbolTable &symbols) : symbols(symbols) {}

  bool equal(LLVM::LLVMFuncOp a, LLVM::LLVMFuncOp b) {
    return equalAttributes(a, b, SymbolTable::getSymbolAttrName()) &&
           equalRegions(a.getBody(), b.getBody());
  }

private:
  bool equalAttributes(Operation *a, Operation *b, StringRef except);
  bool equalGlobals(LLVM::AddressOfOp a, LLVM::AddressOfOp b);
  bool equalOps(Operation *a, Operation *b);
  bool equalRegions(Region &a, Region &b);

  const SymbolTable &symbols;
  /// From the values and blocks of a to those of b.
  IRMapping mapping;
};

struct MergeKernels : moe::impl::MergeKernelsPassBase<MergeKernels> {
  using MergeKernelsPassBase::MergeKernelsPassBase;

  void runOnOperation() override;
};
} // namespace

bool KernelComparison::equalAttributes(Operation *a, Operation *b,
                                       StringRef except) {
  NamedAttrList left(a->getAttrDictionary()), right(b->getAttrDictionary());
  left.erase(except);
  right.erase(except);
  return left.getDictionary(a->getContext()) ==
         right.getDictionary(a->getContext());
}

bool KernelComparison::equalGlobals(LLVM::AddressOfOp a, LLVM::AddressOfOp b) {
  if (a.getGlobalName() == b.getGlobalName())
    return true;
  auto left = symbols.lookup<LLVM::GlobalOp>(a.getGlobalName());
  auto right = symbols.lookup<LLVM::GlobalOp>(b.getGlobalName());
  return left && right && left.getInitializerRegion().empty() &&
         right.getInitializerRegion().empty() &&
         equalAttributes(left, right, SymbolTable::getSymbolAttrName());
}

bool KernelComparison::equalOps(Operation *a, Operation *b) {
  if (a->getName() != b->getName() ||
      a->getNumOperands() != b->getNumOperands() ||
      a->getResultTypes() != b->getResultTypes() ||
      a->getNumRegions() != b->getNumRegions() ||
      a->getNumSuccessors() != b->getNumSuccessors())
    return false;
  if (auto address = dyn_cast<LLVM::AddressOfOp>(a)) {
    if (!equalGlobals(address, cast<LLVM::AddressOfOp>(b)))
      return false;
  } else if (a->getAttrDictionary() != b->getAttrDictionary()) {
    return false;
  }
  for (auto [left, right] : llvm::zip(a->getOperands(), b->getOperands()))
    if (mapping.lookupOrNull(left) != right)
      return false;
  for (auto [left, right] : llvm::zip(a->getSuccessors(), b->getSuccessors()))
    if (mapping.lookupOrNull(left) != right)
      return false;
  mapping.map(a->getResults(), b->getResults());
  return llvm::all_of(llvm::zip(a->getRegions(), b->getRegions()),
                      [&](auto pair) {
                        auto [left, right] = pair;
                        return equalRegions(left, right);
                      });
}

bool KernelComparison::equalRegions(Region &a, Region &b) {
  if (a.getBlocks().size() != b.getBlocks().size())
    return false;
  for (auto [left, right] : llvm::zip(a, b)) {
    if (left.getArgumentTypes() != right.getArgumentTypes())
      return false;
    mapping.map(&left, &right);
    mapping.map(left.getArguments(), right.getArguments());
  }
  for (auto [left, right] : llvm::zip(a, b)) {
    if (left.getOperations().size() != right.getOperations().size())
      return false;
    for (auto [leftOp, rightOp] : llvm::zip(left, right))
      if (!equalOps(&leftOp, &rightOp))
        return false;
  }
  return true;
}

/// The same number for kernels that are equal, rarely for others.
static size_t hashOf(LLVM::LLVMFuncOp kernel) {
  llvm::hash_code hash = llvm::hash_combine(kernel.getFunctionType());
  kernel.getBody().walk([&](Operation *op) {
    hash = llvm::hash_combine(hash, op->getName());
    if (!isa<LLVM::AddressOfOp>(op)) // names a global
      hash = llvm::hash_combine(hash, op->getAttrDictionary());
  });
  return hash;
}

/// Erases `kernels` and the globals that only they name.
static void eraseKernels(ArrayRef<LLVM::LLVMFuncOp> kernels,
                         gpu::GPUModuleOp module, const SymbolTable &symbols) {
  llvm::SetVector<Operation *> globals;
  for (LLVM::LLVMFuncOp kernel : kernels) {
    kernel.walk([&](LLVM::AddressOfOp address) {
      if (Operation *global = symbols.lookup(address.getGlobalName()))
        globals.insert(global);
    });
    kernel.erase();
  }
  module.walk([&](LLVM::AddressOfOp address) {
    globals.remove(symbols.lookup(address.getGlobalName()));
  });
  for (Operation *global : globals)
    global->erase();
}

void MergeKernels::runOnOperation() {
  auto module =
      getOperation().lookupSymbol<gpu::GPUModuleOp>(kKernelModuleName);
  if (!module)
    return;
  SymbolTable symbols(module);
  SmallVector<LLVM::LLVMFuncOp> doubles;
  llvm::DenseMap<size_t, SmallVector<LLVM::LLVMFuncOp, 1>> keptByHash;
  llvm::StringMap<StringAttr> firstOf;
  for (auto kernel : module.getOps<LLVM::LLVMFuncOp>()) {
    if (!kernel->hasAttr(gpu::GPUDialect::getKernelFuncAttrName()))
      continue;
    SmallVector<LLVM::LLVMFuncOp, 1> &kept = keptByHash[hashOf(kernel)];
    auto *first = llvm::find_if(kept, [&](LLVM::LLVMFuncOp other) {
      return KernelComparison(symbols).equal(other, kernel);
    });
    if (first == kept.end()) {
      kept.push_back(kernel);
      continue;
    }
    firstOf[kernel.getSymName()] = first->getSymNameAttr();
    doubles.push_back(kernel);
    remark::passed(kernel.getLoc(),
                   remark::RemarkOpts::name("merge").category("moe-kernel"))
        << (kernel.getSymName() + " equals " + first->getSymName()).str();
  }
  if (doubles.empty())
    return markAllAnalysesPreserved();
  getOperation().walk([&](gpu::LaunchFuncOp launch) {
    auto first = firstOf.find(launch.getKernelName());
    if (launch.getKernelModuleName() == kKernelModuleName &&
        first != firstOf.end())
      launch.setKernelAttr(SymbolRefAttr::get(
          module.getNameAttr(), {FlatSymbolRefAttr::get(first->second)}));
  });
  eraseKernels(doubles, module, symbols);
}
