//===- Access.cpp - addresses of a warp to memory -*- C++ -*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Access.h"

#include "AccessChecks.h"

#include "MatrixProducts.h"

#include <algorithm>
#include <cstdio>

using namespace mlir::moe::emulator;

static std::string hexOf(uint64_t value) {
  char text[32];
  std::snprintf(text, sizeof(text), "0x%llx",
                static_cast<unsigned long long>(value));
  return text;
}

static const char *verbOf(AccessKind kind) {
  switch (kind) {
  case AccessKind::Read:
  case AccessKind::AsyncRead:
  case AccessKind::MatrixRead:
    return "a read of ";
  case AccessKind::Write:
  case AccessKind::AsyncWrite:
  case AccessKind::MatrixWrite:
    return "a write of ";
  case AccessKind::Atomic:
    return "an atomic access to ";
  }
  return "";
}

/// By the thread itself; copies write when they land, but are looked at when
/// they are issued.
static bool isWrite(AccessKind kind) {
  return kind == AccessKind::Write || kind == AccessKind::Atomic ||
         kind == AccessKind::MatrixWrite;
}

//===----------------------------------------------------------------------===//
// Addresses
//===----------------------------------------------------------------------===//

template <bool Checks>
static void computeAddresses(Warp &warp, const Instruction &i, Operand base,
                             uint32_t width, int64_t offset,
                             uint64_t addresses[kLanes]) {
  if (Checks && warp.poisoned) {
    uint32_t lanes = warp.poisonedLanes(base, width) & warp.active;
    if (lanes)
      warp.reportUndefined(i, lanes, "an address");
  }
  if (width == 4) {
    const auto *a = warp.read<uint32_t>(base);
    for (uint32_t lane = 0; lane < kLanes; ++lane)
      addresses[lane] = uint32_t(a[lane] + uint32_t(offset));
    return;
  }
  const auto *a = warp.read<uint64_t>(base);
  for (uint32_t lane = 0; lane < kLanes; ++lane)
    addresses[lane] = a[lane] + uint64_t(offset);
}

template <bool Checks>
void mlir::moe::emulator::addressesOf(Warp &warp, const Instruction &i,
                                      uint64_t addresses[kLanes]) {
  computeAddresses<Checks>(warp, i, i.a, i.widths[2], i.immediate, addresses);
}

template <bool Checks>
void mlir::moe::emulator::secondAddressesOf(Warp &warp, const Instruction &i,
                                            uint64_t addresses[kLanes]) {
  computeAddresses<Checks>(warp, i, i.b, i.widths[3], i.secondImmediate,
                           addresses);
}

namespace mlir::moe::emulator {
template void addressesOf<false>(Warp &, const Instruction &, uint64_t *);
template void addressesOf<true>(Warp &, const Instruction &, uint64_t *);
template void secondAddressesOf<false>(Warp &, const Instruction &, uint64_t *);
template void secondAddressesOf<true>(Warp &, const Instruction &, uint64_t *);
} // namespace mlir::moe::emulator

Block &mlir::moe::emulator::blockOf(Warp &warp, const Instruction &i,
                                    uint64_t address, uint32_t lanes) {
  uint64_t rank = address >> kSharedRankShift;
  Cluster &cluster = *warp.block->cluster;
  if (rank == 0)
    return *warp.block;
  if (rank > cluster.blocks.size())
    warp.stop(i, HazardKind::OutOfBounds, lanes,
              hexOf(address) +
                  " is no address of shared memory in a cluster "
                  "of " +
                  std::to_string(cluster.blocks.size()) + " blocks");
  return cluster.blocks[rank - 1];
}

//===----------------------------------------------------------------------===//
// Spaces
//===----------------------------------------------------------------------===//

static std::string describeShared(const Grid &grid, uint64_t offset) {
  int64_t into = int64_t(offset) - int64_t(kSharedStart);
  return "byte " + std::to_string(into) + " of shared memory, which has " +
         std::to_string(grid.sharedBytes) + " bytes (" +
         std::to_string(grid.program.shared.staticBytes) + " static, " +
         std::to_string(grid.launch.sharedBytes) + " dynamic)";
}

