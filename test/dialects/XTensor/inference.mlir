// Result types, seen through generic form: unions of dims, reductions, contractions, indexing.
// RUN: xtensor-opt %s --mlir-print-op-generic | FileCheck %s

!x = !xtensor.array<b: 4, i: 3, f32>
!w = !xtensor.array<i: 3, o: 2, f32>

func.func @infer(%x: !x, %w: !w, %s: !xtensor.array<f32>, %k: !xtensor.array<p: 5, i64>,
                 %along: !xtensor.array<i: 3, i32>, %n: !xtensor.array<i: ?, t: ?, ui8>) {
  // CHECK: "xtensor.add"{{.*}} -> !xtensor.array<b: 4, i: 3, o: 2, f32>
  %0 = xtensor.add %x, %w : !x, !w
  // CHECK: "xtensor.mul"{{.*}} -> !xtensor.array<i: 3, o: 2, f32>
  %1 = xtensor.mul %s, %w : !xtensor.array<f32>, !w
  // CHECK: "xtensor.compare"{{.*}} -> !xtensor.array<b: 4, i: 3, i1>
  %2 = xtensor.compare lt %x, %s : !x, !xtensor.array<f32>
  // CHECK: "xtensor.select"{{.*}} -> !xtensor.array<b: 4, i: 3, o: 2, f32>
  %3 = xtensor.select %2, %w, %s : !xtensor.array<b: 4, i: 3, i1>, !w, !xtensor.array<f32>
  // CHECK: "xtensor.isnan"{{.*}} -> !xtensor.array<b: 4, i: 3, i1>
  %4 = xtensor.isnan %x : !x
  // CHECK: "xtensor.cast"{{.*}} -> !xtensor.array<b: 4, i: 3, f64>
  %5 = xtensor.cast %x to f64 : !x
  // CHECK: "xtensor.reduce"{{.*}} -> !xtensor.array<i: 3, f32>
  %6 = xtensor.reduce max %x over [b] : !x
  // CHECK: "xtensor.reduce"{{.*}} -> !xtensor.array<b: 4, i64>
  %7 = xtensor.reduce argmin %x over [i] : !x
  // CHECK: "xtensor.contract"{{.*}} -> !xtensor.array<b: 4, o: 2, f32>
  %8 = xtensor.contract %x, %w over [i] : !x, !w
  // CHECK: "xtensor.contract"{{.*}} -> !xtensor.array<o: 2, b: 4, f32>
  %9 = xtensor.contract %x, %w over [i] order [o, b] : !x, !w
  // CHECK: "xtensor.rename"{{.*}} -> !xtensor.array<i: 4, b: 3, f32>
  %10 = xtensor.rename %x [b, i] to [i, b] : !x
  // CHECK: "xtensor.slice"{{.*}} -> !xtensor.array<b: 2, i: 3, f32>
  %11 = xtensor.slice %x [b] offsets [1] sizes [2] strides [2] : !x
  // CHECK: "xtensor.pad"{{.*}} -> !xtensor.array<b: 13, i: 3, f32>
  %12 = xtensor.pad %x with %s [b] low [1] high [2] interior [2] : !x, !xtensor.array<f32>
  // CHECK: "xtensor.concat"{{.*}} -> !xtensor.array<b: 8, i: 3, f32>
  %13 = xtensor.concat %x, %x along b : !x, !x
  // CHECK: "xtensor.merge"{{.*}} -> !xtensor.array<z: 12, f32>
  %14 = xtensor.merge %x [i, b] into z : !x
  // CHECK: "xtensor.split"{{.*}} -> !xtensor.array<i: 3, p: 2, q: 2, f32>
  %15 = xtensor.split %x b into [p, q] sizes [2, 2] : !x
  // CHECK: "xtensor.gather"{{.*}} -> !xtensor.array<p: 5, i: 3, f32>
  %16 = xtensor.gather clip %x at %k along [b] : !x, !xtensor.array<p: 5, i64>
  // An index array that shares a dim with the source goes along with it.
  // CHECK: "xtensor.gather"{{.*}} -> !xtensor.array<i: 3, f32>
  %17 = xtensor.gather raise %x at %along along [b] : !x, !xtensor.array<i: 3, i32>
  // CHECK: "xtensor.scatter"{{.*}} -> !xtensor.array<b: 4, i: 3, f32>
  %18 = xtensor.scatter add drop %x at %k with %s along [b] : !x, !xtensor.array<f32>, !xtensor.array<p: 5, i64>
  // CHECK: "xtensor.accumulate"{{.*}} -> !xtensor.array<b: 4, i: 3, f32>
  %30 = xtensor.accumulate last clip %x at %k times %s plus %s along [b] : !x, !xtensor.array<f32>, !xtensor.array<f32>, !xtensor.array<p: 5, i64>
  // CHECK: "xtensor.accumulate"{{.*}} -> !xtensor.array<p: 5, i: 3, f32>
  %31 = xtensor.accumulate states drop %x at %k times %s plus %s along [b] {reverse} : !x, !xtensor.array<f32>, !xtensor.array<f32>, !xtensor.array<p: 5, i64>
  // CHECK: "xtensor.argsort"{{.*}} -> !xtensor.array<b: 4, i: 3, i64>
  %32 = xtensor.argsort %x along i {descending} : !x
  // CHECK: "xtensor.merge"{{.*}} -> !xtensor.array<z: ?, ui8>
  %19 = xtensor.merge %n [i, t] into z : !xtensor.array<i: ?, t: ?, ui8>
  // CHECK: "xtensor.cumulative"{{.*}} -> !xtensor.array<b: 4, i: 3, f32>
  %20 = xtensor.cumulative max %x along b {exclusive, reverse} : !x
  // CHECK: "xtensor.recurrence"{{.*}} -> !xtensor.array<b: 4, i: 3, o: 2, f32>
  %21 = xtensor.recurrence %x, %w along i {late} : !x, !w
  // Whole windows only.
  // CHECK: "xtensor.window"{{.*}} -> !xtensor.array<b: 1, i: 3, p: 2, f32>
  %22 = xtensor.window %x b into p size 2 stride 2 dilation 2 : !x
  // CHECK: "xtensor.window"{{.*}} -> !xtensor.array<b: 0, i: 3, p: 5, f32>
  %23 = xtensor.window %x b into p size 5 stride 1 dilation 1 : !x
  // CHECK: "xtensor.overlap_add"{{.*}} -> !xtensor.array<b: 10, f32>
  %24 = xtensor.overlap_add %x b from i length 10 stride 2 dilation 1 : !x
  return
}

