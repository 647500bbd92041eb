//===- DecodeContext.cpp - modifiers and operands of one instruction -*- C++
//-*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Decode.h"

#include <algorithm>
#include <cstring>

using namespace mlir::moe::emulator;

Type mlir::moe::emulator::parseType(std::string_view name) {
  struct Row {
    std::string_view prefix;
    Type::Kind kind;
  };
  static constexpr Row kRows[] = {{"bf", Type::BFloat},
                                  {"b", Type::Bits},
                                  {"s", Type::Signed},
                                  {"u", Type::Unsigned},
                                  {"f", Type::Float}};
  if (name == "pred")
    return {Type::Predicate, 1, 1};
  if (name == "tf32")
    return {Type::TF32, 32, 1};
  uint8_t lanes = 1;
  if (name.size() > 2 && name.substr(name.size() - 2) == "x2") {
    lanes = 2;
    name.remove_suffix(2);
  }
  if (name == "e4m3")
    return {Type::E4M3, 8, lanes};
  if (name == "e5m2")
    return {Type::E5M2, 8, lanes};
  for (const Row &row : kRows) {
    if (name.substr(0, row.prefix.size()) != row.prefix)
      continue;
    std::string_view digits = name.substr(row.prefix.size());
    for (uint8_t bits : {8, 16, 32, 64})
      if (digits == std::to_string(bits))
        return {row.kind, bits, lanes};
  }
  return {};
}

DecodeContext::DecodeContext(DecodeState &state,
                             const InstructionSyntax &syntax, Instruction &out)
    : state(state), parsed(syntax), instruction(out),
      takenModifiers(syntax.modifiers.size()),
      takenOperands(syntax.operands.size()) {
  out.line = syntax.line;
  out.list = static_cast<uint32_t>(state.program.lists.size());
  if (!syntax.guarded)
    return;
  out.guard.code = syntax.guard << 1;
  out.guardNegated = syntax.guardNegated;
}

void DecodeContext::fail(const std::string &text) const {
  throw Error(parsed.line, std::string(parsed.name) + ": " + text);
}

void DecodeContext::finish() {
  for (size_t i = 0; i < takenModifiers.size(); ++i)
    if (!takenModifiers[i])
      fail("modifier ." + std::string(parsed.modifiers[i]) +
           " is not supported here");
  for (size_t i = 0; i < takenOperands.size(); ++i)
    if (!takenOperands[i])
      fail("operand " + std::to_string(i + 1) + " is one too many");
  if (!instruction.run)
    fail("the emulator does not know this form of the instruction");
}

//===----------------------------------------------------------------------===//
// Modifiers
//===----------------------------------------------------------------------===//

bool DecodeContext::take(std::string_view modifier) {
  return !takeOneOf({modifier}).empty();
}

std::string_view
DecodeContext::takeOneOf(std::initializer_list<std::string_view> choices) {
  for (size_t i = 0; i < takenModifiers.size(); ++i) {
    std::string_view modifier = parsed.modifiers[i];
    if (takenModifiers[i] ||
        std::find(choices.begin(), choices.end(), modifier) == choices.end())
      continue;
    takenModifiers[i] = true;
    return modifier;
  }
  return {};
}

std::string_view
DecodeContext::needOneOf(std::initializer_list<std::string_view> choices) {
  std::string_view found = takeOneOf(choices);
  if (!found.empty())
    return found;
  std::string text;
  for (std::string_view choice : choices)
    text += (text.empty() ? "." : ", .") + std::string(choice);
  fail("needs one of the modifiers " + text);
}

Type DecodeContext::takeType() {
  for (size_t i = 0; i < takenModifiers.size(); ++i) {
    if (takenModifiers[i])
      continue;
    Type type = parseType(parsed.modifiers[i]);
    if (type.kind == Type::None)
      continue;
    takenModifiers[i] = true;
    return type;
  }
  fail("needs a type");
}

void DecodeContext::takeCacheHints() {
  while (!takeOneOf({"ca", "cg", "cs", "cv", "lu", "wb", "wt", "nc",
                     "L1::evict_normal", "L1::evict_unchanged",
                     "L1::evict_first", "L1::evict_last", "L1::no_allocate",
                     "L2::evict_first", "L2::evict_last", "L2::evict_normal",
                     "L2::64B", "L2::128B", "L2::256B"})
              .empty()) {
  }
}

