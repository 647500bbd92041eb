//===- CpuDevice.cpp - compile a function and call it -*- C++ -*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A clone of the module goes through the pipeline `moe-to-cpu` and LLVM's JIT.
// Arrays are passed as memref descriptors, which the packed calling convention
// of the execution engine takes field by field; results come back in one struct
// of descriptors and scalars, whose buffers belong to the caller.
//
//===----------------------------------------------------------------------===//

#include "moe/Execution/CpuDevice.h"

#include "moe/Pipelines/MoEToCPU.h"

#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/ExecutionEngine/ExecutionEngine.h"
#include "mlir/ExecutionEngine/OptUtils.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Transforms/Passes.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/ExecutionEngine/Orc/JITTargetMachineBuilder.h"
#include "llvm/Support/CrashRecoveryContext.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/TargetParser/Host.h"

#include <cstdlib>

using namespace mlir;
using namespace mlir::moe;

//===----------------------------------------------------------------------===//
// The machine
//===----------------------------------------------------------------------===//

static bool hostHas(StringRef feature) {
  llvm::StringMap<bool> features = llvm::sys::getHostCPUFeatures();
  return features.lookup(feature);
}

unsigned moe::hostVectorBits() {
  if (hostHas("avx512f"))
    return 512;
  return hostHas("avx2") && hostHas("fma") ? 256 : 128;
}

/// x86 CPUs of before 2012 convert f16 by library functions that a process
/// need not have.
static bool convertsF16() {
  return !llvm::Triple(llvm::sys::getProcessTriple()).isX86() ||
         hostHas("f16c");
}

static bool usesF16(Operation *root) {
  auto isF16 = [](Type type) { return getElementTypeOrSelf(type).isF16(); };
  return root
      ->walk([&](Operation *op) {
        return llvm::any_of(op->getOperandTypes(), isF16) ||
                       llvm::any_of(op->getResultTypes(), isF16)
                   ? WalkResult::interrupt()
                   : WalkResult::advance();
      })
      .wasInterrupted();
}

//===----------------------------------------------------------------------===//
// Compilation
//===----------------------------------------------------------------------===//

/// The name of the entry in compiled code. No function keeps its own name: one
/// called memcpy would replace the C library's.
static constexpr llvm::StringLiteral kEntryName = "moe_entry";

/// A copy of the module of `function` with this function as its only entry,
/// whose arguments keep their contents.
static OwningOpRef<ModuleOp> cloneForCall(func::FuncOp function) {
  OwningOpRef<ModuleOp> module(function->getParentOfType<ModuleOp>().clone());
  Builder builder(function.getContext());
  SymbolTable symbols(*module);
  unsigned count = 0;
  for (auto other : llvm::to_vector(module->getOps<func::FuncOp>())) {
    bool entry = other.getSymName() == function.getSymName();
    std::string name =
        entry ? kEntryName.str() : "moe_function_" + std::to_string(count++);
    (void)symbols.rename(other, name);
    if (!entry) {
      other.setPrivate();
      continue;
    }
    other.setPublic();
    for (auto [i, type] : llvm::enumerate(other.getArgumentTypes()))
      if (isa<TensorType>(type))
        other.setArgAttr(i,
                         bufferization::BufferizationDialect::kWritableAttrName,
                         builder.getBoolAttr(false));
  }
  return module;
}

/// Emits an error at the first op that did not become LLVM dialect.
static LogicalResult checkLowered(ModuleOp module) {
  WalkResult result = module.walk([](Operation *op) {
    if (isa<ModuleOp>(op) ||
        isa_and_nonnull<LLVM::LLVMDialect>(op->getDialect()))
      return WalkResult::advance();
    op->emitError("'") << op->getName()
                       << "' cannot be lowered to machine code of the CPU; "
                          "run the function on another device or remove the op";
    return WalkResult::interrupt();
  });
  return success(!result.wasInterrupted());
}

static LogicalResult lowerToLLVM(ModuleOp module) {
  PassManager pm(module.getContext(), ModuleOp::getOperationName());
  // Functions that this one does not call need not be ones that can be lowered.
  pm.addPass(createSymbolDCEPass());
  MoEToCPUOptions options;
  options.vectorBits = hostVectorBits();
  options.fillEmpty = true;
  buildMoEToCPUPipeline(pm, options);
  if (failed(pm.run(module)))
    return failure();
  return checkLowered(module);
}

static llvm::Expected<std::unique_ptr<ExecutionEngine>>
compile(ModuleOp module) {
  llvm::InitializeNativeTarget();
  llvm::InitializeNativeTargetAsmPrinter();
  registerBuiltinDialectTranslation(*module.getContext());
  registerLLVMDialectTranslation(*module.getContext());
  auto builder = llvm::orc::JITTargetMachineBuilder::detectHost();
  if (!builder)
    return builder.takeError();
  auto machine = builder->createTargetMachine();
  if (!machine)
    return machine.takeError();
  auto optimize = makeOptimizingTransformer(/*optLevel=*/3, /*sizeLevel=*/0,
                                            machine->get());
  ExecutionEngineOptions options;
  options.transformer = optimize;
  options.jitCodeGenOptLevel = llvm::CodeGenOptLevel::Default;
  options.enableGDBNotificationListener = false;
  options.enablePerfNotificationListener = false;
  return ExecutionEngine::create(module, options, nullptr);
}

//===----------------------------------------------------------------------===//
// Arguments and results
//===----------------------------------------------------------------------===//

namespace {
/// The words of a memref descriptor: allocated and aligned pointer, offset,
/// sizes, strides.
class Descriptor {
public:
  static int64_t wordsOf(int64_t rank) { return 3 + 2 * rank; }

