//===- MatrixLoad.cpp - ldmatrix, stmatrix, movmatrix -*- C++ -*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Both move matrices of 8 rows of 16 bytes between shared memory and the
// registers of a warp: lanes 8 m to 8 m + 7 give the addresses of the rows of
// matrix m, and lane t holds row t / 4, columns 2 (t % 4) and the next, in its
// register m. With .trans rows and columns change places.
//
//===----------------------------------------------------------------------===//

#include "Access.h"
#include "Coalescing.h"
#include "Lanes.h"

using namespace mlir::moe::emulator;

static constexpr uint32_t kRows = 8;
static constexpr uint32_t kRowBytes = 16;

/// Where the two halves of a lane's register are in a matrix of bytes.
static void placeOf(uint32_t lane, bool transposed, uint32_t &low,
                    uint32_t &high) {
  uint32_t outer = lane / 4, inner = lane % 4 * 2;
  if (transposed) {
    low = inner * kRowBytes + outer * 2;
    high = low + kRowBytes;
  } else {
    low = outer * kRowBytes + inner * 2;
    high = low + 2;
  }
}

/// The rows of the matrices; addresses of lanes past them are not looked at.
static void resolveRows(Warp &warp, const Instruction &i, AccessKind kind,
                        Access &access) {
  uint64_t addresses[kLanes];
  warp.active = i.count == 4 ? kAllLanes : (1u << (kRows * i.count)) - 1;
  addressesOf<true>(warp, i, addresses);
  resolve(warp, i, Space(i.size), kind, addresses, kRowBytes, access);
  countTraffic(warp, access, kRowBytes);
  warp.active = kAllLanes;
}

static bool needWholeWarp(Warp &warp, const Instruction &i) {
  if (!warp.converge(i))
    return false;
  if (warp.active != kAllLanes)
    warp.stop(i, HazardKind::Divergence, warp.active,
              "the warp has fewer than 32 threads");
  return true;
}

static void loadMatrixPoison(Warp &warp, const Instruction &i,
                             const Access &access) {
  uint8_t any = 0;
  if (access.hasShadow)
    for (uint32_t row = 0; row < kRows * i.count; ++row)
      for (uint32_t byte = 0; byte < kRowBytes; ++byte)
        any |= access.shadow[row][byte];
  if (!any && !warp.poisoned)
    return;
  warp.poisoned = true;
  for (uint32_t m = 0; m < i.count; ++m) {
    Operand to = listOperand(warp, i, m);
    warp.setPoison(to, 4, 0);
    if (!any)
      continue;
    uint32_t *planes = warp.poisonToWrite(to);
    for (uint32_t lane = 0; lane < kLanes; ++lane) {
      uint32_t places[2];
      placeOf(lane, i.option, places[0], places[1]);
      for (uint32_t byte = 0; byte < 4; ++byte) {
        uint32_t at = places[byte / 2] + byte % 2;
        bool undefined =
            access.shadow[m * kRows + at / kRowBytes][at % kRowBytes];
        planes[byte] |= uint32_t(undefined) << lane;
      }
    }
  }
}

template <bool Checks>
static void loadMatrix(Warp &warp, const Instruction &i) {
  if (!needWholeWarp(warp, i))
    return;
  Access access;
  resolveRows(warp, i, AccessKind::MatrixRead, access);
  warp.block->cluster->counts.sharedBytesRead += kRows * kRowBytes * i.count;
  for (uint32_t m = 0; m < i.count; ++m) {
    uint8_t matrix[kRows * kRowBytes];
    for (uint32_t row = 0; row < kRows; ++row)
      std::memcpy(matrix + row * kRowBytes, access.data[m * kRows + row],
                  kRowBytes);
    auto *to = warp.write<uint32_t>(listOperand(warp, i, m));
    if (!i.option) {
      std::memcpy(to, matrix, sizeof(matrix));
      continue;
    }
    for (uint32_t lane = 0; lane < kLanes; ++lane) {
      uint32_t low, high;
      uint16_t halves[2];
      placeOf(lane, true, low, high);
      std::memcpy(&halves[0], matrix + low, 2);
      std::memcpy(&halves[1], matrix + high, 2);
      to[lane] = halves[0] | uint32_t(halves[1]) << 16;
    }
  }
  if (Checks)
    loadMatrixPoison(warp, i, access);
}

