// Every op of the dialect is in the table of how ops are vectorized: the pass fails if not.
// RUN: xtensor-opt %s --xtensor-print-batch-rules | FileCheck %s

// CHECK-LABEL: by name
// CHECK: add
// CHECK: reduce
// CHECK-LABEL: by a rule
// CHECK: broadcast {{ *}}result type with the names
// CHECK: while
module {}
