//===- Shapes.cpp - the extents of a call -*- C++ -*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Bundle.h"
#include "Error.h"

using namespace mlir::moe::runtime;

static std::string extentName(Dimension dimension) {
  return "argument " + std::to_string(dimension.argument) + ", dimension " +
         std::to_string(dimension.dim);
}

/// The value of `expression` for the extent `dimension`; failures name it.
static int64_t valueFor(Dimension dimension, const Expression &expression,
                        const moe_tensor *args) {
  try {
    return expression.evaluate(args);
  } catch (const Error &error) {
    failArgument(extentName(dimension) + ": " + error.what());
  }
}

/// Whether all extents that `expression` reads are known.
static bool isKnown(const Expression &expression, const moe_tensor *args) {
  for (Dimension needed : expression.dimensions())
    if (args[needed.argument].shape[needed.dim] < 0)
      return false;
  return true;
}

void mlir::moe::runtime::solveShapes(const Bundle &bundle, moe_tensor *args) {
  auto extent = [&](Dimension dimension) -> int64_t & {
    return args[dimension.argument].shape[dimension.dim];
  };
  // Backwards: an extent that is the same as another one tells the other's.
  for (auto it = bundle.following.rbegin(); it != bundle.following.rend();
       ++it) {
    Dimension same;
    if (bundle.arguments[it->argument].shape[it->dim].isDimension(same) &&
        extent(same) < 0)
      extent(same) = extent(*it);
  }
  for (Dimension dimension : bundle.following) {
    const Expression &expression =
        bundle.arguments[dimension.argument].shape[dimension.dim];
    if (extent(dimension) < 0 && isKnown(expression, args))
      extent(dimension) = valueFor(dimension, expression, args);
  }
  for (uint32_t i = 0; i < bundle.arguments.size(); ++i)
    for (uint32_t j = 0; j < bundle.arguments[i].rank(); ++j)
      if (args[i].shape[j] < 0 && bundle.arguments[i].given[j])
        failArgument(extentName({i, j}) +
                     ": must be given, nothing else tells it");
  checkShapes(bundle, args);
}

void mlir::moe::runtime::checkShapes(const Bundle &bundle,
                                     const moe_tensor *args) {
  for (uint32_t i = 0; i < bundle.arguments.size(); ++i)
    for (uint32_t j = 0; j < bundle.arguments[i].rank(); ++j)
      if (args[i].shape[j] < 0)
        failArgument(extentName({i, j}) + ": must not be negative, but got " +
                     std::to_string(args[i].shape[j]));
  for (Dimension dimension : bundle.following) {
    const Expression &expression =
        bundle.arguments[dimension.argument].shape[dimension.dim];
    int64_t expected = valueFor(dimension, expression, args);
    int64_t found = args[dimension.argument].shape[dimension.dim];
    if (found != expected)
      failArgument(extentName(dimension) + ": must be " +
                   std::to_string(expected) +
                   (expression.isConstant() ? "" : " = " + expression.text()) +
                   ", but got " + std::to_string(found));
  }
}

void mlir::moe::runtime::setTokens(const Bundle &bundle, int64_t tokens,
                                   moe_tensor *args) {
  Dimension dimension;
  if (!bundle.tokens || !bundle.tokens->isDimension(dimension))
    failArgument("function " + bundle.function +
                 " has no extent that counts tokens; give the arrays or their "
                 "extents instead");
  if (tokens < 0)
    failArgument("the number of tokens must not be negative, but got " +
                 std::to_string(tokens));
  args[dimension.argument].shape[dimension.dim] = tokens;
}

size_t mlir::moe::runtime::chooseVariant(const Bundle &bundle,
                                         const moe_tensor *args) {
  if (!bundle.tokens)
    return 0;
  int64_t tokens = bundle.tokens->evaluate(args);
  // Without tokens there is nothing to compute: the list for one will do.
  int64_t wanted = tokens == 0 ? 1 : tokens;
  std::string ranges;
  for (size_t i = 0; i < bundle.variants.size(); ++i) {
    const Variant &variant = bundle.variants[i];
    if (tokens >= variant.minTokens && tokens <= variant.maxTokens)
      return i;
    if (wanted >= variant.minTokens && wanted <= variant.maxTokens)
      return i;
  }
  for (const Variant &variant : bundle.variants)
    ranges +=
        (ranges.empty() ? "[" : ", [") + std::to_string(variant.minTokens) +
        ", " +
        (variant.maxTokens == INT64_MAX ? "no bound"
                                        : std::to_string(variant.maxTokens)) +
        "]";
  failArgument(std::to_string(tokens) +
               " tokens are outside of every range that function " +
               bundle.function + " was compiled for: " + ranges);
}

uint64_t mlir::moe::runtime::bytesOfArgument(const Bundle &bundle, size_t index,
                                             const moe_tensor *args) {
  const Argument &argument = bundle.arguments[index];
  const int64_t *shape = args[index].shape;
  // Row-major strides are made on the way, innermost first.
  int64_t dense = 1, last = 0, span, bytes;
  bool overflow = false;
  for (size_t i = argument.rank(); i-- > 0;) {
    if (shape[i] == 0)
      return 0;
    int64_t stride = argument.strides.empty() ? dense : argument.strides[i];
    overflow |= __builtin_mul_overflow(shape[i] - 1, stride, &span) ||
                __builtin_add_overflow(last, span, &last) ||
                __builtin_mul_overflow(dense, shape[i], &dense);
  }
  overflow |=
      __builtin_add_overflow(last, int64_t(1), &last) ||
      __builtin_mul_overflow(last, int64_t(bytesOf(argument.type)), &bytes);
  if (overflow)
    failArgument("argument " + std::to_string(index) +
                 " is too large for 64 bits");
  return static_cast<uint64_t>(bytes);
}

[[noreturn]] static void failTooLarge(size_t buffer) {
  failArgument("workspace buffer " + std::to_string(buffer) +
               " makes the workspace too large for 64 bits");
}

uint64_t mlir::moe::runtime::bytesOfWorkspace(const Variant &variant,
                                              size_t index,
                                              const moe_tensor *args) {
  const WorkspaceBuffer &buffer = variant.workspace[index];
  auto bytes = static_cast<int64_t>(bytesOf(buffer.type));
  bool overflow = false;
  for (const Expression &extent : buffer.shape) {
    int64_t value = extent.evaluate(args);
    if (value < 0)
      failArgument("workspace buffer " + std::to_string(index) +
                   " gets the negative extent " + std::to_string(value) +
                   " = " + extent.text());
    overflow |= __builtin_mul_overflow(bytes, value, &bytes);
  }
  if (overflow)
    failTooLarge(index);
  return static_cast<uint64_t>(bytes);
}

uint64_t mlir::moe::runtime::layOutWorkspace(const Variant &variant,
                                             const moe_tensor *args,
                                             uint64_t *offsets) {
  // Half of the range leaves room for rounding up.
  constexpr uint64_t kLimit = INT64_MAX / 2;
  uint64_t total = 0;
  for (size_t i = 0; i < variant.workspace.size(); ++i) {
    if (offsets)
      offsets[i] = total;
    // Both are below 2^63.
    total += bytesOfWorkspace(variant, i, args);
    if (total > kLimit)
      failTooLarge(i);
    total = (total + kWorkspaceAlignment - 1) / kWorkspaceAlignment *
            kWorkspaceAlignment;
  }
  return total;
}
