// Reads and writes of lanes whose elements lie anywhere: by an instruction, by words, by a
// permutation of one vector, or one element after another.
#include "CPU/Lanes.h"
#include "CPU/MemRefPointers.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace xtensor::cpu;

/// Distance of each lane from the first one.
Value LaneEmitter::stridedOffsets(const Extent &stride) {
  Value lanes = laneNumbers(b.getIndexType());
  Value step =
      vector::BroadcastOp::create(b, loc, wide(b.getIndexType()), stride.materialize(b, loc));
  return arith::MulIOp::create(b, loc, lanes, step);
}

static bool hardwareGathers(Type type) {
  return type.isIntOrFloat() &&
         (type.getIntOrFloatBitWidth() == 32 || type.getIntOrFloatBitWidth() == 64);
}

/// Elements from integers of their bits; lanes without an element are harmless.
Lane LaneEmitter::fromBits(Value bits, Type elementType) {
  Value result = bits;
  if (isa<FloatType>(elementType))
    result = arith::BitcastOp::create(b, loc, wide(elementType), bits);
  if (mask)
    result = arith::SelectOp::create(b, loc, mask, result, harmlessLanes(elementType));
  return {result, Lane::Vector};
}

/// Elements of 8 or 16 bits, for which there is no instruction: the aligned words of 32 bits that
/// they lie in, shifted. Such a word never reaches into a page in which no element lies.
Lane LaneEmitter::gatherFromWords(Value base, Value first, Value offsets, Type elementType) {
  int64_t bytes = bytesOf(elementType), log = bytes == 2 ? 1 : 2; // 2^log elements make a word
  auto longs = cast<VectorType>(wide(b.getI64Type()));
  auto words = cast<VectorType>(wide(b.getI32Type()));
  auto pointer = LLVM::LLVMPointerType::get(b.getContext());
  auto number = [&](int64_t v) { return constantOf(b.getI64IntegerAttr(v), /*vector=*/false); };
  auto numbers = [&](int64_t v) { return constantOf(b.getI64IntegerAttr(v), /*vector=*/true); };
  // The word of the first element begins at `aligned`.
  Value start = arith::MulIOp::create(
      b, loc, arith::IndexCastOp::create(b, loc, b.getI64Type(), first), number(bytes));
  Value address =
      LLVM::PtrToIntOp::create(b, loc, b.getI64Type(), addressOf(b, loc, views.flat(base)));
  address = arith::AddIOp::create(b, loc, address, start);
  Value aligned = arith::AndIOp::create(b, loc, address, number(-4));
  Value before = arith::ShRUIOp::create(b, loc, arith::SubIOp::create(b, loc, address, aligned),
                                        number(2 - log));
  Value elements = arith::AddIOp::create(b, loc, arith::IndexCastOp::create(b, loc, longs, offsets),
                                         vector::BroadcastOp::create(b, loc, longs, before));
  Value word = arith::ShRSIOp::create(b, loc, elements, numbers(log));
  Value addresses = LLVM::GEPOp::create(b, loc, wide(pointer), b.getI32Type(),
                                        LLVM::IntToPtrOp::create(b, loc, pointer, aligned),
                                        ArrayRef<LLVM::GEPArg>{word});
  Value found = LLVM::masked_gather::create(b, loc, words, addresses, allLanes(),
                                            constantOf(b.getI32IntegerAttr(0), /*vector=*/true), 4);
  Value within = arith::TruncIOp::create(
      b, loc, words, arith::AndIOp::create(b, loc, elements, numbers((1 << log) - 1)));
  Value shift = arith::MulIOp::create(b, loc, within,
                                      constantOf(b.getI32IntegerAttr(8 * bytes), /*vector=*/true));
  Value result = arith::ShRUIOp::create(b, loc, found, shift);
  Type whole = b.getIntegerType(elementType.getIntOrFloatBitWidth());
  return fromBits(arith::TruncIOp::create(b, loc, wide(whole), result), elementType);
}

/// The instruction of AVX-512 that permutes such a vector; empty: there is none.
static StringRef permutationOf(VectorType type) {
  switch (type.getNumElements() * 100 + type.getElementTypeBitWidth()) {
  case 816:
    return "llvm.x86.avx512.permvar.hi.128";
  case 1616:
    return "llvm.x86.avx512.permvar.hi.256";
  case 3216:
    return "llvm.x86.avx512.permvar.hi.512";
  case 832:
    return "llvm.x86.avx2.permd";
  case 1632:
    return "llvm.x86.avx512.permvar.si.512";
  case 864:
    return "llvm.x86.avx512.permvar.di.512";
  }
  return {};
}

/// Elements of the `size` ones from `first` on, which one vector holds: null if it does not, or
/// cannot be permuted.
Lane LaneEmitter::permuted(Value base, Value first, Value places, int64_t size, Type elementType) {
  if (!hasPermutes || size > width || !elementType.isIntOrFloat())
    return {};
  auto whole = cast<VectorType>(wide(b.getIntegerType(elementType.getIntOrFloatBitWidth())));
  StringRef instruction = permutationOf(whole);
  if (instruction.empty())
    return {};
  Value old = mask;
  mask = size < width ? maskOfLanes(b, loc, width, 0, size) : Value();
  Value row = loadWide(base, first, elementType).value;
  mask = old;
  if (row.getType() != whole)
    row = arith::BitcastOp::create(b, loc, whole, row);
  places = arith::IndexCastOp::create(b, loc, whole, places);
  Value result =
      LLVM::CallIntrinsicOp::create(b, loc, whole, b.getStringAttr(instruction), {row, places})
          .getResult(0);
  return fromBits(result, elementType);
}

