// What windows of a product add up to is a contraction of windows: nothing as large as all of them is stored.
// RUN: xtensor-opt %s --xtensor-simplify | FileCheck %s

// CHECK-LABEL: func.func @of_contraction
// CHECK: %[[P:.*]] = xtensor.pad %arg0 with %{{.*}} [t] low [2] high [2] interior [0]
// CHECK: %[[W:.*]] = xtensor.window %[[P]] t into w size 3 stride 1 dilation 1
// CHECK: %[[K:.*]] = xtensor.reverse %arg1 [w]
// CHECK: xtensor.contract %[[W]], %[[K]] over [w, o] order [n, t, i]
func.func @of_contraction(%ct: !xtensor.array<n: ?, t: 5, o: 4, f32>, %k: !xtensor.array<o: 4, w: 3, i: 2, f32>)
    -> !xtensor.array<n: ?, t: 7, i: 2, f32> {
  %0 = xtensor.contract %ct, %k over [o] : !xtensor.array<n: ?, t: 5, o: 4, f32>, !xtensor.array<o: 4, w: 3, i: 2, f32>
  %1 = xtensor.overlap_add %0 t from w length 7 stride 1 dilation 1 : !xtensor.array<n: ?, t: 5, w: 3, i: 2, f32>
  return %1 : !xtensor.array<n: ?, t: 7, i: 2, f32>
}

// Two dims: one padding beneath both windows.
// CHECK-LABEL: func.func @of_two
// CHECK: xtensor.pad %arg0 with %{{.*}} [h, t] low [1, 2] high [1, 2] interior [0, 0]
// CHECK: xtensor.window
// CHECK: xtensor.window
// CHECK-NOT: xtensor.overlap_add
func.func @of_two(%ct: !xtensor.array<h: 4, t: 5, f32>, %k: !xtensor.array<v: 2, w: 3, f32>)
    -> !xtensor.array<h: 5, t: 7, f32> {
  %0 = xtensor.mul %ct, %k : !xtensor.array<h: 4, t: 5, f32>, !xtensor.array<v: 2, w: 3, f32>
  %1 = xtensor.overlap_add %0 t from w length 7 stride 1 dilation 1 : !xtensor.array<h: 4, t: 5, v: 2, w: 3, f32>
  %2 = xtensor.overlap_add %1 h from v length 5 stride 1 dilation 1 : !xtensor.array<h: 4, t: 7, v: 2, f32>
  return %2 : !xtensor.array<h: 5, t: 7, f32>
}

// The same value at all places of a window: a sum over windows, strided ones too.
// CHECK-LABEL: func.func @of_broadcast
// CHECK: %[[P:.*]] = xtensor.pad %arg0 with %{{.*}} [t] low [2] high [3] interior [1]
// CHECK: %[[W:.*]] = xtensor.window %[[P]] t into w size 3 stride 1 dilation 1
// CHECK: xtensor.reduce sum %[[W]] over [w]
func.func @of_broadcast(%ct: !xtensor.array<t: 4, f32>) -> !xtensor.array<t: 10, f32> {
  %0 = xtensor.broadcast %ct : (!xtensor.array<t: 4, f32>) -> !xtensor.array<t: 4, w: 3, f32>
  %1 = xtensor.overlap_add %0 t from w length 10 stride 2 dilation 1 : !xtensor.array<t: 4, w: 3, f32>
  return %1 : !xtensor.array<t: 10, f32>
}

// Shares of an extremum: each element is compared with what its windows found. Zeros between strided windows stay zeros.
// CHECK-LABEL: func.func @of_choice
// CHECK: %[[Q:.*]] = xtensor.pad %arg1 with %{{.*}} [t] low [2] high [2] interior [1]
// CHECK: %[[Y:.*]] = xtensor.window %[[Q]] t into w size 3 stride 1 dilation 1
// CHECK: %[[P:.*]] = xtensor.pad %arg2 with %{{.*}} [t] low [2] high [2] interior [1]
// CHECK: %[[CT:.*]] = xtensor.window %[[P]] t into w size 3 stride 1 dilation 1
// CHECK: %[[OWNS:.*]] = xtensor.compare ge %arg0, %[[Y]]
// CHECK: %[[SHARES:.*]] = xtensor.select %[[OWNS]], %[[CT]], %{{.*}} : <t: 9, w: 3, i1>
// CHECK: xtensor.reduce sum %[[SHARES]] over [w]
func.func @of_choice(%x: !xtensor.array<t: 9, f32>, %y: !xtensor.array<t: 4, f32>, %ct: !xtensor.array<t: 4, f32>)
    -> !xtensor.array<t: 9, f32> {
  %zero = xtensor.constant dense<0.0> : tensor<f32> as <f32>
  %0 = xtensor.window %x t into w size 3 stride 2 dilation 1 : !xtensor.array<t: 9, f32>
  %1 = xtensor.compare ge %0, %y : !xtensor.array<t: 4, w: 3, f32>, !xtensor.array<t: 4, f32>
  %2 = xtensor.select %1, %ct, %zero : !xtensor.array<t: 4, w: 3, i1>, !xtensor.array<t: 4, f32>, !xtensor.array<f32>
  %3 = xtensor.overlap_add %2 t from w length 9 stride 2 dilation 1 : !xtensor.array<t: 4, w: 3, f32>
  return %3 : !xtensor.array<t: 9, f32>
}

