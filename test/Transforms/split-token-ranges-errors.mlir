// RUN: moe-opt %s --split-input-file --verify-diagnostics --moe-split-token-ranges
// RUN: not moe-opt %s --split-input-file --moe-split-token-ranges='automatic arch=sm_12' 2>&1 | FileCheck %s --check-prefix=ARCH
// RUN: not moe-opt %s --split-input-file --moe-split-token-ranges='tokens=0' 2>&1 | FileCheck %s --check-prefix=TOKENS
// ARCH: error: {{.*}}sm_12
// TOKENS: error: moe-split-token-ranges requires tokens to be in [1, 2147483647], but got 0

// expected-error @below {{'func.func' op is called, so it cannot be replaced by variants for ranges of tokens; inline the call or put 'moe.token_ranges' on the caller}}
func.func @callee(%x: tensor<?x8xf32>) attributes {moe.token_ranges = [[1, 7]]} {
  return
}
func.func @caller(%x: tensor<?x8xf32>) {
  // expected-note @below {{called here}}
  call @callee(%x) : (tensor<?x8xf32>) -> ()
  return
}
