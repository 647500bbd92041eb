//===- Report.cpp - what a run found, as text -*- C++ -*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "moe/Emulator/Report.h"

#include "Block.h"

#include <algorithm>

using namespace mlir::moe::emulator;

const char *mlir::moe::emulator::nameOf(HazardKind kind) {
  switch (kind) {
  case HazardKind::OutOfBounds:
    return "out of bounds";
  case HazardKind::Misaligned:
    return "misaligned";
  case HazardKind::Undefined:
    return "undefined data";
  case HazardKind::Race:
    return "race";
  case HazardKind::MissingProxyFence:
    return "missing proxy fence";
  case HazardKind::MatrixInFlight:
    return "matrix product in flight";
  case HazardKind::CopyInFlight:
    return "copy in flight";
  case HazardKind::Deadlock:
    return "deadlock";
  case HazardKind::BarrierMisuse:
    return "barrier misuse";
  case HazardKind::Contract:
    return "broken contract";
  case HazardKind::Divergence:
    return "divergence";
  case HazardKind::TensorMap:
    return "tensor map";
  case HazardKind::InvalidValue:
    return "invalid value";
  case HazardKind::Trap:
    return "trap";
  case HazardKind::Limit:
    return "limit";
  }
  return "hazard";
}

static std::string triple(const uint32_t values[3]) {
  return "(" + std::to_string(values[0]) + ", " + std::to_string(values[1]) +
         ", " + std::to_string(values[2]) + ")";
}

std::string Hazard::format() const {
  std::string text = std::string(nameOf(kind)) + ": " + message + "\n  " +
                     kernel + " line " + std::to_string(line) + ": " +
                     instruction;
  if (!location.empty())
    text += " (" + location + ")";
  text += ", block " + triple(block) + ", thread " + triple(thread);
  if (count > 1)
    text += ", " + std::to_string(count) + " times";
  if (seed != 0)
    text += ", schedule seed " + std::to_string(seed);
  return text;
}

void Counts::add(const Counts &other) {
  globalBytesRead += other.globalBytesRead;
  globalBytesWritten += other.globalBytesWritten;
  sharedBytesRead += other.sharedBytesRead;
  sharedBytesWritten += other.sharedBytesWritten;
  sectors += other.sectors;
  bankConflicts += other.bankConflicts;
  matrixMultiplyAdds += other.matrixMultiplyAdds;
  barrierWaits += other.barrierWaits;
}

void HazardSink::add(Hazard hazard) {
  std::lock_guard<std::mutex> lock(mutex);
  hazard.seed = seed;
  for (Hazard &known : hazards)
    if (known.kind == hazard.kind && known.line == hazard.line) {
      ++known.count;
      return;
    }
  if (hazards.size() < most)
    hazards.push_back(std::move(hazard));
}
