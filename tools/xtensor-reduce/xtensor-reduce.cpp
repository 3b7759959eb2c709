// xtensor-reduce: mlir-reduce with this project's dialect, passes and phases, and with changes that
// make a program of arrays smaller. Upstream's reduction alone only erases ops that nothing uses.
#include "Pipelines.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Iterators.h"
#include "mlir/IR/Verifier.h"
#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/InitAllPasses.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Reducer/ReductionPatternInterface.h"
#include "mlir/Support/FileUtilities.h"
#include "mlir/Target/LLVMIR/Dialect/All.h"
#include "mlir/Tools/mlir-reduce/MlirReduceMain.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/ToolOutputFile.h"

using namespace mlir;

namespace {
/// What upstream's driver of patterns does to each op that it meets, and asks no test about: it
/// folds ops, and erases those that nothing uses.
void cleanUp(ModuleOp module) {
  GreedyRewriteConfig config;
  config.setRegionSimplificationLevel(GreedySimplifyRegionLevel::Disabled);
  (void)applyPatternsGreedily(module, FrozenRewritePatternSet(), config);
}

/// Whether the module of `op` is still valid and interesting after `change`, which is made in a
/// copy of it, and after what the driver does besides. The mapping leads from the module to the
/// copy.
bool staysInteresting(Operation *op, const Tester &tester,
                      llvm::function_ref<void(const IRMapping &)> change) {
  IRMapping copied;
  OwningOpRef<ModuleOp> copy = cast<ModuleOp>(op->getParentOfType<ModuleOp>()->clone(copied));
  change(copied);
  cleanUp(*copy);
  // An alternative that does not fit is no error of the user's.
  ScopedDiagnosticHandler quiet(op->getContext(), [](Diagnostic &) { return success(); });
  return succeeded(verify(*copy)) &&
         tester.isInteresting(*copy).first == Tester::Interestingness::True;
}

/// Zeros, or null where a size is open.
Attribute zerosOf(xtensor::ArrayType type) {
  if (!type.hasStaticShape())
    return {};
  auto tensor = RankedTensorType::get(type.getShape(), type.getElementType());
  if (TypedAttr zero = Builder(type.getContext()).getZeroAttr(type.getElementType()))
    return DenseElementsAttr::get(tensor, static_cast<Attribute>(zero));
  return {};
}

/// Values of the type of `result` that it could be instead: arguments of the regions around its op,
/// then operands.
llvm::SmallSetVector<Value, 8> alternativesTo(OpResult result) {
  llvm::SmallSetVector<Value, 8> found;
  Operation *op = result.getOwner();
  for (Block *block = op->getBlock(); block; block = block->getParentOp()->getBlock()) {
    found.insert(block->args_begin(), block->args_end());
    if (block->getParentOp()->hasTrait<OpTrait::IsIsolatedFromAbove>())
      break;
  }
  found.insert(op->operand_begin(), op->operand_end());
  found.remove_if([&](Value value) { return value.getType() != result.getType(); });
  return found;
}

/// An op becomes zeros, an argument or one of its operands. An op without uses goes.
struct ReplaceOp : RewritePattern {
  ReplaceOp(MLIRContext *context, Tester &tester)
      : RewritePattern(MatchAnyOpTypeTag(), /*benefit=*/1, context), tester(tester) {}

