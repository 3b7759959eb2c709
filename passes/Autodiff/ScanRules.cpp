// Running combinations. Their derivatives are recurrences of first order, y[t] = decay[t] * y[t -
// 1] + input[t], and so are the derivatives of recurrences. Each order adds one pass along the dim
// and needs no division. These rows belong to the tables of linear ops and of choosers.
#include "Autodiff/Linearizer.h"
#include "Autodiff/Transposer.h"

using namespace mlir;
using namespace xtensor;

//===- sum -----------------------------------------------------------------===//

/// An input reaches the results from its own on: their cotangents are summed from the other end.
static Value sumFromOtherEnd(Transposer &t, Operation *o, unsigned, Value ct) {
  auto op = cast<CumulativeOp>(o);
  return CumulativeOp::create(t.b, CumulativeKind::sum, ct, op.getDim(), !op.getReverse(),
                              op.getExclusive());
}

//===- max and min ---------------------------------------------------------===//

/// Whose tangent a result has: that of the latest element which equals the running value, or is
/// NaN. So an owner cuts off what came before, and the others pass it on.
static Value passOnUntilOwner(Linearizer &l, Operation *o) {
  auto op = cast<CumulativeOp>(o);
  ImplicitLocOpBuilder &b = l.primal;
  Value x = op.getX(), y = op.getY();
  if (op.getExclusive())
    y = CumulativeOp::create(b, op.getKind(), x, op.getDim(), op.getReverse(), false);
  Value equal = CompareOp::create(b, ComparePredicate::eq, x, y);
  Value owns = OrOp::create(b, equal, IsnanOp::create(b, x).getResult());
  Type element = arrayType(x).getElementType();
  Value one = scalar(b, b.getLoc(), element, 1), zero = scalar(b, b.getLoc(), element, 0);
  Value others = SelectOp::create(b, owns, zero, one), own = SelectOp::create(b, owns, one, zero);
  Value change = MulOp::create(l.linear, own, l.tangent(x));
  return RecurrenceOp::create(l.linear, others, change, op.getDim(), op.getReverse(),
                              op.getExclusive(), false);
}

//===- prod ----------------------------------------------------------------===//

/// d(x[t] * y[t - 1]) = x[t] * dy[t - 1] + y[t - 1] * dx[t].
static Value productRule(Linearizer &l, Operation *o) {
  auto op = cast<CumulativeOp>(o);
  Value before = op.getY();
  if (!op.getExclusive())
    before = CumulativeOp::create(l.primal, CumulativeKind::prod, op.getX(), op.getDim(),
                                  op.getReverse(), true);
  Value change = MulOp::create(l.linear, l.tangent(op.getX()), before);
  return RecurrenceOp::create(l.linear, op.getX(), change, op.getDim(), op.getReverse(),
                              op.getExclusive(), false);
}

//===- recurrence ----------------------------------------------------------===//

static Value sameForm(OpBuilder &b, Location loc, RecurrenceOp op, Value decay, Value input) {
  return RecurrenceOp::create(b, loc, decay, input, op.getDim(), op.getReverse(), op.getExclusive(),
                              op.getLate());
}

/// The value that step t multiplies with its decay.
static Value valueBeforeDecay(ImplicitLocOpBuilder &b, RecurrenceOp op) {
  if (op.getExclusive() || op.getLate())
    return op.getY();
  return RecurrenceOp::create(b, op.getDecay(), op.getInput(), op.getDim(), op.getReverse(), true,
                              false);
}

/// A tangent of the decay enters where the decay is applied, times what it is applied to.
static Value inputAndDecay(Linearizer &l, Operation *o) {
  auto op = cast<RecurrenceOp>(o);
  Value decay = l.tangent(op.getDecay()), input = l.tangent(op.getInput());
  Value change;
  if (decay)
    change = MulOp::create(l.linear, decay, valueBeforeDecay(l.primal, op));
  ImplicitLocOpBuilder &b = l.linear;
  if (!change)
    return sameForm(b, b.getLoc(), op, op.getDecay(), input);
  if (!op.getLate()) {
    if (input)
      change = AddOp::create(b, change, input);
    return sameForm(b, b.getLoc(), op, op.getDecay(), change);
  }
  // What is changed after the value was shown is seen from the next step on.
  Value seen =
      RecurrenceOp::create(b, op.getDecay(), change, op.getDim(), op.getReverse(), true, false);
  if (!input)
    return seen;
  return AddOp::create(b, seen, sameForm(b, b.getLoc(), op, op.getDecay(), input));
}

/// From the other end; early and late decay change places.
static Value recurrenceFromOtherEnd(Transposer &t, Operation *o, unsigned, Value ct) {
  auto op = cast<RecurrenceOp>(o);
  return RecurrenceOp::create(t.b, t.residual(op.getDecay()), ct, op.getDim(), !op.getReverse(),
                              op.getExclusive(), !op.getExclusive() && !op.getLate());
}

//===- the rows ------------------------------------------------------------===//

void xtensor::addScanRules(Rules &rules) {
  Rule sum{Table::Linear};
  sum.linearity = Linearity::Jointly;
  sum.transpose = sumFromOtherEnd;
  sum.text = "sumFromOtherEnd";
  rules.add<CumulativeOp>(CumulativeKind::sum, "sum", sum);

  Rule recurrence{Table::Linear};
  recurrence.linearity = Linearity::Jointly;
  recurrence.operands = {1};
  recurrence.choose = inputAndDecay;
  recurrence.transpose = recurrenceFromOtherEnd;
  recurrence.text = "recurrenceFromOtherEnd";
  rules.add<RecurrenceOp>(recurrence);

  Rule extremum{Table::Chooser};
  extremum.choose = passOnUntilOwner;
  extremum.text = "passOnUntilOwner";
  rules.add<CumulativeOp>(CumulativeKind::max, "max", extremum);
  rules.add<CumulativeOp>(CumulativeKind::min, "min", extremum);

  Rule product{Table::Chooser};
  product.choose = productRule;
  product.text = "productRule";
  rules.add<CumulativeOp>(CumulativeKind::prod, "prod", product);
}
