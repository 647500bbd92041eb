// RUN: moe-opt %s --verify-diagnostics --split-input-file

// What stands in the wrong place of an op.

func.func @clause_behind_outs(%x: tensor<?x64xbf16>, %w: tensor<8x64xbf16>, %b: tensor<8xf32>, %o: tensor<?x8xf32>) {
  // expected-error @+1 {{'bias' has to stand before 'outs', once: the order is ins(..), optional clauses as in the reference of the op, outs(..), {attributes}, -> types}}
  %0 = moe.gate ins(%x, %w : tensor<?x64xbf16>, tensor<8x64xbf16>) outs(%o : tensor<?x8xf32>) bias(%b : tensor<8xf32>) -> tensor<?x8xf32>
  return
}

// -----

func.func @clause_behind_attributes(%a: memref<4x64xbf16>, %b: memref<8x32x64xbf16>, %i: memref<4x2xi32>, %c: memref<8x32xbf16>) {
  // expected-error @+1 {{'rows' has to stand before 'outs'}}
  moe.grouped_gemm ins(%a, %b : memref<4x64xbf16>, memref<8x32x64xbf16>) outs(%c : memref<8x32xbf16>) {grouping = #moe.grouping<ids>} rows(%i : memref<4x2xi32>)
  return
}

// -----

func.func @clause_behind_types(%x: tensor<?x64xbf16>, %w: tensor<8x64xbf16>, %b: tensor<8xf32>, %o: tensor<?x8xf32>) {
  // expected-error @+1 {{'bias' has to stand before 'outs'}}
  %0 = moe.gate ins(%x, %w : tensor<?x64xbf16>, tensor<8x64xbf16>) outs(%o : tensor<?x8xf32>) -> tensor<?x8xf32> bias(%b : tensor<8xf32>)
  return
}

// -----

func.func @no_types(%x: tensor<?x64xbf16>, %w: tensor<8x64xbf16>, %o: tensor<?x8xf32>) {
  %0 = moe.gate ins(%x, %w : tensor<?x64xbf16>, tensor<8x64xbf16>) outs(%o : tensor<?x8xf32>)
  // expected-error @+1 {{expected '->' and the type of each result: the destinations are tensors, and the op returns their new values}}
  return
}

// -----

func.func @attributes_behind_types(%y: tensor<4x8xf32>, %w: tensor<2x2xf32>, %i: tensor<2x2xi32>, %o: tensor<2x8xf32>) {
  // expected-error @+1 {{attributes have to stand before '->'}}
  %0 = moe.combine ins(%y, %w, %i : tensor<4x8xf32>, tensor<2x2xf32>, tensor<2x2xi32>) outs(%o : tensor<2x8xf32>) -> tensor<2x8xf32> {experts = 8}
  return
}

// -----

func.func @float_with_default_type(%l: tensor<?x8xf32>, %w: tensor<?x2xf32>, %i: tensor<?x2xi32>) {
  // expected-error @+1 {{attribute 'scale' failed to satisfy constraint: f32 attribute, for instance 2.5 : f32}}
  %0, %1 = moe.route ins(%l : tensor<?x8xf32>) outs(%w, %i : tensor<?x2xf32>, tensor<?x2xi32>) {scale = 2.5} -> tensor<?x2xf32>, tensor<?x2xi32>
  return
}
