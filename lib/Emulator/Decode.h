//===- Decode.h - syntax to instructions -*- C++ -*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// How an instruction is added: write a function that takes a DecodeContext,
// reads the modifiers and operands that it knows and sets `out().run` to a
// handler, and enter it in the table of its family. Modifiers and operands that
// nobody took are errors, so nothing is ever ignored.
//
//===----------------------------------------------------------------------===//

#ifndef MOE_LIB_EMULATOR_DECODE_H
#define MOE_LIB_EMULATOR_DECODE_H

#include "Program.h"
#include "Syntax.h"

#include <initializer_list>
#include <map>
#include <string_view>

namespace mlir::moe::emulator {

/// What a modifier such as .s32 or .bf16x2 says.
struct Type {
  enum Kind : uint8_t {
    None,
    Bits,
    Signed,
    Unsigned,
    Float,
    BFloat,
    Predicate,
    E4M3,
    E5M2,
    TF32
  };
  Kind kind = None;
  uint8_t bits = 0;
  /// 2 for bf16x2: `bits` of each.
  uint8_t lanes = 1;

  /// Of a register.
  uint32_t width() const { return uint32_t(bits) * lanes; }
  bool isInteger() const {
    return kind == Bits || kind == Signed || kind == Unsigned;
  }
  bool isSigned() const { return kind == Signed; }
  bool isFloat() const { return kind >= Float && kind != Predicate; }
  bool is(Kind other, uint32_t size) const {
    return kind == other && bits == size && lanes == 1;
  }
};

/// Kind None for what is no type.
Type parseType(std::string_view modifier);

/// Which decoder of an opcode is meant: `add` is one for integers and one for
/// floats. The last type among the modifiers decides.
enum class TypeClass : uint8_t { Any, Integer, Float, Predicate };

class DecodeContext;
using DecodeFunction = void (*)(DecodeContext &);

class InstructionTable {
public:
  void add(std::string_view opcode, DecodeFunction decode,
           TypeClass types = TypeClass::Any) {
    rows[{opcode, types}] = decode;
  }
  /// Null when there is none.
  DecodeFunction find(const InstructionSyntax &syntax) const;

  /// All families.
  static const InstructionTable &get();

private:
  std::map<std::pair<std::string_view, TypeClass>, DecodeFunction> rows;
};

void addAsyncCopyInstructions(InstructionTable &table);
void addAtomicInstructions(InstructionTable &table);
void addBarrierInstructions(InstructionTable &table);
void addBitFieldInstructions(InstructionTable &table);
void addBitInstructions(InstructionTable &table);
void addCarryInstructions(InstructionTable &table);
void addCompareInstructions(InstructionTable &table);
void addControlInstructions(InstructionTable &table);
void addConvertInstructions(InstructionTable &table);
void addFloatInstructions(InstructionTable &table);
void addFloatUnaryInstructions(InstructionTable &table);
void addIntegerInstructions(InstructionTable &table);
void addIntegerProductInstructions(InstructionTable &table);
void addMBarrierInstructions(InstructionTable &table);
void addMatrixLoadInstructions(InstructionTable &table);
void addMemoryInstructions(InstructionTable &table);
void addMmaSyncInstructions(InstructionTable &table);
void addMoveInstructions(InstructionTable &table);
void addShuffleInstructions(InstructionTable &table);
void addVoteInstructions(InstructionTable &table);
void addWgmmaInstructions(InstructionTable &table);

/// What a variable's name stands for.
struct SymbolValue {
  StateSpace space;
  /// Offset in shared or local memory or the parameter block; the host address
  /// of a global variable.
  uint64_t value;
  uint64_t bytes;
};

/// What decoding all instructions of an entry shares.
struct DecodeState {
  Program &program;
  EntrySyntax &entry;
  std::map<std::string_view, SymbolValue> symbols;
  /// For each element of Program::lists: 1 written, 2 read, 3 both.
  std::vector<uint8_t> listRoles;
  /// By RegisterId: never shares its place with another one.
  std::vector<bool> exclusive;
  std::map<std::pair<uint64_t, uint32_t>, Operand> constants;
  std::map<std::string_view, RegisterId> specials;
};

/// One instruction while it is decoded.
class DecodeContext {
public:
  DecodeContext(DecodeState &state, const InstructionSyntax &syntax,
                Instruction &out);

  Instruction &out() { return instruction; }
  const InstructionSyntax &syntax() const { return parsed; }
  bool checks() const { return state.program.checks; }
  /// Of a launch with checks, or of one without.
  void run(Handler plain, Handler checked) {
    instruction.run = checks() ? checked : plain;
  }
  void run(Handler handler) { instruction.run = handler; }

