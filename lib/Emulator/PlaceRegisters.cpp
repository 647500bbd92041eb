//===- PlaceRegisters.cpp - virtual registers to places -*- C++ -*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// PTX names a new register for every value; a warp keeps only those that are
// alive at once, so that its registers fit into a cache. A register whose
// lifetime is known from the first write to the last read shares its place with
// others of its size. Registers that some path reads before it writes them keep
// a place of their own, which starts undefined: all other reads are of values
// that were written, so that only what comes from memory or from those few can
// be undefined.
//
//===----------------------------------------------------------------------===//

#include "Decode.h"
#include "MatrixProducts.h"

#include <algorithm>

using namespace mlir::moe::emulator;

namespace {
using BitSet = std::vector<uint64_t>;

class RegisterPlacement {
public:
  explicit RegisterPlacement(DecodeState &state)
      : state(state), program(state.program),
        count(static_cast<uint32_t>(state.entry.registers.size())),
        words((count + 63) / 64) {}

  void run();

private:
  template <typename Function>
  void forUses(const Instruction &i, Function f);
  template <typename Function>
  void forWrites(const Instruction &i, Function f);
  void solveLiveness();
  void findLifetimes();
  void place();
  void patch(Operand &operand) const;

  static bool test(const BitSet &set, uint32_t id) {
    return set[id / 64] >> (id % 64) & 1;
  }
  static void insert(BitSet &set, uint32_t id) {
    set[id / 64] |= uint64_t(1) << (id % 64);
  }
  static void erase(BitSet &set, uint32_t id) {
    set[id / 64] &= ~(uint64_t(1) << (id % 64));
  }
  uint32_t bytesOf(uint32_t id) const {
    uint32_t bits = state.entry.registers[id].bits;
    // A predicate takes a word; the bytes round up to a whole plane of poison.
    return bits == 1 ? kSmallestRegister
                     : std::max(bits / 8 * kLanes, kSmallestRegister);
  }

  DecodeState &state;
  Program &program;
  uint32_t count;
  size_t words;
  std::vector<BasicBlock> blocks;
  std::vector<BitSet> liveIn, liveOut;
  /// First and last instruction of each register's life.
  std::vector<std::pair<uint32_t, uint32_t>> life;
  std::vector<uint32_t> offsets;
};
} // namespace

template <typename Function>
void RegisterPlacement::forUses(const Instruction &i, Function f) {
  for (Operand operand : {i.a, i.b, i.c, i.guard})
    if (operand.exists() && !operand.isConstant())
      f(operand.code >> 1);
  for (uint32_t k = i.list; k < i.list + i.count; ++k)
    if ((state.listRoles[k] & 2) && program.lists[k].exists() &&
        !program.lists[k].isConstant())
      f(program.lists[k].code >> 1);
}

template <typename Function>
void RegisterPlacement::forWrites(const Instruction &i, Function f) {
  for (Operand operand : {i.d, i.e})
    if (operand.exists())
      f(operand.code >> 1);
  for (uint32_t k = i.list; k < i.list + i.count; ++k)
    if ((state.listRoles[k] & 1) && program.lists[k].exists())
      f(program.lists[k].code >> 1);
}

void RegisterPlacement::solveLiveness() {
  size_t n = blocks.size();
  std::vector<BitSet> uses(n, BitSet(words)), kills(n, BitSet(words));
  liveIn.assign(n, BitSet(words));
  liveOut.assign(n, BitSet(words));
  for (size_t b = 0; b < n; ++b) {
    for (uint32_t pc = blocks[b].begin; pc < blocks[b].end; ++pc) {
      const Instruction &i = program.instructions[pc];
      forUses(i, [&](uint32_t id) {
        if (!test(kills[b], id))
          insert(uses[b], id);
      });
      if (!i.guard.exists())
        forWrites(i, [&](uint32_t id) { insert(kills[b], id); });
    }
  }
  for (bool changed = true; changed;) {
    changed = false;
    for (size_t b = n; b-- > 0;) {
      for (uint32_t next : blocks[b].next)
        for (size_t w = 0; w < words; ++w)
          liveOut[b][w] |= liveIn[next][w];
      for (size_t w = 0; w < words; ++w) {
        uint64_t in = uses[b][w] | (liveOut[b][w] & ~kills[b][w]);
        changed |= in != liveIn[b][w];
        liveIn[b][w] = in;
      }
    }
  }
}