uint8_t DecodeContext::takeMemoryOrder() {
  std::string_view order = takeOneOf(
      {"weak", "relaxed", "acquire", "release", "acq_rel", "volatile", "mmio"});
  std::string_view scope = takeOneOf({"cta", "cluster", "gpu", "sys"});
  uint8_t bits = order == "relaxed" || order == "volatile" || order == "mmio"
                     ? kRelaxed
                 : order == "acquire" ? kRelaxed | kAcquire
                 : order == "release" ? kRelaxed | kRelease
                 : order == "acq_rel" ? kRelaxed | kAcquire | kRelease
                                      : kWeak;
  if (order == "volatile" || order == "mmio" || scope == "sys")
    bits |= kScopeSys;
  if (scope == "cluster")
    bits |= kScopeCluster;
  if (scope == "gpu")
    bits |= kScopeGpu;
  instruction.order = bits;
  return bits;
}

//===----------------------------------------------------------------------===//
// Operands
//===----------------------------------------------------------------------===//

void DecodeContext::needOperands(size_t least, size_t most) {
  if (operandCount() < least || operandCount() > most)
    fail("takes " + std::to_string(least) +
         (most > least ? " to " + std::to_string(most) : std::string()) +
         " operands, but has " + std::to_string(operandCount()));
}

const OperandSyntax &DecodeContext::operand(size_t index) const {
  if (index >= operandCount())
    fail("operand " + std::to_string(index + 1) + " is missing");
  takenOperands[index] = true;
  return parsed.operands[index];
}

uint32_t DecodeContext::registerBits(const OperandSyntax &syntax) const {
  return syntax.kind == OperandSyntax::Register
             ? state.entry.registers[syntax.id].bits
             : 0;
}

/// Bytes of a lane; 0 for a predicate.
uint8_t DecodeContext::bytesOf(const OperandSyntax &syntax,
                               uint32_t bits) const {
  uint32_t actual = registerBits(syntax);
  return static_cast<uint8_t>((actual ? actual : bits) / 8);
}

Operand DecodeContext::registerOperand(const OperandSyntax &syntax,
                                       uint32_t bits, Width width,
                                       bool written) {
  uint32_t actual = registerBits(syntax);
  if (actual == 0)
    fail(written ? "writes to something that is no register"
                 : "needs a register here");
  if (actual != bits && (width == Exact || actual < bits))
    fail("register " + state.entry.registers[syntax.id].name + " has " +
         std::to_string(actual) + " bits, where " + std::to_string(bits) +
         " are needed");
  return {syntax.id << 1};
}

Operand DecodeContext::destination(const OperandSyntax &syntax, uint32_t bits,
                                   Width width) {
  if (syntax.kind == OperandSyntax::Sink)
    return {};
  return registerOperand(syntax, bits, width, true);
}

Operand DecodeContext::constant(uint64_t value, uint32_t bits) {
  if (bits < 64)
    value &= (uint64_t(1) << bits) - 1;
  auto [found, isNew] = state.constants.insert({{value, bits}, Operand()});
  if (!isNew)
    return found->second;
  std::vector<uint8_t> &pool = state.program.constants;
  auto offset = static_cast<uint32_t>(pool.size());
  if (bits == 1) {
    uint32_t word = value ? kAllLanes : 0;
    pool.resize(offset + 64);
    std::memcpy(pool.data() + offset, &word, sizeof(word));
  } else {
    uint32_t bytes = bits / 8;
    pool.resize(offset + std::max<uint32_t>(64, bytes * kLanes));
    for (uint32_t lane = 0; lane < kLanes; ++lane)
      std::memcpy(pool.data() + offset + size_t(lane) * bytes, &value, bytes);
  }
  return found->second = {offset | 1};
}

const SymbolValue &DecodeContext::symbol(std::string_view name) const {
  auto found = state.symbols.find(name);
  if (found == state.symbols.end())
    fail("\"" + std::string(name) + "\" is neither a register nor a variable");
  return found->second;
}

