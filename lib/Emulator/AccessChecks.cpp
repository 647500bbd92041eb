//===- AccessChecks.cpp - what every access of a checked run passes -*- C++
//-*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "AccessChecks.h"

#include "Access.h"

#include <algorithm>

using namespace mlir::moe::emulator;

/// "fence.acq_rel.gpu", "membar.gl", "atom.acq_rel.gpu.global.add.u32".
static bool ordersDevice(const std::string &name) {
  auto has = [&](const char *part) {
    return name.find(part) != std::string::npos;
  };
  bool device = has(".gpu") || has(".sys") || has("membar.gl");
  bool orders = has("fence.sc") || has("fence.acq_rel") ||
                has("fence.acquire") || has("fence.release") || has("membar") ||
                has(".acquire") || has(".release") || has(".acq_rel");
  return device && orders;
}

LaunchChecks::LaunchChecks(const Program &program, const Memory &memory,
                           const std::vector<BufferContract> &contracts)
    : contracts(contracts),
      ordersClusters(std::any_of(program.names.begin(), program.names.end(),
                                 ordersDevice)) {
  for (const Allocation *allocation : memory.all())
    records.emplace(allocation, std::make_unique<GlobalRecords>(*allocation));
}

namespace {
/// Whose memory an address of the host is.
struct Owner {
  Block *block = nullptr;
  const Allocation *allocation = nullptr;
};
} // namespace

static bool holds(const Block &block, const uint8_t *data) {
  return data >= block.shared &&
         data < block.shared + kSharedStart + block.cluster->grid.sharedBytes;
}

static Owner ownerOf(Warp &warp, const uint8_t *data, uint32_t bytes) {
  Owner owner;
  if (holds(*warp.block, data)) {
    owner.block = warp.block;
    return owner;
  }
  auto address = reinterpret_cast<uint64_t>(data);
  if (warp.lastAllocation && warp.lastAllocation->contains(address, bytes)) {
    owner.allocation = warp.lastAllocation;
    return owner;
  }
  for (Block &block : warp.block->cluster->blocks)
    if (holds(block, data))
      owner.block = &block;
  // Null for local memory and parameters, which a thread has for itself.
  if (!owner.block)
    owner.allocation = warp.block->cluster->grid.memory.find(address, bytes);
  return owner;
}

namespace {
/// One instruction's accesses: what is looked up once for all of its lanes.
struct Accesses {
  Warp &warp;
  const Instruction &instruction;
  AccessRole role;
  bool combines;
  LaunchChecks &checks = *warp.block->cluster->grid.checks;
  const Allocation *allocation = nullptr;
  GlobalRecords *records = nullptr;

  void inGlobal(const Allocation &in, uint8_t lane, uint64_t address,
                uint32_t bytes) {
    if (allocation != &in) {
      allocation = &in;
      records = checks.recordsOf(&in);
    }
    if (records)
      noteGlobal(warp, instruction, *records, in, lane, address, bytes, role);
    if (!checks.contracts.empty())
      checks.contracts.note(warp, instruction, 1u << (lane % kLanes), address,
                            bytes, role.writes, combines);
  }
};
} // namespace

void mlir::moe::emulator::checkAccess(Warp &warp, const Instruction &i,
                                      AccessKind kind, uint32_t bytes,
                                      const Access &access) {
  bool matrix =
      kind == AccessKind::MatrixRead || kind == AccessKind::MatrixWrite;
  AccessRole role;
  role.writes = kind != AccessKind::Read && kind != AccessKind::AsyncRead &&
                kind != AccessKind::MatrixRead;
  role.strong = kind == AccessKind::Atomic || (i.order & kRelaxed);
  if (i.order & (kAcquire | kRelease))
    orderByFence(warp);
  Accesses accesses{warp, i, role, kind == AccessKind::Atomic};
  for (uint32_t lanes = warp.active; lanes; lanes &= lanes - 1) {
    uint32_t lane = firstLane(lanes);
    uint8_t who = matrix ? kSeveralLanes : static_cast<uint8_t>(lane);
    uint8_t *data = access.data[lane];
    Owner owner = ownerOf(warp, data, bytes);
    if (owner.block)
      noteShared(warp, i, *owner.block, who,
                 static_cast<uint32_t>(data - owner.block->shared), bytes,
                 role);
    else if (owner.allocation)
      accesses.inGlobal(*owner.allocation, who,
                        reinterpret_cast<uint64_t>(data), bytes);
  }
}

void mlir::moe::emulator::checkBulkAccess(Warp &warp, const Instruction &i,
                                          uint32_t lane, uint64_t address,
                                          uint64_t bytes, bool writes,
                                          bool combines) {
  const Grid &grid = warp.block->cluster->grid;
  const Allocation *allocation = grid.memory.find(address, bytes);
  if (!grid.checks || !allocation)
    return;
  Accesses accesses{warp, i, {writes, combines}, combines};
  accesses.inGlobal(*allocation, static_cast<uint8_t>(lane), address,
                    static_cast<uint32_t>(bytes));
}
