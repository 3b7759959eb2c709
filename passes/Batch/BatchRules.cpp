#include "Batch/BatchRules.h"

#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace xtensor;

BatchRules::BatchRules() {
  addNameBatchRules(*this);
  addRegionBatchRules(*this);
  addLoopBatchRules(*this);
}

const BatchRules &BatchRules::get() {
  static const BatchRules rules;
  return rules;
}

void BatchRules::add(TypeID op, StringRef name, BatchRule rule) {
  name.consume_front("xtensor.");
  [[maybe_unused]] bool isNew = rules.try_emplace(op, rule).second;
  assert(isNew && "an op is in the table once");
  rows.push_back({name, rule.text});
}

const BatchRule *BatchRules::lookup(Operation *op) const {
  auto it = rules.find(op->getName().getTypeID());
  return it == rules.end() ? nullptr : &it->second;
}

void BatchRules::print(raw_ostream &os) const {
  auto sorted = rows;
  llvm::sort(sorted);
  for (bool byName : {true, false}) {
    os << (byName ? "by name\n" : "\nby a rule\n");
    for (auto [name, text] : sorted)
      if (text.empty() == byName)
        os << "  " << (byName ? name.str() : llvm::formatv("{0,-18}{1}", name, text).str()) << '\n';
  }
}

SmallVector<StringRef> BatchRules::missing(MLIRContext *context) const {
  SmallVector<StringRef> names;
  for (RegisteredOperationName op : context->getRegisteredOperationsByDialect("xtensor"))
    if (!rules.contains(op.getTypeID()))
      names.push_back(op.getStringRef());
  return names;
}
