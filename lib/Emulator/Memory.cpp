//===- Memory.cpp - ld, st and what only touches caches -*- C++ -*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Access.h"
#include "Coalescing.h"
#include "Lanes.h"

using namespace mlir::moe::emulator;

namespace {
/// A power of two of bytes without a type.
template <uint32_t Bytes>
struct Chunk {
  uint8_t bytes[Bytes];
};
} // namespace

/// Operand number k of what an ld writes or an st reads.
static Operand element(const Warp &warp, const Instruction &i, uint32_t k) {
  if (i.count == 0)
    return i.d.exists() ? i.d : i.b;
  return warp.block->cluster->grid.program.lists[i.list + k];
}

static uint32_t elements(const Instruction &i) { return i.count ? i.count : 1; }

//===----------------------------------------------------------------------===//
// ld
//===----------------------------------------------------------------------===//

/// Reads T at a fixed distance from each lane's address into registers of R.
template <typename T, typename R>
static void loadInto(Warp &warp, const Access &access, Operand to,
                     uint32_t distance) {
  forLanes<R>(warp, to, [&](uint32_t lane) {
    T value;
    std::memcpy(&value, access.data[lane] + distance, sizeof(T));
    return R(value);
  });
}

/// Whether a register of a lane is the next piece of memory after that of the
/// lane before: the whole access is one copy.
static bool isOneCopy(const Instruction &i, const Access &access) {
  return access.contiguous && i.count == 0 && i.widths[0] == i.size;
}

template <typename T>
static void loadElement(Warp &warp, const Instruction &i, const Access &access,
                        Operand to, uint32_t distance) {
  switch (i.widths[0]) {
  case 2:
    return loadInto<T, uint16_t>(warp, access, to, distance);
  case 4:
    return loadInto<T, uint32_t>(warp, access, to, distance);
  default:
    return loadInto<T, uint64_t>(warp, access, to, distance);
  }
}

static void loadElements(Warp &warp, const Instruction &i,
                         const Access &access) {
  if (isOneCopy(i, access)) {
    std::memcpy(warp.write<uint8_t>(i.d), access.data[0], i.size * kLanes);
    return;
  }
  bool extends = i.option & 1;
  for (uint32_t k = 0; k < elements(i); ++k) {
    Operand to = element(warp, i, k);
    if (!to.exists())
      continue;
    uint32_t distance = k * i.size;
    switch (i.size) {
    case 1:
      extends ? loadElement<int8_t>(warp, i, access, to, distance)
              : loadElement<uint8_t>(warp, i, access, to, distance);
      break;
    case 2:
      extends ? loadElement<int16_t>(warp, i, access, to, distance)
              : loadElement<uint16_t>(warp, i, access, to, distance);
      break;
    case 4:
      extends ? loadElement<int32_t>(warp, i, access, to, distance)
              : loadElement<uint32_t>(warp, i, access, to, distance);
      break;
    default:
      loadElement<uint64_t>(warp, i, access, to, distance);
    }
  }
}

/// Whether all lanes are defined, which is the usual case; false where it would
/// take longer to tell.
template <typename Piece>
static bool allDefined(const uint8_t *shadow, uint32_t bytes) {
  Piece any = 0;
  for (uint32_t k = 0; k < bytes; k += sizeof(Piece)) {
    Piece piece;
    std::memcpy(&piece, shadow + k, sizeof(Piece));
    any |= piece;
  }
  return any == 0;
}

template <typename Piece>
static bool allDefined(const Access &access, uint32_t pieces) {
  Piece any = 0;
  for (uint32_t lane = 0; lane < kLanes; ++lane)
    for (uint32_t k = 0; k < pieces; ++k) {
      Piece piece;
      std::memcpy(&piece, access.shadow[lane] + k * sizeof(Piece),
                  sizeof(Piece));
      any |= piece;
    }
  return any == 0;
}

static bool allDefined(const Warp &warp, const Access &access, uint32_t bytes) {
  if (warp.active != kAllLanes || !access.uniform)
    return false;
  if (access.contiguous)
    return allDefined<uint64_t>(access.shadow[0], kLanes * bytes);
  switch (bytes) {
  case 2:
    return allDefined<uint16_t>(access, 1);
  case 4:
    return allDefined<uint32_t>(access, 1);
  case 8:
  case 16:
    return allDefined<uint64_t>(access, bytes / 8);
  default:
    return false;
  }
}

