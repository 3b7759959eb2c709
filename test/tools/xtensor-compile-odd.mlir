// Whatever is given to xtensor-compile, it says what is wrong, where, and ends with 1.
// RUN: split-file %s %t
// RUN: not xtensor-compile %t/empty.mlir -o %t/no.xtb 2>&1 | FileCheck %s --check-prefix=NOMAIN
// RUN: not xtensor-compile %t/numbers.mlir -o %t/no.xtb 2>&1 | FileCheck %s --check-prefix=NUMBERS
// RUN: not xtensor-compile %t/declared.mlir -o %t/no.xtb 2>&1 | FileCheck %s --check-prefix=NOMAIN
// RUN: not xtensor-compile %t/text.mlir -o %t/no.xtb 2>&1 | FileCheck %s --check-prefix=TEXT
// RUN: not xtensor-compile %t/calls.mlir -o %t/no.xtb 2>&1 | FileCheck %s --check-prefix=CALLS
// RUN: not xtensor-compile %t/computed.mlir -o %t/no.xtb 2>&1 | FileCheck %s --check-prefix=COMPUTED
// RUN: not xtensor-compile %t -o %t/no.xtb 2>&1 | FileCheck %s --check-prefix=FOLDER
// RUN: not xtensor-compile %t/good.mlir -o %t/none/no.xtb 2>&1 | FileCheck %s --check-prefix=OUTPUT
// RUN: not xtensor-compile %t/good.mlir -o /dev/full 2>&1 | FileCheck %s --check-prefix=FULL
// RUN: not xtensor-compile %t/good.mlir -o %t/no.xtb --target= 2>&1 | FileCheck %s --check-prefix=TARGET
// RUN: not xtensor-compile %t/good.mlir -o %t/no.xtb --target cpu --target cpu 2>&1 | FileCheck %s --check-prefix=TWICE
// RUN: xtensor-opt %t/good.mlir --emit-bytecode -o %t/good.mlirbc
// RUN: xtensor-compile %t/good.mlirbc -o %t/good.xtb --function "a b" --name 2d
// RUN: %python -m zipfile -l %t/good.xtb | FileCheck %s --check-prefix=MEMBERS

//--- empty.mlir
//--- numbers.mlir
func.func @main(%x: i32) -> i32 { return %x : i32 }
//--- declared.mlir
func.func private @main(!xtensor.array<i: 3, f32>)
//--- text.mlir
this is no module
//--- calls.mlir
func.func private @malloc(%x: !xtensor.array<i: 3, f32>) -> !xtensor.array<i: 3, f32> {
  return %x : !xtensor.array<i: 3, f32>
}
func.func @main(%x: !xtensor.array<i: 3, f32>) -> !xtensor.array<i: 3, f32> {
  %y = func.call @malloc(%x) : (!xtensor.array<i: 3, f32>) -> !xtensor.array<i: 3, f32>
  return %y : !xtensor.array<i: 3, f32>
}
//--- computed.mlir
func.func @main(%x: !xtensor.array<i64>) -> !xtensor.array<i: ?, i64> {
  %y = xtensor.iota size %x : !xtensor.array<i64> -> !xtensor.array<i: ?, i64>
  return %y : !xtensor.array<i: ?, i64>
}
//--- good.mlir
func.func @main(%x: !xtensor.array<i: 3, f32>) -> !xtensor.array<i: 3, f32> {
  return %x : !xtensor.array<i: 3, f32>
}
//--- checks
// NOMAIN: error: there is no function @main
// NOMAIN-NOT: see current operation
// NUMBERS: numbers.mlir:1:1: error: arguments and results of a function that is exported are arrays
// TEXT: text.mlir:1:1: error: custom op 'this' is unknown
// CALLS: calls.mlir:5:8: error: calls between functions are not compiled
// COMPUTED: error:
// FOLDER: Is a directory
// OUTPUT: cannot open output file
// FULL: cannot write '/dev/full': No space left on device
// TARGET: no bundle can be made for target ''
// TWICE: target 'cpu' is there twice
// MEMBERS: xtb_2d.h
