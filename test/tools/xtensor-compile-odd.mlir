// Whatever is given to xtensor-compile, it says what is wrong, where, and ends with 1.
// RUN: split-file %s %t
// RUN: not xtensor-compile %t/empty.mlir -o %t/no.xtb 2>&1 | FileCheck %s --check-prefix=NOMAIN
// RUN: not xtensor-compile %t/numbers.mlir -o %t/no.xtb 2>&1 | FileCheck %s --check-prefix=NUMBERS
// RUN: not xtensor-compile %t/declared.mlir -o %t/no.xtb 2>&1 | FileCheck %s --check-prefix=NOMAIN
// RUN: not xtensor-compile %t/text.mlir -o %t/no.xtb 2>&1 | FileCheck %s --check-prefix=TEXT
// RUN: not xtensor-compile %t/calls.mlir -o %t/no.xtb 2>&1 | FileCheck %s --check-prefix=CALLS
// RUN: not xtensor-compile %t/computed.mlir -o %t/no.xtb 2>&1 | FileCheck %s --check-prefix=COMPUTED
// RUN: not xtensor-compile %t/asm.mlir -o %t/no.xtb 2>&1 | FileCheck %s --check-prefix=ASM
// RUN: not xtensor-compile %t/nonempty.mlir -o %t/no.xtb 2>&1 | FileCheck %s --check-prefix=NONEMPTY
// RUN: not xtensor-compile %t/ctors.mlir -o %t/no.xtb 2>&1 | FileCheck %s --check-prefix=CTORS
// RUN: not xtensor-compile %t/dim.mlir -o %t/no.xtb 2>&1 | FileCheck %s --check-prefix=LINE
// RUN: not xtensor-compile %t/argument.mlir -o %t/no.xtb 2>&1 | FileCheck %s --check-prefix=LINE
// RUN: not xtensor-compile %t/nonempty.mlir -o %t/no.xtb --name "a	b" 2>&1 | FileCheck %s --check-prefix=NAME
// RUN: not xtensor-compile %t/huge.mlir -o %t/no.xtb 2>&1 | FileCheck %s --check-prefix=HUGE
// RUN: not xtensor-compile %t/good.mlir -o %t/no.xtb --function "" 2>&1 | FileCheck %s --check-prefix=FUNCTION
// RUN: not xtensor-compile %t -o %t/no.xtb 2>&1 | FileCheck %s --check-prefix=FOLDER
// RUN: not xtensor-compile %t/good.mlir -o %t/none/no.xtb 2>&1 | FileCheck %s --check-prefix=OUTPUT
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
//--- asm.mlir
func.func @main(%x: !xtensor.array<i: 3, f32>) -> !xtensor.array<i: 3, f32> {
  llvm.inline_asm has_side_effects "ud2", "" : () -> ()
  return %x : !xtensor.array<i: 3, f32>
}
//--- nonempty.mlir
func.func @main(%x: !xtensor.array<i: ?, f32>) -> !xtensor.array<i: ?, f32> attributes {xtensor.nonempty = [["q", 0]]} {
  return %x : !xtensor.array<i: ?, f32>
}
//--- ctors.mlir
llvm.mlir.global_ctors ctors = [@c], priorities = [0 : i32], data = [#llvm.zero]
llvm.func @c() { llvm.return }
func.func @main(%x: !xtensor.array<i: 3, f32>) -> !xtensor.array<i: 3, f32> {
  return %x : !xtensor.array<i: 3, f32>
}
//--- dim.mlir
func.func @main(%x: !xtensor.array<"a b\0A*/": 3, f32>) -> !xtensor.array<"a b\0A*/": 3, f32> {
  return %x : !xtensor.array<"a b\0A*/": 3, f32>
}
//--- argument.mlir
func.func @main(%x: !xtensor.array<i: 3, f32> loc("a\00")) -> !xtensor.array<i: 3, f32> {
  return %x : !xtensor.array<i: 3, f32>
}
//--- huge.mlir
func.func @main(%x: !xtensor.array<i: 1152921504606846976, f32>) -> !xtensor.array<i: 1152921504606846976, f32> {
  return %x : !xtensor.array<i: 1152921504606846976, f32>
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
// NOMAIN: error: there is no public function to compile
// NOMAIN-NOT: see current operation
// NUMBERS: numbers.mlir:1:1: error: arguments and results of a function that is exported are arrays
// TEXT: text.mlir:1:1: error: custom op 'this' is unknown
// CALLS: calls.mlir:1:1: error: a bundle holds public functions and nothing else
// ASM: asm.mlir:2:3: error: ops of LLVM are no part of a program
// NONEMPTY: error: attribute xtensor.nonempty is no list of {dim, message, where}
// CTORS: error: a bundle holds public functions and nothing else
// LINE: no bundle can be made where the name of an array or a dim is empty, has more than 1024 characters, or some
// NAME: no bundle can be made with a name that is empty or has characters that cannot be printed
// HUGE: no bundle can be made with an array that is larger than memory: 'arg0'
// FUNCTION: no bundle can be made of a function with such a name
// COMPUTED: error:
// FOLDER: Is a directory
// OUTPUT: cannot open output file
// TARGET: no bundle can be made for target ''
// TWICE: target 'cpu' is there twice
// MEMBERS: xtb_2d.h
