//===- RandomInputs.cpp - inputs that every machine makes alike -*- C++ -*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "moe/Data/RandomInputs.h"

#include "moe/Data/Float.h"
#include "moe/Data/Parallel.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>
#include <utility>
#include <vector>

namespace mlir::moe {

static constexpr InputRole kRoles[] = {
    InputRole::Uniform,   InputRole::Weight,     InputRole::Ids,
    InputRole::ExpertMap, InputRole::EndOffsets, InputRole::Sizes,
    InputRole::Counts,    InputRole::Below,      InputRole::Permutation,
    InputRole::Value};

std::string_view inputRoleText(InputRole role) {
  constexpr std::string_view kNames[] = {
      "uniform", "weight", "ids",   "expert_map",  "end_offsets",
      "sizes",   "counts", "below", "permutation", "value"};
  return kNames[static_cast<size_t>(role)];
}

bool parseInputRole(std::string_view name, InputRole &role) {
  for (InputRole known : kRoles)
    if (name == inputRoleText(known)) {
      role = known;
      return true;
    }
  return false;
}

static uint64_t mix(uint64_t z) {
  z += 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

uint64_t randomBits(uint64_t seed, uint64_t argument, uint64_t index) {
  return mix(mix(mix(seed) + argument) + index);
}

namespace {
/// Fills one array according to its role.
class Generator {
public:
  Generator(int64_t bound, uint64_t seed, uint64_t argument, ElementKind kind,
            ShapeView shape, void *data)
      : bound(bound), stream(mix(mix(seed) + argument)), kind(kind),
        shape(shape), size(shape.size()), data(data) {}

  void fill(InputRole role);

private:
  uint64_t bits(int64_t index) const {
    return mix(stream + static_cast<uint64_t>(index));
  }
  /// `bits(index) % limit`; 0 where the range is empty.
  int64_t below(int64_t index, int64_t limit) const {
    return limit <= 0 ? 0
                      : static_cast<int64_t>(bits(index) %
                                             static_cast<uint64_t>(limit));
  }
  /// f32, uniform in [-0.5, 0.5).
  float unit(int64_t index) const {
    return static_cast<float>(bits(index) >> 40) * 0x1p-24f - 0.5f;
  }
  void put(int64_t index, int64_t value) { storeInt(kind, data, index, value); }
  /// 0..size-1 ordered by their hash, equal ones by number.
  std::vector<int64_t> order() const;
  std::vector<int64_t> endOffsets() const;

  void fillUniform(float scale);
  template <typename T, typename Convert>
  void fillUniformAs(float scale, Convert convert);
  void fillIds();
  void fillExpertMap();
  /// Every element by itself, from several threads where there are many.
  template <typename Function>
  void fillEach(Function value);

  int64_t bound;
  uint64_t stream;
  ElementKind kind;
  ShapeView shape;
  int64_t size;
  void *data;
};
} // namespace

std::vector<int64_t> Generator::order() const {
  std::vector<int64_t> numbers(static_cast<size_t>(size));
  std::iota(numbers.begin(), numbers.end(), 0);
  std::sort(numbers.begin(), numbers.end(), [&](int64_t a, int64_t b) {
    return std::pair(bits(a), a) < std::pair(bits(b), b);
  });
  return numbers;
}

std::vector<int64_t> Generator::endOffsets() const {
  std::vector<int64_t> ends;
  for (int64_t i = 0; i < size; ++i)
    ends.push_back(below(i, bound + 1));
  std::sort(ends.begin(), ends.end());
  if (!ends.empty())
    ends.back() = bound;
  return ends;
}

template <typename Function>
void Generator::fillEach(Function value) {
  parallelFor(size, 1, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i)
      put(i, value(i));
  });
}

// The kind is chosen outside the loop: weights have billions of elements.
template <typename T, typename Convert>
void Generator::fillUniformAs(float scale, Convert convert) {
  auto *target = static_cast<T *>(data);
  parallelFor(size, 1, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i)
      target[i] = convert(unit(i) * scale);
  });
}

void Generator::fillUniform(float scale) {
  switch (kind) {
  case ElementKind::BF16:
    return fillUniformAs<uint16_t>(scale, floatToBF16);
  case ElementKind::F16:
    return fillUniformAs<uint16_t>(scale, floatToF16);
  case ElementKind::F32:
    return fillUniformAs<float>(scale, [](float value) { return value; });
  default:
    parallelFor(size, 1, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i)
        storeFloat(kind, data, i, unit(i) * scale);
    });
  }
}

void Generator::fillIds() {
  int64_t slots = shape.rank == 2 ? shape[1] : 1;
  if (slots == 0)
    return;
  bool distinct = slots <= bound;
  parallelFor(size, slots, [&](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; row += slots) {
      std::set<int64_t> taken;
      for (int64_t i = row; i < row + slots; ++i) {
        int64_t id = below(i, bound);
        while (distinct && !taken.insert(id).second)
          id = (id + 1) % bound;
        put(i, id);
      }
    }
  });
}

void Generator::fillExpertMap() {
  std::vector<int64_t> experts = order();
  for (int64_t local = 0; local < size; ++local)
    put(experts[static_cast<size_t>(local)], local < bound ? local : -1);
}

void Generator::fill(InputRole role) {
  switch (role) {
  case InputRole::Uniform:
    return fillUniform(1.0f);
  case InputRole::Weight:
    return fillUniform(
        bound <= 0 ? 1.0f : static_cast<float>(1.0 / std::sqrt(double(bound))));
  case InputRole::Ids:
    return fillIds();
  case InputRole::ExpertMap:
    return fillExpertMap();
  case InputRole::EndOffsets:
  case InputRole::Sizes: {
    int64_t index = 0, previous = 0;
    for (int64_t end : endOffsets()) {
      put(index++, end - previous);
      previous = role == InputRole::Sizes ? end : 0;
    }
    return;
  }
  case InputRole::Counts:
    return fillEach([&](int64_t i) { return below(i, bound + 1); });
  case InputRole::Below:
    return fillEach([&](int64_t i) { return below(i, bound); });
  case InputRole::Permutation: {
    std::vector<int64_t> numbers = order();
    return fillEach([&](int64_t i) { return numbers[static_cast<size_t>(i)]; });
  }
  case InputRole::Value:
    return fillEach([&](int64_t) { return bound; });
  }
}

void fillRandom(InputRole role, int64_t bound, ElementKind kind,
                ShapeView shape, uint64_t seed, uint64_t argument, void *data) {
  Generator(bound, seed, argument, kind, shape, data).fill(role);
}

} // namespace mlir::moe
