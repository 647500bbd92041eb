//===- RandomInputs.h - inputs that every machine makes alike -*- C++ -*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// Element `index` of argument `argument` under `seed` is a function of these
// three numbers alone:
//
//   bits(seed, argument, index) = mix(mix(mix(seed) + argument) + index)
//
// in 64-bit arithmetic without sign, where mix(z) is
//
//   z += 0x9e3779b97f4a7c15
//   z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9
//   z = (z ^ (z >> 27)) * 0x94d049bb133111eb
//   mix = z ^ (z >> 31)
//
// python/moe/random_inputs.py makes the same data with NumPy, bit for bit.
//
//===----------------------------------------------------------------------===//

#ifndef MOE_DATA_RANDOMINPUTS_H
#define MOE_DATA_RANDOMINPUTS_H

#include "moe/Data/Elements.h"

namespace mlir::moe {

/// What an argument means to the op that consumes it; decides its values.
/// `bits(i)` is the hash of flat index i, `bound` the number of the role.
enum class InputRole : uint8_t {
  /// f32 `(bits(i) >> 40) * 2^-24 - 0.5`, uniform in [-0.5, 0.5).
  Uniform,
  /// As Uniform, times f32(1 / sqrt(bound)); bound is the fan-in.
  Weight,
  /// [T, k]: `bits(i) % bound`. Where k <= bound the entries of a row are
  /// distinct: a taken value moves to the next free one, cyclically.
  Ids,
  /// [E]: the `bound` experts with the smallest (bits(e), e) become local
  /// 0, 1, ... in this order, the others -1.
  ExpertMap,
  /// [E]: `bits(e) % (bound + 1)` sorted, the last one bound.
  EndOffsets,
  /// [E]: differences of EndOffsets.
  Sizes,
  /// `bits(i) % (bound + 1)`.
  Counts,
  /// `bits(i) % bound`.
  Below,
  /// [R]: 0..R-1 ordered by (bits(r), r).
  Permutation,
  /// The value `bound` everywhere, for extents passed as scalars.
  Value,
};

/// The name of a role in reports and manifests, such as "expert_map".
std::string_view inputRoleText(InputRole role);
/// The role of that name; false where there is none.
bool parseInputRole(std::string_view name, InputRole &role);

uint64_t randomBits(uint64_t seed, uint64_t argument, uint64_t index);

/// Fills the array of one argument, which lies at `data`. Floats round once
/// from f32 to `kind`. Large arrays are filled by several threads.
void fillRandom(InputRole role, int64_t bound, ElementKind kind,
                ShapeView shape, uint64_t seed, uint64_t argument, void *data);

} // namespace mlir::moe

#endif // MOE_DATA_RANDOMINPUTS_H
