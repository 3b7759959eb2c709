// What derivative code holds and no one would write.
// RUN: xtensor-opt %s --xtensor-simplify | FileCheck %s

!s = !xtensor.array<f32>
!i = !xtensor.array<i: 3, f32>
!j = !xtensor.array<j: 4, f32>
!ij = !xtensor.array<i: 3, j: 4, f32>
!jk = !xtensor.array<j: 4, k: 5, f32>
!ik = !xtensor.array<i: 3, k: 5, f32>

// CHECK-LABEL: func.func @implied_broadcast(
// CHECK-SAME: %[[S:[a-z0-9]+]]: {{[^%]+}}, %[[X:[a-z0-9]+]]:
// CHECK-NEXT: %[[Y:.+]] = xtensor.mul %[[S]], %[[X]]
// CHECK-NEXT: return %[[Y]]
func.func @implied_broadcast(%s: !s, %x: !i) -> !i {
  %b = xtensor.broadcast %s : (!s) -> !i
  %0 = xtensor.mul %b, %x : !i, !i
  return %0 : !i
}

// The operands of a commutative op change places where that keeps the order of the dims ...
// CHECK-LABEL: func.func @in_order(
// CHECK-SAME: %[[V:[a-z0-9]+]]: {{[^%]+}}, %[[X:[a-z0-9]+]]:
// CHECK-NEXT: %[[Y:.+]] = xtensor.mul %[[X]], %[[V]]
// CHECK-NEXT: return %[[Y]]
func.func @in_order(%v: !j, %x: !ij) -> !ij {
  %b = xtensor.broadcast %v : (!j) -> !ij
  %0 = xtensor.mul %b, %x : !ij, !ij
  return %0 : !ij
}

// ... and no broadcast goes where the order would be lost.
// CHECK-LABEL: func.func @out_of_order(
// CHECK: xtensor.broadcast
// CHECK: xtensor.sub
func.func @out_of_order(%v: !j, %x: !ij) -> !ij {
  %b = xtensor.broadcast %v : (!j) -> !ij
  %0 = xtensor.sub %b, %x : !ij, !ij
  return %0 : !ij
}

// CHECK-LABEL: func.func @sum_of_broadcast(
// CHECK-SAME: %[[V:[a-z0-9]+]]:
// CHECK-DAG: %[[N:.+]] = xtensor.constant dense<4.000000e+00>
// CHECK: %[[Y:.+]] = xtensor.mul %[[V]], %[[N]]
// CHECK-NEXT: return %[[Y]]
func.func @sum_of_broadcast(%v: !i) -> !i {
  %b = xtensor.broadcast %v : (!i) -> !ij
  %0 = xtensor.reduce sum %b over [j] : !ij
  return %0 : !i
}

// CHECK-LABEL: func.func @contract_of_broadcast(
// CHECK-SAME: %[[V:[a-z0-9]+]]: {{[^%]+}}, %[[W:[a-z0-9]+]]:
// CHECK: %[[C:.+]] = xtensor.contract %[[V]], %[[W]] over [j]
// CHECK-NEXT: %[[Y:.+]] = xtensor.broadcast %[[C]]
// CHECK-NEXT: return %[[Y]]
func.func @contract_of_broadcast(%v: !j, %w: !jk) -> !ik {
  %b = xtensor.broadcast %v : (!j) -> !ij
  %0 = xtensor.contract %b, %w over [j] : !ij, !jk
  return %0 : !ik
}

// A contraction with ones is a sum.
// CHECK-LABEL: func.func @contract_with_ones(
// CHECK-SAME: %[[W:[a-z0-9]+]]:
// CHECK-NEXT: %[[R:.+]] = xtensor.reduce sum %[[W]] over [j]
// CHECK-NEXT: %[[Y:.+]] = xtensor.broadcast %[[R]]
func.func @contract_with_ones(%w: !jk) -> !ik {
  %one = xtensor.constant dense<1.0> : tensor<f32> as !s
  %b = xtensor.broadcast %one : (!s) -> !ij
  %0 = xtensor.contract %b, %w over [j] : !ij, !jk
  return %0 : !ik
}

// Summing along parts is summing each: no array of all parts, where the result is small ...
// CHECK-LABEL: func.func @contract_of_concat(
// CHECK-SAME: %[[H:[a-z0-9]+]]: {{[^%]+}}, %[[T:[a-z0-9]+]]: {{[^%]+}}, %[[D:[a-z0-9]+]]:
// CHECK-DAG: %[[D0:.+]] = xtensor.slice %[[D]] [t] offsets [0] sizes [1] strides [1]
// CHECK-DAG: %[[D1:.+]] = xtensor.slice %[[D]] [t] offsets [1] sizes [99] strides [1]
// CHECK-DAG: %[[C0:.+]] = xtensor.contract %[[H]], %[[D0]] over [t]
// CHECK-DAG: %[[C1:.+]] = xtensor.contract %[[T]], %[[D1]] over [t]
// CHECK: %[[Y:.+]] = xtensor.add %[[C0]], %[[C1]]
// CHECK-NEXT: return %[[Y]]
func.func @contract_of_concat(%h: !xtensor.array<t: 1, u: 4, f32>, %s: !xtensor.array<t: 99, u: 4, f32>,
                              %d: !xtensor.array<t: 100, v: 4, f32>) -> !xtensor.array<u: 4, v: 4, f32> {
  %c = xtensor.concat %h, %s along t : !xtensor.array<t: 1, u: 4, f32>, !xtensor.array<t: 99, u: 4, f32>
  %0 = xtensor.contract %c, %d over [t] : !xtensor.array<t: 100, u: 4, f32>, !xtensor.array<t: 100, v: 4, f32>
  return %0 : !xtensor.array<u: 4, v: 4, f32>
}

