//===- NpyHeader.h - the text at the start of a .npy file -*- C++ -*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MOE_LIB_DATA_NPYHEADER_H
#define MOE_LIB_DATA_NPYHEADER_H

#include "moe/Data/Elements.h"

#include <vector>

namespace mlir::moe {

/// What the header of a file says.
struct NpyHeader {
  /// The type code, such as "<f4".
  std::string descr;
  bool fortranOrder = false;
  std::vector<int64_t> shape;
};

/// Parses the text, a Python dictionary with the keys descr, fortran_order and
/// shape; false where it is malformed.
bool parseNpyHeader(std::string_view text, NpyHeader &header);

/// The text for an array in C order, without padding.
std::string npyHeaderText(std::string_view descr, ShapeView shape);

/// The type code in which arrays of `kind` are written.
std::string_view npyDescr(ElementKind kind);
/// How elements of type code `descr` are read before they become `wanted`;
/// false where they cannot.
bool npyStoredKind(std::string_view descr, ElementKind wanted,
                   ElementKind &stored);

} // namespace mlir::moe

#endif // MOE_LIB_DATA_NPYHEADER_H
