#include "compiler/Interface.h"

#include "XTensor/Dims.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/AttrTypeSubElements.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"

using namespace mlir;
using namespace xtensor;

namespace {

class SizeReader {
public:
  explicit SizeReader(Interface &interface) : interface(interface) {}

  LogicalResult read(func::FuncOp main) {
    for (Type type : main.getArgumentTypes())
      for (StringAttr dim : dynamicDims(cast<ArrayType>(type)))
        if (known.try_emplace(dim.getValue(), SizeProduct{1, {dim.str()}}).second)
          interface.open.push_back(dim.str());
    if (known.empty())
      return success();
    WalkResult result = main.walk<WalkOrder::PreOrder>([&](Operation *op) {
      return failed(visit(op)) ? WalkResult::interrupt() : WalkResult::advance();
    });
    return failure(result.wasInterrupted());
  }

  FailureOr<SizeProduct> named(Operation *op, StringRef dim) {
    auto it = known.find(dim);
    if (it != known.end())
      return it->second;
    return op->emitError("the size of dim '")
           << dim << "' does not follow from the arguments' dynamic dims";
  }

  const llvm::StringMap<SizeProduct> &all() const { return known; }

private:
  /// Of a dim of an array, whether its size is fixed or not.
  FailureOr<SizeProduct> of(Operation *op, ArrayType type, StringRef dim) {
    for (auto [name, size] : llvm::zip_equal(type.getDimNames(), type.getShape()))
      if (name.getValue() == dim && size != ArrayType::kDynamic)
        return SizeProduct{size, {}};
    return named(op, dim);
  }

  FailureOr<SizeProduct> value(Operation *op, Value v) {
    if (auto size = v.getDefiningOp<SizeOp>())
      return of(op, cast<ArrayType>(size.getX().getType()), size.getDim());
    return op->emitError(
        "a size is computed from values; sizes follow from the arguments' dims only");
  }

  LogicalResult introduce(StringRef dim, FailureOr<SizeProduct> size) {
    if (failed(size))
      return failure();
    llvm::sort(size->open);
    auto [it, isNew] = known.try_emplace(dim, *size);
    if (!isNew && !(it->second == *size))
      interface.equalities.push_back({it->second, *size, dim.str()});
    return success();
  }

  static bool isDynamic(ArrayType type, StringRef dim) {
    return llvm::any_of(dynamicDims(type), [&](StringAttr d) { return d.getValue() == dim; });
  }

  LogicalResult visit(Operation *op) {
    if (auto rename = dyn_cast<RenameOp>(op)) {
      auto x = cast<ArrayType>(rename.getX().getType());
      SmallVector<std::pair<StringRef, FailureOr<SizeProduct>>> found;
      for (auto [from, to] : llvm::zip_equal(rename.getFrom().getAsRange<StringAttr>(),
                                             rename.getTo().getAsRange<StringAttr>()))
        if (isDynamic(x, from.getValue()))
          found.push_back({to.getValue(), named(op, from.getValue())});
      for (auto &[dim, size] : found)
        if (failed(introduce(dim, size)))
          return failure();
    } else if (auto merge = dyn_cast<MergeOp>(op)) {
      if (!isDynamic(cast<ArrayType>(merge.getY().getType()), merge.getInto()))
        return success();
      SizeProduct product;
      for (auto dim : merge.getDims().getAsRange<StringAttr>()) {
        auto size = of(op, cast<ArrayType>(merge.getX().getType()), dim.getValue());
        if (failed(size))
          return failure();
        product.factor *= size->factor;
        llvm::append_range(product.open, size->open);
      }
      return introduce(merge.getInto(), product);
    } else if (auto iota = dyn_cast<IotaOp>(op)) {
      if (iota.getSize())
        return introduce(cast<ArrayType>(iota.getY().getType()).getDimNames()[0].getValue(),
                         value(op, iota.getSize()));
    } else if (auto scan = dyn_cast<ScanOp>(op)) {
      if (scan.getSize())
        return introduce(scan.getDim(), value(op, scan.getSize()));
    } else if (auto eigh = dyn_cast<EighOp>(op)) {
      StringRef row = cast<StringAttr>(eigh.getDims()[0]).getValue();
      if (isDynamic(cast<ArrayType>(op->getOperand(0).getType()), row))
        return introduce(eigh.getInner(), named(op, row));
    } else if (auto broadcast = dyn_cast<BroadcastOp>(op)) {
      auto have = cast<ArrayType>(broadcast.getX().getType());
      unsigned next = 0;
      for (StringAttr dim : dynamicDims(cast<ArrayType>(broadcast.getY().getType())))
        if (!have.hasDim(dim) &&
            failed(introduce(dim.getValue(), value(op, broadcast.getSizes()[next++]))))
          return failure();
    }
    return success();
  }

