//===- Arguments.h - buffers, tensor maps and parameters of a run -*- C++
//-*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MOE_TOOLS_MOE_EMU_ARGUMENTS_H
#define MOE_TOOLS_MOE_EMU_ARGUMENTS_H

#include "Options.h"

#include "moe/Data/Elements.h"
#include "moe/Emulator/Emulator.h"
#include "moe/Emulator/TensorMap.h"

#include <map>

namespace mlir::moe::emu {

/// The memory that the command line names.
class Arguments {
public:
  explicit Arguments(const Options &options);

  /// Fills in the parameters of the launch, and its contracts.
  void set(emulator::Launch &launch) const;
  /// Writes the buffers that --save names.
  void save() const;

  emulator::Memory memory;

private:
  struct Buffer {
    void *data;
    ElementKind kind;
    std::vector<int64_t> shape;
    uint64_t bytes;
  };
  struct alignas(64) EncodedMap {
    uint8_t bytes[emulator::kTensorMapBytes];
  };

  void addBuffer(const BufferOption &option);
  void addMap(const MapOption &option);
  const Buffer &buffer(const std::string &name) const;
  emulator::BufferContract contractOf(const ContractOption &option) const;
  void setParameter(emulator::Launch &launch, size_t index,
                    const emulator::Parameter &parameter,
                    const std::string &text) const;

  const Options &options;
  std::map<std::string, Buffer> buffers;
  std::map<std::string, EncodedMap> maps;
};

} // namespace mlir::moe::emu

#endif // MOE_TOOLS_MOE_EMU_ARGUMENTS_H
