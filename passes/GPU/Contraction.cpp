#include "GPU/Contraction.h"

#include "Estimates.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace xtensor::gpu;
using mlir::utils::IteratorType;

//===- what the operation is -------------------------------------------------===//

/// The argument of the body that a factor is, conversions seen through; null if it is something
/// else.
static BlockArgument argumentOf(Value factor) {
  while (Operation *op = factor.getDefiningOp()) {
    if (!isa<arith::ExtFOp, arith::ExtSIOp, arith::ExtUIOp>(op) || !factor.hasOneUse())
      return {};
    factor = op->getOperand(0);
  }
  return dyn_cast<BlockArgument>(factor);
}

/// The product whose sum the body takes, or null.
static Operation *productOf(linalg::GenericOp op) {
  Block &body = op.getRegion().front();
  Operation *sum = body.getTerminator()->getOperand(0).getDefiningOp();
  if (!sum || !isa<arith::AddFOp, arith::AddIOp>(sum))
    return nullptr;
  BlockArgument out = body.getArgument(2);
  for (unsigned i : {0, 1}) {
    Operation *product = sum->getOperand(i).getDefiningOp();
    if (!product || !isa<arith::MulFOp, arith::MulIOp>(product) || !product->hasOneUse() ||
        sum->getOperand(1 - i) != out || !out.hasOneUse())
      continue;
    BlockArgument x = argumentOf(product->getOperand(0)), y = argumentOf(product->getOperand(1));
    if (x && y && x != y && x != out && y != out && x.hasOneUse() && y.hasOneUse())
      return product;
  }
  return nullptr;
}

static bool isLinear(AffineExpr e) {
  if (isa<AffineDimExpr, AffineConstantExpr>(e))
    return true;
  auto binary = dyn_cast<AffineBinaryOpExpr>(e);
  if (!binary || !isLinear(binary.getLHS()))
    return false;
  return (e.getKind() == AffineExprKind::Add && isLinear(binary.getRHS())) ||
         (e.getKind() == AffineExprKind::Mul && isa<AffineConstantExpr>(binary.getRHS()));
}

namespace {
/// Loops by the part that they have in a product.
struct Parts {
  SmallVector<unsigned> batches, rows, columns, depth;
  bool swapped; // rows are those of the second operand
};
} // namespace

/// Columns are the loops that the output's last dim is among, so that threads store side by side.
static Parts partsOf(ArrayRef<IteratorType> kinds, AffineMap a, AffineMap b, AffineMap c) {
  Parts parts;
  SmallVector<unsigned> first, second;
  bool firstLast = false;
  for (auto [i, kind] : llvm::enumerate(kinds)) {
    bool inA = a.isFunctionOfDim(i), inB = b.isFunctionOfDim(i);
    if (kind == IteratorType::reduction) {
      parts.depth.push_back(i);
    } else if (inA == inB) {
      parts.batches.push_back(i);
    } else {
      (inA ? first : second).push_back(i);
      firstLast |=
          inA && c.getNumResults() && c.getResults().back() == getAffineDimExpr(i, c.getContext());
    }
  }
  parts.swapped = firstLast;
  parts.rows = firstLast ? second : first;
  parts.columns = firstLast ? first : second;
  return parts;
}

linalg::GenericOp Contraction::match(Operation &candidate) {
  auto op = dyn_cast<linalg::GenericOp>(candidate);
  if (!op || op.getNumDpsInputs() != 2 || op.getNumDpsInits() != 1 || op.hasIndexSemantics() ||
      op->hasAttr("xtensor.scan"))
    return {};
  for (Value v : op->getOperands())
    if (!isa<MemRefType>(v.getType()))
      return {};
  for (AffineMap map : op.getIndexingMapsArray())
    if (!llvm::all_of(map.getResults(), isLinear))
      return {};
  if (!op.getIndexingMapsArray()[2].isProjectedPermutation())
    return {};
  Operation *product = productOf(op);
  if (!product)
    return {};
  Type type = product->getResult(0).getType();
  if (type.isIndex() || (type.getIntOrFloatBitWidth() != 32 && type.getIntOrFloatBitWidth() != 64))
    return {};
  Shape shape = shapeOf(op);
  // Vectors times matrices are bound by memory: a thread or a workgroup per sum is as good.
  constexpr int64_t kLeast = Tile::kLeastSide / 2;
  auto small = [](int64_t v, int64_t least) { return !ShapedType::isDynamic(v) && v < least; };
  if (shape.batches == 0 || small(shape.m, kLeast) || small(shape.n, kLeast) || small(shape.k, 4))
    return {};
  return op;
}

