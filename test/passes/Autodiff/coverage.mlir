// Every op of the dialect, kinds counted, is in exactly one table (print-rules fails where one
// is in none) and has its tests.
// RUN: xtensor-opt %s --xtensor-print-rules > %t
// RUN: %python %S/coverage.py < %t | FileCheck %s
// RUN: FileCheck %s --check-prefix=RULES < %t

// CHECK: ops, every one in one table and tested

// RULES-LABEL: elementwise
// RULES: pow b * pow(a, {{.*}}; scale(y, log(where(equal(a, 0), 1, a)))
// RULES: tanh 1 - y * y
// RULES-LABEL: linear
// RULES: gather jointly in 0, transpose: scatterBack
// RULES: mul each, transpose: productWithOthers
// RULES-LABEL: chooser
// RULES: reduce max shareAmongOwners
// RULES-LABEL: no tangent
// RULES: compare
