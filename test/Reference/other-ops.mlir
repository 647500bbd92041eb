// RUN: moe-run %s --function=arithmetic --print | FileCheck %s --check-prefix=ARITH
// RUN: moe-run %s --function=tensors --print | FileCheck %s --check-prefix=TENSOR
// RUN: moe-run %s --function=calls --print | FileCheck %s --check-prefix=CALL

// ARITH: 0 8xi64 = [7, -3, -4, 1, 3, -1, 5, 12]
// ARITH: 1 2xi32 = [-2147483648, 0]
// ARITH: 2 4xf32 = [0.5, 2, 1, 2.71828]
// ARITH: 3 2xbf16 = [256, 3]
func.func @arithmetic() -> (tensor<8xindex>, tensor<2xi32>, tensor<4xf32>, tensor<2xbf16>) {
  %m7 = arith.constant -7 : index
  %2 = arith.constant 2 : index
  %7 = arith.constant 7 : index
  %0 = arith.ceildivsi %m7, %2 : index
  %1 = arith.floordivsi %m7, %2 : index
  %3 = arith.remsi %7, %2 : index
  %4 = arith.divui %7, %2 : index
  %lower = affine.min affine_map<(d0) -> (d0 - 3, 100)>(%2)
  %upper = affine.max affine_map<(d0) -> (d0 - 3, 5)>(%2)
  %applied = affine.apply affine_map<(d0)[s0] -> (d0 * 2 + s0 floordiv 3)>(%upper)[%7]
  %indices = tensor.from_elements %7, %0, %1, %3, %4, %lower, %upper, %applied : tensor<8xindex>
  // i32 wraps, as arith says.
  %max = arith.constant 2147483647 : i32
  %one = arith.constant 1 : i32
  %sum = arith.addi %max, %one : i32
  %less = arith.cmpi slt, %sum, %max : i32
  %zero = arith.constant 0 : i32
  %picked = arith.select %less, %zero, %one : i32
  %words = tensor.from_elements %sum, %picked : tensor<2xi32>
  %half = arith.constant 0.5 : f32
  %f1 = arith.constant 1.0 : f32
  %f2 = arith.divf %f1, %half : f32
  %larger = arith.maximumf %half, %f1 : f32
  %e = math.exp %f1 : f32
  %floats = tensor.from_elements %half, %f2, %larger, %e : tensor<4xf32>
  // Elementwise on tensors, rounded to the type: 256 + 1 is no bf16.
  %a = arith.constant dense<[256.0, 2.0]> : tensor<2xbf16>
  %b = arith.constant dense<1.0> : tensor<2xbf16>
  %narrow = arith.addf %a, %b : tensor<2xbf16>
  return %indices, %words, %floats, %narrow : tensor<8xindex>, tensor<2xi32>, tensor<4xf32>, tensor<2xbf16>
}

// TENSOR: 0 2xi32 = [6, 4]
// TENSOR: 1 3x3xi32 = {{\[\[}}1, 2, 3], [4, 9, 9], [7, 9, 9]]
// TENSOR: 2 9xi32 = [1, 2, 3, 4, 5, 6, 7, 8, 9]
// TENSOR: 3 1x3x3xi32 = {{\[\[\[}}1, 2, 3], [4, 5, 6], [7, 8, 9]]]
// TENSOR: 4 2xf32 = [nan, nan]
// TENSOR: 5 2xi32 = [-1, -1]
// TENSOR: 6 2xi32 = [9, 9]
func.func @tensors() -> (tensor<2xi32>, tensor<3x3xi32>, tensor<9xi32>, tensor<1x3x3xi32>, tensor<2xf32>, tensor<2xi32>, tensor<2xi32>) {
  %c1 = arith.constant 1 : index
  %x = arith.constant dense<[[1, 2, 3], [4, 5, 6], [7, 8, 9]]> : tensor<3x3xi32>
  %reversed = tensor.extract_slice %x[%c1, 2] [1, 2] [1, -2] : tensor<3x3xi32> to tensor<2xi32>
  %last = tensor.extract %x[%c1, %c1] : tensor<3x3xi32>
  %nine = arith.constant 9 : i32
  %e = tensor.empty() : tensor<2xi32>
  %nines = linalg.fill ins(%nine : i32) outs(%e : tensor<2xi32>) -> tensor<2xi32>
  %column = tensor.expand_shape %nines [[0, 1]] output_shape [2, 1] : tensor<2xi32> into tensor<2x1xi32>
  %once = tensor.insert_slice %column into %x[1, 1] [2, 1] [1, 1] : tensor<2x1xi32> into tensor<3x3xi32>
  %twice = tensor.insert_slice %column into %once[1, 2] [2, 1] [1, 1] : tensor<2x1xi32> into tensor<3x3xi32>
  %flat = tensor.collapse_shape %x [[0, 1]] : tensor<3x3xi32> into tensor<9xi32>
  %more = tensor.expand_shape %x [[0, 1], [2]] output_shape [1, 3, 3] : tensor<3x3xi32> into tensor<1x3x3xi32>
  %f = tensor.empty() : tensor<2xf32>
  return %reversed, %twice, %flat, %more, %f, %e, %nines : tensor<2xi32>, tensor<3x3xi32>, tensor<9xi32>, tensor<1x3x3xi32>, tensor<2xf32>, tensor<2xi32>, tensor<2xi32>
}

// CALL: 0 2xi32 = [1, 2]
func.func private @grow(%x: tensor<?xi32>) -> (tensor<?xi32>, index) {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?xi32>
  return %x, %n : tensor<?xi32>, index
}
func.func @calls() -> tensor<2xi32> {
  %x = arith.constant dense<[1, 2]> : tensor<2xi32>
  %c = tensor.cast %x : tensor<2xi32> to tensor<?xi32>
  %r:2 = call @grow(%c) : (tensor<?xi32>) -> (tensor<?xi32>, index)
  %s = tensor.extract_slice %r#0[0] [%r#1] [1] : tensor<?xi32> to tensor<?xi32>
  %b = tensor.cast %s : tensor<?xi32> to tensor<2xi32>
  return %b : tensor<2xi32>
}
