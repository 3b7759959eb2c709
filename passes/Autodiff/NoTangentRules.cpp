// Ops whose results have no derivative, and those that the passes expand themselves. Listed
// so that an op in no table is an oversight that a test finds.
#include "Autodiff/Rules.h"

using namespace mlir;
using namespace xtensor;

template <typename... Ops>
static void rows(Rules &rules, Table table) {
  (rules.add<Ops>({table}), ...);
}

void xtensor::addNoTangentRules(Rules &rules) {
  rows<AndOp, ArgsortOp, CompareOp, ConstantOp, IotaOp, IsfiniteOp, IsinfOp, IsnanOp, LibraryOp,
       NotOp, OrOp, ShlOp, ShrOp, SizeOp, XorOp>(rules, Table::NoTangent);
  for (ReduceKind kind : {ReduceKind::any, ReduceKind::all, ReduceKind::argmax, ReduceKind::argmin})
    rules.add<ReduceOp>(kind, stringifyReduceKind(kind), {Table::NoTangent});
  rows<LinearOp, PullbackOp, PushforwardOp, TransposedOp, VectorizeOp, YieldOp>(rules,
                                                                                Table::Request);
}
