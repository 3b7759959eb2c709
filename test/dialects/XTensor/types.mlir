// Names, sizes and element types of arrays; names that read as types or are no identifiers are
// quoted.
// RUN: xtensor-opt %s | xtensor-opt | FileCheck %s

// CHECK-LABEL: func private @sizes
// CHECK-SAME: !xtensor.array<batch: 64, time: ?, f32>
func.func private @sizes(!xtensor.array<batch: 64, time: ?, f32>)

// CHECK-LABEL: func private @no_dims
// CHECK-SAME: !xtensor.array<f64>
func.func private @no_dims(!xtensor.array<f64>)

// CHECK-LABEL: func private @quoted
// CHECK-SAME: !xtensor.array<"f32": 2, "i8": 0, "two words": 1, plain: 3, i1>
func.func private @quoted(!xtensor.array<"f32": 2, "i8": 0, "two words": 1, plain: 3, i1>)

// CHECK-LABEL: func private @elements
// CHECK-SAME: !xtensor.array<f16>, !xtensor.array<bf16>, !xtensor.array<i8>, !xtensor.array<ui64>
func.func private @elements(!xtensor.array<f16>, !xtensor.array<bf16>, !xtensor.array<i8>,
                            !xtensor.array<ui64>)

// CHECK-LABEL: func private @linear
// CHECK-SAME: !xtensor.linear<(!xtensor.array<i: 2, f32>) -> !xtensor.array<f32>>
func.func private @linear(!xtensor.linear<(!xtensor.array<i: 2, f32>) -> !xtensor.array<f32>>)