// What is chosen is another number than zero, or what is compared are other windows: added up as it is.
// CHECK-LABEL: func.func @of_other_choices
// CHECK-COUNT-2: xtensor.overlap_add
func.func @of_other_choices(%x: !xtensor.array<t: 9, f32>, %y: !xtensor.array<t: 4, f32>, %ct: !xtensor.array<t: 4, f32>)
    -> (!xtensor.array<t: 9, f32>, !xtensor.array<t: 10, f32>) {
  %zero = xtensor.constant dense<0.0> : tensor<f32> as <f32>
  %one = xtensor.constant dense<1.0> : tensor<f32> as <f32>
  %0 = xtensor.window %x t into w size 3 stride 2 dilation 1 : !xtensor.array<t: 9, f32>
  %1 = xtensor.compare ge %0, %y : !xtensor.array<t: 4, w: 3, f32>, !xtensor.array<t: 4, f32>
  %2 = xtensor.select %1, %ct, %one : !xtensor.array<t: 4, w: 3, i1>, !xtensor.array<t: 4, f32>, !xtensor.array<f32>
  %3 = xtensor.overlap_add %2 t from w length 9 stride 2 dilation 1 : !xtensor.array<t: 4, w: 3, f32>
  %4 = xtensor.select %1, %ct, %zero : !xtensor.array<t: 4, w: 3, i1>, !xtensor.array<t: 4, f32>, !xtensor.array<f32>
  %5 = xtensor.overlap_add %4 t from w length 10 stride 2 dilation 1 : !xtensor.array<t: 4, w: 3, f32>
  return %3, %5 : !xtensor.array<t: 9, f32>, !xtensor.array<t: 10, f32>
}

// Each window has weights of its own: added up as they are.
// CHECK-LABEL: func.func @kept
// CHECK: xtensor.overlap_add
func.func @kept(%a: !xtensor.array<t: 4, w: 3, f32>, %k: !xtensor.array<w: 3, f32>)
    -> !xtensor.array<t: 6, f32> {
  %0 = xtensor.mul %a, %k : !xtensor.array<t: 4, w: 3, f32>, !xtensor.array<w: 3, f32>
  %1 = xtensor.overlap_add %0 t from w length 6 stride 1 dilation 1 : !xtensor.array<t: 4, w: 3, f32>
  return %1 : !xtensor.array<t: 6, f32>
}

// The gradient of a padded convolution: windows are cut before they are multiplied, and padded less.
// CHECK-LABEL: func.func @cut
// CHECK: %[[P:.*]] = xtensor.pad %arg0 with %{{.*}} [t] low [1] high [0] interior [0]
// CHECK: %[[W:.*]] = xtensor.window %[[P]] t into w size 3 stride 1 dilation 1
// CHECK: xtensor.contract %[[W]], %{{.*}} over [w, o] order [t, i]
// CHECK-NOT: xtensor.slice
func.func @cut(%ct: !xtensor.array<t: 5, o: 4, f32>, %k: !xtensor.array<o: 4, w: 3, i: 2, f32>)
    -> !xtensor.array<t: 4, i: 2, f32> {
  %0 = xtensor.contract %ct, %k over [o] : !xtensor.array<t: 5, o: 4, f32>, !xtensor.array<o: 4, w: 3, i: 2, f32>
  %1 = xtensor.overlap_add %0 t from w length 7 stride 1 dilation 1 : !xtensor.array<t: 5, w: 3, i: 2, f32>
  %2 = xtensor.slice %1 [t] offsets [1] sizes [4] strides [1] : !xtensor.array<t: 7, i: 2, f32>
  return %2 : !xtensor.array<t: 4, i: 2, f32>
}

