// From a traced program to the kernels of each kind of device.
// RUN: xtensor-opt %s --xtensor-to-gpu | FileCheck %s --check-prefix=GPU
// RUN: xtensor-opt %s --xtensor-to-spirv | FileCheck %s --check-prefix=SPIRV
// RUN: xtensor-opt %s --xtensor-to-spirv=target=vulkan,subgroup=8 | FileCheck %s --check-prefix=SPIRV
// RUN: xtensor-opt %s --xtensor-to-msl | FileCheck %s --check-prefix=MSL
// RUN: xtensor-opt %s --xtensor-to-ptx | FileCheck %s --check-prefix=PTX
// RUN: xtensor-opt %s --compile-to=ptx --target=cuda | FileCheck %s --check-prefix=PTX
// RUN: not xtensor-opt %s --xtensor-to-msl=target=vulkan 2>&1 | FileCheck %s --check-prefix=WRONG
// RUN: not xtensor-opt %s --xtensor-to-gpu=target=abacus 2>&1 | FileCheck %s --check-prefix=NONE
// RUN: not xtensor-opt %s --xtensor-to-gpu=target=vulkan,max_threads=0 2>&1 | FileCheck %s --check-prefix=ZERO
// RUN: not xtensor-opt %s --xtensor-to-gpu=target=vulkan,f64,telepathy 2>&1 | FileCheck %s --check-prefix=WORD
// RUN: not xtensor-opt %s --xtensor-to-gpu=target=vulkan,subgroup 2>&1 | FileCheck %s --check-prefix=BARE
// RUN: xtensor-opt %s --xtensor-to-gpu=target=vulkan,max_threads=100 | FileCheck %s --check-prefix=GPU

// GPU: gpu.launch_func
// GPU: gpu.func @kernel0
// SPIRV: spirv.module
// SPIRV: spirv.EntryPoint "GLCompute" @kernel0
// MSL: #include <metal_stdlib>
// PTX: .visible .entry kernel0
// WRONG: no such phase: msl; there are traced, {{.*}}gpu, spirv, llvm
// ZERO: the device's profile says 'max_threads=0': a number of 1 or more is needed
// WORD: the device's profile says 'telepathy', which means nothing; there are makers (any, nvidia, {{.*}}software), features (f64, {{.*}}shuffle, {{.*}}) and numbers (subgroup=, {{.*}}sm=, unit_m=, unit_n=, unit_k=)
// BARE: the device's profile says 'subgroup': a number of 1 or more is needed
// NONE: no such target: abacus; there are cpu, vulkan, metal and cuda
func.func @main(%x: !xtensor.array<i: 64, f32>) -> !xtensor.array<i: 64, f32> {
  %0 = xtensor.add %x, %x : !xtensor.array<i: 64, f32>, !xtensor.array<i: 64, f32>
  return %0 : !xtensor.array<i: 64, f32>
}
