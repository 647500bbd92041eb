//===- GroupedGemm.cpp - the definition of moe.grouped_gemm -*- C++ -*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Activation.h"
#include "Groups.h"
#include "Matrix.h"

using namespace mlir;
using namespace mlir::moe;
using namespace mlir::moe::reference;

//===----------------------------------------------------------------------===//
// Which row meets which expert
//===----------------------------------------------------------------------===//

namespace {
/// One row of the product: row `a` of operand a, times the matrix of an
/// expert, gives row `c` of the result. Rows of a masked grouping count
/// through the experts: [E, C, N] is [E * C, N].
struct Row {
  int64_t a, c;
  /// Index into the flattened weights.
  int64_t weight;
};
/// The rows of each expert.
using Plan = std::vector<std::vector<Row>>;

/// Finds the rows of one grouped GEMM.
class Planner {
public:
  Planner(GroupedGemmOp op, const Frame &frame)
      : op(op), frame(frame), plan(op.getNumExperts()) {}

  /// Emits an error where the weights do not cover the flat rows, which no
  /// type tells while a is sorted.
  LogicalResult verifyWeights() {
    if (op.getGrouping() != Grouping::Aligned || !op.getWeights())
      return success();
    int64_t flatRows = alignedFlatRows();
    int64_t found = frame.get(op.getWeights()).size();
    if (found == flatRows)
      return success();
    return op.emitOpError("requires one weight per flat row, ")
           << flatRows << ", but got " << found << " in this run (C8)";
  }

  Plan run();

private:
  void planIds();
  void planAligned();
  void planGroups(int64_t rows, int64_t capacity);
  /// The number of flat rows of an aligned grouping, which the sentinel is.
  int64_t alignedFlatRows();

  ArrayRef<int32_t> rowOperand(unsigned i) {
    return frame.getInts32(op.getRows()[i]);
  }
  int64_t rowsOf(Value tensor) { return frame.get(tensor).dim(0); }

  GroupedGemmOp op;
  const Frame &frame;
  Plan plan;
};
} // namespace

Plan Planner::run() {
  const Array &a = frame.get(op.getA());
  switch (op.getGrouping()) {
  case Grouping::Dense:
    for (int64_t r = 0; r < a.dim(0); ++r)
      plan[0].push_back({r, r, r});
    break;
  case Grouping::Ids:
    planIds();
    break;
  case Grouping::Aligned:
    planAligned();
    break;
  case Grouping::Masked:
    planGroups(a.dim(0) * a.dim(1), a.dim(1));
    break;
  default: // Offsets, Sizes
    planGroups(a.dim(0), /*capacity=*/0);
  }
  return std::move(plan);
}

void Planner::planIds() {
  bool token = op.getRowSource() == RowSource::Token;
  ArrayRef<int32_t> map = frame.getInts32(op.getExpertMap());
  for (auto [index, id] : llvm::enumerate(rowOperand(0))) {
    int64_t r = index, expert = localExpert(id, map, op.getNumExperts());
    if (expert >= 0)
      plan[expert].push_back({token ? r / op.getSlots() : r, r, r});
  }
}

int64_t Planner::alignedFlatRows() {
  if (op.getRowSource() == RowSource::Token)
    return rowsOf(op.getA()) * *op.getTopK();
  if (op.getAOrder() == RowOrder::Flat)
    return rowsOf(op.getA());
  if (op.getCOrder() == RowOrder::Flat)
    return rowsOf(op.getC());
  if (op.getWeights())
    return frame.get(op.getWeights()).size();
  // a and c are both sorted: the sentinel itself tells. It stands past
  // `padded`, and where nothing is past it, in the padding as the largest
  // entry; a table without padding has no sentinel to skip.
  ArrayRef<int32_t> table = rowOperand(0);
  if (rowOperand(2)[0] < static_cast<int64_t>(table.size()))
    return table.back();
  const auto *largest = llvm::max_element(table);
  bool repeats = largest != table.end() && llvm::count(table, *largest) > 1;
  return repeats ? *largest : static_cast<int64_t>(table.size());
}

void Planner::planAligned() {
  ArrayRef<int32_t> sortedRows = rowOperand(0), tileExpert = rowOperand(1);
  int64_t flatRows = alignedFlatRows(), size = sortedRows.size();
  int64_t listed = std::min<int64_t>(rowOperand(2)[0], size);
  bool token = op.getRowSource() == RowSource::Token;
  for (int64_t p = 0; p < listed; ++p) {
    int64_t r = sortedRows[p], expert = tileExpert[p / *op.getBlock()];
    if (r < 0 || r >= flatRows || expert < 0 ||
        expert >= static_cast<int64_t>(plan.size()))
      continue;
    int64_t a = op.getAOrder() == RowOrder::Sorted ? p
                : token                            ? r / op.getSlots()
                                                   : r;
    plan[expert].push_back({a, op.getCOrder() == RowOrder::Sorted ? p : r, r});
  }
}

