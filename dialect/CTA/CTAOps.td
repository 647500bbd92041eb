//===- CTAOps.td - the ops of the cta dialect -*- tablegen -*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef CTA_OPS
#define CTA_OPS

include "CTAKernelOps.td"
include "CTALoadOps.td"
include "CTAMatrixOps.td"

#endif // CTA_OPS
