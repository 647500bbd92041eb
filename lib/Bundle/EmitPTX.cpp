//===- EmitPTX.cpp - the PTX of a lowered module -*- C++ -*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "moe/Bundle/EmitPTX.h"

#include "HostOps.h"

#include "moe/Conversion/MoEToGPU.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "llvm/ADT/StringMap.h"

using namespace mlir;
using namespace mlir::moe;

/// The comment block in front of a kernel's entry.
static void printHeader(StringRef name, KernelInfoAttr info, raw_ostream &os) {
  os << "//\n// " << name << "\n";
  for (auto [i, param] : llvm::enumerate(info.getParams()))
    os << "//   param " << i << "  " << cast<StringAttr>(param).getValue()
       << "\n";
  os << "//   grid     " << info.getGrid().getValue() << "\n"
     << "//   block    " << info.getBlock() << " threads\n"
     << "//   shared   " << info.getShared() << " bytes dynamic\n";
  if (info.getSchedule())
    os << "//   schedule " << info.getSchedule() << "\n";
  os << "//\n";
}

/// Prints `ptx` with a header in front of each line that opens an entry.
static void printWithHeaders(StringRef ptx,
                             const llvm::StringMap<KernelInfoAttr> &infos,
                             raw_ostream &os) {
  while (!ptx.empty()) {
    auto [line, rest] = ptx.split('\n');
    StringRef entry = line;
    if (entry.consume_front(".visible .entry ")) {
      StringRef name = entry.take_until([](char c) { return c == '('; });
      auto info = infos.find(name);
      if (info != infos.end())
        printHeader(name, info->second, os);
    }
    os << line << "\n";
    ptx = rest;
  }
}

/// Warns at ops of `module` that compute on tensors or memrefs and that no
/// kernel replaced: who launches the kernels alone misses them.
static void warnAboutHostOps(Operation *module) {
  module->walk<WalkOrder::PreOrder>([](Operation *op) {
    if (isa<gpu::GPUModuleOp, gpu::BinaryOp>(op))
      return WalkResult::skip();
    if (computesOnData(op))
      op->emitWarning() << "'" << op->getName()
                        << "' op stays on the host; no kernel computes it";
    return WalkResult::advance();
  });
}

LogicalResult moe::emitPTX(Operation *module, raw_ostream &os) {
  llvm::StringMap<KernelInfoAttr> infos;
  module->walk([&](gpu::LaunchFuncOp launch) {
    if (KernelInfoAttr info = getKernelInfo(launch))
      infos[launch.getKernelName()] = info;
  });
  SmallVector<StringRef> texts;
  module->walk([&](gpu::BinaryOp binary) {
    for (auto object : binary.getObjects().getAsRange<gpu::ObjectAttr>())
      if (object.getFormat() == gpu::CompilationTarget::Assembly)
        texts.push_back(object.getObject().getValue());
  });
  if (texts.empty())
    return emitError(module->getLoc(),
                     "there is no PTX to print; add --moe-to-ptx, and let the "
                     "input be a function with moe ops");
  warnAboutHostOps(module);
  for (StringRef text : texts)
    printWithHeaders(text.rtrim(StringRef("\0\n", 2)), infos, os);
  return success();
}
