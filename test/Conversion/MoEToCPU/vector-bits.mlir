// RUN: moe-opt %s --pass-pipeline='builtin.module(func.func(convert-moe-to-cpu{vector-bits=512}))' | FileCheck %s --check-prefix=B512
// RUN: moe-opt %s --pass-pipeline='builtin.module(func.func(convert-moe-to-cpu{vector-bits=128}))' | FileCheck %s --check-prefix=B128
// RUN: not moe-opt %s --pass-pipeline='builtin.module(func.func(convert-moe-to-cpu{vector-bits=96}))' 2>&1 | FileCheck %s --check-prefix=BAD

// BAD: convert-moe-to-cpu requires vector-bits to be a power of two in [128, 2048], but got 96

// 37 columns: whole vectors in a loop, then the rest in one narrower vector.
// B512-LABEL: func.func @columns
// B512:         scf.for
// B512:           scf.for {{.*}} step %c16
// B512:             vector.load {{.*}} vector<16xf32>
// B512:           vector.load {{.*}} vector<5xf32>
// B128-LABEL: func.func @columns
// B128:         vector.load {{.*}} vector<4xf32>
// B128:         vector.load {{.*}} vector<1xf32>
func.func @columns(%h: memref<?x37xf32>, %a: memref<?x37xf32>) {
  moe.activation ins(%h : memref<?x37xf32>) outs(%a : memref<?x37xf32>)
      {activation = #moe.activation<relu2>}
  return
}
