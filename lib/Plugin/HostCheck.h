//===- HostCheck.h - can this program use the plugin? -*- C++ -*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MOE_LIB_PLUGIN_HOSTCHECK_H
#define MOE_LIB_PLUGIN_HOSTCHECK_H

#include <string>

namespace mlir::moe {

/// Why the program that loads the plugin cannot use it, as a sentence; empty
/// where it can. A program needs the LLVM and MLIR of the plugin's minor
/// version, and no second MLIR: its symbols carry no version, so that two of
/// them in one program call each other.
std::string describeUnfitHost();

} // namespace mlir::moe

#endif // MOE_LIB_PLUGIN_HOSTCHECK_H
