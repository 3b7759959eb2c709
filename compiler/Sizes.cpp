#include "compiler/Sizes.h"

#include "CallSizes.h"
#include "XTensor/Dims.h"
#include "XTensor/Fault.h"
#include "XTensor/Place.h"
#include "XTensor/XTensor.h"
#include "mlir/IR/AttrTypeSubElements.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace xtensor;

static bool isDynamic(Type type, StringRef dim) {
  return llvm::any_of(dynamicDims(cast<ArrayType>(type)),
                      [&](StringAttr d) { return d.getValue() == dim; });
}

static StringRef nameOf(Operation *op) { return op->getName().stripDialect(); }

/// The function of xt.linalg that an op with an inner dim stands for.
static StringRef factorName(Operation *op) {
  if (auto factor = dyn_cast<ComplexFactorOp>(op))
    return stringifyComplexFactorKind(factor.getKind());
  return isa<MinimumOp>(op) ? "lu" : nameOf(op);
}

/// The dims of which an inner dim has the smaller size, for a message.
static std::string bothDimsOf(Operation *op) {
  SmallVector<StringRef> names;
  if (isa<MinimumOp>(op))
    for (Value size : op->getOperands())
      names.push_back(size.getDefiningOp<SizeOp>().getDim());
  else
    llvm::append_range(names, op->getAttrOfType<ArrayAttr>("dims").getAsValueRange<StringAttr>());
  return "'" + llvm::join(names, "' and '") + "'";
}

FailureOr<Sizes> Sizes::of(func::FuncOp main) {
  Sizes sizes;
  for (Type type : main.getArgumentTypes())
    for (StringAttr dim : dynamicDims(cast<ArrayType>(type)))
      if (sizes.known.try_emplace(dim.getValue(), SizeProduct{1, {dim.str()}}).second)
        sizes.open.push_back(dim.str());
  if (sizes.known.empty())
    return sizes;
  WalkResult result = main.walk<WalkOrder::PreOrder>([&](Operation *op) {
    return failed(sizes.visit(op)) ? WalkResult::interrupt() : WalkResult::advance();
  });
  if (result.wasInterrupted())
    return failure();
  auto text = [](DictionaryAttr entry, StringRef name) {
    auto found = entry.getAs<StringAttr>(name);
    return found ? found.str() : std::string();
  };
  if (auto list = main->getAttrOfType<ArrayAttr>(kNonempty))
    for (Attribute attribute : list)
      if (auto entry = dyn_cast<DictionaryAttr>(attribute)) {
        std::string dim = text(entry, "dim");
        if (auto it = sizes.known.find(dim); it != sizes.known.end())
          sizes.nonempty.push_back({it->second, dim, text(entry, "message"), text(entry, "where")});
        else if (auto it = sizes.least.find(dim); it != sizes.least.end())
          for (const SizeProduct &size : it->second.sizes)
            sizes.nonempty.push_back({size, dim, text(entry, "message"), text(entry, "where")});
      }
  return sizes;
}

Sizes::Found Sizes::named(Operation *op, StringRef dim) const {
  if (auto it = known.find(dim); it != known.end())
    return it->second;
  if (auto it = least.find(dim); it != least.end()) {
    Operation *from = it->second.op;
    bool isLu = isa<MinimumOp>(from); // it works the smaller size out itself
    std::string both = bothDimsOf(from);
    return emitError(from->getLoc(), "xt.linalg.")
           << Fault::Unsupported << factorName(from) << ": dim '" << dim
           << "' of a result has the smaller size of " << both
           << ", which only the call knows. Use it up inside of the function, as "
           << (isLu ? "xt.dot(l, u, dim='" : "xt.dot(q, r, dim='") << dim << "') does, or leave "
           << both << " out of dynamic_dims=";
  }
  return op->emitError("the size of dim '")
         << Fault::Unsupported << dim
         << "' does not follow from the arguments' dynamic dims. Rename it to a dim that an "
            "argument has, or make its size static";
}