  LogicalResult matchAndRewrite(Operation *op, PatternRewriter &rewriter) const override {
    if (!isa<xtensor::XTensorDialect>(op->getDialect()) || isa<xtensor::ConstantOp>(op) ||
        op->hasTrait<OpTrait::IsTerminator>())
      return failure();
    bool changed = false;
    for (OpResult result : op->getResults())
      changed |= !result.use_empty() && replace(result, rewriter);
    bool gone = op->use_empty() && staysInteresting(op, tester, [&](const IRMapping &copied) {
                  copied.lookup(op)->erase();
                });
    // Not its inputs, of which upstream's pass may have a list: of ops to erase next.
    if (gone)
      rewriter.eraseOp(op);
    return success(changed || gone);
  }

private:
  bool replace(OpResult result, PatternRewriter &rewriter) const {
    Operation *op = result.getOwner();
    auto type = dyn_cast<xtensor::ArrayType>(result.getType());
    auto zeros = dyn_cast_or_null<ElementsAttr>(type ? zerosOf(type) : Attribute());
    if (zeros && staysInteresting(op, tester, [&](const IRMapping &copied) {
          OpBuilder b(copied.lookup(op));
          copied.lookup<Value>(result).replaceAllUsesWith(
              xtensor::ConstantOp::create(b, op->getLoc(), type, zeros));
        })) {
      rewriter.replaceAllUsesWith(result,
                                  xtensor::ConstantOp::create(rewriter, op->getLoc(), type, zeros));
      return true;
    }
    for (Value value : alternativesTo(result))
      if (staysInteresting(op, tester, [&](const IRMapping &copied) {
            copied.lookup<Value>(result).replaceAllUsesWith(copied.lookup(value));
          })) {
        rewriter.replaceAllUsesWith(result, value);
        return true;
      }
    return false;
  }

  Tester &tester;
};

/// A function that nothing calls loses results, and arguments that it does not use.
struct ShortenFunction : OpRewritePattern<func::FuncOp> {
  ShortenFunction(MLIRContext *context, Tester &tester)
      : OpRewritePattern(context), tester(tester) {}

  LogicalResult matchAndRewrite(func::FuncOp f, PatternRewriter &rewriter) const override {
    if (f.isExternal() || !SymbolTable::symbolKnownUseEmpty(f, f->getParentOp()))
      return failure();
    for (unsigned i = 0; i < f.getNumResults(); ++i)
      if (tryChange(f, rewriter, [i](func::FuncOp g) { eraseResult(g, i); }))
        return success();
    for (BlockArgument argument : f.getArguments())
      if (unsigned i = argument.getArgNumber();
          argument.use_empty() &&
          tryChange(f, rewriter, [i](func::FuncOp g) { (void)g.eraseArgument(i); }))
        return success();
    return failure();
  }

private:
  static void eraseResult(func::FuncOp f, unsigned i) {
    f.walk([&](func::ReturnOp op) { op->eraseOperand(i); });
    (void)f.eraseResult(i);
  }
  bool tryChange(func::FuncOp f, PatternRewriter &rewriter,
                 llvm::function_ref<void(func::FuncOp)> change) const {
    if (!staysInteresting(f, tester, [&](const IRMapping &copied) {
          change(cast<func::FuncOp>(copied.lookup(f.getOperation())));
        }))
      return false;
    rewriter.modifyOpInPlace(f, [&] { change(f); });
    return true;
  }

  Tester &tester;
};

/// The values of an array at the first positions along each axis.
ElementsAttr cornerOf(ElementsAttr values, llvm::ArrayRef<int64_t> shape) {
  auto type = cast<ShapedType>(values.getType()).clone(shape);
  if (auto splat = dyn_cast<SplatElementsAttr>(values))
    return splat.resizeSplat(type);
  llvm::SmallVector<Attribute> corner;
  llvm::SmallVector<uint64_t> at(shape.size());
  for (int64_t i = 0; i < type.getNumElements(); ++i) {
    corner.push_back(values.getValues<Attribute>()[at]);
    for (size_t axis = shape.size(); axis-- && ++at[axis] == uint64_t(shape[axis]);)
      at[axis] = 0;
  }
  return DenseElementsAttr::get(type, corner);
}

/// A function loses ops that nothing uses and that have no effect.
struct EraseDeadOps : OpRewritePattern<func::FuncOp> {
  EraseDeadOps(MLIRContext *context, Tester &tester)
      : OpRewritePattern(context, /*benefit=*/2), tester(tester) {}

