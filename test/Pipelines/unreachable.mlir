// Blocks that nothing reaches may hold values that are defined by themselves.
//
// RUN: moe-opt %s --moe-to-cpu | FileCheck %s
// RUN: moe-opt %s --moe-to-cta | FileCheck %s
// CHECK: func{{.*}} @layer
// CHECK-NOT: moe.activation

func.func @layer(%x: tensor<?x8xf32>, %o: tensor<?x4xf32>) -> tensor<?x4xf32> {
  return %o : tensor<?x4xf32>
^unreachable:
  %q = moe.activation ins(%x : tensor<?x8xf32>) outs(%q : tensor<?x4xf32>)
      {activation = #moe.activation<swiglu>} -> tensor<?x4xf32>
  cf.br ^unreachable
}
