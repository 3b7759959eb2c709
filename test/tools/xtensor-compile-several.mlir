// Every public function of a module is one of the bundle's, whichever is called @main.
// RUN: split-file %s %t
// RUN: xtensor-compile %t/two.mlir -o %t/model.xtb --name model --no-blas
// RUN: xtensor-compile %t/two.mlir -o %t/again.xtb --name model --no-blas
// RUN: cmp %t/model.xtb %t/again.xtb
// RUN: %python -m zipfile -e %t/model.xtb %t/members
// RUN: FileCheck %s --check-prefix=MANIFEST --input-file %t/members/manifest.json
// RUN: FileCheck %s --check-prefix=HEADER --input-file %t/members/model.h
// RUN: xtensor-opt %t/members/module0.mlirbc | FileCheck %s --check-prefix=FIRST
// RUN: xtensor-opt %t/members/module1.mlirbc | FileCheck %s --check-prefix=SECOND
// RUN: not xtensor-compile %t/two.mlir -o %t/no.xtb --function f 2>&1 | FileCheck %s --check-prefix=NAMED
// RUN: not xtensor-compile %t/calls.mlir -o %t/no.xtb 2>&1 | FileCheck %s --check-prefix=CALLS
// RUN: %python -c "print('\n'.join('func.func @f%%d() { return }' %% i for i in range(1025)))" > %t/many.mlir
// RUN: not xtensor-compile %t/many.mlir -o %t/no.xtb 2>&1 | FileCheck %s --check-prefix=MANY
// RUN: not xtensor-compile %t/private.mlir -o %t/no.xtb 2>&1 | FileCheck %s --check-prefix=PRIVATE

//--- two.mlir
func.func @twice(%x: !xtensor.array<i: 3, f32>) -> !xtensor.array<i: 3, f32> {
  %y = xtensor.add %x, %x : !xtensor.array<i: 3, f32>, !xtensor.array<i: 3, f32>
  return %y : !xtensor.array<i: 3, f32>
}
func.func @main(%x: !xtensor.array<i: ?, f32>) -> !xtensor.array<i: ?, f32> {
  %y = xtensor.mul %x, %x : !xtensor.array<i: ?, f32>, !xtensor.array<i: ?, f32>
  return %y : !xtensor.array<i: ?, f32>
}
//--- calls.mlir
func.func @inner(%x: !xtensor.array<i: 3, f32>) -> !xtensor.array<i: 3, f32> {
  return %x : !xtensor.array<i: 3, f32>
}
func.func @outer(%x: !xtensor.array<i: 3, f32>) -> !xtensor.array<i: 3, f32> {
  %y = func.call @inner(%x) : (!xtensor.array<i: 3, f32>) -> !xtensor.array<i: 3, f32>
  return %y : !xtensor.array<i: 3, f32>
}
//--- private.mlir
func.func private @only(%x: !xtensor.array<i: 3, f32>) -> !xtensor.array<i: 3, f32> {
  return %x : !xtensor.array<i: 3, f32>
}
//--- checks
// MANIFEST: "functions": [
// MANIFEST: "module": "module0.mlirbc"
// MANIFEST-NEXT: "name": "twice"
// MANIFEST: "module": "module1.mlirbc"
// MANIFEST-NEXT: "name": "main"
// MANIFEST: "entry": "model_twice__entry"
// MANIFEST-NEXT: "kernel": "cpu/{{.*}}/kernel0.so"
// MANIFEST: "entry": "model_main__entry"
// MANIFEST-NEXT: "kernel": "cpu/{{.*}}/kernel1.so"
// HEADER: int32_t model_twice(const model_twice_arg0 *, const model_twice_result *, xt_context *)
// HEADER-NEXT: XT_SYMBOL("model_twice__{{[0-9a-f]+}}");
// HEADER: int64_t model_twice_workspace(void)
// HEADER-NEXT: XT_SYMBOL("model_twice_workspace__{{[0-9a-f]+}}");
// HEADER: int32_t model_main(const model_main_arg0 *, const model_main_result *, xt_context *)
// HEADER-NEXT: XT_SYMBOL("model_main__{{[0-9a-f]+}}");
// HEADER: int64_t model_main_workspace(int64_t)
// HEADER-NEXT: XT_SYMBOL("model_main_workspace__{{[0-9a-f]+}}");
// HEADER: const char *model_message(
// HEADER-NOT: model_message
// FIRST-NOT: xtensor.mul
// FIRST: func.func @main
// FIRST: xtensor.add
// SECOND-NOT: xtensor.add
// SECOND: func.func @main
// SECOND: xtensor.mul
// NAMED: --function names the only function; this module has 2
// CALLS: calls.mlir:1:1: error: a bundle holds public functions and nothing else. Inline what they call {{.*}} (in function 'outer')
// MANY: error: no bundle can be made of 1025 functions: 1024 at most
// PRIVATE: error: there is no public function to compile
