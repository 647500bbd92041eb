// RUN: moe-opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(func.func(moe-check-cpu))'

// Branches forwards, a buffer of one's own that is freed: nothing to say.
func.func @right(%c: i1, %x: memref<4x8xf32>) {
  cf.cond_br %c, ^then, ^end
^then:
  %a = memref.alloc() : memref<4x8xf32>
  moe.activation ins(%x : memref<4x8xf32>) outs(%a : memref<4x8xf32>) {activation = #moe.activation<silu>}
  memref.dealloc %a : memref<4x8xf32>
  cf.br ^end
^end:
  return
}

// -----

func.func @loop(%x: memref<4x8xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  cf.br ^loop(%c0 : index)
^loop(%i: index):
  %j = arith.addi %i, %c1 : index
  %more = arith.cmpi slt, %j, %n : index
  // expected-error @+1 {{'cf.cond_br' op branches back to a block that leads to it, but code for a CPU is made of structured loops only; write the loop as scf.for or scf.while}}
  cf.cond_br %more, ^loop(%j : index), ^end
^end:
  return
}

// -----

func.func @loop_of_one_block(%x: memref<4x8xf32>) {
  cf.br ^loop
^loop:
  // expected-error @+1 {{'cf.br' op branches back to a block that leads to it}}
  cf.br ^loop
}

// -----

// expected-error @+1 {{'func.func' op requires memrefs of the default memory space on a CPU, but argument #1 is 'memref<4x8xf32, "far">'; leave the memory space out of the type}}
func.func @argument(%n: index, %x: memref<4x8xf32, "far">) {
  return
}

// -----

func.func @value() {
  // expected-error @+1 {{'memref.alloc' op requires memrefs of the default memory space on a CPU, but result #0 is 'memref<4x8xf32, 3 : i32>'}}
  %a = memref.alloc() : memref<4x8xf32, 3 : i32>
  return
}

// -----

func.func @tensor(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  // expected-error @+1 {{'arith.negf' op has no form on buffers, which code for a CPU needs of every op on tensors; write it with linalg ops, on scalars, or compute it outside the function}}
  %v = arith.negf %x : tensor<4x8xf32>
  return %v : tensor<4x8xf32>
}

// -----

func.func @frees_argument(%x: memref<4x8xf32>) {
  %rows = memref.subview %x[0, 0][2, 8][1, 1] : memref<4x8xf32> to memref<2x8xf32, strided<[8, 1]>>
  // expected-error @+1 {{'memref.dealloc' op frees an argument, but a function frees only what it allocated; remove the memref.dealloc}}
  memref.dealloc %rows : memref<2x8xf32, strided<[8, 1]>>
  return
}

// -----

memref.global "private" constant @table : memref<4xf32> = dense<1.0>
func.func @frees_global() {
  %t = memref.get_global @table : memref<4xf32>
  // expected-error @+1 {{'memref.dealloc' op frees a global, but a function frees only what it allocated; remove the memref.dealloc}}
  memref.dealloc %t : memref<4xf32>
  return
}
