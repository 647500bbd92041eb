//===- RunSnippets.cpp - many small launches in one process -*- C++ -*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// moe-run-snippets REQUESTS REPLIES [--no-checks]
//
// Runs the entry `k` of each request: parameters are the addresses of an input
// and of an output, then tensor maps. One reply a request, written before the
// next one starts, so that what ends the process can be told:
//
//   request   u32 bytes of PTX, of input, of output; u32 grid[3], block[3],
//             dynamic shared bytes, maps; the PTX; the input; the maps
//   map       u32 type (of CUtensorMapDataType), rank, swizzle, fill NaN,
//             buffer (0 input, 1 output), offset; u64 extents[5], strides[4];
//             u32 box[5], steps[5]
//   reply     u32 status (0 ran, 1 refused, 2 ran and reports hazards), u32
//             bytes of text, the text, the output
//
//===----------------------------------------------------------------------===//

#include "moe/Emulator/Launch.h"
#include "moe/Emulator/TensorMap.h"

#include <cstdio>
#include <cstring>
#include <fstream>
#include <stdexcept>
#include <vector>

using namespace mlir::moe::emulator;

namespace {

struct MapRequest {
  uint32_t type, rank, swizzle, fillNaN, buffer, offset;
  uint64_t extents[kMaxTensorRank], strides[kMaxTensorRank - 1];
  uint32_t box[kMaxTensorRank], steps[kMaxTensorRank];
};

struct Request {
  struct {
    uint32_t ptxBytes, inputBytes, outputBytes;
    uint32_t grid[3], block[3];
    uint32_t sharedBytes, maps;
  } head;
  std::string ptx;
  std::vector<uint8_t> input;
  std::vector<MapRequest> maps;

  /// False behind the last one.
  bool read(std::istream &in) {
    if (!in.read(reinterpret_cast<char *>(&head), sizeof head))
      return false;
    ptx.resize(head.ptxBytes);
    input.resize(head.inputBytes);
    maps.resize(head.maps);
    in.read(ptx.data(), head.ptxBytes);
    in.read(reinterpret_cast<char *>(input.data()), head.inputBytes);
    in.read(reinterpret_cast<char *>(maps.data()),
            head.maps * sizeof(MapRequest));
    return bool(in);
  }
};

} // namespace

/// A map whose tensor lies in one of the two buffers.
static TensorMap mapOf(const MapRequest &request, uint8_t *input,
                       uint8_t *output) {
  TensorMap map;
  map.address = (request.buffer ? output : input) + request.offset;
  map.rank = request.rank;
  map.type = ElementType(request.type);
  map.swizzle = request.swizzle;
  map.fillNaN = request.fillNaN;
  for (uint32_t i = 0; i < kMaxTensorRank; ++i) {
    map.extents[i] = request.extents[i];
    map.box[i] = request.box[i];
    map.elementStrides[i] = request.steps[i];
    if (i + 1 < kMaxTensorRank)
      map.strides[i] = request.strides[i];
  }
  return map;
}

/// Runs the request; returns the status, with a text where it is not 0.
static uint32_t runRequest(const Request &request, bool checks,
                           std::vector<uint8_t> &output, std::string &text) {
  Memory memory;
  auto *in = static_cast<uint8_t *>(
      memory.allocate(std::max<size_t>(request.input.size(), 16), "in"));
  auto *out = static_cast<uint8_t *>(
      memory.allocate(std::max<size_t>(output.size(), 16), "out"));
  std::memcpy(in, request.input.data(), request.input.size());
  std::memset(out, 0, output.size());
  memory.markDefined(in, request.input.size());
  memory.markDefined(out, output.size());

  Launch launch;
  launch.module = Module::parse(request.ptx);
  launch.entry = "k";
  std::memcpy(launch.grid, request.head.grid, sizeof launch.grid);
  std::memcpy(launch.block, request.head.block, sizeof launch.block);
  launch.sharedBytes = request.head.sharedBytes;
  launch.checks = checks;
  launch.threads = 1;
  launch.maxInstructions = 10000000;
  launch.setParameter(0, uint64_t(reinterpret_cast<uintptr_t>(in)));
  launch.setParameter(1, uint64_t(reinterpret_cast<uintptr_t>(out)));
  for (size_t i = 0; i < request.maps.size(); ++i) {
    uint8_t encoded[kTensorMapBytes];
    mapOf(request.maps[i], in, out).encode(encoded);
    launch.setParameter(2 + i, encoded, sizeof encoded);
  }
  Report report = run(launch, memory);
  std::memcpy(output.data(), out, output.size());
  for (const Hazard &hazard : report.hazards)
    text += hazard.format() + "\n";
  return report.clean() ? 0 : 2;
}

int main(int argc, char **argv) {
  bool checks = true;
  std::vector<const char *> paths;
  for (int i = 1; i < argc; ++i) {
    if (std::strcmp(argv[i], "--no-checks") == 0)
      checks = false;
    else
      paths.push_back(argv[i]);
  }
  if (paths.size() != 2) {
    std::fprintf(stderr, "moe-run-snippets REQUESTS REPLIES [--no-checks]\n");
    return 2;
  }
  std::ifstream requests(paths[0], std::ios::binary);
  std::ofstream replies(paths[1], std::ios::binary);
  Request request;
  while (request.read(requests)) {
    std::vector<uint8_t> output(request.head.outputBytes);
    std::string text;
    uint32_t status;
    try {
      status = runRequest(request, checks, output, text);
    } catch (const Error &error) {
      status = 1;
      text = error.what();
    }
    uint32_t head[2] = {status, uint32_t(text.size())};
    replies.write(reinterpret_cast<char *>(head), sizeof head);
    replies.write(text.data(), text.size());
    replies.write(reinterpret_cast<char *>(output.data()), output.size());
    replies.flush();
  }
  return replies ? 0 : 1;
}
