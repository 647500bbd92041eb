//===- MatrixProducts.h - wgmma in flight -*- C++ -*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Products of warpgroups between their issue and wgmma.wait_group. Operands are
// read, and sums written, when the first of the four warps has waited, for all
// four: a product that one warp knows to be complete is complete. Until then
// what its registers hold is that of before, and nobody may look:
//
//   MatrixRegisters.cpp  registers that ordinary instructions touch too early,
//                        or without wgmma.fence
//   Warpgroup.cpp        whether the four warps run the same instructions; who
//                        overwrites shared memory that a product reads
//   MatrixTile.cpp       what is read before the asynchronous proxy knows of it
//
//===----------------------------------------------------------------------===//

#ifndef MOE_LIB_EMULATOR_MATRIXPRODUCTS_H
#define MOE_LIB_EMULATOR_MATRIXPRODUCTS_H

#include "MatrixTile.h"

#include <deque>

namespace mlir::moe::emulator {

constexpr uint32_t kWarpsOfGroup = 4;
/// A time that no warp comes to.
constexpr uint32_t kNever = 0xffffffffu;

/// The share of one warp in a product of its warpgroup.
struct MatrixProduct {
  const Instruction *instruction;
  uint64_t a, b;
  bool accumulate;
  /// Number of the group that it is in, or is going to be.
  uint32_t group;
  /// Pieces of its tiles that were undefined when it was issued.
  uint32_t undefinedPieces;
};

/// A register of wgmma, in one warp.
struct MatrixRegister {
  /// The last product that uses it; null: none.
  const Instruction *product = nullptr;
  uint32_t group = 0;
  /// As D; else as A.
  bool isSum = false;
  /// Fences of the warp before that product.
  uint32_t fences = 0;
  /// Fences before an ordinary instruction touched it last, plus 1; 0: none
  /// did.
  uint32_t touched = 0;
};

/// One wgmma instruction of a warpgroup.
struct WarpgroupStep {
  const Instruction *instruction;
  uint64_t a = 0, b = 0;
  bool accumulate = false;

  bool operator==(const WarpgroupStep &other) const {
    return instruction == other.instruction && a == other.a && b == other.b &&
           accumulate == other.accumulate;
  }
};

/// A tile that a product of the warpgroup reads, or has read last.
struct TileRead {
  TileView tile;
  /// All pieces are in [low, high) of shared memory.
  uint32_t low, high;
  const Instruction *product;
  uint32_t group;
  /// When each warp came to know that it is read, by its own clock.
  uint32_t done[kWarpsOfGroup];
};

struct Warpgroup {
  /// Instructions that not all of the warps have come to, and how many were
  /// before them.
  std::deque<WarpgroupStep> steps;
  uint64_t before = 0;
  /// Instructions that each warp has come to.
  uint64_t reached[kWarpsOfGroup] = {};
  /// Of a run with checks.
  std::vector<TileRead> reads;
  /// The latest of all `done` of a warp.
  uint32_t lastDone[kWarpsOfGroup] = {};
};

/// What a warp keeps.
struct MatrixProducts {
  std::vector<MatrixProduct> waiting;
  /// Groups.
  uint32_t committed = 0;
  uint32_t complete = 0;
  uint32_t fences = 0;
  /// By the place of the register; empty in a run without checks.
  std::vector<MatrixRegister> registers;
  /// Registers of a thread by its last setmaxnreg; 0: there was none.
  uint32_t registersOfThread = 0;
  /// Of the first of four warps.
  Warpgroup warpgroup;
};

/// Those of the warp, and of its warpgroup.
MatrixProducts &productsOf(Warp &warp);
Warpgroup &warpgroupOf(Warp &warp);

//===----------------------------------------------------------------------===//
// wgmma
//===----------------------------------------------------------------------===//

/// Whether it is wgmma.mma_async, how many registers its D has, and whether two
/// of them have the same shape.
bool isMatrixProduct(const Instruction &i);
uint32_t sumRegistersOf(const Instruction &i);
bool haveSameShape(const Instruction &i, const Instruction &other);

/// setmaxnreg.
void decodeSetRegisters(DecodeContext &context);

/// The warp has ended.
void finishMatrixProducts(Warp &warp);

//===----------------------------------------------------------------------===//
// The four warps
//===----------------------------------------------------------------------===//

/// For `.aligned`: true when all lanes run this instruction together; else the
/// group waits for them. Stops the block where there are no four whole warps.
bool needWarpgroup(Warp &warp, const Instruction &i);
/// The warp comes to its next instruction of the warpgroup. Stops the block
/// where another warp has come to another one.
void addStep(Warp &warp, const WarpgroupStep &step);
/// Whether all four warps have come to where this one is.
bool isWarpgroupHere(Warp &warp);
/// The warp has ended; others may have run more, or less, instructions.
void checkStepsAtEnd(Warp &warp);

//===----------------------------------------------------------------------===//
// Shared memory
//===----------------------------------------------------------------------===//

/// The warpgroup issues a product that reads the tile.
void addTileRead(Warp &warp, const Instruction &i, const TileView &tile);
/// The warp knows that groups before `complete` are read.
void finishTileReads(Warp &warp, uint32_t complete);

/// Whether a write to [low, high) of a block's shared memory has to be looked
/// at.
bool mayMeetTileReads(const Warp &writer, const Block &block, uint32_t low,
                      uint32_t high);
/// A thread writes, or starts a copy that will. Reports products that it does
/// not know to be complete.
void checkTileReads(Warp &writer, const Instruction &i, uint32_t lanes,
                    const Block &block, uint32_t offset, uint32_t bytes);

//===----------------------------------------------------------------------===//
// Registers
//===----------------------------------------------------------------------===//

/// Finds the instructions that touch registers of wgmma besides wgmma itself,
/// and lets them look before they run. Registers have their places.
void watchMatrixRegisters(Program &program);
/// A product is issued. Reports registers that need a fence or a wait first.
void useMatrixRegisters(Warp &warp, const Instruction &i);

} // namespace mlir::moe::emulator

#endif // MOE_LIB_EMULATOR_MATRIXPRODUCTS_H
