// RUN: moe-opt %s --split-input-file --verify-diagnostics

// expected-error @below {{requires 'moe.alignment' to be a power of two of at least the 2 bytes of an element, but got 12 : i64}}
func.func @power(%x: tensor<?x64xbf16> {moe.alignment = 12 : i64}) {
  return
}

// -----

// expected-error @below {{requires 'moe.alignment' to be a power of two of at least the 4 bytes of an element, but got 2 : i64}}
func.func @element(%x: memref<?x64xf32> {moe.alignment = 2 : i64}) {
  return
}

// -----

// expected-error @below {{requires 'moe.alignment' to be a power of two of at least the 2 bytes of an element, but got "2"}}
func.func @kind(%x: tensor<?x64xbf16> {moe.alignment = "2"}) {
  return
}

// -----

// expected-error @below {{requires 'moe.alignment' to be on a tensor or memref of a function, but it is on 'index'}}
func.func @type(%x: index {moe.alignment = 8 : i64}) {
  return
}

// -----

// expected-error @below {{requires 'moe.alignment' to be a power of two of at least the 2 bytes of an element, but got 0 : i64}}
func.func private @result() -> (tensor<8xf16> {moe.alignment = 0 : i64})
