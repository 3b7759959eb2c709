#include "XTensor/Dims.h"

#include "mlir/IR/Matchers.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace xtensor;

//===- types ---------------------------------------------------------------===//

std::string xtensor::describeDims(ArrayType type) {
  if (type.getRank() == 0)
    return "no dims";
  std::string text;
  llvm::raw_string_ostream os(text);
  llvm::interleaveComma(llvm::zip_equal(type.getDimNames(), type.getShape()), os, [&](auto dim) {
    auto [name, size] = dim;
    os << name.getValue() << ": ";
    if (size == ArrayType::kDynamic)
      os << '?';
    else
      os << size;
  });
  return text;
}

ArrayType xtensor::unionOf(ArrayRef<ArrayType> types, Type element, StringAttr *conflict) {
  SmallVector<StringAttr> names;
  SmallVector<int64_t> shape;
  for (ArrayType type : types)
    for (auto [name, size] : llvm::zip_equal(type.getDimNames(), type.getShape())) {
      auto it = llvm::find(names, name);
      if (it == names.end()) {
        names.push_back(name);
        shape.push_back(size);
        continue;
      }
      if (shape[it - names.begin()] != size) {
        if (conflict)
          *conflict = name;
        return {};
      }
    }
  return ArrayType::get(element.getContext(), names, shape, element);
}

static ArrayType filtered(ArrayType type, llvm::function_ref<bool(StringAttr)> keep) {
  SmallVector<StringAttr> names;
  SmallVector<int64_t> shape;
  for (auto [name, size] : llvm::zip_equal(type.getDimNames(), type.getShape()))
    if (keep(name)) {
      names.push_back(name);
      shape.push_back(size);
    }
  return ArrayType::get(type.getContext(), names, shape, type.getElementType());
}

ArrayType xtensor::minus(ArrayType type, ArrayRef<Attribute> dims) {
  return filtered(type, [&](StringAttr name) { return !llvm::is_contained(dims, name); });
}

ArrayType xtensor::reordered(ArrayType type, ArrayRef<StringAttr> dims) {
  auto shape = llvm::map_to_vector(dims, [&](StringAttr dim) { return type.getSize(dim); });
  return ArrayType::get(type.getContext(), dims, shape, type.getElementType());
}

ArrayType xtensor::reordered(ArrayType type, ArrayRef<Attribute> dims) {
  auto names = llvm::map_to_vector(dims, [](Attribute dim) { return cast<StringAttr>(dim); });
  return reordered(type, names);
}

std::optional<unsigned> xtensor::findNeighbours(ArrayRef<StringAttr> order,
                                                ArrayRef<Attribute> dims) {
  const auto *first = std::search(order.begin(), order.end(), dims.begin(), dims.end());
  if (first == order.end())
    return std::nullopt;
  return first - order.begin();
}

ArrayType xtensor::withShape(ArrayType type, ArrayRef<int64_t> shape) {
  return ArrayType::get(type.getContext(), type.getDimNames(), shape, type.getElementType());
}

ArrayType xtensor::withSize(ArrayType type, Attribute dim, int64_t size) {
  SmallVector<int64_t> shape(type.getShape());
  shape[type.find(dim)] = size;
  return withShape(type, shape);
}

ArrayType xtensor::withLeading(ArrayType type, StringAttr name, int64_t size) {
  SmallVector<StringAttr> names{name};
  SmallVector<int64_t> shape{size};
  llvm::append_range(names, type.getDimNames());
  llvm::append_range(shape, type.getShape());
  return ArrayType::get(type.getContext(), names, shape, type.getElementType());
}

SmallVector<Attribute> xtensor::lacking(ArrayType a, ArrayType b) {
  SmallVector<Attribute> dims;
  for (StringAttr name : a.getDimNames())
    if (!b.hasDim(name))
      dims.push_back(name);
  return dims;
}

SmallVector<StringAttr> xtensor::dynamicDims(ArrayType type) {
  SmallVector<StringAttr> dims;
  for (auto [name, size] : llvm::zip_equal(type.getDimNames(), type.getShape()))
    if (size == ArrayType::kDynamic)
      dims.push_back(name);
  return dims;
}

SmallVector<Attribute> xtensor::dimsOf(ArrayType type) {
  return SmallVector<Attribute>(type.getDimNames().begin(), type.getDimNames().end());
}

StringAttr xtensor::freshName(StringAttr base, ArrayRef<ArrayType> types) {
  for (unsigned i = 0;; ++i) {
    auto name = StringAttr::get(base.getContext(), base.getValue() + "~" + Twine(i));
    if (llvm::none_of(types, [&](ArrayType t) { return t.hasDim(name); }))
      return name;
  }
}

//===- values --------------------------------------------------------------===//

Value xtensor::scalar(OpBuilder &b, Location loc, Type element, double value) {
  TypedAttr number;
  if (isa<FloatType>(element)) {
    number = b.getFloatAttr(element, value);
  } else {
    number = IntegerAttr::get(element, APInt(element.getIntOrFloatBitWidth(),
                                             static_cast<int64_t>(value), /*isSigned=*/true,
                                             /*implicitTrunc=*/true));
  }
  auto dense =
      DenseElementsAttr::get(RankedTensorType::get({}, element), ArrayRef<Attribute>(number));
  return ConstantOp::create(b, loc, ArrayType::get(b.getContext(), {}, {}, element), dense);
}

