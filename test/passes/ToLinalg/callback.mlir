// A call of a function of the process is a routine of the runtime: the options say which one, and
// hold names and types as text.
// RUN: xtensor-opt %s --xtensor-to-linalg --canonicalize --cse | xtensor-opt --xtensor-verify-linalg | FileCheck %s

// An ordered call stays, with its effect, in the loop that makes it.
// CHECK-LABEL: func @ordered(
// CHECK: scf.for
// CHECK: xtensor.library "xt_callback" ins(%{{.+}} : tensor<f32>) {options = array<i64: 3, 1, 0, 0, 8, {{[0-9]+}}>, ordered}
// CHECK: xtensor.library "xt_callback" {options = array<i64: 4, 0, 0, 0, 0>, ordered}
func.func @ordered(%x: !xtensor.array<i: 5, f32>) {
  xtensor.scan along i carry() over(%x) {
  ^bb0(%e: !xtensor.array<f32>):
    xtensor.callback ordered "e {}" number 3 (%e) : (!xtensor.array<f32>) -> ()
    xtensor.yield
  } : (!xtensor.array<i: 5, f32>) -> ()
  xtensor.callback ordered "end" number 4 () : () -> ()
  return
}

// Pure calls: equal ones are one, and one that nothing reads is none.
// CHECK-LABEL: func @pure(
// CHECK: %[[S:.+]] = tensor.dim
// CHECK: %[[E:.+]] = tensor.empty(%[[S]]) : tensor<?xi8>
// CHECK: %[[Y:.+]] = xtensor.library "xt_callback" ins(%{{.+}} : tensor<?x2xf32>) outs(%[[E]] : tensor<?xi8>) {options = array<i64: 0, 1, 1, 0, {{[0-9, -]+}}>} -> tensor<?xi8>
// CHECK-NOT: xt_callback
// CHECK: return %[[Y]], %[[Y]]
func.func @pure(%x: !xtensor.array<i: ?, j: 2, f32>)
    -> (!xtensor.array<i: ?, i1>, !xtensor.array<i: ?, i1>) {
  %y = xtensor.callback "f" number 0 (%x) : (!xtensor.array<i: ?, j: 2, f32>) -> !xtensor.array<i: ?, i1>
  %z = xtensor.callback "f" number 0 (%x) : (!xtensor.array<i: ?, j: 2, f32>) -> !xtensor.array<i: ?, i1>
  %w = xtensor.callback "g" number 1 (%x) : (!xtensor.array<i: ?, j: 2, f32>) -> !xtensor.array<f32>
  return %y, %z : !xtensor.array<i: ?, i1>, !xtensor.array<i: ?, i1>
}
