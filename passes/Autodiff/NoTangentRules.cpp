// Ops whose results do not have a derivative, and ops that the passes expand themselves. They are
// listed so that a test finds an op that is in no table.
#include "Autodiff/Rules.h"

using namespace mlir;
using namespace xtensor;

template <typename... Ops>
static void rows(Rules &rules, Table table) {
  (rules.add<Ops>({table}), ...);
}

void xtensor::addNoTangentRules(Rules &rules) {
  // Python gives the derivatives of complex factors (linalg/complex_factors.py), by complex ops.
  rows<AndOp, ArgsortOp, CallbackOp, CompareOp, ComplexFactorOp, ConstantOp, ElementaryOp, IotaOp,
       IsfiniteOp, IsinfOp, IsnanOp, LibraryOp, NotOp, OrOp, ShlOp, ShrOp, SizeOp, XorOp>(
      rules, Table::NoTangent);
  for (ReduceKind kind : {ReduceKind::any, ReduceKind::all, ReduceKind::argmax, ReduceKind::argmin})
    rules.add<ReduceOp>(kind, stringifyReduceKind(kind), {Table::NoTangent});
  // Passes after the derivatives make them.
  rows<AllGatherOp, AllReduceOp, AllToAllOp, BitsOp, HaloOp, ProcessIndexOp>(rules, Table::Request);
  rows<LinearOp, PullbackOp, PushforwardOp, TransposedOp, VectorizeOp, YieldOp>(rules,
                                                                                Table::Request);
}
