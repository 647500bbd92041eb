// RUN: moe-opt %s --pass-pipeline='builtin.module(func.func(convert-moe-to-cpu),canonicalize,cse)' | FileCheck %s

// CHECK-LABEL: func.func @align
// CHECK-SAME:    memref<?x2xi32>, %[[MAP:[^:]*]]: memref<8xi32>, %[[SORTED:[^:]*]]: memref<?xi32>, %[[TILES:[^:]*]]: memref<?xi32>, %[[PADDED:[^:]*]]: memref<1xi32>, %[[COUNTS:[^:]*]]: memref<4xi32>
// An id outside the map reads its first entry and has no expert.
// CHECK:         %[[IN:.*]] = arith.cmpi ult, %[[ID:.*]], %c8
// CHECK:         %[[SAFE:.*]] = arith.select %[[IN]], %[[ID]], %c0
// CHECK:         memref.load %[[MAP]][%[[SAFE]]]
// Sentinels everywhere, then the rows of each expert.
// CHECK:         memref.store %{{.*}}, %[[SORTED]]
// CHECK:         memref.store %c-1_i32, %[[TILES]]
// CHECK:         memref.store %{{.*}}, %[[COUNTS]]
// CHECK:         memref.store %{{.*}}, %[[SORTED]]
// CHECK:         memref.store %{{.*}}, %[[TILES]]
// CHECK:         memref.store %{{.*}}, %[[PADDED]]
func.func @align(%i: memref<?x2xi32>, %m: memref<8xi32>, %s: memref<?xi32>,
                 %t: memref<?xi32>, %p: memref<1xi32>, %c: memref<4xi32>) {
  moe.align ins(%i : memref<?x2xi32>) expert_map(%m : memref<8xi32>)
      outs(%s, %t, %p, %c : memref<?xi32>, memref<?xi32>, memref<1xi32>, memref<4xi32>)
      {experts = 4, block = 16}
  return
}

// End offsets are clamped between the end before and the number of rows.
// CHECK-LABEL: func.func @group_ids
// CHECK:         scf.for {{.*}} iter_args(%[[BEGIN:.*]] = %c0)
// CHECK:           %[[END:.*]] = arith.maxsi %{{.*}}, %[[BEGIN]]
// CHECK:           arith.minsi %[[END]]
func.func @group_ids(%o: memref<4xi32>, %i: memref<?x1xi32>) {
  moe.group_ids ins(%o : memref<4xi32>) outs(%i : memref<?x1xi32>)
      {grouping = #moe.grouping<offsets>}
  return
}

// CHECK-LABEL: func.func @permute
// CHECK-SAME:    %[[X:[^:]*]]: memref<?x8xbf16>, %{{[^:]*}}: memref<?x2xi32>, %[[ROWS:[^:]*]]: memref<?x8xbf16>, %[[SOURCE:[^:]*]]: memref<?xi32>, %[[OFFSETS:[^:]*]]: memref<4xi32>
// CHECK:         memref.store %{{.*}}, %[[OFFSETS]]
// CHECK:         memref.store %{{.*}}, %[[SOURCE]]
// Rows are copied as they are.
// CHECK-NOT:     arith.extf
// CHECK:         %[[V:.*]] = vector.load %[[X]]
// CHECK-NEXT:    vector.store %[[V]], %[[ROWS]]
// CHECK:         memref.store %{{.*}}, %[[SOURCE]]
func.func @permute(%x: memref<?x8xbf16>, %i: memref<?x2xi32>, %r: memref<?x8xbf16>,
                   %s: memref<?xi32>, %o: memref<4xi32>) {
  moe.permute ins(%x, %i : memref<?x8xbf16>, memref<?x2xi32>)
      outs(%r, %s, %o : memref<?x8xbf16>, memref<?xi32>, memref<4xi32>) {experts = 4}
  return
}

// CHECK-LABEL: func.func @unpermute
// CHECK-SAME:    %{{[^:]*}}: memref<?x8xf32>, %[[SOURCE:[^:]*]]: memref<?xi32>, %[[Y:[^:]*]]: memref<?x8xf32>
// CHECK:         memref.load %[[SOURCE]]
// CHECK:         %[[IN:.*]] = arith.cmpi ult
// CHECK-NEXT:    scf.if %[[IN]]
// CHECK:           vector.store %{{.*}}, %[[Y]]
func.func @unpermute(%r: memref<?x8xf32>, %s: memref<?xi32>, %y: memref<?x8xf32>) {
  moe.unpermute ins(%r, %s : memref<?x8xf32>, memref<?xi32>) outs(%y : memref<?x8xf32>)
  return
}

// The sum of a vector of columns stays in a register over the slots; a slot
// without expert does not read its row of y.
// CHECK-LABEL: func.func @combine
// CHECK-SAME:    %[[Y:[^:]*]]: memref<?x8xbf16>, {{.*}}, %[[X:[^:]*]]: memref<?x8xbf16>, %[[R:[^:]*]]: memref<?x8xbf16>, %[[O:[^:]*]]: memref<?x8xbf16>
// CHECK:         scf.for
// CHECK:           %[[SUM:.*]] = scf.for {{.*}} iter_args({{.*}}) -> (vector<8xf32>)
// CHECK:             scf.if
// CHECK:               vector.load %[[Y]]
// CHECK:             } else {
// CHECK:               scf.if
// CHECK:                 vector.load %[[X]]
// CHECK:           %[[SCALED:.*]] = arith.mulf %[[SUM]]
// CHECK:           vector.load %[[R]]
// CHECK:           arith.addf %{{.*}}, %[[SCALED]]
// CHECK:           arith.truncf
// CHECK-NEXT:      vector.store %{{.*}}, %[[O]]
func.func @combine(%y: memref<?x8xbf16>, %w: memref<?x2xf32>, %i: memref<?x2xi32>,
                   %x: memref<?x8xbf16>, %r: memref<?x8xbf16>, %o: memref<?x8xbf16>) {
  moe.combine ins(%y, %w, %i : memref<?x8xbf16>, memref<?x2xf32>, memref<?x2xi32>)
      identity(%x : memref<?x8xbf16>) residual(%r : memref<?x8xbf16>)
      outs(%o : memref<?x8xbf16>)
      {experts = 4, identity_experts = 2, routed_scale = 2.5 : f32}
  return
}
