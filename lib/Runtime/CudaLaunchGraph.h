//===- CudaLaunchGraph.h - launches that start together -*- C++ -*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A launch through the driver costs the calling thread about 3 microseconds; a
// graph of kernels costs little more than one launch, whatever it holds.
//
//===----------------------------------------------------------------------===//

#ifndef MOE_LIB_RUNTIME_CUDALAUNCHGRAPH_H
#define MOE_LIB_RUNTIME_CUDALAUNCHGRAPH_H

#include "CudaDriver.h"
#include "Device.h"

namespace mlir::moe::runtime::cuda {

/// Builds, instantiates and uploads the graph, within a current context, so
/// that no call has to. `functions` are by kernel number. Null for a single
/// launch.
std::unique_ptr<LaunchGraph>
makeLaunchGraph(const CudaDriver &driver, const Bundle &bundle,
                const std::vector<void *> &functions,
                const std::vector<Launch> &launches);

} // namespace mlir::moe::runtime::cuda

#endif // MOE_LIB_RUNTIME_CUDALAUNCHGRAPH_H
