// .npy files: what is read, what is refused and how.
//
// RUN: %python %S/npy.py %s %t | FileCheck %s
// RUN: not moe-run %s --inputs=%t.missing 2>&1 | FileCheck %s --check-prefix=MISSING
// RUN: not moe-run %s --input=x 2>&1 | FileCheck %s --check-prefix=FORM
// RUN: not moe-run %s --input=7:f.npy 2>&1 | FileCheck %s --check-prefix=NUMBER

// CHECK: u2 and i4: read and written back
// CHECK: void of two bytes: read and written back
// CHECK: version 2: read and written back
// CHECK: version 3, keys in another order: read and written back
// CHECK: i8 that fits: read and written back
// CHECK: i8 that does not fit: 1: moe-run: error: argument 1: /second.npy: element 2 of an array of 3xi64 is not representable in i32
// CHECK: float for bf16: 1: moe-run: error: argument 0: /first.npy: requires elements of bf16, stored as <u2, but got <f4
// CHECK: big endian: 1: {{.*}}requires elements of i32, stored as <i4, but got >i4
// CHECK: fortran order: 1: {{.*}}the array is in Fortran order; save numpy.ascontiguousarray of it
// CHECK: other shape: 1: {{.*}}error: 'func.func' op requires argument 0 to be 'tensor<2x3xbf16>', but got an array of 3x2xbf16
// CHECK: empty file: 1: {{.*}}not a .npy file
// CHECK: no magic: 1: {{.*}}not a .npy file
// CHECK: version 9: 1: {{.*}}unknown .npy version 9
// CHECK: ends in the length: 1: {{.*}}not a .npy file
// CHECK: ends in the header: 1: {{.*}}the file ends inside its header
// CHECK: truncated data: 1: {{.*}}requires 12 bytes for 2x3xbf16 behind the header, but got 11
// CHECK: trailing data: 1: {{.*}}requires 12 bytes for 2x3xbf16 behind the header, but got 13
// CHECK: header is not a dictionary: 1: {{.*}}malformed header
// CHECK: unknown key: 1: {{.*}}malformed header
// CHECK: missing shape: 1: {{.*}}malformed header
// CHECK: twice the shape: 1: {{.*}}malformed header
// CHECK: negative extent: 1: {{.*}}malformed header
// CHECK: huge extents: 1: {{.*}}an array of 4294967296x4294967296x4xbf16 does not fit the memory of this machine
// CHECK: extent beyond 64 bits: 1: {{.*}}malformed header
// CHECK: hidden overflow: 1: {{.*}}does not fit the memory of this machine
// CHECK: too many dimensions: 1: {{.*}}malformed header
// CHECK: unterminated string: 1: {{.*}}malformed header

// MISSING: moe-run: error: argument 0: {{.*}}0.npy: No such file or directory
// FORM: moe-run: error: --input=x is not of the form N:FILE.npy
// NUMBER: moe-run: error: --input=7:f.npy: @f has 2 arguments
func.func @f(%a: tensor<2x3xbf16>, %b: tensor<3xi32>) -> (tensor<2x3xbf16>, tensor<3xi32>) {
  return %a, %b : tensor<2x3xbf16>, tensor<3xi32>
}
