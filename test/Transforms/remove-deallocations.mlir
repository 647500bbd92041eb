// A function may free what it allocates: the compiler does so itself, once.
//
// RUN: moe-opt %s --pass-pipeline='builtin.module(func.func(moe-remove-deallocations))' | FileCheck %s --implicit-check-not=memref.dealloc
// RUN: moe-opt %s --pass-pipeline='builtin.module(moe-to-cpu)' | FileCheck %s --check-prefix=CPU
// RUN: moe-run %s --device=cpu | FileCheck %s --check-prefix=VALUES

// CHECK-LABEL: func.func @layer
// CHECK:         memref.alloc
// CPU-LABEL:   llvm.func @layer
// CPU-COUNT-1:   llvm.call @free
// CPU-NOT:       llvm.call @free
// VALUES: 4x64xf32 {{.*}} 0{{$}}
func.func @layer(%x: tensor<4x64xf32>) -> tensor<4x64xf32> {
  %m = bufferization.to_buffer %x read_only : tensor<4x64xf32> to memref<4x64xf32>
  %a = memref.alloc() : memref<4x64xf32>
  %b = memref.alloc() : memref<4x64xf32>
  moe.activation ins(%m : memref<4x64xf32>) outs(%a : memref<4x64xf32>) {activation = #moe.activation<silu>}
  moe.activation ins(%a : memref<4x64xf32>) outs(%b : memref<4x64xf32>) {activation = #moe.activation<silu>}
  memref.dealloc %a : memref<4x64xf32>
  %t = bufferization.to_tensor %b restrict : memref<4x64xf32> to tensor<4x64xf32>
  return %t : tensor<4x64xf32>
}
