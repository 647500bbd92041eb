// The choices of moe-run: function, device, form of the report.
//
// RUN: moe-run %s --tokens=3 | FileCheck %s --check-prefix=DEFAULT
// RUN: moe-run %s --tokens=3 --function=other | FileCheck %s --check-prefix=OTHER
// RUN: moe-run %s --tokens=3 --function=@other | FileCheck %s --check-prefix=OTHER
// RUN: sed s/@layer/@third/ %s | not moe-run --tokens=3 2>&1 | FileCheck %s --check-prefix=SEVERAL
// RUN: moe-run --version | FileCheck %s --check-prefix=VERSION
// RUN: moe-compile --version | FileCheck %s --check-prefix=VERSION
// RUN: moe-opt --version | FileCheck %s --check-prefix=VERSION
// RUN: moe-run %s --tokens=20 --print | FileCheck %s --check-prefix=ROWS --strict-whitespace
// RUN: not moe-run %s --function=none 2>&1 | FileCheck %s --check-prefix=NONE
// RUN: not moe-run %s --tokens=3 --device=quantum 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// RUN: not moe-run %s --tokens=3 --json --print 2>&1 | FileCheck %s --check-prefix=BOTH
// RUN: not moe-run %s --tokens=3 --inputs=seed:x 2>&1 | FileCheck %s --check-prefix=SEED
// RUN: not moe-run %t.nowhere.mlir 2>&1 | FileCheck %s --check-prefix=NOFILE
// RUN: moe-run %s --tokens=3 --device=cpu --compare=reference | FileCheck %s --check-prefix=AGREES
// RUN: moe-run %s --tokens=3 --device=cpu --compare=reference --json | FileCheck %s --check-prefix=JSON
// RUN: moe-run --help | FileCheck %s --check-prefix=HELP

// DEFAULT: @layer on reference, inputs seed:0
// DEFAULT: 0 3x4xf32
// OTHER: @other on reference, inputs seed:0
// NONE: moe-run: error: there is no function none with a body; {{.*}}tool.mlir has 2 public functions; choose one: --function=layer or other
// UNKNOWN: moe-run: error: device quantum is unknown; choose reference, cpu, emulator or cuda
// BOTH: moe-run: error: --print writes no JSON
// SEED: moe-run: error: --inputs=seed:x has no number behind seed:
// NOFILE: moe-run: error: {{.*}}nowhere.mlir: No such file or directory
// AGREES: @layer on cpu, compared with reference, inputs seed:0
// AGREES: 0 3x4xf32 {{.*}} agrees
// JSON: "device": "cpu"
// JSON: "compared_with": "reference"
// JSON: "relative_l2":
// JSON: "agrees": true
// SEVERAL: moe-run: error: the input has 2 public functions; choose one: --function=third or other
// VERSION: MoE compiler {{[0-9.]+.*}} (LLVM 22{{.*}})
// A row per line where one line would be too long.
// ROWS: 0 20x4xf32 = {{$}}
// ROWS-NEXT: {{^\[\[[^][]*\],$}}
// ROWS-COUNT-18: {{^ \[[^][]*\],$}}
// ROWS-NEXT: {{^ \[[^][]*\]\]$}}
// HELP: Examples:
// HELP: Exit status: 0 the run succeeded and the results agree, 1 error, 2 the results
func.func @layer(%x: tensor<?x8xf32>) -> tensor<?x4xf32> {
  %c0 = arith.constant 0 : index
  %r = tensor.dim %x, %c0 : tensor<?x8xf32>
  %e = tensor.empty(%r) : tensor<?x4xf32>
  %a = moe.activation ins(%x : tensor<?x8xf32>) outs(%e : tensor<?x4xf32>) {activation = #moe.activation<swiglu>} -> tensor<?x4xf32>
  return %a : tensor<?x4xf32>
}
func.func @other(%x: tensor<?x8xf32>) -> tensor<?x8xf32> {
  %a = moe.activation ins(%x : tensor<?x8xf32>) outs(%x : tensor<?x8xf32>) {activation = #moe.activation<silu>} -> tensor<?x8xf32>
  return %a : tensor<?x8xf32>
}
