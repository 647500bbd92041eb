// RUN: moe-opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(func.func(convert-moe-to-cpu))'

func.func @tensors(%h: tensor<?x8xf32>, %a: tensor<?x8xf32>) -> tensor<?x8xf32> {
  // expected-error @+1 {{'moe.activation' op requires memrefs to become loops, but got tensors; run one-shot-bufferize first}}
  %0 = moe.activation ins(%h : tensor<?x8xf32>) outs(%a : tensor<?x8xf32>)
      {activation = #moe.activation<silu>} -> tensor<?x8xf32>
  return %0 : tensor<?x8xf32>
}

// -----

func.func @gpu_only(%m: memref<64x64xbf16>) -> !moe.tensor_map {
  // expected-error @+1 {{'moe.encode_tensor_map' op has no meaning on a CPU}}
  %0 = moe.encode_tensor_map %m box [8, 64] : memref<64x64xbf16> -> !moe.tensor_map
  return %0 : !moe.tensor_map
}
