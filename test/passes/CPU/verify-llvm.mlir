// What LLVM does not have is an error at the user's line, before translation.
// RUN: xtensor-opt %s --split-input-file --verify-diagnostics --xtensor-verify-llvm

llvm.func @op(%v: vector<8xi64>) {
  // expected-error@+1 {{'builtin.unrealized_conversion_cast' is left in the llvm phase: no pass converts it}}
  %i = builtin.unrealized_conversion_cast %v : vector<8xi64> to vector<8xindex>
  llvm.return
}

// -----

llvm.func @memory(%p: !llvm.ptr) {
  // expected-error@+1 {{'llvm.getelementptr' has a type in the llvm phase that LLVM does not have: '!llvm.struct<(ptr, vector<8xindex>)>'}}
  %q = llvm.getelementptr %p[0, 1] : (!llvm.ptr) -> !llvm.ptr, !llvm.struct<(ptr, vector<8xindex>)>
  llvm.return
}
