// Every op of the dialect is in the table of how ops are distributed: the pass fails if not.
// RUN: xtensor-opt %s --xtensor-print-distribute-rules | FileCheck %s

// CHECK-LABEL: by name
// CHECK: add
// CHECK: squeeze
// CHECK-LABEL: by a rule
// CHECK: argsort {{ *}}whole along its dim
// CHECK: while
module {}