Sizes::Found Sizes::ofDim(Operation *op, Type type, StringRef dim) const {
  auto array = cast<ArrayType>(type);
  for (auto [name, size] : llvm::zip_equal(array.getDimNames(), array.getShape()))
    if (name.getValue() == dim && size != ArrayType::kDynamic)
      return SizeProduct{size, {}};
  return named(op, dim);
}

Sizes::FoundSome Sizes::some(Operation *op, Type type, StringRef dim) const {
  if (auto it = least.find(dim); it != least.end() && isDynamic(type, dim))
    return Some(it->second);
  Found size = ofDim(op, type, dim);
  return failed(size) ? FoundSome(failure()) : FoundSome(Some(*size));
}

Sizes::FoundSome Sizes::some(Operation *op, Value size) const {
  if (auto of = size.getDefiningOp<SizeOp>())
    return some(op, of.getX().getType(), of.getDim());
  auto smaller = size.getDefiningOp<MinimumOp>();
  if (smaller &&
      llvm::all_of(smaller->getOperands(), [](Value v) { return bool(v.getDefiningOp<SizeOp>()); }))
    return smallest(smaller, {some(op, smaller.getLhs()), some(op, smaller.getRhs())});
  return op->emitError("a size is computed from values; sizes follow from the arguments' dims only")
         << Fault::Unsupported;
}

Sizes::FoundSome Sizes::smallest(Operation *op, ArrayRef<FoundSome> sizes) const {
  Least all{op, {}};
  for (const FoundSome &size : sizes) {
    if (failed(size))
      return failure();
    if (auto *one = std::get_if<SizeProduct>(&*size))
      all.sizes.push_back(*one);
    else
      llvm::append_range(all.sizes, std::get<Least>(*size).sizes);
  }
  for (SizeProduct &size : all.sizes)
    llvm::sort(size.open);
  llvm::sort(all.sizes);
  all.sizes.erase(llvm::unique(all.sizes), all.sizes.end());
  return all.sizes.size() == 1 ? FoundSome(Some(all.sizes[0])) : FoundSome(Some(std::move(all)));
}

LogicalResult Sizes::introduce(Operation *op, StringRef dim, FoundSome size) {
  if (failed(size))
    return failure();
  auto *smaller = std::get_if<Least>(&*size);
  auto it = least.find(dim);
  if (!smaller && it == least.end())
    return introduce(op, dim, Found(std::get<SizeProduct>(*size)));
  bool isNew = it == least.end() && !known.contains(dim);
  if (isNew)
    least.try_emplace(dim, *smaller);
  if (isNew || (smaller && it != least.end() && it->second.sizes == smaller->sizes))
    return success();
  // A call can check that the sizes are equal, as those of a square matrix are; not which is
  // smaller.
  Least other = smaller ? *smaller : it->second;
  Some single = smaller && it == least.end() ? Some(known.lookup(dim)) : *size;
  if (auto *one = std::get_if<SizeProduct>(&single); one && llvm::is_contained(other.sizes, *one)) {
    SizeProduct all = *one;
    least.erase(dim);
    for (const SizeProduct &each : other.sizes)
      if (failed(introduce(op, dim, Found(all))) || failed(introduce(op, dim, Found(each))))
        return failure();
    return success();
  }
  Operation *from = smaller ? smaller->op : it->second.op;
  return emitError(from->getLoc(), "xt.linalg.")
         << Fault::Unsupported << factorName(from) << ": the dim '" << dim
         << "' of a result has the smaller size of " << bothDimsOf(from)
         << ", which only the call knows, and another array has a dim of this name. Name it "
            "otherwise: inner='other'";
}

