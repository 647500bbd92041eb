//===- RowSortOneBlock.cpp - the row sort of few rows in one launch -*- C++
//-*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The steps of RowSort.cpp by one block. Instead of a chunk, whose warps add to
// the same counters in turn, each warp has a span: consecutive rows, which it
// takes 32 at a time, and counters of its own in shared memory. Warps meet only
// between the steps:
//
//   count  counters[span, expert] = rows; the sentinel into the row table
//   scan   counters[span, expert] = rows of the expert in spans before;
//          starts[expert] = its first place
//   place  a row goes to starts[expert] + counters[span, expert], which then
//          counts it
//
// The result is right for any number of rows and the same as that of three
// launches; a bound on the rows only tells that this form is the faster one.
//
//===----------------------------------------------------------------------===//

#include "RowSort.h"

#include "moe/MoE/FunctionAttributes.h"

#include "mlir/IR/Remarks.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::moe;

/// Rows of a lane, each a load and a match that wait for each other. By their
/// latencies 8 of them take about 5 us in all, less than three launches.
static constexpr int64_t kMostSteps = 8;
/// Entries of a row table that one block fills: its multiprocessor stores 64
/// bytes a clock, so that this many take 4096 clocks, the time of a launch.
static constexpr int64_t kMostPlaces = 1 << 16;

//===----------------------------------------------------------------------===//
// The choice
//===----------------------------------------------------------------------===//

/// The greatest extent 0 of `ids`. A dynamic one counts as the number of
/// tokens, as it does where schedules are chosen; none without an upper end.
static std::optional<int64_t> mostTokens(Operation *op, Value ids) {
  auto type = cast<MemRefType>(ids.getType());
  if (!type.isDynamicDim(0))
    return type.getDimSize(0);
  auto function = op->getParentOfType<FunctionOpInterface>();
  std::optional<TokenRange> range =
      tokenRange(function->getDiscardableAttr(kTokenRange));
  if (!range || !range->isBounded())
    return std::nullopt;
  return range->hi;
}

/// The entries of the row table for `rows` flat rows, if its type does not say.
static int64_t placesFor(const RowSort &sort, int64_t rows) {
  auto type = cast<MemRefType>(sort.sorted.getType());
  return type.isDynamicDim(0) ? rows + sort.experts * (sort.block - 1)
                              : type.getDimSize(0);
}

int64_t RowSort::countingWarps() {
  // Buffers of shared memory begin at multiples of 16 bytes.
  int64_t words = site.target.sharedStatic / 4;
  int64_t counters = words - kWarps - llvm::alignTo(experts, 4);
  return std::min<int64_t>(kWarps, counters / experts);
}

bool RowSort::chooseOneBlock() {
  auto function = site.op->getParentOfType<FunctionOpInterface>();
  auto options = remark::RemarkOpts::name("row-sort")
                     .category("moe-kernel")
                     .function(function.getName());
  auto refuse = [&](const Twine &why) {
    remark::missed(site.loc(), options)
        << ("rows are sorted by three launches: " + why).str();
    return false;
  };
  std::optional<int64_t> tokens = mostTokens(site.op, ids);
  if (!tokens)
    return refuse("no end of a token range bounds their number");
  int64_t most = countingWarps() * 32 * kMostSteps;
  if (*tokens > most / std::max<int64_t>(slots(), 1))
    return refuse(Twine(*tokens) + " tokens of " + Twine(slots()) +
                  " slots are more than the " + Twine(most) +
                  " rows that one block takes");
  int64_t rows = *tokens * slots(), places = placesFor(*this, rows);
  if (places > kMostPlaces)
    return refuse("their table has " + Twine(places) +
                  " entries, more than the " + Twine(kMostPlaces) +
                  " that one block fills");
  remark::passed(site.loc(), options)
      << ("at most " + Twine(rows) + " rows of " + Twine(experts) +
          " experts are sorted by one launch")
             .str();
  return true;
}

//===----------------------------------------------------------------------===//
// The kernel
//===----------------------------------------------------------------------===//

namespace {
/// The rows of this thread's warp.
struct Span {
  Val first, end; // flat rows
  Buffer counters;
  Val firstCounter; // of expert 0
};
} // namespace

/// Counts the rows of a span. `visit` gets each row that has an expert, its
/// expert and the count before it. Every lane of the warp makes every step.
static void countRows(KernelBuilder &k, const Span &span,
                      function_ref<Val(Val)> expertOf,
                      function_ref<void(Val, Val, Val)> visit) {
  k.forLoop(span.first, span.end, 32, [&](Val first) {
    Val row = first + k.lane();
    WarpRows rows(k, expertOf(row));
    Val before = rows.addTo(k, span.counters, span.firstCounter);
    k.warpBarrier();
    k.ifThen(rows.known, [&] { visit(row, rows.expert, before + rows.rank); });
  });
}

void RowSort::emitOneBlock() {
  KernelBuilder k(site, "align", kThreads);
  Buffer idBuffer = k.buffer("ids", ids);
  auto map = optionalBuffer(k, "expert_map", expertMap);
  Buffer table = k.buffer("sorted_rows", sorted);
  auto countBuffer = optionalBuffer(k, "counts", counts);
  auto endBuffer = optionalBuffer(k, "offsets", ends);
  Extent T = k.extent("T", ids, 0);
  Extent P = k.extent("P", sorted, 0);
  Val rows = T.value * static_cast<int>(slots());
  int numExperts = static_cast<int>(experts);
  int warps = static_cast<int>(countingWarps());

  Buffer counters = k.shared("counters", k.i32Type(), warps * experts);
  Buffer starts = k.shared("starts", k.i32Type(), experts);
  Val spanRows = (rows + (warps * 32 - 1)) / (warps * 32) * 32;
  Val first = k.warp() * spanRows;
  Span span{first, min(first + spanRows, rows), counters,
            k.warp() * numExperts};
  Val spans = min((rows + 31) >> 5, warps); // at least those with rows
  auto expertOfRow = [&](Val row) {
    return expertOf(k, idBuffer, map, row, rows);
  };

  k.forLoop(k.thread(), spans * numExperts, kThreads,
            [&](Val i) { k.store(counters, i, 0); });
  k.barrier();
  countRows(k, span, expertOfRow, [](Val, Val, Val) {});
  k.forLoop(k.thread(), P.value, kThreads,
            [&](Val place) { k.store(table, place, rows); });
  k.barrier();

  k.forLoop(k.thread(), numExperts, kThreads, [&](Val e) {
    Val count = forChunks(k, counters, e, experts, spans, k.i32(0),
                          [&](Val at, Val rows, Val before) {
                            k.store(counters, at, before);
                            return before + rows;
                          });
    if (countBuffer)
      k.store(*countBuffer, e, count);
    k.store(starts, e, wholeBlocks(count));
  });
  Val listed = exclusiveScan(k, starts, numExperts);

  countRows(k, span, expertOfRow, [&](Val row, Val expert, Val before) {
    k.store(table, k.load(starts, expert) + before, row);
  });
  if (endBuffer)
    k.forLoop(k.thread(), numExperts, kThreads, [&](Val e) {
      // Without padding an expert ends where the next one starts.
      Val next = k.load(starts, min(e + 1, numExperts - 1));
      k.store(*endBuffer, e, select(e == numExperts - 1, listed, next));
    });
  emitTiles(k, starts, listed);
  k.launch({});
}