/// The type that both factors have in memory, if it is half precision and they are summed in f32.
static Type halfOf(linalg::GenericOp op) {
  Operation *product = productOf(op);
  if (!product->getResult(0).getType().isF32())
    return {};
  Block &body = op.getRegion().front();
  Type type = body.getArgument(0).getType();
  for (unsigned i : {0, 1}) {
    auto widen = dyn_cast<arith::ExtFOp>(*body.getArgument(i).getUsers().begin());
    if (!widen || body.getArgument(i).getType() != type || !widen->getResult(0).getType().isF32())
      return {};
  }
  return type.isF16() || type.isBF16() ? type : Type();
}

const Tile *Contraction::tileFor(const Shape &shape, const KernelLimits &limits) {
  if (shape.half && limits.unit && limits.unit->multiplies(shape.half) &&
      (ShapedType::isDynamic(shape.k) || shape.k >= limits.unit->k))
    if (const Tile *tile = limits.tileFor(shape.batches, shape.m, shape.n, 2))
      return tile;
  return limits.tileFor(shape.batches, shape.m, shape.n, shape.bytes);
}

Contraction::Shape Contraction::shapeOf(linalg::GenericOp op) {
  SmallVector<int64_t> sizes = op.getStaticLoopRanges();
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  Parts parts = partsOf(op.getIteratorTypesArray(), maps[0], maps[1], maps[2]);
  auto product = [&](ArrayRef<unsigned> loops) {
    return knownProduct(llvm::map_to_vector(loops, [&](unsigned i) { return sizes[i]; }));
  };
  Type type = productOf(op)->getResult(0).getType();
  return {product(parts.batches),
          product(parts.rows),
          product(parts.columns),
          product(parts.depth),
          int64_t(type.getIntOrFloatBitWidth() / 8),
          halfOf(op),
          parts.batches,
          parts.rows,
          parts.columns};
}

Contraction::Contraction(Kernel &kernel, linalg::GenericOp op, const Tile &tile,
                         ArrayRef<Value> init, const Epilogue *epilogue)
    : Points(kernel, op, init, epilogue ? ArrayRef<Beside>(epilogue->reads) : ArrayRef<Beside>(),
             epilogue ? ArrayRef<Beside>(epilogue->writes) : ArrayRef<Beside>()),
      tile(tile), epilogue(epilogue) {
  // What the epilogue reads comes third.
  Parts parts = partsOf(kinds, ins[0].map, ins[1].map, outs[0].map);
  batches = parts.batches, rows = parts.rows, columns = parts.columns, depth = parts.depth;
  type = productOf(op)->getResult(0).getType();
  half = tile.ofUnits ? halfOf(op) : Type();
  opaque = half && kernel.limits.unit->opaque;
  Block &body = op.getRegion().front();
  auto operand = [&](unsigned i, int64_t side) {
    Loads loads;
    loads.access = &ins[i];
    loads.place = *linear(ins[i]);
    loads.argument = body.getArgument(i);
    loads.side = side;
    loads.deep = getConstantIntValue(loads.place.steps[depth.back()]) == 1;
    loads.sideStep = 1, loads.depthStep = side + Tile::kPad;
    if (half && loads.deep)
      loads.sideStep = tile.k + Tile::kUnitPad, loads.depthStep = 1;
    else if (half)
      loads.depthStep = side + Tile::kUnitPad;
    loads.elements = half ? tile.unitElements(side, loads.deep) : tile.k * loads.depthStep;
    // mma.sync takes words of two elements, of either kind.
    Type kept = opaque ? half : half ? b.getI16Type() : type;
    loads.memory = kernel.workgroupMemory(2 * loads.elements, kept, /*packed=*/bool(half));
    return loads;
  };
  left = operand(parts.swapped ? 1 : 0, tile.m);
  right = operand(parts.swapped ? 0 : 1, tile.n);
  left.width = widthOf(left), right.width = widthOf(right);
  if (opaque)
    passage = kernel.workgroupMemory(tile.unitSums(*kernel.limits.unit), type);
}

