// RUN: xtensor-opt %s --split-input-file --xtensor-compile="from=gpu to=spirv target=vulkan,f16,s16,subgroup=32,unit_m=16,unit_n=16,unit_k=16" | FileCheck %s

// A kernel that multiplies matrices is in Vulkan's memory model: accesses to the workgroup's memory say
// that others see them, and barriers make it so.

// CHECK-LABEL: spirv.module @{{.*}} Logical Vulkan requires #spirv.vce<v1.6, [
// CHECK-SAME:    VulkanMemoryModel
// CHECK-SAME:    CooperativeMatrixKHR
// CHECK-SAME:    GroupNonUniform
// CHECK-SAME:    SPV_KHR_cooperative_matrix
// CHECK:         spirv.Load "StorageBuffer" %{{[0-9]+}} : f16
// CHECK:         spirv.Store "Workgroup" %{{.*}} ["NonPrivatePointer"] : f16
// CHECK:         spirv.ControlBarrier <Workgroup>, <Workgroup>, <AcquireRelease|UniformMemory|WorkgroupMemory|MakeAvailable|MakeVisible>
// CHECK:         %[[A:.*]] = spirv.KHR.CooperativeMatrixLoad %{{.*}}, <RowMajor>, <NonPrivatePointer> : !spirv.ptr<f16, Workgroup>, i32 -> !spirv.coopmatrix<16x16xf16, Subgroup, MatrixA>
// CHECK:         %[[B:.*]] = spirv.KHR.CooperativeMatrixLoad %{{.*}}, <ColumnMajor>, <NonPrivatePointer> : !spirv.ptr<f16, Workgroup>, i32 -> !spirv.coopmatrix<16x16xf16, Subgroup, MatrixB>
// CHECK:         %[[C:.*]] = spirv.KHR.CooperativeMatrixMulAdd %[[A]], %[[B]], %{{.*}} -> !spirv.coopmatrix<16x16xf32, Subgroup, MatrixAcc>
// CHECK:         spirv.KHR.CooperativeMatrixStore %{{.*}}, %[[C]], %{{.*}}, <RowMajor>, <NonPrivatePointer>
// CHECK:         spirv.Load "Workgroup" %{{.*}} ["NonPrivatePointer"] : f32
// CHECK:         spirv.EntryPoint "GLCompute" @matrices, @matrices_memory{{.*}}, @matrices_buffer{{.*}}, @__builtin__SubgroupId__
module attributes {gpu.container_module} {
  gpu.module @matrices {
    gpu.func @matrices(%x: memref<?xf16>, %y: memref<?xf32>)
        workgroup(%shared: memref<512xf16, #gpu.address_space<workgroup>>, %sums: memref<256xf32, #gpu.address_space<workgroup>>)
        kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
      %thread = gpu.thread_id x
      %zero = arith.constant 0.0 : f32
      %c256 = arith.constant 256 : index
      %v = memref.load %x[%thread] : memref<?xf16>
      memref.store %v, %shared[%thread] : memref<512xf16, #gpu.address_space<workgroup>>
      gpu.barrier
      %subgroup = gpu.subgroup_id : index
      %from = arith.muli %subgroup, %c256 : index
      %a = gpu.subgroup_mma_load_matrix %shared[%from] {leadDimension = 16 : index} : memref<512xf16, #gpu.address_space<workgroup>> -> !gpu.mma_matrix<16x16xf16, "AOp">
      %b = gpu.subgroup_mma_load_matrix %shared[%from] {leadDimension = 16 : index, transpose} : memref<512xf16, #gpu.address_space<workgroup>> -> !gpu.mma_matrix<16x16xf16, "BOp">
      %none = gpu.subgroup_mma_constant_matrix %zero : !gpu.mma_matrix<16x16xf32, "COp">
      %c = gpu.subgroup_mma_compute %a, %b, %none : !gpu.mma_matrix<16x16xf16, "AOp">, !gpu.mma_matrix<16x16xf16, "BOp"> -> !gpu.mma_matrix<16x16xf32, "COp">
      gpu.subgroup_mma_store_matrix %c, %sums[%from] {leadDimension = 16 : index} : !gpu.mma_matrix<16x16xf32, "COp">, memref<256xf32, #gpu.address_space<workgroup>>
      gpu.barrier
      %sum = memref.load %sums[%thread] : memref<256xf32, #gpu.address_space<workgroup>>
      memref.store %sum, %y[%thread] : memref<?xf32>
      gpu.return
    }
  }
}

// -----

// Every other kernel of the same device is as it was.

// CHECK-LABEL: spirv.module @{{.*}} Logical GLSL450 requires #spirv.vce<v1.0, [
// CHECK-NOT:     CooperativeMatrix
// CHECK-NOT:     NonPrivatePointer
// CHECK:         spirv.ControlBarrier <Workgroup>, <Workgroup>, <AcquireRelease|UniformMemory|WorkgroupMemory>
// CHECK-NOT:     NonPrivatePointer
module attributes {gpu.container_module} {
  gpu.module @plain {
    gpu.func @plain(%x: memref<?xf32>, %y: memref<?xf32>) workgroup(%shared: memref<32xf32, #gpu.address_space<workgroup>>)
        kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
      %thread = gpu.thread_id x
      %v = memref.load %x[%thread] : memref<?xf32>
      memref.store %v, %shared[%thread] : memref<32xf32, #gpu.address_space<workgroup>>
      gpu.barrier
      %w = memref.load %shared[%thread] : memref<32xf32, #gpu.address_space<workgroup>>
      memref.store %w, %y[%thread] : memref<?xf32>
      gpu.return
    }
  }
}
