//===- RuntimeDevice.h - the emulator as a device of the runtime -*- C++
//-*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MOE_EMULATOR_RUNTIMEDEVICE_H
#define MOE_EMULATOR_RUNTIMEDEVICE_H

#include <cstdint>

namespace mlir::moe::emulator {

/// How the device runs kernels; see Launch.h.
struct DeviceOptions {
  bool checks = true;
  uint64_t seed = 0;
};

/// Makes the runtime know the device kind "emulator": `moe_device_open` takes
/// it from then on. A program that does not call this does not hold the
/// emulator. Hazards of a kernel are errors of its launch.
void addEmulatorDevice(const DeviceOptions &options = {});

} // namespace mlir::moe::emulator

#endif // MOE_EMULATOR_RUNTIMEDEVICE_H
