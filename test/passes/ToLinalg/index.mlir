// Reading and updating by position: clamped always, reported on the side where that is asked for.
// RUN: xtensor-opt %s --split-input-file --xtensor-to-linalg --xtensor-verify-linalg | FileCheck %s

// The check is a reduction and a call with three numbers; the gather does not depend on it.
// CHECK: module attributes {xtensor.sites = [{dim = "row", loc = "{{.*}}index.mlir:[[@LINE+23]]", op = ""}]}
// CHECK: func.func private @xt_report_index(i32, i64, i64)
// CHECK-LABEL: func.func @gather
// CHECK: %[[N:.*]] = arith.constant 9 : i64
// CHECK: %[[R:.*]] = linalg.generic {{.*}} iterator_types = ["reduction"]} ins(%arg1 : tensor<3xi32>) outs(%{{.*}} : tensor<i64>)
// CHECK: arith.maxui
// CHECK: %[[WORST:.*]] = tensor.extract %[[R]][]
// CHECK: %[[OUT:.*]] = arith.cmpi uge, %[[WORST]], %[[N]]
// CHECK: scf.if %[[OUT]]
// CHECK: call @xt_report_index
// CHECK: linalg.generic {{.*}} ins(%arg1 : tensor<3xi32>) outs(%{{.*}} : tensor<3x4xf32>)
// One comparison as unsigned numbers: where a position is an error, nobody reads the element.
// CHECK: %[[LAST:.*]] = arith.constant 8 : i64
// CHECK-NEXT: arith.minui %{{.*}}, %[[LAST]]
// CHECK-NEXT: %[[I:.*]] = arith.index_cast
// CHECK: %[[J:.*]] = linalg.index 1
// CHECK: tensor.extract %arg0[%[[I]], %[[J]]]
// A second read at the same positions needs no second check.
// CHECK-NOT: call @xt_report_index
func.func @gather(%x: !xtensor.array<row: 9, col: 4, f32>, %i: !xtensor.array<p: 3, i32>)
    -> (!xtensor.array<p: 3, col: 4, f32>, !xtensor.array<p: 3, col: 4, f32>) {
  %e = xtensor.exp %x : !xtensor.array<row: 9, col: 4, f32>

  %y = xtensor.gather raise %x at %i along [row] : !xtensor.array<row: 9, col: 4, f32>, !xtensor.array<p: 3, i32>
  %z = xtensor.gather raise %e at %i along [row] : !xtensor.array<row: 9, col: 4, f32>, !xtensor.array<p: 3, i32>
  return %y, %z : !xtensor.array<p: 3, col: 4, f32>, !xtensor.array<p: 3, col: 4, f32>
}

// -----

// Positions of lanes, which each row uses again, are clamped before, and are numbers of 32 bits then.
// CHECK-LABEL: func.func @gather_columns
// CHECK: %[[AT:.*]] = linalg.generic {{.*}} ins(%arg1 : tensor<3xi64>) outs(%{{.*}} : tensor<3xi32>)
// CHECK: arith.minsi
// CHECK: arith.maxsi
// CHECK: linalg.generic {{.*}} ins(%[[AT]] : tensor<3xi32>) outs(%{{.*}} : tensor<9x3xf32>)
// CHECK-NEXT: ^bb0(%[[P:.*]]: i32,
// CHECK-NOT: arith.minsi
// CHECK: %[[J:.*]] = arith.index_cast %[[P]] : i32 to index
// CHECK: tensor.extract %arg0[%{{.*}}, %[[J]]]
func.func @gather_columns(%x: !xtensor.array<row: 9, col: 4, f32>, %i: !xtensor.array<p: 3, i64>) -> !xtensor.array<row: 9, p: 3, f32> {
  %y = xtensor.gather clip %x at %i along [col] : !xtensor.array<row: 9, col: 4, f32>, !xtensor.array<p: 3, i64>
  return %y : !xtensor.array<row: 9, p: 3, f32>
}

// -----

