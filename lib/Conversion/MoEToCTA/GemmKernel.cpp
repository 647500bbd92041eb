//===- GemmKernel.cpp - the kernel around the families ----------*- C++ -*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Gemm.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;
using namespace mlir::cta;

//===----------------------------------------------------------------------===//
// Scalars
//===----------------------------------------------------------------------===//

Value GemmBuilder::i32(int64_t value) {
  Value &constant = constants[value];
  if (constant)
    return constant;
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(entry);
  constant = arith::ConstantOp::create(b, loc, b.getI32IntegerAttr(value));
  return constant;
}
Value GemmBuilder::i64(int64_t value) {
  return arith::ConstantOp::create(b, loc, b.getI64IntegerAttr(value));
}
Type GemmBuilder::elementType(GemmElement kind) {
  switch (kind) {
  case GemmElement::BF16:
    return b.getBF16Type();
  case GemmElement::F16:
    return b.getF16Type();
  case GemmElement::F32:
    break;
  }
  return b.getF32Type();
}
static int64_t bytesOf(GemmElement kind) {
  return kind == GemmElement::F32 ? 4 : 2;
}

Value GemmBuilder::loadI32(Value pointer, Value index) {
  Type i32Type = b.getI32Type();
  Value address = LLVM::GEPOp::create(b, loc, pointer.getType(), i32Type,
                                      pointer, ArrayRef<LLVM::GEPArg>{index});
  return LLVM::LoadOp::create(b, loc, i32Type, address, /*alignment=*/4);
}

Value GemmBuilder::expertBase(Value pointer, Value expert, int64_t elements,
                              int64_t bytes) {
  Value wide = arith::ExtUIOp::create(b, loc, b.getI64Type(), expert);
  Value distance = arith::MulIOp::create(b, loc, wide, i64(elements * bytes));
  return LLVM::GEPOp::create(b, loc, pointer.getType(), b.getI8Type(), pointer,
                             ArrayRef<LLVM::GEPArg>{distance});
}

//===----------------------------------------------------------------------===//
// What both families share
//===----------------------------------------------------------------------===//

void GemmBuilder::bindParams(ArrayRef<GemmParam> kinds) {
  for (auto [index, kind] : llvm::enumerate(kinds)) {
    Value value = entry->getArgument(index);
    if (int64_t start = spec.startBytes.lookup(static_cast<int>(kind))) {
      Value distance = i64(start);
      value = LLVM::GEPOp::create(b, loc, value.getType(), b.getI8Type(), value,
                                  ArrayRef<LLVM::GEPArg>{distance});
    }
    params.map[static_cast<int>(kind)] = value;
  }
  if (has(GemmParam::RowsBuffer))
    params.map[static_cast<int>(GemmParam::Rows)] =
        loadI32(param(GemmParam::RowsBuffer), i32(0));
}

PlanOp GemmBuilder::makePlan(ArrayRef<BufferAttr> buffers) {
  SmallVector<Type> types(buffers.size(),
                          LLVM::LLVMPointerType::get(b.getContext(), 3));
  SmallVector<Attribute> attributes(buffers.begin(), buffers.end());
  return PlanOp::create(b, loc, types, shape.threads, spec.sharedLimit,
                        b.getArrayAttr(attributes));
}

Value GemmBuilder::rowTiles() {
  Value tiles;
  if (spec.dense) {
    Value rounded = add(param(GemmParam::Rows), i32(spec.block - 1));
    tiles = arith::DivUIOp::create(b, loc, rounded, i32(spec.block));
  } else {
    Value padded = loadI32(param(GemmParam::Padded), i32(0));
    tiles = arith::DivUIOp::create(b, loc, padded, i32(tileStep()));
  }
  return UniformOp::create(b, loc, tiles);
}

GemmBuilder::Tile GemmBuilder::tileOf(Value row, Value col) {
  Tile tile;
  tile.firstRow = mul(row, spec.dense ? spec.block : tileStep());
  tile.firstCol = mul(col, shape.tileCols);
  tile.limit = param(GemmParam::Rows);
  tile.expert = i32(0);
  if (spec.dense)
    return tile;
  // A tile without an expert computes with expert 0 and stores no row: the
  // roles stay in step without a branch.
  int64_t tilesPerBlock = spec.tableBlock / spec.block;
  Value index = row;
  if (tilesPerBlock > 1)
    index = arith::DivUIOp::create(b, loc, row, i32(tilesPerBlock));
  if (tileStep() < spec.block)
    tile.end = add(tile.firstRow, i32(tileStep()));
  Value expert = loadI32(param(GemmParam::TileExpert), index);
  Value exists =
      arith::CmpIOp::create(b, loc, arith::CmpIPredicate::sge, expert, i32(0));
  tile.limit = arith::SelectOp::create(b, loc, exists, tile.limit, i32(0));
  expert = arith::MaxSIOp::create(b, loc, expert, i32(0));
  tile.expert = UniformOp::create(b, loc, expert);
  return tile;
}