static std::string describeGlobal(const Memory &memory, uint64_t address) {
  const Allocation *near = memory.nearest(address);
  if (!near)
    return "address " + hexOf(address) + ", which is in no allocation";
  return "address " + hexOf(address) + ", which is byte " +
         std::to_string(address - near->address()) + " from the start of \"" +
         near->name + "\" of " + std::to_string(near->bytes) + " bytes";
}

using Found = std::pair<uint8_t *, uint8_t *>;

static Found findShared(Warp &warp, const Instruction &i, AccessKind kind,
                        uint64_t address, uint64_t bytes, uint32_t lanes) {
  const Grid &grid = warp.block->cluster->grid;
  Block &block = blockOf(warp, i, address, lanes);
  uint64_t offset = address & kSharedOffsetMask;
  if (offset < kSharedStart || bytes > grid.sharedBytes ||
      offset - kSharedStart > grid.sharedBytes - bytes)
    warp.stop(i, HazardKind::OutOfBounds, lanes,
              verbOf(kind) + std::to_string(bytes) + " bytes at " +
                  describeShared(grid, offset));
  if (isWrite(kind) || kind == AccessKind::AsyncWrite)
    checkTileReads(warp, i, lanes, block, static_cast<uint32_t>(offset),
                   static_cast<uint32_t>(bytes));
  if (isWrite(kind) && block.stamps.tracked())
    block.stamps.write(static_cast<uint32_t>(offset),
                       static_cast<uint32_t>(bytes), stampOf(warp));
  return {block.shared + offset,
          grid.program.checks ? block.sharedShadow + offset : nullptr};
}

static Found findGlobal(Warp &warp, const Instruction &i, AccessKind kind,
                        uint64_t address, uint64_t bytes, uint32_t lanes) {
  const Grid &grid = warp.block->cluster->grid;
  auto *data = reinterpret_cast<uint8_t *>(address);
  if (const Allocation *found = grid.memory.find(address, bytes)) {
    bool shadowed = grid.program.checks && found->shadow;
    return {data, shadowed ? found->shadow.get() + (address - found->address())
                           : nullptr};
  }
  for (const Module::Variable &variable : grid.launch.module->variables())
    if (data >= variable.data && data + bytes <= variable.data + variable.bytes)
      return {data, nullptr};
  warp.stop(i, HazardKind::OutOfBounds, lanes,
            verbOf(kind) + std::to_string(bytes) + " bytes at " +
                describeGlobal(grid.memory, address));
}

static Found findParameter(Warp &warp, const Instruction &i, AccessKind kind,
                           uint64_t offset, uint64_t bytes, uint32_t lanes) {
  const Grid &grid = warp.block->cluster->grid;
  if (bytes > grid.program.parameterBytes ||
      offset > grid.program.parameterBytes - bytes ||
      (kind != AccessKind::Read && kind != AccessKind::AsyncRead))
    warp.stop(i, HazardKind::OutOfBounds, lanes,
              verbOf(kind) + std::to_string(bytes) + " bytes at byte " +
                  std::to_string(offset) + " of the parameters, which have " +
                  std::to_string(grid.program.parameterBytes) + " bytes");
  return {const_cast<uint8_t *>(grid.parameters) + offset, nullptr};
}

static Found findLocal(Warp &warp, const Instruction &i, AccessKind kind,
                       uint64_t offset, uint64_t bytes, uint32_t lanes) {
  const Grid &grid = warp.block->cluster->grid;
  uint64_t each = grid.program.shared.localBytes;
  if (bytes > each || offset > each - bytes)
    warp.stop(i, HazardKind::OutOfBounds, lanes,
              verbOf(kind) + std::to_string(bytes) + " bytes at byte " +
                  std::to_string(offset) + " of local memory, which has " +
                  std::to_string(each) + " bytes");
  uint64_t thread = warp.number * kLanes + firstLane(lanes);
  return {warp.block->local + thread * each + offset, nullptr};
}

