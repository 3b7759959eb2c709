// Long windows are reduced in parts that windows share.
// RUN: xtensor-opt %s --xtensor-decompose-windows | FileCheck %s

// CHECK-LABEL: func @sum
func.func @sum(%x: !xtensor.array<t: 1000, f32>) -> !xtensor.array<t: 901, f32> {
  // CHECK-NEXT: %[[A:.+]] = xtensor.window %arg0 t into w size 10 stride 1 dilation 1
  // CHECK-NEXT: %[[B:.+]] = xtensor.reduce sum %[[A]] over [w]
  // CHECK-NEXT: %[[C:.+]] = xtensor.window %[[B]] t into w size 10 stride 1 dilation 10
  // CHECK-NEXT: %[[D:.+]] = xtensor.reduce sum %[[C]] over [w]
  // CHECK-NEXT: return %[[D]]
  %0 = xtensor.window %x t into w size 100 stride 1 dilation 1 : !xtensor.array<t: 1000, f32>
  %y = xtensor.reduce sum %0 over [w] : !xtensor.array<t: 901, w: 100, f32>
  return %y : !xtensor.array<t: 901, f32>
}

// A prime number of elements: the last ones are added to a sum of parts.
// CHECK-LABEL: func @rest
func.func @rest(%x: !xtensor.array<t: 1000, f32>) -> !xtensor.array<t: 970, f32> {
  // CHECK-NEXT: xtensor.slice %arg0 [t] offsets [0] sizes [999] strides [1]
  // CHECK-NEXT: xtensor.window {{.*}} size 5 stride 1 dilation 1
  // CHECK-NEXT: xtensor.reduce sum
  // CHECK-NEXT: xtensor.window {{.*}} size 6 stride 1 dilation 5
  // CHECK-NEXT: %[[PARTS:.+]] = xtensor.reduce sum
  // CHECK-NEXT: %[[REST:.+]] = xtensor.slice %arg0 [t] offsets [30] sizes [970] strides [1]
  // CHECK-NEXT: xtensor.add %[[PARTS]], %[[REST]]
  %0 = xtensor.window %x t into w size 31 stride 1 dilation 1 : !xtensor.array<t: 1000, f32>
  %y = xtensor.reduce sum %0 over [w] : !xtensor.array<t: 970, w: 31, f32>
  return %y : !xtensor.array<t: 970, f32>
}

// Parts of a maximum overlap by an element.
// CHECK-LABEL: func @max
func.func @max(%x: !xtensor.array<t: 1000, f32>) -> !xtensor.array<t: 970, f32> {
  // CHECK-NEXT: xtensor.window %arg0 t into w size 6 stride 1 dilation 1
  // CHECK-NEXT: xtensor.reduce max
  // CHECK-NEXT: xtensor.window {{.*}} t into w size 6 stride 1 dilation 5
  // CHECK-NEXT: %[[Y:.+]] = xtensor.reduce max
  // CHECK-NEXT: return %[[Y]]
  %0 = xtensor.window %x t into w size 31 stride 1 dilation 1 : !xtensor.array<t: 1000, f32>
  %y = xtensor.reduce max %0 over [w] : !xtensor.array<t: 970, w: 31, f32>
  return %y : !xtensor.array<t: 970, f32>
}

// The parts begin where windows do.
// CHECK-LABEL: func @strided
func.func @strided(%x: !xtensor.array<t: 1024, i32>) -> !xtensor.array<t: 241, i32> {
  // CHECK-NEXT: xtensor.window %arg0 t into w size 8 stride 4 dilation 1
  // CHECK-NEXT: xtensor.reduce sum
  // CHECK-NEXT: xtensor.window {{.*}} t into w size 8 stride 1 dilation 2
  // CHECK-NEXT: %[[Y:.+]] = xtensor.reduce sum
  // CHECK-NEXT: return %[[Y]]
  %0 = xtensor.window %x t into w size 64 stride 4 dilation 1 : !xtensor.array<t: 1024, i32>
  %y = xtensor.reduce sum %0 over [w] : !xtensor.array<t: 241, w: 64, i32>
  return %y : !xtensor.array<t: 241, i32>
}

