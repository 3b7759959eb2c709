// RUN: xtensor-opt %s --xtensor-narrow-comparisons | FileCheck %s

// CHECK-LABEL: @signed
// CHECK:         arith.cmpi slt, %arg0, %{{.*}} : i32
func.func @signed(%x: i32) -> i1 {
  %wide = arith.extsi %x : i32 to i64
  %c = arith.constant -4 : i64
  %y = arith.cmpi slt, %wide, %c : i64
  return %y : i1
}

// Extended with zeros: the order of unsigned numbers.
// CHECK-LABEL: @unsigned
// CHECK:         arith.cmpi ult, %arg0, %{{.*}} : i8
func.func @unsigned(%x: i8) -> i1 {
  %wide = arith.extui %x : i8 to i64
  %c = arith.constant 200 : i64
  %y = arith.cmpi slt, %wide, %c : i64
  return %y : i1
}

// A number that the narrow type does not have, and an unsigned order of signed numbers, stay.
// CHECK-LABEL: @stay
// CHECK-COUNT-3: arith.cmpi {{.*}} : i64
func.func @stay(%x: i32) -> (i1, i1, i1) {
  %s = arith.extsi %x : i32 to i64
  %u = arith.extui %x : i32 to i64
  %large = arith.constant 4294967296 : i64
  %less = arith.constant -1 : i64
  %four = arith.constant 4 : i64
  %a = arith.cmpi slt, %s, %large : i64
  %b = arith.cmpi ult, %s, %four : i64
  %c = arith.cmpi slt, %u, %less : i64
  return %a, %b, %c : i1, i1, i1
}
