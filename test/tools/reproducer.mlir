// A pipeline that fails leaves a file that names its passes, and fails alike.
// RUN: rm -f %t.mlir && not xtensor-opt %s --compile-to=cpu --mlir-pass-pipeline-crash-reproducer=%t.mlir 2>&1 | FileCheck %s --check-prefix=FAILS
// RUN: not xtensor-opt --run-reproducer %t.mlir 2>&1 | FileCheck %s
// RUN: FileCheck %s --check-prefix=FILE --input-file %t.mlir
// Its first lines name the command, whatever is in the way of the file's name, and the one that runs it again.
// RUN: rm -rf '%t dir' && mkdir '%t dir' && cp %s '%t dir/it'"'"'s.mlir'
// RUN: cd '%t dir' && not xtensor-opt "it's.mlir" --compile-to cpu --mlir-pass-pipeline-crash-reproducer "a b.mlir" 2>&1 | FileCheck %s --check-prefix=AGAIN
// RUN: cd '%t dir' && FileCheck %s --check-prefix=NAMED --match-full-lines --input-file "a b.mlir"
// RUN: cd '%t dir' && sed -n 's|^// To run it again: ||p' 'a b.mlir' > again.sh && not sh again.sh 2>&1 | FileCheck %s
// RUN: cd '%t dir' && sed -n 's|^// This failed: ||p' 'a b.mlir' > first.sh && not sh first.sh 2>&1 | FileCheck %s
// A file of an earlier failure stays as it is if another command fails before its passes run.
// RUN: cd '%t dir' && cp 'a b.mlir' before && not xtensor-opt nothing.mlir --cse --mlir-pass-pipeline-crash-reproducer="a b.mlir" && cmp 'a b.mlir' before
// Every pass of the phases has a name, for each kind of target.
// RUN: rm -f %t.vulkan.mlir && not xtensor-opt %s --compile-to=llvm --target=vulkan --mlir-pass-pipeline-crash-reproducer=%t.vulkan.mlir
// RUN: not xtensor-opt --run-reproducer %t.vulkan.mlir 2>&1 | FileCheck %s
// RUN: rm -f %t.cuda.mlir && not xtensor-opt %s --compile-to=llvm --target=cuda,sm=80 --mlir-pass-pipeline-crash-reproducer=%t.cuda.mlir
// RUN: not xtensor-opt --run-reproducer %t.cuda.mlir 2>&1 | FileCheck %s

// FAILS: reproducer generated at
// CHECK: has no derivative
// CHECK-NOT: registered pass
// AGAIN: to run what failed again: xtensor-opt --run-reproducer 'a b.mlir'
// NAMED: // This failed: xtensor-opt 'it'\''s.mlir' --compile-to cpu --mlir-pass-pipeline-crash-reproducer 'a b.mlir'
// NAMED-NEXT: // To run it again: xtensor-opt --run-reproducer 'a b.mlir'
// FILE: // This failed: xtensor-opt {{.*}} --compile-to=cpu --mlir-pass-pipeline-crash-reproducer={{.*}}
// FILE-NEXT: // To run it again: xtensor-opt --run-reproducer
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
