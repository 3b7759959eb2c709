// The phases by name: stop after one, go on from one, and a file for each.
// RUN: xtensor-opt %s --compile-to=linalg | FileCheck %s --check-prefix=LINALG
// RUN: xtensor-opt %s --compile-to=differentiated | xtensor-opt --compile-from=differentiated --compile-to=linalg | FileCheck %s --check-prefix=LINALG
// RUN: rm -rf %t && xtensor-opt %s --dump-phases=%t -o %t.mlir && FileCheck %s --check-prefix=LLVM --input-file=%t/9-llvm.mlir
// RUN: FileCheck %s --check-prefix=TRACED --input-file=%t/0-traced.mlir
// RUN: xtensor-opt %s --compile-to linalg | FileCheck %s --check-prefix=LINALG
// RUN: not xtensor-opt %s --compile-to=nowhere 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// RUN: not xtensor-opt %s --compile-from=linalg 2>&1 | FileCheck %s --check-prefix=CONTRACT
// RUN: not xtensor-opt %s --compile-from=buffers 2>&1 | FileCheck %s --check-prefix=CONTRACT
// RUN: not xtensor-opt %s --compile-from=llvm 2>&1 | FileCheck %s --check-prefix=LAST
// RUN: not xtensor-opt %s --compile-from=llvm --compile-to=linalg 2>&1 | FileCheck %s --check-prefix=BACKWARDS
// RUN: not xtensor-opt %s --compile-to=asm 2>&1 | FileCheck %s --check-prefix=ASM
// RUN: not xtensor-opt %s --compile-to 2>&1 | FileCheck %s --check-prefix=VALUE
// RUN: xtensor-opt --help | FileCheck %s --check-prefix=HELP

// LINALG-NOT: xtensor.tanh
// LINALG: math.tanh
// LLVM: llvm.func @entry
// TRACED: xtensor.tanh
// UNKNOWN: no such phase: nowhere; there are traced, simplified, differentiated, distributed, linalg, grouped, scheduled, buffers, cpu, llvm
// CONTRACT: is left in the linalg phase
// LAST: 'func.func' is left in the llvm phase
// BACKWARDS: phase linalg lies before llvm, in which the input is
// ASM: no such phase: asm; {{.*}}; assembly is not IR: `xtensor show FILE.py:FUNCTION --phase asm`
// VALUE: --compile-to needs a value: --compile-to=PHASE
// HELP: --compile-to=PHASE
// HELP-NEXT: traced, simplified, {{.*}}, llvm
func.func @main(%x: !xtensor.array<i: 4, f32>) -> !xtensor.array<i: 4, f32> {
  %0 = xtensor.tanh %x : !xtensor.array<i: 4, f32>
  return %0 : !xtensor.array<i: 4, f32>
}
