// Ops with regions: how each linearises, transposes and is checked for linearity.
#include "Autodiff/Rules.h"

using namespace mlir;
using namespace xtensor;

template <typename... Ops>
static void rows(Rules &rules) {
  (rules.add<Ops>({Table::Request}), ...);
}

void xtensor::addControlRules(Rules &rules) {
  rows<CheckpointOp, CustomDerivativeOp, ScanOp, SwitchOp, VectorizeOp, WhileOp>(rules);
}
