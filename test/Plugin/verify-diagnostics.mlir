// The verifiers of the plugin's dialects speak through the stock mlir-opt.
//
// RUN: mlir-opt %s --load-dialect-plugin=%moe_plugin --load-pass-plugin=%moe_plugin \
// RUN:   --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(moe-select-schedule)'

// expected-note @below {{weight has type 'tensor<4x8xf32>'}}
func.func @logits(%x: tensor<4x8xf32>, %w: tensor<4x8xf32>, %l: tensor<4x5xf32>) -> tensor<4x5xf32> {
  // expected-error @below {{'moe.gate' op requires}}
  %r = moe.gate ins(%x, %w : tensor<4x8xf32>, tensor<4x8xf32>) outs(%l : tensor<4x5xf32>) -> tensor<4x5xf32>
  return %r : tensor<4x5xf32>
}

// -----

gpu.module @kernels {
  // expected-error @below {{`nothing` in dialect `cta`}}
  func.func private @f(!cta.nothing)
}
