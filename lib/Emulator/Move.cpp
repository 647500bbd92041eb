//===- Move.cpp - moves, selections and addresses -*- C++ -*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Block.h"
#include "Lanes.h"

#include <algorithm>
#include <limits>
#include <type_traits>

using namespace mlir::moe::emulator;

//===----------------------------------------------------------------------===//
// mov
//===----------------------------------------------------------------------===//

namespace {
template <typename T>
struct Copy {
  T operator()(T a) const { return a; }
};
} // namespace

static void movePredicate(Warp &warp, const Instruction &i) {
  warp.setPredicate(i.d, warp.predicate(i.a));
}

static Handler copyOf(uint32_t bits) {
  switch (bits) {
  case 1:
    return movePredicate;
  case 16:
    return unaryOf<uint16_t, Copy<uint16_t>>;
  case 32:
    return unaryOf<uint32_t, Copy<uint32_t>>;
  case 64:
    return unaryOf<uint64_t, Copy<uint64_t>>;
  default:
    return nullptr;
  }
}

/// d = {list...}, the first element lowest.
template <typename Whole, typename Part>
static void pack(Warp &warp, const Instruction &i) {
  constexpr uint32_t kCount = sizeof(Whole) / sizeof(Part);
  const Operand *list = &warp.block->cluster->grid.program.lists[i.list];
  if (warp.poisoned) {
    for (uint32_t k = 0; k < kCount; ++k)
      for (uint32_t byte = 0; byte < sizeof(Part); ++byte) {
        uint32_t &to = warp.poisonToWrite(i.d)[k * sizeof(Part) + byte];
        to = (to & ~warp.active) | (warp.poison(list[k])[byte] & warp.active);
      }
  }
  const Part *parts[kCount];
  for (uint32_t k = 0; k < kCount; ++k)
    parts[k] = warp.read<Part>(list[k]);
  forLanes<Whole>(warp, i.d, [&](uint32_t lane) {
    Whole whole = 0;
    for (uint32_t k = 0; k < kCount; ++k)
      whole |= Whole(parts[k][lane]) << (8 * sizeof(Part) * k);
    return whole;
  });
}

/// {list...} = a.
template <typename Whole, typename Part>
static void unpack(Warp &warp, const Instruction &i) {
  constexpr uint32_t kCount = sizeof(Whole) / sizeof(Part);
  const Operand *list = &warp.block->cluster->grid.program.lists[i.list];
  // A destination may be where the source is: nothing keeps them apart.
  Whole source[kLanes];
  std::memcpy(source, warp.read<Whole>(i.a), sizeof(source));
  uint32_t planes[sizeof(Whole)];
  std::memcpy(planes, warp.poison(i.a), sizeof(planes));
  for (uint32_t k = 0; k < kCount; ++k) {
    if (!list[k].exists())
      continue;
    forLanes<Part>(warp, list[k], [&](uint32_t lane) {
      return Part(source[lane] >> (8 * sizeof(Part) * k));
    });
    if (!warp.poisoned)
      continue;
    for (uint32_t byte = 0; byte < sizeof(Part); ++byte) {
      uint32_t &to = warp.poisonToWrite(list[k])[byte];
      to =
          (to & ~warp.active) | (planes[k * sizeof(Part) + byte] & warp.active);
    }
  }
}

static void decodePack(DecodeContext &context, Type type, bool packs) {
  uint32_t count =
      static_cast<uint32_t>(context.operand(packs ? 1 : 0).elements.size());
  Instruction &out = context.out();
  out.poison = Poison::Own;
  if (packs)
    context.d(0, type.bits);
  else
    context.a(1, type.bits);
  context.appendVector(packs ? 1 : 0, type.bits / std::max(count, 1u),
                       packs ? 2 : 1);
  if (type.bits == 32 && count == 2)
    context.run(packs ? pack<uint32_t, uint16_t> : unpack<uint32_t, uint16_t>);
  else if (type.bits == 64 && count == 2)
    context.run(packs ? pack<uint64_t, uint32_t> : unpack<uint64_t, uint32_t>);
  else if (type.bits == 64 && count == 4)
    context.run(packs ? pack<uint64_t, uint16_t> : unpack<uint64_t, uint16_t>);
}