//===- places ----------------------------------------------------------------===//

OpFoldResult Contraction::sizeOf(ArrayRef<unsigned> loops) {
  OpFoldResult total = kernel.fixed(1);
  for (unsigned i : loops)
    total = kernel.mul(total, ranges[i]);
  return total;
}

/// How far the `flat`-th point of these loops is from the first.
OpFoldResult Contraction::along(const Linear &place, ArrayRef<unsigned> loops, Value flat) {
  OpFoldResult at = kernel.fixed(0);
  if (llvm::all_of(loops, [&](unsigned i) { return getConstantIntValue(place.steps[i]) == 0; }))
    return at;
  Point point(kinds.size());
  unflatten(flat, loops, point);
  for (unsigned i : loops)
    at = kernel.add(at, kernel.mul(point[i], place.steps[i]));
  return at;
}

Value Contraction::less(Value x, OpFoldResult y) {
  return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, x, kernel.index(y));
}

static OpFoldResult ceilDiv(Kernel &kernel, OpFoldResult x, int64_t y) {
  if (auto known = getConstantIntValue(x))
    return kernel.fixed(llvm::divideCeil(*known, y));
  Value up = kernel.index(kernel.add(x, kernel.fixed(y - 1)));
  return arith::DivUIOp::create(kernel.b, kernel.loc, up, kernel.index(y)).getResult();
}

//===- from memory to the workgroup's ----------------------------------------===//

/// How many elements one load brings.
int64_t Contraction::widthOf(const Loads &loads) {
  ArrayRef<unsigned> sides = &loads == &left ? rows : columns;
  unsigned loop = loads.deep ? depth.back() : sides.back();
  auto size = getConstantIntValue(ranges[loop]);
  Type element = Kernel::stored(loads.access->view.element);
  if (!size || *size == 0 || element.isIndex())
    return 1;
  const int64_t bytes = std::max(1u, element.getIntOrFloatBitWidth() / 8);
  int64_t width =
      std::min(kernel.limits.vectorBytes / bytes, half && !opaque ? int64_t(8) : int64_t(4));
  const int64_t count = tile.k * loads.side / tile.threads();
  while (width > 1 && (*size % width || count % width || !isRun(*loads.access, loop, width)))
    width /= 2;
  return std::max<int64_t>(width, 1);
}

