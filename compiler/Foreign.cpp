#include "compiler/Foreign.h"

#include "XTensor/XTensor.h"
#include "compiler/Sizes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/AttrTypeSubElements.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/Unicode.h"

using namespace mlir;
using namespace xtensor;

namespace {

constexpr int64_t kMostBytes = int64_t(1) << 24;
constexpr int64_t kMostOps = int64_t(1) << 17;
constexpr int64_t kDeepest = 64; // regions inside of each other
constexpr int64_t kMostDims = 64;
constexpr size_t kLongestText = 8192;

/// Not functions of this process, other processes, or what passes alone make.
bool isOnlyComputation(Operation *op) {
  return isa<XTensorDialect>(op->getDialect()) &&
         !isa<CallbackOp, AllReduceOp, AllToAllOp, AllGatherOp, HaloOp, ProcessIndexOp, LibraryOp,
              ElementaryOp, BitsOp>(op);
}

bool isPrinted(StringRef text) {
  if (text.size() > kLongestText)
    return false;
  SmallVector<StringRef> lines;
  text.split(lines, '\n');
  return llvm::all_of(
      lines, [](StringRef line) { return llvm::sys::unicode::columnWidthUTF8(line) >= 0; });
}

/// Attributes do not count names of files among what is in them.
bool isPlace(LocationAttr at) {
  return !at.walk([](Location inner) {
              auto file = dyn_cast<FileLineColRange>(inner);
              auto name = dyn_cast<NameLoc>(inner);
              bool isPlain = (!file || isPrinted(file.getFilename().getValue())) &&
                             (!name || isPrinted(name.getName().getValue()));
              return isPlain ? WalkResult::advance() : WalkResult::interrupt();
            }).wasInterrupted();
}

bool isArray(Type type) {
  auto array = dyn_cast<xtensor::ArrayType>(type);
  return array && array.getRank() <= kMostDims;
}

bool isValue(Type type) {
  auto linear = dyn_cast<LinearType>(type);
  return isArray(type) || (linear && llvm::all_of(linear.getMap().getInputs(), isArray) &&
                           llvm::all_of(linear.getMap().getResults(), isArray));
}

/// Reads a module, op by op, without recursion: it may be deep.
class Check {
public:
  Check() {
    texts.addWalk([&](StringAttr text) {
      if (isPrinted(text.getValue()))
        return WalkResult::advance();
      return WalkResult::interrupt();
    });
  }

  LogicalResult module(ModuleOp module) {
    auto &ops = module.getBody()->getOperations();
    auto main = ops.empty() ? func::FuncOp() : dyn_cast<func::FuncOp>(ops.front());
    if (!main || !llvm::hasSingleElement(ops) || main.getName() != "main")
      return module.emitError("it is more, or less, than a function @main");
    if (!module->getAttrs().empty())
      return module.emitError("the module has attributes");
    if (!main.getBody().hasOneBlock())
      return main.emitError("@main is not one block");
    if (main.getArgAttrsAttr() || main.getResAttrsAttr() || main.getSymVisibilityAttr())
      return main.emitError("@main says more of its arguments and results than types");
    for (NamedAttribute attribute : main->getDiscardableAttrs())
      if (attribute.getName() != kNonempty)
        return refuse(main, attribute.getName());
    if (!readable(main))
      return main.emitError("a text in it is too long or cannot be printed");
    if (failed(block(main.getBody().front(), 1)))
      return failure();
    while (!pending.empty()) {
      auto [region, depth] = pending.pop_back_val();
      for (Block &inner : *region)
        if (failed(block(inner, depth)))
          return failure();
    }
    return success();
  }

private:
  static LogicalResult refuse(Operation *op, StringAttr attribute) {
    return op->emitOpError("has the attribute ") << attribute << ", which a trace does not give it";
  }

  bool readable(Operation *op) {
    return !texts.walk(op->getAttrDictionary()).wasInterrupted() && isPlace(op->getLoc());
  }

  LogicalResult types(Operation *op, TypeRange types) {
    for (Type type : types) {
      if (!isValue(type))
        return op->emitOpError("has a value that is not an array of up to ")
               << kMostDims << " dims";
      if (texts.walk(type).wasInterrupted())
        return op->emitOpError("has a dim whose name is too long or cannot be printed");
    }
    return success();
  }

  LogicalResult block(Block &block, int64_t depth) {
    Operation *parent = block.getParentOp();
    if (depth > kDeepest)
      return parent->emitOpError("lies in more than ") << kDeepest << " regions";
    if (failed(types(parent, block.getArgumentTypes())))
      return failure();
    for (BlockArgument argument : block.getArguments())
      if (!isPlace(argument.getLoc()))
        return parent->emitOpError("has an argument whose name cannot be printed");
    for (Operation &op : block)
      if (failed(operation(&op, depth)))
        return failure();
    return success();
  }

  LogicalResult operation(Operation *op, int64_t depth) {
    if (++count > kMostOps)
      return op->emitOpError("is one of more than ") << kMostOps << " ops";
    bool isReturn = isa<func::ReturnOp>(op) && isa<func::FuncOp>(op->getParentOp());
    if (!isReturn && !isOnlyComputation(op))
      return op->emitOpError("is not an op that a trace makes");
    for (NamedAttribute attribute : op->getDiscardableAttrs())
      return refuse(op, attribute.getName());
    if (!readable(op))
      return op->emitOpError("has a text that is too long or cannot be printed");
    if (auto constant = dyn_cast<ConstantOp>(op);
        constant && !isa<DenseElementsAttr>(constant.getValue()))
      return op->emitOpError("has values that are kept outside of it");
    for (Region &region : op->getRegions()) {
      if (!region.empty() && !region.hasOneBlock())
        return op->emitOpError("has a region of several blocks");
      pending.push_back({&region, depth + 1});
    }
    return types(op, op->getResultTypes());
  }

  AttrTypeWalker texts;
  SmallVector<std::pair<Region *, int64_t>> pending;
  int64_t count = 0;
};

} // namespace

std::string xtensor::whyNotForeign(StringRef bytes) {
  if (bytes.size() > kMostBytes)
    return "it has more than " + std::to_string(kMostBytes) + " bytes";
  DialectRegistry registry;
  registry.insert<func::FuncDialect, XTensorDialect>();
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  std::string why;
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
    if (why.empty() && diagnostic.getSeverity() == DiagnosticSeverity::Error)
      why = diagnostic.str();
    return success();
  });
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(bytes, &context);
  if (module && succeeded(Check().module(*module)))
    return "";
  return why.empty() ? "it cannot be read" : why;
}