// Beneath windows that are apart, a part reaches as far as its last window.
// CHECK-LABEL: func.func @cut_apart
// CHECK: %[[X:.*]] = xtensor.slice %arg0 [t] offsets [3] sizes [6] strides [1]
// CHECK: %[[W:.*]] = xtensor.window %[[X]] t into w size 2 stride 3 dilation 2
// CHECK: xtensor.contract %[[W]], %arg1
func.func @cut_apart(%x: !xtensor.array<t: 12, f32>, %k: !xtensor.array<w: 2, f32>) -> !xtensor.array<t: 2, f32> {
  %0 = xtensor.window %x t into w size 2 stride 3 dilation 2 : !xtensor.array<t: 12, f32>
  %1 = xtensor.contract %0, %k over [w] order [t] : !xtensor.array<t: 4, w: 2, f32>, !xtensor.array<w: 2, f32>
  %2 = xtensor.slice %1 [t] offsets [1] sizes [2] strides [1] : !xtensor.array<t: 4, f32>
  return %2 : !xtensor.array<t: 2, f32>
}

// Windows two apart: an even element of the result reads the even places of the kernel, an odd one the odd ones.
// CHECK-LABEL: func.func @in_phases
// CHECK: %[[P:.*]] = xtensor.pad %arg0 with %{{.*}} [t] low [1] high [1] interior [0]
// CHECK: %[[W:.*]] = xtensor.window %[[P]] t into w size 2 stride 1 dilation 1
// CHECK: xtensor.slice %arg1 [w] offsets [0] sizes [2] strides [2]
// CHECK: xtensor.reverse
// CHECK: %[[EVEN:.*]] = xtensor.contract %[[W]], %{{.*}} over [o, w] order [t, "t~0", i]
// CHECK: %[[X:.*]] = xtensor.slice %[[P]] [t] offsets [1] sizes [5] strides [1]
// CHECK: %[[W:.*]] = xtensor.window %[[X]] t into w size 1
// CHECK: xtensor.slice %arg1 [w] offsets [1] sizes [1] strides [2]
// CHECK: %[[ODD:.*]] = xtensor.contract %[[W]], %{{.*}} over [o, w] order [t, "t~0", i]
// CHECK: %[[Y:.*]] = xtensor.concat %[[EVEN]], %[[ODD]] along "t~0"
// CHECK: xtensor.merge %[[Y]] [t, "t~0"] into t
// CHECK-NOT: xtensor.overlap_add
func.func @in_phases(%ct: !xtensor.array<t: 4, o: 5, f32>, %k: !xtensor.array<o: 5, w: 3, i: 2, f32>)
    -> !xtensor.array<t: 9, i: 2, f32> {
  %0 = xtensor.contract %ct, %k over [o] : !xtensor.array<t: 4, o: 5, f32>, !xtensor.array<o: 5, w: 3, i: 2, f32>
  %1 = xtensor.overlap_add %0 t from w length 9 stride 2 dilation 1 : !xtensor.array<t: 4, w: 3, i: 2, f32>
  return %1 : !xtensor.array<t: 9, i: 2, f32>
}

// Cut by the padding of 1: the phases start there, so that whole rows of them are left.
// CHECK-LABEL: func.func @cut_phases
// CHECK: xtensor.pad %arg0 with %{{.*}} [t] low [0] high [1] interior [0]
// CHECK: xtensor.contract %{{.*}} order [t, "t~0", i] : !xtensor.array<t: 4, {{.*}}
// CHECK: xtensor.contract %{{.*}} order [t, "t~0", i] : !xtensor.array<t: 4, {{.*}}
// CHECK: xtensor.merge %{{.*}} [t, "t~0"] into t
// CHECK-NOT: xtensor.slice
func.func @cut_phases(%ct: !xtensor.array<t: 4, o: 5, f32>, %k: !xtensor.array<o: 5, w: 3, i: 2, f32>)
    -> !xtensor.array<t: 8, i: 2, f32> {
  %0 = xtensor.contract %ct, %k over [o] : !xtensor.array<t: 4, o: 5, f32>, !xtensor.array<o: 5, w: 3, i: 2, f32>
  %1 = xtensor.overlap_add %0 t from w length 10 stride 2 dilation 1 : !xtensor.array<t: 4, w: 3, i: 2, f32>
  %2 = xtensor.slice %1 [t] offsets [1] sizes [8] strides [1] : !xtensor.array<t: 10, i: 2, f32>
  return %2 : !xtensor.array<t: 8, i: 2, f32>
}

