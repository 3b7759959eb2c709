// A bundle without any Python: the same bytes for the same module, and what is wrong is said.
// RUN: xtensor-compile %s -o %t.xtb --name model --target cpu:x86-64-v3 --target cpu:aarch64-linux-gnu --no-blas
// RUN: xtensor-compile %s -o %t.again.xtb --name model --target cpu:x86-64-v3 --target cpu:aarch64-linux-gnu --no-blas
// RUN: cmp %t.xtb %t.again.xtb
// RUN: rm -rf %t.folder && mkdir -p %t.folder/deeper && cp %s %t.folder/deeper/ && cd %t.folder/deeper
// RUN: env TZ=Asia/Tokyo xtensor-compile ../deeper/xtensor-compile.mlir -o %t.elsewhere.xtb --name model --target cpu:x86-64-v3 --target cpu:aarch64-linux-gnu --no-blas
// RUN: cmp %t.xtb %t.elsewhere.xtb
// RUN: %python -m zipfile -e %t.xtb %t.members
// RUN: FileCheck %s --check-prefix=MANIFEST --input-file %t.members/manifest.json
// RUN: FileCheck %s --check-prefix=HEADER --input-file %t.members/model.h
// RUN: llvm-readelf --dyn-syms --dynamic %t.members/cpu/aarch64/libmodel.so | FileCheck %s --check-prefix=SHARED
// RUN: llvm-nm --extern-only --defined-only %t.members/cpu/x86-64-v3/libmodel.a | FileCheck %s --check-prefix=ARCHIVE
// RUN: xtensor-opt %t.members/module0.mlirbc | FileCheck %s --check-prefix=MODULE
// RUN: not xtensor-compile %s -o %t.no.xtb --target cpu:z80 2>&1 | FileCheck %s --check-prefix=TARGET
// RUN: not xtensor-compile %s -o %t.no.xtb --blas mkl 2>&1 | FileCheck %s --check-prefix=BLAS
// RUN: not xtensor-compile %s.nothing -o %t.no.xtb 2>&1 | FileCheck %s --check-prefix=FILE

func.func @main(%x: !xtensor.array<sample: ?, pixel: 64, f32>, %b: !xtensor.array<pixel: 64, f32>)
    -> !xtensor.array<sample: ?, pixel: 64, f32> {
  %y = xtensor.add %x, %b : !xtensor.array<sample: ?, pixel: 64, f32>, !xtensor.array<pixel: 64, f32>
  return %y : !xtensor.array<sample: ?, pixel: 64, f32>
}

// MANIFEST: "schema": 4
// MANIFEST: "target": "cpu:x86-64-v3"
// MANIFEST: "target": "cpu:aarch64"
// HEADER: typedef struct model_main_arg0 {
// HEADER-NEXT: const float *data;
// HEADER-NEXT: int64_t sample_size; /* dim sample: any size */
// HEADER-NEXT: int64_t pixel_size; /* dim pixel: 64 */
// HEADER: int32_t model_main(const model_main_arg0 *, const model_main_arg1 *, const model_main_result *, xt_context *)
// HEADER-NEXT: XT_SYMBOL("model_main__{{[0-9a-f]+}}");
// HEADER: int64_t model_main_workspace(int64_t)
// HEADER-NEXT: XT_SYMBOL("model_main_workspace__{{[0-9a-f]+}}");
// SHARED-DAG: Shared library: [libm.so.6]
// SHARED-DAG: Shared library: [libc.so.6]
// SHARED-DAG: Library soname: [libmodel.so]
// SHARED-DAG: FUNC GLOBAL DEFAULT {{.*}} model_main{{$}}
// SHARED-DAG: FUNC GLOBAL DEFAULT {{.*}} model_main__{{[0-9a-f]+$}}
// ARCHIVE-DAG: T model_main{{$}}
// ARCHIVE-DAG: T model_main_any
// ARCHIVE-DAG: T model_main_workspace
// ARCHIVE-DAG: T model_message
// ARCHIVE-NOT: T xta_
// MODULE: xtensor.add
// TARGET: no bundle can be made for target 'cpu:z80': the targets are cpu (this machine's), cpu:x86-64-v4
// BLAS: there is no BLAS called 'mkl'
// FILE: No such file
