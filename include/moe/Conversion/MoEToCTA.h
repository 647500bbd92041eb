//===- MoEToCTA.h - Builds one GEMM kernel in the cta dialect ---*- C++ -*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A grouped (or dense) GEMM of a MoE layer, given as plain data, becomes one
// `llvm.func` kernel whose body is in the cta dialect. The description is
// independent of the moe ops, so that tests and tools can build kernels too.
//
//===----------------------------------------------------------------------===//

#ifndef MOE_CONVERSION_MOETOCTA_H
#define MOE_CONVERSION_MOETOCTA_H

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallVector.h"
#include <cstdint>
#include <optional>
#include <string>

namespace mlir::cta {

enum class GemmElement { BF16, F16, F32 };
enum class GemmFamily { MmaSync, Wgmma };
/// Which row of `a` feeds flat row r: r / top_k (Token) or r itself (Flat).
enum class GemmRowSource { Token, Flat };
/// Whether rows of `a` or `c` sit at their flat row or at their sorted place.
enum class GemmRowOrder { Flat, Sorted };
enum class GemmWeight { None, Input, Output };
/// Gate rows then up rows of `b`, or even gate rows and odd up rows.
enum class GemmGateLayout { Halves, Interleaved };

enum class GemmActivation {
  None,
  // One column in, one column out.
  Silu,
  Gelu, // the tanh form
  Relu2,
  // A gate and an up column in, one column out.
  SwiGLU,
  SwiGLUOAI,
  SwiGLUStep,
  GeGLU, // the tanh form
  SiTU,
};

inline bool isGated(GemmActivation kind) {
  return kind >= GemmActivation::SwiGLU;
}

struct GemmActivationSpec {
  GemmActivation kind = GemmActivation::None;
  GemmGateLayout layout = GemmGateLayout::Halves;
  std::optional<float> limit; // of the SwiGLU kinds; absent: no clamp
  float alpha = 1.702f;       // SwiGLUOAI
  float beta = 4.0f;          // SiTU
  float linearBeta = 25.0f;   // SiTU
};

/// Where rows lie in memory; pitches are in elements.
struct GemmMemory {
  int64_t pitch = 0;           // from one row to the next, 0: no gap
  int64_t expertPitch = 0;     // of b, from one expert to the next, 0: no gap
  int64_t alignmentBytes = 16; // of the first row: a power of two
};

/// One kernel: c[r, :] = epilogue(a[src(r), :] . b[expert(r)]).
struct GemmKernelSpec {
  std::string name;
  std::string arch = "sm_80";
  GemmFamily family = GemmFamily::MmaSync;
  GemmElement element = GemmElement::BF16; // of a and b
  GemmElement output = GemmElement::BF16;
  int64_t experts = 1;
  int64_t n = 0; // rows of b per expert
  int64_t k = 0;
  int64_t block = 16; // rows of a tile
  /// Rows of a block of the row table, 0 for `block`: a multiple of `block`, or
  /// less than 16 for a tile of 16 that holds one such block.
  int64_t tableBlock = 0;
  int64_t tileCols = 0; // columns of c a tile; 0 takes the family's default
  int64_t stages = 0;   // 0: as many as fit, at most the family's default
  /// Dynamic shared memory one block may use and one multiprocessor has.
  /// The defaults fit every supported chip; pass the target table's numbers.
  int64_t sharedLimit = 101376;
  int64_t sharedPerSM = 102400;
  /// What the system takes of each block.
  int64_t sharedReserved = 1024;

  GemmRowSource source = GemmRowSource::Flat;
  int64_t topK = 1;
  GemmRowOrder aOrder = GemmRowOrder::Flat;
  GemmRowOrder cOrder = GemmRowOrder::Flat;
  /// No row table: one expert over rows 0..R-1.
  bool dense = false;

  GemmMemory a, b, c, biasMemory;
  /// Bytes from a parameter to its first element, by GemmParam; absent: none.
  llvm::SmallDenseMap<int, int64_t> startBytes;
  /// The number of flat rows is in memory, not a parameter.
  bool rowsInMemory = false;

  std::optional<GemmElement> bias; // element type of bias[E, N]
  GemmActivationSpec activation;
  GemmWeight weight = GemmWeight::None;
};

/// A kernel parameter. The order in `GemmKernel::params` is the kernel's.
enum class GemmParam {
  A,          // ptr
  B,          // ptr [E, N, K]
  BMap,       // tensor map by value, over b
  SortedRows, // ptr i32 [P]
  TileExpert, // ptr i32 [P / block]
  Padded,     // ptr i32 [1]
  Bias,       // ptr [E, N]
  Weights,    // ptr f32, one per flat row
  C,          // ptr
  Rows,       // i32: R, the number of flat rows and the sentinel
  RowsBuffer, // ptr i32 [1]: the same in memory
};

/// What the host encodes for a BMap parameter: dimensions innermost first,
/// element strides all one, zero fill out of bounds.
struct GemmTensorMap {
  GemmElement element = GemmElement::BF16;
  SmallVector<int64_t, 5> dims;
  SmallVector<int64_t, 5> strideBytes; // of dims 1..rank-1
  SmallVector<int64_t, 5> box;
  int64_t swizzleBytes = 128;
  int64_t l2PromotionBytes = 256;
};

/// The kernel and what launching it takes. The grid is one-dimensional and
/// may have any size; `ctasPerSM` blocks per multiprocessor fill the chip, and
/// more than row tiles * `colTiles` blocks have nothing to do. Row tiles are
/// padded / block (P / block at most), or ceil(R / block) when dense.
struct GemmKernel {
  LLVM::LLVMFuncOp func;
  SmallVector<GemmParam> params;
  std::optional<GemmTensorMap> map;
  int64_t threads = 0;
  int64_t sharedBytes = 0;
  int64_t ctasPerSM = 1;
  int64_t colTiles = 0;
  int64_t tileCols = 0;
  int64_t stages = 0;
};

/// Checks the description; the error is emitted at `loc` and names the rule.
LogicalResult verifyGemmKernelSpec(Location loc, const GemmKernelSpec &spec);

/// Appends the kernel to `module`. On failure nothing has been added and an
/// error has been emitted at `loc`.
FailureOr<GemmKernel> buildGemmKernel(Location loc, gpu::GPUModuleOp module,
                                      const GemmKernelSpec &spec);

/// The dialects a caller has to load before it builds a kernel.
void registerGemmKernelDialects(DialectRegistry &registry);

} // namespace mlir::cta

#endif // MOE_CONVERSION_MOETOCTA_H
