// An argument that the layer writes in place says so; results and what is only
// read do not.
//
// RUN: moe-opt %s --moe-to-ptx --emit=manifest | FileCheck %s
// RUN: rm -rf %t && moe-compile %s -o %t --ptxas=none
// RUN: moe-exec %t --list | FileCheck %s --check-prefix=LIST
// RUN: moe-exec %t --list --json | %python -c "import json, sys; print([(a['result'], a['written']) for a in json.load(sys.stdin)['arguments']])" | FileCheck %s --check-prefix=JSON

// CHECK:      {"type":"f32","shape":{{.*}},"alignment":16,"result":false,"written":true
// CHECK-NEXT: {"type":"f32","shape":{{.*}},"alignment":16,"result":false,"written":true
// CHECK-NEXT: {"type":"f32","shape":{{.*}},"alignment":16,"result":false,"input"
// CHECK-NEXT: {"type":"f32","shape":{{.*}},"alignment":16,"result":true}
// LIST:      0 ?x8xf32 16 written in place
// LIST-NEXT: 1 4x8xf32 16 written in place
// LIST-NEXT: 2 4x8xf32 16{{$}}
// LIST-NEXT: 3 4x8xf32 16 result
// JSON: [(False, True), (False, True), (False, False), (True, True)]
func.func @layer(%x: memref<?x8xf32>, %o: memref<4x8xf32>, %r: memref<4x8xf32>) -> memref<4x8xf32> {
  moe.activation ins(%x : memref<?x8xf32>) outs(%x : memref<?x8xf32>) {activation = #moe.activation<silu>}
  %part = memref.subview %o[2, 0][2, 8][1, 1] : memref<4x8xf32> to memref<2x8xf32, strided<[8, 1], offset: 16>>
  %from = memref.subview %r[0, 0][2, 8][1, 1] : memref<4x8xf32> to memref<2x8xf32, strided<[8, 1]>>
  moe.activation ins(%from : memref<2x8xf32, strided<[8, 1]>>) outs(%part : memref<2x8xf32, strided<[8, 1], offset: 16>>) {activation = #moe.activation<silu>}
  %new = memref.alloc() : memref<4x8xf32>
  moe.activation ins(%r : memref<4x8xf32>) outs(%new : memref<4x8xf32>) {activation = #moe.activation<silu>}
  return %new : memref<4x8xf32>
}
