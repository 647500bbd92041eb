// Two rounds of: halve, a Mixture-of-Experts block, add what went in. Then the
// left half of the columns. The block is nnc's, all else is MLIR's.
func.func @mixed(%x: tensor<?x128xf32>, %router: tensor<4x128xf32>,
                 %up: tensor<4x64x128xf32>, %down: tensor<4x128x64xf32>)
    -> tensor<?x64xf32> attributes {llvm.emit_c_interface} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %half = arith.constant 0.5 : f32
  %t = tensor.dim %x, %c0 : tensor<?x128xf32>
  %out = scf.for %round = %c0 to %c2 step %c1 iter_args(%in = %x) -> tensor<?x128xf32> {
    %s0 = tensor.empty(%t) : tensor<?x128xf32>
    %s = linalg.map ins(%in : tensor<?x128xf32>) outs(%s0 : tensor<?x128xf32>)
      (%e: f32, %unused: f32) {
        %h = arith.mulf %e, %half : f32
        linalg.yield %h : f32
      }
    %y = nn.moe_block #moe.activation<relu2> top 2 (%s, %router, %up, %down)
        : tensor<?x128xf32>, tensor<4x128xf32>, tensor<4x64x128xf32>,
          tensor<4x128x64xf32> -> tensor<?x128xf32>
    %a0 = tensor.empty(%t) : tensor<?x128xf32>
    %a = linalg.add ins(%in, %y : tensor<?x128xf32>, tensor<?x128xf32>)
                    outs(%a0 : tensor<?x128xf32>) -> tensor<?x128xf32>
    scf.yield %a : tensor<?x128xf32>
  }
  %left = tensor.extract_slice %out[0, 0] [%t, 64] [1, 1]
      : tensor<?x128xf32> to tensor<?x64xf32>
  return %left : tensor<?x64xf32>
}
