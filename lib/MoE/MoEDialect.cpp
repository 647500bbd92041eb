//===- MoEDialect.cpp - attributes, types, bytecode version -*- C++ -*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "moe/MoE/MoEDialect.h"

#include "mlir/Bytecode/BytecodeImplementation.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/Transforms/InliningUtils.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::moe;

//===----------------------------------------------------------------------===//
// Custom parts of the attribute syntax
//===----------------------------------------------------------------------===//

static ParseResult parseTile(AsmParser &parser, SmallVector<int64_t> &tile) {
  return parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, [&] {
    return parser.parseInteger(tile.emplace_back());
  });
}

static void printTile(AsmPrinter &printer, ArrayRef<int64_t> tile) {
  printer << '[';
  llvm::interleaveComma(tile, printer);
  printer << ']';
}

/// A parameter that is a float. `7` alone would be an integer.
static ParseResult parseNumber(AsmParser &parser, FloatAttr &number) {
  SMLoc loc = parser.getCurrentLocation();
  Attribute attr;
  if (parser.parseAttribute(attr))
    return failure();
  number = dyn_cast<FloatAttr>(attr);
  if (number)
    return success();
  InFlightDiagnostic error = parser.emitError(loc)
                             << "expected a number with a decimal point";
  if (auto integer = dyn_cast<IntegerAttr>(attr))
    error << ": write "
          << llvm::toString(integer.getValue(), 10, /*Signed=*/true) << ".0";
  return error;
}

static void printNumber(AsmPrinter &printer, FloatAttr number) {
  printer.printStrippedAttrOrType(number);
}

/// `8 * dim(0, 1) + 3`, `dim(0, 1)` or a number.
static ParseResult parseExtent(AsmParser &parser, int64_t &factor,
                               int64_t &argument, int64_t &dimension,
                               int64_t &offset) {
  factor = 1;
  argument = dimension = offset = 0;
  int64_t number;
  OptionalParseResult isNumber = parser.parseOptionalInteger(number);
  if (isNumber.has_value() && failed(*isNumber))
    return failure();
  if (isNumber.has_value() && failed(parser.parseOptionalStar())) {
    factor = 0;
    offset = number;
    return success();
  }
  if (isNumber.has_value())
    factor = number;
  if (parser.parseKeyword("dim") || parser.parseLParen() ||
      parser.parseInteger(argument) || parser.parseComma() ||
      parser.parseInteger(dimension) || parser.parseRParen())
    return failure();
  if (succeeded(parser.parseOptionalPlus()))
    return parser.parseInteger(offset);
  return success();
}

static void printExtent(AsmPrinter &printer, int64_t factor, int64_t argument,
                        int64_t dimension, int64_t offset) {
  if (factor == 0) {
    printer << offset;
    return;
  }
  if (factor != 1)
    printer << factor << " * ";
  printer << "dim(" << argument << ", " << dimension << ")";
  if (offset != 0)
    printer << " + " << offset;
}

static ParseResult parseBound(AsmParser &parser, ExtentAttr &extent) {
  int64_t factor, argument, dimension, offset;
  if (parseExtent(parser, factor, argument, dimension, offset))
    return failure();
  extent =
      ExtentAttr::get(parser.getContext(), factor, argument, dimension, offset);
  return success();
}

static void printBound(AsmPrinter &printer, ExtentAttr extent) {
  printExtent(printer, extent.getFactor(), extent.getArgument(),
              extent.getDimension(), extent.getOffset());
}

static ParseResult parseExtents(AsmParser &parser,
                                SmallVector<ExtentAttr> &extents) {
  return parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, [&] {
    return parseBound(parser, extents.emplace_back());
  });
}

static void printExtents(AsmPrinter &printer, ArrayRef<ExtentAttr> extents) {
  printer << '[';
  llvm::interleaveComma(extents, printer, [&](ExtentAttr extent) {
    printBound(printer, extent);
  });
  printer << ']';
}