// Matrices: new inner dims have the smaller size and stand where the dim was that they replace.
// CHECK: sym_name = "matrices"
func.func @matrices(%a: !xtensor.array<row: 4, b: 2, col: 3, f32>, %s: !xtensor.array<b: 2, r: 3, c: 3, f64>,
                    %y: !xtensor.array<k: 5, r: 3, f64>, %z: !xtensor.array<c: 3, f64>,
                    %m: !xtensor.array<c: 3, n: 5, r: 3, f64>, %dt: !xtensor.array<col: 3, n: 5, row: 4, f32>,
                    %k: !xtensor.array<k: 5, c: 3, f64>, %cs: !xtensor.array<b: 2, r: 3, c: 3, p: 2, f64>,
                    %ca: !xtensor.array<row: 4, col: 3, p: 2, f32>, %cb: !xtensor.array<r: 3, p: 2, f64>) {
  // CHECK: "xtensor.qr"{{.*}} -> (!xtensor.array<row: 4, b: 2, k: 3, f32>, !xtensor.array<k: 3, b: 2, col: 3, f32>)
  %q, %r = xtensor.qr %a on [row, col] inner k : !xtensor.array<row: 4, b: 2, col: 3, f32>
  // CHECK: "xtensor.svd"{{.*}} -> (!xtensor.array<row: 4, b: 2, k: 3, f32>, !xtensor.array<b: 2, k: 3, f32>, !xtensor.array<k: 3, b: 2, col: 3, f32>)
  %u, %d, %v = xtensor.svd %a on [row, col] inner k : !xtensor.array<row: 4, b: 2, col: 3, f32>
  // CHECK: "xtensor.lu"{{.*}} -> (!xtensor.array<row: 4, b: 2, col: 3, f32>, !xtensor.array<row: 4, b: 2, i64>, !xtensor.array<row: 4, b: 2, i64>, !xtensor.array<b: 2, f32>)
  %p, %o, %i, %t = xtensor.lu %a on [row, col] : !xtensor.array<row: 4, b: 2, col: 3, f32>
  // CHECK: "xtensor.pinv"{{.*}} -> !xtensor.array<col: 3, b: 2, row: 4, f32>
  %n = xtensor.pinv %a on [row, col] : !xtensor.array<row: 4, b: 2, col: 3, f32>
  // CHECK: "xtensor.cholesky"{{.*}} -> !xtensor.array<b: 2, r: 3, c: 3, f64>
  %l = xtensor.cholesky %s on [r, c] : !xtensor.array<b: 2, r: 3, c: 3, f64>
  // Batches of the factor come first, then the tangent's dims in their order.
  // CHECK: "xtensor.cholesky_tangent"{{.*}} -> !xtensor.array<b: 2, c: 3, n: 5, r: 3, f64>
  %j = xtensor.cholesky_tangent %s, %m on [r, c] transposed : !xtensor.array<b: 2, r: 3, c: 3, f64>, !xtensor.array<c: 3, n: 5, r: 3, f64>
  // CHECK: "xtensor.lu_tangent"{{.*}} -> !xtensor.array<b: 2, col: 3, n: 5, row: 4, f32>
  %lt = xtensor.lu_tangent %a, %dt on [row, col] : !xtensor.array<row: 4, b: 2, col: 3, f32>, !xtensor.array<col: 3, n: 5, row: 4, f32>
  // CHECK: "xtensor.triangular_contract"{{.*}} -> !xtensor.array<b: 2, r: 3, k: 5, f64>
  %tp = xtensor.triangular_contract %s, %k over [c] on [r, c] : !xtensor.array<b: 2, r: 3, c: 3, f64>, !xtensor.array<k: 5, c: 3, f64>
  // CHECK: "xtensor.triangular_contract"{{.*}} -> !xtensor.array<r: 3, c: 3, f64>
  %pt = xtensor.triangular_contract %y, %k over [k] on [r, c] {strict} : !xtensor.array<k: 5, r: 3, f64>, !xtensor.array<k: 5, c: 3, f64>
  // CHECK: "xtensor.eigh"{{.*}} -> (!xtensor.array<b: 2, k: 3, f64>, !xtensor.array<b: 2, r: 3, k: 3, f64>)
  %w, %e = xtensor.eigh %s on [r, c] inner k : !xtensor.array<b: 2, r: 3, c: 3, f64>
  // Of complex numbers, whose parts lie along p; w of eigh and s of svd are real.
  // CHECK: "xtensor.complex_factor"{{.*}} -> !xtensor.array<b: 2, r: 3, k: 3, p: 2, f64>
  %ch = xtensor.complex_factor cholesky %cs on [r, c] inner k pair p : !xtensor.array<b: 2, r: 3, c: 3, p: 2, f64>
  // CHECK: "xtensor.complex_factor"{{.*}} -> (!xtensor.array<b: 2, k: 3, p: 2, f64>, !xtensor.array<b: 2, r: 3, k: 3, p: 2, f64>)
  %cw, %cv = xtensor.complex_factor eig %cs on [r, c] inner k pair p : !xtensor.array<b: 2, r: 3, c: 3, p: 2, f64>
  // CHECK: "xtensor.complex_factor"{{.*}} -> (!xtensor.array<b: 2, k: 3, f64>, !xtensor.array<b: 2, r: 3, k: 3, p: 2, f64>)
  %hw, %hv = xtensor.complex_factor eigh %cs on [r, c] inner k pair p : !xtensor.array<b: 2, r: 3, c: 3, p: 2, f64>
  // CHECK: "xtensor.complex_factor"{{.*}} -> (!xtensor.array<row: 4, k: 3, p: 2, f32>, !xtensor.array<k: 3, col: 3, p: 2, f32>, !xtensor.array<row: 4, i64>, !xtensor.array<f32>)
  %cl, %cu, %co, %cp = xtensor.complex_factor lu %ca on [row, col] inner k pair p : !xtensor.array<row: 4, col: 3, p: 2, f32>
  // CHECK: "xtensor.complex_factor"{{.*}} -> (!xtensor.array<row: 4, k: 3, p: 2, f32>, !xtensor.array<k: 3, col: 3, p: 2, f32>)
  %cq, %cr = xtensor.complex_factor qr %ca on [row, col] inner k pair p : !xtensor.array<row: 4, col: 3, p: 2, f32>
  // CHECK: "xtensor.complex_factor"{{.*}} -> (!xtensor.array<row: 4, k: 3, p: 2, f32>, !xtensor.array<k: 3, f32>, !xtensor.array<k: 3, col: 3, p: 2, f32>)
  %us, %ss, %vs = xtensor.complex_factor svd %ca on [row, col] inner k pair p : !xtensor.array<row: 4, col: 3, p: 2, f32>
  // CHECK: "xtensor.solve"{{.*}} -> !xtensor.array<b: 2, p: 2, c: 3, f64>
  %xs = xtensor.solve %cs, %cb on [r, c] {pair = "p"} : !xtensor.array<b: 2, r: 3, c: 3, p: 2, f64>, !xtensor.array<r: 3, p: 2, f64>
  // The right-hand side's row dim becomes the column dim; batches of the matrix come first.
  // CHECK: "xtensor.solve"{{.*}} -> !xtensor.array<b: 2, k: 5, c: 3, f64>
  %x = xtensor.solve %s, %y on [r, c] : !xtensor.array<b: 2, r: 3, c: 3, f64>, !xtensor.array<k: 5, r: 3, f64>
  // CHECK: "xtensor.solve"{{.*}} -> !xtensor.array<b: 2, r: 3, f64>
  %x2 = xtensor.solve %s, %z on [r, c] transposed : !xtensor.array<b: 2, r: 3, c: 3, f64>, !xtensor.array<c: 3, f64>
  // CHECK: "xtensor.triangular_solve"{{.*}} -> !xtensor.array<b: 2, k: 5, c: 3, f64>
  %x3 = xtensor.triangular_solve %s, %y on [r, c] {upper, unit} : !xtensor.array<b: 2, r: 3, c: 3, f64>, !xtensor.array<k: 5, r: 3, f64>
  return
}