  LogicalResult matchAndRewrite(func::FuncOp f, PatternRewriter &rewriter) const override {
    checkThatItCanBeCleaned(f);
    // A change in place is a change to the driver, even where nothing is different.
    bool isThere =
        f.walk([](Operation *op) {
           return isOpTriviallyDead(op) ? WalkResult::interrupt() : WalkResult::advance();
         }).wasInterrupted();
    if (f.isExternal() || !isThere)
      return failure();
    rewriter.modifyOpInPlace(f, [&] { eraseIn(f); });
    return success();
  }

private:
  /// Users before what they use.
  static void eraseIn(func::FuncOp f) {
    f.walk<WalkOrder::PostOrder, ReverseIterator>([&](Operation *op) {
      if (op != f && isOpTriviallyDead(op))
        op->erase();
    });
  }

  /// Upstream's pass crashes if its driver makes the whole program uninteresting. This is the first
  /// pattern that runs.
  void checkThatItCanBeCleaned(func::FuncOp f) const {
    if (isChecked || staysInteresting(f, tester, [](const IRMapping &) {})) {
      isChecked = true;
      return;
    }
    llvm::errs()
        << "xtensor-reduce: the test ends with 0 once ops are folded, and ops that nothing "
           "uses are erased, which reduction-tree begins with. Return what the test is "
           "about, or use --opt-reduction-pass\n";
    std::exit(1);
  }

  Tester &tester;
  mutable bool isChecked = false;
};

/// All arrays of a function that nothing calls get another size of a dim. This fits where no op has
/// the size as an attribute.
struct ShrinkDim : OpRewritePattern<func::FuncOp> {
  ShrinkDim(MLIRContext *context, Tester &tester) : OpRewritePattern(context), tester(tester) {}

  LogicalResult matchAndRewrite(func::FuncOp f, PatternRewriter &rewriter) const override {
    if (f.isExternal() || !SymbolTable::symbolKnownUseEmpty(f, f->getParentOp()))
      return failure();
    for (auto [name, size] : dimsOf(f))
      for (int64_t less : {int64_t(1), int64_t(2), size / 2}) {
        if (less >= size)
          break;
        auto change = [&, name = name, size = size](func::FuncOp g) {
          resize(g, name, size, less);
        };
        if (!staysInteresting(f, tester, [&](const IRMapping &copied) {
              change(cast<func::FuncOp>(copied.lookup(f.getOperation())));
            }))
          continue;
        rewriter.modifyOpInPlace(f, [&] { change(f); });
        return success();
      }
    return failure();
  }

private:
  static llvm::SetVector<std::pair<Attribute, int64_t>> dimsOf(func::FuncOp f) {
    llvm::SetVector<std::pair<Attribute, int64_t>> dims;
    AttrTypeWalker walker;
    walker.addWalk([&](xtensor::ArrayType type) {
      for (auto [name, size] : llvm::zip(type.getDimNames(), type.getShape()))
        if (size > 1) // not an open one, either
          dims.insert({name, size});
    });
    f.walk([&](Operation *op) {
      for (Type type : op->getResultTypes())
        walker.walk(type);
      for (Region &region : op->getRegions())
        for (Type type : region.getArgumentTypes())
          walker.walk(type);
    });
    return dims;
  }

  static void resize(func::FuncOp f, Attribute name, int64_t from, int64_t to) {
    AttrTypeReplacer replacer;
    replacer.addReplacement([&](xtensor::ArrayType type) -> std::optional<Type> {
      llvm::SmallVector<int64_t> shape(type.getShape());
      if (int64_t at = type.find(name); at >= 0 && shape[at] == from)
        shape[at] = to;
      return xtensor::ArrayType::get(type.getContext(), type.getDimNames(), shape,
                                     type.getElementType());
    });
    replacer.recursivelyReplaceElementsIn(f, /*replaceAttrs=*/true, /*replaceLocs=*/false,
                                          /*replaceTypes=*/true);
    f.walk([](xtensor::ConstantOp op) {
      op.setValueAttr(cornerOf(op.getValue(), op.getType().getShape()));
    });
  }

