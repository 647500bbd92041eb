//===- Contracts.cpp - whether a launch keeps its contracts -*- C++ -*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Contracts.h"

#include "Block.h"

#include "moe/Emulator/Error.h"

#include <algorithm>

using namespace mlir::moe::emulator;

static constexpr auto kRelaxed64 = std::memory_order_relaxed;

Contracts::Contracts(const std::vector<BufferContract> &contracts) {
  for (const BufferContract &contract : contracts) {
    auto buffer = std::make_unique<Buffer>();
    buffer->contract = contract;
    buffer->address = reinterpret_cast<uint64_t>(contract.data);
    for (auto [first, last] : contract.untouched)
      if (first > last || last > contract.bytes)
        throw Error(0, "contract of \"" + contract.name + "\": bytes " +
                           std::to_string(first) + " to " +
                           std::to_string(last) + " of a buffer of " +
                           std::to_string(contract.bytes));
    buffer->piecesRead =
        std::vector<std::atomic<uint64_t>>(std::max(contract.pieces, 1u));
    if (contract.once || contract.complete) {
      buffer->written.reset(new std::atomic<uint8_t>[contract.bytes]);
      for (uint64_t i = 0; i < contract.bytes; ++i)
        buffer->written[i].store(0, kRelaxed64);
    }
    buffers.push_back(std::move(buffer));
  }
}

static void breach(Warp &warp, const Instruction &i, uint32_t lanes,
                   const BufferContract &contract, bool writes, uint64_t first,
                   const char *rule) {
  warp.report(i, HazardKind::Contract, lanes,
              std::string(writes ? "writes" : "reads") + " byte " +
                  std::to_string(first) + " of \"" + contract.name + "\", " +
                  rule);
}

void Contracts::noteRead(Buffer &buffer, uint64_t first, uint64_t bytes) {
  uint64_t each =
      std::max<uint64_t>(buffer.contract.bytes / buffer.piecesRead.size(), 1);
  buffer.bytesRead.fetch_add(bytes, kRelaxed64);
  for (uint64_t at = first; at < first + bytes;) {
    size_t piece = std::min<size_t>(at / each, buffer.piecesRead.size() - 1);
    uint64_t end = std::min(first + bytes, (piece + 1) * each);
    if (piece + 1 == buffer.piecesRead.size())
      end = first + bytes;
    buffer.piecesRead[piece].fetch_add(end - at, kRelaxed64);
    at = end;
  }
}

void Contracts::noteWrite(Buffer &buffer, Warp &warp, const Instruction &i,
                          uint32_t lanes, uint64_t first, uint64_t bytes,
                          bool combines) {
  buffer.bytesWritten.fetch_add(bytes, kRelaxed64);
  if (!buffer.written)
    return;
  bool again = false;
  for (uint64_t byte = first; byte < first + bytes; ++byte)
    again |= buffer.written[byte].exchange(1, kRelaxed64) != 0;
  if (again && !combines && buffer.contract.once)
    breach(warp, i, lanes, buffer.contract, true, first,
           "which this launch has written before");
}

void Contracts::note(Warp &warp, const Instruction &i, uint32_t lanes,
                     uint64_t address, uint64_t bytes, bool writes,
                     bool combines) {
  for (auto &buffer : buffers) {
    const BufferContract &contract = buffer->contract;
    if (address + bytes <= buffer->address ||
        address >= buffer->address + contract.bytes)
      continue;
    uint64_t begin = std::max(address, buffer->address);
    uint64_t end = std::min(address + bytes, buffer->address + contract.bytes);
    uint64_t first = begin - buffer->address, count = end - begin;
    if (writes ? !contract.mayWrite : !contract.mayRead)
      breach(warp, i, lanes, contract, writes, first,
             writes ? "which is not to be written" : "which is not to be read");
    if (combines && !contract.mayRead)
      breach(warp, i, lanes, contract, false, first, "which is not to be read");
    for (auto [from, to] : contract.untouched)
      if (first < to && first + count > from)
        breach(warp, i, lanes, contract, writes, std::max(first, from),
               "which is not to be touched");
    if (!writes || combines)
      noteRead(*buffer, first, count);
    if (writes)
      noteWrite(*buffer, warp, i, lanes, first, count, combines);
  }
}

/// The bytes that are neither written nor to be left alone.
static std::string missingIn(const BufferContract &contract,
                             const std::atomic<uint8_t> *written) {
  std::vector<bool> missing(contract.bytes);
  for (uint64_t i = 0; i < contract.bytes; ++i)
    missing[i] = written[i].load(kRelaxed64) == 0;
  for (auto [first, last] : contract.untouched)
    std::fill(missing.begin() + int64_t(first), missing.begin() + int64_t(last),
              false);
  auto begin = std::find(missing.begin(), missing.end(), true);
  if (begin == missing.end())
    return "";
  auto end = std::find(begin, missing.end(), false);
  return "bytes " + std::to_string(begin - missing.begin()) + " to " +
         std::to_string(end - missing.begin() - 1) + " of \"" + contract.name +
         "\" were not written, " +
         std::to_string(std::count(missing.begin(), missing.end(), true)) +
         " bytes of " + std::to_string(contract.bytes) + " in all";
}

void Contracts::finish(const std::string &kernel, HazardSink &hazards) const {
  for (const auto &buffer : buffers) {
    if (!buffer->contract.complete)
      continue;
    std::string missing = missingIn(buffer->contract, buffer->written.get());
    if (missing.empty())
      continue;
    Hazard hazard;
    hazard.kind = HazardKind::Contract;
    hazard.kernel = kernel;
    hazard.message = missing;
    hazards.add(std::move(hazard));
  }
}

std::vector<BufferUse> Contracts::uses() const {
  std::vector<BufferUse> uses;
  for (const auto &buffer : buffers) {
    BufferUse use;
    use.name = buffer->contract.name;
    use.bytesRead = buffer->bytesRead.load(kRelaxed64);
    use.bytesWritten = buffer->bytesWritten.load(kRelaxed64);
    for (const auto &piece : buffer->piecesRead)
      use.piecesRead.push_back(piece.load(kRelaxed64));
    uses.push_back(std::move(use));
  }
  return uses;
}