/// Lanes of which some of the bytes are undefined.
static uint32_t undefinedLanes(const Warp &warp, const Access &access,
                               uint32_t bytes) {
  if (allDefined(warp, access, bytes))
    return 0;
  uint32_t undefined = 0;
  for (uint32_t lanes = warp.active; lanes; lanes &= lanes - 1) {
    uint32_t lane = firstLane(lanes);
    const uint8_t *shadow = access.shadow[lane];
    if (!shadow)
      continue;
    uint8_t any = 0;
    for (uint32_t byte = 0; byte < bytes; ++byte)
      any |= shadow[byte];
    undefined |= uint32_t(any & 1) << lane;
  }
  return undefined;
}

/// The undefined bytes of memory reach the registers.
static void loadPoison(Warp &warp, const Instruction &i, const Access &access) {
  uint32_t bytes = i.size * elements(i);
  uint32_t undefined =
      access.hasShadow ? undefinedLanes(warp, access, bytes) : 0;
  if (undefined == 0 && !warp.poisoned)
    return;
  warp.poisoned = true;
  for (uint32_t k = 0; k < elements(i); ++k) {
    Operand to = element(warp, i, k);
    if (!to.exists())
      continue;
    warp.setPoison(to, i.widths[0], 0);
    uint32_t *planes = warp.poisonToWrite(to);
    for (uint32_t lanes = undefined; lanes; lanes &= lanes - 1) {
      uint32_t lane = firstLane(lanes);
      const uint8_t *shadow = access.shadow[lane] + size_t(k) * i.size;
      bool last = false;
      for (uint32_t byte = 0; byte < i.widths[0]; ++byte) {
        // What extends the value is as undefined as its last byte.
        last = byte < i.size ? shadow[byte] != 0 : last && (i.option & 1);
        planes[byte] |= uint32_t(last) << lane;
      }
    }
  }
}

template <bool Checks>
static void load(Warp &warp, const Instruction &i) {
  uint64_t addresses[kLanes];
  Access access;
  addressesOf<Checks>(warp, i, addresses);
  uint32_t bytes = i.size * elements(i);
  resolve(warp, i, Space(i.option >> 4), AccessKind::Read, addresses, bytes,
          access);
  Counts &counts = warp.block->cluster->counts;
  (access.global ? counts.globalBytesRead : counts.sharedBytesRead) +=
      uint64_t(bytes) * countLanes(warp.active);
  countTraffic(warp, access, bytes);
  loadElements(warp, i, access);
  if (Checks)
    loadPoison(warp, i, access);
}

/// A parameter: one value for all lanes.
static void loadParameter(Warp &warp, const Instruction &i) {
  Access access;
  const Grid &grid = warp.block->cluster->grid;
  for (uint8_t *&data : access.data)
    data = const_cast<uint8_t *>(grid.parameters) + i.immediate;
  loadElements(warp, i, access);
  if (warp.poisoned)
    for (uint32_t k = 0; k < elements(i); ++k)
      warp.setPoison(element(warp, i, k), i.widths[0], 0);
}

//===----------------------------------------------------------------------===//
// st
//===----------------------------------------------------------------------===//

template <typename T>
static void storeElement(Warp &warp, const Instruction &i, const Access &access,
                         Operand from, uint32_t distance) {
  auto store = [&](const auto *values) {
    for (uint32_t lanes = warp.active; lanes; lanes &= lanes - 1) {
      uint32_t lane = firstLane(lanes);
      T value = T(values[lane]);
      std::memcpy(access.data[lane] + distance, &value, sizeof(T));
    }
  };
  switch (i.widths[0]) {
  case 2:
    return store(warp.read<uint16_t>(from));
  case 4:
    return store(warp.read<uint32_t>(from));
  default:
    return store(warp.read<uint64_t>(from));
  }
}

static void storeElements(Warp &warp, const Instruction &i,
                          const Access &access) {
  if (isOneCopy(i, access)) {
    std::memcpy(access.data[0], warp.read<uint8_t>(i.b), i.size * kLanes);
    return;
  }
  for (uint32_t k = 0; k < elements(i); ++k) {
    Operand from = element(warp, i, k);
    uint32_t distance = k * i.size;
    switch (i.size) {
    case 1:
      storeElement<uint8_t>(warp, i, access, from, distance);
      break;
    case 2:
      storeElement<uint16_t>(warp, i, access, from, distance);
      break;
    case 4:
      storeElement<uint32_t>(warp, i, access, from, distance);
      break;
    default:
      storeElement<uint64_t>(warp, i, access, from, distance);
    }
  }
}

