// Ops with regions: how each linearises, transposes and is checked for linearity.
#include "Autodiff/Linearizer.h"
#include "Autodiff/Rules.h"

using namespace mlir;
using namespace xtensor;

static LogicalResult refuse(Linearizer &, Operation *op) {
  return op->emitOpError("has no derivative yet");
}

template <typename... Ops>
static void rows(Rules &rules, Rule rule) {
  (rules.add<Ops>(rule), ...);
}

void xtensor::addControlRules(Rules &rules) {
  Rule control{Table::Control};
  control.linearizeControl = refuse;
  rows<ScanOp, SwitchOp, WhileOp>(rules, control);
  rows<CheckpointOp, CustomDerivativeOp, VectorizeOp>(rules, {Table::Request});
}
