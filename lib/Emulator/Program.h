//===- Program.h - an entry, decoded -*- C++ -*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A decoded entry is an array of fixed-size instructions. Every operand is an
// offset to 32 values, one for each lane, so that a handler is a loop over
// lanes; it does not know whether it reads a register, a constant or %tid.
//
//===----------------------------------------------------------------------===//

#ifndef MOE_LIB_EMULATOR_PROGRAM_H
#define MOE_LIB_EMULATOR_PROGRAM_H

#include "moe/Emulator/Module.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace mlir::moe::emulator {

struct Warp;
struct Instruction;

constexpr uint32_t kLanes = 32;
constexpr uint32_t kAllLanes = 0xffffffffu;
/// Where no instruction is: past a `ret`, or where lanes never meet again.
constexpr uint32_t kNoPc = 0xffffffffu;
/// Registers begin at multiples of this, in bytes.
constexpr uint32_t kSmallestRegister = 64;

/// 32 values in one of the two pools of a warp: its registers and the constants
/// of the program. The lowest bit says which; the rest is the offset in bytes.
/// A predicate is one word with a bit for each lane.
struct Operand {
  uint32_t code = kNone;

  static constexpr uint32_t kNone = 0xffffffffu;
  bool exists() const { return code != kNone; }
  bool isConstant() const { return code & 1; }
  uint32_t offset() const { return code & ~1u; }
};

using Handler = void (*)(Warp &, const Instruction &);

/// How undefined bytes of the sources reach the destination. A handler of kind
/// `Own` looks after them itself; all others run on values alone.
enum class Poison : uint8_t {
  Own,
  /// One undefined byte of a lane in d.. makes all bytes of the lane undefined.
  Mix,
  /// Bytes of a, b, c at the same place: and, or, xor, not, mov.
  Bytes,
  /// selp: the bytes of the source that c chooses.
  Select,
};

/// What a profile counts an instruction as.
enum class Class : uint8_t {
  Integer,
  Float,
  Convert,
  Move,
  Control,
  Memory,
  Atomic,
  AsyncCopy,
  Shuffle,
  Barrier,
  Matrix,
  Other,
};
constexpr size_t kClasses = size_t(Class::Other) + 1;

struct Instruction {
  Handler run = nullptr;
  /// Destinations d and e, sources a, b and c; what each means is the
  /// handler's. Longer lists are `count` operands of Program::lists from
  /// `list`.
  Operand d, e, a, b, c;
  Operand guard;
  bool guardNegated = false;
  Poison poison = Poison::Mix;
  Class kind = Class::Other;
  /// The instruction ends its threads, or jumps and never goes on below.
  bool ends = false;
  /// The handler looks at the guard itself.
  bool ownGuard = false;
  /// Bytes of d, e, a, b and c in one lane; 0 for a predicate.
  uint8_t widths[5] = {0, 0, 0, 0, 0};
  /// MemoryOrder bits of a load, a store or an atomic operation.
  uint8_t order = 0;
  /// For the handler's own use.
  uint8_t option = 0, size = 0;
  uint32_t line = 0;
  uint32_t list = 0, count = 0;
  /// Branches: the target, and where the lanes meet again.
  uint32_t target = kNoPc, meet = kNoPc;
  /// Address offsets of a and b, or what the handler wants.
  int64_t immediate = 0, secondImmediate = 0, thirdImmediate = 0;
};

/// A variable of shared memory: where it begins.
struct SharedLayout {
  uint32_t staticBytes = 0;
  /// Where dynamic shared memory begins.
  uint32_t dynamicOffset = 0;
  uint32_t localBytes = 0;
};

/// The first bytes of shared memory belong to the system: address 0 is never a
/// variable.
constexpr uint32_t kSharedStart = 1024;
/// Distance of the blocks of a cluster in the shared window.
constexpr uint32_t kSharedRankShift = 24;
constexpr uint32_t kSharedOffsetMask = (1u << kSharedRankShift) - 1;

/// The top byte of a generic address says which memory it is in; global
/// addresses are those of the host.
constexpr uint32_t kWindowShift = 56;
constexpr uint64_t kWindowMask = (uint64_t(1) << kWindowShift) - 1;
constexpr uint64_t kSharedWindow = uint64_t(1) << kWindowShift;
constexpr uint64_t kParameterWindow = uint64_t(2) << kWindowShift;
constexpr uint64_t kLocalWindow = uint64_t(3) << kWindowShift;

/// What a special register of a thread holds; filled in when a warp starts.
enum class Special : uint8_t {
  TidX,
  TidY,
  TidZ,
  NTidX,
  NTidY,
  NTidZ,
  CtaIdX,
  CtaIdY,
  CtaIdZ,
  NCtaIdX,
  NCtaIdY,
  NCtaIdZ,
  LaneId,
  WarpId,
  NWarpId,
  ClusterCtaIdX,
  ClusterCtaIdY,
  ClusterCtaIdZ,
  ClusterNCtaIdX,
  ClusterNCtaIdY,
  ClusterNCtaIdZ,
  ClusterCtaRank,
  ClusterNCtaRank,
  ClusterIdX,
  ClusterIdY,
  ClusterIdZ,
  NClusterIdX,
  NClusterIdY,
  NClusterIdZ,
  IsExplicitCluster,
  LaneMaskEq,
  LaneMaskLe,
  LaneMaskLt,
  LaneMaskGe,
  LaneMaskGt,
  DynamicSmemSize,
  TotalSmemSize,
  SmId,
  NSmId,
  GridId,
};

struct Program {
  std::string entry;
  std::vector<Instruction> instructions;
  std::vector<Operand> lists;
  /// The constant pool; 64-byte aligned when a grid copies it.
  std::vector<uint8_t> constants;
  uint32_t registerBytes = 0;
  /// Registers that some path reads before it writes them.
  std::vector<std::pair<Operand, uint32_t>> undefinedRegisters;
  std::vector<std::pair<Special, Operand>> specials;
  SharedLayout shared;
  std::vector<Parameter> parameters;
  uint32_t parameterBytes = 0;
  uint32_t requiredBlock[3] = {0, 0, 0};
  uint32_t maximalThreads = 0;
  /// Registers that a thread has when it starts: .maxnreg, or what the
  /// assembler may give it by the size of the block, which it does where there
  /// is setmaxnreg. 0: not known.
  uint32_t entryRegisters = 0;
  uint32_t cluster[3] = {0, 0, 0};
  /// Text of each instruction's opcode, and its place in the source.
  std::vector<std::string> names;
  std::vector<std::string> locations;
  /// An instruction that touches registers of wgmma: what it runs once that was
  /// looked into.
  struct Watched {
    Handler run;
    std::vector<Operand> registers;
  };
  std::vector<Watched> watched;
  /// By instruction: which of `watched` it is. Empty without checks, and where
  /// there is no wgmma.
  std::vector<uint32_t> watchedOf;
  bool checks = true;
};

} // namespace mlir::moe::emulator

#endif // MOE_LIB_EMULATOR_PROGRAM_H
