//===- Expression.cpp - sizes as functions of the extents -*- C++ -*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Expression.h"

#include "Error.h"

#include <algorithm>

using namespace mlir::moe::runtime;

Expression::Expression(int64_t constant)
    : steps{{Op::Constant, {0, 0}, constant}} {}

//===----------------------------------------------------------------------===//
// Operators
//===----------------------------------------------------------------------===//

const char *Expression::nameOf(Op op) {
  switch (op) {
  case Op::Constant:
    return "constant";
  case Op::Dim:
    return "dim";
  case Op::Add:
    return "add";
  case Op::Mul:
    return "mul";
  case Op::FloorDiv:
    return "floordiv";
  case Op::CeilDiv:
    return "ceildiv";
  case Op::Mod:
    return "mod";
  case Op::Max:
    return "max";
  case Op::Min:
    return "min";
  }
  return "";
}

bool Expression::findOp(const std::string &name, Op &op) {
  for (Op known :
       {Op::Add, Op::Mul, Op::FloorDiv, Op::CeilDiv, Op::Mod, Op::Max, Op::Min})
    if (name == nameOf(known)) {
      op = known;
      return true;
    }
  return false;
}

int64_t Expression::apply(Op op, int64_t lhs, int64_t rhs) {
  int64_t result = 0;
  bool overflow = false;
  switch (op) {
  case Op::Add:
    overflow = __builtin_add_overflow(lhs, rhs, &result);
    break;
  case Op::Mul:
    overflow = __builtin_mul_overflow(lhs, rhs, &result);
    break;
  case Op::Max:
    return std::max(lhs, rhs);
  case Op::Min:
    return std::min(lhs, rhs);
  default: {
    if (rhs == 0)
      failArgument(std::string(nameOf(op)) + " of " + std::to_string(lhs) +
                   " by zero");
    if (rhs == -1) { // the one quotient that may not fit, INT64_MIN / -1
      overflow = op != Op::Mod && __builtin_sub_overflow(0, lhs, &result);
      break;
    }
    int64_t quotient = lhs / rhs, rest = lhs % rhs;
    bool below = rest != 0 && (rest < 0) != (rhs < 0);
    if (op == Op::FloorDiv)
      return quotient - (below ? 1 : 0);
    if (op == Op::CeilDiv)
      return quotient + (rest != 0 && !below ? 1 : 0);
    return below ? rest + rhs : rest;
  }
  }
  if (overflow)
    failArgument(std::string(nameOf(op)) + " of " + std::to_string(lhs) +
                 " and " + std::to_string(rhs) + " exceeds 64 bits");
  return result;
}

//===----------------------------------------------------------------------===//
// Compilation
//===----------------------------------------------------------------------===//

void Expression::append(const JsonField &field,
                        const std::vector<uint32_t> &ranks, unsigned depth) {
  if (steps.size() >= kMaxSteps)
    field.complain("the expression has more than " + std::to_string(kMaxSteps) +
                   " terms");
  // The stack holds at most one operand per enclosing operator and this one.
  if (depth >= kMaxDepth)
    field.complain("the expression is nested deeper than " +
                   std::to_string(kMaxDepth));
  if (field.isInteger()) {
    steps.push_back(
        {Op::Constant, {0, 0}, field.integer(INT64_MIN, INT64_MAX)});
    return;
  }
  if (!field.isArray())
    field.refuse("must be an integer or an array of an operator and two "
                 "operands");
  field.arraySize(3, 3);
  std::string name = field.at(0).text(16);
  if (name == "dim") {
    int64_t argument =
        field.at(1).integer(0, static_cast<int64_t>(ranks.size()) - 1);
    int64_t dim =
        field.at(2).integer(0, static_cast<int64_t>(ranks[argument]) - 1);
    steps.push_back(
        {Op::Dim,
         {static_cast<uint32_t>(argument), static_cast<uint32_t>(dim)},
         0});
    return;
  }
  Op op;
  if (!findOp(name, op))
    field.at(0).refuse(
        "must be dim, add, mul, floordiv, ceildiv, mod, max or min");
  append(field.at(1), ranks, depth + 1);
  append(field.at(2), ranks, depth + 1);
  size_t size = steps.size();
  if (steps[size - 1].op != Op::Constant ||
      steps[size - 2].op != Op::Constant) {
    steps.push_back({op, {0, 0}, 0});
    return;
  }
  // Two constants fold.
  try {
    steps[size - 2].value =
        apply(op, steps[size - 2].value, steps[size - 1].value);
  } catch (const Error &error) {
    field.complain(error.what());
  }
  steps.pop_back();
}

Expression Expression::compile(const JsonField &field,
                               const std::vector<uint32_t> &ranks) {
  Expression expression;
  expression.steps.clear();
  expression.append(field, ranks, 0);
  return expression;
}

//===----------------------------------------------------------------------===//
// Use
//===----------------------------------------------------------------------===//

int64_t Expression::evaluate(const moe_tensor *args) const {
  int64_t stack[kMaxDepth + 1];
  size_t top = 0;
  for (const Step &step : steps) {
    if (step.op == Op::Constant) {
      stack[top++] = step.value;
    } else if (step.op == Op::Dim) {
      stack[top++] = args[step.dimension.argument].shape[step.dimension.dim];
    } else {
      --top;
      stack[top - 1] = apply(step.op, stack[top - 1], stack[top]);
    }
  }
  return stack[0];
}

bool Expression::isConstant() const {
  return steps.size() == 1 && steps.front().op == Op::Constant;
}

bool Expression::isDimension(Dimension &dimension) const {
  if (steps.size() != 1 || steps.front().op != Op::Dim)
    return false;
  dimension = steps.front().dimension;
  return true;
}

std::vector<Dimension> Expression::dimensions() const {
  std::vector<Dimension> all;
  for (const Step &step : steps)
    if (step.op == Op::Dim &&
        std::find(all.begin(), all.end(), step.dimension) == all.end())
      all.push_back(step.dimension);
  return all;
}

std::string Expression::text() const {
  std::vector<std::string> stack;
  for (const Step &step : steps) {
    if (step.op == Op::Constant) {
      stack.push_back(std::to_string(step.value));
    } else if (step.op == Op::Dim) {
      stack.push_back("args[" + std::to_string(step.dimension.argument) +
                      "].shape[" + std::to_string(step.dimension.dim) + "]");
    } else {
      std::string rhs = std::move(stack.back());
      stack.pop_back();
      std::string &lhs = stack.back();
      lhs = std::string(nameOf(step.op)) + "(" + lhs + ", " + rhs + ")";
    }
  }
  return stack.front();
}
