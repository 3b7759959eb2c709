// Contractions of any number of arrays become contractions of two (see Passes.td).
#include "Estimates.h"
#include "ToLinalg/Passes.h"
#include "XTensor/Dims.h"

namespace xtensor {
#define GEN_PASS_DEF_DECOMPOSECONTRACT
#include "ToLinalg/Passes.h.inc"
} // namespace xtensor

using namespace mlir;
using namespace xtensor;

namespace {

/// Replaces one contract.
class Decomposition {
public:
  explicit Decomposition(ContractOp op)
      : op(op), b(op), loc(op.getLoc()), type(arrayType(op.getY())), arrays(op.getInputs()),
        over(op.getOver().begin(), op.getOver().end()) {}

  Value run() {
    takeNumbers();
    bool isProduct = arrays.size() > 1;
    for (Value &array : arrays)
      array = sumOwnDims(array);
    while (arrays.size() > 2)
      contractSmallest();
    // Whether something is multiplied by what was summed already.
    bool sumsBefore = isProduct && over.size() < op.getOver().size();
    Value result = arrays[0];
    if (arrays.size() == 2)
      result = contractPair(arrays[0], arrays[1], over, b.getArrayAttr(dimsOf(type)));
    if (arrayType(result) != type)
      result = BroadcastOp::create(b, loc, type, result, ValueRange());
    if (sumsBefore)
      result = zeroIfEmpty(result);
    return factor ? MulOp::create(b, loc, result, zeroIfEmpty(factor)) : result;
  }

private:
  static Amount sizeOf(ArrayType type) { return Amount::ofSizes(type.getShape()); }

  /// Numbers without dims multiply the result or an operand, whichever is smallest.
  void takeNumbers() {
    SmallVector<Value> numbers, rest;
    for (Value array : arrays)
      (arrayType(array).getRank() ? rest : numbers).push_back(array);
    if (rest.empty() || numbers.empty())
      return;
    arrays = rest;
    Value *smallest = &arrays.front();
    for (Value &array : arrays)
      if (sizeOf(arrayType(array)) < sizeOf(arrayType(*smallest)))
        smallest = &array;
    Value product = numbers.front();
    for (Value number : llvm::drop_begin(numbers))
      product = MulOp::create(b, loc, product, number);
    if (sizeOf(type) <= sizeOf(arrayType(*smallest)))
      factor = product;
    else
      *smallest = MulOp::create(b, loc, *smallest, product);
  }

  /// `value`, or zeros if a summed dim has size 0: a sum of nothing is 0, but 0 times an infinity
  /// or NaN is not.
  Value zeroIfEmpty(Value value) {
    if (!type.isFloat())
      return value;
    ArrayType all = unionOf(llvm::map_to_vector(op.getInputs(), arrayType), type.getElementType());
    Value least; // of the sizes that are not known
    for (Attribute dim : op.getOver()) {
      if (!all.isDynamic(dim)) {
        if (all.getSize(dim) == 0)
          return zeros(b, loc, arrayType(value), sizesOf(b, loc, value));
        continue;
      }
      Value whole =
          *llvm::find_if(op.getInputs(), [&](Value input) { return arrayType(input).hasDim(dim); });
      Value size = SizeOp::create(b, loc, whole, cast<StringAttr>(dim));
      least = least ? MinimumOp::create(b, loc, least, size).getResult() : size;
    }
    if (!least)
      return value;
    Value isEmpty =
        CompareOp::create(b, loc, ComparePredicate::eq, least, scalar(b, loc, b.getI64Type(), 0));
    return SelectOp::create(b, loc, isEmpty, scalar(b, loc, type.getElementType(), 0), value);
  }

  Value sumOwnDims(Value array) {
    SmallVector<Attribute> own;
    for (Attribute dim : over)
      if (arrayType(array).hasDim(dim) &&
          llvm::none_of(
              arrays,
              [&](Value other) { return other != array && arrayType(other).hasDim(dim); }) &&
          llvm::count(arrays, array) == 1)
        own.push_back(dim);
    if (own.empty())
      return array;
    llvm::erase_if(over, [&](Attribute dim) { return llvm::is_contained(own, dim); });
    return ReduceOp::create(b, loc, ReduceKind::sum, array, b.getArrayAttr(own));
  }

  /// The dims that nothing but `x` and `y` still needs.
  SmallVector<Attribute> contractible(unsigned x, unsigned y) {
    SmallVector<Attribute> dims;
    for (Attribute dim : over) {
      bool elsewhere = false;
      for (auto [i, array] : llvm::enumerate(arrays))
        elsewhere |= i != x && i != y && arrayType(array).hasDim(dim);
      if (!elsewhere && (arrayType(arrays[x]).hasDim(dim) || arrayType(arrays[y]).hasDim(dim)))
        dims.push_back(dim);
    }
    return dims;
  }

  void contractSmallest() {
    std::optional<std::tuple<Amount, Amount, unsigned, unsigned>> best;
    for (unsigned x = 0; x < arrays.size(); ++x)
      for (unsigned y = x + 1; y < arrays.size(); ++y) {
        ArrayType pair[] = {arrayType(arrays[x]), arrayType(arrays[y])};
        ArrayType all = unionOf(pair, type.getElementType());
        std::tuple found(sizeOf(minus(all, contractible(x, y))), sizeOf(all), x, y);
        best = best ? std::min(*best, found) : found;
      }
    auto [size, work, x, y] = *best;
    SmallVector<Attribute> dims = contractible(x, y);
    Value product = contractPair(arrays[x], arrays[y], dims, /*order=*/{});
    arrays[x] = product;
    arrays.erase(arrays.begin() + y);
  }

  Value contractPair(Value x, Value y, SmallVector<Attribute> dims, ArrayAttr order) {
    if (dims.empty())
      return MulOp::create(b, loc, x, y);
    llvm::erase_if(over, [&](Attribute dim) { return llvm::is_contained(dims, dim); });
    return ContractOp::create(b, loc, ValueRange{x, y}, b.getArrayAttr(dims), order);
  }

  ContractOp op;
  OpBuilder b;
  Location loc;
  ArrayType type;
  SmallVector<Value> arrays;
  Value factor; // of the result
  SmallVector<Attribute> over;
};

struct DecomposeContractPass : xtensor::impl::DecomposeContractBase<DecomposeContractPass> {
  void runOnOperation() override {
    SmallVector<ContractOp> ops;
    getOperation().walk([&](ContractOp op) { ops.push_back(op); });
    for (ContractOp op : ops) {
      Value result = Decomposition(op).run();
      op.getY().replaceAllUsesWith(result);
      op.erase();
    }
  }
};

} // namespace
