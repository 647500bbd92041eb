/*===- OtherLLVM.c - a program that has another LLVM -*- C -*-===*
 *
 * Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
 * See LICENSE for license information.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 *===----------------------------------------------------------------------===*/

/* The C interface of LLVM, found before that of libLLVM. */
/* NOLINTNEXTLINE(readability-identifier-naming): LLVM's own name */
void LLVMGetVersion(unsigned *major, unsigned *minor, unsigned *patch) {
  *major = 21;
  *minor = 1;
  *patch = 3;
}