template <typename Piece>
static void clear(const Access &access, uint32_t pieces) {
  const Piece zero = 0;
  for (uint32_t lane = 0; lane < kLanes; ++lane)
    for (uint32_t k = 0; k < pieces; ++k)
      std::memcpy(access.shadow[lane] + k * sizeof(Piece), &zero,
                  sizeof(Piece));
}

static void markDefined(const Warp &warp, const Access &access,
                        uint32_t bytes) {
  if (warp.active == kAllLanes && access.uniform) {
    switch (bytes) {
    case 2:
      return clear<uint16_t>(access, 1);
    case 4:
      return clear<uint32_t>(access, 1);
    case 8:
    case 16:
      return clear<uint64_t>(access, bytes / 8);
    default:
      break;
    }
  }
  for (uint32_t lanes = warp.active; lanes; lanes &= lanes - 1) {
    uint32_t lane = firstLane(lanes);
    if (access.shadow[lane])
      std::memset(access.shadow[lane], 0, bytes);
  }
}

/// Whether the launch lets undefined bytes pass, and they are of global memory.
static bool carriesUndefined(const Grid &grid) {
  return grid.launch.carriesUndefined && grid.sharedBytes == 0 &&
         grid.program.undefinedRegisters.empty();
}

/// What is stored is as defined as the registers were.
static void storePoison(Warp &warp, const Instruction &i,
                        const Access &access) {
  uint32_t undefined = 0;
  if (warp.poisoned)
    for (uint32_t k = 0; k < elements(i); ++k)
      undefined |= warp.poisonedLanes(element(warp, i, k), i.size);
  undefined &= warp.active;
  if (undefined && access.global &&
      !carriesUndefined(warp.block->cluster->grid))
    warp.reportUndefined(i, undefined, "what is stored in global memory");
  if (!access.hasShadow)
    return;
  uint32_t bytes = i.size * elements(i);
  if (access.contiguous)
    std::memset(access.shadow[0], 0, bytes * kLanes);
  else
    markDefined(warp, access, bytes);
  for (uint32_t lanes = undefined; lanes; lanes &= lanes - 1) {
    uint32_t lane = firstLane(lanes);
    if (!access.shadow[lane])
      continue;
    for (uint32_t byte = 0; byte < bytes; ++byte)
      access.shadow[lane][byte] =
          warp.poison(element(warp, i, byte / i.size))[byte % i.size] >> lane &
          1;
  }
}

template <bool Checks>
static void store(Warp &warp, const Instruction &i) {
  uint64_t addresses[kLanes];
  Access access;
  addressesOf<Checks>(warp, i, addresses);
  uint32_t bytes = i.size * elements(i);
  resolve(warp, i, Space(i.option >> 4), AccessKind::Write, addresses, bytes,
          access);
  Counts &counts = warp.block->cluster->counts;
  (access.global ? counts.globalBytesWritten : counts.sharedBytesWritten) +=
      uint64_t(bytes) * countLanes(warp.active);
  countTraffic(warp, access, bytes);
  storeElements(warp, i, access);
  if (Checks)
    storePoison(warp, i, access);
}

//===----------------------------------------------------------------------===//
// Decoding
//===----------------------------------------------------------------------===//

/// Modifiers that ld and st have in common; the number of elements.
static uint32_t decodeAccess(DecodeContext &context, Type &type) {
  Instruction &out = context.out();
  out.immediate = 0;
  context.takeMemoryOrder();
  Space space = takeSpace(context);
  context.takeCacheHints();
  // A cache policy is a third operand.
  bool policy = context.take("L2::cache_hint");
  context.needOperands(policy ? 3 : 2);
  if (policy)
    context.source(context.operand(2), 64);
  std::string_view vector = context.takeOneOf({"v2", "v4", "v8"});
  type = context.takeType();
  if (type.kind == Type::Predicate || type.lanes != 1)
    context.fail("a type that memory does not hold");
  out.size = type.bits / 8;
  out.option = static_cast<uint8_t>(unsigned(space) << 4 | type.isSigned());
  out.kind = Class::Memory;
  out.poison = Poison::Own;
  return vector.empty() ? 1 : static_cast<uint32_t>(vector[1] - '0');
}

