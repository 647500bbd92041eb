//===- Error.h - how a failure reaches the caller -*- C++ -*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Inside the library a failure is an exception; `guarded` turns it into a
// status and a text at the C interface, which nothing passes.
//
//===----------------------------------------------------------------------===//

#ifndef MOE_LIB_RUNTIME_ERROR_H
#define MOE_LIB_RUNTIME_ERROR_H

#include "moe/Runtime/moe_runtime.h"

#include <new>
#include <stdexcept>
#include <string>

namespace mlir::moe::runtime {

class Error : public std::runtime_error {
public:
  Error(moe_status status, const std::string &text)
      : std::runtime_error(text), code(status) {}
  moe_status status() const { return code; }

private:
  moe_status code;
};

[[noreturn]] inline void fail(moe_status status, const std::string &text) {
  throw Error(status, text);
}
[[noreturn]] inline void failArgument(const std::string &text) {
  fail(MOE_INVALID_ARGUMENT, text);
}
[[noreturn]] inline void failBundle(const std::string &text) {
  fail(MOE_INVALID_BUNDLE, text);
}

/// What moe_last_error returns in this thread; cut where it is very long.
void setLastError(const char *text) noexcept;
const char *lastError() noexcept;

/// Runs `function`; the status of what it threw, with its text stored.
template <typename Function>
moe_status guarded(Function &&function) noexcept {
  try {
    function();
    return MOE_OK;
  } catch (const Error &error) {
    setLastError(error.what());
    return error.status();
  } catch (const std::bad_alloc &) {
    setLastError("there is no host memory left");
    return MOE_OUT_OF_MEMORY;
  } catch (const std::exception &error) {
    setLastError(error.what());
    return MOE_INVALID_ARGUMENT;
  } catch (...) {
    setLastError("unknown failure");
    return MOE_INVALID_ARGUMENT;
  }
}

} // namespace mlir::moe::runtime

#endif // MOE_LIB_RUNTIME_ERROR_H
