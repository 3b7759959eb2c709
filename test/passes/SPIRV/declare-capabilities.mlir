// RUN: xtensor-opt %s --split-input-file --pass-pipeline='builtin.module(spirv.module(spirv-update-vce,xtensor-declare-capabilities))' | FileCheck %s

// CHECK: spirv.module Logical GLSL450 requires #spirv.vce<v1.0, [{{[A-Za-z0-9, ]*}}, Int64Atomics], [
spirv.module Logical GLSL450 attributes {spirv.target_env = #spirv.target_env<#spirv.vce<v1.3, [Shader, Int64, Int64Atomics], [SPV_KHR_storage_buffer_storage_class]>, #spirv.resource_limits<>>} {
  spirv.func @wide(%place: !spirv.ptr<i64, StorageBuffer>, %new: i64, %old: i64) "None" {
    %now = spirv.AtomicCompareExchange <Device> <None> <None> %place, %new, %old : !spirv.ptr<i64, StorageBuffer>
    spirv.Return
  }
}

// -----

// CHECK: spirv.module Logical GLSL450 requires #spirv.vce<v1.0, [Shader, Int64, Matrix], [
spirv.module Logical GLSL450 attributes {spirv.target_env = #spirv.target_env<#spirv.vce<v1.3, [Shader, Int64, Int64Atomics], [SPV_KHR_storage_buffer_storage_class]>, #spirv.resource_limits<>>} {
  spirv.func @narrow(%place: !spirv.ptr<i32, StorageBuffer>, %new: i32, %wide: i64) "None" {
    %old = spirv.AtomicIAdd <Device> <None> %place, %new : !spirv.ptr<i32, StorageBuffer>
    spirv.Return
  }
}

// -----

// CHECK: spirv.module Logical GLSL450 requires #spirv.vce<v1.0, [{{[A-Za-z0-9, ]*}}, GroupNonUniform], [
spirv.module Logical GLSL450 attributes {spirv.target_env = #spirv.target_env<#spirv.vce<v1.3, [Shader, GroupNonUniform], []>, #spirv.resource_limits<>>} {
  spirv.GlobalVariable @number built_in("SubgroupId") : !spirv.ptr<i32, Input>
}
