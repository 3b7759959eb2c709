// A table with a row for each op of the dialect: what a pass does with it.
#ifndef XTENSOR_RULETABLE_H
#define XTENSOR_RULETABLE_H

#include "XTensor/XTensor.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

namespace xtensor {

/// `Walk` is the state of the pass while it visits a function.
template <typename Walk>
class RuleTable {
public:
  using Visit = llvm::LogicalResult (*)(Walk &, mlir::Operation *);
  struct Rule {
    Visit visit;
    llvm::StringRef text; ///< empty: by name
  };

  /// The rule of `op`, or null.
  const Rule *lookup(mlir::Operation *op) const {
    auto it = rules.find(op->getName().getTypeID());
    return it == rules.end() ? nullptr : &it->second;
  }

  /// One line per op, sorted.
  void print(llvm::raw_ostream &os) const {
    auto sorted = rows;
    llvm::sort(sorted);
    for (bool byName : {true, false}) {
      os << (byName ? "by name\n" : "\nby a rule\n");
      for (auto [name, text] : sorted)
        if (text.empty() == byName)
          os << "  " << (byName ? name.str() : llvm::formatv("{0,-18}{1}", name, text).str())
             << '\n';
    }
  }

  /// Prints the table, and fails with an error at `op` for each op that is missing. `what` is done
  /// by the table: "vectorized".
  llvm::LogicalResult report(mlir::Operation *op, llvm::StringRef what) const {
    print(llvm::outs());
    auto names = missing(op->getContext());
    for (llvm::StringRef name : names)
      op->emitError() << name << " is not in the table of how ops are " << what;
    return llvm::success(names.empty());
  }

  /// Names of the ops of `context`'s dialect that are not in the table.
  llvm::SmallVector<llvm::StringRef> missing(mlir::MLIRContext *context) const {
    llvm::SmallVector<llvm::StringRef> names;
    for (mlir::RegisteredOperationName op : context->getRegisteredOperationsByDialect("xtensor"))
      if (!rules.contains(op.getTypeID()))
        names.push_back(op.getStringRef());
    return names;
  }

  template <typename Op>
  void add(Visit visit, llvm::StringRef text = {}) {
    llvm::StringRef name = Op::getOperationName();
    name.consume_front("xtensor.");
    [[maybe_unused]] bool isNew =
        rules.try_emplace(mlir::TypeID::get<Op>(), Rule{visit, text}).second;
    assert(isNew && "an op is in the table once");
    rows.push_back({name, text});
  }
  /// The same row for several ops.
  template <typename... Ops>
  void addAll(Visit visit, llvm::StringRef text = {}) {
    (add<Ops>(visit, text), ...);
  }

private:
  llvm::DenseMap<mlir::TypeID, Rule> rules;
  std::vector<std::pair<llvm::StringRef, llvm::StringRef>> rows; ///< name and text
};

} // namespace xtensor

#endif // XTENSOR_RULETABLE_H
