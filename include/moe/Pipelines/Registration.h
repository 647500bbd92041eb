//===- Registration.h - everything a tool or a plugin registers -*- C++ -*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MOE_PIPELINES_REGISTRATION_H
#define MOE_PIPELINES_REGISTRATION_H

namespace mlir {
class DialectRegistry;
} // namespace mlir

namespace mlir::moe {

/// Adds the dialects moe and cta with their interface implementations.
void registerDialects(DialectRegistry &registry);

/// The same and all that the pipelines may need around it: MLIR's dialects, the
/// implementations of interfaces for them, and translations to LLVM IR. What is
/// registered costs nothing until it is used.
void registerAllDialectsAndInterfaces(DialectRegistry &registry);

/// Registers every pass and every named pipeline of the project.
void registerPassesAndPipelines();

/// Makes --version of a tool name this project and the LLVM it is built on. To
/// be called before the command line is parsed.
void setVersionPrinter();

} // namespace mlir::moe

#endif // MOE_PIPELINES_REGISTRATION_H
