// The examples of Passes.td, one pass at a time, on d/dw sum(tanh(x w)).
// RUN: xtensor-opt %s --xtensor-linearize | FileCheck %s --check-prefixes=ALL,LINEARIZE
// RUN: xtensor-opt %s --xtensor-linearize --xtensor-verify-linear --xtensor-transpose --xtensor-verify-linear | FileCheck %s --check-prefixes=ALL,TRANSPOSE
// RUN: xtensor-opt %s --xtensor-linearize --xtensor-transpose --xtensor-inline-derivatives --xtensor-verify-differentiated | FileCheck %s --check-prefixes=ALL,INLINE
// RUN: xtensor-opt %s --xtensor-differentiate --xtensor-simplify | FileCheck %s --check-prefixes=ALL,SIMPLE

!x = !xtensor.array<b: 4, i: 3, f32>
!w = !xtensor.array<i: 3, o: 2, f32>
!h = !xtensor.array<b: 4, o: 2, f32>
!s = !xtensor.array<f32>

// ALL-LABEL: func.func @layer(
// ALL-SAME: %[[X:[a-z0-9]+]]: {{[^%]+}}, %[[W:[a-z0-9]+]]: {{[^%]+}}, %[[ONE:[a-z0-9]+]]:
// ALL: %[[H:.+]] = xtensor.contract %[[X]], %[[W]] over [i]
// ALL: %[[E:.+]] = xtensor.tanh %[[H]]
// ALL: %[[EE:.+]] = xtensor.mul %[[E]], %[[E]]
// ALL: %[[D:.+]] = xtensor.sub %{{.+}}, %[[EE]]
// ALL: %[[Y:.+]] = xtensor.reduce sum %[[E]] over [b, o]

// LINEARIZE: %[[L:.+]] = xtensor.linear {
// LINEARIZE-NEXT: ^bb0(%[[T:[a-z0-9]+]]:
// LINEARIZE-NEXT: %[[TH:.+]] = xtensor.contract %[[X]], %[[T]] over [i]
// LINEARIZE-NEXT: %[[TE:.+]] = xtensor.mul %[[D]], %[[TH]]
// LINEARIZE-NEXT: %[[TS:.+]] = xtensor.reduce sum %[[TE]] over [b, o]
// LINEARIZE-NEXT: xtensor.yield %[[TS]]
// LINEARIZE: %[[B:.+]] = xtensor.transposed %[[L]]
// LINEARIZE: %[[G:.+]] = xtensor.apply %[[B]](%[[ONE]])

// TRANSPOSE: %[[B:.+]] = xtensor.linear {
// TRANSPOSE-NEXT: ^bb0(%[[CT:[a-z0-9]+]]:
// TRANSPOSE-NEXT: %[[CE:.+]] = xtensor.broadcast %[[CT]] : (!xtensor.array<f32>) -> !xtensor.array<b: 4, o: 2, f32>
// TRANSPOSE-NEXT: %[[CH:.+]] = xtensor.mul %[[CE]], %[[D]]
// TRANSPOSE-NEXT: %[[CW:.+]] = xtensor.contract %[[CH]], %[[X]] over [b] order [i, o]
// TRANSPOSE-NEXT: xtensor.yield %[[CW]]
// TRANSPOSE: %[[G:.+]] = xtensor.apply %[[B]](%[[ONE]])

// INLINE: %[[CE:.+]] = xtensor.broadcast %[[ONE]]
// INLINE-NEXT: %[[CH:.+]] = xtensor.mul %[[CE]], %[[D]]
// INLINE-NEXT: %[[G:.+]] = xtensor.contract %[[CH]], %[[X]] over [b] order [i, o]

// SIMPLE-NOT: xtensor.broadcast
// SIMPLE: %[[CH:.+]] = xtensor.mul %[[ONE]], %[[D]]
// SIMPLE-NEXT: %[[G:.+]] = xtensor.contract %[[CH]], %[[X]] over [b] order [i, o]

// ALL: return %[[Y]], %[[G]]
func.func @layer(%x: !x, %w: !w, %one: !s) -> (!s, !w) {
  %y, %back = xtensor.pullback at(%x, %w) wrt [1] {
  ^bb0(%x_: !x, %w_: !w):
    %h = xtensor.contract %x_, %w_ over [i] : !x, !w
    %e = xtensor.tanh %h : !h
    %s = xtensor.reduce sum %e over [b, o] : !h
    xtensor.yield %s : !s
  } : (!x, !w) -> (!s, !xtensor.linear<(!s) -> !w>)
  %gw = xtensor.apply %back(%one) : <(!s) -> !w>, (!s) -> !w
  return %y, %gw : !s, !w
}

// Forwards, the map itself is applied.
// ALL-LABEL: func.func @forward(
// ALL-SAME: %[[X:[a-z0-9]+]]: {{[^%]+}}, %[[V:[a-z0-9]+]]:
// ALL: %[[Y:.+]] = xtensor.exp %[[X]]
// LINEARIZE: %[[L:.+]] = xtensor.linear {
// LINEARIZE: %[[DY:.+]] = xtensor.apply %[[L]](%[[V]])
// INLINE-NEXT: %[[DY:.+]] = xtensor.mul %[[Y]], %[[V]]
// SIMPLE-NEXT: %[[DY:.+]] = xtensor.mul %[[Y]], %[[V]]
// LINEARIZE: return %[[Y]], %[[DY]]
// INLINE: return %[[Y]], %[[DY]]
func.func @forward(%x: !h, %v: !h) -> (!h, !h) {
  %y, %dy = xtensor.pushforward at(%x) wrt [0] along(%v) {
  ^bb0(%x_: !h):
    %e = xtensor.exp %x_ : !h
    xtensor.yield %e : !h
  } : (!h, !h) -> (!h, !h)
  return %y, %dy : !h, !h
}

// A map of which nothing is asked leaves nothing behind.
// SIMPLE-LABEL: func.func @unused(
// SIMPLE-NEXT: %[[Y:.+]] = xtensor.exp
// SIMPLE-NEXT: return %[[Y]]
func.func @unused(%x: !h) -> !h {
  %y, %back = xtensor.pullback at(%x) wrt [0] {
  ^bb0(%x_: !h):
    %e = xtensor.exp %x_ : !h
    xtensor.yield %e : !h
  } : (!h) -> (!h, !xtensor.linear<(!h) -> !h>)
  return %y : !h
}