  Interface &interface;
  llvm::StringMap<SizeProduct> known;
};

} // namespace

static std::string dtypeName(Type type) {
  if (type.isInteger(1))
    return "bool";
  if (type.isBF16())
    return "bfloat16";
  std::string bits = std::to_string(type.getIntOrFloatBitWidth());
  if (isa<FloatType>(type))
    return "float" + bits;
  return (type.isUnsignedInteger() ? "uint" : "int") + bits;
}

bool Parameter::isOpen() const {
  return llvm::any_of(sizes, [](const SizeProduct &size) { return !size.open.empty(); });
}

FailureOr<Interface> xtensor::interfaceOf(ModuleOp module) {
  auto main = module.lookupSymbol<func::FuncOp>("main");
  if (!main || main.isDeclaration())
    return module.emitError("there is no function @main: name the one to compile so");
  auto isArray = [](Type type) { return isa<ArrayType>(type); };
  if (!llvm::all_of(main.getArgumentTypes(), isArray) ||
      !llvm::all_of(main.getResultTypes(), isArray))
    return main.emitError("arguments and results of a function that is exported are arrays: its "
                          "type is ")
           << main.getFunctionType();
  Interface interface;
  SizeReader sizes(interface);
  if (failed(sizes.read(main)))
    return failure();
  auto parameter = [&](Type type, std::string name) -> FailureOr<Parameter> {
    auto array = cast<ArrayType>(type);
    Parameter p{std::move(name), dtypeName(array.getElementType()), {}, {}};
    for (auto [dim, size] : llvm::zip_equal(array.getDimNames(), array.getShape())) {
      p.dims.push_back(dim.str());
      if (size != ArrayType::kDynamic) {
        p.sizes.push_back({size, {}});
        continue;
      }
      auto product = sizes.named(main, dim.getValue());
      if (failed(product))
        return failure();
      p.sizes.push_back(*product);
    }
    return p;
  };
  for (BlockArgument argument : main.getArguments()) {
    std::string name = "arg" + std::to_string(argument.getArgNumber());
    if (auto loc = argument.getLoc()->findInstanceOf<NameLoc>())
      name = loc.getName().str();
    auto p = parameter(argument.getType(), name);
    if (failed(p))
      return failure();
    interface.inputs.push_back(*p);
  }
  for (auto [i, type] : llvm::enumerate(main.getResultTypes())) {
    std::string name = main.getNumResults() == 1 ? "result" : "result" + std::to_string(i);
    auto p = parameter(type, name);
    if (failed(p))
      return failure();
    interface.outputs.push_back(*p);
  }
  return interface;
}

/// A name in which nothing can be taken for the text around it.
static std::string quoted(StringRef name) {
  std::string text;
  for (char c : name) {
    if (StringRef("\\,:{}*()?").contains(c))
      text += '\\';
    text += c;
  }
  return text;
}

static std::string textOf(const SizeProduct &size) {
  std::string text = size.factor == 1 && !size.open.empty() ? "" : std::to_string(size.factor);
  for (const std::string &name : size.open)
    text += (text.empty() ? "?" : "*?") + quoted(name);
  return text;
}

static std::string textOf(const Parameter &p) {
  std::string text = p.dtype + "{";
  for (auto [i, dim] : llvm::enumerate(p.dims))
    text += (i ? ", " : "") + quoted(dim) + ": " + textOf(p.sizes[i]);
  return text + "}";
}

