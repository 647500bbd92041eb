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

#include "moe/Emulator/Report.h"

#include <cstdint>
#include <functional>
#include <string>

namespace mlir::moe::emulator {

/// How the device runs kernels; see Launch.h.
struct DeviceOptions {
  bool checks = true;
  uint64_t seed = 0;
  /// Hears of every launch that has run, before what was wrong with it becomes
  /// an error. On the thread that launches.
  std::function<void(const std::string &kernel, const Report &report)> finished;
};

/// Makes the runtime know the device kind "emulator": `moe_device_open` takes
/// it from then on. A program that does not call this does not hold the
/// emulator. Called again, it changes the options of devices to be opened.
///
/// Hazards of a kernel are errors of its launch. The kernels of a call may
/// touch its arguments and workspace buffers, which reports name by number, and
/// may write those alone that the bundle calls written. Other promises, such as
/// rows written once, are not in a bundle and are not checked.
void addEmulatorDevice(const DeviceOptions &options = {});

} // namespace mlir::moe::emulator

#endif // MOE_EMULATOR_RUNTIMEDEVICE_H