static Space spaceOf(Space space, uint64_t &address) {
  if (space != Space::Generic)
    return space;
  uint64_t window = address & ~kWindowMask;
  address &= kWindowMask;
  if (window == kSharedWindow)
    return Space::SharedCluster;
  if (window == kParameterWindow)
    return Space::Parameter;
  if (window == kLocalWindow)
    return Space::Local;
  address |= window;
  return Space::Global;
}

std::pair<uint8_t *, uint8_t *> mlir::moe::emulator::resolveOne(
    Warp &warp, const Instruction &i, Space space, AccessKind kind,
    uint64_t address, uint64_t bytes, uint64_t alignment, uint32_t lanes) {
  if (address % alignment != 0)
    warp.stop(i, HazardKind::Misaligned, lanes,
              verbOf(kind) + std::to_string(bytes) + " bytes at " +
                  hexOf(address) + ", which is no multiple of " +
                  std::to_string(alignment));
  switch (spaceOf(space, address)) {
  case Space::Shared:
  case Space::SharedCluster:
    return findShared(warp, i, kind, address, bytes, lanes);
  case Space::Parameter:
    return findParameter(warp, i, kind, address, bytes, lanes);
  case Space::Local:
    return findLocal(warp, i, kind, address, bytes, lanes);
  default:
    return findGlobal(warp, i, kind, address, bytes, lanes);
  }
}

//===----------------------------------------------------------------------===//
// A warp at once
//===----------------------------------------------------------------------===//

namespace {
/// The smallest and the largest address of the running lanes, and all bits that
/// are set in any of them.
struct Extent {
  uint64_t low = ~uint64_t(0), high = 0, bits = 0;

  Extent(const uint64_t *addresses, uint32_t active) {
    if (active == kAllLanes) {
      for (uint32_t lane = 0; lane < kLanes; ++lane)
        add(addresses[lane]);
      return;
    }
    for (uint32_t lanes = active; lanes; lanes &= lanes - 1)
      add(addresses[firstLane(lanes)]);
  }
  void add(uint64_t address) {
    low = std::min(low, address);
    high = std::max(high, address);
    bits |= address;
  }
};
} // namespace

/// to[lane] = base + addresses[lane] - origin. Lanes that do not run have
/// addresses without meaning: the sum is one of integers.
static void shift(uint8_t *base, const uint64_t *addresses, uint64_t origin,
                  uint8_t *to[kLanes]) {
  uint64_t distance = reinterpret_cast<uint64_t>(base) - origin;
  for (uint32_t lane = 0; lane < kLanes; ++lane)
    to[lane] = reinterpret_cast<uint8_t *>(addresses[lane] + distance);
}

/// What addresses that were found at once have in common.
static void describe(const Warp &warp, const uint64_t *addresses,
                     uint32_t bytes, Access &access) {
  access.uniform = true;
  if (warp.active != kAllLanes)
    return;
  uint64_t different = 0;
  for (uint32_t lane = 0; lane < kLanes; ++lane)
    different |= addresses[lane] ^ (addresses[0] + uint64_t(lane) * bytes);
  access.contiguous = different == 0;
}

