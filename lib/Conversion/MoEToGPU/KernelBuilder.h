//===- KernelBuilder.h - writes SIMT kernels like pseudo code ---*- C++ -*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A `KernelBuilder` creates one `llvm.func` kernel and the launch of it. The
// body is arith, scf, llvm and nvvm on scalars and pointers. `Val` gives the
// operators of C to values: integers are signed in comparisons and unsigned in
// division (indices are never negative), floats compare ordered.
//
// Every address is a base pointer with one element offset, of 64 bits unless
// the extents prove that 31 are enough.
//
//===----------------------------------------------------------------------===//

#ifndef MOE_LIB_CONVERSION_MOETOGPU_KERNELBUILDER_H
#define MOE_LIB_CONVERSION_MOETOGPU_KERNELBUILDER_H

#include "moe/MoE/MoEDialect.h"
#include "moe/Target/Target.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace mlir::moe {

class KernelBuilder;

/// A value of the kernel under construction.
class Val {
public:
  Val() = default;
  Val(KernelBuilder *kernel, Value value) : kernel(kernel), value(value) {}
  operator Value() const { return value; }
  Type type() const { return value.getType(); }
  bool isFloat() const { return isa<FloatType>(type()); }

  KernelBuilder *kernel = nullptr;
  Value value;
};

/// The second operand of an operator: a value, or a number of the type of the
/// first one.
class Operand {
public:
  Operand(Val value) : value(value) {}
  Operand(int number) : number(number) {}
  Operand(int64_t number) : number(static_cast<double>(number)) {}
  Operand(double number) : number(number) {}
  /// The operand as a value of the type of `like`, or of `type`.
  Val as(Val like) const { return as(*like.kernel, like.type()); }
  Val as(KernelBuilder &kernel, Type type) const;
  bool isNumber(double wanted) const {
    return !value.kernel && number == wanted;
  }

private:
  Val value;
  double number = 0;
};

Val operator+(Val a, Operand b);
Val operator-(Val a, Operand b);
Val operator*(Val a, Operand b);
Val operator/(Val a, Operand b);
Val operator%(Val a, Operand b);
Val operator&(Val a, Operand b);
Val operator|(Val a, Operand b);
Val operator^(Val a, Operand b);
Val operator<<(Val a, Operand b);
/// Logical shift.
Val operator>>(Val a, Operand b);
Val operator<(Val a, Operand b);
Val operator<=(Val a, Operand b);
Val operator>(Val a, Operand b);
Val operator>=(Val a, Operand b);
Val operator==(Val a, Operand b);
Val operator!=(Val a, Operand b);
/// Negation of an i1.
Val operator!(Val a);
Val operator-(Val a);
/// `0 <= a < b`.
Val isBelow(Val a, Operand b);
/// `condition ? a : b`.
Val select(Val condition, Val a, Operand b);
Val select(Val condition, double a, Val b);
Val min(Val a, Operand b);
Val max(Val a, Operand b);

/// Memory of one element type: a kernel argument or shared memory.
struct Buffer {
  Val pointer;
  Type element;
  /// Of a kernel argument: elements from one index of each dimension to the
  /// next, values of 64 bits. 0 where the product of inner extents is not known
  /// here, because one of them is dynamic.
  SmallVector<Operand, 3> strides = {};
  /// Every offset fits in 31 bits.
  bool isNarrow = false;

  int64_t elementBytes() const;
  /// The same memory without the outermost dimension, whose indices continue in
  /// the next one.
  Buffer inner() const;
};

/// An extent that is known when the kernel is launched: its i32 value in the
/// kernel and its symbol in grid rules.
struct Extent {
  Val value;
  AffineExpr symbol;
};

/// Where the launches of one op go, and what its kernels share.
struct LaunchSite {
  Operation *op;
  OpBuilder host; // before the op
  gpu::GPUModuleOp module;
  const Target &target;
  std::string prefix;   // "<func>_"
  int64_t &kernelCount; // kernels of the function so far

  Location loc() const { return op->getLoc(); }
  /// The extent of a host memref, an index.
  Value extent(Value memref, int64_t dim);
  Value constant(int64_t value);
  /// `rule` with its symbols bound to `symbols`, an index.
  Value apply(AffineExpr rule, ValueRange symbols);
  /// Workspace of `rule` elements, addressed by a host memref of rank 1.
  Value workspace(Type element, AffineExpr rule, ValueRange symbols);
  /// A name for the next kernel that no symbol of the module has.
  std::string kernelName(StringRef piece);
};

class KernelBuilder {
public:
  /// Starts kernel `<func>_<n>_<piece>` of `threads` threads in one dimension.
  KernelBuilder(LaunchSite &site, StringRef piece, int64_t threads);

  //===--- parameters
  //------------------------------------------------------===//
  /// The data of a host memref. Strides that only a call tells become i64
  /// parameters.
  Buffer buffer(StringRef name, Value memref);
  /// An extent of a host memref, as an i32 parameter.
  Extent extent(StringRef name, Value memref, int64_t dim);
  /// The same for grid rules only, without a parameter.
  AffineExpr gridExtent(StringRef name, Value memref, int64_t dim);

