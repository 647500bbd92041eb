//===- BulkCopy.cpp - bulk copies in flight -*- C++ -*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "BulkCopy.h"

#include "AccessChecks.h"
#include "AsyncCopy.h"
#include "MBarrier.h"

#include <algorithm>
#include <cstring>

using namespace mlir::moe::emulator;

static bool checksOf(const BulkCopy &copy) {
  return copy.warp->block->cluster->grid.program.checks;
}

/// Calls `function(offset, address, bytes)` for the global memory that a copy
/// reads or writes, and where it is in the buffer.
template <typename Function>
static void forGlobal(const BulkCopy &copy, Function function) {
  if (copy.box)
    copy.box->forInside(function);
  else
    function(0u, copy.address, copy.bytes);
}

/// The shadow of global memory; null where all is defined.
static uint8_t *shadowOf(const BulkCopy &copy, uint64_t address,
                         uint64_t bytes) {
  const Memory &memory = copy.warp->block->cluster->grid.memory;
  const Allocation *found = memory.find(address, bytes);
  if (!found || !found->shadow)
    return nullptr;
  return found->shadow.get() + (address - found->address());
}

//===----------------------------------------------------------------------===//
// Steps
//===----------------------------------------------------------------------===//

static void readShared(BulkCopy &copy) {
  bool checks = checksOf(copy);
  const Block &block = *copy.from.blocks[0];
  copy.forShared(
      copy.from.offset, [&](uint32_t offset, uint32_t place, uint32_t bytes) {
        std::memcpy(copy.data.data() + offset, block.shared + place, bytes);
        if (checks)
          std::memcpy(copy.shadow.data() + offset, block.sharedShadow + place,
                      bytes);
      });
  checkOverwritten(*copy.warp, *copy.instruction, 1u << copy.lane, copy.issued,
                   block, copy.from.offset, copy.sharedBytes(), "a bulk copy");
}

/// A load by a map of TFloat32 rounds to the 19 bits that count.
static void roundToTF32(uint8_t *data, uint32_t bytes) {
  constexpr uint32_t kDropped = 13, kInfinity = 0x7f800000u;
  for (uint32_t i = 0; i < bytes; i += 4) {
    uint32_t bits;
    std::memcpy(&bits, data + i, 4);
    if ((bits & ~(1u << 31)) <= kInfinity)
      bits += (1u << (kDropped - 1)) - 1 + (bits >> kDropped & 1);
    bits &= ~((1u << kDropped) - 1);
    std::memcpy(data + i, &bits, 4);
  }
}

static void readGlobal(BulkCopy &copy) {
  bool checks = checksOf(copy);
  if (copy.box)
    copy.box->fill(copy.data.data());
  forGlobal(copy, [&](uint32_t offset, uint64_t address, uint32_t bytes) {
    uint8_t *to = copy.data.data() + offset;
    std::memcpy(to, reinterpret_cast<const uint8_t *>(address), bytes);
    if (copy.box && copy.box->map.type == ElementType::TFloat32)
      roundToTF32(to, bytes);
    if (!checks)
      return;
    checkBulkAccess(*copy.warp, *copy.instruction, copy.lane, address, bytes,
                    false, false);
    if (const uint8_t *shadow = shadowOf(copy, address, bytes))
      std::memcpy(copy.shadow.data() + offset, shadow, bytes);
  });
}

static void readSource(BulkCopy &copy) {
  copy.data.resize(copy.bytes);
  if (checksOf(copy))
    copy.shadow.assign(copy.bytes, 0);
  if (copy.from.blocks.empty())
    readGlobal(copy);
  else
    readShared(copy);
  copy.isRead = true;
}

static void reduceInto(const BulkCopy &copy, uint8_t *to, uint32_t offset,
                       uint32_t bytes) {
  for (uint32_t i = 0; i < bytes; i += copy.elementBytes)
    copy.reduce(to + i, copy.data.data() + offset + i);
}