// Rows are added as a whole; what is dropped is passed over.
// CHECK-LABEL: func.func @scatter_rows
// CHECK: scf.for %[[P:.*]] = {{.*}} iter_args(%[[T:.*]] = %arg0) -> (tensor<9x4xf32>)
// CHECK: %[[IN:.*]] = arith.cmpi ult
// CHECK: scf.if %[[IN]] -> (tensor<9x4xf32>)
// CHECK: %[[U:.*]] = tensor.extract_slice %arg2[%[[P]], 0] [1, 4] [1, 1]
// CHECK: %[[O:.*]] = tensor.extract_slice %[[T]][%[[I:.*]], 0] [1, 4] [1, 1]
// CHECK: %[[S:.*]] = linalg.generic {{.*}} ins(%[[U]] : tensor<4xf32>) outs(%[[O]] : tensor<4xf32>)
// CHECK: arith.addf
// CHECK: tensor.insert_slice %[[S]] into %[[T]][%[[I]], 0]
// CHECK: else
// CHECK: scf.yield %[[T]]
// CHECK-NOT: xt_report_index
func.func @scatter_rows(%t: !xtensor.array<row: 9, col: 4, f32>, %i: !xtensor.array<p: 3, i64>,
                        %u: !xtensor.array<p: 3, col: 4, f32>) -> !xtensor.array<row: 9, col: 4, f32> {
  %y = xtensor.scatter add drop %t at %i with %u along [row] : !xtensor.array<row: 9, col: 4, f32>,
      !xtensor.array<p: 3, col: 4, f32>, !xtensor.array<p: 3, i64>
  return %y : !xtensor.array<row: 9, col: 4, f32>
}

// -----

// A histogram: numbers, one after another, into a fresh tensor.
// CHECK-LABEL: func.func @scatter_numbers
// CHECK: %[[Z:.*]] = linalg.fill
// CHECK: scf.for {{.*}} iter_args(%[[T:.*]] = %[[Z]])
// CHECK: tensor.extract %[[T]][%[[I:.*]]]
// CHECK: arith.addf
// CHECK: tensor.insert %{{.*}} into %[[T]][%[[I]]]
func.func @scatter_numbers(%i: !xtensor.array<p: 100, i64>, %u: !xtensor.array<p: 100, f64>) -> !xtensor.array<g: 5, f64> {
  %zero = xtensor.constant dense<0.0> : tensor<5xf64> as !xtensor.array<g: 5, f64>
  %y = xtensor.scatter add clip %zero at %i with %u along [g] : !xtensor.array<g: 5, f64>,
      !xtensor.array<p: 100, f64>, !xtensor.array<p: 100, i64>
  return %y : !xtensor.array<g: 5, f64>
}

// -----

// Many rows: each thread has a block of the target, which it copies, and looks at all positions. It
// takes neighbouring blocks as one.
// CHECK-LABEL: func.func @scatter_blocks
// CHECK: %[[E:.*]] = tensor.empty() : tensor<4096x64xf32>
// CHECK: scf.forall (%[[B:.*]]) in (8) shared_outs(%[[OUT:.*]] = %[[E]])
// CHECK: %[[FROM:.*]] = arith.muli %[[B]], %{{.*}} : index
// CHECK: %[[NEXT:.*]] = arith.addi %[[B]], %{{.*}} {xtensor.end_of_chunk} : index
// CHECK: %[[TO:.*]] = arith.muli %[[NEXT]], %{{.*}} : index
// CHECK: %[[N:.*]] = arith.subi %[[TO]], %[[FROM]] : index
// CHECK: %[[PLACE:.*]] = tensor.extract_slice %[[OUT]][%[[FROM]], 0] [%[[N]], 64] [1, 1]
// CHECK: %[[OWN:.*]] = tensor.extract_slice %arg0[%[[FROM]], 0] [%[[N]], 64] [1, 1]
// CHECK: %[[COPY:.*]] = linalg.generic {{.*}} ins(%[[OWN]] {{.*}} outs(%[[PLACE]]
// CHECK: scf.for {{.*}} iter_args(%{{.*}} = %[[COPY]])
// CHECK: %[[LOCAL:.*]] = arith.subi %{{.*}}, %[[FROM]]
// CHECK: %[[HERE:.*]] = arith.cmpi ult, %[[LOCAL]]
// CHECK: scf.if %[[HERE]]
// CHECK: arith.maximumf
// CHECK: tensor.parallel_insert_slice %{{.*}} into %[[OUT]][%[[FROM]], 0] [%[[N]], 64] [1, 1]
func.func @scatter_blocks(%t: !xtensor.array<row: 4096, col: 64, f32>, %i: !xtensor.array<p: 2048, i64>,
                          %u: !xtensor.array<p: 2048, col: 64, f32>) -> !xtensor.array<row: 4096, col: 64, f32> {
  %y = xtensor.scatter max clip %t at %i with %u along [row] : !xtensor.array<row: 4096, col: 64, f32>,
      !xtensor.array<p: 2048, col: 64, f32>, !xtensor.array<p: 2048, i64>
  return %y : !xtensor.array<row: 4096, col: 64, f32>
}

