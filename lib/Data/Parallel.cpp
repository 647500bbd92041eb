//===- Parallel.cpp - loops over large arrays -*- C++ -*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "moe/Data/Parallel.h"

#include <algorithm>
#include <system_error>
#include <thread>
#include <vector>

namespace mlir::moe {

/// Below this many elements a thread costs more than it brings.
static constexpr int64_t kElementsPerThread = int64_t(1) << 18;
static constexpr int64_t kMaxThreads = 64;

void parallelFor(int64_t size, int64_t grain,
                 const std::function<void(int64_t, int64_t)> &body) {
  int64_t threads =
      std::min<int64_t>({std::max(1u, std::thread::hardware_concurrency()),
                         kMaxThreads, size / kElementsPerThread + 1});
  int64_t share = (size + threads - 1) / threads;
  share = (share + grain - 1) / grain * grain;
  std::vector<std::thread> workers;
  workers.reserve(static_cast<size_t>(threads));
  int64_t begin = 0;
  for (; begin + share < size; begin += share) {
    try {
      workers.emplace_back(body, begin, begin + share);
    } catch (const std::system_error &) {
      break; // no more threads to have: this one does the rest
    }
  }
  if (begin < size)
    body(begin, size);
  for (std::thread &worker : workers)
    worker.join();
}

} // namespace mlir::moe
