//===- ControlFlow.cpp - basic blocks and where lanes meet -*- C++ -*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Decode.h"

#include <algorithm>

using namespace mlir::moe::emulator;

static bool jumps(const Instruction &instruction) {
  return instruction.target != kNoPc;
}

std::vector<BasicBlock>
mlir::moe::emulator::basicBlocks(const Program &program) {
  const std::vector<Instruction> &code = program.instructions;
  std::vector<bool> starts(code.size() + 1, false);
  starts[0] = true;
  for (size_t i = 0; i < code.size(); ++i) {
    if (jumps(code[i]))
      starts[code[i].target] = true;
    if (jumps(code[i]) || code[i].ends)
      starts[i + 1] = true;
  }
  std::vector<BasicBlock> blocks;
  std::vector<uint32_t> blockOf(code.size());
  for (uint32_t i = 0; i < code.size(); ++i) {
    if (starts[i])
      blocks.push_back({i, i, {}});
    blocks.back().end = i + 1;
    blockOf[i] = static_cast<uint32_t>(blocks.size() - 1);
  }
  for (uint32_t i = 0; i < blocks.size(); ++i) {
    const Instruction &last = code[blocks[i].end - 1];
    if (jumps(last))
      blocks[i].next.push_back(blockOf[last.target]);
    bool fallsThrough = !last.ends || last.guard.exists();
    if (fallsThrough && i + 1 < blocks.size())
      blocks[i].next.push_back(i + 1);
  }
  return blocks;
}

namespace {
/// Immediate post-dominators by the usual iteration in reverse post-order of
/// the reversed graph; one node past the blocks is the common end.
class PostDominators {
public:
  explicit PostDominators(const std::vector<BasicBlock> &blocks)
      : end(static_cast<uint32_t>(blocks.size())), previous(end + 1),
        next(end + 1), order(end + 1, kNoPc), immediate(end + 1, kNoPc) {
    for (uint32_t i = 0; i < end; ++i) {
      next[i] = blocks[i].next;
      if (next[i].empty())
        next[i].push_back(end);
      for (uint32_t successor : next[i])
        previous[successor].push_back(i);
    }
    number();
    solve();
  }

  /// kNoPc: the end of the entry, or no end is ever reached.
  uint32_t of(uint32_t block) const {
    return immediate[block] == end ? kNoPc : immediate[block];
  }

private:
  void number();
  void solve();
  uint32_t meet(uint32_t x, uint32_t y) const;

  uint32_t end;
  std::vector<std::vector<uint32_t>> previous, next;
  std::vector<uint32_t> sequence, order, immediate;
};
} // namespace

/// Post-order from the end along reversed edges, without recursion.
void PostDominators::number() {
  std::vector<std::pair<uint32_t, size_t>> stack{{end, 0}};
  std::vector<bool> seen(end + 1, false);
  seen[end] = true;
  while (!stack.empty()) {
    auto &[node, index] = stack.back();
    if (index < previous[node].size()) {
      uint32_t child = previous[node][index++];
      if (!seen[child]) {
        seen[child] = true;
        stack.emplace_back(child, 0);
      }
      continue;
    }
    order[node] = static_cast<uint32_t>(sequence.size());
    sequence.push_back(node);
    stack.pop_back();
  }
}

uint32_t PostDominators::meet(uint32_t x, uint32_t y) const {
  while (x != y) {
    while (order[x] < order[y])
      x = immediate[x];
    while (order[y] < order[x])
      y = immediate[y];
  }
  return x;
}

void PostDominators::solve() {
  immediate[end] = end;
  for (bool changed = true; changed;) {
    changed = false;
    for (size_t i = sequence.size(); i-- > 0;) {
      uint32_t node = sequence[i];
      if (node == end)
        continue;
      uint32_t best = kNoPc;
      for (uint32_t successor : next[node])
        if (immediate[successor] != kNoPc)
          best = best == kNoPc ? successor : meet(best, successor);
      if (best != immediate[node]) {
        immediate[node] = best;
        changed = true;
      }
    }
  }
}

void mlir::moe::emulator::findMeetingPoints(Program &program) {
  std::vector<BasicBlock> blocks = basicBlocks(program);
  PostDominators dominators(blocks);
  for (uint32_t i = 0; i < blocks.size(); ++i) {
    Instruction &last = program.instructions[blocks[i].end - 1];
    if (!jumps(last))
      continue;
    uint32_t where = dominators.of(i);
    last.meet = where == kNoPc ? kNoPc : blocks[where].begin;
  }
}
