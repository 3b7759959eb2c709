#include "compiler/Formulas.h"

#include "llvm/ADT/STLExtras.h"

using namespace xtensor;

Number Number::at(int64_t index) {
  Number number(index);
  number.isOpen = true;
  return number;
}

llvm::StringRef Formulas::nameOf(Operation operation) {
  constexpr llvm::StringRef names[] = {"+",   "-",  "*", "/", "%",  "min",
                                       "max", "==", "<", "?", "f32"};
  return names[operation];
}

Number Formulas::named(llvm::StringRef name) const {
  return Number::at(llvm::find(open, name) - open.begin());
}

Number Formulas::of(const SizeProduct &size) {
  Number product = size.factor;
  for (const std::string &name : size.open)
    product = make(mul, {product, named(name)});
  return product;
}

static int64_t computed(Formulas::Operation operation, int64_t a, int64_t b) {
  switch (operation) {
  // What wraps around in the host does so here.
  case Formulas::add:
    return int64_t(uint64_t(a) + uint64_t(b));
  case Formulas::sub:
    return int64_t(uint64_t(a) - uint64_t(b));
  case Formulas::mul:
    return int64_t(uint64_t(a) * uint64_t(b));
  case Formulas::div:
    return a / b;
  case Formulas::rem:
    return a % b;
  case Formulas::min:
    return std::min(a, b);
  case Formulas::max:
    return std::max(a, b);
  case Formulas::equal:
    return a == b;
  case Formulas::less:
    return a < b;
  case Formulas::choose:
  case Formulas::real:
    break;
  }
  llvm_unreachable("does not take two");
}

/// What `number` is made of, if it is `operation` of something.
const Formulas::Value *Formulas::madeBy(Operation operation, Number number) const {
  int64_t first = open.size();
  if (!number.isOpen || number.value < first)
    return nullptr;
  const Value &value = values[number.value - first];
  return value.operation == operation ? &value : nullptr;
}

Number Formulas::make(Operation operation, llvm::ArrayRef<Number> operands) {
  if (operation == real)
    return kept(real, operands);
  if (operation == choose)
    return chosen(operands[0], operands[1], operands[2]);
  Number a = operands[0], b = operands[1];
  if (!a.isOpen && !b.isOpen)
    return computed(operation, a.value, b.value);
  if (operation == sub && !b.isOpen)
    return make(add, {Number(-b.value), a});
  if (llvm::is_contained({add, mul, min, max, equal}, operation) && b < a)
    std::swap(a, b); // the constant comes first
  if ((operation == add && a.is(0)) || (operation == mul && a.is(1)))
    return b;
  if (operation == div && b.is(1))
    return a;
  if (operation == mul && a.is(0))
    return 0;
  if (a == b && (operation == min || operation == max))
    return a;
  if (a == b && (operation == sub || operation == less || operation == equal))
    return operation == equal;
  if (operation == add && !a.isOpen)
    if (const Value *inner = madeBy(add, b); inner && !inner->operands[0].isOpen)
      return make(add, {Number(a.value + inner->operands[0].value), inner->operands[1]});
  return kept(operation, {a, b});
}

/// a ? b : c
Number Formulas::chosen(Number a, Number b, Number c) {
  if (!a.isOpen)
    return a.value ? b : c;
  if (const Value *test = madeBy(equal, a); test && test->operands[0].is(0))
    return chosen(test->operands[1], c, b);
  if (b == c || (a == b && c.is(0)))
    return b;
  return kept(choose, {a, b, c});
}

Number Formulas::kept(Operation operation, llvm::ArrayRef<Number> operands) {
  std::vector<Number> all = operands;
  auto [it, added] = known.try_emplace({operation, all}, open.size() + values.size());
  if (added)
    values.push_back({operation, all});
  return Number::at(it->second);
}

void Formulas::keep(llvm::ArrayRef<Number *> used) {
  int64_t first = open.size();
  std::vector<bool> needed(values.size());
  auto need = [&](Number number) {
    if (number.isOpen && number.value >= first)
      needed[number.value - first] = true;
  };
  for (Number *number : used)
    need(*number);
  for (size_t i = values.size(); i-- > 0;)
    if (needed[i])
      llvm::for_each(values[i].operands, need);
  std::vector<int64_t> place(values.size());
  std::vector<Value> kept;
  auto move = [&](Number &number) {
    if (number.isOpen && number.value >= first)
      number.value = place[number.value - first];
  };
  for (size_t i = 0; i < values.size(); ++i) {
    if (!needed[i])
      continue;
    place[i] = first + kept.size();
    llvm::for_each(values[i].operands, move);
    kept.push_back(std::move(values[i]));
  }
  for (Number *number : used)
    move(*number);
  values = std::move(kept);
  known.clear();
}