LogicalResult Sizes::introduce(Operation *op, StringRef dim, Found size) {
  if (failed(size))
    return failure();
  llvm::sort(size->open);
  auto [it, isNew] = known.try_emplace(dim, *size);
  if (!isNew && !(it->second == *size))
    equalities.push_back({it->second, *size, dim.str(), nameOf(op).str(), placeOf(op->getLoc())});
  return success();
}

/// Whether the call sees to it that both sizes are equal: of lu if neither is known.
static bool isSquare(ComplexFactorOp factor) {
  Type type = factor.getA().getType();
  auto open = [&](StringRef dim) { return isDynamic(type, dim); };
  return factor.isSquare() || (factor.getKind() == ComplexFactorKind::lu &&
                               llvm::all_of(factor.getDims().getAsValueRange<StringAttr>(), open));
}

LogicalResult Sizes::visit(Operation *op) {
  if (auto rename = dyn_cast<RenameOp>(op)) {
    SmallVector<std::pair<StringRef, FoundSome>> found; // before any of them has its new name
    for (auto [from, to] : llvm::zip_equal(rename.getFrom().getAsValueRange<StringAttr>(),
                                           rename.getTo().getAsValueRange<StringAttr>()))
      if (isDynamic(rename.getX().getType(), from))
        found.push_back({to, some(op, rename.getX().getType(), from)});
    for (auto &[dim, size] : found)
      if (failed(introduce(op, dim, size)))
        return failure();
  } else if (auto merge = dyn_cast<MergeOp>(op)) {
    if (!isDynamic(merge.getY().getType(), merge.getInto()))
      return success();
    SizeProduct product;
    for (StringRef dim : merge.getDims().getAsValueRange<StringAttr>()) {
      Found size = ofDim(op, merge.getX().getType(), dim);
      if (failed(size))
        return failure();
      if (llvm::MulOverflow(product.factor, size->factor, product.factor))
        return op->emitError("the size of dim '")
               << Fault::Size << merge.getInto() << "' does not fit 64 bits";
      llvm::append_range(product.open, size->open);
    }
    return introduce(op, merge.getInto(), product);
  } else if (auto iota = dyn_cast<IotaOp>(op)) {
    if (!iota.getSize())
      return success();
    StringRef dim = cast<ArrayType>(iota.getY().getType()).getDimNames()[0].getValue();
    return introduce(op, dim, some(op, iota.getSize()));
  } else if (auto scan = dyn_cast<ScanOp>(op)) {
    if (scan.getSize())
      return introduce(op, scan.getDim(), some(op, scan.getSize()));
  } else if (auto factor = dyn_cast<ComplexFactorOp>(op); factor && isSquare(factor)) {
    StringRef row = cast<StringAttr>(factor.getDims()[0]).getValue();
    if (isDynamic(op->getOperand(0).getType(), row))
      return introduce(op, factor.getInner(), some(op, factor.getA().getType(), row));
  } else if (isa<ComplexFactorOp, QrOp, SvdOp>(op)) {
    Type x = op->getOperand(0).getType();
    SmallVector<StringRef> dims =
        llvm::to_vector(op->getAttrOfType<ArrayAttr>("dims").getAsValueRange<StringAttr>());
    if (isDynamic(x, dims[0]) || isDynamic(x, dims[1]))
      return introduce(op, op->getAttrOfType<StringAttr>("inner").getValue(),
                       smallest(op, {some(op, x, dims[0]), some(op, x, dims[1])}));
  } else if (auto eigh = dyn_cast<EighOp>(op)) {
    StringRef row = cast<StringAttr>(eigh.getDims()[0]).getValue();
    if (isDynamic(op->getOperand(0).getType(), row))
      return introduce(op, eigh.getInner(), some(op, op->getOperand(0).getType(), row));
  } else if (auto broadcast = dyn_cast<BroadcastOp>(op)) {
    auto have = cast<ArrayType>(broadcast.getX().getType());
    unsigned next = 0;
    for (StringAttr dim : dynamicDims(cast<ArrayType>(broadcast.getY().getType())))
      if (!have.hasDim(dim) &&
          failed(introduce(op, dim.getValue(), some(op, broadcast.getSizes()[next++]))))
        return failure();
  }
  return success();
}

