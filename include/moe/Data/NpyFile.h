//===- NpyFile.h - the .npy format -*- C++ -*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An array on disk is a `.npy` file in C order, little endian. The kinds that
// NumPy does not have travel as bit patterns: bf16 as `<u2` (`|V2` is read
// too), fp8 as `|u1`. Which kind a file holds is therefore known by the reader,
// who passes it.
//
// Functions that can fail return the reason, or an empty text.
//
//===----------------------------------------------------------------------===//

#ifndef MOE_DATA_NPYFILE_H
#define MOE_DATA_NPYFILE_H

#include "moe/Data/Elements.h"

#include <vector>

namespace mlir::moe {

/// An open file whose header has been read.
class NpyReader {
public:
  NpyReader() = default;
  ~NpyReader();
  NpyReader(const NpyReader &) = delete;
  NpyReader &operator=(const NpyReader &) = delete;

  /// Opens a file of elements that become `kind`: stored as such or, for
  /// integers, in another width.
  std::string open(const std::string &path, ElementKind kind);
  const std::vector<int64_t> &shape() const { return extents; }
  /// Reads all elements to `target`, which has room for `shape()` of the kind.
  /// A file of another size and an integer that the kind cannot hold are
  /// errors.
  std::string read(void *target);

private:
  std::string readHeader();
  std::string parseHeader(const std::string &text);
  std::string convert(void *target, int64_t elements);
  ShapeView view() const { return {extents.data(), extents.size()}; }

  std::string path;
  int descriptor = -1;
  ElementKind kind = ElementKind::F32;
  /// How the file holds the elements.
  ElementKind stored = ElementKind::F32;
  std::vector<int64_t> extents;
  /// Where the elements start, and where the file ends.
  int64_t start = 0, end = 0;
};

/// Writes an array, replacing the file.
std::string writeNpyFile(const std::string &path, ElementKind kind,
                         ShapeView shape, const void *data);

} // namespace mlir::moe

#endif // MOE_DATA_NPYFILE_H
