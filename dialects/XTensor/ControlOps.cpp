// Verifiers of the ops with regions, and what the passes ask of them.
#include "XTensor/Fault.h"
#include "XTensor/TypeInference.h"

using namespace mlir;
using namespace xtensor;

//===- regions -------------------------------------------------------------===//

/// Every region ends in a yield and takes `arguments`.
static LogicalResult checkRegion(Operation *op, StringRef what, Region &region,
                                 TypeRange arguments) {
  Block &body = region.front();
  if (failed(checkBody(op, what, body)))
    return failure();
  if (TypeRange(body.getArgumentTypes()) != arguments)
    return op->emitOpError() << what << " takes (" << body.getArgumentTypes() << "), expected ("
                             << arguments << ")";
  return success();
}

static OperandRange yielded(Region &region) { return region.front().back().getOperands(); }

static LogicalResult checkYields(Operation *op, StringRef what, Region &region,
                                 TypeRange expected) {
  TypeRange types = yielded(region).getTypes();
  if (types.size() != expected.size())
    return op->emitOpError() << what << " yields " << types.size() << " values, expected "
                             << expected.size();
  for (unsigned i = 0; i < types.size(); ++i)
    if (types[i] != expected[i])
      return op->emitOpError() << what << " yields " << types[i] << " as value " << i
                               << ", expected " << expected[i];
  return success();
}

static SmallVector<Type> floatTypes(TypeRange types) {
  return llvm::filter_to_vector(types, [](Type t) { return cast<ArrayType>(t).isFloat(); });
}

static SmallVector<Type> joined(TypeRange a, TypeRange b) {
  SmallVector<Type> all(a);
  llvm::append_range(all, b);
  return all;
}

//===- switch, while -------------------------------------------------------===//

LogicalResult SwitchOp::verify() {
  if (getBranches().empty())
    return emitOpError("has no region to choose from");
  for (auto [i, region] : llvm::enumerate(getBranches())) {
    std::string what = "region " + std::to_string(i);
    if (failed(checkRegion(*this, what, region, {})) ||
        failed(checkYields(*this, what, region, getResultTypes())))
      return failure();
  }
  return success();
}

LogicalResult WhileOp::verify() {
  TypeRange carries = getInit().getTypes();
  if (failed(checkRegion(*this, "the condition", getCondRegion(), carries)) ||
      failed(checkRegion(*this, "the body", getBodyRegion(), carries)))
    return failure();
  OperandRange more = getCondYield().getValues();
  auto flag = more.size() == 1 ? arrayType(more.front()) : ArrayType();
  if (!flag || !flag.isBool() || flag.getRank())
    return emitOpError() << Fault::Dimension << "the condition yields (" << more.getTypes()
                         << "), expected one bool without dims";
  if (getResultTypes() != carries)
    return emitOpError() << "the results are (" << getResultTypes() << "), the carries (" << carries
                         << ")";
  return checkYields(*this, "the body", getBodyRegion(), carries);
}

YieldOp WhileOp::getCondYield() { return cast<YieldOp>(getCondRegion().front().back()); }
YieldOp WhileOp::getBodyYield() { return cast<YieldOp>(getBodyRegion().front().back()); }

SmallVector<Region *> WhileOp::getLoopRegions() { return {&getCondRegion(), &getBodyRegion()}; }

//===- scan ----------------------------------------------------------------===//

int64_t ScanOp::getSteps() {
  if (!getOver().empty())
    return arrayType(getOver().front()).getSize(getDimAttr());
  return getLength() ? static_cast<int64_t>(*getLength()) : ArrayType::kDynamic;
}

Value ScanOp::getStepsValue(OpBuilder &b) {
  if (getSize())
    return getSize();
  int64_t steps = getSteps();
  if (steps != ArrayType::kDynamic)
    return scalar(b, getLoc(), b.getI64Type(), static_cast<double>(steps));
  Value over = getOver().front();
  for (auto [name, size] : llvm::zip(dynamicDims(arrayType(over)), sizesOf(b, getLoc(), over)))
    if (name == getDimAttr())
      return size;
  llvm_unreachable("a dim of unknown size is a dynamic one");
}

