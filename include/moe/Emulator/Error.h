//===- Error.h - what goes wrong before a kernel runs -*- C++ -*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MOE_EMULATOR_ERROR_H
#define MOE_EMULATOR_ERROR_H

#include <cstdint>
#include <stdexcept>
#include <string>

namespace mlir::moe::emulator {

/// PTX that cannot be read, an instruction that is not known, a launch that
/// does not fit its kernel. `line()` counts lines of the PTX text from 1; 0
/// where no line is to blame.
class Error : public std::runtime_error {
public:
  Error(uint32_t line, const std::string &text)
      : std::runtime_error(line ? "line " + std::to_string(line) + ": " + text
                                : text),
        lineNumber(line) {}

  uint32_t line() const { return lineNumber; }

private:
  uint32_t lineNumber;
};

} // namespace mlir::moe::emulator

#endif // MOE_EMULATOR_ERROR_H