// -----

// Few updates in half precision: only their places are widened, and each is rounded once.
// CHECK-LABEL: func.func @scatter_few
// CHECK: %[[SLOTS:.*]] = tensor.empty() : tensor<512xi32>
// CHECK: %[[SCRATCH:.*]] = tensor.empty() : tensor<4x64xf32>
// CHECK: %[[STARTED:.*]]:2 = scf.for {{.*}} iter_args(%[[S:.*]] = %[[SLOTS]], %[[W:.*]] = %[[SCRATCH]])
// CHECK: tensor.insert %{{.*}} into %[[S]]
// CHECK: tensor.extract_slice %arg0{{.*}} tensor<512x64xbf16> to tensor<64xbf16>
// CHECK: arith.extf
// CHECK: %[[SUMS:.*]] = scf.for {{.*}} iter_args(%{{.*}} = %[[STARTED]]#1)
// CHECK: tensor.extract %[[STARTED]]#0
// CHECK: arith.addf %{{.*}} : f32
// CHECK-NOT: arith.truncf
// CHECK: scf.for {{.*}} iter_args(%{{.*}} = %arg0) -> (tensor<512x64xbf16>)
// CHECK: tensor.extract_slice %[[SUMS]]
// CHECK: arith.truncf
func.func @scatter_few(%t: !xtensor.array<row: 512, col: 64, bf16>, %i: !xtensor.array<p: 4, i64>,
                       %u: !xtensor.array<p: 4, col: 64, bf16>) -> !xtensor.array<row: 512, col: 64, bf16> {
  %y = xtensor.scatter add clip %t at %i with %u along [row] : !xtensor.array<row: 512, col: 64, bf16>,
      !xtensor.array<p: 4, col: 64, bf16>, !xtensor.array<p: 4, i64>
  return %y : !xtensor.array<row: 512, col: 64, bf16>
}

// -----

// Columns of rows: each block of rows takes all positions. So it stays in a cache.
// CHECK-LABEL: func.func @scatter_columns
// CHECK: scf.forall (%[[B:.*]]) in (16) shared_outs(%[[OUT:.*]] = %{{.*}})
// CHECK: %[[PLACE:.*]] = tensor.extract_slice %[[OUT]][%[[FROM:.*]], 0] [256, 16] [1, 1]
// CHECK: scf.for
// CHECK-NOT: arith.cmpi ult
// CHECK: arith.maximumf
// CHECK: tensor.parallel_insert_slice %{{.*}} into %[[OUT]][%[[FROM]], 0] [256, 16] [1, 1]
func.func @scatter_columns(%t: !xtensor.array<row: 4096, col: 16, f32>, %i: !xtensor.array<p: 16, i64>,
                           %u: !xtensor.array<row: 4096, p: 16, f32>) -> !xtensor.array<row: 4096, col: 16, f32> {
  %y = xtensor.scatter max clip %t at %i with %u along [col] : !xtensor.array<row: 4096, col: 16, f32>,
      !xtensor.array<row: 4096, p: 16, f32>, !xtensor.array<p: 16, i64>
  return %y : !xtensor.array<row: 4096, col: 16, f32>
}