Operand DecodeContext::source(const OperandSyntax &syntax, uint32_t bits,
                              Width width) {
  if (syntax.negated)
    fail("a negated predicate does not belong here");
  switch (syntax.kind) {
  case OperandSyntax::Register:
    if (syntax.second >= 0)
      fail("a pair of registers does not belong here");
    return registerOperand(syntax, bits, width, false);
  case OperandSyntax::Integer:
    return constant(syntax.value, bits);
  case OperandSyntax::Float32:
    if (bits != 32)
      fail("a 32-bit float where " + std::to_string(bits) + " bits are needed");
    return constant(syntax.value, bits);
  case OperandSyntax::Float64:
    if (bits != 64)
      fail("a 64-bit float where " + std::to_string(bits) + " bits are needed");
    return constant(syntax.value, bits);
  case OperandSyntax::Symbol:
    return constant(symbol(syntax.name).value + syntax.value, bits);
  case OperandSyntax::Special:
    return special(syntax);
  default:
    fail("an operand of a kind that does not belong here");
  }
}

void DecodeContext::d(size_t index, uint32_t bits, Width width) {
  const OperandSyntax &syntax = operand(index);
  instruction.d = destination(syntax, bits, width);
  instruction.widths[0] = bytesOf(syntax, bits);
}

void DecodeContext::e(size_t index, uint32_t bits, Width width) {
  const OperandSyntax &syntax = operand(index);
  instruction.e = destination(syntax, bits, width);
  instruction.widths[1] = bytesOf(syntax, bits);
}

void DecodeContext::pairSecond(size_t index, uint32_t bits) {
  const OperandSyntax &syntax = operand(index);
  if (syntax.second < 0)
    return;
  auto id = static_cast<RegisterId>(syntax.second);
  if (state.entry.registers[id].bits != bits)
    fail("the second register of the pair has the wrong size");
  instruction.e.code = id << 1;
  instruction.widths[1] = bits / 8;
}

void DecodeContext::a(size_t index, uint32_t bits, Width width) {
  const OperandSyntax &syntax = operand(index);
  instruction.a = source(syntax, bits, width);
  instruction.widths[2] = bytesOf(syntax, bits);
}

void DecodeContext::b(size_t index, uint32_t bits, Width width) {
  const OperandSyntax &syntax = operand(index);
  instruction.b = source(syntax, bits, width);
  instruction.widths[3] = bytesOf(syntax, bits);
}

void DecodeContext::c(size_t index, uint32_t bits, Width width) {
  const OperandSyntax &syntax = operand(index);
  instruction.c = source(syntax, bits, width);
  instruction.widths[4] = bytesOf(syntax, bits);
}

bool DecodeContext::isConstant(size_t index) const {
  return index < operandCount() &&
         parsed.operands[index].kind == OperandSyntax::Integer;
}

int64_t DecodeContext::integer(size_t index) {
  const OperandSyntax &syntax = operand(index);
  if (syntax.kind != OperandSyntax::Integer)
    fail("operand " + std::to_string(index + 1) + " has to be a constant");
  return static_cast<int64_t>(syntax.value);
}

void DecodeContext::append(Operand operand, uint8_t role) {
  state.program.lists.push_back(operand);
  state.listRoles.push_back(role);
  ++instruction.count;
}

void DecodeContext::appendVector(size_t index, uint32_t bits, uint8_t role,
                                 Width width) {
  const OperandSyntax &vector = operand(index);
  if (vector.kind != OperandSyntax::Vector)
    fail("operand " + std::to_string(index + 1) + " has to be a vector");
  for (const OperandSyntax &element : vector.elements)
    append(role & 1 ? destination(element, bits, width)
                    : source(element, bits, width),
           role);
}

void DecodeContext::keepListApart() {
  for (uint32_t i = 0; i < instruction.count; ++i) {
    Operand operand = state.program.lists[instruction.list + i];
    if (operand.exists() && !operand.isConstant())
      state.exclusive[operand.code >> 1] = true;
  }
}

