// Places of short sorted rows, such as the medians of short windows: a network of minima and maxima
// finds them in registers, for a vector of rows at a time. A routine that sorts one row after
// another takes a hundred times as long.
#include "Estimates.h"
#include "Network.h"
#include "ToLinalg/Lowering.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace xtensor;

namespace {

/// Puts the smaller one at `low`, and the larger one at `high`.
struct Comparator {
  unsigned low, high;
};

/// What reads one place of an order: the element there.
struct PlaceRead {
  unsigned place;
  GatherOp gather;
  Operation *slice, *squeeze;
};

} // namespace

/// Integers in the order of the floats, NaN last; integers as they are. The same function gives
/// the float back.
static Value keyOf(OpBuilder &b, Location loc, Value x) {
  auto real = dyn_cast<FloatType>(x.getType());
  unsigned bits = x.getType().getIntOrFloatBitWidth();
  Type word = b.getIntegerType(bits);
  auto constant = [&](APInt value) -> Value {
    return arith::ConstantOp::create(b, loc, b.getIntegerAttr(word, value));
  };
  Value key = real ? arith::BitcastOp::create(b, loc, word, x).getResult() : x;
  Value sign = arith::ShRSIOp::create(b, loc, key, constant(APInt(bits, bits - 1)));
  Value flips = arith::AndIOp::create(b, loc, sign, constant(APInt::getSignedMaxValue(bits)));
  key = arith::XOrIOp::create(b, loc, key, flips);
  if (!real)
    return key;
  Value isNan = arith::CmpFOp::create(b, loc, arith::CmpFPredicate::UNO, x, x);
  return arith::SelectOp::create(b, loc, isNan, constant(APInt::getSignedMaxValue(bits)), key);
}

/// The elements at `places` of the sorted `x`.
static SmallVector<Value> elementsAt(OpBuilder &b, Location loc, SmallVector<Value> x,
                                     ArrayRef<unsigned> places, bool isUnsigned) {
  Type type = x.front().getType();
  if (isa<FloatType>(type))
    for (Value &element : x)
      element = keyOf(b, loc, element);
  SmallVector<Comparator> network;
  forEachComparator(x.size(), [&](unsigned low, unsigned high) { network.push_back({low, high}); });
  // What leads to no place is left out, from the end on.
  SmallVector<bool> needed(x.size());
  for (unsigned place : places)
    needed[place] = true;
  SmallVector<std::pair<bool, bool>> kept(network.size());
  for (size_t i = network.size(); i-- > 0;) {
    auto [low, high] = network[i];
    kept[i] = {needed[low], needed[high]};
    needed[low] = needed[high] = needed[low] || needed[high];
  }
  for (auto [comparator, keeps] : llvm::zip_equal(network, kept)) {
    Value p = x[comparator.low], q = x[comparator.high];
    if (keeps.first)
      x[comparator.low] = isUnsigned ? arith::MinUIOp::create(b, loc, p, q).getResult()
                                     : arith::MinSIOp::create(b, loc, p, q).getResult();
    if (keeps.second)
      x[comparator.high] = isUnsigned ? arith::MaxUIOp::create(b, loc, p, q).getResult()
                                      : arith::MaxSIOp::create(b, loc, p, q).getResult();
  }
  return llvm::map_to_vector(places, [&](unsigned place) {
    Value found = x[place];
    return isa<FloatType>(type)
               ? arith::BitcastOp::create(b, loc, type, keyOf(b, loc, found)).getResult()
               : found;
  });
}

/// What reads the order, if it is elements of the sorted array at places that are known.
static std::optional<SmallVector<PlaceRead>> placesRead(ArgsortOp op) {
  SmallVector<PlaceRead> reads;
  for (Operation *user : op->getUsers()) {
    auto slice = dyn_cast<SliceOp>(user);
    if (!slice || slice.getDims().size() != 1 || slice.getDims()[0] != op.getDimAttr() ||
        slice.getSizes()[0] != 1)
      return std::nullopt;
    for (Operation *next : slice->getUsers()) {
      auto squeeze = dyn_cast<SqueezeOp>(next);
      if (!squeeze || squeeze.getDims().size() != 1)
        return std::nullopt;
      for (Operation *last : squeeze->getUsers()) {
        auto gather = dyn_cast<GatherOp>(last);
        if (!gather || gather.getSource() != op.getX() || gather.getIndices().size() != 1 ||
            gather.getIndices()[0] != squeeze.getResult() ||
            gather.getAlong()[0] != op.getDimAttr() || gather->getBlock() != op->getBlock())
          return std::nullopt;
        reads.push_back({unsigned(slice.getOffsets()[0]), gather, slice, squeeze});
      }
    }
  }
  return reads;
}

bool xtensor::lowerSmallSort(ArgsortOp op, Lowering &to) {
  ArrayType from = arrayType(op.getX());
  int64_t size = from.getSize(op.getDimAttr());
  Type element = from.getElementType();
  View rows = to.view(op.getX());
  if (ShapedType::isDynamic(size) || size < 2 || size > kShortSort || op.getDescending() ||
      element.isInteger(1) || rows.kind != View::Tensor)
    return false;
  auto reads = placesRead(op);
  if (!reads || reads->empty())
    return false;
  ArrayType type = arrayType(reads->front().gather.getY());
  if (Amount::ofSizes(type.getShape()) < kLeastShortSorts)
    return false;

  SmallVector<View> elements;
  for (int64_t i = 0; i < size; ++i) {
    SmallVector<AffineExpr> exprs;
    for (StringAttr dim : from.getDimNames())
      exprs.push_back(dim == op.getDimAttr() ? to.b.getAffineConstantExpr(i)
                                             : to.b.getAffineDimExpr(type.find(dim)));
    View view = rows.at(AffineMap::get(type.getRank(), 0, exprs, op.getContext()));
    view.source = cutOff(view, rows.map, type, to);
    elements.push_back(view);
  }
  SmallVector<unsigned> places;
  for (const PlaceRead &read : *reads)
    if (!llvm::is_contained(places, read.place))
      places.push_back(read.place);
  SmallVector<Value> inits;
  for (size_t i = 0; i < places.size(); ++i)
    inits.push_back(to.empty(type));
  SmallVector<AffineMap> maps(places.size(), to.b.getMultiDimIdentityMap(type.getRank()));
  SmallVector<Value> found = to.generic(
      elements, inits, maps, /*reductions=*/0,
      [&](OpBuilder &b, Location loc, ValueRange x, ValueRange) {
        auto loaded =
            llvm::map_to_vector(x, [&](Value stored) { return load(b, loc, stored, element); });
        SmallVector<Value> results = elementsAt(b, loc, loaded, places, isUnsigned(element));
        for (Value &result : results)
          result = store(b, loc, result, element);
        return results;
      });
  for (PlaceRead &read : *reads) {
    to.setTensor(read.gather.getY(), found[llvm::find(places, read.place) - places.begin()]);
    to.lowered.insert(read.gather);
    to.lowered.insert(read.slice);
    to.lowered.insert(read.squeeze);
  }
  return true;
}
