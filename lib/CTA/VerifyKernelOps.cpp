//===- VerifyKernelOps.cpp - plan, ring, roles, tile loop -------*- C++ -*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "moe/CTA/CTADialect.h"
#include "moe/Target/Target.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::cta;

/// Registers of a multiprocessor of the chip that has the most: roles name no
/// chip.
static int64_t mostRegistersPerSM() {
  int64_t most = 0;
  for (const moe::Target &target : moe::allTargets())
    most = std::max(most, target.registersPerSM);
  return most;
}

//===----------------------------------------------------------------------===//
// Where an op is
//===----------------------------------------------------------------------===//

bool mlir::cta::isInRole(Operation *op, bool producer) {
  auto roles = op->getParentOfType<RolesOp>();
  if (!roles)
    return false;
  Region &region = producer ? roles.getProducer() : roles.getConsumer();
  return region.findAncestorOpInRegion(*op) != nullptr;
}

static LogicalResult requireRole(Operation *op, bool producer,
                                 StringRef number) {
  if (isInRole(op, producer))
    return success();
  return op->emitOpError() << "must be in the "
                           << (producer ? "producer" : "consumer")
                           << " region of 'cta.roles' (" << number << ")";
}

static LogicalResult requireCompletion(Operation *op, RingType ring,
                                       Completion completion,
                                       StringRef number) {
  if (ring.getCompletion() == completion)
    return success();
  return op->emitOpError() << "requires a ring with '"
                           << stringifyCompletion(completion)
                           << "' completion, but got " << ring << " (" << number
                           << ")";
}

//===----------------------------------------------------------------------===//
// Plan
//===----------------------------------------------------------------------===//

int64_t PlanOp::getSharedBytes() {
  int64_t end = 0;
  for (auto buffer : getBuffers().getAsRange<BufferAttr>())
    end = std::max(end, buffer.getOffset() + buffer.getBytes());
  return end;
}

PlanOp PlanOp::of(Operation *op) {
  auto func = op->getParentOfType<LLVM::LLVMFuncOp>();
  if (!func || func.isExternal())
    return {};
  auto plans = func.getBody().front().getOps<PlanOp>();
  return plans.empty() ? PlanOp() : *plans.begin();
}

static LogicalResult verifyThreads(PlanOp op) {
  int64_t threads = op.getThreads();
  if (threads < 32 || threads > 1024 || threads % 32)
    return op.emitOpError("requires threads to be a multiple of 32 in [32, "
                          "1024], but got ")
           << threads << " (C1)";
  auto func = op->getParentOfType<LLVM::LLVMFuncOp>();
  auto block = func ? func->getAttrOfType<DenseI32ArrayAttr>(
                          NVVM::NVVMDialect::getReqntidAttrName())
                    : DenseI32ArrayAttr();
  if (!block)
    return success();
  int64_t product = 1;
  for (int32_t extent : block.asArrayRef())
    product *= extent;
  if (product != threads)
    return op.emitOpError("states ")
           << threads << " threads, but the kernel has " << product << " (C1)";
  return success();
}

LogicalResult PlanOp::verify() {
  if (failed(verifyThreads(*this)))
    return failure();
  if (getBuffers().size() != getNumResults())
    return emitOpError("has ") << getBuffers().size() << " buffers, but "
                               << getNumResults() << " results (C2)";
  int64_t end = 0;
  for (auto buffer : getBuffers().getAsRange<BufferAttr>()) {
    int64_t align = buffer.getAlign();
    if (align <= 0 || !llvm::isPowerOf2_64(align) ||
        align > kSwizzleAtomBytes || buffer.getOffset() % align)
      return emitOpError("requires align to be a power of two up to 1024 that "
                         "divides the offset, but got ")
             << buffer << " (C3)";
    if (buffer.getOffset() < end || buffer.getBytes() < 0)
      return emitOpError("buffer ")
             << buffer << " overlaps the ones before it, which end at " << end
             << " (C4)";
    end = buffer.getOffset() + buffer.getBytes();
  }
  if (end <= static_cast<int64_t>(getLimit()))
    return success();
  InFlightDiagnostic error = emitOpError("needs ")
                             << end << " bytes of shared memory, but the limit "
                             << "is " << getLimit() << " (C5):";
  for (auto buffer : getBuffers().getAsRange<BufferAttr>())
    error << " '" << buffer.getName() << "' " << buffer.getBytes();
  return error << "; use fewer stages or a smaller tile";
}

//===----------------------------------------------------------------------===//
// Ring
//===----------------------------------------------------------------------===//

/// Threads that run `op`: one warpgroup in a producer region, every consumer
/// in a consumer region, the whole block elsewhere.
static int64_t countThreads(Operation *op) {
  if (auto roles = op->getParentOfType<RolesOp>())
    return isInRole(op, /*producer=*/true)
               ? kWarpgroupThreads
               : kWarpgroupThreads * roles.getConsumers();
  PlanOp plan = PlanOp::of(op);
  return plan ? plan.getThreads() : 0;
}

static LogicalResult verifyStorage(RingOp op) {
  auto plan = op.getStorage().getDefiningOp<PlanOp>();
  if (!plan)
    return op.emitOpError("requires its storage to be a buffer of 'cta.plan' "
                          "(C2)");
  unsigned index = cast<OpResult>(op.getStorage()).getResultNumber();
  if (index >= plan.getBuffers().size())
    return success(); // The plan reports it.
  auto buffer = cast<BufferAttr>(plan.getBuffers()[index]);
  int64_t bytes = op.getRing().getType().getStorageBytes();
  if (buffer.getAlign() >= kSwizzleAtomBytes && buffer.getBytes() >= bytes)
    return success();
  return op.emitOpError("requires a buffer of ")
         << bytes << " bytes aligned to " << kSwizzleAtomBytes << ", but got "
         << buffer << " (C2)";
}

