// Buffers of more than 2^31 elements or 4 GiB: wherever a row, a column or an
// expert meets its stride, both are 64 bits wide. Cases: an expert stack of
// 7.5e9 elements (one expert starts at 58720256 bytes times its number), one
// whose byte offsets pass 32 bits earlier than its element offsets, rows of
// width 7168 and 4096 for any number of tokens, a weight gradient of 5.4e9.
//
// The numbers behind each case are those of the bug inputs of test/Cases.
//
// RUN: moe-opt %s --moe-to-nvvm | FileCheck %s --check-prefix=IR \
// RUN:   --implicit-check-not='{{arith\.muli .*%c(3584|6144|7168|12288|14336|28672|29360128|22020096|44040192|58720256)_i32}}'
// RUN: moe-opt %s --moe-to-ptx --emit=ptx | FileCheck %s --check-prefix=PTX
//
// A 32-bit product with a stride that LLVM made itself holds where the factor is
// bounded: @gate multiplies experts, of which it has proved that there are 256.

// The tensor map of @wgmma has the expert as a coordinate of its own, so that
// nothing multiplies it.
// IR: moe.encode_tensor_map %{{.*}} box [1, 128, 64] : memref<256x4096x7168xbf16>

#tensor_cores = #moe.schedule<mma = mma_sync, tile = [16, 128, 64], stages = 4>
#warpgroups = #moe.schedule<mma = wgmma, tile = [64, 128, 64], stages = 4, warps = 8>
#general = #moe.schedule<mma = simt, tile = [16, 64, 16]>