// Transforms of pairs keep the type; one from real numbers adds the pairs, one to real numbers takes them.
func.func @fourier(%z: !xtensor.array<t: 8, b: 3, c: 2, f32>, %x: !xtensor.array<t: 8, b: 3, f32>,
                   %h: !xtensor.array<c: 2, t: 5, b: ?, f64>) {
  // CHECK: "xtensor.fourier"{{.*}} -> !xtensor.array<t: 8, b: 3, c: 2, f32>
  %0 = xtensor.fourier forward %z along [b, t] pair c : !xtensor.array<t: 8, b: 3, c: 2, f32>
  // CHECK: "xtensor.fourier"{{.*}} -> !xtensor.array<t: 5, b: 3, c: 2, f32>
  %1 = xtensor.fourier real %x along [b, t] pair c : !xtensor.array<t: 8, b: 3, f32>
  // CHECK: "xtensor.fourier"{{.*}} -> !xtensor.array<t: 9, b: ?, f64>
  %2 = xtensor.fourier hermitian %h along [t] pair c size 9 {scale = 5.000000e-01} : !xtensor.array<c: 2, t: 5, b: ?, f64>
  // CHECK: "xtensor.fourier"{{.*}} -> !xtensor.array<c: 2, t: 5, b: ?, f64>
  %3 = xtensor.fourier backward %h along [b] pair c : !xtensor.array<c: 2, t: 5, b: ?, f64>
  return
}
