/*===- OtherMLIR.c - a second MLIR in the program -*- C -*-===*
 *
 * Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
 * See LICENSE for license information.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 *===----------------------------------------------------------------------===*/

/* Only the name of the file counts. */
extern const int otherMLIR;
const int otherMLIR = 1;
