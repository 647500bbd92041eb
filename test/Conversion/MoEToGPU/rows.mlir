// RUN: moe-opt %s --pass-pipeline='builtin.module(moe-outline-kernels)' | FileCheck %s

// Offsets are 64 bits wide before the row is multiplied by its length, and
// rows move in 16-byte vectors where their length allows it.
// CHECK:     llvm.func @wide_0_activation
// CHECK:       %[[ROW:.*]] = arith.extsi %{{.*}} : i32 to i64
// CHECK:       arith.muli %[[ROW]], %{{.*}} : i64
// CHECK:       llvm.getelementptr %{{.*}}[%{{.*}}] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, bf16
// CHECK:       llvm.load {{.*}} {alignment = 16 : i64} : !llvm.ptr<1> -> vector<8xbf16>
// CHECK:       llvm.store {{.*}} {alignment = 16 : i64} : vector<8xbf16>, !llvm.ptr<1>
func.func @wide(%h: memref<?x128xbf16>, %a: memref<?x64xbf16>) {
  moe.activation ins(%h : memref<?x128xbf16>) outs(%a : memref<?x64xbf16>)
    {activation = #moe.activation<swiglu>}
  return
}

// CHECK:     llvm.func @odd_0_activation
// CHECK-NOT:   vector<
func.func @odd(%h: memref<?x6xbf16>, %a: memref<?x3xbf16>) {
  moe.activation ins(%h : memref<?x6xbf16>) outs(%a : memref<?x3xbf16>)
    {activation = #moe.activation<swiglu>}
  return
}

// Products and sums are rounded one by one, as in the reference; a slot
// without expert does not read its row.
// CHECK:     llvm.func @combine_0_combine
// CHECK-NOT:   llvm.intr.fma
// CHECK:       scf.if %{{.*}} -> (f32, f32, f32, f32)
// CHECK:         llvm.getelementptr %arg0
// CHECK-NEXT:    llvm.load
// CHECK:       arith.mulf
// CHECK-NOT:   llvm.intr.fma
// CHECK:       arith.addf
func.func @combine(%y: memref<?x64xf32>, %w: memref<?x2xf32>, %i: memref<?x2xi32>, %o: memref<?x64xf32>) {
  moe.combine ins(%y, %w, %i : memref<?x64xf32>, memref<?x2xf32>, memref<?x2xi32>)
    outs(%o : memref<?x64xf32>) {experts = 4}
  return
}