// -----

// Updates of different rows never meet: the rows are shared among threads. A temporary is updated where it is.
// CHECK-LABEL: func.func @scatter_aligned
// CHECK: %[[X:.*]] = linalg.generic
// CHECK: scf.forall (%[[R:.*]]) in (4096) shared_outs(%[[OUT:.*]] = %[[X]])
// CHECK: %[[ROW:.*]] = tensor.extract_slice %[[OUT]][%[[R]], 0] [1, 64] [1, 1]
// CHECK: scf.for {{.*}} iter_args(%[[T:.*]] = %[[ROW]])
// CHECK: arith.mulf
// CHECK: tensor.insert %{{.*}} into %[[T]]
// CHECK: tensor.parallel_insert_slice
func.func @scatter_aligned(%t: !xtensor.array<row: 4096, col: 64, f32>, %i: !xtensor.array<row: 4096, p: 32, i64>,
                           %u: !xtensor.array<f32>) -> !xtensor.array<row: 4096, col: 64, f32> {
  %x = xtensor.exp %t : !xtensor.array<row: 4096, col: 64, f32>
  %y = xtensor.scatter mul clip %x at %i with %u along [col] : !xtensor.array<row: 4096, col: 64, f32>,
      !xtensor.array<f32>, !xtensor.array<row: 4096, p: 32, i64>
  return %y : !xtensor.array<row: 4096, col: 64, f32>
}

// -----

// A maximum of many numbers of bfloat16 is taken in f32.
// CHECK-LABEL: func.func @scatter_widened
// CHECK: scf.for {{.*}} -> (tensor<30xf32>)
// CHECK: arith.maximumf
// CHECK: arith.truncf
func.func @scatter_widened(%t: !xtensor.array<g: 30, bf16>, %i: !xtensor.array<p: 40, i64>,
    %u: !xtensor.array<p: 40, bf16>) -> !xtensor.array<g: 30, bf16> {
  %y = xtensor.scatter max clip %t at %i with %u along [g] : !xtensor.array<g: 30, bf16>,
    !xtensor.array<p: 40, bf16>, !xtensor.array<p: 40, i64>
  return %y : !xtensor.array<g: 30, bf16>
}

// -----

// Most of so many updates of a maximum are below it: nothing is stored then. NaN is not.
// CHECK-LABEL: func.func @scatter_rarely
// CHECK: %[[BEYOND:.*]] = arith.cmpf ogt, %[[OLD:.*]], %[[NEW:.*]] : f32
// CHECK-NEXT: scf.if %[[BEYOND]]
// CHECK-NEXT: scf.yield
// CHECK-NEXT: } else {
// CHECK-NEXT: arith.maximumf %[[OLD]], %[[NEW]]
// CHECK-NEXT: tensor.insert
func.func @scatter_rarely(%t: !xtensor.array<g: 3, f32>, %i: !xtensor.array<p: 3000, i64>,
    %u: !xtensor.array<p: 3000, f32>) -> !xtensor.array<g: 3, f32> {
  %y = xtensor.scatter max clip %t at %i with %u along [g] : !xtensor.array<g: 3, f32>,
    !xtensor.array<p: 3000, f32>, !xtensor.array<p: 3000, i64>
  return %y : !xtensor.array<g: 3, f32>
}

// -----