void Planner::planGroups(int64_t rows, int64_t capacity) {
  for (auto [index, expert] : llvm::enumerate(
           expertOfRows(op.getGrouping(), rowOperand(0), rows, capacity))) {
    int64_t r = index;
    if (expert >= 0)
      plan[expert].push_back({r, r, r});
  }
}

//===----------------------------------------------------------------------===//
// The product
//===----------------------------------------------------------------------===//

namespace {
/// Multiplies the rows of one expert after the other.
template <typename Real>
class Multiplier {
public:
  Multiplier(GroupedGemmOp op, const Frame &frame, Array &c)
      : op(op), a(frame.get(op.getA())), b(frame.get(op.getB())), c(c),
        weights(frame.getFloats(op.getWeights())), depth(op.getK()),
        columns(op.getNumColumns()), columnsOfC(c.shape().back()),
        biases(op.getBias() ? &frame.get(op.getBias()) : nullptr), row(depth),
        sums(columns), bias(columns), activated(columnsOfC) {}

  void run(const Plan &plan) {
    bool columnMajor = op.getBLayout() == BLayout::NK;
    for (auto [expert, rows] : llvm::enumerate(plan)) {
      if (rows.empty())
        continue;
      Matrix<Real> matrix(b, expert * depth * columns, depth, columns,
                          columnMajor);
      if (biases)
        load(*biases, expert * columns, columns, bias.data());
      for (const Row &r : rows)
        multiplyRow(matrix, r);
    }
  }

private:
  void multiplyRow(const Matrix<Real> &matrix, const Row &r) {
    load(a, r.a * depth, depth, row.data());
    if (op.getWeight() == WeightPlace::Input)
      scale(row, weights[r.weight]);
    matrix.multiply(row.data(), sums.data());
    if (biases)
      for (int64_t n = 0; n < columns; ++n)
        sums[n] += bias[n];
    std::vector<Real> &result = op.getActivation() ? activated : sums;
    if (op.getActivation())
      activateRow<Real>(*op.getActivation(), sums, activated);
    if (op.getWeight() == WeightPlace::Output)
      scale(result, weights[r.weight]);
    store<Real>(result, c, r.c * columnsOfC);
  }

  static void scale(std::vector<Real> &values, Real factor) {
    for (Real &value : values)
      value *= factor;
  }

  GroupedGemmOp op;
  const Array &a, &b;
  Array &c;
  std::vector<float> weights;
  int64_t depth, columns, columnsOfC;
  const Array *biases;
  std::vector<Real> row, sums, bias, activated;
};
} // namespace

//===----------------------------------------------------------------------===//
// k_grouped
//===----------------------------------------------------------------------===//

/// `c[e] = a[:, rows of e] . b[rows of e, :]`, zero without rows.
template <typename Real>
static void multiplyKGrouped(GroupedGemmOp op, const Frame &frame, Array &c) {
  const Array &a = frame.get(op.getA()), &b = frame.get(op.getB());
  int64_t height = a.dim(0), rows = a.dim(1), columns = op.getNumColumns();
  bool columnMajor = op.getBLayout() == BLayout::NK;
  Matrix<Real> matrix(b, 0, rows, columns, columnMajor);
  std::vector<Real> row(rows), sums(columns);
  int64_t begin = 0;
  for (auto [expert, end] : llvm::enumerate(groupEnds(
           Grouping::Offsets, frame.getInts32(op.getRows()[0]), rows))) {
    for (int64_t m = 0; m < height; ++m) {
      load(a, m * rows, rows, row.data());
      matrix.multiply(row.data(), sums.data(), begin, end);
      store<Real>(sums, c, (expert * height + m) * columns);
    }
    begin = end;
  }
}

template <typename Real>
static void multiplyAll(GroupedGemmOp op, const Frame &frame, Array &c) {
  if (op.getGrouping() == Grouping::KGrouped)
    return multiplyKGrouped<Real>(op, frame, c);
  Multiplier<Real>(op, frame, c).run(Planner(op, frame).run());
}

LogicalResult reference::eval(GroupedGemmOp op, Frame &frame) {
  TRY(Planner(op, frame).verifyWeights());
  FailureOr<Array> c = frame.destination(op, op.getC());
  TRY(c);
  if (frame.getOptions().computeInF64)
    multiplyAll<double>(op, frame, *c);
  else
    multiplyAll<float>(op, frame, *c);
  return frame.set(op.getResult(0), std::move(*c));
}
