#include "XTensor/TypeInference.h"

#include "XTensor/Fault.h"
#include "llvm/ADT/SmallPtrSet.h"

using namespace mlir;
using namespace xtensor;

static SmallVector<ArrayType> arrayTypes(ValueRange values) {
  return llvm::map_to_vector(values, [](Value v) { return dyn_cast<ArrayType>(v.getType()); });
}

FailureOr<ArrayType> xtensor::inferUnion(StringRef op, MaybeLoc loc, ArrayRef<ArrayType> types,
                                         Type element) {
  if (llvm::is_contained(types, ArrayType()))
    return emitOptionalError(loc, op, ": operands must be arrays");
  StringAttr conflict;
  if (ArrayType all = unionOf(types, element, &conflict))
    return all;
  std::string sizes;
  for (ArrayType type : types)
    if (type.hasDim(conflict))
      sizes += (sizes.empty() ? "" : " and ") +
               (type.isDynamic(conflict) ? "?" : std::to_string(type.getSize(conflict)));
  std::string operands;
  for (ArrayType type : types)
    operands += (operands.empty() ? "(" : ", (") + describeDims(type) + ")";
  return emitOptionalError(loc, Fault::Size, op, ": dim ", conflict, " has sizes ", sizes,
                           "; equal names must have equal sizes; operands: ", operands);
}

LogicalResult xtensor::inferElementwise(StringRef op, MaybeLoc loc, ValueRange operands,
                                        Types &types) {
  SmallVector<ArrayType> arrays = arrayTypes(operands);
  for (ArrayType type : arrays)
    if (type && arrays.front() && type.getElementType() != arrays.front().getElementType())
      return emitOptionalError(loc, Fault::DType, op,
                               ": element types differ: ", arrays.front().getElementType(), " and ",
                               type.getElementType());
  auto all = inferUnion(op, loc, arrays, arrays.front() ? arrays.front().getElementType() : Type());
  if (failed(all))
    return failure();
  types.push_back(*all);
  return success();
}

LogicalResult xtensor::inferTest(StringRef op, MaybeLoc loc, ValueRange operands, Types &types) {
  if (failed(inferElementwise(op, loc, operands, types)))
    return failure();
  auto type = cast<ArrayType>(types.back());
  types.back() = type.withElement(IntegerType::get(type.getContext(), 1));
  return success();
}

LogicalResult xtensor::checkDims(StringRef op, MaybeLoc loc, ArrayType type,
                                 ArrayRef<Attribute> dims) {
  llvm::SmallPtrSet<Attribute, 4> seen;
  for (Attribute dim : dims) {
    if (!type.hasDim(dim))
      return emitOptionalError(loc, Fault::Dimension, op, ": no dim ", dim, "; the array has (",
                               describeDims(type), ")");
    if (!seen.insert(dim).second)
      return emitOptionalError(loc, Fault::Dimension, op, ": dim ", dim, " is named twice");
  }
  return success();
}

FailureOr<ArrayType> xtensor::inferGather(StringRef op, MaybeLoc loc, ArrayType source,
                                          ValueRange indices, ArrayRef<Attribute> along,
                                          bool raises) {
  if (!source)
    return emitOptionalError(loc, op, ": operands must be arrays");
  if (indices.empty() || indices.size() != along.size())
    return emitOptionalError(loc, Fault::Dimension, op, ": expected one index array per dim, got ",
                             indices.size(), " for ", along.size(), " dims");
  if (failed(checkDims(op, loc, source, along)))
    return failure();
  SmallVector<ArrayType> types = arrayTypes(indices);
  Type element = source.getElementType();
  auto index = inferUnion(op, loc, types, element);
  if (failed(index))
    return failure();
  ArrayType kept = minus(source, along);
  if (failed(inferUnion(op, loc, {kept, *index}, element)))
    return failure();

  SmallVector<StringAttr> names;
  SmallVector<int64_t> shape;
  auto add = [&](ArrayType type, StringAttr name) {
    names.push_back(name);
    shape.push_back(type.getSize(name));
  };
  bool placed = false;
  for (StringAttr name : source.getDimNames()) {
    if (kept.hasDim(name)) {
      add(kept, name);
      continue;
    }
    if (std::exchange(placed, true))
      continue;
    for (StringAttr fresh : index->getDimNames())
      if (!kept.hasDim(fresh))
        add(*index, fresh);
  }
  auto type = ArrayType::get(source.getContext(), names, shape, element);
  // A size that is not known may be 0, too.
  bool reads = llvm::all_of(type.getShape(), [](int64_t size) { return size > 0; });
  for (Attribute dim : along)
    if (raises && source.getSize(dim) == 0 && reads)
      return emitOptionalError(loc, Fault::Index, op, ": dim ", dim,
                               " has size 0: there is nothing to read");
  return type;
}

LogicalResult xtensor::checkBody(Operation *op, StringRef what, Block &body) {
  if (body.empty() || !isa<YieldOp>(body.back()))
    return op->emitOpError() << what << " must end with xtensor.yield";
  WalkResult walked = body.walk([&](Operation *inner) {
    return WalkResult(success(!llvm::is_contained(inner->getOperands(), Value())));
  });
  if (walked.wasInterrupted())
    return op->emitOpError() << what << " has an op that lacks an operand";
  return success();
}