/// All lanes in the shared memory of their own block: the usual case.
static bool resolveShared(Warp &warp, const Instruction &i, AccessKind kind,
                          const Extent &extent, const uint64_t *addresses,
                          uint32_t bytes, Access &access) {
  const Grid &grid = warp.block->cluster->grid;
  if (extent.low < kSharedStart ||
      extent.high + bytes > kSharedStart + uint64_t(grid.sharedBytes))
    return false;
  shift(warp.block->shared, addresses, 0, access.data);
  access.hasShadow = grid.program.checks;
  access.global = false;
  if (access.hasShadow)
    shift(warp.block->sharedShadow, addresses, 0, access.shadow);
  WriteStamps &stamps = warp.block->stamps;
  if (!stamps.tracked())
    return true;
  if ((isWrite(kind) || kind == AccessKind::AsyncWrite) &&
      mayMeetTileReads(warp, *warp.block, static_cast<uint32_t>(extent.low),
                       static_cast<uint32_t>(extent.high) + bytes))
    for (uint32_t lanes = warp.active; lanes; lanes &= lanes - 1)
      checkTileReads(warp, i, 1u << firstLane(lanes), *warp.block,
                     static_cast<uint32_t>(addresses[firstLane(lanes)]), bytes);
  if (isWrite(kind))
    for (uint32_t lanes = warp.active; lanes; lanes &= lanes - 1)
      stamps.write(static_cast<uint32_t>(addresses[firstLane(lanes)]), bytes,
                   stampOf(warp));
  describe(warp, addresses, bytes, access);
  return true;
}

/// All lanes in one allocation.
static bool resolveGlobal(Warp &warp, const Extent &extent,
                          const uint64_t *addresses, uint32_t bytes,
                          Access &access) {
  const Grid &grid = warp.block->cluster->grid;
  const Allocation *&last = warp.lastAllocation;
  uint64_t size = extent.high - extent.low + bytes;
  if (!last || !last->contains(extent.low, size)) {
    last = grid.memory.find(extent.low, size);
    if (!last)
      return false;
  }
  for (uint32_t lane = 0; lane < kLanes; ++lane)
    access.data[lane] = reinterpret_cast<uint8_t *>(addresses[lane]);
  access.global = true;
  access.hasShadow = grid.program.checks && last->shadow;
  if (access.hasShadow)
    shift(last->shadow.get(), addresses, last->address(), access.shadow);
  describe(warp, addresses, bytes, access);
  return true;
}

/// Finds the memory of each of the running lanes.
static void locate(Warp &warp, const Instruction &i, Space space,
                   AccessKind kind, const uint64_t addresses[kLanes],
                   uint32_t bytes, Access &access) {
  Extent extent(addresses, warp.active);
  if (extent.bits % bytes == 0) {
    if ((space == Space::Shared || space == Space::SharedCluster) &&
        resolveShared(warp, i, kind, extent, addresses, bytes, access))
      return;
    // A generic address of another window is in no allocation.
    if ((space == Space::Global || space == Space::Generic) &&
        resolveGlobal(warp, extent, addresses, bytes, access))
      return;
  }
  access.hasShadow = false;
  access.global = true;
  for (uint32_t lanes = warp.active; lanes; lanes &= lanes - 1) {
    uint32_t lane = firstLane(lanes);
    uint64_t address = addresses[lane];
    auto [data, shadow] = resolveOne(warp, i, space, kind, address, bytes,
                                     bytes, uint32_t(1) << lane);
    access.data[lane] = data;
    access.shadow[lane] = shadow;
    access.hasShadow |= shadow != nullptr;
    access.global &= spaceOf(space, address) == Space::Global;
  }
}

void mlir::moe::emulator::resolve(Warp &warp, const Instruction &i, Space space,
                                  AccessKind kind,
                                  const uint64_t addresses[kLanes],
                                  uint32_t bytes, Access &access) {
  if (warp.active == 0)
    return;
  locate(warp, i, space, kind, addresses, bytes, access);
  if (warp.block->cluster->grid.checks)
    checkAccess(warp, i, kind, bytes, access);
}

Space mlir::moe::emulator::takeSpace(DecodeContext &context) {
  std::string_view name =
      context.takeOneOf({"global", "shared", "shared::cta", "shared::cluster",
                         "param", "param::entry", "const", "local"});
  if (name.empty())
    return Space::Generic;
  if (name == "shared::cluster")
    return Space::SharedCluster;
  if (name.substr(0, 6) == "shared")
    return Space::Shared;
  if (name.substr(0, 5) == "param")
    return Space::Parameter;
  return name == "local" ? Space::Local : Space::Global;
}