#include "moe/MoE/MoEDialect.cpp.inc"
#include "moe/MoE/MoEEnums.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "moe/MoE/MoEAttributes.cpp.inc"

#define GET_TYPEDEF_CLASSES
#include "moe/MoE/MoETypes.cpp.inc"

//===----------------------------------------------------------------------===//
// Bytecode version
//===----------------------------------------------------------------------===//

namespace {
/// Ops and attributes travel in their generic encoding; the version says which
/// meaning they have.
struct MoEBytecodeInterface : public BytecodeDialectInterface {
  explicit MoEBytecodeInterface(Dialect *dialect)
      : BytecodeDialectInterface(dialect) {}

  void writeVersion(DialectBytecodeWriter &writer) const override {
    MoEDialectVersion version = MoEDialectVersion::current();
    writer.writeVarInt(version.major);
    writer.writeVarInt(version.minor);
  }

  std::unique_ptr<DialectVersion>
  readVersion(DialectBytecodeReader &reader) const override {
    uint64_t major, minor;
    if (failed(reader.readVarInt(major)) || failed(reader.readVarInt(minor)))
      return nullptr;
    MoEDialectVersion current = MoEDialectVersion::current();
    if (major > current.major) {
      reader.emitError() << "moe dialect version " << major << "." << minor
                         << " is newer than " << current.major << "."
                         << current.minor
                         << ", the newest that this build reads; update it";
      return nullptr;
    }
    return std::make_unique<MoEDialectVersion>(static_cast<uint32_t>(major),
                                               static_cast<uint32_t>(minor));
  }
};
/// Every op may move into any function: none refers to the one it is in.
struct MoEInlinerInterface : public DialectInlinerInterface {
  explicit MoEInlinerInterface(Dialect *dialect)
      : DialectInlinerInterface(dialect) {}

  bool isLegalToInline(Operation *, Region *, bool,
                       IRMapping &) const override {
    return true;
  }
};
} // namespace

void MoEDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "moe/MoE/MoEAttributes.cpp.inc"
      >();
  addTypes<
#define GET_TYPEDEF_LIST
#include "moe/MoE/MoETypes.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "moe/MoE/MoEOps.cpp.inc"
      >();
  addInterfaces<MoEBytecodeInterface, MoEInlinerInterface>();
}

//===----------------------------------------------------------------------===//
// ActivationAttr
//===----------------------------------------------------------------------===//

static bool isGatedKind(ActivationKind kind) {
  return kind != ActivationKind::GELU && kind != ActivationKind::ReLU2 &&
         kind != ActivationKind::SiLU;
}

/// The value of a parameter, or `fallback` where it is absent.
static double valueOr(FloatAttr attr, double fallback) {
  return attr ? attr.getValueAsDouble() : fallback;
}

bool ActivationAttr::isGated() const { return isGatedKind(getKind()); }
double ActivationAttr::limitValue() const {
  return valueOr(getLimit(), std::numeric_limits<double>::infinity());
}
double ActivationAttr::alphaValue() const { return valueOr(getAlpha(), 1.702); }
double ActivationAttr::betaValue() const { return valueOr(getBeta(), 4.0); }
double ActivationAttr::linearBetaValue() const {
  return valueOr(getLinearBeta(), 25.0);
}

LogicalResult
ActivationAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                       ActivationKind kind, GateUpLayout layout,
                       FloatAttr limit, FloatAttr alpha, FloatAttr beta,
                       FloatAttr linearBeta) {
  StringRef name = stringifyActivationKind(kind);
  if (!isGatedKind(kind) && layout != GateUpLayout::Halves)
    return emitError() << "activation " << name
                       << " has no gate: remove 'layout'";
  auto check = [&](FloatAttr attr, StringRef what, bool used) {
    if (!attr)
      return success();
    if (!used)
      return LogicalResult(emitError()
                           << "activation " << name << " has no parameter '"
                           << what << "': remove it");
    double value = attr.getValueAsDouble();
    if (!(value > 0) || !std::isfinite(value))
      return LogicalResult(emitError()
                           << "activation " << name << " requires '" << what
                           << "' to be finite and above 0, but got " << value);
    return success();
  };
  bool clamps = kind == ActivationKind::SwiGLU ||
                kind == ActivationKind::SwiGLUOAI ||
                kind == ActivationKind::SwiGLUStep;
  bool situ = kind == ActivationKind::SiTU;
  return success(
      succeeded(check(limit, "limit", clamps)) &&
      succeeded(check(alpha, "alpha", kind == ActivationKind::SwiGLUOAI)) &&
      succeeded(check(beta, "beta", situ)) &&
      succeeded(check(linearBeta, "linear_beta", situ)));
}