  //===--- Modifiers ------------------------------------------------------===//

  /// Takes one modifier where it is there.
  bool take(std::string_view modifier);
  /// Takes the first of these that is there; empty where none is.
  std::string_view takeOneOf(std::initializer_list<std::string_view> choices);
  /// As above, an error that names the choices where none is there.
  std::string_view needOneOf(std::initializer_list<std::string_view> choices);
  /// Takes the next modifier that nobody took and that is a type.
  Type takeType();
  /// Takes any modifiers that only tell caches what to keep.
  void takeCacheHints();
  /// Takes .weak, .relaxed, .acquire, .release, .acq_rel, .volatile, .mmio and
  /// a scope; `MemoryOrder` bits.
  uint8_t takeMemoryOrder();

  //===--- Operands -------------------------------------------------------===//

  size_t operandCount() const { return parsed.operands.size(); }
  void needOperands(size_t least, size_t most);
  void needOperands(size_t count) { needOperands(count, count); }
  const OperandSyntax &operand(size_t index) const;

  /// Set a field of the instruction. Registers must have `bits` bits, or with
  /// `OrWider` at least as many.
  enum Width { Exact, OrWider };
  void d(size_t index, uint32_t bits, Width width = Exact);
  void e(size_t index, uint32_t bits, Width width = Exact);
  void a(size_t index, uint32_t bits, Width width = Exact);
  void b(size_t index, uint32_t bits, Width width = Exact);
  void c(size_t index, uint32_t bits, Width width = Exact);
  /// The second register of `%r1|%p1` into e.
  void pairSecond(size_t index, uint32_t bits);

  /// A constant, or a register of `bits` bits.
  Operand source(const OperandSyntax &syntax, uint32_t bits,
                 Width width = Exact);
  Operand destination(const OperandSyntax &syntax, uint32_t bits,
                      Width width = Exact);
  /// A value that is the same for all lanes, `bits` wide.
  Operand constant(uint64_t value, uint32_t bits);
  /// The predicate that carries of sums go through.
  Operand carry();
  bool isConstant(size_t index) const;
  /// The value of an integer constant; an error for anything else.
  int64_t integer(size_t index);
  /// Bits of the register that an operand names, 0 for none.
  uint32_t registerBits(const OperandSyntax &syntax) const;

  /// Appends operands to the instruction's list. `role`: 1 written, 2 read, 3
  /// both.
  void append(Operand operand, uint8_t role);
  void appendVector(size_t index, uint32_t bits, uint8_t role,
                    Width width = Exact);

  /// An address: its register (or a constant) into a, 32 or 64 bits wide, its
  /// offset into `immediate`. Returns the variable it names, if any.
  const SymbolValue *address(size_t index);
  /// A second one, into b and `secondImmediate`.
  void secondAddress(size_t index);
  /// Label of a branch.
  uint32_t label(size_t index);
  /// The registers that the list holds never share their place.
  void keepListApart();

  [[noreturn]] void fail(const std::string &text) const;
  /// Nothing may be left over.
  void finish();

private:
  Operand registerOperand(const OperandSyntax &syntax, uint32_t bits,
                          Width width, bool written);
  Operand special(const OperandSyntax &syntax);
  const SymbolValue *address(size_t index, Operand &base, uint8_t &width,
                             int64_t &offset);
  const SymbolValue &symbol(std::string_view name) const;
  uint8_t bytesOf(const OperandSyntax &syntax, uint32_t bits) const;

  DecodeState &state;
  const InstructionSyntax &parsed;
  Instruction &instruction;
  std::vector<bool> takenModifiers;
  mutable std::vector<bool> takenOperands;
};

/// Bits of `takeMemoryOrder`.
enum MemoryOrder : uint8_t {
  kWeak = 0,
  kRelaxed = 1,
  kAcquire = 2,
  kRelease = 4,
  kScopeCluster = 8,
  kScopeGpu = 16,
  kScopeSys = 32,
};

/// Decodes an entry. Throws Error.
void decodeEntry(const ModuleSyntax &module, EntrySyntax &entry,
                 const std::map<std::string_view, SymbolValue> &globals,
                 Program &program);

/// Fills in where diverging lanes meet again.
void findMeetingPoints(Program &program);
/// Gives each register its place, and finds those that may be read undefined.
void placeRegisters(DecodeState &state);

/// Basic blocks: [begin, end) and the blocks that may follow.
struct BasicBlock {
  uint32_t begin, end;
  std::vector<uint32_t> next;
};
std::vector<BasicBlock> basicBlocks(const Program &program);

} // namespace mlir::moe::emulator

#endif // MOE_LIB_EMULATOR_DECODE_H