//===- sizes that become fixed ---------------------------------------------===//

std::optional<int64_t> xtensor::valueOf(const SizeProduct &size,
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

/// What must not be empty and is not known not to be.
static LogicalResult dropNonempty(func::FuncOp main, const llvm::StringMap<int64_t> &values) {
  auto list = main->getAttrOfType<ArrayAttr>(kNonempty);
  SmallVector<Attribute> left;
  for (Attribute attribute : list ? list.getValue() : ArrayRef<Attribute>()) {
    auto entry = dyn_cast<DictionaryAttr>(attribute);
    auto dim = entry ? entry.getAs<StringAttr>("dim") : StringAttr();
    auto it = dim ? values.find(dim.getValue()) : values.end();
    if (it == values.end())
      left.push_back(attribute);
    else if (auto message = entry.getAs<StringAttr>("message"); message && it->second == 0)
      return emitError(main.getLoc(), message.getValue());
  }
  main->removeAttr(kNonempty);
  if (!left.empty())
    main->setAttr(kNonempty, ArrayAttr::get(main.getContext(), left));
  return success();
}

LogicalResult xtensor::fixSizes(ModuleOp module, const llvm::StringMap<int64_t> &given) {
  auto main = module.lookupSymbol<func::FuncOp>("main");
  FailureOr<Sizes> sizes = main ? Sizes::of(main) : FailureOr<Sizes>();
  if (failed(sizes))
    return failure();
  for (const SizeEquality &e : sizes->equalities) {
    std::optional<int64_t> left = valueOf(e.left, given), right = valueOf(e.right, given);
    if (!left || !right || *left == *right)
      continue;
    if (StringRef both = e.dim; both.consume_front("~square~ ")) {
      auto [row, column] = both.split("~ ");
      return main.emitError("the matrix must be square: dims '")
             << Fault::Size << row << "' and '" << column << "' have sizes " << *left << " and "
             << *right;
    }
    return main.emitError("dim '") << Fault::Size << e.dim << "' has sizes " << *left << " and "
                                   << *right << "; equal names have equal sizes";
  }
  llvm::StringMap<int64_t> values;
  for (const auto &entry : sizes->known)
    if (std::optional<int64_t> value = valueOf(entry.second, given))
      values[entry.first()] = *value;
  if (failed(dropNonempty(main, values)))
    return failure();
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

LogicalResult xtensor::noteSizes(ModuleOp module, const llvm::StringMap<int64_t> &given) {
  auto main = module.lookupSymbol<func::FuncOp>("main");
  FailureOr<Sizes> sizes = main ? Sizes::of(main) : FailureOr<Sizes>();
  if (failed(sizes))
    return failure();
  auto shapeOf = [&](ArrayType type) {
    SmallVector<int64_t> shape(type.getShape());
    for (auto [name, size] : llvm::zip_equal(type.getDimNames(), shape)) {
      auto it = sizes->known.find(name.getValue());
      if (size == ArrayType::kDynamic && it != sizes->known.end())
        size = valueOf(it->second, given).value_or(ArrayType::kDynamic);
    }
    return shape;
  };
  Builder b(module.getContext());
  for (auto [i, type] : llvm::enumerate(main.getArgumentTypes()))
    if (auto array = dyn_cast<ArrayType>(type))
      main.setArgAttr(i, kSizesAttr, b.getDenseI64ArrayAttr(shapeOf(array)));
  for (auto [i, type] : llvm::enumerate(main.getResultTypes()))
    if (auto array = dyn_cast<ArrayType>(type))
      main.setResultAttr(i, kSizesAttr, b.getDenseI64ArrayAttr(shapeOf(array)));
  return success();
}
