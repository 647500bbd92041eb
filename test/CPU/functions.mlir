// RUN: moe-run %s --function=inner --device=cpu --compare=reference --tokens=9 | FileCheck %s
// RUN: moe-run %s --function=columns --device=cpu --compare=reference --tokens=9 | FileCheck %s
// RUN: moe-run %s --function=in_place --device=cpu --compare=reference --tokens=9 | FileCheck %s
// RUN: moe-run %s --function=argument_back --device=cpu --compare=reference | FileCheck %s
// RUN: moe-run %s --function=unwritten --device=cpu --compare=reference --tokens=9 | FileCheck %s
// RUN: not moe-run %s --function=no_lowering --device=cpu 2>&1 | FileCheck %s --check-prefix=ERROR

// What a function may do besides moe ops.

// CHECK: on cpu, compared with reference
// CHECK: agrees
// CHECK-NOT: DISAGREES

// Calls another function, returns scalars of several sizes beside arrays.
func.func private @double(%t: index) -> index {
  %two = arith.constant 2 : index
  %r = arith.muli %t, %two : index
  return %r : index
}
func.func @inner(%h: tensor<?x8xf32>, %s: f32) -> (f32, tensor<?x8xf32>, index, i1, i32) {
  %c0 = arith.constant 0 : index
  %t = tensor.dim %h, %c0 : tensor<?x8xf32>
  %d = call @double(%t) : (index) -> index
  %few = arith.cmpi ult, %t, %d : index
  %i = arith.index_cast %d : index to i32
  %e = tensor.empty(%t) : tensor<?x8xf32>
  %a = moe.activation ins(%h : tensor<?x8xf32>) outs(%e : tensor<?x8xf32>)
      {activation = #moe.activation<silu>} -> tensor<?x8xf32>
  return %s, %a, %d, %few, %i : f32, tensor<?x8xf32>, index, i1, i32
}

// Operands that are parts of others: rows are contiguous, the whole is not.
func.func @columns(%h: tensor<?x24xf32>) -> tensor<?x8xf32> {
  %c0 = arith.constant 0 : index
  %t = tensor.dim %h, %c0 : tensor<?x24xf32>
  %part = tensor.extract_slice %h[0, 8] [%t, 8] [1, 1] : tensor<?x24xf32> to tensor<?x8xf32>
  %e = tensor.empty(%t) : tensor<?x8xf32>
  %a = moe.activation ins(%part : tensor<?x8xf32>) outs(%e : tensor<?x8xf32>)
      {activation = #moe.activation<gelu>} -> tensor<?x8xf32>
  return %a : tensor<?x8xf32>
}

// The destination is an argument: the result is new, the argument keeps its
// contents for the second use.
func.func @in_place(%h: tensor<?x8xf32>, %d: tensor<?x8xf32>) -> (tensor<?x8xf32>, tensor<?x8xf32>) {
  %a = moe.activation ins(%h : tensor<?x8xf32>) outs(%d : tensor<?x8xf32>)
      {activation = #moe.activation<silu>} -> tensor<?x8xf32>
  return %a, %d : tensor<?x8xf32>, tensor<?x8xf32>
}

// The same buffer twice, which the caller must not free twice.
func.func @argument_back(%h: tensor<9x8xf32>) -> (tensor<9x8xf32>, tensor<9x8xf32>) {
  return %h, %h : tensor<9x8xf32>, tensor<9x8xf32>
}

// Rows that no op writes are NaN on every device.
func.func @unwritten(%rows: tensor<?x8xf32>) -> tensor<?x8xf32> {
  %c0 = arith.constant 0 : index
  %m1 = arith.constant -1 : i32
  %n = tensor.dim %rows, %c0 : tensor<?x8xf32>
  %s0 = tensor.empty(%n) : tensor<?xi32>
  %s = linalg.fill ins(%m1 : i32) outs(%s0 : tensor<?xi32>) -> tensor<?xi32>
  %y0 = tensor.empty(%n) : tensor<?x8xf32>
  %y = moe.unpermute ins(%rows, %s : tensor<?x8xf32>, tensor<?xi32>)
      outs(%y0 : tensor<?x8xf32>) -> tensor<?x8xf32>
  return %y : tensor<?x8xf32>
}

// ERROR: functions.mlir:[[#@LINE+2]]:{{[0-9]+}}: error: {{.*}}cannot be lowered to machine code of the CPU
func.func @no_lowering(%h: tensor<9x8xf32>) -> (tensor<9x8xf32>, index) {
  %x = gpu.thread_id x
  return %h, %x : tensor<9x8xf32>, index
}