void RegisterPlacement::findLifetimes() {
  life.assign(count, {kNoPc, 0});
  auto extend = [&](uint32_t id, uint32_t pc) {
    life[id].first = std::min(life[id].first, pc);
    life[id].second = std::max(life[id].second, pc);
  };
  auto extendAll = [&](const BitSet &set, uint32_t pc) {
    for (size_t w = 0; w < words; ++w)
      for (uint64_t bits = set[w]; bits; bits &= bits - 1)
        extend(static_cast<uint32_t>(w * 64 + __builtin_ctzll(bits)), pc);
  };
  for (size_t b = 0; b < blocks.size(); ++b) {
    extendAll(liveIn[b], blocks[b].begin);
    extendAll(liveOut[b], blocks[b].end - 1);
    for (uint32_t pc = blocks[b].begin; pc < blocks[b].end; ++pc) {
      auto here = [&](uint32_t id) { extend(id, pc); };
      forUses(program.instructions[pc], here);
      forWrites(program.instructions[pc], here);
    }
  }
}

void RegisterPlacement::place() {
  offsets.assign(count, 0);
  std::vector<uint32_t> order;
  for (uint32_t id = 0; id < count; ++id)
    if (life[id].first != kNoPc)
      order.push_back(id);
  std::sort(order.begin(), order.end(), [&](uint32_t x, uint32_t y) {
    return life[x] != life[y] ? life[x] < life[y] : x < y;
  });
  // Free places, and those that become free, by size.
  std::map<uint32_t, std::vector<uint32_t>> unused;
  std::multimap<uint32_t, uint32_t> ending;
  uint32_t end = 0;
  for (uint32_t id : order) {
    while (!ending.empty() && ending.begin()->first < life[id].first) {
      uint32_t over = ending.begin()->second;
      unused[bytesOf(over)].push_back(offsets[over]);
      ending.erase(ending.begin());
    }
    std::vector<uint32_t> &choices = unused[bytesOf(id)];
    bool apart = state.exclusive[id];
    if (!apart && !choices.empty()) {
      offsets[id] = choices.back();
      choices.pop_back();
    } else {
      offsets[id] = end;
      end += bytesOf(id);
    }
    if (!apart)
      ending.emplace(life[id].second, id);
  }
  program.registerBytes = (end + 511) / 512 * 512;
}

void RegisterPlacement::patch(Operand &operand) const {
  if (operand.exists() && !operand.isConstant())
    operand.code = offsets[operand.code >> 1];
}

void RegisterPlacement::run() {
  blocks = basicBlocks(program);
  solveLiveness();
  std::vector<bool> special(count, false);
  for (auto &[name, operand] : program.specials)
    special[operand.code >> 1] = true;
  std::vector<uint32_t> undefined;
  for (uint32_t id = 0; id < count; ++id)
    if (test(liveIn[0], id) && !special[id]) {
      state.exclusive[id] = true;
      undefined.push_back(id);
    }
  findLifetimes();
  place();
  for (Instruction &i : program.instructions)
    for (Operand *operand : {&i.d, &i.e, &i.a, &i.b, &i.c, &i.guard})
      patch(*operand);
  for (Operand &operand : program.lists)
    patch(operand);
  for (auto &[name, operand] : program.specials)
    patch(operand);
  for (uint32_t id : undefined)
    program.undefinedRegisters.emplace_back(Operand{offsets[id]}, bytesOf(id));
}

void mlir::moe::emulator::placeRegisters(DecodeState &state) {
  RegisterPlacement(state).run();
  if (state.program.checks)
    watchMatrixRegisters(state.program);
}