Value xtensor::zeros(OpBuilder &b, Location loc, ArrayType type, ValueRange sizes) {
  return conform(b, loc, scalar(b, loc, type.getElementType(), 0), type, sizes);
}

Value xtensor::conform(OpBuilder &b, Location loc, Value v, ArrayType type, ValueRange sizes) {
  SmallVector<Attribute> extra = lacking(arrayType(v), type);
  if (!extra.empty())
    v = ReduceOp::create(b, loc, ReduceKind::sum, v, b.getArrayAttr(extra));
  if (v.getType() == type)
    return v;
  SmallVector<Value> needed;
  for (auto [name, size] : llvm::zip(dynamicDims(type), sizes))
    if (!arrayType(v).hasDim(name))
      needed.push_back(size);
  return BroadcastOp::create(b, loc, type, v, needed);
}

/// What a body's argument is, or is a part of: an operand of the op around it.
static Value sourceOf(BlockArgument arg) {
  Operation *parent = arg.getOwner()->getParentOp();
  if (isa_and_nonnull<PullbackOp, PushforwardOp, ScanOp, WhileOp>(parent))
    return parent->getOperand(arg.getArgNumber());
  return {};
}

/// Inside a function a name has one size, so any value that has the dim will do: go up as
/// long as an operand has it, to keep derivative code from holding on to intermediates.
static Value sizeOf(OpBuilder &b, Location loc, Value v, StringAttr dim) {
  while (true) {
    if (auto arg = dyn_cast<BlockArgument>(v)) {
      Value source = sourceOf(arg);
      if (!source || !arrayType(source).hasDim(dim))
        break;
      v = source;
      continue;
    }
    Operation *op = v.getDefiningOp();
    if (auto scan = dyn_cast<ScanOp>(op)) { // a carry keeps its dims
      unsigned i = cast<OpResult>(v).getResultNumber();
      if (i >= scan.getNumCarries() || !arrayType(scan.getCarry()[i]).hasDim(dim))
        break;
      v = scan.getCarry()[i];
      continue;
    }
    if (auto rename = dyn_cast<RenameOp>(op)) {
      for (auto [from, to] : llvm::zip_equal(rename.getFrom(), rename.getTo()))
        if (to == dim) {
          dim = cast<StringAttr>(from);
          break;
        }
      v = rename.getX();
      continue;
    }
    if (auto broadcast = dyn_cast<BroadcastOp>(op);
        broadcast && !arrayType(broadcast.getX()).hasDim(dim)) {
      unsigned i = 0;
      for (StringAttr name : dynamicDims(arrayType(v)))
        if (name == dim)
          return broadcast.getSizes()[i];
        else if (!arrayType(broadcast.getX()).hasDim(name))
          ++i;
    }
    if (auto sized = dyn_cast<SizedOp>(op))
      for (auto [name, size] : llvm::zip(dynamicDims(arrayType(v)), sized.getSizes()))
        if (name == dim)
          return size;
    if (auto iota = dyn_cast<IotaOp>(op); iota && iota.getSize())
      return iota.getSize();
    Value next;
    for (Value operand : op->getOperands())
      if (auto type = dyn_cast<ArrayType>(operand.getType()); type && type.hasDim(dim)) {
        next = operand;
        break;
      }
    // A derivative op's results say nothing about which operand a dim came from.
    if (!next || op->getNumRegions() || isa<ApplyOp>(op))
      break;
    v = next;
  }
  ArrayType type = arrayType(v);
  if (!type.isDynamic(dim))
    return scalar(b, loc, b.getI64Type(), static_cast<double>(type.getSize(dim)));
  return SizeOp::create(b, loc, v, dim);
}

SmallVector<Value> xtensor::sizesOf(OpBuilder &b, Location loc, Value v) {
  return llvm::map_to_vector(dynamicDims(arrayType(v)),
                             [&](StringAttr dim) { return sizeOf(b, loc, v, dim); });
}

static DenseElementsAttr splatOf(Value v) {
  while (auto broadcast = v.getDefiningOp<BroadcastOp>())
    v = broadcast.getX();
  DenseElementsAttr value;
  if (matchPattern(v, m_Constant(&value)) && value.isSplat())
    return value;
  return {};
}

bool xtensor::isSplat(Value v, double value) {
  DenseElementsAttr splat = splatOf(v);
  if (!splat)
    return false;
  if (isa<FloatType>(splat.getElementType())) {
    APFloat known = splat.getSplatValue<APFloat>();
    bool inexact;
    known.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven, &inexact);
    return known.convertToDouble() == value;
  }
  APInt known = splat.getSplatValue<APInt>();
  return known.getSignificantBits() <= 53 && static_cast<double>(known.getSExtValue()) == value;
}

bool xtensor::isPositiveSplat(Value v) {
  DenseElementsAttr splat = splatOf(v);
  if (!splat || !isa<FloatType>(splat.getElementType()))
    return false;
  APFloat value = splat.getSplatValue<APFloat>();
  return value.isFinite() && !value.isNegative();
}

bool xtensor::isNegativeZero(Value v) {
  DenseElementsAttr splat = splatOf(v);
  return splat && isa<FloatType>(splat.getElementType()) &&
         splat.getSplatValue<APFloat>().isNegZero();
}

bool xtensor::isPositiveZero(Value v) { return isSplat(v, 0) && !isNegativeZero(v); }