// Index order is that of names, however the array is stored: the loop over a is the outer one.
// CHECK-LABEL: func.func @scatter_order
// CHECK: scf.for %[[A:.*]] = {{.*}} iter_args
// CHECK: scf.for %[[B:.*]] = {{.*}} iter_args
// CHECK: tensor.extract %arg1[%[[B]], %[[A]]] : tensor<3x2xi64>
func.func @scatter_order(%t: !xtensor.array<r: 5, f32>, %i: !xtensor.array<b: 3, a: 2, i64>,
                         %u: !xtensor.array<a: 2, f32>) -> (!xtensor.array<r: 5, f32>, !xtensor.array<r: 5, f32>) {
  %y = xtensor.scatter set clip %t at %i with %u along [r] : !xtensor.array<r: 5, f32>,
      !xtensor.array<a: 2, f32>, !xtensor.array<b: 3, a: 2, i64>
  %z = xtensor.scatter min clip %y at %i with %u along [r] : !xtensor.array<r: 5, f32>,
      !xtensor.array<a: 2, f32>, !xtensor.array<b: 3, a: 2, i64>
  return %y, %z : !xtensor.array<r: 5, f32>, !xtensor.array<r: 5, f32>
}

// -----

// Backwards, and with what each update found beside the states.
// CHECK-LABEL: func.func @accumulate
// CHECK: %[[NONE:.*]] = tensor.empty() : tensor<3xf64>
// CHECK-NOT: linalg.fill
// CHECK: scf.for %[[P:.*]] = {{.*}} iter_args(%[[T:.*]] = %arg0, %[[F:.*]] = %[[NONE]])
// CHECK: %[[OLD:.*]] = tensor.extract %[[T]][%[[I:.*]]]
// CHECK: arith.mulf
// CHECK: arith.addf
// CHECK: tensor.insert %{{.*}} into %[[T]][%[[I]]]
// CHECK: tensor.insert %[[OLD]] into %[[F]][%[[P]]]
// CHECK: scf.for %[[Q:.*]] = %{{.*}} to %[[N:.*]] step
// CHECK: %[[LAST:.*]] = arith.subi %[[N]], %{{.*}} : index
// CHECK: arith.subi %[[LAST]], %[[Q]]
func.func @accumulate(%s: !xtensor.array<r: 5, f64>, %i: !xtensor.array<p: 3, i64>, %f: !xtensor.array<p: 3, f64>,
                      %t: !xtensor.array<f64>) -> (!xtensor.array<p: 3, f64>, !xtensor.array<r: 5, f64>) {
  %y = xtensor.accumulate states clip %s at %i times %f plus %t along [r] : !xtensor.array<r: 5, f64>,
      !xtensor.array<p: 3, f64>, !xtensor.array<f64>, !xtensor.array<p: 3, i64>
  %z = xtensor.accumulate last clip %s at %i times %f plus %t along [r] {reverse} : !xtensor.array<r: 5, f64>,
      !xtensor.array<p: 3, f64>, !xtensor.array<f64>, !xtensor.array<p: 3, i64>
  return %y, %z : !xtensor.array<p: 3, f64>, !xtensor.array<r: 5, f64>
}

// -----

// States beside whole rows: threads share the columns, and each looks at all positions.
// CHECK-LABEL: func.func @accumulate_columns
// CHECK: scf.forall (%[[B:.*]]) in (2) shared_outs(%[[OUT:.*]] = %{{.*}}, %[[FOUND:.*]] = %{{.*}})
// CHECK: %[[FROM:.*]] = arith.muli %[[B]], %{{.*}} : index
// CHECK: tensor.extract_slice %[[OUT]][0, %[[FROM]]] [512, 32] [1, 1]
// CHECK: tensor.extract_slice %[[FOUND]][0, %[[FROM]]] [2048, 32] [1, 1]
// CHECK: scf.for %[[P:[a-z0-9]+]] =
// CHECK-NOT: scf.if
// CHECK: tensor.extract_slice %{{.*}}[%[[P]], %[[FROM]]] [1, 32] [1, 1] : tensor<2048x64xf32>
// CHECK: tensor.extract_slice %{{.*}}[%[[P]], %{{.*}}] [1, 32] [1, 1] : tensor<2048x32xf32>
// CHECK: tensor.parallel_insert_slice %{{.*}} into %[[OUT]][0, %[[FROM]]] [512, 32] [1, 1]
// CHECK: tensor.parallel_insert_slice %{{.*}} into %[[FOUND]][0, %[[FROM]]] [2048, 32] [1, 1]
func.func @accumulate_columns(%s: !xtensor.array<r: 512, c: 64, f32>, %i: !xtensor.array<p: 2048, i64>,
                              %f: !xtensor.array<p: 2048, c: 64, f32>) -> !xtensor.array<p: 2048, c: 64, f32> {
  %t = xtensor.constant dense<1.0> : tensor<f32> as <f32>
  %y = xtensor.accumulate states clip %s at %i times %f plus %t along [r] : !xtensor.array<r: 512, c: 64, f32>,
      !xtensor.array<p: 2048, c: 64, f32>, !xtensor.array<f32>, !xtensor.array<p: 2048, i64>
  return %y : !xtensor.array<p: 2048, c: 64, f32>
}