  Tester &tester;
};

struct Reductions : DialectReductionPatternInterface {
  explicit Reductions(Dialect *dialect) : DialectReductionPatternInterface(dialect) {}
  void populateReductionPatterns(RewritePatternSet &) const override {}
  void populateReductionPatternsWithTester(RewritePatternSet &patterns,
                                           Tester &tester) const override {
    patterns.add<ReplaceOp, EraseDeadOps, ShortenFunction, ShrinkDim>(patterns.getContext(),
                                                                      tester);
  }
};
} // namespace

/// Whether the tests that the options name can be run: upstream's pass aborts where they cannot.
static bool areTestsThere(llvm::ArrayRef<char *> words) {
  for (StringRef word : words) {
    bool isOption = word.starts_with("-") || word.contains('(');
    bool isMissing =
        isOption && (word.contains("reduction-tree") || word.contains("reduction-pass"));
    for (StringRef option : llvm::split(word, ' ')) {
      size_t at = option.find("test=");
      StringRef path = at == StringRef::npos ? "" : option.substr(at + 5).rtrim("})");
      isMissing &= path.empty();
      if (path.empty() || llvm::sys::fs::can_execute(path))
        continue;
      llvm::errs() << "xtensor-reduce: the test " << path
                   << (llvm::sys::fs::exists(path) ? " cannot be executed: chmod +x " + path.str()
                                                   : " does not exist")
                   << '\n';
      return false;
    }
    if (isMissing) {
      llvm::errs() << "xtensor-reduce: " << word
                   << " has no test: add test=FILE, an executable file that ends with 1 for a "
                      "program that fails\n";
      return false;
    }
  }
  return true;
}

/// What is wrong with the file that `-o` names, or "": upstream says nothing of it.
static std::string wrongOutput(llvm::ArrayRef<char *> words) {
  std::string error;
  for (auto [i, each] : llvm::enumerate(words)) {
    StringRef word = StringRef(each).ltrim('-');
    bool isNext = word == "o" && i + 1 < words.size();
    if (StringRef(each).starts_with("-") && (isNext || word.consume_front("o=")))
      (void)openOutputFile(isNext ? StringRef(words[i + 1]) : word, &error);
  }
  return error;
}

int main(int argc, char **argv) {
  if (!areTestsThere({argv + 1, argv + argc}))
    return 1;
  registerAllPasses();
  xtensor::registerAllXTensorPasses();
  DialectRegistry registry;
  registerAllDialects(registry);
  registerAllExtensions(registry);
  registerAllToLLVMIRTranslations(registry);
  xtensor::registerAllXTensorDialects(registry);
  registry.addExtension(+[](MLIRContext *, xtensor::XTensorDialect *dialect) {
    dialect->addInterfaces<Reductions>();
  });
  MLIRContext context(registry);
  context.getOrLoadDialect<xtensor::XTensorDialect>(); // a program without its ops needs it, too
  // The pass tries invalid programs, too. What is wrong with them is of interest only if it fails.
  std::string messages;
  ScopedDiagnosticHandler hold(&context, [&](Diagnostic &diagnostic) {
    llvm::raw_string_ostream(messages) << diagnostic.getLocation() << ": " << diagnostic << '\n';
    return success();
  });
  if (succeeded(mlirReduceMain(argc, argv, context)))
    return 0;
  llvm::errs() << messages;
  if (std::string error = messages.empty() ? wrongOutput({argv + 1, argv + argc}) : "";
      !error.empty())
    llvm::errs() << "xtensor-reduce: " << error << '\n';
  if (llvm::StringRef(messages).contains("interested"))
    llvm::errs() << "xtensor-reduce: the test must end with 1 for a program that fails, with 0 for "
                    "another one. It did not end with 1 for the input\n";
  return 1;
}