static void writeShared(BulkCopy &copy, Block &block) {
  bool checks = checksOf(copy);
  auto write = [&](uint32_t offset, uint32_t place, uint32_t bytes) {
    if (copy.reduce)
      reduceInto(copy, block.shared + place, offset, bytes);
    else
      std::memcpy(block.shared + place, copy.data.data() + offset, bytes);
    // A reduction does not define what was undefined.
    if (checks && !copy.reduce)
      std::memcpy(block.sharedShadow + place, copy.shadow.data() + offset,
                  bytes);
    if (block.stamps.tracked())
      block.stamps.write(place, bytes, 0);
  };
  copy.forShared(copy.to.offset, write);
  uint32_t bit = 1u << copy.lane;
  checkMBarrier(*copy.warp, *copy.instruction, block, copy.barrier, bit);
  completeBytes(*copy.warp, *copy.instruction, {&block, copy.barrier},
                copy.bytes, bit);
}

static void writeGlobal(BulkCopy &copy) {
  bool checks = checksOf(copy), undefined = false, undefinedTarget = false;
  forGlobal(copy, [&](uint32_t offset, uint64_t address, uint32_t bytes) {
    auto *to = reinterpret_cast<uint8_t *>(address);
    if (copy.reduce)
      reduceInto(copy, to, offset, bytes);
    else
      std::memcpy(to, copy.data.data() + offset, bytes);
    if (!checks)
      return;
    checkBulkAccess(*copy.warp, *copy.instruction, copy.lane, address, bytes,
                    true, copy.reduce != nullptr);
    undefined |= std::memchr(copy.shadow.data() + offset, 1, bytes) != nullptr;
    uint8_t *shadow = shadowOf(copy, address, bytes);
    if (!shadow)
      return;
    undefinedTarget |= copy.reduce && std::memchr(shadow, 1, bytes);
    std::memcpy(shadow, copy.shadow.data() + offset, bytes);
  });
  if (undefined)
    copy.warp->reportUndefined(*copy.instruction, 1u << copy.lane,
                               "what is stored in global memory");
  if (undefinedTarget)
    copy.warp->reportUndefined(*copy.instruction, 1u << copy.lane,
                               "the memory of a reduction");
}

static void writeTarget(BulkCopy &copy) {
  if (copy.to.blocks.empty())
    return writeGlobal(copy);
  for (Block *block : copy.to.blocks)
    writeShared(copy, *block);
}

//===----------------------------------------------------------------------===//
// Issue
//===----------------------------------------------------------------------===//

static void checkGlobal(const BulkCopy &copy, AccessKind kind) {
  uint64_t low = ~uint64_t(0), high = 0;
  forGlobal(copy, [&](uint32_t, uint64_t address, uint32_t bytes) {
    low = std::min(low, address);
    high = std::max(high, address + bytes);
  });
  const Memory &memory = copy.warp->block->cluster->grid.memory;
  if (high == 0 || memory.find(low, high - low))
    return;
  forGlobal(copy, [&](uint32_t, uint64_t address, uint32_t bytes) {
    resolveOne(*copy.warp, *copy.instruction, Space::Global, kind, address,
               bytes, 1, 1u << copy.lane);
  });
}

static void checkShared(const BulkCopy &copy) {
  const char *what = copy.reduce ? "a bulk reduction" : "a bulk copy";
  checkAsyncRead(*copy.warp, *copy.instruction, 1u << copy.lane,
                 *copy.from.blocks[0], copy.from.offset, copy.sharedBytes(),
                 what);
}

/// The copy tells its mbarriers through the asynchronous proxy.
static void checkInitialised(const BulkCopy &copy) {
  // Stores of registers, which are read already, are no bulk copies.
  if (!checksOf(copy) || copy.isRead)
    return;
  for (Block *block : copy.to.blocks) {
    auto found = block->mbarriers.find(copy.barrier);
    if (found == block->mbarriers.end() || found->second.fenced)
      continue;
    copy.warp->report(
        *copy.instruction, HazardKind::MissingProxyFence, 1u << copy.lane,
        "a bulk copy uses the mbarrier at byte " +
            std::to_string(copy.barrier - kSharedStart) +
            " of shared memory, initialised in line " +
            std::to_string(found->second.line) +
            ", without a fence.mbarrier_init or fence.proxy.async in between");
    return;
  }
}