static void readClock(Warp &warp, const Instruction &i) {
  const Cluster &cluster = *warp.block->cluster;
  uint64_t now = cluster.grid.launch.maxInstructions - cluster.budget;
  if (i.widths[0] == 8)
    forLanes<uint64_t>(warp, i.d, [=](uint32_t) { return now; });
  else
    forLanes<uint32_t>(warp, i.d, [=](uint32_t) { return uint32_t(now); });
}

static void decodeMove(DecodeContext &context) {
  Type type = context.takeType();
  context.needOperands(2);
  context.out().kind = Class::Move;
  context.out().poison = Poison::Bytes;
  bool packs = context.operand(1).kind == OperandSyntax::Vector;
  if (packs || context.operand(0).kind == OperandSyntax::Vector)
    return decodePack(context, type, packs);
  uint32_t bits = type.kind == Type::Predicate ? 1 : type.bits;
  context.d(0, bits);
  std::string_view name = context.operand(1).name;
  if (name == "%clock" || name == "%clock64" || name == "%globaltimer" ||
      name == "%clock_hi" || name == "%globaltimer_lo")
    return context.run(readClock);
  context.a(1, bits);
  context.run(copyOf(bits));
}

//===----------------------------------------------------------------------===//
// selp, slct and prmt
//===----------------------------------------------------------------------===//

template <typename T>
static void select(Warp &warp, const Instruction &i) {
  const T *a = warp.read<T>(i.a), *b = warp.read<T>(i.b);
  uint32_t choice = warp.predicate(i.c);
  forLanes<T>(warp, i.d, [=](uint32_t lane) {
    return choice >> lane & 1 ? a[lane] : b[lane];
  });
}

static void decodeSelect(DecodeContext &context) {
  Type type = context.takeType();
  context.needOperands(4);
  context.d(0, type.width());
  // Where the condition is negated, the sources are the other way round.
  OperandSyntax condition = context.operand(3);
  context.a(condition.negated ? 2 : 1, type.width());
  context.b(condition.negated ? 1 : 2, type.width());
  condition.negated = false;
  context.out().c = context.source(condition, 1);
  context.out().kind = Class::Move;
  context.out().poison = Poison::Select;
  Type bits{Type::Bits, static_cast<uint8_t>(type.width()), 1};
  context.run(forBits(bits, [](auto tag) -> Handler {
    return select<typename decltype(tag)::type>;
  }));
}

/// a where c is not negative, else b.
template <typename T, typename C>
static void selectBySign(Warp &warp, const Instruction &i) {
  const T *a = warp.read<T>(i.a), *b = warp.read<T>(i.b);
  const C *c = warp.read<C>(i.c);
  bool flush = i.option;
  forLanes<T>(warp, i.d, [=](uint32_t lane) {
    bool first = c[lane] >= C(0);
    if (std::is_floating_point_v<C> && flush)
      first |= c[lane] > C(-std::numeric_limits<float>::min());
    return first ? a[lane] : b[lane];
  });
}

static void decodeSelectBySign(DecodeContext &context) {
  context.out().option = context.take("ftz");
  Type type = context.takeType();
  bool isFloat = context.needOneOf({"s32", "f32"}) == "f32";
  context.needOperands(4);
  context.d(0, type.width());
  context.a(1, type.width());
  context.b(2, type.width());
  context.c(3, 32);
  context.out().kind = Class::Move;
  Type bits{Type::Bits, static_cast<uint8_t>(type.width()), 1};
  context.run(forBits(bits, [&](auto tag) -> Handler {
    using T = typename decltype(tag)::type;
    return isFloat ? selectBySign<T, float> : selectBySign<T, int32_t>;
  }));
}