static void decodeElements(DecodeContext &context, size_t index, Type type,
                           uint32_t count, bool loads) {
  Instruction &out = context.out();
  uint8_t role = loads ? 1 : 2;
  if (count == 1 && context.operand(index).kind != OperandSyntax::Vector) {
    if (loads) {
      context.d(index, type.bits, DecodeContext::OrWider);
    } else {
      context.b(index, type.bits, DecodeContext::OrWider);
      out.widths[0] = out.widths[3];
    }
    return;
  }
  context.appendVector(index, type.bits, role, DecodeContext::OrWider);
  if (out.count != count)
    context.fail("a vector of " + std::to_string(out.count) +
                 " elements where " + std::to_string(count) + " are needed");
  // Registers of one vector have one size.
  uint32_t width = 0;
  for (const OperandSyntax &element : context.operand(index).elements) {
    uint32_t bits = context.registerBits(element);
    if (bits == 0)
      continue;
    if (width != 0 && width != bits)
      context.fail("registers of different sizes in a vector");
    width = bits;
  }
  out.widths[0] = static_cast<uint8_t>((width ? width : type.bits) / 8);
  if (!loads && width > type.bits)
    for (const OperandSyntax &element : context.operand(index).elements)
      if (context.registerBits(element) == 0)
        context.fail("constants and wider registers in a vector");
}

static void decodeLoad(DecodeContext &context) {
  Type type;
  uint32_t count = decodeAccess(context, type);
  decodeElements(context, 0, type, count, true);
  const SymbolValue *symbol = context.address(1);
  Instruction &out = context.out();
  if (Space(out.option >> 4) != Space::Parameter || !symbol)
    return context.run(load<false>, load<true>);
  uint64_t end = uint64_t(out.immediate) + uint64_t(out.size) * count;
  if (symbol->space != StateSpace::Parameter || out.immediate < 0 ||
      end > symbol->bytes)
    context.fail("reads past the end of the parameter");
  out.immediate += static_cast<int64_t>(symbol->value);
  out.a = Operand();
  context.run(loadParameter);
}

static void decodeStore(DecodeContext &context) {
  if (context.take("async"))
    return decodeAsyncStore(context, false);
  Type type;
  uint32_t count = decodeAccess(context, type);
  context.address(0);
  decodeElements(context, 1, type, count, false);
  context.run(store<false>, store<true>);
}

/// A cache policy: a number that nothing here looks at.
static void makePolicy(Warp &warp, const Instruction &i) {
  forLanes<uint64_t>(warp, i.d, [](uint32_t) { return uint64_t(0); });
}

/// createpolicy.fractional.L2::evict_last.b64 d, 0.5
static void decodeCreatePolicy(DecodeContext &context) {
  context.needOneOf({"fractional"});
  context.needOneOf({"L2::evict_last", "L2::evict_normal", "L2::evict_first",
                     "L2::evict_unchanged"});
  context.takeOneOf({"L2::evict_first", "L2::evict_unchanged"});
  context.needOneOf({"b64"});
  context.needOperands(1, 2);
  context.d(0, 64);
  if (context.operandCount() == 2) {
    OperandSyntax::Kind kind = context.operand(1).kind;
    if (kind != OperandSyntax::Float32 && kind != OperandSyntax::Float64 &&
        kind != OperandSyntax::Register)
      context.fail("the fraction is a float");
  }
  context.out().kind = Class::Memory;
  context.run(makePolicy);
}

static void nothing(Warp &, const Instruction &) {}

/// prefetch and the like: bytes come sooner, values do not change.
static void decodePrefetch(DecodeContext &context) {
  takeSpace(context);
  context.needOneOf(
      {"L1", "L2", "L2::evict_last", "L2::evict_normal", "tensormap"});
  context.needOperands(1);
  context.address(0);
  context.out().kind = Class::Memory;
  context.out().poison = Poison::Own;
  context.run(nothing);
}

void mlir::moe::emulator::addMemoryInstructions(InstructionTable &table) {
  table.add("ld", decodeLoad);
  table.add("ldu", decodeLoad);
  table.add("st", decodeStore);
  table.add("createpolicy", decodeCreatePolicy);
  table.add("prefetch", decodePrefetch);
}