/// What was there may no longer be used.
static void markInFlight(const BulkCopy &copy) {
  if (!checksOf(copy) || copy.reduce)
    return;
  for (Block *block : copy.to.blocks)
    copy.forShared(
        copy.to.offset, [&](uint32_t, uint32_t place, uint32_t bytes) {
          noteBulkWrite(*copy.warp, *copy.instruction, *block,
                        static_cast<uint8_t>(copy.lane), place, bytes);
          std::memset(block->sharedShadow + place, 1, bytes);
        });
}

void mlir::moe::emulator::issueBulkCopy(Cluster &cluster, BulkCopy copy) {
  Counts &counts = cluster.counts;
  uint64_t global = 0;
  if (!copy.isRead && (copy.from.blocks.empty() || copy.to.blocks.empty()))
    forGlobal(copy,
              [&](uint32_t, uint64_t, uint32_t bytes) { global += bytes; });
  if (copy.isRead) {
    // Registers were its source.
  } else if (copy.from.blocks.empty()) {
    checkGlobal(copy, AccessKind::AsyncRead);
    counts.globalBytesRead += global;
  } else {
    checkShared(copy);
    counts.sharedBytesRead += copy.bytes;
    if (copy.from.blocks[0]->stamps.tracked())
      copy.issued = knowledgeAtIssue(*copy.warp);
  }
  if (copy.to.blocks.empty()) {
    checkGlobal(copy, AccessKind::AsyncWrite);
    counts.globalBytesWritten += global;
  } else {
    checkInitialised(copy);
    markInFlight(copy);
    counts.sharedBytesWritten += uint64_t(copy.bytes) * copy.to.blocks.size();
  }
  cluster.pending.push_back(std::make_shared<BulkCopy>(std::move(copy)));
}

//===----------------------------------------------------------------------===//
// Completion
//===----------------------------------------------------------------------===//

void mlir::moe::emulator::waitBulkCopies(Warp &warp, uint32_t lanes,
                                         uint32_t keep, bool readOnly) {
  if (!warp.copies)
    return;
  auto &pending = warp.block->cluster->pending;
  auto isAwaited = [&](const BulkCopy &copy) {
    return copy.warp == &warp && copy.group && (lanes >> copy.lane & 1) &&
           uint64_t(*copy.group) + keep < warp.copies->committedBulk[copy.lane];
  };
  for (auto &copy : pending) {
    if (!isAwaited(*copy))
      continue;
    if (!copy->isRead)
      readSource(*copy);
    if (readOnly)
      continue;
    writeTarget(*copy);
    copy.reset();
  }
  pending.erase(std::remove(pending.begin(), pending.end(), nullptr),
                pending.end());
}

bool mlir::moe::emulator::advanceBulkCopies(Cluster &cluster) {
  auto &pending = cluster.pending;
  if (pending.empty())
    return false;
  auto next = pending.begin();
  if (cluster.grid.launch.seed != 0) {
    next += static_cast<ptrdiff_t>(cluster.random() % pending.size());
  } else {
    // Somebody may wait for a load; stores can wait for longer.
    auto load = std::find_if(pending.begin(), pending.end(),
                             [](const auto &copy) { return !copy->group; });
    if (load != pending.end())
      next = load;
  }
  std::shared_ptr<BulkCopy> copy = *next;
  if (!copy->isRead) {
    readSource(*copy);
    if (copy->group)
      return true;
  }
  pending.erase(next);
  writeTarget(*copy);
  return true;
}

void mlir::moe::emulator::checkBulkCopiesAtEnd(Block &block) {
  for (auto &copy : block.cluster->pending) {
    const std::vector<Block *> &to = copy->to.blocks;
    bool reads = !copy->isRead && !copy->from.blocks.empty() &&
                 copy->from.blocks[0] == &block;
    bool writes = std::find(to.begin(), to.end(), &block) != to.end();
    if (reads || writes)
      copy->warp->report(*copy->instruction, HazardKind::CopyInFlight,
                         1u << copy->lane,
                         std::string("the block ends before a bulk copy has ") +
                             (reads ? "read its shared memory: "
                                      "cp.async.bulk.wait_group.read is missing"
                                    : "come to its shared memory: nobody "
                                      "waits for its mbarrier"));
  }
}
