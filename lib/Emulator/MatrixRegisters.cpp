//===- MatrixRegisters.cpp - registers of wgmma in flight -*- C++ -*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Two rules for the registers of D, and of A where it is in registers:
//
//   - nobody else reads or writes them between wgmma.mma_async and the
//     wgmma.wait_group that waits for it; products of the same shape may add to
//     the same D;
//   - between any access to them and a wgmma.mma_async that uses them there is
//     a wgmma.fence, but for products of the same shape that add to the same D.
//
// They have places that no other register shares, so which instructions touch
// them is known when the program is decoded: these look before they run, and
// all others cost nothing. A warp counts as one; registers that one lane
// touches are touched.
//
//===----------------------------------------------------------------------===//

#include "MatrixProducts.h"

#include <unordered_set>

using namespace mlir::moe::emulator;

static uint32_t placeOf(Operand operand) {
  return operand.offset() / kSmallestRegister;
}

static bool isRegister(Operand operand) {
  return operand.exists() && !operand.isConstant();
}

//===----------------------------------------------------------------------===//
// Decoding
//===----------------------------------------------------------------------===//

/// Calls `function(operand)` for all registers of an instruction.
template <typename Function>
static void forRegisters(const Program &program, const Instruction &i,
                         Function function) {
  for (Operand operand : {i.d, i.e, i.a, i.b, i.c, i.guard})
    if (isRegister(operand))
      function(operand);
  for (uint32_t k = i.list; k < i.list + i.count; ++k)
    if (isRegister(program.lists[k]))
      function(program.lists[k]);
}

static void runWatched(Warp &warp, const Instruction &i) {
  const Program &program = warp.block->cluster->grid.program;
  const Program::Watched &watched =
      program.watched[program.watchedOf[&i - program.instructions.data()]];
  MatrixProducts &products = productsOf(warp);
  for (Operand operand : watched.registers) {
    MatrixRegister &state = products.registers[placeOf(operand)];
    state.touched = products.fences + 1;
    if (!state.product || state.group < products.complete)
      continue;
    warp.report(i, HazardKind::MatrixInFlight, warp.active,
                std::string("touches a register of ") +
                    (state.isSum ? "D" : "A") + " of the wgmma in line " +
                    std::to_string(state.product->line) +
                    ", which no wgmma.wait_group has waited for");
    state.product = nullptr;
  }
  watched.run(warp, i);
}

void mlir::moe::emulator::watchMatrixRegisters(Program &program) {
  std::unordered_set<uint32_t> places;
  for (const Instruction &i : program.instructions)
    if (isMatrixProduct(i))
      for (uint32_t k = i.list; k < i.list + i.count; ++k)
        if (isRegister(program.lists[k]))
          places.insert(placeOf(program.lists[k]));
  if (places.empty())
    return;
  program.watchedOf.assign(program.instructions.size(), 0);
  for (size_t pc = 0; pc < program.instructions.size(); ++pc) {
    Instruction &i = program.instructions[pc];
    if (isMatrixProduct(i))
      continue;
    Program::Watched watched{i.run, {}};
    forRegisters(program, i, [&](Operand operand) {
      if (places.count(placeOf(operand)))
        watched.registers.push_back(operand);
    });
    if (watched.registers.empty())
      continue;
    program.watchedOf[pc] = static_cast<uint32_t>(program.watched.size());
    program.watched.push_back(std::move(watched));
    i.run = runWatched;
  }
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

/// What is wrong with using a register, or empty.
static std::string objection(const MatrixProducts &products,
                             const MatrixRegister &state, const Instruction &i,
                             bool isSum) {
  if (state.touched == products.fences + 1)
    return "ordinary instructions have touched, and there is no wgmma.fence "
           "since then";
  if (!state.product)
    return {};
  std::string other = "the wgmma in line " +
                      std::to_string(state.product->line) + " uses as " +
                      (state.isSum ? "D" : "A");
  if (state.isSum && isSum) {
    if (state.fences == products.fences && !haveSameShape(*state.product, i))
      return other + " of another shape, and there is no wgmma.fence since "
                     "then";
    return {};
  }
  if ((state.isSum || isSum) && state.group >= products.complete)
    return other + ", and no wgmma.wait_group has waited for it";
  return {};
}

void mlir::moe::emulator::useMatrixRegisters(Warp &warp, const Instruction &i) {
  MatrixProducts &products = productsOf(warp);
  uint32_t sums = sumRegistersOf(i);
  std::string text;
  if (products.fences == 0)
    text = "the warpgroup has not run a wgmma.fence before its first wgmma";
  for (uint32_t k = 0; k < i.count; ++k) {
    Operand operand = listOperand(warp, i, k);
    if (!isRegister(operand))
      continue;
    bool isSum = k < sums;
    MatrixRegister &state = products.registers[placeOf(operand)];
    if (text.empty()) {
      std::string why = objection(products, state, i, isSum);
      if (!why.empty())
        text = "register " + std::to_string(isSum ? k : k - sums) + " of " +
               (isSum ? "D" : "A") + " is one that " + why;
    }
    state.isSum = isSum;
    state.product = &i;
    state.group = products.committed;
    state.fences = products.fences;
  }
  if (!text.empty())
    warp.report(i, HazardKind::MatrixInFlight, warp.active, text);
}