YieldOp ScanOp::getYield() { return cast<YieldOp>(getBody()->back()); }

OperandRange ScanOp::getYieldedCarries() {
  return getYield().getValues().take_front(getNumCarries());
}

OperandRange ScanOp::getYieldedStacked() {
  return getYield().getValues().drop_front(getNumCarries());
}

SmallVector<Region *> ScanOp::getLoopRegions() { return {&getBodyRegion()}; }

LogicalResult ScanOp::verify() {
  StringAttr dim = getDimAttr();
  bool given = getLength() || getSize();
  if (getOver().empty() ? !getLength() == !getSize() : given)
    return emitOpError(getOver().empty()
                           ? "has no array to scan over: give either `length` or `size`"
                           : "takes its length from the arrays it scans over: give neither "
                             "`length` nor `size`");
  SmallVector<Type> arguments(getCarry().getTypes());
  for (Value x : getOver()) {
    ArrayType type = arrayType(x);
    if (!type.hasDim(dim))
      return emitOpError() << "scans along " << dim << ", which an array it scans over lacks; it "
                           << "has (" << describeDims(type) << ")";
    if (type.getSize(dim) != getSteps())
      return emitOpError() << Fault::Size << "scans along " << dim << ", whose sizes differ: ("
                           << describeDims(arrayType(getOver().front())) << ") and ("
                           << describeDims(type) << ")";
    arguments.push_back(minus(type, dim));
  }
  if (failed(checkRegion(*this, "the body", getBodyRegion(), arguments)))
    return failure();
  TypeRange yields = getYield().getOperandTypes();
  TypeRange carries = getCarry().getTypes();
  if (yields.size() < carries.size())
    return emitOpError() << "the body yields " << yields.size() << " values, the carries are "
                         << carries.size();
  SmallVector<Type> expected(carries);
  SmallVector<Type> results(carries);
  for (Type type : yields.drop_front(carries.size())) {
    auto array = cast<ArrayType>(type);
    if (array.hasDim(dim))
      return emitOpError() << "stacks along " << dim << ", which the body yields already in ("
                           << describeDims(array) << ")";
    expected.push_back(type);
    results.push_back(withLeading(array, dim, getSteps()));
  }
  if (failed(checkYields(*this, "the body", getBodyRegion(), expected)))
    return failure();
  if (getResultTypes() != TypeRange(results))
    return emitOpError() << "the results are (" << getResultTypes() << "), expected (" << results
                         << ")";
  return success();
}

//===- checkpoint, custom_derivative ---------------------------------------===//

LogicalResult CheckpointOp::verify() {
  if (failed(checkRegion(*this, "the region", getBodyRegion(), {})))
    return failure();
  return checkYields(*this, "the region", getBodyRegion(), getResultTypes());
}

LogicalResult CustomDerivativeOp::verify() {
  TypeRange args = getArgs().getTypes();
  TypeRange results = getResultTypes();
  if (failed(checkRegion(*this, "the primal", getPrimal(), args)) ||
      failed(checkYields(*this, "the primal", getPrimal(), results)))
    return failure();
  if (getForward().empty() != getBackward().empty())
    return emitOpError("has a forward without a backward, or the reverse");
  if (!hasPushforward() && !hasPullback())
    return emitOpError("has neither a pushforward nor a forward and a backward");
  SmallVector<Type> tangents = floatTypes(args);
  SmallVector<Type> moved = floatTypes(results);
  if (hasPushforward() &&
      (failed(checkRegion(*this, "the pushforward", getPushforward(), joined(args, tangents))) ||
       failed(checkYields(*this, "the pushforward", getPushforward(), joined(results, moved)))))
    return failure();
  if (!hasPullback())
    return success();
  if (failed(checkRegion(*this, "the forward", getForward(), args)))
    return failure();
  TypeRange kept = yielded(getForward()).getTypes();
  if (kept.size() < results.size() || kept.take_front(results.size()) != results)
    return emitOpError() << "the forward yields (" << kept << "), expected the results (" << results
                         << ") and then residuals";
  if (failed(checkRegion(*this, "the backward", getBackward(),
                         joined(kept.drop_front(results.size()), moved))))
    return failure();
  return checkYields(*this, "the backward", getBackward(), tangents);
}

