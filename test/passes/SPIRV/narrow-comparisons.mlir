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

// Positions have 32 bits.
// CHECK-LABEL: @position
// CHECK:         arith.cmpi sle, %arg0, %{{.*}} : index
// CHECK:         arith.cmpi slt, %arg0, %arg1 : index
func.func @position(%i: index, %j: index) -> (i1, i1) {
  %wide = arith.index_cast %i : index to i64
  %other = arith.index_cast %j : index to i64
  %zero = arith.constant 0 : i64
  %a = arith.cmpi sle, %wide, %zero : i64
  %b = arith.cmpi slt, %wide, %other : i64
  return %a, %b : i1, i1
}

// The driver may find an extended number here: no order of signed numbers is left.
// CHECK-LABEL: @sums
// CHECK-NOT:     arith.cmpi s
// CHECK:         %[[X:.*]] = arith.xori %arg0, %c-9223372036854775808_i64
// CHECK:         arith.cmpi ult, %[[X]], %c-9223372036854775803_i64 : i64
// CHECK-NOT:     arith.cmpi s
// CHECK:         arith.cmpi uge
// CHECK:         return
func.func @sums(%x: i64, %y: i64) -> (i1, i1) {
  %c5 = arith.constant 5 : i64
  %a = arith.cmpi slt, %x, %c5 : i64
  %b = arith.cmpi sge, %x, %y : i64
  return %a, %b : i1, i1
}
