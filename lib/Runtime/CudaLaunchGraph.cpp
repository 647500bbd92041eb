//===- CudaLaunchGraph.cpp - launches that start together -*- C++ -*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CudaLaunchGraph.h"

#include "Error.h"

#include <algorithm>

using namespace mlir::moe::runtime;
using namespace mlir::moe::runtime::cuda;

namespace {
class CudaLaunchGraph : public LaunchGraph {
public:
  explicit CudaLaunchGraph(const CudaDriver &driver) : driver(driver) {}
  ~CudaLaunchGraph() override;
  CudaLaunchGraph(const CudaLaunchGraph &) = delete;
  CudaLaunchGraph &operator=(const CudaLaunchGraph &) = delete;

  /// Appends a launch of one block, whose parameters are zeros.
  void append(const Kernel &kernel, void *function);
  void instantiate();

  bool begin(void *stream) override;
  void set(size_t index, const LaunchRequest &request) override;
  void launch(void *stream) override;

private:
  const CudaDriver &driver;
  Handle graph = nullptr;
  Handle executable = nullptr;
  std::vector<Handle> nodes;
  /// Of the last call; no stream before the first.
  bool wasUsed = false;
  void *lastStream = nullptr;
};
} // namespace

CudaLaunchGraph::~CudaLaunchGraph() {
  if (executable)
    driver.graphExecDestroy(executable);
  if (graph)
    driver.graphDestroy(graph);
}

static KernelNode describe(const Kernel &kernel, void *function,
                           const uint32_t *grid, void **parameters) {
  return {function,
          {grid[0], grid[1], grid[2]},
          {kernel.threads, 1, 1},
          kernel.sharedBytes,
          parameters,
          nullptr,
          nullptr,
          nullptr};
}

void CudaLaunchGraph::append(const Kernel &kernel, void *function) {
  if (!graph)
    driver.check(driver.graphCreate(&graph, 0), "cuGraphCreate");
  uint64_t largest = 0;
  for (uint64_t bytes : kernel.parameterBytes)
    largest = std::max(largest, bytes);
  std::vector<TensorMap> zeros(largest / sizeof(TensorMap) + 1);
  std::vector<void *> parameters(kernel.parameterBytes.size(), zeros.data());
  constexpr uint32_t kOneBlock[3] = {1, 1, 1};
  KernelNode node = describe(kernel, function, kOneBlock, parameters.data());
  Handle added = nullptr;
  driver.check(driver.graphAddKernel(&added, graph,
                                     nodes.empty() ? nullptr : &nodes.back(),
                                     nodes.empty() ? 0 : 1, &node),
               "cuGraphAddKernelNode");
  nodes.push_back(added);
}

void CudaLaunchGraph::instantiate() {
  driver.check(driver.graphInstantiate(&executable, graph, 0),
               "cuGraphInstantiateWithFlags");
  Handle stream = nullptr;
  driver.check(driver.streamCreate(&stream, kStreamNonBlocking),
               "cuStreamCreate");
  Result uploaded = driver.graphUpload(executable, stream);
  Result finished = driver.streamSynchronize(stream);
  driver.streamDestroy(stream);
  driver.check(uploaded, "cuGraphUpload");
  driver.check(finished, "cuStreamSynchronize");
}

bool CudaLaunchGraph::begin(void *stream) {
  int status = kCaptureNone;
  if (driver.captureStatus(stream, &status) != kSuccess ||
      status != kCaptureNone)
    return false;
  // Executions of one graph wait for each other, whatever their streams are.
  bool suits = !wasUsed || lastStream == stream;
  wasUsed = true;
  lastStream = stream;
  return suits;
}

void CudaLaunchGraph::set(size_t index, const LaunchRequest &request) {
  KernelNode node = describe(*request.kernel, request.function, request.grid,
                             request.parameters);
  driver.check(driver.graphSetKernel(executable, nodes[index], &node),
               "cuGraphExecKernelNodeSetParams");
}

void CudaLaunchGraph::launch(void *stream) {
  driver.check(driver.graphLaunch(executable, stream), "cuGraphLaunch");
}

std::unique_ptr<LaunchGraph>
cuda::makeLaunchGraph(const CudaDriver &driver, const Bundle &bundle,
                      const std::vector<void *> &functions,
                      const std::vector<Launch> &launches) {
  if (launches.size() < 2)
    return nullptr;
  auto graph = std::make_unique<CudaLaunchGraph>(driver);
  for (const Launch &launch : launches)
    graph->append(bundle.kernels[launch.kernel], functions[launch.kernel]);
  graph->instantiate();
  return graph;
}