Value GemmBuilder::sourceRows(const Tile &tile) {
  bool sorted = spec.aOrder == GemmRowOrder::Sorted;
  int64_t divisor = spec.source == GemmRowSource::Token ? spec.topK : 1;
  auto type = SourceRowsType::get(b.getContext(), spec.block / 16);
  return SourceRowsOp::create(
      b, loc, type, param(GemmParam::A), tile.firstRow, tile.limit, table(),
      tile.end, spec.block, shape.pitchA * kMultiplicandBytes, divisor, sorted);
}

//===----------------------------------------------------------------------===//
// Epilogue
//===----------------------------------------------------------------------===//

namespace {
/// The region of the epilogue: one value of c from its accumulators.
struct EpilogueBody {
  GemmBuilder &g;
  Value biasBase;

  Value load(Value base, Value index, GemmElement kind) {
    OpBuilder &b = g.b;
    Type type = g.elementType(kind);
    Value address = LLVM::GEPOp::create(b, g.loc, base.getType(), type, base,
                                        ArrayRef<LLVM::GEPArg>{index});
    Value value = LLVM::LoadOp::create(
        b, g.loc, type, address, bytesOf(kind), /*isVolatile=*/false,
        /*isNonTemporal=*/false, /*isInvariant=*/true);
    if (kind == GemmElement::F32)
      return value;
    return arith::ExtFOp::create(b, g.loc, b.getF32Type(), value);
  }

  /// Row of b that part `part` of column `col` of c comes from.
  Value biasIndex(Value col, int64_t part) {
    if (g.shape.parts == 1)
      return col;
    if (g.spec.activation.layout == GemmGateLayout::Halves)
      return part ? g.add(col, g.i32(g.shape.outCols)) : col;
    Value even = g.mul(col, 2);
    return part ? g.add(even, g.i32(1)) : even;
  }

  Value emit(SmallVector<Value> parts, Value row, Value col) {
    OpBuilder &b = g.b;
    Value weight;
    if (g.has(GemmParam::Weights))
      weight = load(g.param(GemmParam::Weights), row, GemmElement::F32);
    for (auto [index, value] : llvm::enumerate(parts)) {
      if (g.spec.weight == GemmWeight::Input)
        value = arith::MulFOp::create(b, g.loc, value, weight);
      if (biasBase)
        value = arith::AddFOp::create(
            b, g.loc, value,
            load(biasBase, biasIndex(col, index), *g.spec.bias));
    }
    Value result = emitActivation(b, g.loc, g.spec.activation, parts.front(),
                                  parts.size() > 1 ? parts.back() : Value());
    if (g.spec.weight == GemmWeight::Output)
      result = arith::MulFOp::create(b, g.loc, result, weight);
    return result;
  }
};
} // namespace

void GemmBuilder::finish(const Tile &tile, Value firstRow, Value accumulator,
                         Value rows, Value staging) {
  auto from = cast<FragmentType>(accumulator.getType());
  Value result = accumulator;
  bool plain = spec.activation.kind == GemmActivation::None && !spec.bias &&
               spec.weight == GemmWeight::None;
  if (!plain) {
    EpilogueBody body{*this, Value()};
    if (spec.bias)
      body.biasBase =
          expertBase(param(GemmParam::Bias), tile.expert,
                     spec.biasMemory.pitch ? spec.biasMemory.pitch : spec.n,
                     bytesOf(*spec.bias));
    auto to =
        FragmentType::get(b.getContext(), from.getRows(),
                          from.getCols() / from.getParts(), from.getMma(), 1);
    auto epilogue = EpilogueOp::create(b, loc, to, accumulator, rows,
                                       tile.firstCol, shape.outCols);
    OpBuilder::InsertionGuard guard(b);
    SmallVector<Type> types(shape.parts, b.getF32Type());
    types.append(2, b.getI32Type());
    Block *block = b.createBlock(&epilogue.getBody(), {}, types,
                                 SmallVector<Location>(types.size(), loc));
    SmallVector<Value> parts(block->getArguments().begin(),
                             block->getArguments().end() - 2);
    Value value = body.emit(parts, block->getArgument(shape.parts),
                            block->getArgument(shape.parts + 1));
    YieldOp::create(b, loc, value);
    result = epilogue.getResult();
  }
  bool sorted = spec.cOrder == GemmRowOrder::Sorted;
  StoreOp::create(b, loc, result, rows, param(GemmParam::C), tile.firstCol,
                  sorted ? firstRow : Value(), staging, shape.outCols,
                  elementType(spec.output), shape.pitchC,
                  spec.c.alignmentBytes);
}

//===----------------------------------------------------------------------===//
// Function and launch facts
//===----------------------------------------------------------------------===//

static SmallVector<GemmParam> listParams(const GemmKernelSpec &spec) {
  SmallVector<GemmParam> params = {
      GemmParam::A,
      spec.family == GemmFamily::Wgmma ? GemmParam::BMap : GemmParam::B};
  if (!spec.dense)
    params.append(
        {GemmParam::SortedRows, GemmParam::TileExpert, GemmParam::Padded});
  if (spec.bias)
    params.push_back(GemmParam::Bias);
  if (spec.weight != GemmWeight::None)
    params.push_back(GemmParam::Weights);
  params.append({GemmParam::C,
                 spec.rowsInMemory ? GemmParam::RowsBuffer : GemmParam::Rows});
  return params;
}