//===- vectorize -----------------------------------------------------------===//

/// A name from `names` in `type`, or in what a handle of that type maps. `dims`: those of the
/// array.
static Attribute anyOf(ArrayRef<Attribute> names, Type type, std::string *dims = nullptr) {
  Attribute found;
  type.walk([&](ArrayType array) {
    for (Attribute name : names)
      if (array.hasDim(name)) {
        found = name;
        if (dims)
          *dims = describeDims(array);
      }
  });
  return found;
}

/// The error stands where the dim is used, which is the line to change.
static LogicalResult checkUnused(VectorizeOp op, ArrayRef<Attribute> names) {
  auto report = [&](Operation *user, Attribute name, Twine what, StringRef instead) {
    InFlightDiagnostic error = user->emitOpError()
                               << Fault::Dimension << what << " dim " << name << instead;
    error.attachNote(op.getLoc()) << "vectorized over it here";
    return WalkResult::interrupt();
  };
  StringRef rename =
      ", which is batched here and cannot be used inside, too: rename one of the two";
  WalkResult walked = op.getBodyRegion().walk([&](Operation *inner) {
    std::string dims;
    for (Value operand : inner->getOperands())
      if (Attribute name = anyOf(names, operand.getType(), &dims);
          name && !op.getBodyRegion().isAncestor(operand.getParentRegion()))
        return report(inner, name, "takes an array (" + dims + ") from outside that has",
                      ", which is batched here: pass the array to the vectorized function as an "
                      "argument, or rename its dim before, outside of the function");
    for (Type type : inner->getResultTypes())
      if (Attribute name = anyOf(names, type))
        return report(inner, name, "makes an array with", rename);
    for (Region &region : inner->getRegions())
      for (Type type : region.getArgumentTypes())
        if (Attribute name = anyOf(names, type))
          return report(inner, name, "works on an array with", rename);
    return WalkResult::advance();
  });
  return failure(walked.wasInterrupted());
}

LogicalResult VectorizeOp::verify() {
  ArrayRef<Attribute> names = getNames().getValue();
  if (names.empty())
    return emitOpError("names no dim") << Fault::Dimension;
  SmallVector<int64_t> sizes;
  for (auto [i, name] : llvm::enumerate(names)) {
    if (llvm::is_contained(names.take_front(i), name))
      return emitOpError() << Fault::Dimension << "names dim " << name << " twice";
    ArrayType first;
    for (Value arg : getArgs()) {
      ArrayType type = arrayType(arg);
      if (!type.hasDim(name))
        continue;
      if (first && first.getSize(name) != type.getSize(name))
        return emitOpError() << Fault::Dimension << "dim " << name << " has two sizes: ("
                             << describeDims(first) << ") and (" << describeDims(type) << ")";
      first = type;
    }
    if (!first)
      return emitOpError() << Fault::Dimension << "no argument has dim " << name;
    sizes.push_back(first.getSize(name));
  }
  SmallVector<Type> instance;
  for (Value arg : getArgs())
    instance.push_back(minus(arrayType(arg), names));
  if (failed(checkRegion(*this, "the body", getBodyRegion(), instance)) ||
      failed(checkUnused(*this, names)))
    return failure();
  SmallVector<Type> results;
  for (Type type : yielded(getBodyRegion()).getTypes()) {
    auto batched = cast<ArrayType>(type);
    for (auto [name, size] : llvm::reverse(llvm::zip_equal(names, sizes)))
      batched = withLeading(batched, cast<StringAttr>(name), size);
    results.push_back(batched);
  }
  if (getResultTypes() != TypeRange(results))
    return emitOpError() << "the results are (" << getResultTypes() << "), expected (" << results
                         << ")";
  return success();
}
