// RUN: moe-opt %s --pass-pipeline='builtin.module(gpu.module(convert-cta-to-nvvm))' | FileCheck %s

// Block b of g takes tiles b, b + g, ...: down `group` row tiles, then to the
// next column tile; the last group may be shorter.

gpu.module @m {
  // CHECK-LABEL: llvm.func @grouped
  // CHECK-SAME: (%[[ROWS:.*]]: i32)
  llvm.func @grouped(%n: i32) {
    // CHECK: %[[C4:.*]] = arith.constant 4 : i32
    // CHECK: %[[TOTAL:.*]] = arith.muli %[[ROWS]], %[[C4]]
    // CHECK: %[[FIRST:.*]] = nvvm.read.ptx.sreg.ctaid.x
    // CHECK: %[[STEP:.*]] = nvvm.read.ptx.sreg.nctaid.x
    // CHECK: scf.for %[[T:.*]] = %[[FIRST]] to %[[TOTAL]] step %[[STEP]] : i32
    // CHECK: %[[PER:.*]] = arith.constant 32 : i32
    // CHECK: %[[G:.*]] = arith.divui %[[T]], %[[PER]]
    // CHECK: %[[TOP:.*]] = arith.muli %[[G]]
    // CHECK: %[[LEFT:.*]] = arith.subi %[[ROWS]], %[[TOP]]
    // CHECK: %[[HEIGHT:.*]] = arith.minui %[[LEFT]]
    // CHECK: %[[IN:.*]] = arith.remui %[[T]], %[[PER]]
    // CHECK: arith.remui %[[IN]], %[[HEIGHT]]
    // CHECK: arith.divui %[[IN]], %[[HEIGHT]]
    cta.tile_loop %n by 4 group 8 {
    ^bb0(%a: i32, %b: i32):
      cta.yield
    }
    llvm.return
  }

  // CHECK-LABEL: llvm.func @carried
  llvm.func @carried(%n: i32) -> i32 {
    // CHECK: %[[R:.*]] = scf.for {{.*}} iter_args
    // CHECK: scf.yield
    %r = cta.tile_loop %n by 4 group 1 iter(%n) : i32 {
    ^bb0(%a: i32, %b: i32, %c: i32):
      %s = arith.addi %c, %b : i32
      cta.yield %s : i32
    }
    // CHECK: llvm.return %[[R]]
    llvm.return %r : i32
  }
}
