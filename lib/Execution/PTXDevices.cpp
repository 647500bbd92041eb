//===- PTXDevices.cpp - compile a function to PTX and run it -*- C++ -*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The way of a bundle without the folder: the pipeline, the manifest and the
// PTX as texts, and the runtime library that loads bundles elsewhere.
//
//===----------------------------------------------------------------------===//

#include "moe/Bundle/EmitPTX.h"
#include "moe/Bundle/Manifest.h"
#include "moe/Execution/Device.h"
#include "moe/Pipelines/MoEToPTX.h"
#include "moe/Runtime/moe_runtime.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Target/LLVMIR/Dialect/All.h"
#include "mlir/Transforms/Passes.h"

#include <memory>
#include <nlohmann/json.hpp>

using namespace mlir;
using namespace mlir::moe;

//===----------------------------------------------------------------------===//
// Handles of the runtime
//===----------------------------------------------------------------------===//

namespace {
struct Close {
  void operator()(moe_bundle *bundle) const { moe_bundle_close(bundle); }
  void operator()(moe_device *device) const { moe_device_close(device); }
  void operator()(moe_layer *layer) const { moe_layer_unload(layer); }
};
template <typename T>
using Handle = std::unique_ptr<T, Close>;

/// Device memory for the time of a run.
class DeviceMemory {
public:
  explicit DeviceMemory(moe_device *device) : device(device) {}
  ~DeviceMemory() {
    for (void *block : blocks)
      moe_device_free(device, block);
  }

  /// A copy of `bytes` bytes at `source` on the device, or null on failure.
  void *upload(const void *source, uint64_t bytes) {
    void *block = nullptr;
    if (moe_device_allocate(device, std::max<uint64_t>(bytes, 1), &block))
      return nullptr;
    blocks.push_back(block);
    if (bytes > 0 && moe_device_upload(device, block, source, bytes))
      return nullptr;
    return block;
  }

private:
  moe_device *device;
  SmallVector<void *> blocks;
};
} // namespace

namespace {
/// A kind of device of the runtime, and what messages call it.
struct Kind {
  const char *name;
  const char *text;
};
} // namespace

static constexpr Kind kCuda = {"cuda", "the GPU"};
static constexpr Kind kEmulator = {"emulator", "the emulator"};

/// Emits the runtime's own words.
static InFlightDiagnostic runtimeError(func::FuncOp function,
                                       const Kind &kind) {
  return function.emitOpError("cannot run on ")
         << kind.text << ": " << moe_last_error();
}

//===----------------------------------------------------------------------===//
// Compilation
//===----------------------------------------------------------------------===//

/// A copy of the module in which `function` is all that is kept.
static OwningOpRef<ModuleOp> cloneForCompilation(func::FuncOp function) {
  OwningOpRef<ModuleOp> module(function->getParentOfType<ModuleOp>().clone());
  for (auto other : module->getOps<func::FuncOp>())
    if (other.getSymName() == function.getSymName())
      other.setPublic();
    else
      other.setPrivate();
  return module;
}