static void storeMatrixPoison(Warp &warp, const Instruction &i,
                              const Access &access) {
  if (!access.hasShadow)
    return;
  for (uint32_t row = 0; row < kRows * i.count; ++row)
    if (access.shadow[row])
      std::memset(access.shadow[row], 0, kRowBytes);
  if (!warp.poisoned)
    return;
  for (uint32_t m = 0; m < i.count; ++m) {
    const uint32_t *planes = warp.poison(listOperand(warp, i, m));
    for (uint32_t lane = 0; lane < kLanes; ++lane) {
      uint32_t places[2];
      placeOf(lane, i.option, places[0], places[1]);
      for (uint32_t byte = 0; byte < 4; ++byte) {
        uint32_t at = places[byte / 2] + byte % 2;
        uint8_t *shadow = access.shadow[m * kRows + at / kRowBytes];
        if (planes[byte] >> lane & 1)
          shadow[at % kRowBytes] = 1;
      }
    }
  }
}

template <bool Checks>
static void storeMatrix(Warp &warp, const Instruction &i) {
  if (!needWholeWarp(warp, i))
    return;
  Access access;
  resolveRows(warp, i, AccessKind::MatrixWrite, access);
  warp.block->cluster->counts.sharedBytesWritten += kRows * kRowBytes * i.count;
  for (uint32_t m = 0; m < i.count; ++m) {
    const auto *from = warp.read<uint32_t>(listOperand(warp, i, m));
    for (uint32_t lane = 0; lane < kLanes; ++lane) {
      uint32_t places[2];
      placeOf(lane, i.option, places[0], places[1]);
      for (uint32_t half = 0; half < 2; ++half) {
        auto value = static_cast<uint16_t>(from[lane] >> (16 * half));
        uint32_t at = places[half];
        std::memcpy(access.data[m * kRows + at / kRowBytes] + at % kRowBytes,
                    &value, 2);
      }
    }
  }
  if (Checks)
    storeMatrixPoison(warp, i, access);
}

/// Moves bytes between lanes as a store and a load with .trans would.
template <bool Checks>
static void moveMatrix(Warp &warp, const Instruction &i) {
  if (!needWholeWarp(warp, i))
    return;
  uint32_t from[kLanes];
  std::memcpy(from, warp.read<uint32_t>(i.a), sizeof(from));
  auto *to = warp.write<uint32_t>(i.d);
  uint32_t undefined[4] = {0, 0, 0, 0};
  for (uint32_t lane = 0; lane < kLanes; ++lane) {
    uint32_t value = 0;
    for (uint32_t half = 0; half < 2; ++half) {
      // Element (row, column) of the result is (column, row) of the source.
      uint32_t row = lane / 4, column = lane % 4 * 2 + half;
      uint32_t source = column * 4 + row / 2, part = row % 2;
      value |= (from[source] >> (16 * part) & 0xffff) << (16 * half);
      if (Checks && warp.poisoned)
        for (uint32_t byte = 0; byte < 2; ++byte)
          undefined[2 * half + byte] |=
              (warp.poison(i.a)[2 * part + byte] >> source & 1) << lane;
    }
    to[lane] = value;
  }
  if (Checks && warp.poisoned)
    std::memcpy(warp.poisonToWrite(i.d), undefined, sizeof(undefined));
}

static void decodeMoveMatrix(DecodeContext &context) {
  context.out().kind = Class::Shuffle;
  context.out().poison = Poison::Own;
  for (std::string_view modifier : {"sync", "aligned", "m8n8", "trans", "b16"})
    context.needOneOf({modifier});
  context.needOperands(2);
  context.d(0, 32);
  context.a(1, 32);
  context.run(moveMatrix<false>, moveMatrix<true>);
}

static void decodeMatrix(DecodeContext &context, bool loads) {
  Instruction &out = context.out();
  out.kind = Class::Memory;
  out.poison = Poison::Own;
  context.needOneOf({"sync"});
  context.needOneOf({"aligned"});
  context.needOneOf({"m8n8"});
  std::string_view count = context.needOneOf({"x1", "x2", "x4"});
  out.option = context.take("trans");
  Space space = takeSpace(context);
  if (space != Space::Shared && space != Space::Generic)
    context.fail("matrices are in shared memory");
  out.size = static_cast<uint8_t>(space);
  context.needOneOf({"b16"});
  context.needOperands(2);
  context.address(loads ? 1 : 0);
  context.appendVector(loads ? 0 : 1, 32, loads ? 1 : 2);
  if (out.count != uint32_t(count[1] - '0'))
    context.fail("a vector of " + std::to_string(out.count) +
                 " registers for ." + std::string(count));
  if (loads)
    context.run(loadMatrix<false>, loadMatrix<true>);
  else
    context.run(storeMatrix<false>, storeMatrix<true>);
}

static void decodeLoadMatrix(DecodeContext &context) {
  decodeMatrix(context, true);
}
static void decodeStoreMatrix(DecodeContext &context) {
  decodeMatrix(context, false);
}

void mlir::moe::emulator::addMatrixLoadInstructions(InstructionTable &table) {
  table.add("ldmatrix", decodeLoadMatrix);
  table.add("movmatrix", decodeMoveMatrix);
  table.add("stmatrix", decodeStoreMatrix);
}