// Windows that do not touch: three phases read one place of the kernel each, and the fourth reads none.
// CHECK-LABEL: func.func @apart
// CHECK: %[[Y:.*]] = xtensor.contract %{{.*}} over [w] order ["t~0", t]
// CHECK: %[[ZEROS:.*]] = xtensor.broadcast %{{.*}} -> !xtensor.array<"t~0": 1, t: 4, f32>
// CHECK: xtensor.concat %[[Y]], %[[ZEROS]] along "t~0"
func.func @apart(%k: !xtensor.array<w: 3, f32>, %ct: !xtensor.array<t: 4, f32>) -> !xtensor.array<t: 15, f32> {
  %0 = xtensor.mul %ct, %k : !xtensor.array<t: 4, f32>, !xtensor.array<w: 3, f32>
  %1 = xtensor.overlap_add %0 t from w length 15 stride 4 dilation 1 : !xtensor.array<t: 4, w: 3, f32>
  return %1 : !xtensor.array<t: 15, f32>
}

// Two dims, one of them dilated. The kernel's places along h lie three apart, so each of them is one phase.
// CHECK-LABEL: func.func @phases_of_two
// CHECK-COUNT-4: xtensor.contract %{{.*}} over [v, w] order [h, "h~0", "t~0", t]
// CHECK-NOT: xtensor.contract
// CHECK-NOT: xtensor.overlap_add
func.func @phases_of_two(%ct: !xtensor.array<h: 4, t: 5, f32>, %k: !xtensor.array<v: 2, w: 3, f32>)
    -> !xtensor.array<h: 10, t: 11, f32> {
  %0 = xtensor.mul %ct, %k : !xtensor.array<h: 4, t: 5, f32>, !xtensor.array<v: 2, w: 3, f32>
  %1 = xtensor.overlap_add %0 t from w length 11 stride 2 dilation 1 : !xtensor.array<h: 4, t: 5, v: 2, w: 3, f32>
  %2 = xtensor.overlap_add %1 h from v length 10 stride 2 dilation 3 : !xtensor.array<h: 4, t: 11, v: 2, f32>
  return %2 : !xtensor.array<h: 10, t: 11, f32>
}

// A slice moves beneath the windows, and takes the padding that it does not read away.
// CHECK-LABEL: func.func @sliced
// CHECK: %[[W:.*]] = xtensor.window %arg0 t into w size 3 stride 1 dilation 1
// CHECK: xtensor.reduce sum %[[W]] over [w]
func.func @sliced(%x: !xtensor.array<t: 9, f32>, %nan: !xtensor.array<f32>) -> !xtensor.array<t: 7, f32> {
  %0 = xtensor.pad %x with %nan [t] low [2] high [0] interior [0] : !xtensor.array<t: 9, f32>, !xtensor.array<f32>
  %1 = xtensor.window %0 t into w size 3 stride 1 dilation 1 : !xtensor.array<t: 11, f32>
  %2 = xtensor.slice %1 [t] offsets [2] sizes [7] strides [1] : !xtensor.array<t: 9, w: 3, f32>
  %3 = xtensor.reduce sum %2 over [w] : !xtensor.array<t: 7, w: 3, f32>
  return %3 : !xtensor.array<t: 7, f32>
}

// Steps of a slice are strides of the windows, and another dim is cut as it is. Places of a window stay.
// CHECK-LABEL: func.func @sliced_in_steps
// CHECK: %[[X:.*]] = xtensor.slice %arg0 [t] offsets [2] sizes [11] strides [1]
// CHECK: %[[Y:.*]] = xtensor.slice %[[X]] [n] offsets [1] sizes [2] strides [1]
// CHECK: %[[W:.*]] = xtensor.window %[[Y]] t into w size 3 stride 6 dilation 2
// CHECK: xtensor.slice %[[W]] [w] offsets [1] sizes [2] strides [1]
func.func @sliced_in_steps(%x: !xtensor.array<n: 4, t: 20, f32>) -> !xtensor.array<n: 2, t: 2, w: 2, f32> {
  %0 = xtensor.window %x t into w size 3 stride 2 dilation 2 : !xtensor.array<n: 4, t: 20, f32>
  %1 = xtensor.slice %0 [n, t] offsets [1, 1] sizes [2, 2] strides [1, 3] : !xtensor.array<n: 4, t: 8, w: 3, f32>
  %2 = xtensor.slice %1 [w] offsets [1] sizes [2] strides [1] : !xtensor.array<n: 2, t: 2, w: 3, f32>
  return %2 : !xtensor.array<n: 2, t: 2, w: 2, f32>
}
