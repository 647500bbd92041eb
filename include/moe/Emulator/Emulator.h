//===- Emulator.h - execute and check PTX on the CPU -*- C++ -*-===//
//
// Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The emulator runs the PTX text that LLVM's NVPTX back end prints on the
// processors of this machine, and looks for hazards while it does.
//
//   auto module = Module::parse(text);              // Module.h
//   Memory memory;                                  // Memory.h
//   void *data = memory.allocate(bytes, "rows");
//   Launch launch;                                  // Launch.h
//   launch.module = module;
//   launch.entry = "kernel";
//   launch.setParameter(0, data);
//   Report report = run(launch, memory);            // Report.h
//
// From text to values:
//
//   Lexer, Parse*      text -> EntrySyntax: names are registers and labels
//   Decode*            EntrySyntax -> Program: a handler and offsets of
//   operands
//                      for each instruction, decoded with and without checks
//   ControlFlow        where lanes that a branch parts meet again
//   PlaceRegisters     virtual registers share places; who reads undefined ones
//   Launch, Cluster    blocks over processors, warps in turns, deadlocks
//   RunWarp, Warp      the loop over instructions; groups of lanes
//   one file each      Integer, Float, Memory, MBarrier, Wgmma, ...: handlers
//
// A handler runs one instruction for 32 lanes: registers are arrays of 32
// values, predicates words of 32 bits. Handlers of arithmetic are loops over
// lanes made from a functor (lib/Emulator/Lanes.h) and know nothing of checks.
//
// How to add an instruction: in the file of its family write
//
//   static void decodeName(DecodeContext &context) {
//     Type type = context.takeType();       // modifiers are taken one by one;
//     context.needOperands(3);              // what is left over is an error
//     context.d(0, type.bits);              // destination: operand 0
//     context.a(1, type.bits);              // sources: registers or constants
//     context.b(2, type.bits);
//     context.out().poison = Poison::Mix;   // how undefined bytes spread
//     context.run(handler);                 // or run(plain, checked)
//   }
//
// and `table.add("name", decodeName)` at the end of the file. A handler that
// waits calls `warp.waitFor(...)` and returns: it runs again later. A hazard is
// `warp.report(...)`, one that ends the block `warp.stop(...)`.
//
//===----------------------------------------------------------------------===//

#ifndef MOE_EMULATOR_EMULATOR_H
#define MOE_EMULATOR_EMULATOR_H

#include "moe/Emulator/Error.h"
#include "moe/Emulator/Launch.h"
#include "moe/Emulator/Memory.h"
#include "moe/Emulator/Module.h"
#include "moe/Emulator/Report.h"

#endif // MOE_EMULATOR_EMULATOR_H
