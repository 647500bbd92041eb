//===- Order.h - which warp knows of which writes -*- C++ -*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Vector clocks of the warps of a cluster, and the last write to each word of
// shared memory. A warp's time goes on whenever it lets others know what it did
// (it arrives at a barrier) or makes its writes known to the asynchronous proxy
// (fence.proxy.async). A write is stamped with its warp and time; another warp
// is ordered behind it once it knows of that time.
//
// Bulk copies and wgmma read shared memory through another proxy: besides the
// order there has to be a fence.proxy.async between the write and the read, by
// any thread on the way. `fenced` says which writes have one behind them.
//
// The lanes of a warp count as one: what they need among themselves is not
// seen here.
//
//===----------------------------------------------------------------------===//

#ifndef MOE_LIB_EMULATOR_ORDER_H
#define MOE_LIB_EMULATOR_ORDER_H

#include <cstdint>
#include <string>
#include <vector>

namespace mlir::moe::emulator {

struct Block;
struct Cluster;
struct Instruction;
struct Warp;

/// Of each warp of the cluster, by Warp::index: the time up to which its writes
/// are known, and known to the asynchronous proxy. Empty in a run without
/// checks.
struct Knowledge {
  std::vector<uint32_t> seen, fenced;

  void join(const Knowledge &other);
};

/// A stamp is the warp's index plus 1 and its time. A time that no longer fits
/// stays at the largest one: hazards may be missed then, none is invented.
constexpr uint32_t kTimeBits = 22;
constexpr uint32_t kLastTime = (1u << kTimeBits) - 1;

inline uint32_t warpOf(uint32_t stamp) { return (stamp >> kTimeBits) - 1; }
inline uint32_t timeOf(uint32_t stamp) { return stamp & kLastTime; }

/// What the arrivals at a barrier bring along. Those that wait get what was
/// there when their phase ended.
struct Rendezvous {
  Knowledge arrived, complete;

  void finish() { complete.join(arrived); }
};

/// The last write to each 4 bytes of shared memory by threads (stores, atomics,
/// cp.async): the warp and its time; 0 where bulk copies wrote last, or nobody.
/// Empty where no instruction of the kernel uses the asynchronous proxy.
struct WriteStamps {
  std::vector<uint32_t> words;

  bool tracked() const { return !words.empty(); }
  void reset();
  /// `bytes` bytes at a shared offset.
  void write(uint32_t offset, uint32_t bytes, uint32_t stamp) {
    for (uint32_t word = offset / 4; word <= (offset + bytes - 1) / 4; ++word)
      words[word] = stamp;
  }
};

/// A launch with checks starts: the warp knows of nothing.
void startOrder(Warp &warp, uint32_t warps);

/// The warp arrives: others learn what it knows.
void release(Warp &warp, Knowledge &into);
/// The warp has waited.
void acquire(Warp &warp, const Knowledge &from);
/// fence.proxy.async
void fenceAsyncProxy(Warp &warp);

/// The lanes of the warp have met: what they do from now on comes later than
/// what any of them has done.
void tickLanes(Warp &warp);
/// A fence, or an atomic operation that acquires or releases: the warp tells
/// all that it knows to those who come to one later.
void orderByFence(Warp &warp);

/// What a write of the warp is stamped with; 0 in a run without checks.
uint32_t stampOf(const Warp &warp);
/// What a warp knows when it issues a read that goes on: its own writes from
/// now on come later.
Knowledge knowledgeAtIssue(Warp &warp);
/// Whether the warp is ordered behind a write with that stamp.
bool knows(const Warp &warp, uint32_t stamp);
/// Whether it is one of this warp.
bool isOfWarp(const Warp &warp, uint32_t stamp);
/// "warp 3", "warp 3 of block 1 of the cluster", "this warp": the one of a
/// stamp, told by another.
std::string writerOf(const Warp &teller, uint32_t stamp);

/// The warp issues an instruction that reads these bytes through the
/// asynchronous proxy; `what` names it: "a bulk store". Reports a missing
/// fence, or a missing barrier; true where it did, for the first word.
bool checkAsyncRead(Warp &warp, const Instruction &i, uint32_t lanes,
                    const Block &block, uint32_t offset, uint32_t bytes,
                    const char *what);

/// Such a read is over, that was issued with `issued` known. Reports writes
/// since then.
void checkOverwritten(Warp &warp, const Instruction &i, uint32_t lanes,
                      const Knowledge &issued, const Block &block,
                      uint32_t offset, uint32_t bytes, const char *what);

} // namespace mlir::moe::emulator

#endif // MOE_LIB_EMULATOR_ORDER_H