/// b as {K, rows of a part, parts, E}: one box holds gate and up rows.
static GemmTensorMap describeMap(const GemmKernelSpec &spec,
                                 const GemmShape &shape) {
  GemmTensorMap map;
  map.element = spec.element;
  int64_t row = shape.pitchB * kMultiplicandBytes;
  int64_t expert = shape.expertB * kMultiplicandBytes;
  bool halves = spec.activation.layout == GemmGateLayout::Halves;
  if (shape.parts == 1) {
    map.dims = {spec.k, spec.n, spec.experts};
    map.strideBytes = {row, expert};
    map.box = {kBlockK, shape.tileCols, 1};
    return map;
  }
  map.dims = {spec.k, shape.outCols, shape.parts, spec.experts};
  map.strideBytes = {halves ? row : 2 * row, halves ? shape.outCols * row : row,
                     expert};
  map.box = {kBlockK, shape.tileCols, shape.parts, 1};
  return map;
}

static LLVM::LLVMFuncOp createFunction(OpBuilder &b, Location loc,
                                       const GemmKernelSpec &spec,
                                       const GemmShape &shape,
                                       ArrayRef<GemmParam> params) {
  MLIRContext *context = b.getContext();
  SmallVector<Type> types;
  for (GemmParam kind : params)
    types.push_back(kind == GemmParam::Rows ? Type(b.getI32Type())
                    : kind == GemmParam::BMap
                        ? Type(LLVM::LLVMPointerType::get(context))
                        : Type(LLVM::LLVMPointerType::get(context, 1)));
  auto type =
      LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(context), types);
  auto func = LLVM::LLVMFuncOp::create(b, loc, spec.name, type);
  func->setAttr(gpu::GPUDialect::getKernelFuncAttrName(), b.getUnitAttr());
  func->setAttr(NVVM::NVVMDialect::getKernelFuncAttrName(), b.getUnitAttr());
  func->setAttr(
      NVVM::NVVMDialect::getReqntidAttrName(),
      b.getDenseI32ArrayAttr({static_cast<int32_t>(shape.threads), 1, 1}));
  func->setAttr(NVVM::NVVMDialect::getMinctasmAttrName(),
                b.getI32IntegerAttr(shape.ctasPerSM));
  for (auto [index, kind] : llvm::enumerate(params)) {
    if (kind != GemmParam::BMap)
      continue;
    constexpr int64_t kMapBytes = 128, kMapAlign = 64;
    func.setArgAttr(
        index, LLVM::LLVMDialect::getByValAttrName(),
        TypeAttr::get(LLVM::LLVMArrayType::get(b.getI8Type(), kMapBytes)));
    func.setArgAttr(index, LLVM::LLVMDialect::getAlignAttrName(),
                    b.getI64IntegerAttr(kMapAlign));
    func.setArgAttr(index, NVVM::NVVMDialect::getGridConstantAttrName(),
                    b.getUnitAttr());
  }
  return func;
}

void cta::registerGemmKernelDialects(DialectRegistry &registry) {
  registry.insert<CTADialect, gpu::GPUDialect, LLVM::LLVMDialect,
                  NVVM::NVVMDialect, arith::ArithDialect, scf::SCFDialect>();
}

FailureOr<GemmKernel> cta::buildGemmKernel(Location loc,
                                           gpu::GPUModuleOp module,
                                           const GemmKernelSpec &spec) {
  if (failed(verifyGemmKernelSpec(loc, spec)))
    return failure();
  FailureOr<GemmShape> shape = deriveShape(loc, spec);
  if (failed(shape))
    return failure();
  if (SymbolTable::lookupSymbolIn(module, spec.name))
    return emitError(loc) << "module already has a symbol '" << spec.name
                          << "'";

  GemmKernel kernel;
  kernel.params = listParams(spec);
  OpBuilder b(module.getContext());
  b.setInsertionPointToEnd(module.getBody());
  kernel.func = createFunction(b, loc, spec, *shape, kernel.params);
  Block *entry = kernel.func.addEntryBlock(b);
  b.setInsertionPointToStart(entry);

  GemmBuilder builder(b, loc, spec, *shape, entry);
  builder.bindParams(kernel.params);
  if (spec.family == GemmFamily::Wgmma) {
    kernel.map = describeMap(spec, *shape);
    builder.buildWgmma();
  } else {
    builder.buildMmaSync();
  }
  LLVM::ReturnOp::create(b, loc, ValueRange());

  kernel.threads = shape->threads;
  kernel.sharedBytes = PlanOp::of(entry->getTerminator()).getSharedBytes();
  kernel.ctasPerSM = shape->ctasPerSM;
  kernel.colTiles = shape->colTiles;
  kernel.tileCols = shape->tileCols;
  kernel.stages = shape->stages;
  return kernel;
}