/// Which elements of its operand a thread brings at each step: those that lie side by side in
/// memory go to threads side by side.
void Contraction::plan(Loads &loads, Value first, OpFoldResult size, ArrayRef<unsigned> loops,
                       OpFoldResult batch) {
  const int64_t width = loads.width;
  const int64_t threads = tile.threads(), fast = (loads.deep ? tile.k : loads.side) / width;
  const int64_t count = tile.k * loads.side / threads / width;
  assert(count > 0 && "a tile with more threads than elements");
  Value thread = kernel.threadId();
  Value slow0, fast0 = thread;
  if (fast <= threads) {
    fast0 = arith::RemUIOp::create(b, loc, thread, kernel.index(fast));
    slow0 = arith::DivUIOp::create(b, loc, thread, kernel.index(fast));
  }
  auto known = getConstantIntValue(size);
  bool whole = known && *known % loads.side == 0;
  OpFoldResult base = kernel.add(loads.place.base, batch);
  loads.starts.clear(), loads.slots.clear(), loads.inside.clear(), loads.depths.clear();
  for (int64_t e = 0; e < count; ++e) {
    OpFoldResult quick = fast0, slow;
    if (fast <= threads) {
      slow = kernel.add(slow0, kernel.fixed(e * (threads / fast)));
    } else {
      quick = kernel.add(fast0, kernel.fixed(e % (fast / threads) * threads));
      slow = kernel.fixed(e / (fast / threads));
    }
    quick = kernel.mul(quick, kernel.fixed(width));
    Value side = kernel.index(loads.deep ? slow : quick);
    Value step = kernel.index(loads.deep ? quick : slow);
    Value at = kernel.index(kernel.add(first, side));
    loads.inside.push_back(whole ? Value() : less(at, size));
    loads.starts.push_back(kernel.index(kernel.add(base, along(loads.place, loops, at))));
    loads.slots.push_back(kernel.index(kernel.add(kernel.mul(step, kernel.fixed(loads.depthStep)),
                                                  kernel.mul(side, kernel.fixed(loads.sideStep)))));
    loads.depths.push_back(step);
  }
}

/// What the body makes of an element before it is multiplied.
Value Contraction::converted(Value v, Value argument) {
  while (true) {
    Operation *user = *argument.getUsers().begin();
    if (!isa<arith::ExtFOp, arith::ExtSIOp, arith::ExtUIOp>(user))
      return v;
    IRMapping map;
    map.map(argument, v);
    v = b.clone(*user, map)->getResult(0);
    argument = user->getResult(0);
  }
}

/// What units multiply goes as it is; for mma.sync in words of two elements or one by one.
Type Contraction::typeOfLoads(const Loads &loads) const {
  return opaque ? half : !half ? type : loads.width > 1 ? b.getI32Type() : b.getI16Type();
}

int64_t Contraction::valuesOf(const Loads &loads) const {
  int64_t each = half && !opaque && loads.width > 1 ? loads.width / 2 : loads.width;
  return static_cast<int64_t>(loads.slots.size()) * each;
}

SmallVector<Value> Contraction::fetchRaw(const Loads &loads, Value at, Value there) {
  Type stored = Kernel::stored(loads.access->view.element);
  SmallVector<Value> values;
  if (loads.width == 1) {
    Value v = memref::LoadOp::create(b, loc, loads.access->view.flat, at);
    values.push_back(stored.isInteger() ? v : arith::BitcastOp::create(b, loc, b.getI16Type(), v));
  } else {
    Value run = vector::LoadOp::create(b, loc, VectorType::get({loads.width}, stored),
                                       loads.access->view.flat, at);
    auto words = VectorType::get({loads.width / 2}, b.getI32Type());
    run = vector::BitCastOp::create(b, loc, words, run);
    for (int64_t i = 0; i < loads.width / 2; ++i)
      values.push_back(vector::ExtractOp::create(b, loc, run, i));
  }
  Value zero = arith::ConstantOp::create(b, loc, b.getZeroAttr(typeOfLoads(loads)));
  for (Value &v : values)
    if (there)
      v = arith::SelectOp::create(b, loc, there, v, zero);
  return values;
}

