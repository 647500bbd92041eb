//===- CallMemoryTest.cpp - what the kernels of a call may touch ----------===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../../../lib/Emulator/CallMemory.h"
#include "../../../lib/Runtime/Error.h"

#include "gtest/gtest.h"

using namespace mlir::moe;
using emulator::CallMemory;

namespace {
/// A call of two arguments of one dimension, i32; the second one is a result.
class CallMemoryTest : public ::testing::Test {
protected:
  CallMemoryTest() {
    bundle.arguments.resize(2);
    for (runtime::Argument &argument : bundle.arguments) {
      argument.type = MOE_I32;
      argument.isResult = argument.isWritten = false;
      argument.alignment = 4;
      argument.shape.resize(1);
      argument.given = {true};
    }
    bundle.arguments[1].isResult = bundle.arguments[1].isWritten = true;
  }

  void give(size_t index, void *data, int64_t extent) {
    args[index].data = addresses[index] = data;
    args[index].shape[0] = extent;
  }
  runtime::CallRequest request() {
    return {&bundle, &variant, args, addresses};
  }
  static uint64_t addressOf(const void *data, uint64_t offset = 0) {
    return reinterpret_cast<uint64_t>(data) + offset;
  }

  runtime::Bundle bundle;
  runtime::Variant variant;
  moe_tensor args[2] = {};
  void *addresses[2] = {};
  emulator::Memory device;
};
} // namespace

TEST_F(CallMemoryTest, NothingButTheArguments) {
  auto *data = static_cast<char *>(device.allocate(1024, "device memory"));
  give(0, data, 10);
  give(1, data + 512, 4);
  CallMemory call(request(), device);
  EXPECT_TRUE(call.memory().find(addressOf(data), 40));
  EXPECT_FALSE(call.memory().find(addressOf(data), 41));
  EXPECT_FALSE(call.memory().find(addressOf(data, 256), 1));
  EXPECT_EQ(call.memory().find(addressOf(data, 512), 16)->name, "argument 1");
  ASSERT_EQ(call.contracts().size(), 1u);
  EXPECT_EQ(call.contracts()[0].name, "argument 0");
  EXPECT_FALSE(call.contracts()[0].mayWrite);
}

TEST_F(CallMemoryTest, StridedRowsEndWithTheLastElement) {
  auto *data = static_cast<char *>(device.allocate(1024, "device memory"));
  bundle.arguments[0].strides = {8};
  give(0, data, 3);
  give(1, data + 512, 0);
  CallMemory call(request(), device);
  EXPECT_TRUE(call.memory().find(addressOf(data), (2 * 8 + 1) * 4));
  EXPECT_FALSE(call.memory().find(addressOf(data), (2 * 8 + 1) * 4 + 1));
  EXPECT_EQ(call.memory().all().size(), 1u);
}

TEST_F(CallMemoryTest, OverlappingArgumentsAreOne) {
  auto *data = static_cast<char *>(device.allocate(1024, "device memory"));
  give(0, data, 10);
  give(1, data + 20, 10);
  CallMemory call(request(), device);
  EXPECT_EQ(call.memory().find(addressOf(data), 60)->name,
            "argument 0 and argument 1");
  // One of the two is a result.
  EXPECT_TRUE(call.contracts().empty());
}

TEST_F(CallMemoryTest, ArgumentsLieInMemoryOfTheDevice) {
  auto *data = static_cast<char *>(device.allocate(64, "device memory"));
  give(0, data, 16);
  give(1, data + 32, 9);
  EXPECT_THROW(CallMemory(request(), device), runtime::Error);
}

TEST_F(CallMemoryTest, WhatIsDefinedGoesInAndOut) {
  auto *data = static_cast<char *>(device.allocate(1024, "device memory"));
  device.markDefined(data, 8);
  give(0, data, 4);
  give(1, data + 512, 4);
  {
    CallMemory call(request(), device);
    EXPECT_TRUE(call.memory().isDefined(data, 8));
    EXPECT_FALSE(call.memory().isDefined(data + 8, 1));
    EXPECT_FALSE(call.memory().isDefined(data + 512, 1));
    const_cast<emulator::Memory &>(call.memory()).markDefined(data + 516, 4);
    EXPECT_FALSE(device.isDefined(data + 516, 4));
    call.finish();
  }
  EXPECT_TRUE(device.isDefined(data + 516, 4));
  EXPECT_FALSE(device.isDefined(data + 512, 4));
}

TEST_F(CallMemoryTest, WorkspaceIsApartAndNew) {
  auto *data = static_cast<char *>(device.allocate(1024, "device memory"));
  device.markDefined(data, 1024);
  variant.workspace.resize(2);
  for (runtime::WorkspaceBuffer &buffer : variant.workspace)
    buffer.type = MOE_I64;
  void *four[4] = {data, data + 512, data + 256, data + 768};
  give(0, data, 4);
  give(1, data + 512, 4);
  CallMemory call({&bundle, &variant, args, four}, device);
  EXPECT_EQ(four[1], data + 512);
  EXPECT_EQ(call.memory().find(addressOf(four[2]), 8)->name, "workspace 0");
  EXPECT_EQ(call.memory().find(addressOf(four[3]), 8)->name, "workspace 1");
  EXPECT_FALSE(call.memory().find(addressOf(four[2], 8), 1));
  EXPECT_FALSE(call.memory().isDefined(four[2], 1));
  EXPECT_EQ(addressOf(four[3]) % runtime::kWorkspaceAlignment, 0u);
}
