// A layer as nnc writes it.
func.func @block(%x: tensor<?x256xbf16>, %router: tensor<8x256xbf16>,
                 %up: tensor<8x256x256xbf16>, %down: tensor<8x256x128xbf16>)
    -> tensor<?x256xbf16> {
  %y = nn.moe_block #moe.activation<swiglu> top 2 (%x, %router, %up, %down)
      : tensor<?x256xbf16>, tensor<8x256xbf16>, tensor<8x256x256xbf16>,
        tensor<8x256x128xbf16> -> tensor<?x256xbf16>
  return %y : tensor<?x256xbf16>
}
