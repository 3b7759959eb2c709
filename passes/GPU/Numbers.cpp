// Numbers of the host that a kernel can compute from its other arguments, and numbers for which a
// launch has no room.
#include "GPU/Body.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace xtensor::gpu;

namespace {

/// Values of the host that are the same number: sizes of one memory along one axis, and sums and
/// products of such. The host's code has not been simplified yet.
class SameNumbers {
public:
  static bool isDerived(Operation *op) {
    return isa_and_nonnull<arith::AddIOp, arith::MulIOp, arith::SubIOp>(op);
  }
  Value operator()(Value v) {
    Operation *op = v.getDefiningOp();
    if (auto dim = dyn_cast_or_null<memref::DimOp>(op); dim && dim.getConstantIndex()) {
      void *source = dim.getSource().getAsOpaquePointer();
      return first(op, source, reinterpret_cast<void *>(*dim.getConstantIndex()), v);
    }
    if (!isDerived(op) || !v.getType().isIndex())
      return v;
    Value known = found.lookup(v);
    if (!known) {
      Value left = (*this)(op->getOperand(0)), right = (*this)(op->getOperand(1));
      known = first(op, left.getAsOpaquePointer(), right.getAsOpaquePointer(), v);
      found[v] = known;
    }
    return known;
  }

private:
  Value first(Operation *op, void *left, void *right, Value v) {
    const void *name = op->getName().getAsOpaquePointer();
    return numbers.try_emplace({name, {left, right}}, v).first->second;
  }
  llvm::DenseMap<Value, Value> found;
  llvm::DenseMap<std::pair<const void *, std::pair<void *, void *>>, Value> numbers;
};

} // namespace

/// A kernel of many open dims is given their sizes and the strides that follow from them, which may
/// be more words than there is room for. Words wrap as indices do whose low halves they are, so
/// sums and products of words are words of the sums and products.
void Kernel::deriveNumbers() {
  SameNumbers same;
  llvm::MapVector<Value, Value> given; // indices of the host, and the words for them
  unsigned count = 0;
  for (auto [i, kind] : llvm::enumerate(kinds)) {
    BlockArgument word = body->getArgument(i);
    if (kind != Kind::number || word.use_empty())
      continue;
    ++count;
    auto cast = operands[i].getDefiningOp<arith::IndexCastOp>();
    if (!cast)
      continue;
    if (auto [it, isNew] = given.insert({same(cast.getIn()), word}); !isNew)
      word.replaceAllUsesWith(it->second);
  }
  if (count <= KernelLimits::kMostNumbers)
    return;
  OpBuilder at = prologue();
  llvm::DenseMap<Value, Value> here;
  // Null for what does not follow from what is given.
  auto derive = [&](auto &self, Value host) -> Value {
    Value v = same(host);
    if (std::optional<int64_t> constant = getConstantIntValue(v))
      return arith::ConstantIntOp::create(at, loc, at.getI32Type(),
                                          static_cast<int32_t>(*constant));
    if (auto it = here.find(v); it != here.end())
      return it->second;
    Value word = here[v] = given.lookup(v);
    Operation *op = v.getDefiningOp();
    if (!SameNumbers::isDerived(op))
      return word;
    Value left = self(self, op->getOperand(0));
    Value right = left ? self(self, op->getOperand(1)) : Value();
    if (!right)
      return word;
    OperationState state(loc, op->getName().getStringRef(), {left, right}, {at.getI32Type()});
    Value derived = at.create(state)->getResult(0);
    if (word)
      word.replaceAllUsesWith(derived);
    return here[v] = derived;
  };
  for (Value v : llvm::to_vector(llvm::make_first_range(given)))
    derive(derive, v);
}

/// Numbers that are more than a launch hands over lie in memory. Kernels that are handed as many as
/// fit write them there.
void Kernel::spillNumbers(ModuleOp module) {
  SmallVector<std::pair<BlockArgument, Value>> rest; // and what the host gives for them
  unsigned count = 0;
  for (auto [i, kind] : llvm::enumerate(kinds))
    if (kind == Kind::number && !body->getArgument(i).use_empty() &&
        ++count > KernelLimits::kMostNumbers)
      rest.push_back({body->getArgument(i), operands[i]});
  if (rest.empty())
    return;
  auto type = MemRefType::get({static_cast<int64_t>(rest.size())}, b.getI32Type());
  Value memory = memref::AllocOp::create(host, loc, type);
  Value one = arith::ConstantIndexOp::create(host, loc, 1);
  for (size_t begin = 0; begin < rest.size(); begin += KernelLimits::kMostNumbers) {
    Kernel writer(host, loc, limits.threadsFor(1), limits);
    Body writes(writer, host);
    size_t end = std::min<size_t>(begin + KernelLimits::kMostNumbers, rest.size());
    for (size_t i = begin; i < end; ++i) {
      Value at = arith::ConstantIndexOp::create(host, loc, i);
      writes.leave(rest[i].second, memory, at);
    }
    writer.launch(module, one);
  }
  FlatView numbers = view(memory);
  OpBuilder at = prologue();
  for (auto [i, pair] : llvm::enumerate(rest)) {
    Value place = arith::ConstantIndexOp::create(at, loc, i);
    pair.first.replaceAllUsesWith(memref::LoadOp::create(at, loc, numbers.flat, place));
  }
}
