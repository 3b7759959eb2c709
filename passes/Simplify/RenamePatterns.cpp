// What is computed of an array, and once more of the same array with other names of its dims: the
// covariances of an array with itself, or the distances of all pairs.
#include "Simplify/Patterns.h"

using namespace mlir;
using namespace xtensor;

namespace {

/// f (rename %x) ==> rename (f %x), if the program has f %x already. Renames cost nothing.
struct ShareBelowRename : RewritePattern {
  explicit ShareBelowRename(MLIRContext *context)
      : RewritePattern(MatchAnyOpTypeTag(), /*benefit=*/1, context) {}

  LogicalResult matchAndRewrite(Operation *op, PatternRewriter &rewriter) const final {
    if (op->getNumResults() != 1 || !(op->hasTrait<trait::Elementwise>() || isa<ReduceOp>(op)))
      return failure();
    SmallVector<Value> sources;
    RenameOp rename = renameOfAll(op, sources);
    if (!rename)
      return failure();
    Operation *same = findSame(op, rename, sources);
    if (!same)
      return failure();
    auto from = [&](Attribute dim) { return arrayType(same->getResult(0)).hasDim(name(dim)); };
    if (!llvm::all_of(rename.getFrom(), from))
      return failure();
    OpBuilder::InsertionGuard guard(rewriter);
    auto renamed = RenameOp::create(rewriter, op->getLoc(), same->getResult(0), rename.getFrom(),
                                    rename.getTo());
    if (renamed.getType() != op->getResult(0).getType()) {
      rewriter.eraseOp(renamed);
      return failure();
    }
    rewriter.replaceOp(op, renamed);
    return success();
  }

private:
  static StringAttr name(Attribute dim) { return cast<StringAttr>(dim); }

  /// The one way in which operands are renamed; the others have none of its dims. Null: there is
  /// none. `sources` are the operands before it.
  static RenameOp renameOfAll(Operation *op, SmallVectorImpl<Value> &sources) {
    RenameOp found;
    for (Value operand : op->getOperands()) {
      auto rename = operand.getDefiningOp<RenameOp>();
      if (rename && found &&
          (rename.getFrom() != found.getFrom() || rename.getTo() != found.getTo()))
        return {};
      if (rename)
        found = rename;
      sources.push_back(rename ? rename.getX() : operand);
    }
    if (!found)
      return {};
    for (auto [operand, source] : llvm::zip_equal(op->getOperands(), sources))
      for (ArrayAttr dims : {found.getFrom(), found.getTo()})
        for (Attribute dim : dims)
          if (operand == source && arrayType(operand).hasDim(name(dim)))
            return {};
    if (auto reduce = dyn_cast<ReduceOp>(op))
      for (Attribute dim : reduce.getDims())
        if (llvm::is_contained(found.getTo(), dim) || llvm::is_contained(found.getFrom(), dim))
          return {};
    return found;
  }

  /// The same op of `sources`, before `op`.
  static Operation *findSame(Operation *op, RenameOp rename, ArrayRef<Value> sources) {
    for (Operation *user : rename.getX().getUsers())
      if (user != op && user->getName() == op->getName() && user->getBlock() == op->getBlock() &&
          user->isBeforeInBlock(op) && llvm::equal(user->getOperands(), sources) &&
          user->getAttrDictionary() == op->getAttrDictionary())
        return user;
    return nullptr;
  }
};

} // namespace

void xtensor::addRenamePatterns(RewritePatternSet &patterns) {
  patterns.add<ShareBelowRename>(patterns.getContext());
}