  explicit Descriptor(const Array &array) {
    auto address = reinterpret_cast<int64_t>(array.data());
    words = {address, address, 0};
    words.append(array.shape().begin(), array.shape().end());
    SmallVector<int64_t> strides(array.rank());
    int64_t stride = 1;
    for (int64_t i = array.rank() - 1; i >= 0; --i) {
      strides[i] = stride;
      stride *= array.dim(i);
    }
    words.append(strides);
  }

  SmallVector<int64_t> words;
};

using BufferSet = llvm::SmallPtrSet<void *, 8>;

/// The struct in which a function returns: its fields at their natural
/// alignment, as LLVM lays them out.
class ResultStruct {
public:
  explicit ResultStruct(TypeRange types) {
    for (Type type : types) {
      auto tensor = dyn_cast<RankedTensorType>(type);
      int64_t word = sizeof(int64_t);
      int64_t bytes = tensor ? Descriptor::wordsOf(tensor.getRank()) * word
                             : elementBytes(*elementKind(type));
      size = llvm::alignTo(size, tensor ? word : bytes);
      offsets.push_back(size);
      size += bytes;
    }
    storage.resize(llvm::divideCeil(size, sizeof(int64_t)));
  }

  char *field(unsigned i) {
    return reinterpret_cast<char *>(storage.data()) + offsets[i];
  }
  void *data() { return storage.data(); }

private:
  int64_t size = 0;
  SmallVector<int64_t> offsets;
  std::vector<int64_t> storage;
};
} // namespace

/// Copies a returned buffer, which has row-major order. Its allocation joins
/// `owned`, to be freed once however many results share it.
static llvm::Expected<Array> copyBuffer(ElementKind kind, const char *field,
                                        int64_t rank, BufferSet &owned) {
  const auto *words = reinterpret_cast<const int64_t *>(field);
  llvm::Expected<Array> array = Array::create(kind, ArrayRef(words + 3, rank));
  if (array && array->bytes() > 0)
    std::memcpy(array->data(),
                reinterpret_cast<const char *>(words[1]) +
                    words[2] * elementBytes(kind),
                array->bytes());
  owned.insert(reinterpret_cast<void *>(words[0]));
  return array;
}

static FailureOr<std::vector<Array>> takeResults(func::FuncOp function,
                                                 ResultStruct &results) {
  std::vector<Array> arrays;
  std::string problem;
  BufferSet owned;
  for (auto [i, type] : llvm::enumerate(function.getResultTypes())) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    ElementKind kind = *elementKind(tensor ? tensor.getElementType() : type);
    // Every buffer is visited, so that every buffer is freed.
    llvm::Expected<Array> array =
        tensor ? copyBuffer(kind, results.field(i), tensor.getRank(), owned)
               : Array::create(kind, {});
    if (!array) {
      problem = llvm::toString(array.takeError());
      continue;
    }
    if (!tensor)
      std::memcpy(array->data(), results.field(i), elementBytes(kind));
    arrays.push_back(std::move(*array));
  }
  llvm::for_each(owned, std::free);
  if (!problem.empty())
    return function.emitOpError("cannot hold its results: ") << problem;
  return arrays;
}

static LogicalResult checkSignature(func::FuncOp function) {
  for (Type type : function.getResultTypes()) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    if (!elementKind(tensor ? tensor.getElementType() : type))
      return function.emitOpError("requires results that are ranked tensors or "
                                  "scalars to run on the CPU, but got ")
             << type;
  }
  if (usesF16(function) && !convertsF16())
    return function.emitOpError("uses f16, but this CPU has no instructions "
                                "that convert it (f16c); use bf16 or f32");
  if (!function->getParentOfType<ModuleOp>() || function.isExternal())
    return function.emitOpError(
        "requires a body in a module to run on the CPU");
  return checkCalls(function);
}

//===----------------------------------------------------------------------===//
// The device
//===----------------------------------------------------------------------===//

FailureOr<std::vector<Array>> moe::runOnCpu(func::FuncOp function,
                                            ArrayRef<Array> inputs) {
  if (failed(checkInputs(function, inputs)) ||
      failed(checkSignature(function)) ||
      failed(checkExtents(function, inputs)))
    return failure();
  OwningOpRef<ModuleOp> module = cloneForCall(function);
  if (failed(lowerToLLVM(*module)))
    return failure();
  auto engine = compile(*module);
  if (!engine)
    return function.emitOpError("cannot be compiled for this CPU: ")
           << llvm::toString(engine.takeError());

  std::vector<Descriptor> descriptors;
  for (const Array &array : inputs)
    descriptors.emplace_back(array);
  SmallVector<void *> arguments;
  for (auto [array, descriptor, type] :
       llvm::zip(inputs, descriptors, function.getArgumentTypes())) {
    if (isa<RankedTensorType>(type))
      for (int64_t &word : descriptor.words)
        arguments.push_back(&word);
    else
      arguments.push_back(const_cast<void *>(array.data()));
  }
  ResultStruct results(function.getResultTypes());
  arguments.push_back(results.data());
  // What only the run decides (a slice out of bounds, a size of zero that is
  // divided by) compiled code does not check.
  llvm::Error error = llvm::Error::success();
  llvm::CrashRecoveryContext::Enable();
  bool survived = llvm::CrashRecoveryContext().RunSafely(
      [&] { error = (*engine)->invokePacked(kEntryName, arguments); });
  llvm::CrashRecoveryContext::Disable();
  if (!survived) {
    llvm::consumeError(std::move(error));
    return function.emitOpError(
        "ended with a machine fault on the CPU: a size or an offset that it "
        "computes is out of bounds; the reference device names the op");
  }
  if (error)
    return function.emitOpError("cannot be called: ")
           << llvm::toString(std::move(error));
  return takeResults(function, results);
}
