//===- Access.h - addresses of a warp to memory -*- C++ -*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

//
// Every access of every instruction to memory goes through `resolve`: it knows
// the spaces and windows, checks bounds and alignment always, and is the one
// place where checks of order (races, proxies) see accesses.
//
//===----------------------------------------------------------------------===//

#ifndef MOE_LIB_EMULATOR_ACCESS_H
#define MOE_LIB_EMULATOR_ACCESS_H

#include "Block.h"
#include "Decode.h"

namespace mlir::moe::emulator {

enum class Space : uint8_t {
  Generic,
  Global,
  Shared,
  SharedCluster,
  Parameter,
  Local,
};

enum class AccessKind : uint8_t {
  Read,
  Write,
  Atomic,
  AsyncRead,
  AsyncWrite,
  /// ldmatrix and stmatrix: what a lane addresses is not what it gets.
  MatrixRead,
  MatrixWrite,
};

/// Where the running lanes read or write.
struct Access {
  uint8_t *data[kLanes];
  /// The shadow of the same bytes; null where all is defined.
  uint8_t *shadow[kLanes];
  /// Whether some shadow is not null.
  bool hasShadow;
  /// Whether all of the running lanes are in global memory.
  bool global;
  /// Whether all are in one piece of memory: all have a shadow, or none has.
  bool uniform = false;
  /// Whether all 32 lanes run and each begins where the one before it ends.
  bool contiguous = false;
};

/// The addresses that operand a and the offset of `i` give; those of lanes that
/// do not run are not set. Reports undefined addresses.
template <bool Checks>
void addressesOf(Warp &warp, const Instruction &i, uint64_t addresses[kLanes]);
/// The same of operand b.
template <bool Checks>
void secondAddressesOf(Warp &warp, const Instruction &i,
                       uint64_t addresses[kLanes]);

/// Finds the memory of `bytes` bytes at each of the running lanes' addresses.
/// Stops the block where there is none.
void resolve(Warp &warp, const Instruction &i, Space space, AccessKind kind,
             const uint64_t addresses[kLanes], uint32_t bytes, Access &access);

/// One address, for all of `lanes`; `alignment` may differ from the size.
/// Returns the data and its shadow.
std::pair<uint8_t *, uint8_t *> resolveOne(Warp &warp, const Instruction &i,
                                           Space space, AccessKind kind,
                                           uint64_t address, uint64_t bytes,
                                           uint64_t alignment, uint32_t lanes);

/// The block whose shared memory a shared address is in, and the offset there.
/// Stops the block where the rank is not one of the cluster.
Block &blockOf(Warp &warp, const Instruction &i, uint64_t address,
               uint32_t lanes);

/// st.async and red.async, in RemoteStore.cpp; .async was taken.
void decodeAsyncStore(DecodeContext &context, bool reduces);

/// Reads the state space of ld, st, atom, ...; generic where there is none.
Space takeSpace(DecodeContext &context);

} // namespace mlir::moe::emulator

#endif // MOE_LIB_EMULATOR_ACCESS_H
