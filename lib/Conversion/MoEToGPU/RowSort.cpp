//===- RowSort.cpp - stable counting sort of flat rows by expert -*- C++
//-*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Three launches, deterministic without atomics; few rows take one,
// RowSortOneBlock.cpp.
//
//   rank     a block takes a chunk of 1024 flat rows: the rank of each row
//            among the rows of its expert in the chunk, and the chunk's rows
//            per expert; fills the row table with the sentinel
//   scan     one block: first place of every (expert, chunk)
//   scatter  row r goes to the place of (expert, chunk) plus its rank
//
//===----------------------------------------------------------------------===//

#include "RowSort.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::moe;

/// Flat rows of a chunk.
static constexpr int kChunk = RowSort::kThreads;
static constexpr int kWarps = RowSort::kWarps;
/// Chunks whose counts are loaded before the first is used.
static constexpr int kBatch = 8;

int64_t RowSort::slots() {
  return cast<MemRefType>(ids.getType()).getDimSize(1);
}
int64_t RowSort::globalExperts() {
  return expertMap ? cast<MemRefType>(expertMap.getType()).getDimSize(0)
                   : experts;
}

Val RowSort::expertOf(KernelBuilder &k, Buffer idBuffer,
                      std::optional<Buffer> map, Val row) {
  return localExpert(k, k.load(idBuffer, row), map, globalExperts(), experts);
}

Val RowSort::expertOf(KernelBuilder &k, Buffer idBuffer,
                      std::optional<Buffer> map, Val row, Val rows) {
  return k.ifElse(
      row < rows,
      [&]() -> SmallVector<Val> { return {expertOf(k, idBuffer, map, row)}; },
      [&]() -> SmallVector<Val> { return {k.i32(-1)}; })[0];
}

void RowSort::emit() {
  if (chooseOneBlock())
    return emitOneBlock();
  Value tokens = site.extent(ids, 0);
  AffineExpr rows = getAffineSymbolExpr(0, site.op->getContext()) * slots();
  Type i32 = site.host.getI32Type();
  ranks = site.workspace(i32, rows, tokens);
  places = site.workspace(i32, rows.ceilDiv(kChunk) * experts, tokens);
  emitRank();
  emitScan();
  emitScatter();
}

WarpRows::WarpRows(KernelBuilder &k, Val expert) : expert(expert) {
  Val peers = k.matchAny(expert);
  Val one = k.i32(1);
  Val lanesBefore = (one << k.lane()) - 1;
  rank = k.popcount(peers & lanesBefore);
  count = k.popcount(peers);
  known = expert >= 0;
}

Val WarpRows::addTo(KernelBuilder &k, Buffer counters, Val first) const {
  Val counter = first + select(known, expert, 0);
  Val before = k.load(counters, counter);
  k.warpBarrier();
  k.ifThen(known & (rank == 0),
           [&] { k.store(counters, counter, before + count); });
  return before;
}

/// The rank of this thread's row among the rows of its expert before it in the
/// chunk. Warp by warp in order: each adds its rows to the shared counters.
static Val rankInChunk(KernelBuilder &k, Buffer counters, Val expert,
                       Val warpsUsed) {
  WarpRows rows(k, expert);
  Val zero = k.i32(0);
  SmallVector<Val> base =
      k.forLoop(0, warpsUsed, 1, {zero}, [&](Val w, ArrayRef<Val> carried) {
        SmallVector<Val> mine = k.ifElse(
            k.warp() == w,
            [&]() -> SmallVector<Val> {
              return {rows.addTo(k, counters, zero)};
            },
            [&] { return SmallVector<Val>(carried); });
        k.barrier();
        return mine;
      });
  return base[0] + rows.rank;
}

void RowSort::emitRank() {
  KernelBuilder k(site, "align_rank", kChunk);
  Buffer idBuffer = k.buffer("ids", ids);
  auto map = optionalBuffer(k, "expert_map", expertMap);
  Buffer table = k.buffer("sorted_rows", sorted);
  Buffer rankBuffer = k.buffer("ranks", ranks);
  Buffer placeBuffer = k.buffer("places", places);
  Extent T = k.extent("T", ids, 0);
  Extent P = k.extent("P", sorted, 0);
  Val rows = T.value * static_cast<int>(slots());
  int numExperts = static_cast<int>(experts);

  Val first = k.block() * kChunk;
  Val row = first + k.thread();
  k.ifThen(row < P.value, [&] { k.store(table, row, rows); });
  Buffer counters = k.shared("counters", k.i32Type(), experts);
  k.ifThen(first < rows, [&] {
    k.forLoop(k.thread(), numExperts, kChunk,
              [&](Val e) { k.store(counters, e, 0); });
    k.barrier();
    Val expert = expertOf(k, idBuffer, map, row, rows);
    Val warpsUsed = min((rows - first + 31) >> 5, kWarps);
    Val rank = rankInChunk(k, counters, expert, warpsUsed);
    k.ifThen(row < rows, [&] { k.store(rankBuffer, row, rank); });
    Val base = k.extend(k.block()) * experts;
    k.forLoop(k.thread(), numExperts, kChunk, [&](Val e) {
      Val at = base + k.extend(e);
      k.store(placeBuffer, at, k.load(counters, e));
    });
  });
  k.launch({P.symbol.ceilDiv(kChunk)});
}