//===----------------------------------------------------------------------===//
// ScheduleAttr
//===----------------------------------------------------------------------===//

LogicalResult ScheduleAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                   Mma mma, Orientation orientation,
                                   ArrayRef<int64_t> tile, int64_t stages,
                                   int64_t warps, int64_t cluster,
                                   int64_t splitK) {
  bool noTile = mma == Mma::Simt && tile.empty();
  if ((tile.size() != 3 && !noTile) ||
      llvm::any_of(tile, [](int64_t t) { return t < 1; }))
    return emitError()
           << "schedule requires tile to be [token rows, columns, k], all "
              "above 0";
  auto positive = [&](int64_t value, StringRef what) {
    if (value >= 1)
      return success();
    return LogicalResult(emitError() << "schedule requires " << what
                                     << " to be at least 1, but got " << value);
  };
  return success(succeeded(positive(stages, "stages")) &&
                 succeeded(positive(warps, "warps")) &&
                 succeeded(positive(cluster, "cluster")) &&
                 succeeded(positive(splitK, "split_k")));
}

//===----------------------------------------------------------------------===//
// The rules that every op shares
//===----------------------------------------------------------------------===//

int64_t moe::localExpert(int64_t id, ArrayRef<int32_t> expertMap,
                         int64_t experts) {
  int64_t global =
      expertMap.empty() ? experts : static_cast<int64_t>(expertMap.size());
  if (id < 0 || id >= global)
    return -1;
  int64_t local = expertMap.empty() ? id : expertMap[id];
  return local >= 0 && local < experts ? local : -1;
}

int64_t moe::worstCaseRows(int64_t flatRows, int64_t experts, int64_t block) {
  return llvm::divideCeil(flatRows + experts * (block - 1), block) * block;
}

void moe::detail::getDpsEffects(
    Operation *op,
    SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>>
        &effects) {
  auto dps = cast<DestinationStyleOpInterface>(op);
  for (OpOperand &operand : op->getOpOperands()) {
    if (!isa<MemRefType>(operand.get().getType()))
      continue;
    effects.emplace_back(MemoryEffects::Read::get(), &operand);
    if (dps.isDpsInit(&operand))
      effects.emplace_back(MemoryEffects::Write::get(), &operand);
  }
}

/// True where `op` reads the elements of `input` only before it writes those of
/// the same place, so that the destination may be the input.
static bool mayWriteOver(Operation *op, OpOperand &input) {
  if (auto activation = dyn_cast<ActivationOp>(op))
    return !activation.getActivation().isGated() &&
           input == activation.getHMutable();
  auto combine = dyn_cast<CombineOp>(op);
  return combine &&
         (input.get() == combine.getX() ||
          input.get() == combine.getResidual()) &&
         !llvm::is_contained({combine.getY(), combine.getWeights(),
                              combine.getIds(), combine.getExpertMap()},
                             input.get());
}

std::optional<std::pair<OpOperand *, OpOperand *>>
moe::detail::sharedDestination(Operation *op) {
  auto dps = cast<DestinationStyleOpInterface>(op);
  for (OpOperand &destination : dps.getDpsInitsMutable())
    for (OpOperand &other : op->getOpOperands())
      if (&other != &destination && other.get() == destination.get() &&
          isa<MemRefType>(other.get().getType()) && !mayWriteOver(op, other))
        return std::pair(&destination, &other);
  return std::nullopt;
}