/// Elements at this depth and the next ones, 0 outside of the array. The address of what is outside
/// is the first element's, so that all loads are on their way at once. No `end`: all are inside.
SmallVector<Value> Contraction::fetch(const Loads &loads, Value from, Value end) {
  SmallVector<Value> values;
  Value zero = arith::ConstantOp::create(b, loc, b.getZeroAttr(opaque ? half : type));
  for (auto [start, inside, step] : llvm::zip_equal(loads.starts, loads.inside, loads.depths)) {
    Value k = kernel.index(kernel.add(from, step)), there = inside;
    if (end) {
      Value deep = less(k, end);
      there = there ? arith::AndIOp::create(b, loc, there, deep).getResult() : deep;
    }
    Value at = kernel.index(kernel.add(start, along(loads.place, depth, k)));
    if (there)
      at = arith::SelectOp::create(b, loc, there, at, kernel.index(loads.place.base));
    if (half && !opaque) {
      llvm::append_range(values, fetchRaw(loads, at, there));
      continue;
    }
    SmallVector<Value> run = {loads.width == 1 ? kernel.load(loads.access->view, at) : Value()};
    if (loads.width > 1)
      run = kernel.loadRun(loads.access->view, at, loads.width);
    for (Value v : run) {
      if (!opaque)
        v = converted(v, loads.argument);
      values.push_back(there ? arith::SelectOp::create(b, loc, there, v, zero).getResult() : v);
    }
  }
  return values;
}

void Contraction::keepRaw(const Loads &loads, ValueRange values, Value slot) {
  if (loads.width == 1) {
    memref::StoreOp::create(b, loc, values[0], loads.memory.flat, slot);
    return;
  }
  auto words = VectorType::get({loads.width / 2}, b.getI32Type());
  Value run = vector::FromElementsOp::create(b, loc, words, values);
  run = vector::BitCastOp::create(b, loc, VectorType::get({loads.width}, b.getI16Type()), run);
  vector::StoreOp::create(b, loc, run, loads.memory.flat, slot);
}

void Contraction::keep(const Loads &loads, ValueRange values, Value at) {
  const int64_t each = valuesOf(loads) / static_cast<int64_t>(loads.slots.size());
  const int64_t step = loads.deep ? loads.depthStep : loads.sideStep;
  for (auto [i, slot] : llvm::enumerate(loads.slots)) {
    ValueRange run = values.slice(i * each, each);
    Value to = kernel.index(kernel.add(at, slot));
    if (half && !opaque) {
      keepRaw(loads, run, to);
      continue;
    }
    for (auto [n, v] : llvm::enumerate(run))
      kernel.store(v, loads.memory,
                   kernel.index(kernel.add(to, kernel.fixed(static_cast<int64_t>(n) * step))));
  }
}

//===- a workgroup -----------------------------------------------------------===//

void Contraction::emit(Value group, Value groups, int64_t parts, OpFoldResult partStep) {
  OpFoldResult total =
      kernel.mul(ceilDiv(kernel, sizeOf(rows), tile.m), ceilDiv(kernel, sizeOf(columns), tile.n));
  total = kernel.mul(kernel.mul(total, sizeOf(batches)), kernel.fixed(parts));
  if (auto known = getConstantIntValue(total); known && *known <= kernel.limits.maxGroups)
    return emitTile(group, parts, partStep);
  auto loop = scf::ForOp::create(b, loc, group, kernel.index(total), groups);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  // After the last wait of a tile, no thread reads the memory in which the next tile is stored.
  emitTile(loop.getInductionVar(), parts, partStep);
}