Val moe::exclusiveScan(KernelBuilder &k, Buffer numbers, int count) {
  Buffer scratch = k.shared("scratch", k.i32Type(), kWarps);
  SmallVector<Val> total = k.forLoop(
      0, count, kChunk, {k.i32(0)}, [&](Val first, ArrayRef<Val> carry) {
        Val i = first + k.thread();
        Val own = k.ifElse(
            i < count,
            [&]() -> SmallVector<Val> { return {k.load(numbers, i)}; },
            [&]() -> SmallVector<Val> { return {k.i32(0)}; })[0];
        Val sum = own;
        for (int delta = 1; delta < 32; delta *= 2) {
          Val below = k.shuffleUp(sum, delta);
          sum = sum + select(k.lane() >= delta, below, 0);
        }
        k.ifThen(k.lane() == 31, [&] { k.store(scratch, k.warp(), sum); });
        k.barrier();
        Val before = carry[0], all = carry[0];
        for (int w = 0; w < kWarps; ++w) {
          Val part = k.load(scratch, k.i32(w));
          before = before + select(k.warp() > w, part, 0);
          all = all + part;
        }
        k.ifThen(i < count, [&] { k.store(numbers, i, before + sum - own); });
        k.barrier();
        return SmallVector<Val>{all};
      });
  return total[0];
}

Val moe::forChunks(KernelBuilder &k, Buffer places, Val expert, int64_t experts,
                   Val chunks, Val init,
                   function_ref<Val(Val, Val, Val)> body) {
  auto offset = [&](Val chunk) { return k.offset(chunk, experts, expert); };
  Val whole = chunks / kBatch * kBatch;
  Val carried =
      k.forLoop(0, whole, kBatch, {init}, [&](Val chunk, ArrayRef<Val> state) {
        SmallVector<Val> counts;
        for (int i = 0; i < kBatch; ++i)
          counts.push_back(k.load(places, offset(chunk + i)));
        Val value = state[0];
        for (int i = 0; i < kBatch; ++i)
          value = body(offset(chunk + i), counts[i], value);
        return SmallVector<Val>{value};
      })[0];
  return k.forLoop(
      whole, chunks, 1, {carried}, [&](Val chunk, ArrayRef<Val> state) {
        Val at = offset(chunk);
        return SmallVector<Val>{body(at, k.load(places, at), state[0])};
      })[0];
}

Val RowSort::wholeBlocks(Val count) {
  int mask = static_cast<int>(block - 1);
  return (count + mask) & ~mask;
}

void RowSort::emitTiles(KernelBuilder &k, Buffer starts, Val listed) {
  if (padded) {
    Buffer total = k.buffer("padded", padded);
    k.ifThen(k.thread() == 0, [&] { k.store(total, k.i32(0), listed); });
  }
  if (!tileExpert)
    return;
  Buffer tiles = k.buffer("tile_expert", tileExpert);
  Extent B = k.extent("B", tileExpert, 0);
  k.forLoop(k.thread(), B.value, kChunk, [&](Val tile) {
    Val row = tile * static_cast<int>(block);
    // Binary search: expert `low` starts at or before row, `high` after it.
    Val low = k.i32(0), high = k.i32(experts);
    for (int64_t width = 1; width < experts; width *= 2) {
      Val middle = (low + high) >> 1;
      Val starting = k.load(starts, middle) <= row;
      low = select(starting, middle, low);
      high = select(starting, high, middle);
    }
    k.store(tiles, tile, select(row < listed, low, -1));
  });
}

void RowSort::emitScan() {
  KernelBuilder k(site, "align_scan", kChunk);
  Buffer placeBuffer = k.buffer("places", places);
  Extent T = k.extent("T", ids, 0);
  Buffer starts = k.shared("starts", k.i32Type(), experts);
  auto countBuffer = optionalBuffer(k, "counts", counts);
  auto endBuffer = optionalBuffer(k, "offsets", ends);
  Val rows = T.value * static_cast<int>(slots());
  Val chunks = (rows + (kChunk - 1)) / kChunk;
  int numExperts = static_cast<int>(experts);

  k.forLoop(k.thread(), numExperts, kChunk, [&](Val e) {
    Val count = forChunks(k, placeBuffer, e, experts, chunks, k.i32(0),
                          [](Val, Val rows, Val sum) { return sum + rows; });
    if (countBuffer)
      k.store(*countBuffer, e, count);
    k.store(starts, e, wholeBlocks(count));
  });
  k.barrier();
  Val listed = exclusiveScan(k, starts, numExperts);
  k.forLoop(k.thread(), numExperts, kChunk, [&](Val e) {
    Val end = forChunks(k, placeBuffer, e, experts, chunks, k.load(starts, e),
                        [&](Val at, Val rows, Val place) {
                          k.store(placeBuffer, at, place);
                          return place + rows;
                        });
    if (endBuffer)
      k.store(*endBuffer, e, end);
  });
  emitTiles(k, starts, listed);
  k.launch({});
}

void RowSort::emitScatter() {
  KernelBuilder k(site, "align_scatter", kChunk);
  Buffer idBuffer = k.buffer("ids", ids);
  auto map = optionalBuffer(k, "expert_map", expertMap);
  Buffer rankBuffer = k.buffer("ranks", ranks);
  Buffer placeBuffer = k.buffer("places", places);
  Buffer table = k.buffer("sorted_rows", sorted);
  Extent T = k.extent("T", ids, 0);

  Val row = k.globalThread();
  k.ifThen(row < T.value * static_cast<int>(slots()), [&] {
    Val expert = expertOf(k, idBuffer, map, row);
    k.ifThen(expert >= 0, [&] {
      Val at = k.offset(k.block(), experts, expert);
      Val first = k.load(placeBuffer, at);
      Val place = first + k.load(rankBuffer, row);
      k.store(table, place, row);
    });
  });
  k.launch({(T.symbol * slots()).ceilDiv(kChunk)});
}