LogicalResult RingOp::verify() {
  bool barriers = getRing().getType().getCompletion() == Completion::Mbarrier;
  if (barriers != getFull().has_value() || barriers != getEmpty().has_value())
    return emitOpError("requires 'full' and 'empty' exactly with 'mbarrier' "
                       "completion (C1)");
  if (barriers && (static_cast<int64_t>(*getFull()) <= 0 ||
                   static_cast<int64_t>(*getEmpty()) <= 0))
    return emitOpError("requires positive arrival counts (C1)");
  if (failed(verifyStorage(*this)))
    return failure();
  if (!barriers)
    return success();

  int64_t commits = 0, bulk = 0, releases = 0;
  for (Operation *user : getRing().getUsers()) {
    if (isa<CommitOp>(user))
      commits = std::max(commits, countThreads(user));
    if (isa<TmaLoadOp>(user))
      bulk = 1;
    if (isa<ReleaseOp>(user))
      releases = std::max(releases, countThreads(user) / kWarpThreads);
  }
  if (commits + bulk && commits + bulk != static_cast<int64_t>(*getFull()))
    return emitOpError("requires 'full' to count ")
           << commits << " committing threads and " << bulk
           << " bulk copy, but got " << *getFull() << " (C3)";
  if (releases && releases != static_cast<int64_t>(*getEmpty()))
    return emitOpError("requires 'empty' to count ")
           << releases << " releasing warps, but got " << *getEmpty()
           << " (C4)";
  return success();
}

LogicalResult AcquireOp::verify() {
  if (failed(requireCompletion(*this, getRing().getType(), Completion::Mbarrier,
                               "C1")))
    return failure();
  return requireRole(*this, /*producer=*/true, "C2");
}

LogicalResult AwaitOp::verify() {
  if (getRing().getType().getCompletion() == Completion::Groups)
    return success();
  return requireRole(*this, /*producer=*/false, "C1");
}

LogicalResult ReleaseOp::verify() {
  if (failed(requireCompletion(*this, getRing().getType(), Completion::Mbarrier,
                               "C1")))
    return failure();
  return requireRole(*this, /*producer=*/false, "C2");
}

LogicalResult DrainOp::verify() {
  return requireCompletion(*this, getRing().getType(), Completion::Groups,
                           "C1");
}

//===----------------------------------------------------------------------===//
// Roles
//===----------------------------------------------------------------------===//

static bool isBudget(int64_t registers) {
  return registers >= 24 && registers <= 256 && registers % 8 == 0;
}

static LogicalResult verifyBudgets(RolesOp op) {
  auto producer = op.getProducerRegisters();
  auto consumer = op.getConsumerRegisters();
  if (producer.has_value() != consumer.has_value())
    return op.emitOpError("requires both register budgets or none (C2)");
  if (!producer)
    return success();
  if (!isBudget(*producer) || !isBudget(*consumer))
    return op.emitOpError("requires register budgets to be multiples of 8 in "
                          "[24, 256], but got ")
           << *producer << " and " << *consumer << " (C2)";
  auto func = op->getParentOfType<LLVM::LLVMFuncOp>();
  auto blocks = func ? func->getAttrOfType<IntegerAttr>(
                           NVVM::NVVMDialect::getMinctasmAttrName())
                     : IntegerAttr();
  int64_t resident = blocks ? std::max<int64_t>(blocks.getInt(), 1) : 1;
  int64_t total = resident * kWarpgroupThreads *
                  (*producer + *consumer * op.getConsumers());
  if (total > mostRegistersPerSM())
    return op.emitOpError("budgets take ")
           << total << " registers of a multiprocessor, but it has "
           << mostRegistersPerSM() << " (C3)";
  return success();
}

LogicalResult RolesOp::verify() {
  int64_t threads = kWarpgroupThreads * (1 + getConsumers());
  PlanOp plan = PlanOp::of(*this);
  if (plan && static_cast<int64_t>(plan.getThreads()) != threads)
    return emitOpError("has 1 + ")
           << getConsumers() << " warpgroups, " << threads
           << " threads, but the plan has " << plan.getThreads() << " (C1)";
  if (failed(verifyBudgets(*this)))
    return failure();
  if ((*this)->getParentOfType<RolesOp>())
    return emitOpError("must not be nested in another 'cta.roles' (C4)");
  return success();
}

LogicalResult WarpgroupOp::verify() {
  return requireRole(*this, /*producer=*/false, "C1");
}

//===----------------------------------------------------------------------===//
// Tile loop
//===----------------------------------------------------------------------===//

LogicalResult TileLoopOp::verify() {
  if (static_cast<int64_t>(getColTiles()) <= 0 ||
      static_cast<int64_t>(getGroup()) <= 0)
    return emitOpError("requires positive column tiles and group, but got ")
           << static_cast<int64_t>(getColTiles()) << " and "
           << static_cast<int64_t>(getGroup()) << " (C1)";
  Block &body = getBody().front();
  auto isI32 = [](Type type) { return type.isInteger(32); };
  if (body.getNumArguments() != 2 + getInits().size() ||
      !llvm::all_of(body.getArgumentTypes(), isI32))
    return emitOpError("requires a body with ")
           << 2 + getInits().size() << " i32 arguments (C2)";
  auto yield = dyn_cast<YieldOp>(body.getTerminator());
  if (!yield || yield.getValues().getTypes() != getResultTypes())
    return emitOpError("requires its body to yield the carried values (C2)");
  return success();
}
