//===- Lowering.h - what the instruction families share ---------*- C++ -*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MOE_LIB_CONVERSION_CTATONVVM_LOWERING_H
#define MOE_LIB_CONVERSION_CTATONVVM_LOWERING_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Transforms/DialectConversion.h"
#include "moe/CTA/CTADialect.h"

namespace mlir::cta {

/// Shorthand for the scalar code between instructions. Integers are i32 unless
/// a name says otherwise; addresses of global memory are formed in 64 bits.
class Emitter {
public:
  Emitter(OpBuilder &b, Location loc) : b(b), loc(loc) {}

  Value i32(int64_t value);
  Value i64(int64_t value);
  Value add(Value a, Value c);
  Value add(Value a, int64_t c) { return c ? add(a, like(a, c)) : a; }
  Value sub(Value a, Value c);
  Value sub(Value a, int64_t c) { return sub(a, like(a, c)); }
  Value mul(Value a, Value c);
  Value mul(Value a, int64_t c) { return c == 1 ? a : mul(a, like(a, c)); }
  Value udiv(Value a, Value c);
  Value urem(Value a, Value c);
  Value umin(Value a, Value c);
  Value umin(Value a, int64_t c) { return umin(a, like(a, c)); }
  Value bitAnd(Value a, int64_t c);
  Value bitXor(Value a, Value c);
  Value shl(Value a, int64_t bits);
  Value shr(Value a, int64_t bits);
  Value compare(arith::CmpIPredicate predicate, Value a, Value c);
  Value compare(arith::CmpIPredicate predicate, Value a, int64_t c) {
    return compare(predicate, a, like(a, c));
  }
  Value below(Value a, Value c) {
    return compare(arith::CmpIPredicate::ult, a, c);
  }
  Value below(Value a, int64_t c) { return below(a, like(a, c)); }
  Value select(Value condition, Value a, Value c);
  Value zext(Value a); // to i64

  Value threadId(); // of the block
  Value laneId();
  /// Warp index inside its warpgroup.
  Value warpInGroup();
  /// `value` of lane 0, visibly the same in the whole warp.
  Value broadcast(Value value);
  /// Warp index of the block, broadcast at the start of the kernel, where it
  /// costs nothing: loops around `op` see a uniform register.
  Value uniformWarp(Operation *op);
  Value shuffle(Value value, Value lane);
  void syncWarp();
  void syncBlock();

  Value offset(Value pointer, Value bytes);
  Value offset(Value pointer, int64_t bytes);
  Value load(Type type, Value pointer, unsigned alignment);
  void store(Value value, Value pointer, unsigned alignment);

  Value extract(Value aggregate, int64_t index);
  Value pack(Type structType, ValueRange values);
  SmallVector<Value> unpack(Value aggregate);
  /// vector<2xT> of two f32 values, rounded once to T.
  Value roundPair(Value low, Value high, Type element);

  /// Chunk `chunk` of tile row `row` as a byte offset, swizzled.
  Value swizzled(Value row, Value chunk);
  Value fullBarrier(RingType type, Value ring, Value stage);
  Value emptyBarrier(RingType type, Value ring, Value stage);
  Value stageAddress(RingType type, Value ring, Value stage);

  OpBuilder &b;
  Location loc;

private:
  Value like(Value value, int64_t constant);
};

/// Column, relative to the tile, of the first value that this thread holds of a
/// part; its blocks are 8 columns apart.
Value threadColumn(Emitter &e, FragmentType type);

/// The flat row at `place` of a row table (`place` itself without one), and
/// whether it is below `limit` and its place before `end`, if there is one.
struct FlatRow {
  Value row, valid;
};
FlatRow loadFlatRow(Emitter &e, Value place, Value table, Value end,
                    Value limit);

/// Turns roles and tile loops into scf, in place. Their regions hold nothing
/// that needs a type conversion, so this comes before the conversion.
void lowerControl(Operation *root);

// One function for each file of the family.
void populateRingPatterns(const TypeConverter &, RewritePatternSet &);
void populateRolePatterns(const TypeConverter &, RewritePatternSet &);
void populateLoadPatterns(const TypeConverter &, RewritePatternSet &);
void populateMmaSyncPatterns(const TypeConverter &, RewritePatternSet &);
void populateWgmmaPatterns(const TypeConverter &, RewritePatternSet &);
void populateEpiloguePatterns(const TypeConverter &, RewritePatternSet &);
void populateStorePatterns(const TypeConverter &, RewritePatternSet &);

} // namespace mlir::cta

#endif // MOE_LIB_CONVERSION_CTATONVVM_LOWERING_H
