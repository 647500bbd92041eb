//===- VerifyDataOps.cpp - loads, matrix ops, epilogue, store ---*- C++ -*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mlir/Interfaces/LoopLikeInterface.h"
#include "moe/CTA/CTADialect.h"

using namespace mlir;
using namespace mlir::cta;

/// Elements of the 16-byte chunk that a copy moves; multiplicands have 2 bytes.
static constexpr int64_t kChunkElements = kChunkBytes / 2;

static LogicalResult verifyExtent(Operation *op, int64_t extent,
                                  StringRef number) {
  if (extent > 0)
    return success();
  return op->emitOpError("requires extent to be positive, but got ")
         << extent << " (" << number << ")";
}

static LogicalResult verifyAlign(Operation *op, int64_t align,
                                 StringRef number) {
  if (align == 4 || align == 8 || align == kChunkBytes)
    return success();
  return op->emitOpError("requires align to be 4, 8 or 16 bytes, but got ")
         << align << " (" << number << ")";
}

//===----------------------------------------------------------------------===//
// Loads
//===----------------------------------------------------------------------===//

LogicalResult SourceRowsOp::verify() {
  int64_t rows = getRows(), divisor = getDivisor(), pitch = getPitch();
  int64_t count = getResult().getType().getCount();
  if (rows <= 0 || rows % 16 || rows / 16 != count)
    return emitOpError("requires rows to be a multiple of 16 and a result of "
                       "rows / 16, but got ")
           << rows << " rows and " << count << " (C1)";
  if (divisor <= 0 || (getSorted() && divisor != 1))
    return emitOpError("requires a positive divisor, 1 when sorted, but got ")
           << divisor << " (C2)";
  if (pitch <= 0 || pitch % 4)
    return emitOpError("requires pitch to be a positive multiple of 4 bytes, "
                       "but got ")
           << pitch << " (C3)";
  return success();
}

LogicalResult GatherLoadOp::verify() {
  if (failed(verifyExtent(*this, getExtent(), "C1")))
    return failure();
  return verifyAlign(*this, getAlign(), "C2");
}

LogicalResult TileLoadOp::verify() {
  int64_t rows = getRows(), parts = getParts(), pitch = getPitch();
  int64_t extent = getExtent();
  if (parts <= 0 || static_cast<int64_t>(getLimit()) <= 0 ||
      static_cast<int64_t>(getRowStride()) <= 0 ||
      (parts > 1 && static_cast<int64_t>(getPartStride()) <= 0))
    return emitOpError("requires positive limit, parts and strides (C3)");
  if (rows <= 0 || rows % (16 * parts))
    return emitOpError("requires rows to be a multiple of 16 * parts, but got ")
           << rows << " rows in " << parts << " parts (C1)";
  if (failed(verifyExtent(*this, extent, "C2")))
    return failure();
  if (failed(verifyAlign(*this, getAlign(), "C4")))
    return failure();
  int64_t align = getAlign();
  if (pitch % align || pitch < 2 * extent)
    return emitOpError("requires pitch to be a multiple of ")
           << align << " bytes that holds the extent of " << 2 * extent
           << ", but got " << pitch << " (C2)";
  return success();
}

int64_t TmaLoadOp::getBoxBytes() {
  int64_t bytes = getElementBytes();
  for (int64_t extent : getBox())
    bytes *= extent;
  return bytes;
}