void Contraction::emitTile(Value number, int64_t parts, OpFoldResult partStep) {
  OpFoldResult sizeM = sizeOf(rows), sizeN = sizeOf(columns), sizeK = sizeOf(depth);
  auto digit = [&](OpFoldResult size) {
    if (getConstantIntValue(size) == 1)
      return kernel.index(0);
    Value by = kernel.index(size);
    Value at = arith::RemUIOp::create(b, loc, number, by);
    number = arith::DivUIOp::create(b, loc, number, by);
    return at;
  };
  Value tileN = digit(ceilDiv(kernel, sizeN, tile.n)),
        tileM = digit(ceilDiv(kernel, sizeM, tile.m));
  Value batch = digit(sizeOf(batches)), part = number;
  Value firstM = kernel.index(kernel.mul(tileM, kernel.fixed(tile.m)));
  Value firstN = kernel.index(kernel.mul(tileN, kernel.fixed(tile.n)));
  plan(left, firstM, sizeM, rows, along(left.place, batches, batch));
  plan(right, firstN, sizeN, columns, along(right.place, batches, batch));

  // The part of the depth that is ours: whole tiles, but for the last.
  Value start = kernel.index(0), end = kernel.index(sizeK);
  auto known = getConstantIntValue(sizeK);
  bool whole = known && *known % (tile.k * parts) == 0;
  if (parts > 1) {
    OpFoldResult each = kernel.mul(ceilDiv(kernel, sizeK, tile.k * parts), kernel.fixed(tile.k));
    start = kernel.index(kernel.mul(part, each));
    Value stop = kernel.index(kernel.add(start, each));
    end = whole ? stop : arith::MinSIOp::create(b, loc, stop, end).getResult();
  }
  Value bound = whole ? Value() : end;

  auto both = [&](Value k) {
    SmallVector<Value> values = fetch(left, k, bound);
    llvm::append_range(values, fetch(right, k, bound));
    return values;
  };
  const int64_t ofLeft = valuesOf(left);
  auto keepBoth = [&](ValueRange values, Value buffer) {
    for (auto [loads, part] : {std::pair{&left, values.take_front(ofLeft)},
                               std::pair{&right, values.drop_front(ofLeft)}})
      keep(*loads, part, kernel.index(kernel.mul(buffer, kernel.fixed(loads->elements))));
    mlir::gpu::BarrierOp::create(b, loc);
  };
  Value zero = arith::ConstantOp::create(b, loc, b.getZeroAttr(type));
  if (known) {
    keepBoth(both(start), kernel.index(0));
  } else {
    // An empty array does not have a first element.
    Value any = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, start, end);
    SmallVector<Type> types(ofLeft, typeOfLoads(left));
    types.append(valuesOf(right), typeOfLoads(right));
    auto branch = scf::IfOp::create(b, loc, types, any, true);
    {
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPointToStart(branch.thenBlock());
      scf::YieldOp::create(b, loc, both(start));
      b.setInsertionPointToStart(branch.elseBlock());
      SmallVector<Value> zeros;
      for (Type type : types)
        zeros.push_back(arith::ConstantOp::create(b, loc, b.getZeroAttr(type)));
      scf::YieldOp::create(b, loc, zeros);
    }
    keepBoth(branch.getResults(), kernel.index(0));
  }
  SmallVector<Value> state =
      opaque ? noMatrices() : SmallVector<Value>(tile.threadM * tile.threadN, zero);
  const size_t count = state.size();
  state.push_back(kernel.index(0));
  auto loop = scf::ForOp::create(b, loc, start, end, kernel.index(tile.k), state);
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    ValueRange old = loop.getRegionIterArgs();
    Value buffer = old.back();
    Value next = arith::AddIOp::create(b, loc, loop.getInductionVar(), kernel.index(tile.k));
    // Behind the last step there is nothing to bring.
    if (!bound)
      next = arith::SelectOp::create(b, loc, less(next, end), next, start);
    // Elements of the next step are on their way while this one is multiplied. They are stored here
    // rather than in the next turn: LLVM makes one load behind the turn of loads that a loop
    // carries.
    SmallVector<Value> values = both(next);
    SmallVector<Value> sums(old.take_front(count));
    multiply(buffer, sums);
    // Two buffers in turn: every thread that waits has read this one, and a thread that does not
    // wait yet still needs it.
    Value other = arith::SubIOp::create(b, loc, kernel.index(1), buffer);
    keepBoth(values, other);
    sums.push_back(other);
    scf::YieldOp::create(b, loc, sums);
  }

  OpFoldResult partOffset = parts > 1 ? kernel.mul(part, partStep) : OpFoldResult(kernel.fixed(0));
  SmallVector<Value> sums(loop.getResults().drop_back());
  if (opaque)
    sums = sumsOf(sums);
  store(sums, firstM, firstN, batch, partOffset, /*fresh=*/parts > 1);
}