  /// Ends the kernel and launches it; grid rules are over the symbols of the
  /// extents. Absent rules are 1.
  void launch(ArrayRef<AffineExpr> grid);
  AffineExpr rule(int64_t value);

  //===--- constants and ids
  //-----------------------------------------------===//
  Val number(Type type, double value);
  Val i32(int64_t value);
  Val i64(int64_t value);
  Val f32(double value);
  Val f64(double value);
  Val boolean(bool value);
  Type i32Type() { return b.getI32Type(); }
  Type f32Type() { return b.getF32Type(); }
  Val thread();
  Val block(int dim = 0);
  Val gridSize();
  /// Thread number among those of all blocks along `dim`.
  Val globalThread(int dim = 0);
  /// Thread number in its warp and warp number in the block.
  Val lane();
  Val warp();

  //===--- conversions and math
  //--------------------------------------------===//
  Val extend(Val v);             // i32 -> i64, signed
  Val truncate(Val v);           // i64 -> i32
  Val toF64(Val v);              // f32 -> f64
  Val toF32(Val v);              // f64 -> f32, nearest even
  Val toFloat(Val v, Type type); // signed integer to float
  Val bits(Val v);               // f32 -> i32
  Val fromBits(Val v);           // i32 -> f32
  Val fma(Val a, Operand x, Operand c);
  Val sqrt(Val v);
  Val abs(Val v);
  /// True where v is a NaN.
  Val isNaN(Val v);
  Val popcount(Val v);

  //===--- memory
  //----------------------------------------------------------===//
  /// `row * columns + column` in 64 bits.
  Val offset(Val row, Operand columns, Val column);
  /// The offset of the element at `indices`, one for each dimension.
  Val at(const Buffer &buffer, ArrayRef<Val> indices);
  /// Loads an element; bf16 and f16 come back as f32.
  Val load(Buffer buffer, Val offset);
  /// `count` neighbours; their address is a multiple of `count` elements.
  SmallVector<Val> loadVector(Buffer buffer, Val offset, int64_t count);
  /// Stores an element; f32 is rounded to nearest even.
  void store(Buffer buffer, Val offset, Operand value);
  void storeVector(Buffer buffer, Val offset, ArrayRef<Val> values);
  /// Static shared memory of the block.
  Buffer shared(StringRef name, Type element, int64_t count);
  /// Raises the i32 at `offset` to at least `value`.
  void atomicMax(Buffer buffer, Val offset, Val value);

  //===--- control flow
  //----------------------------------------------------===//
  void ifThen(Val condition, function_ref<void()> then);
  SmallVector<Val> ifElse(Val condition, function_ref<SmallVector<Val>()> then,
                          function_ref<SmallVector<Val>()> otherwise);
  /// A number `from` is an i32.
  void forLoop(Operand from, Operand to, Operand step,
               function_ref<void(Val)> body);
  SmallVector<Val>
  forLoop(Operand from, Operand to, Operand step, ArrayRef<Val> inits,
          function_ref<SmallVector<Val>(Val, ArrayRef<Val>)> body);
  /// Runs `body` on the carried values as long as `condition` holds.
  SmallVector<Val>
  whileLoop(ArrayRef<Val> inits, function_ref<Val(ArrayRef<Val>)> condition,
            function_ref<SmallVector<Val>(ArrayRef<Val>)> body);

  //===--- threads together
  //------------------------------------------------===//
  void barrier();
  void warpBarrier();
  /// The value of lane `lane ^ mask` (of lane `lane - delta`, of lane
  /// `source`).
  Val shuffleXor(Val v, int64_t mask);
  Val shuffleUp(Val v, int64_t delta);
  Val shuffleFrom(Val v, Val source);
  /// Lanes that hold the same i32.
  Val matchAny(Val v);
  /// Combines the values of a warp; every lane gets the result.
  Val warpReduce(Val v, function_ref<Val(Val, Val)> combine);
  Val warpSum(Val v);
  Val warpMax(Val v);

  Val wrap(Value v) { return Val(this, v); }
  int64_t threadCount() const { return threads; }
  ImplicitLocOpBuilder b;
  const Target &target() const { return site.target; }

private:
  Val addParameter(Type type, Value host, std::string description);
  void addStrides(StringRef name, Value memref, Buffer &buffer);
  Value address(Buffer buffer, Val offset);
  Val shuffle(Val v, Val offset, int64_t clamp, int kind);
  void yield(ArrayRef<Val> values);

  LaunchSite &site;
  LLVM::LLVMFuncOp func;
  int64_t threads;
  SmallVector<Type> parameterTypes;
  SmallVector<Value> hostOperands;
  SmallVector<std::string> parameterTexts;
  SmallVector<std::string> extentNames;
  SmallVector<Value> extentValues; // host, index
};

/// The largest vector of neighbours, in elements, that fits 16 bytes of the
/// widest elements of `memrefs`, divides `columns` (1 if that is dynamic) and
/// is aligned in all of them wherever it starts at a multiple of itself in a
/// row.
int64_t vectorWidth(ArrayRef<Value> memrefs, int64_t columns);

} // namespace mlir::moe

#endif // MOE_LIB_CONVERSION_MOETOGPU_KERNELBUILDER_H
