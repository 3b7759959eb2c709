#include "Autodiff/Rules.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace xtensor;

StringRef xtensor::name(Table table) {
  switch (table) {
  case Table::Elementwise:
    return "elementwise";
  case Table::Linear:
    return "linear";
  case Table::Chooser:
    return "chooser";
  case Table::Control:
    return "control";
  case Table::NoTangent:
    return "no tangent";
  case Table::Request:
    return "request";
  }
  llvm_unreachable("a table without a name");
}

Rules::Rules() {
  addElementwiseRules(*this);
  addLinearRules(*this);
  addChooserRules(*this);
  addScanRules(*this);
  addFactorRules(*this);
  addControlRules(*this);
  addNoTangentRules(*this);
}

const Rules &Rules::get() {
  static const Rules rules;
  return rules;
}

void Rules::add(TypeID op, unsigned kind, StringRef name, StringRef kindName, Rule rule) {
  name.consume_front("xtensor.");
  std::string key = name.str();
  if (!kindName.empty())
    key += (" " + kindName).str();
  [[maybe_unused]] bool isNew = index.try_emplace({op, kind}, rows.size()).second;
  assert(isNew && "an op is in exactly one table");
  rows.push_back({std::move(key), std::move(rule)});
}

const Rule *Rules::lookup(Operation *op) const {
  unsigned kind = kNoKind;
  if (auto reduce = dyn_cast<ReduceOp>(op))
    kind = static_cast<unsigned>(reduce.getKind());
  else if (auto cumulative = dyn_cast<CumulativeOp>(op))
    kind = static_cast<unsigned>(cumulative.getKind());
  else if (auto scatter = dyn_cast<ScatterOp>(op))
    kind = static_cast<unsigned>(scatter.getKind());
  else if (auto accumulate = dyn_cast<AccumulateOp>(op))
    kind = static_cast<unsigned>(accumulate.getKind());
  auto it = index.find({op->getName().getTypeID(), kind});
  return it == index.end() ? nullptr : &rows[it->second].rule;
}

void Rules::print(raw_ostream &os) const {
  auto sorted = llvm::map_to_vector(rows, [](const Row &row) { return &row; });
  llvm::sort(sorted, [](const Row *a, const Row *b) {
    return std::pair(a->rule.table, a->key) < std::pair(b->rule.table, b->key);
  });
  std::optional<Table> table;
  for (const Row *row : sorted) {
    const Rule &rule = row->rule;
    if (table != rule.table)
      os << (table ? "\n" : "") << name(*(table = rule.table)) << '\n';
    std::string text;
    llvm::raw_string_ostream line(text);
    if (rule.linearity != Linearity::None) {
      line << (rule.linearity == Linearity::Jointly ? "jointly" : "each");
      if (!rule.operands.empty())
        llvm::interleaveComma(rule.operands, line << " in ");
      line << (rule.transpose ? ", transpose: " : ": ");
    }
    llvm::interleave(rule.partials, line, [&](const Partial &p) { line << p.text; }, "; ");
    if (rule.factor)
      line << "; times " << rule.factor->text;
    line << rule.text;
    os << "  " << (text.empty() ? row->key : llvm::formatv("{0,-20}", row->key).str()) << text
       << '\n';
  }
}

SmallVector<std::string> Rules::missing(MLIRContext *context) const {
  SmallVector<std::string> names;
  llvm::StringSet<> known;
  for (const Row &row : rows)
    known.insert(row.key);
  auto need = [&](const Twine &key) {
    if (!known.contains(key.str()))
      names.push_back(key.str());
  };
  for (RegisteredOperationName op : context->getRegisteredOperationsByDialect("xtensor")) {
    StringRef key = op.getStringRef();
    key.consume_front("xtensor.");
    if (op.getTypeID() == TypeID::get<ReduceOp>())
      for (unsigned kind = 0; kind <= getMaxEnumValForReduceKind(); ++kind)
        need(key + " " + stringifyReduceKind(static_cast<ReduceKind>(kind)));
    else if (op.getTypeID() == TypeID::get<CumulativeOp>())
      for (unsigned kind = 0; kind <= getMaxEnumValForCumulativeKind(); ++kind)
        need(key + " " + stringifyCumulativeKind(static_cast<CumulativeKind>(kind)));
    else if (op.getTypeID() == TypeID::get<ScatterOp>())
      for (unsigned kind = 0; kind <= getMaxEnumValForScatterKind(); ++kind)
        need(key + " " + stringifyScatterKind(static_cast<ScatterKind>(kind)));
    else if (op.getTypeID() == TypeID::get<AccumulateOp>())
      for (unsigned kind = 0; kind <= getMaxEnumValForAccumulateKind(); ++kind)
        need(key + " " + stringifyAccumulateKind(static_cast<AccumulateKind>(kind)));
    else
      need(key);
  }
  return names;
}
