// RUN: not moe-opt %s --pass-pipeline='builtin.module(moe-outline-kernels{arch=sm_100})' 2>&1 | FileCheck %s

// CHECK: error: no target 'sm_100'; supported are sm_80, sm_89, sm_90, sm_90a
func.func @f() {
  return
}