LogicalResult TmaLoadOp::verify() {
  ArrayRef<int64_t> box = getBox();
  if (box.size() < 2 || box.size() > 5 || box.size() != getCoordinates().size())
    return emitOpError("requires one coordinate for each of 2 to 5 box "
                       "dimensions, but got ")
           << getCoordinates().size() << " and " << box.size() << " (C1)";
  int64_t inner = box.front() * static_cast<int64_t>(getElementBytes());
  if (inner != kRowBytes)
    return emitOpError("requires an innermost box dimension of 128 bytes, the "
                       "swizzle span, but got ")
           << inner << " (C2)";
  for (int64_t extent : box.drop_front())
    if (extent < 1 || extent > 256)
      return emitOpError("requires box dimensions in [1, 256], but got ")
             << extent << " (C2)";
  int64_t bytes = getBoxBytes();
  int64_t stage = getRing().getType().getStageBytes();
  if (bytes % kSwizzleAtomBytes || bytes > stage)
    return emitOpError("requires a box of a multiple of 8 rows that fits in a "
                       "stage of ")
           << stage << " bytes, but got " << bytes << " bytes (C3)";
  if (getRing().getType().getCompletion() != Completion::Mbarrier)
    return emitOpError("requires a ring with 'mbarrier' completion (C4)");
  if (!isInRole(*this, /*producer=*/true))
    return emitOpError("must be in the producer region of 'cta.roles' (C5)");
  return success();
}

//===----------------------------------------------------------------------===//
// Matrix instructions
//===----------------------------------------------------------------------===//

static LogicalResult requireMma(Operation *op, FragmentType type, Mma mma) {
  if (type.getMma() == mma)
    return success();
  return op->emitOpError("requires a fragment of ")
         << stringifyMma(mma) << ", but got " << type << " (C1)";
}

LogicalResult ZeroOp::verify() {
  return requireMma(*this, getResult().getType(), Mma::MmaSync);
}

LogicalResult MmaSyncOp::verify() {
  FragmentType type = getResult().getType();
  if (failed(requireMma(*this, type, Mma::MmaSync)))
    return failure();
  if (type.getCols() % (64 * type.getParts()))
    return emitOpError("requires a multiple of 64 columns in every part, 16 "
                       "for each of 4 warps, but got ")
           << type << " (C2)";
  if (type.getValues() > 128)
    return emitOpError("accumulator takes ")
           << type.getValues() << " registers of a thread, more than 128 (C3)";
  return success();
}

/// True when `value` comes from a wgmma, directly or around a loop.
static bool isWgmmaAccumulator(Value value) {
  while (auto argument = dyn_cast<BlockArgument>(value)) {
    auto loop =
        dyn_cast<LoopLikeOpInterface>(argument.getOwner()->getParentOp());
    OpOperand *init = loop ? loop.getTiedLoopInit(argument) : nullptr;
    if (!init)
      return false;
    value = init->get();
  }
  Operation *op = value.getDefiningOp();
  if (auto loop = dyn_cast<LoopLikeOpInterface>(op)) {
    OpOperand *init = loop.getTiedLoopInit(cast<OpResult>(value));
    return init && isWgmmaAccumulator(init->get());
  }
  return isa<WgmmaOp, WgmmaWaitOp>(op);
}

LogicalResult WgmmaOp::verify() {
  FragmentType type = getResult().getType();
  if (failed(requireMma(*this, type, Mma::Wgmma)))
    return failure();
  if (type.getCols() > 256)
    return emitOpError("requires 8 to 256 columns, but got ")
           << type.getCols() << " (C2)";
  if (getAccumulator() && (getAccumulator().getType() != type ||
                           !isWgmmaAccumulator(getAccumulator())))
    return emitOpError("requires the accumulator to be the fragment of a "
                       "wgmma of the same type; the first one of a tile has "
                       "no accumulator (C3)");
  if (!isInRole(*this, /*producer=*/false))
    return emitOpError("must be in the consumer region of 'cta.roles' (C4)");
  return success();
}

LogicalResult WgmmaWaitOp::verify() {
  if (failed(requireMma(*this, getResult().getType(), Mma::Wgmma)))
    return failure();
  if (getPending() > 1)
    return emitOpError("requires pending to be 0 or 1, but got ")
           << getPending() << " (C2)";
  if (getPending() == 0)
    return success();
  for (Operation *user : getResult().getUsers())
    if (!isa<WgmmaOp, WgmmaWaitOp>(user) &&
        !(user->hasTrait<OpTrait::IsTerminator>() &&
          isa<LoopLikeOpInterface>(user->getParentOp()))) {
      InFlightDiagnostic error =
          emitOpError("leaves a group in flight, so its result may only go to "
                      "another wgmma or around a loop (C3)");
      error.attachNote(user->getLoc()) << "used here";
      return error;
    }
  return success();
}