// ... but not where adding up results moves more than the array does, nor where each sum would be rounded to a narrow
// float.
// CHECK-LABEL: func.func @wide_contract_of_concat(
// CHECK: xtensor.concat
func.func @wide_contract_of_concat(%x: !xtensor.array<u: 8, a: 4, f32>, %h: !xtensor.array<u: 8, a: 4, f32>,
                                   %w: !xtensor.array<a: 8, v: 16, f32>) -> !xtensor.array<u: 8, v: 16, f32> {
  %c = xtensor.concat %x, %h along a : !xtensor.array<u: 8, a: 4, f32>, !xtensor.array<u: 8, a: 4, f32>
  %0 = xtensor.contract %c, %w over [a] : !xtensor.array<u: 8, a: 8, f32>, !xtensor.array<a: 8, v: 16, f32>
  return %0 : !xtensor.array<u: 8, v: 16, f32>
}
// CHECK-LABEL: func.func @narrow_contract_of_concat(
// CHECK: xtensor.concat
func.func @narrow_contract_of_concat(%x: !xtensor.array<t: 40, f16>, %y: !xtensor.array<t: 60, f16>,
                                     %d: !xtensor.array<t: 100, f16>) -> !xtensor.array<f16> {
  %c = xtensor.concat %x, %y along t : !xtensor.array<t: 40, f16>, !xtensor.array<t: 60, f16>
  %0 = xtensor.contract %c, %d over [t] : !xtensor.array<t: 100, f16>, !xtensor.array<t: 100, f16>
  return %0 : !xtensor.array<f16>
}

// CHECK-LABEL: func.func @product(
// CHECK-NEXT: xtensor.mul %arg1, %arg0
func.func @product(%v: !j, %x: !ij) -> !ij {
  %0 = xtensor.contract %v, %x over [] order [i, j] : !j, !ij
  return %0 : !ij
}

// The product itself would have i, j and k.
// CHECK-LABEL: func.func @sum_of_outer_product(
// CHECK-NEXT: xtensor.contract %arg0, %arg1 over [j]
func.func @sum_of_outer_product(%x: !ij, %w: !jk) -> !ik {
  %m = xtensor.mul %x, %w : !ij, !jk
  %0 = xtensor.reduce sum %m over [j] : !xtensor.array<i: 3, j: 4, k: 5, f32>
  return %0 : !ik
}

// CHECK-LABEL: func.func @numbers(
// CHECK-NEXT: %[[C:.+]] = xtensor.constant dense<-5.000000e-01>
// CHECK-NEXT: return %[[C]]
func.func @numbers() -> !s {
  %one = xtensor.constant dense<1.0> : tensor<f32> as !s
  %two = xtensor.constant dense<2.0> : tensor<f32> as !s
  %0 = xtensor.neg %one : !s
  %1 = xtensor.div %0, %two : !s, !s
  return %1 : !s
}

// Signs end up where they cost least.
// CHECK-LABEL: func.func @signs(
// CHECK-NEXT: %[[M:.+]] = xtensor.mul %arg0, %arg1
// CHECK-NEXT: %[[Y:.+]] = xtensor.sub %arg0, %[[M]]
// CHECK-NEXT: return %[[Y]]
func.func @signs(%a: !i, %b: !i) -> !i {
  %n = xtensor.neg %a : !i
  %m = xtensor.mul %n, %b : !i, !i
  %0 = xtensor.add %a, %m : !i, !i
  return %0 : !i
}

// Sizes that only the call knows go with their names.
// CHECK-LABEL: func.func @dynamic(
// CHECK-SAME: %[[V:[a-z0-9]+]]: {{[^%]+}}, %[[W:[a-z0-9]+]]: {{[^%]+}}, %[[M:[a-z0-9]+]]: {{[^%]+}}, %[[N:[a-z0-9]+]]:
// CHECK: %[[C:.+]] = xtensor.contract %[[V]], %[[W]] over [j]
// CHECK: xtensor.broadcast %[[C]] sizes(%[[N]], %[[M]]) : ({{.*}}) -> !xtensor.array<n: ?, m: ?, k: 5, f32>
func.func @dynamic(%v: !j, %w: !jk, %m: !xtensor.array<i64>, %n: !xtensor.array<i64>) -> !xtensor.array<n: ?, m: ?, k: 5, f32> {
  %b = xtensor.broadcast %v sizes(%m, %n) : (!j, !xtensor.array<i64>, !xtensor.array<i64>) -> !xtensor.array<m: ?, n: ?, j: 4, f32>
  %0 = xtensor.contract %b, %w over [j] order [n, m, k] : !xtensor.array<m: ?, n: ?, j: 4, f32>, !jk
  return %0 : !xtensor.array<n: ?, m: ?, k: 5, f32>
}

// What only a derivative tells apart is one value once there is none to come.
// CHECK-LABEL: func.func @select_of_equal
// CHECK-NEXT: %[[L:.*]] = xtensor.log %arg1
// CHECK-NEXT: return %[[L]]
func.func @select_of_equal(%c: !xtensor.array<i: 3, i1>, %x: !xtensor.array<i: 3, f32>) -> !xtensor.array<i: 3, f32> {
  %a = xtensor.log %x : !xtensor.array<i: 3, f32>
  %b = xtensor.log %x : !xtensor.array<i: 3, f32>
  %y = xtensor.select %c, %a, %b : !xtensor.array<i: 3, i1>, !xtensor.array<i: 3, f32>, !xtensor.array<i: 3, f32>
  return %y : !xtensor.array<i: 3, f32>
}