Lane LaneEmitter::gather(Value base, Value first, Value offsets, Type elementType) {
  auto type = cast<VectorType>(wide(elementType));
  Value row = views.flat(base);
  Value rest = harmlessLanes(elementType);
  if (hasSlowGathers)
    return loadLanes(base, first, offsets, elementType);
  if (hardwareGathers(elementType))
    return {vector::GatherOp::create(b, loc, type, row, first, offsets, allLanes(), rest),
            Lane::Vector};
  if (hasGathers && elementType.isIntOrFloat() && bytesOf(elementType) <= 2)
    return gatherFromWords(base, first, offsets, elementType);
  return loadLanes(base, first, offsets, elementType);
}

/// One element after another. A lane without an element reads the first one.
Lane LaneEmitter::loadLanes(Value base, Value first, Value offsets, Type elementType) {
  Value row = views.flat(base), rest = harmlessLanes(elementType), result = rest, word;
  // Two offsets of 32 bits leave a vector as one word of x86-64.
  auto narrow = offsets.getDefiningOp<arith::IndexCastOp>();
  bool isNarrow = hasSlowGathers && width % 2 == 0 && narrow &&
                  getElementTypeOrSelf(narrow.getIn().getType()).isInteger(32);
  if (isNarrow)
    offsets = narrow.getIn();
  if (mask) {
    TypedAttr zero = b.getIntegerAttr(getElementTypeOrSelf(offsets.getType()), 0);
    offsets = arith::SelectOp::create(b, loc, mask, offsets, constantOf(zero, true));
  }
  if (isNarrow)
    offsets =
        vector::BitCastOp::create(b, loc, VectorType::get({width / 2}, b.getI64Type()), offsets);
  auto offsetOf = [&](int64_t lane) -> Value {
    if (!isNarrow)
      return vector::ExtractOp::create(b, loc, offsets, lane);
    if (lane % 2 == 0)
      word = vector::ExtractOp::create(b, loc, offsets, lane / 2);
    Value half = word;
    if (lane % 2)
      half = arith::ShRUIOp::create(b, loc, word, constantOf(b.getI64IntegerAttr(32), false));
    half = arith::TruncIOp::create(b, loc, b.getI32Type(), half);
    return arith::IndexCastOp::create(b, loc, b.getIndexType(), half);
  };
  for (int64_t lane = 0; lane < width; ++lane) {
    Value at = arith::AddIOp::create(b, loc, first, offsetOf(lane));
    Value element = memref::LoadOp::create(b, loc, row, at);
    result = vector::InsertOp::create(b, loc, element, result, lane);
  }
  if (mask)
    result = arith::SelectOp::create(b, loc, mask, result, rest);
  return {result, Lane::Vector};
}

void LaneEmitter::scatter(Value base, Value first, Value offsets, Value value) {
  Value row = views.flat(base);
  Type elementType = cast<VectorType>(value.getType()).getElementType();
  if (hardwareGathers(elementType) || mask) {
    vector::ScatterOp::create(b, loc, /*resultType=*/Type(), row, first, offsets, allLanes(),
                              value);
    return;
  }
  for (int64_t lane = 0; lane < width; ++lane) {
    Value offset = vector::ExtractOp::create(b, loc, offsets, lane);
    Value at = arith::AddIOp::create(b, loc, first, offset);
    memref::StoreOp::create(b, loc, vector::ExtractOp::create(b, loc, value, lane), row, at);
  }
}

Lane LaneEmitter::readByIndex(memref::LoadOp load, ArrayRef<Lane> indices) {
  StridedView view = views.of(load.getMemRef());
  Offset first = view.offset;
  Value offsets; // per lane, beyond `first`
  bool contiguous = true, uniform = true;
  int64_t row = 0; // the elements in a row that hold those of all lanes; 0: there is none
  for (auto [index, stride, size] : llvm::zip(indices, view.strides, view.sizes)) {
    if (index.kind != Lane::Vector) {
      first.add(index.value, stride);
      if (index.kind == Lane::Uniform)
        continue;
    }
    uniform = false;
    bool isRow = index.kind == Lane::Vector && stride.is(1) && size.isConstant() && !offsets;
    row = isRow ? size.constant : 0;
    contiguous &= index.kind == Lane::Iota && stride.is(1) && !offsets;
    Value lanes = index.kind == Lane::Iota ? laneNumbers(b.getIndexType()) : index.value;
    if (!stride.is(1)) {
      Value step =
          vector::BroadcastOp::create(b, loc, wide(b.getIndexType()), stride.materialize(b, loc));
      lanes = arith::MulIOp::create(b, loc, lanes, step);
    }
    offsets = offsets ? arith::AddIOp::create(b, loc, offsets, lanes).getResult() : lanes;
  }
  Value at = first.materialize(b, loc);
  Type elementType = load.getMemRefType().getElementType();
  if (uniform)
    return {memref::LoadOp::create(b, loc, views.flat(view.base), at)};
  if (contiguous)
    return loadWide(view.base, at, elementType);
  if (row)
    if (Lane found = permuted(view.base, at, offsets, row, elementType); found.value)
      return found;
  return gather(view.base, at, offsets, elementType);
}