// offsets-1 and offsets-5, by mma.sync.
// IR-LABEL:  llvm.func @mma_{{[0-9]+}}_grouped_gemm
// IR:          arith.muli %{{.*}}, %c14336_i64{{.*}} : i64
// IR:          arith.muli %{{.*}}, %c58720256_i64{{.*}} : i64
// IR:          arith.muli %{{.*}}, %c4096_i64{{.*}} : i64
// IR:          arith.muli %{{.*}}, %c2_i64{{.*}} : i64
// IR-NEXT:     llvm.getelementptr %{{.*}} : (!llvm.ptr<1>, i64)
// PTX-LABEL: .entry mma_{{[0-9]+}}_grouped_gemm
// PTX-NOT:     mul.lo.s32 {{.*}}, {{14336|58720256|29360128}};
// PTX:         mul.wide.u32 {{.*}}, 14336;
// PTX:         mul.wide.u32 {{.*}}, 58720256;
// PTX:         mul.wide.u32 {{.*}}, 8192;
func.func @mma(%a: tensor<?x7168xbf16>, %b: tensor<256x4096x7168xbf16>, %ids: tensor<?x8xi32>,
               %c: tensor<?x4096xbf16>) -> tensor<?x4096xbf16> {
  %0 = moe.grouped_gemm ins(%a, %b : tensor<?x7168xbf16>, tensor<256x4096x7168xbf16>)
      rows(%ids : tensor<?x8xi32>) outs(%c : tensor<?x4096xbf16>)
      {grouping = #moe.grouping<ids>, row_source = #moe.row_source<token>,
       schedule = #tensor_cores} -> tensor<?x4096xbf16>
  return %0 : tensor<?x4096xbf16>
}

// offsets-1 by wgmma.
// IR-LABEL:  llvm.func @wgmma_{{[0-9]+}}_grouped_gemm
// IR:          arith.muli %{{.*}}, %c14336_i64{{.*}} : i64
// IR:          nvvm.cp.async.bulk.tensor.shared.cluster.global %{{.*}} box[%{{[^,]*}}, %{{[^,]*}}, %{{[^,]*}}]
// IR:          arith.muli %{{.*}}, %c4096_i64{{.*}} : i64
// PTX-LABEL: .entry wgmma_{{[0-9]+}}_grouped_gemm
// PTX-NOT:     mul.lo.s32 {{.*}}, {{14336|58720256|29360128}};
// PTX:         mul.wide.u32 {{.*}}, 14336;
// PTX:         cp.async.bulk.tensor.3d.
// PTX:         mul.wide.u32 {{.*}}, 8192;
func.func @wgmma(%a: tensor<?x7168xbf16>, %b: tensor<256x4096x7168xbf16>, %ids: tensor<?x8xi32>,
                 %c: tensor<?x4096xbf16>) -> tensor<?x4096xbf16> {
  %0 = moe.grouped_gemm ins(%a, %b : tensor<?x7168xbf16>, tensor<256x4096x7168xbf16>)
      rows(%ids : tensor<?x8xi32>) outs(%c : tensor<?x4096xbf16>)
      {grouping = #moe.grouping<ids>, row_source = #moe.row_source<token>,
       schedule = #warpgroups} -> tensor<?x4096xbf16>
  return %0 : tensor<?x4096xbf16>
}

// offsets-1 by the general kernel.
// IR-LABEL:  llvm.func @simt_{{[0-9]+}}_grouped_gemm
// IR:          arith.muli %{{.*}}, %c7168_i64{{.*}} : i64
// IR:          %[[FIRST:.*]] = arith.muli %{{.*}}, %c29360128_i64{{.*}} : i64
// IR-NEXT:     %[[WIDE:.*]] = arith.extsi
// IR-NEXT:     %[[COLUMN:.*]] = arith.muli %[[WIDE]], %c7168_i64{{.*}} : i64
// IR-NEXT:     arith.addi %[[FIRST]], %[[COLUMN]] : i64
// PTX-LABEL: .entry simt_{{[0-9]+}}_grouped_gemm
// PTX-NOT:     mul.lo.s32 {{.*}}, {{14336|58720256|29360128}};
// PTX:         mul.wide.s32 {{.*}}, 58720256;
// PTX:         mul.wide.s32 {{.*}}, 14336;
// PTX:         mul.wide.s32 {{.*}}, 8192;
func.func @simt(%a: tensor<?x7168xbf16>, %b: tensor<256x4096x7168xbf16>, %ids: tensor<?x8xi32>,
                %c: tensor<?x4096xbf16>) -> tensor<?x4096xbf16> {
  %0 = moe.grouped_gemm ins(%a, %b : tensor<?x7168xbf16>, tensor<256x4096x7168xbf16>)
      rows(%ids : tensor<?x8xi32>) outs(%c : tensor<?x4096xbf16>)
      {grouping = #moe.grouping<ids>, row_source = #moe.row_source<token>,
       schedule = #general} -> tensor<?x4096xbf16>
  return %0 : tensor<?x4096xbf16>
}

// IR-LABEL:  llvm.func @simt_kn_{{[0-9]+}}_grouped_gemm
// IR:          arith.muli %{{.*}}, %c7168_i64{{.*}} : i64
// IR:          %[[FIRST:.*]] = arith.muli %{{.*}}, %c29360128_i64{{.*}} : i64
// IR-NEXT:     %[[WIDE:.*]] = arith.extsi
// IR-NEXT:     %[[DEPTH:.*]] = arith.muli %[[WIDE]], %c4096_i64{{.*}} : i64
// IR-NEXT:     arith.addi %[[FIRST]], %[[DEPTH]] : i64
// PTX-LABEL: .entry simt_kn_{{[0-9]+}}_grouped_gemm
// PTX-NOT:     mul.lo.s32 {{.*}}, {{14336|58720256|29360128}};
// PTX:         mul.wide.s32 {{.*}}, 58720256;
// PTX:         mul.wide.s32 {{.*}}, 14336;
func.func @simt_kn(%a: tensor<?x7168xbf16>, %b: tensor<256x7168x4096xbf16>, %ids: tensor<?x8xi32>,
                   %c: tensor<?x4096xbf16>) -> tensor<?x4096xbf16> {
  %0 = moe.grouped_gemm ins(%a, %b : tensor<?x7168xbf16>, tensor<256x7168x4096xbf16>)
      rows(%ids : tensor<?x8xi32>) outs(%c : tensor<?x4096xbf16>)
      {grouping = #moe.grouping<ids>, row_source = #moe.row_source<token>,
       b_layout = #moe.b_layout<kn>, schedule = #general} -> tensor<?x4096xbf16>
  return %0 : tensor<?x4096xbf16>
}

// offsets-6: expert 49 starts beyond 2^31 bytes, but not beyond 2^31 elements.
// IR-LABEL:  llvm.func @bytes_{{[0-9]+}}_grouped_gemm
// IR:          arith.muli %{{.*}}, %c44040192_i64{{.*}} : i64
// IR:          arith.muli %{{.*}}, %c6144_i64{{.*}} : i64
// PTX-LABEL: .entry bytes_{{[0-9]+}}_grouped_gemm
// PTX-NOT:     mul.lo.s32 {{.*}}, {{7168|44040192|22020096}};
// PTX:         mul.wide.u32 {{.*}}, 44040192;
func.func @bytes(%a: tensor<?x3584xbf16>, %b: tensor<896x6144x3584xbf16>, %ids: tensor<?x8xi32>,
                 %c: tensor<?x6144xbf16>) -> tensor<?x6144xbf16> {
  %0 = moe.grouped_gemm ins(%a, %b : tensor<?x3584xbf16>, tensor<896x6144x3584xbf16>)
      rows(%ids : tensor<?x8xi32>) outs(%c : tensor<?x6144xbf16>)
      {grouping = #moe.grouping<ids>, row_source = #moe.row_source<token>,
       schedule = #tensor_cores} -> tensor<?x6144xbf16>
  return %0 : tensor<?x6144xbf16>
}

// offsets-4: the rows of a and b are as long as the batch: the stride is no constant.
// IR-LABEL:  llvm.func @wgrad_{{[0-9]+}}_grouped_gemm
// IR-NOT:      arith.muli {{.*}}%c{{2048|5120}}_i32
// IR:          %[[EXTENT:.*]] = arith.extsi %arg4 : i32 to i64
// IR:          arith.muli %{{.*}}, %[[EXTENT]] : i64
// IR-NOT:      arith.muli {{.*}}%c{{2048|5120}}_i32
// IR:          %[[FIRST:.*]] = arith.muli %{{.*}}, %c10485760_i64{{.*}} : i64
// IR-NEXT:     %[[WIDE:.*]] = arith.extsi
// IR-NEXT:     %[[ROW:.*]] = arith.muli %[[WIDE]], %c2048_i64{{.*}} : i64
// IR-NEXT:     arith.addi %[[FIRST]], %[[ROW]] : i64
// PTX-LABEL: .entry wgrad_{{[0-9]+}}_grouped_gemm
// PTX-NOT:     mul.lo.s32 {{.*}}, {{10485760|20971520}};
// PTX:         mul.wide.u32 {{.*}}, 20971520;
// PTX-NOT:     mul.lo.s32 {{.*}}, {{10485760|20971520}};
func.func @wgrad(%a: tensor<5120x?xbf16>, %b: tensor<2048x?xbf16>, %ends: tensor<512xi32>,
                 %c: tensor<512x5120x2048xbf16>) -> tensor<512x5120x2048xbf16> {
  %0 = moe.grouped_gemm ins(%a, %b : tensor<5120x?xbf16>, tensor<2048x?xbf16>)
      rows(%ends : tensor<512xi32>) outs(%c : tensor<512x5120x2048xbf16>)
      {grouping = #moe.grouping<k_grouped>} -> tensor<512x5120x2048xbf16>
  return %0 : tensor<512x5120x2048xbf16>
}

// IR-LABEL:  llvm.func @wgrad896_{{[0-9]+}}_grouped_gemm
// IR-NOT:      arith.muli {{.*}}%c2048_i32
// IR:          %[[FIRST:.*]] = arith.muli %{{.*}}, %c4194304_i64{{.*}} : i64
// IR-NEXT:     %[[WIDE:.*]] = arith.extsi
// IR-NEXT:     %[[ROW:.*]] = arith.muli %[[WIDE]], %c2048_i64{{.*}} : i64
// IR-NEXT:     arith.addi %[[FIRST]], %[[ROW]] : i64
// IR-NOT:      arith.muli {{.*}}%c2048_i32
func.func @wgrad896(%a: tensor<2048x?xbf16>, %b: tensor<2048x?xbf16>, %ends: tensor<896xi32>,
                    %c: tensor<896x2048x2048xbf16>) -> tensor<896x2048x2048xbf16> {
  %0 = moe.grouped_gemm ins(%a, %b : tensor<2048x?xbf16>, tensor<2048x?xbf16>)
      rows(%ends : tensor<896xi32>) outs(%c : tensor<896x2048x2048xbf16>)
      {grouping = #moe.grouping<k_grouped>} -> tensor<896x2048x2048xbf16>
  return %0 : tensor<896x2048x2048xbf16>
}

// offsets-2.
// IR-LABEL:  llvm.func @combine_{{[0-9]+}}_combine
// IR:          %[[BLOCK:.*]] = nvvm.read.ptx.sreg.ctaid.x : i32
// IR:          %[[TOKEN:.*]] = arith.extsi %[[BLOCK]] : i32 to i64
// IR:          arith.muli %[[TOKEN]], %c7168_i64{{.*}} : i64
// PTX-LABEL: .entry combine_{{[0-9]+}}_combine
// PTX-NOT:     mul.lo.s32 {{.*}}, {{7168|14336|57344|114688}};
// PTX:         {{mul|mad}}.lo.s64 {{.*}}, 114688
// PTX-NOT:     mul.lo.s32 {{.*}}, {{7168|14336|57344|114688}};
func.func @combine(%y: tensor<?x7168xbf16>, %w: tensor<?x8xf32>, %ids: tensor<?x8xi32>,
                   %r: tensor<?x7168xbf16>, %o0: tensor<?x7168xbf16>) -> tensor<?x7168xbf16> {
  %o = moe.combine ins(%y, %w, %ids : tensor<?x7168xbf16>, tensor<?x8xf32>, tensor<?x8xi32>)
      residual(%r : tensor<?x7168xbf16>) outs(%o0 : tensor<?x7168xbf16>)
      {experts = 256} -> tensor<?x7168xbf16>
  return %o : tensor<?x7168xbf16>
}

// offsets-3: slot 0 of token 52429 starts at element 2147491840.
// IR-LABEL:  llvm.func @combine4096_{{[0-9]+}}_combine
// IR-NOT:      arith.muli {{.*}}%c{{4096|40960}}_i32
// IR:          arith.muli %{{.*}}, %c{{4096|40960}}_i64{{.*}} : i64
// IR-NOT:      arith.muli {{.*}}%c{{4096|40960}}_i32
// PTX-LABEL: .entry combine4096_{{[0-9]+}}_combine
// PTX-NOT:     mul.lo.s32 {{.*}}, {{4096|8192|40960|81920}};
// PTX:         {{mul|mad}}.lo.s64 {{.*}}, 81920
// PTX-NOT:     mul.lo.s32 {{.*}}, {{4096|8192|40960|81920}};
func.func @combine4096(%y: tensor<?x4096xbf16>, %w: tensor<?x10xf32>, %ids: tensor<?x10xi32>,
                       %o0: tensor<?x4096xbf16>) -> tensor<?x4096xbf16> {
  %o = moe.combine ins(%y, %w, %ids : tensor<?x4096xbf16>, tensor<?x10xf32>, tensor<?x10xi32>)
      outs(%o0 : tensor<?x4096xbf16>) {experts = 256} -> tensor<?x4096xbf16>
  return %o : tensor<?x4096xbf16>
}

// offsets-2, the rows in expert order.
// IR-LABEL:  llvm.func @permute_{{[0-9]+}}_permute_copy
// IR-COUNT-2:  arith.muli %{{.*}}, %c7168_i64{{.*}} : i64
// IR-LABEL:  llvm.func @permute_{{[0-9]+}}_unpermute_copy
// IR-COUNT-2:  arith.muli %{{.*}}, %c7168_i64{{.*}} : i64
// PTX-LABEL: .entry permute_{{[0-9]+}}_permute_copy
// PTX-NOT:     {{mul|mad}}.lo.s32 {{.*}}, {{7168|14336}}
// PTX:         mul.wide.u32 {{.*}}, 14336;
// PTX:         {{mul|mad}}.lo.s64 {{.*}}, 14336
// PTX-LABEL: .entry permute_{{[0-9]+}}_unpermute_copy
// PTX-NOT:     {{mul|mad}}.lo.s32 {{.*}}, {{7168|14336}}
// PTX-COUNT-2: {{mul|mad}}.lo.s64 {{.*}}, 14336
func.func @permute(%x: tensor<?x7168xbf16>, %ids: tensor<?x8xi32>, %p0: tensor<?x7168xbf16>,
                   %s0: tensor<?xi32>, %e0: tensor<256xi32>, %y0: tensor<?x7168xbf16>)
    -> (tensor<?x7168xbf16>, tensor<256xi32>, tensor<?x7168xbf16>) {
  %p, %s, %e = moe.permute ins(%x, %ids : tensor<?x7168xbf16>, tensor<?x8xi32>)
      outs(%p0, %s0, %e0 : tensor<?x7168xbf16>, tensor<?xi32>, tensor<256xi32>)
      {experts = 256} -> tensor<?x7168xbf16>, tensor<?xi32>, tensor<256xi32>
  %y = moe.unpermute ins(%p, %s : tensor<?x7168xbf16>, tensor<?xi32>)
      outs(%y0 : tensor<?x7168xbf16>) -> tensor<?x7168xbf16>
  return %p, %e, %y : tensor<?x7168xbf16>, tensor<256xi32>, tensor<?x7168xbf16>
}

// IR-LABEL:  llvm.func @activation_{{[0-9]+}}_activation
// IR:          %[[ROW:.*]] = arith.extsi %{{.*}} : i32 to i64
// IR:          arith.muli %[[ROW]], %c14336_i64{{.*}} : i64
// IR:          arith.muli %[[ROW]], %c7168_i64{{.*}} : i64
// PTX-LABEL: .entry activation_{{[0-9]+}}_activation
// PTX-NOT:     {{mul|mad}}.lo.s32 {{.*}}, {{7168|14336|28672}}
// PTX:         mul.wide.u32 {{.*}}, 14336;
func.func @activation(%h: tensor<?x14336xbf16>, %a0: tensor<?x7168xbf16>) -> tensor<?x7168xbf16> {
  %a = moe.activation ins(%h : tensor<?x14336xbf16>) outs(%a0 : tensor<?x7168xbf16>)
      {activation = #moe.activation<swiglu>} -> tensor<?x7168xbf16>
  return %a : tensor<?x7168xbf16>
}

// IR-LABEL:  llvm.func @gate_{{[0-9]+}}_gate
// The weights are small enough for 32 bits, whatever the number of tokens.
// IR-COUNT-4:  arith.muli %{{.*}}, %c7168_i64{{.*}} : i64
// IR-COUNT-4:  arith.muli %{{.*}}, %c7168_i32{{.*}} : i32
// PTX-LABEL: .entry gate_{{[0-9]+}}_gate
// PTX-COUNT-4: {{(mul.wide.s32|mad.lo.s64) .*, 14336[;,]}}
func.func @gate(%x: tensor<?x7168xbf16>, %w: tensor<256x7168xbf16>, %l0: tensor<?x256xf32>)
    -> tensor<?x256xf32> {
  %l = moe.gate ins(%x, %w : tensor<?x7168xbf16>, tensor<256x7168xbf16>)
      outs(%l0 : tensor<?x256xf32>) -> tensor<?x256xf32>
  return %l : tensor<?x256xf32>
}
