// RUN: moe-opt %s --pass-pipeline='builtin.module(moe-outline-kernels)' --verify-diagnostics --split-input-file

// Rows and columns of kernels are i32.
func.func @rows(%h: memref<4294967296x8xf32>, %a: memref<4294967296x8xf32>) {
  // expected-error @below {{'moe.activation' op requires extents below 2^31 to become a kernel, whose rows and columns are i32, but operand #0 is 'memref<4294967296x8xf32>'}}
  moe.activation ins(%h : memref<4294967296x8xf32>) outs(%a : memref<4294967296x8xf32>)
      {activation = #moe.activation<silu>}
  return
}

// -----

func.func @grid(%h: memref<4x2147483647xf32>, %a: memref<4x2147483647xf32>) {
  // expected-error @below {{'moe.activation' op needs a grid of}}
  moe.activation ins(%h : memref<4x2147483647xf32>) outs(%a : memref<4x2147483647xf32>)
      {activation = #moe.activation<silu>}
  return
}

// -----

func.func @space(%h: memref<4x8xf32, 3>, %a: memref<4x8xf32, 3>) {
  // expected-error @below {{'moe.activation' op requires memrefs of the default memory space to become a kernel, but operand #0 is 'memref<4x8xf32, 3>'}}
  moe.activation ins(%h : memref<4x8xf32, 3>) outs(%a : memref<4x8xf32, 3>)
      {activation = #moe.activation<silu>}
  return
}

// -----

module {
  module @inner {
    func.func @f(%h: memref<4x8xf32>, %a: memref<4x8xf32>) {
      // expected-error @below {{'moe.activation' op becomes a kernel only in a func.func at the top level of the module; move it there}}
      moe.activation ins(%h : memref<4x8xf32>) outs(%a : memref<4x8xf32>)
          {activation = #moe.activation<silu>}
      return
    }
  }
}
