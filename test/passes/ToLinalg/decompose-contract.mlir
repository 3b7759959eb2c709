// Contractions of any number of arrays, two at a time.
// RUN: xtensor-opt %s --xtensor-decompose-contract | FileCheck %s

// A matrix times a matrix times a vector is two matrix-vector products.
// CHECK-LABEL: func.func @chain
// CHECK: %[[BV:.*]] = xtensor.contract %arg1, %arg2 over [k]
// CHECK: %[[Y:.*]] = xtensor.contract %arg0, %[[BV]] over [j] order [i]
// CHECK: return %[[Y]]
func.func @chain(%a: !xtensor.array<i: 64, j: 32, f32>, %b: !xtensor.array<j: 32, k: 48, f32>,
                 %v: !xtensor.array<k: 48, f32>) -> !xtensor.array<i: 64, f32> {
  %y = xtensor.contract %a, %b, %v over [j, k] : !xtensor.array<i: 64, j: 32, f32>,
      !xtensor.array<j: 32, k: 48, f32>, !xtensor.array<k: 48, f32>
  return %y : !xtensor.array<i: 64, f32>
}

// What one operand alone has is summed before; nothing is left to contract, so it is a product,
// in the order asked for; the number multiplies the smallest of all.
// CHECK-LABEL: func.func @outer
// CHECK: %[[B:.*]] = xtensor.mul %arg1, %arg2
// CHECK: %[[A:.*]] = xtensor.reduce sum %arg0 over [k]
// CHECK: %[[M:.*]] = xtensor.mul %[[A]], %[[B]]
// CHECK: %[[R:.*]] = xtensor.broadcast %[[M]] {{.*}} -> !xtensor.array<j: 3, i: 4, f32>
// CHECK: return %[[R]]
func.func @outer(%a: !xtensor.array<i: 4, k: 5, f32>, %b: !xtensor.array<j: 3, f32>,
                 %s: !xtensor.array<f32>) -> !xtensor.array<j: 3, i: 4, f32> {
  %y = xtensor.contract %a, %b, %s over [k] order [j, i] : !xtensor.array<i: 4, k: 5, f32>,
      !xtensor.array<j: 3, f32>, !xtensor.array<f32>
  return %y : !xtensor.array<j: 3, i: 4, f32>
}

// CHECK-LABEL: func.func @alone
// CHECK: xtensor.reduce sum %arg0 over [i]
// CHECK-NOT: xtensor.contract
func.func @alone(%a: !xtensor.array<i: 4, k: 5, f32>) -> !xtensor.array<k: 5, f32> {
  %y = xtensor.contract %a over [i] : !xtensor.array<i: 4, k: 5, f32>
  return %y : !xtensor.array<k: 5, f32>
}

// A square: the dim is in both operands, though they are one array.
// CHECK-LABEL: func.func @square
// CHECK: xtensor.contract %arg0, %arg0 over [i]
func.func @square(%a: !xtensor.array<i: 4, f32>) -> !xtensor.array<f32> {
  %y = xtensor.contract %a, %a over [i] : !xtensor.array<i: 4, f32>, !xtensor.array<i: 4, f32>
  return %y : !xtensor.array<f32>
}

// 2^64 elements wrap around to none in 64 bits: the number still multiplies the smaller operand.
// CHECK-LABEL: func.func @huge
// CHECK: %[[B:.*]] = xtensor.mul %arg1, %arg2
// CHECK: xtensor.contract %arg0, %[[B]] over [k]
func.func @huge(%a: !xtensor.array<i: 1099511627776, k: 16777216, f32>,
                %b: !xtensor.array<k: 16777216, f32>, %s: !xtensor.array<f32>)
    -> !xtensor.array<i: 1099511627776, f32> {
  %y = xtensor.contract %a, %b, %s over [k] : !xtensor.array<i: 1099511627776, k: 16777216, f32>,
      !xtensor.array<k: 16777216, f32>, !xtensor.array<f32>
  return %y : !xtensor.array<i: 1099511627776, f32>
}

// A sum of nothing is 0, whatever multiplies it: the number is 0 where the open dim is empty.
// CHECK-LABEL: func.func @open
// CHECK: %[[DOT:.*]] = xtensor.contract %arg0, %arg0 over [i]
// CHECK: %[[SIZE:.*]] = xtensor.size %arg0 i
// CHECK: %[[EMPTY:.*]] = xtensor.compare eq %[[SIZE]], %{{.*}}
// CHECK: %[[S:.*]] = xtensor.select %[[EMPTY]], %{{.*}}, %arg1
// CHECK: xtensor.mul %[[DOT]], %[[S]]
func.func @open(%a: !xtensor.array<i: ?, f32>, %s: !xtensor.array<f32>) -> !xtensor.array<f32> {
  %y = xtensor.contract %a, %a, %s over [i] : !xtensor.array<i: ?, f32>, !xtensor.array<i: ?, f32>,
      !xtensor.array<f32>
  return %y : !xtensor.array<f32>
}

// Nothing is multiplied by a sum that was taken before: the pair adds up nothing by itself.
// CHECK-LABEL: func.func @pair
// CHECK-NOT: xtensor.select
// CHECK: return
func.func @pair(%a: !xtensor.array<i: ?, j: 2, f32>, %b: !xtensor.array<i: ?, k: 3, f32>)
    -> !xtensor.array<j: 2, k: 3, f32> {
  %y = xtensor.contract %a, %b over [i] : !xtensor.array<i: ?, j: 2, f32>,
      !xtensor.array<i: ?, k: 3, f32>
  return %y : !xtensor.array<j: 2, k: 3, f32>
}
