//===- RandomInputs.cpp - inputs that every machine makes alike -*- C++ -*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "moe/Execution/RandomInputs.h"

#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <cmath>
#include <numeric>

using namespace mlir;
using namespace mlir::moe;

StringRef moe::inputRoleName(InputRole role) {
  switch (role) {
  case InputRole::Uniform:
    return "uniform";
  case InputRole::Weight:
    return "weight";
  case InputRole::Ids:
    return "ids";
  case InputRole::ExpertMap:
    return "expert_map";
  case InputRole::EndOffsets:
    return "end_offsets";
  case InputRole::Sizes:
    return "sizes";
  case InputRole::Counts:
    return "counts";
  case InputRole::Below:
    return "below";
  case InputRole::Permutation:
    return "permutation";
  case InputRole::Value:
    return "value";
  }
  llvm_unreachable("all roles are listed");
}

static uint64_t mix(uint64_t z) {
  z += 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

uint64_t moe::randomBits(uint64_t seed, uint64_t argument, uint64_t index) {
  return mix(mix(mix(seed) + argument) + index);
}

namespace {
/// Fills one array according to its role.
class Generator {
public:
  Generator(int64_t bound, uint64_t seed, uint64_t argument, Array &array)
      : bound(bound), stream(mix(mix(seed) + argument)), array(array) {}

  void fill(InputRole role);

private:
  uint64_t bits(int64_t index) const {
    return mix(stream + static_cast<uint64_t>(index));
  }
  /// `bits(index) % limit`; 0 where the range is empty.
  int64_t below(int64_t index, int64_t limit) const {
    return limit <= 0 ? 0 : bits(index) % static_cast<uint64_t>(limit);
  }
  /// 0..size-1 ordered by their hash, equal ones by number.
  std::vector<int64_t> order() const;
  std::vector<int64_t> endOffsets() const;

  void fillUniform(float scale);
  void fillIds();
  void fillExpertMap();

  int64_t bound;
  uint64_t stream;
  Array &array;
};
} // namespace

std::vector<int64_t> Generator::order() const {
  std::vector<int64_t> numbers(array.size());
  std::iota(numbers.begin(), numbers.end(), 0);
  std::stable_sort(numbers.begin(), numbers.end(),
                   [&](int64_t a, int64_t b) { return bits(a) < bits(b); });
  return numbers;
}

std::vector<int64_t> Generator::endOffsets() const {
  std::vector<int64_t> ends;
  for (int64_t i = 0, e = array.size(); i < e; ++i)
    ends.push_back(below(i, bound + 1));
  llvm::sort(ends);
  if (!ends.empty())
    ends.back() = bound;
  return ends;
}

void Generator::fillUniform(float scale) {
  for (int64_t i = 0, e = array.size(); i < e; ++i) {
    float unit = static_cast<float>(bits(i) >> 40) * 0x1p-24f - 0.5f;
    array.setFloat(i, unit * scale);
  }
}

void Generator::fillIds() {
  int64_t slots = array.rank() == 2 ? array.dim(1) : 1;
  int64_t rows = slots == 0 ? 0 : array.size() / slots;
  bool distinct = slots <= bound;
  for (int64_t row = 0; row < rows; ++row) {
    llvm::BitVector taken(distinct ? bound : 0);
    for (int64_t i = row * slots, e = i + slots; i < e; ++i) {
      int64_t id = below(i, bound);
      while (distinct && taken[id])
        id = (id + 1) % bound;
      if (distinct)
        taken.set(id);
      array.setInt(i, id);
    }
  }
}

void Generator::fillExpertMap() {
  for (auto [local, expert] : llvm::enumerate(order()))
    array.setInt(expert, static_cast<int64_t>(local) < bound
                             ? static_cast<int64_t>(local)
                             : -1);
}

void Generator::fill(InputRole role) {
  int64_t size = array.size();
  switch (role) {
  case InputRole::Uniform:
    return fillUniform(1.0f);
  case InputRole::Weight:
    return fillUniform(bound <= 0 ? 1.0f
                                  : static_cast<float>(1.0 / std::sqrt(bound)));
  case InputRole::Ids:
    return fillIds();
  case InputRole::ExpertMap:
    return fillExpertMap();
  case InputRole::EndOffsets:
    for (auto [i, end] : llvm::enumerate(endOffsets()))
      array.setInt(i, end);
    return;
  case InputRole::Sizes: {
    int64_t previous = 0;
    for (auto [i, end] : llvm::enumerate(endOffsets())) {
      array.setInt(i, end - previous);
      previous = end;
    }
    return;
  }
  case InputRole::Counts:
    for (int64_t i = 0; i < size; ++i)
      array.setInt(i, below(i, bound + 1));
    return;
  case InputRole::Below:
    for (int64_t i = 0; i < size; ++i)
      array.setInt(i, below(i, bound));
    return;
  case InputRole::Permutation:
    for (auto [i, number] : llvm::enumerate(order()))
      array.setInt(i, number);
    return;
  case InputRole::Value:
    for (int64_t i = 0; i < size; ++i)
      array.setInt(i, bound);
    return;
  }
}

llvm::Expected<Array> moe::randomArray(InputRole role, int64_t bound,
                                       ElementKind kind,
                                       ArrayRef<int64_t> shape, uint64_t seed,
                                       uint64_t argument) {
  llvm::Expected<Array> array = Array::create(kind, shape);
  if (array)
    Generator(bound, seed, argument, *array).fill(role);
  return array;
}