/// The bytes of b:a that four digits of a selector choose.
static uint32_t choose(uint64_t bytes, uint32_t selector) {
  uint32_t result = 0;
  for (uint32_t k = 0; k < 4; ++k) {
    uint32_t choice = selector >> (4 * k);
    uint32_t byte = bytes >> (8 * (choice & 7)) & 0xff;
    // The highest bit copies the byte's sign instead.
    if (choice & 8)
      byte = byte & 0x80 ? 0xff : 0;
    result |= byte << (8 * k);
  }
  return result;
}

static void permuteBytes(Warp &warp, const Instruction &i) {
  const auto *a = warp.read<uint32_t>(i.a), *b = warp.read<uint32_t>(i.b);
  const auto *c = warp.read<uint32_t>(i.c);
  forLanes<uint32_t>(warp, i.d, [=](uint32_t lane) {
    return choose(uint64_t(b[lane]) << 32 | a[lane], c[lane]);
  });
}

/// The selector depends on the last two bits of c: digit c of the immediate,
/// which are 16 bits each.
static void permuteByMode(Warp &warp, const Instruction &i) {
  const auto *a = warp.read<uint32_t>(i.a), *b = warp.read<uint32_t>(i.b);
  const auto *c = warp.read<uint32_t>(i.c);
  auto selectors = static_cast<uint64_t>(i.immediate);
  forLanes<uint32_t>(warp, i.d, [=](uint32_t lane) {
    return choose(uint64_t(b[lane]) << 32 | a[lane],
                  selectors >> (16 * (c[lane] & 3)) & 0xffff);
  });
}

/// The four selectors of a mode, the first one lowest.
static uint64_t selectorsOf(std::string_view mode) {
  uint64_t selectors = 0;
  for (uint32_t from = 0; from < 4; ++from)
    for (uint32_t k = 0; k < 4; ++k) {
      uint32_t byte = mode == "f4e"   ? from + k
                      : mode == "b4e" ? (from - k) & 7
                      : mode == "rc8" ? from
                      : mode == "ecl" ? std::max(from, k)
                      : mode == "ecr" ? std::min(from, k)
                                      : (from & 1) * 2 + (k & 1); // rc16
      selectors |= uint64_t(byte) << (16 * from + 4 * k);
    }
  return selectors;
}

static void decodePermuteBytes(DecodeContext &context) {
  context.needOneOf({"b32"});
  std::string_view mode =
      context.takeOneOf({"f4e", "b4e", "rc8", "ecl", "ecr", "rc16"});
  context.needOperands(4);
  context.d(0, 32);
  context.a(1, 32);
  context.b(2, 32);
  context.c(3, 32);
  context.out().kind = Class::Move;
  if (mode.empty())
    return context.run(permuteBytes);
  context.out().immediate = static_cast<int64_t>(selectorsOf(mode));
  context.run(permuteByMode);
}

//===----------------------------------------------------------------------===//
// Addresses
//===----------------------------------------------------------------------===//

static uint64_t windowOf(std::string_view space) {
  return space.substr(0, 6) == "shared" ? kSharedWindow
         : space == "param"             ? kParameterWindow
         : space == "local"             ? kLocalWindow
                                        : 0;
}

template <typename T>
static void toGeneric(Warp &warp, const Instruction &i) {
  const T *a = warp.read<T>(i.a);
  uint64_t window = static_cast<uint64_t>(i.immediate);
  forLanes<uint64_t>(warp, i.d,
                     [=](uint32_t lane) { return a[lane] + window; });
}

template <typename T>
static void fromGeneric(Warp &warp, const Instruction &i) {
  const auto *a = warp.read<uint64_t>(i.a);
  uint64_t mask = i.immediate ? kWindowMask : ~uint64_t(0);
  forLanes<T>(warp, i.d, [=](uint32_t lane) { return T(a[lane] & mask); });
}