// One dim after the other.
// CHECK-LABEL: func @two_dims
func.func @two_dims(%x: !xtensor.array<h: 64, w: 64, f32>) -> !xtensor.array<h: 58, w: 58, f32> {
  // CHECK-NEXT: %[[A:.+]] = xtensor.window %arg0 h into p size 7
  // CHECK-NEXT: %[[B:.+]] = xtensor.reduce max %[[A]] over [p]
  // CHECK-NEXT: %[[C:.+]] = xtensor.window %[[B]] w into q size 7
  // CHECK-NEXT: xtensor.reduce max %[[C]] over [q]
  %0 = xtensor.window %x h into p size 7 stride 1 dilation 1 : !xtensor.array<h: 64, w: 64, f32>
  %1 = xtensor.window %0 w into q size 7 stride 1 dilation 1 : !xtensor.array<h: 58, w: 64, p: 7, f32>
  %y = xtensor.reduce max %1 over [p, q] : !xtensor.array<h: 58, w: 58, p: 7, q: 7, f32>
  return %y : !xtensor.array<h: 58, w: 58, f32>
}

// Parts of sums are not rounded.
// CHECK-LABEL: func @half
func.func @half(%x: !xtensor.array<t: 1000, f16>) -> !xtensor.array<t: 901, f16> {
  // CHECK-NEXT: xtensor.cast %arg0 to f32
  // CHECK: %[[Y:.+]] = xtensor.cast %{{.*}} to f16
  // CHECK-NEXT: return %[[Y]]
  %0 = xtensor.window %x t into w size 100 stride 1 dilation 1 : !xtensor.array<t: 1000, f16>
  %y = xtensor.reduce sum %0 over [w] : !xtensor.array<t: 901, w: 100, f16>
  return %y : !xtensor.array<t: 901, f16>
}

// These stay: short windows, few windows, windows far apart, and reductions over more than windows.
// CHECK-LABEL: func @stay
func.func @stay(%x: !xtensor.array<c: 3, t: 1000, f32>, %few: !xtensor.array<t: 101, f32>)
    -> (!xtensor.array<c: 3, t: 989, f32>, !xtensor.array<t: 2, f32>,
        !xtensor.array<c: 3, t: 10, f32>, !xtensor.array<t: 901, f32>) {
  // CHECK-NEXT: xtensor.window {{.*}} size 12
  // CHECK-NEXT: xtensor.reduce
  // CHECK-NEXT: xtensor.window {{.*}} size 100
  // CHECK-NEXT: xtensor.reduce
  // CHECK-NEXT: xtensor.window {{.*}} size 100 stride 100
  // CHECK-NEXT: xtensor.reduce
  // CHECK-NEXT: xtensor.window {{.*}} size 100
  // CHECK-NEXT: xtensor.reduce
  // CHECK-NEXT: return
  %0 = xtensor.window %x t into w size 12 stride 1 dilation 1 : !xtensor.array<c: 3, t: 1000, f32>
  %1 = xtensor.reduce sum %0 over [w] : !xtensor.array<c: 3, t: 989, w: 12, f32>
  %2 = xtensor.window %few t into w size 100 stride 1 dilation 1 : !xtensor.array<t: 101, f32>
  %3 = xtensor.reduce sum %2 over [w] : !xtensor.array<t: 2, w: 100, f32>
  %4 = xtensor.window %x t into w size 100 stride 100 dilation 1 : !xtensor.array<c: 3, t: 1000, f32>
  %5 = xtensor.reduce sum %4 over [w] : !xtensor.array<c: 3, t: 10, w: 100, f32>
  %6 = xtensor.window %x t into w size 100 stride 1 dilation 1 : !xtensor.array<c: 3, t: 1000, f32>
  %7 = xtensor.reduce sum %6 over [c, w] : !xtensor.array<c: 3, t: 901, w: 100, f32>
  return %1, %3, %5, %7 : !xtensor.array<c: 3, t: 989, f32>, !xtensor.array<t: 2, f32>,
    !xtensor.array<c: 3, t: 10, f32>, !xtensor.array<t: 901, f32>
}