static FailureOr<Handle<moe_bundle>> compile(func::FuncOp function,
                                             const Kind &kind, StringRef arch) {
  MLIRContext *context = function.getContext();
  DialectRegistry registry;
  registerAllGPUToLLVMIRTranslations(registry);
  context->appendDialectRegistry(registry);
  OwningOpRef<ModuleOp> module = cloneForCompilation(function);
  PassManager pm(context, ModuleOp::getOperationName());
  pm.addPass(createSymbolDCEPass());
  MoEToPTXOptions options;
  options.arch = arch.str();
  options.automaticTokenRanges = true;
  buildMoEToPTXPipeline(pm, options);
  if (failed(pm.run(*module)))
    return failure();

  std::string ptx;
  llvm::raw_string_ostream os(ptx);
  auto manifest = buildManifest(*module);
  if (failed(manifest) || failed(emitPTX(*module, os)))
    return failure();
  std::string text = manifest->dump(
      -1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
  moe_bundle *bundle = nullptr;
  if (moe_bundle_parse(text.data(), text.size(), ptx.data(), ptx.size(),
                       &bundle))
    return runtimeError(function, kind);
  return Handle<moe_bundle>(bundle);
}

//===----------------------------------------------------------------------===//
// Execution
//===----------------------------------------------------------------------===//

/// The parameters of a call with the extents of the inputs and what follows
/// from them, and the results as arrays that nobody has written.
static LogicalResult prepareResults(func::FuncOp function, const Kind &kind,
                                    moe_bundle *bundle, ArrayRef<Array> inputs,
                                    SmallVectorImpl<moe_tensor> &parameters,
                                    std::vector<Array> &results) {
  size_t expected = inputs.size() + function.getNumResults();
  if (moe_bundle_num_arguments(bundle) != expected)
    return function.emitOpError("requires every result to be a tensor of its "
                                "own to run on ")
           << kind.text;
  for (size_t i = 0; i < expected; ++i) {
    moe_tensor &parameter = parameters.emplace_back();
    parameter.data = nullptr;
    llvm::fill(parameter.shape, -1);
    if (i < inputs.size())
      llvm::copy(inputs[i].shape(), parameter.shape);
  }
  if (moe_bundle_solve_shapes(bundle, parameters.data(), parameters.size()))
    return runtimeError(function, kind);
  for (auto [type, parameter] :
       llvm::zip_equal(function.getResultTypes(),
                       ArrayRef(parameters).drop_front(inputs.size()))) {
    auto tensor = cast<RankedTensorType>(type);
    llvm::Expected<Array> array =
        Array::createUnwritten(*elementKind(tensor.getElementType()),
                               ArrayRef(parameter.shape, tensor.getRank()));
    if (!array)
      return function.emitOpError("cannot hold its results: ")
             << llvm::toString(array.takeError());
    results.push_back(std::move(*array));
  }
  return success();
}

/// Uploads everything, launches, and downloads the results.
static LogicalResult call(func::FuncOp function, const Kind &kind,
                          moe_bundle *bundle, moe_device *device,
                          ArrayRef<Array> inputs,
                          SmallVectorImpl<moe_tensor> &parameters,
                          std::vector<Array> &results) {
  moe_layer *loaded = nullptr;
  if (moe_layer_load(bundle, device, &loaded))
    return runtimeError(function, kind);
  Handle<moe_layer> layer(loaded);
  DeviceMemory memory(device);
  for (auto [i, parameter] : llvm::enumerate(parameters)) {
    const Array &array =
        i < inputs.size() ? inputs[i] : results[i - inputs.size()];
    parameter.data = memory.upload(array.data(), array.bytes());
    bool isResult = i >= inputs.size();
    if (!parameter.data ||
        (isResult &&
         moe_device_mark_unwritten(device, parameter.data, array.bytes())))
      return runtimeError(function, kind);
  }
  uint64_t bytes = 0;
  if (moe_bundle_workspace(bundle, parameters.data(), parameters.size(),
                           &bytes))
    return runtimeError(function, kind);
  // All ones: NaN as a float, -1 as an integer.
  std::vector<uint8_t> unwritten(bytes, 0xff);
  void *workspace = memory.upload(unwritten.data(), bytes);
  if (!workspace || moe_device_mark_unwritten(device, workspace, bytes) ||
      moe_layer_launch(layer.get(), parameters.data(), parameters.size(),
                       workspace, bytes, nullptr) ||
      moe_device_synchronize(device))
    return runtimeError(function, kind);
  for (auto [i, result] : llvm::enumerate(results))
    if (result.bytes() > 0 &&
        moe_device_download(device, result.data(),
                            parameters[inputs.size() + i].data, result.bytes()))
      return runtimeError(function, kind);
  return success();
}

static FailureOr<std::vector<Array>>
runOn(const Kind &kind, func::FuncOp function, ArrayRef<Array> inputs) {
  if (failed(checkInputs(function, inputs)) || failed(checkCalls(function)) ||
      failed(checkExtents(function, inputs)))
    return failure();
  for (Type type : function.getResultTypes()) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    if (!tensor || !elementKind(tensor.getElementType()) ||
        tensor.getRank() > MOE_MAX_RANK)
      return function.emitOpError("requires results that are ranked tensors to "
                                  "run on the GPU, but got ")
             << type;
  }
  moe_device *opened = nullptr;
  if (moe_device_open(kind.name, /*ordinal=*/0, &opened))
    return runtimeError(function, kind);
  Handle<moe_device> device(opened);
  auto bundle = compile(function, kind, moe_device_arch(device.get()));
  if (failed(bundle))
    return failure();
  SmallVector<moe_tensor> parameters;
  std::vector<Array> results;
  if (failed(prepareResults(function, kind, bundle->get(), inputs, parameters,
                            results)) ||
      failed(call(function, kind, bundle->get(), device.get(), inputs,
                  parameters, results)))
    return failure();
  return results;
}

FailureOr<std::vector<Array>> moe::runOnCuda(func::FuncOp function,
                                             ArrayRef<Array> inputs) {
  return runOn(kCuda, function, inputs);
}

FailureOr<std::vector<Array>>
moe::runOnEmulator(func::FuncOp function, ArrayRef<Array> inputs,
                   const emulator::DeviceOptions &options) {
  emulator::addEmulatorDevice(options);
  return runOn(kEmulator, function, inputs);
}