// -----

// What is all that is wanted of the states is made where they are found. Updates that are dropped
// find nothing.
// CHECK-LABEL: func.func @accumulate_product
// CHECK: %[[NONE:.*]] = linalg.fill {{.*}} -> tensor<3xf64>
// CHECK: scf.for %[[P:.*]] = {{.*}} iter_args(%[[T:.*]] = %arg0, %[[F:.*]] = %[[NONE]])
// CHECK: %[[G:.*]] = tensor.extract %arg3[%[[P]]]
// CHECK: %[[OLD:.*]] = tensor.extract %[[T]][
// CHECK: %[[FOUND:.*]] = arith.mulf %[[OLD]], %[[G]]
// CHECK: tensor.insert %[[FOUND]] into %[[F]][%[[P]]]
// CHECK-NOT: linalg.generic
// CHECK: return
func.func @accumulate_product(%s: !xtensor.array<r: 5, f64>, %i: !xtensor.array<p: 3, i64>,
                              %f: !xtensor.array<p: 3, f64>, %g: !xtensor.array<p: 3, f64>)
    -> (!xtensor.array<p: 3, f64>, !xtensor.array<r: 5, f64>) {
  %t = xtensor.constant dense<1.0> : tensor<f64> as <f64>
  %z = xtensor.accumulate last drop %s at %i times %f plus %t along [r] : !xtensor.array<r: 5, f64>,
      !xtensor.array<p: 3, f64>, !xtensor.array<f64>, !xtensor.array<p: 3, i64>
  %y = xtensor.accumulate states drop %s at %i times %f plus %t along [r] : !xtensor.array<r: 5, f64>,
      !xtensor.array<p: 3, f64>, !xtensor.array<f64>, !xtensor.array<p: 3, i64>
  %h = xtensor.mul %y, %g : !xtensor.array<p: 3, f64>, !xtensor.array<p: 3, f64>
  return %h, %z : !xtensor.array<p: 3, f64>, !xtensor.array<r: 5, f64>
}

// -----

// Positions of 64 bits without a sign may be beyond what the comparison with the size can tell.
// CHECK-LABEL: func.func @gather_unsigned
// CHECK: %[[MOST:.*]] = arith.constant 9223372036854775807 : i64
// CHECK: %[[I:.*]] = arith.minui %{{.*}}, %[[MOST]]
// CHECK: arith.minsi %[[I]]
// CHECK-LABEL: func.func @gather_narrow_unsigned
// CHECK-NOT: arith.minui
// CHECK: return
func.func @gather_unsigned(%x: !xtensor.array<row: 9, f32>, %i: !xtensor.array<p: 3, ui64>)
    -> !xtensor.array<p: 3, f32> {
  %y = xtensor.gather clip %x at %i along [row] : !xtensor.array<row: 9, f32>, !xtensor.array<p: 3, ui64>
  return %y : !xtensor.array<p: 3, f32>
}
func.func @gather_narrow_unsigned(%x: !xtensor.array<row: 9, f32>, %i: !xtensor.array<p: 3, ui32>)
    -> !xtensor.array<p: 3, f32> {
  %y = xtensor.gather clip %x at %i along [row] : !xtensor.array<row: 9, f32>, !xtensor.array<p: 3, ui32>
  return %y : !xtensor.array<p: 3, f32>
}
