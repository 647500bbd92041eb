//===- CallMemory.h - the buffers of one call -*- C++ -*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MOE_LIB_EMULATOR_CALLMEMORY_H
#define MOE_LIB_EMULATOR_CALLMEMORY_H

#include "../Runtime/Device.h"

#include "moe/Emulator/Contract.h"
#include "moe/Emulator/Memory.h"

namespace mlir::moe::emulator {

/// What the kernels of one call of a layer may touch: its arguments and its
/// workspace buffers, "argument 2" and "workspace 1", each an allocation of its
/// own, and nothing in between. Arguments stay where they are; those that
/// overlap, such as an array that is passed twice, are one allocation.
/// Workspace buffers get memory of their own, undefined when the call begins,
/// so that none follows another: the caller's workspace is not used.
class CallMemory {
public:
  /// `device` has the memory that the call was given. Throws runtime::Error
  /// where an argument does not lie in it. Changes `request.addresses`.
  CallMemory(const runtime::CallRequest &request, Memory &device);
  /// Tells `device` what the call has written.
  void finish();

  const Memory &memory() const { return buffers; }
  /// What the manifest alone tells: arguments that are neither results nor
  /// changed in place are not written.
  const std::vector<BufferContract> &contracts() const { return promises; }

private:
  /// Bytes of device memory for one or several arguments.
  struct Region {
    char *data;
    uint64_t bytes;
    std::string name;
    bool isWritten;

    char *end() const { return data + bytes; }
  };
  void add(Region region);
  void mergeOverlapping();
  void enter(const Region &region);

  Memory &device;
  std::vector<Region> regions;
  Memory buffers;
  std::vector<BufferContract> promises;
};

} // namespace mlir::moe::emulator

#endif // MOE_LIB_EMULATOR_CALLMEMORY_H