//===----------------------------------------------------------------------===//
// Epilogue and store
//===----------------------------------------------------------------------===//

static LogicalResult verifyRowCount(Operation *op, FragmentType fragment,
                                    RowIdsType rows, StringRef number) {
  if (rows.getCount() == fragment.getThreadRows())
    return success();
  return op->emitOpError("requires the ")
         << fragment.getThreadRows() << " rows a thread holds of " << fragment
         << ", but got " << rows << " (" << number << ")";
}

LogicalResult FragmentRowsOp::verify() {
  int64_t rows = getRows(), count = getResult().getType().getCount();
  bool wgmma = getMma() == Mma::Wgmma;
  if (wgmma ? rows != 64 : rows <= 0 || rows % 16)
    return emitOpError("requires 64 rows with wgmma and a multiple of 16 with "
                       "mma_sync, but got ")
           << rows << " (C2)";
  if (count != (wgmma ? 2 : rows / 8))
    return emitOpError("requires a result of ")
           << (wgmma ? 2 : rows / 8) << " rows, but got " << count << " (C1)";
  return success();
}

LogicalResult EpilogueOp::verify() {
  FragmentType from = getFragment().getType(), to = getResult().getType();
  Block &body = getBody().front();
  int64_t parts = from.getParts();
  auto yield = dyn_cast<YieldOp>(body.getTerminator());
  bool typed = static_cast<int64_t>(body.getNumArguments()) == parts + 2 &&
               yield && yield.getValues().size() == 1 &&
               yield.getValues()[0].getType().isF32();
  for (auto [index, argument] : llvm::enumerate(body.getArguments()))
    typed &= static_cast<int64_t>(index) < parts
                 ? argument.getType().isF32()
                 : argument.getType().isInteger(32);
  if (!typed)
    return emitOpError("requires a body from ")
           << parts << " f32 and two i32 to one f32 (C1)";
  if (to.getRows() != from.getRows() || to.getMma() != from.getMma() ||
      to.getCols() * parts != from.getCols() || to.getParts() != 1)
    return emitOpError("requires a result of ")
           << from.getRows() << " x " << from.getCols() / parts
           << " in one part, but got " << to << " (C2)";
  if (failed(verifyRowCount(*this, from, getRows().getType(), "C3")))
    return failure();
  for (Operation &op : body.without_terminator())
    if (isa<CTADialect>(op.getDialect())) {
      InFlightDiagnostic error =
          emitOpError("requires a body without cta ops (C4)");
      error.attachNote(op.getLoc()) << "found here";
      return error;
    }
  return success();
}

LogicalResult StoreOp::verify() {
  FragmentType type = getFragment().getType();
  if (type.getParts() != 1)
    return emitOpError("requires a fragment of one part, but got ")
           << type << " (C1)";
  if (failed(verifyRowCount(*this, type, getRows().getType(), "C2")))
    return failure();
  int64_t columns = getColumns(), pitch = getRowPitch();
  if (getStaging() && (type.getMma() != Mma::Wgmma || getElement().isF32() ||
                       type.getCols() % 64 || columns % kChunkElements ||
                       pitch % kChunkElements || getAlign() % kChunkBytes))
    return emitOpError("with staging requires wgmma, a 2-byte element, a "
                       "multiple of 64 fragment columns and of 8 columns and "
                       "of pitch, and 16 bytes of align, but got ")
           << type << " of " << getElement() << " with " << columns
           << " columns, pitch " << pitch << " and align " << getAlign()
           << " (C3)";
  if (pitch < columns)
    return emitOpError("requires a pitch of at least its ")
           << columns << " columns, but got " << pitch << " (C4)";
  return success();
}