const SymbolValue *DecodeContext::address(size_t index, Operand &base,
                                          uint8_t &width, int64_t &offset) {
  const OperandSyntax &syntax = operand(index);
  if (syntax.kind != OperandSyntax::Address)
    fail("operand " + std::to_string(index + 1) + " has to be an address");
  offset = static_cast<int64_t>(syntax.value);
  width = 8;
  if (syntax.base == OperandSyntax::Register) {
    uint32_t bits = state.entry.registers[syntax.id].bits;
    if (bits != 32 && bits != 64)
      fail("an address has 32 or 64 bits");
    base.code = syntax.id << 1;
    width = bits / 8;
    return nullptr;
  }
  if (syntax.base == OperandSyntax::Symbol) {
    const SymbolValue &value = symbol(syntax.name);
    base = constant(value.value, 64);
    return &value;
  }
  base = constant(0, 64);
  return nullptr;
}

const SymbolValue *DecodeContext::address(size_t index) {
  return address(index, instruction.a, instruction.widths[2],
                 instruction.immediate);
}

void DecodeContext::secondAddress(size_t index) {
  address(index, instruction.b, instruction.widths[3],
          instruction.secondImmediate);
}

uint32_t DecodeContext::label(size_t index) {
  const OperandSyntax &syntax = operand(index);
  if (syntax.kind != OperandSyntax::Label)
    fail("needs a label that is in this entry");
  return syntax.id;
}

Operand DecodeContext::special(const OperandSyntax &syntax) {
  struct Row {
    std::string_view name;
    Special special;
  };
  static constexpr Row kRows[] = {
      {"%tid.x", Special::TidX},
      {"%tid.y", Special::TidY},
      {"%tid.z", Special::TidZ},
      {"%ntid.x", Special::NTidX},
      {"%ntid.y", Special::NTidY},
      {"%ntid.z", Special::NTidZ},
      {"%ctaid.x", Special::CtaIdX},
      {"%ctaid.y", Special::CtaIdY},
      {"%ctaid.z", Special::CtaIdZ},
      {"%nctaid.x", Special::NCtaIdX},
      {"%nctaid.y", Special::NCtaIdY},
      {"%nctaid.z", Special::NCtaIdZ},
      {"%laneid", Special::LaneId},
      {"%warpid", Special::WarpId},
      {"%nwarpid", Special::NWarpId},
      {"%cluster_ctaid.x", Special::ClusterCtaIdX},
      {"%cluster_ctaid.y", Special::ClusterCtaIdY},
      {"%cluster_ctaid.z", Special::ClusterCtaIdZ},
      {"%cluster_nctaid.x", Special::ClusterNCtaIdX},
      {"%cluster_nctaid.y", Special::ClusterNCtaIdY},
      {"%cluster_nctaid.z", Special::ClusterNCtaIdZ},
      {"%cluster_ctarank", Special::ClusterCtaRank},
      {"%cluster_nctarank", Special::ClusterNCtaRank},
      {"%clusterid.x", Special::ClusterIdX},
      {"%clusterid.y", Special::ClusterIdY},
      {"%clusterid.z", Special::ClusterIdZ},
      {"%nclusterid.x", Special::NClusterIdX},
      {"%nclusterid.y", Special::NClusterIdY},
      {"%nclusterid.z", Special::NClusterIdZ},
      {"%is_explicit_cluster", Special::IsExplicitCluster},
      {"%lanemask_eq", Special::LaneMaskEq},
      {"%lanemask_le", Special::LaneMaskLe},
      {"%lanemask_lt", Special::LaneMaskLt},
      {"%lanemask_ge", Special::LaneMaskGe},
      {"%lanemask_gt", Special::LaneMaskGt},
      {"%dynamic_smem_size", Special::DynamicSmemSize},
      {"%total_smem_size", Special::TotalSmemSize},
      {"%smid", Special::SmId},
      {"%nsmid", Special::NSmId},
  };
  for (const Row &row : kRows) {
    if (row.name != syntax.name)
      continue;
    auto [found, isNew] = state.specials.insert({row.name, 0});
    if (isNew) {
      bool predicate = row.special == Special::IsExplicitCluster;
      found->second = static_cast<RegisterId>(state.entry.registers.size());
      state.entry.registers.push_back(
          {std::string(row.name), predicate ? 1u : 32u});
      state.exclusive.push_back(true);
      state.program.specials.emplace_back(row.special,
                                          Operand{found->second << 1});
    }
    return {found->second << 1};
  }
  fail("special register " + std::string(syntax.name) + " is not known");
}