static void decodeConvertAddress(DecodeContext &context) {
  bool to = context.take("to");
  std::string_view space =
      context.needOneOf({"shared", "shared::cta", "shared::cluster", "global",
                         "param", "const", "local"});
  context.needOneOf({"u64"});
  context.needOperands(2);
  context.d(0, 64);
  context.a(1, 64);
  context.out().kind = Class::Move;
  context.out().immediate = static_cast<int64_t>(windowOf(space));
  context.run(to ? fromGeneric<uint64_t> : toGeneric<uint64_t>);
}

/// Whether a generic address is in the memory whose window is given.
static void isInWindow(Warp &warp, const Instruction &i) {
  const auto *a = warp.read<uint64_t>(i.a);
  auto window = static_cast<uint64_t>(i.immediate);
  warp.setPredicate(i.d, whichLanes(warp, [=](uint32_t lane) {
                      return (a[lane] & ~kWindowMask) == window;
                    }));
}

static void decodeIsInWindow(DecodeContext &context) {
  std::string_view space =
      context.needOneOf({"shared", "shared::cta", "shared::cluster", "global",
                         "param", "const", "local"});
  context.needOperands(2);
  context.d(0, 1);
  context.a(1, 64);
  context.out().kind = Class::Move;
  context.out().immediate = static_cast<int64_t>(windowOf(space));
  context.run(isInWindow);
}

/// The address of the same variable in another block of the cluster.
template <typename T>
static void mapToBlock(Warp &warp, const Instruction &i) {
  const T *a = warp.read<T>(i.a);
  const auto *rank = warp.read<uint32_t>(i.b);
  T window = T(i.immediate);
  forLanes<T>(warp, i.d, [=](uint32_t lane) {
    return T(window | T(rank[lane] + 1) << kSharedRankShift |
             (a[lane] & kSharedOffsetMask));
  });
}

static void decodeMapToBlock(DecodeContext &context) {
  bool shared = context.take("shared::cluster");
  Type type = context.takeType();
  context.needOperands(3);
  context.d(0, type.bits);
  context.a(1, type.bits);
  context.b(2, 32);
  context.out().kind = Class::Move;
  if (!shared && type.bits != 64)
    context.fail("generic addresses have 64 bits");
  context.out().immediate = shared ? 0 : static_cast<int64_t>(kSharedWindow);
  context.run(type.bits == 64 ? mapToBlock<uint64_t> : mapToBlock<uint32_t>);
}

/// In which block of the cluster an address of shared memory is.
template <typename T>
static void rankOfAddress(Warp &warp, const Instruction &i) {
  const T *a = warp.read<T>(i.a);
  uint32_t own = warp.block->rank;
  forLanes<uint32_t>(warp, i.d, [=](uint32_t lane) {
    auto rank =
        static_cast<uint32_t>((a[lane] & kWindowMask) >> kSharedRankShift);
    return rank == 0 ? own : rank - 1;
  });
}

static void decodeRankOfAddress(DecodeContext &context) {
  context.take("shared::cluster");
  Type type = context.takeType();
  context.needOperands(2);
  context.d(0, 32);
  context.a(1, type.bits);
  context.out().kind = Class::Move;
  context.run(type.bits == 64 ? rankOfAddress<uint64_t>
                              : rankOfAddress<uint32_t>);
}

void mlir::moe::emulator::addMoveInstructions(InstructionTable &table) {
  table.add("mov", decodeMove);
  table.add("selp", decodeSelect);
  table.add("slct", decodeSelectBySign);
  table.add("isspacep", decodeIsInWindow);
  table.add("prmt", decodePermuteBytes);
  table.add("cvta", decodeConvertAddress);
  table.add("mapa", decodeMapToBlock);
  table.add("getctarank", decodeRankOfAddress);
}
