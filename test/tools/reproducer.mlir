// A pipeline that fails leaves a file that names its passes, and fails alike.
// RUN: rm -f %t.mlir && not xtensor-opt %s --compile-to=cpu --mlir-pass-pipeline-crash-reproducer=%t.mlir 2>&1 | FileCheck %s --check-prefix=FAILS
// RUN: not xtensor-opt --run-reproducer %t.mlir 2>&1 | FileCheck %s
// RUN: FileCheck %s --check-prefix=FILE --input-file %t.mlir
// Every pass of the phases has a name, for each kind of target.
// RUN: rm -f %t.vulkan.mlir && not xtensor-opt %s --compile-to=llvm --target=vulkan --mlir-pass-pipeline-crash-reproducer=%t.vulkan.mlir
// RUN: not xtensor-opt --run-reproducer %t.vulkan.mlir 2>&1 | FileCheck %s
// RUN: rm -f %t.cuda.mlir && not xtensor-opt %s --compile-to=llvm --target=cuda,sm=80 --mlir-pass-pipeline-crash-reproducer=%t.cuda.mlir
// RUN: not xtensor-opt --run-reproducer %t.cuda.mlir 2>&1 | FileCheck %s

// FAILS: reproducer generated at
// CHECK: has no derivative
// CHECK-NOT: registered pass
// FILE: pipeline: "builtin.module(xtensor-set-target{target=cpu}, xtensor-check-program{needs-main=false}, xtensor-simplify
// FILE-NOT: unknown<
func.func @main(%w: !xtensor.array<f32>) -> !xtensor.array<f32> {
  %loss, %back = xtensor.pullback at(%w) wrt [0] {
  ^bb0(%v: !xtensor.array<f32>):
    %s = xtensor.callback "sort" number 0(%v) : (!xtensor.array<f32>) -> !xtensor.array<f32>
    xtensor.yield %s : !xtensor.array<f32>
  } : (!xtensor.array<f32>) -> (!xtensor.array<f32>, !xtensor.linear<(!xtensor.array<f32>) -> !xtensor.array<f32>>)
  %g = xtensor.apply %back(%loss) : <(!xtensor.array<f32>) -> !xtensor.array<f32>>, (!xtensor.array<f32>) -> !xtensor.array<f32>
  return %g : !xtensor.array<f32>
}
