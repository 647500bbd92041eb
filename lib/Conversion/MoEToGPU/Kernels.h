//===- Kernels.h - one function per moe op ----------------------*- C++ -*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each function adds the kernels of one op on checked memrefs to the site's
// gpu.module, and their launches in order before the op. The op
// itself stays. Failure means that an error has been emitted at the op.
//
//===----------------------------------------------------------------------===//

#ifndef MOE_LIB_CONVERSION_MOETOGPU_KERNELS_H
#define MOE_LIB_CONVERSION_MOETOGPU_KERNELS_H

#include "KernelBuilder.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

namespace mlir::moe {

LogicalResult outline(GateOp op, LaunchSite &site);
LogicalResult outline(RouteOp op, LaunchSite &site);
LogicalResult outline(AlignOp op, LaunchSite &site);
LogicalResult outline(GroupIdsOp op, LaunchSite &site);
LogicalResult outline(GroupedGemmOp op, LaunchSite &site);
LogicalResult outline(ActivationOp op, LaunchSite &site);
LogicalResult outline(CombineOp op, LaunchSite &site);
LogicalResult outline(PermuteOp op, LaunchSite &site);
LogicalResult outline(UnpermuteOp op, LaunchSite &site);
LogicalResult outline(memref::CopyOp op, LaunchSite &site);
LogicalResult outline(linalg::FillOp op, LaunchSite &site);

/// True for a fill of a memref with a constant.
bool isConstantFill(linalg::FillOp op);

/// A memref whose extent 0 times `factor` is the number T * k of flat rows.
struct FlatRows {
  Value memref; // null where no operand tells
  int64_t factor = 1;
};

/// Which operand of an aligned GEMM tells the number of flat rows.
FlatRows flatRows(GroupedGemmOp op);

/// For an aligned GEMM no operand of which tells: a buffer [1] of i32 that a
/// kernel fills with the number of flat rows. Null for any other GEMM.
Value tableRowsOf(GroupedGemmOp op, LaunchSite &site);

/// The kernels of a GEMM without a tensor-core schedule.
LogicalResult outlineSimtGemm(GroupedGemmOp op, LaunchSite &site);

//===--- pieces that several kernels share --------------------------------===//

/// The rule that decides which slots exist: the local expert of `id`, or -1.
/// `map` has `globalExperts` entries; without one it is empty.
Val localExpert(KernelBuilder &k, Val id, std::optional<Buffer> map,
                int64_t globalExperts, int64_t experts);

/// The expert of row `row` under end offsets or sizes of `experts` groups, or
/// -1 beyond the last end; `rows` is the number of rows.
Val expertOfRow(KernelBuilder &k, Buffer groups, int64_t experts,
                Grouping grouping, Val row, Val rows);

/// The end of group `expert`, given the end of the group before it.
Val nextGroupEnd(KernelBuilder &k, Buffer groups, Grouping grouping, Val expert,
                 Val previousEnd, Val rows);

/// The host memref of an optional operand as a kernel argument.
std::optional<Buffer> optionalBuffer(KernelBuilder &k, StringRef name,
                                     Value memref);

/// Threads of a block that walks `items` items: a multiple of 32, at most
/// `limit`.
int64_t threadsFor(int64_t items, int64_t limit);

} // namespace mlir::moe

#endif // MOE_LIB_CONVERSION_MOETOGPU_KERNELS_H