std::string xtensor::signatureOf(StringRef name, const Interface &interface) {
  auto list = [](const std::vector<Parameter> &parameters, bool names) {
    return llvm::join(llvm::map_range(parameters,
                                      [&](const Parameter &p) {
                                        return (names ? quoted(p.name) + ": " : "") + textOf(p);
                                      }),
                      ", ");
  };
  std::string text = quoted(name) + "(" + list(interface.inputs, true) + ") -> (" +
                     list(interface.outputs, false) + ")";
  for (const SizeEquality &e : interface.equalities)
    text += " where " + textOf(e.left) + " = " + textOf(e.right);
  return text;
}

/// The value of `size` if all of its names have one.
static std::optional<int64_t> valueOf(const SizeProduct &size,
                                      const llvm::StringMap<int64_t> &values) {
  int64_t product = size.factor;
  for (const std::string &name : size.open) {
    auto it = values.find(name);
    if (it == values.end() || llvm::MulOverflow(product, it->second, product))
      return std::nullopt;
  }
  return product;
}

/// Operands that tell sizes which are in the types by now.
static void dropSizes(func::FuncOp main) {
  main.walk([](Operation *op) {
    if (auto broadcast = dyn_cast<BroadcastOp>(op)) {
      // An operand stands for each new dim that is dynamic.
      SmallVector<Value> kept;
      for (Value size : broadcast.getSizes()) {
        auto known = size.getDefiningOp<SizeOp>();
        bool fixed =
            known && !llvm::is_contained(dynamicDims(cast<ArrayType>(known.getX().getType())),
                                         known.getDimAttr());
        if (!fixed)
          kept.push_back(size);
      }
      broadcast.getSizesMutable().assign(kept);
    } else if (auto iota = dyn_cast<IotaOp>(op)) {
      if (iota.getSize() && dynamicDims(cast<ArrayType>(iota.getY().getType())).empty())
        iota.getSizeMutable().clear();
    } else if (auto scan = dyn_cast<ScanOp>(op)) {
      auto size = scan.getSize() ? scan.getSize().getDefiningOp<SizeOp>() : SizeOp();
      if (!size)
        return;
      auto type = cast<ArrayType>(size.getX().getType());
      for (auto [name, n] : llvm::zip_equal(type.getDimNames(), type.getShape()))
        if (name == size.getDimAttr() && n != ArrayType::kDynamic) {
          scan.getSizeMutable().clear();
          scan.setLengthAttr(Builder(op->getContext()).getI64IntegerAttr(n));
          return;
        }
    }
  });
}

LogicalResult xtensor::fixSizes(ModuleOp module, const llvm::StringMap<int64_t> &sizes) {
  auto main = module.lookupSymbol<func::FuncOp>("main");
  Interface interface;
  SizeReader reader(interface);
  if (!main || failed(reader.read(main)))
    return failure();
  for (const SizeEquality &e : interface.equalities) {
    std::optional<int64_t> left = valueOf(e.left, sizes), right = valueOf(e.right, sizes);
    if (left && right && *left != *right)
      return main.emitError("dim '") << e.dim << "' has sizes " << *left << " and " << *right
                                     << "; equal names have equal sizes";
  }
  llvm::StringMap<int64_t> values;
  for (const auto &entry : reader.all())
    if (std::optional<int64_t> value = valueOf(entry.second, sizes))
      values[entry.first()] = *value;
  AttrTypeReplacer replacer;
  replacer.addReplacement([&](ArrayType type) -> std::optional<Type> {
    SmallVector<int64_t> shape(type.getShape());
    for (auto [name, size] : llvm::zip_equal(type.getDimNames(), shape))
      if (auto it = values.find(name.getValue()); size == ArrayType::kDynamic && it != values.end())
        size = it->second;
    return ArrayType::get(type.getContext(), type.getDimNames(), shape, type.getElementType());
  });
  replacer.recursivelyReplaceElementsIn(main, /*replaceAttrs=*/true, /*replaceLocs=*/false,
                                        /*replaceTypes=*/true);
  dropSizes(main);
  return success();
}
