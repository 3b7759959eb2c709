// Matrix products (Contraction): how a workgroup multiplies the tiles that it holds, and what
// happens to the sums of a thread.
#include "GPU/Contraction.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace xtensor::gpu;

/// Threads of a subgroup on the devices whose loads this arrangement is for.
constexpr int64_t kLanes = 32;

//===- a thread's rows and columns -------------------------------------------===//

/// By threads: rows or columns come in runs of four, runs of all threads after each other: a
/// thread's reads of a run are one load, and those of its neighbours lie beside it. A subgroup of
/// 32 has 4 x 8 threads, where lanes that differ in bit 0 have the same columns, in bit 1 the same
/// rows: so its loads bring few different bytes, and those of neighbours are one.
Contraction::Spread Contraction::spread(bool ofRows) {
  if (half)
    return spreadOfUnits(ofRows);
  const int64_t each = ofRows ? tile.threadM : tile.threadN, side = ofRows ? tile.m : tile.n;
  Value thread = kernel.threadId();
  auto digit = [&](Value x, int64_t by, bool high) -> Value {
    if (high)
      return arith::DivUIOp::create(b, loc, x, kernel.index(by));
    return arith::RemUIOp::create(b, loc, x, kernel.index(by));
  };
  const int64_t across = tile.n / tile.threadN, run = std::min<int64_t>(each, 4);
  OpFoldResult place = digit(thread, across, ofRows);
  if (kernel.limits.subgroup == kLanes && across % 8 == 0 && tile.m / tile.threadM % 4 == 0) {
    Value lane = digit(thread, kLanes, false), subgroup = digit(thread, kLanes, true);
    OpFoldResult block =
        kernel.mul(digit(subgroup, across / 8, ofRows), kernel.fixed(ofRows ? 4 : 8));
    OpFoldResult inside = digit(digit(lane, 2, true), 8, false);
    if (ofRows)
      inside =
          kernel.add(digit(lane, 2, false), kernel.mul(digit(lane, 16, true), kernel.fixed(2)));
    place = kernel.add(block, inside);
  }
  Spread result;
  result.run = run;
  result.base = kernel.index(kernel.mul(place, kernel.fixed(run)));
  for (int64_t i = 0; i < each; ++i)
    result.further.push_back(i / run * run * (side / each) + i % run);
  return result;
}

//===- products --------------------------------------------------------------===//

void Contraction::multiply(Value buffer, SmallVectorImpl<Value> &sums) {
  if (!half)
    return multiplyElements(buffer, sums);
  return opaque ? multiplyMatrices(buffer, sums) : multiplyFragments(buffer, sums);
}

void Contraction::multiplyElements(Value buffer, SmallVectorImpl<Value> &sums) {
  Spread down = spread(true), across = spread(false);
  auto base = [&](const Loads &loads, const Spread &spread) {
    return kernel.index(kernel.add(kernel.mul(buffer, kernel.fixed(loads.elements)), spread.base));
  };
  Value atA = base(left, down), atB = base(right, across);
  for (int64_t k = 0; k < tile.k; ++k) {
    auto read = [&](const Loads &loads, Value at, const Spread &spread) {
      SmallVector<Value> values;
      for (int64_t further : spread.further)
        values.push_back(
            kernel.load(loads.memory,
                        kernel.index(kernel.add(at, kernel.fixed(k * loads.depthStep + further)))));
      return values;
    };
    SmallVector<Value> x = read(left, atA, down), y = read(right, atB, across);
    for (int64_t i = 0; i < tile.threadM; ++i)
      for (int64_t j = 0; j < tile.threadN; ++j) {
        Value &sum = sums[i * tile.threadN + j];
        if (isa<FloatType>(type))
          sum = math::FmaOp::create(b, loc, x[i], y[j], sum);
        else
          sum = arith::AddIOp::create(b, loc, sum, arith::MulIOp::create(b, loc, x[i], y[j]));
      }
  }
}

//===- sums ------------------------------------------------------------------===//

namespace {

/// A row or a column of the product; `inside`: whether it is there, null where all are.
struct Line {
  Value at, inside;
};

/// An operand at a thread's rows and columns.
struct Lines {
  const Access *access;
  OpFoldResult base;
  SmallVector<OpFoldResult> rows, columns;
  bool byRow, byColumn;    // whether it depends on them
  int64_t run;             // elements that are loaded or stored at once
  SmallVector<Value> kept; // elements of one row or column, loaded before

  Value at(Kernel &kernel, int64_t i, int64_t j) const {
    return kernel.index(kernel.add(kernel.add(base, rows[i]), columns[j]));
  }
  /// Elements at a row and at columns from `j` on.
  SmallVector<Value> read(Kernel &kernel, int64_t i, int64_t j, int64_t count) const;
  void write(Kernel &kernel, ArrayRef<Value> values, int64_t i, int64_t j) const;
};

} // namespace

SmallVector<Value> Lines::read(Kernel &kernel, int64_t i, int64_t j, int64_t count) const {
  SmallVector<Value> values;
  if (!kept.empty()) {
    for (int64_t n = 0; n < count; ++n)
      values.push_back(kept[byColumn ? j + n : byRow ? i : 0]);
    return values;
  }
  if (count > 1 && run == count)
    return kernel.loadRun(access->view, at(kernel, i, j), count);
  for (int64_t n = 0; n < count; ++n)
    values.push_back(kernel.load(access->view, at(kernel, i, j + n)));
  return values;
}

void Lines::write(Kernel &kernel, ArrayRef<Value> values, int64_t i, int64_t j) const {
  if (values.size() > 1 && run == static_cast<int64_t>(values.size()))
    return kernel.storeRun(values, access->view, at(kernel, i, j));
  for (auto [n, v] : llvm::enumerate(values))
    kernel.store(v, access->view, at(kernel, i, j + n));
}

/// What a thread does with its sums: it adds them to what the output holds, computes the epilogue,
/// and stores them.
class Contraction::SumStore {
public:
  SumStore(Contraction &of, Value firstM, Value firstN, Value batch, OpFoldResult partOffset,
           bool fresh);
  void emit(ValueRange sums);

private:
  SmallVector<Line> lines(const Spread &spread, Value first, int64_t side, OpFoldResult size);
  Lines operand(const Access &access, OpFoldResult offset);
  void loadOnce(Lines &operand);
  void readEpilogue();
  void emitRun(SmallVector<Value> values, int64_t i, int64_t j);
  void emitEpilogue(ArrayRef<Value> values, int64_t i, int64_t j);

  Contraction &c;
  Kernel &kernel;
  OpBuilder &b;
  Location loc;
  const Epilogue *epilogue;
  Value batch;
  bool fresh; // nothing is there yet
  SmallVector<Line> down, across;
  int64_t run; // neighbours that are stored at once
  std::optional<Points> after;
  SmallVector<Lines> read, written; // by the epilogue
  std::optional<Lines> own;         // the sums
};

Contraction::SumStore::SumStore(Contraction &of, Value firstM, Value firstN, Value batch,
                                OpFoldResult partOffset, bool fresh)
    : c(of), kernel(c.kernel), b(c.b), loc(c.loc), epilogue(c.epilogue), batch(batch),
      fresh(fresh) {
  Spread ofRows = c.spread(true), ofColumns = c.spread(false);
  down = lines(ofRows, firstM, c.tile.m, c.sizeOf(c.rows));
  across = lines(ofColumns, firstN, c.tile.n, c.sizeOf(c.columns));
  // Neighbours are stored at once where none of them can be outside alone.
  run = ofColumns.run;
  auto last = c.columns.empty() ? std::nullopt : getConstantIntValue(c.ranges[c.columns.back()]);
  if (!last || *last % run)
    run = 1;
  if (epilogue)
    readEpilogue();
  if (!epilogue || epilogue->keepsSums || !c.init[0])
    own = operand(c.outs[0], partOffset);
}

SmallVector<Line> Contraction::SumStore::lines(const Spread &spread, Value first, int64_t side,
                                               OpFoldResult size) {
  auto known = getConstantIntValue(size);
  bool whole = known && *known % side == 0;
  OpFoldResult from = kernel.add(first, spread.base);
  SmallVector<Line> result;
  for (int64_t further : spread.further) {
    Value at = kernel.index(kernel.add(from, kernel.fixed(further)));
    result.push_back({at, whole ? Value() : c.less(at, size)});
  }
  return result;
}

Lines Contraction::SumStore::operand(const Access &access, OpFoldResult offset) {
  Linear place = *c.linear(access);
  auto depends = [&](ArrayRef<unsigned> loops) {
    return llvm::any_of(loops,
                        [&](unsigned i) { return getConstantIntValue(place.steps[i]) != 0; });
  };
  Lines result{&access,
               kernel.add(kernel.add(place.base, c.along(place, c.batches, batch)), offset),
               {},
               {},
               depends(c.rows),
               depends(c.columns),
               1,
               {}};
  for (const Line &line : down)
    result.rows.push_back(c.along(place, c.rows, line.at));
  for (const Line &line : across)
    result.columns.push_back(c.along(place, c.columns, line.at));
  const int64_t bits = Kernel::stored(access.view.element).getIntOrFloatBitWidth();
  if (run > 1 && bits >= 8 && run * bits / 8 <= kernel.limits.vectorBytes &&
      c.isRun(access, c.columns.back(), run) && c.isRun(c.outs[0], c.columns.back(), run))
    result.run = run;
  return result;
}

/// What depends on rows or on columns alone is loaded once for each. What lies outside has the
/// first element's address.
void Contraction::SumStore::loadOnce(Lines &operand) {
  if (operand.byRow && operand.byColumn)
    return;
  const auto &places = operand.byColumn ? operand.columns : operand.rows;
  const auto &sides = operand.byColumn ? across : down;
  for (auto [place, line] : llvm::zip_equal(places, sides)) {
    Value at = kernel.index(kernel.add(operand.base, place));
    if (line.inside)
      at = arith::SelectOp::create(b, loc, line.inside, at, kernel.index(operand.base));
    operand.kept.push_back(kernel.load(operand.access->view, at));
    if (!operand.byRow && !operand.byColumn)
      break;
  }
}

void Contraction::SumStore::readEpilogue() {
  after.emplace(kernel, epilogue->op);
  for (size_t n = 2; n < c.ins.size(); ++n) {
    read.push_back(c.ins[n].map ? operand(c.ins[n], kernel.fixed(0)) : Lines());
    if (c.ins[n].map)
      loadOnce(read.back());
  }
  for (size_t n = 1; n < c.outs.size(); ++n)
    written.push_back(operand(c.outs[n], kernel.fixed(0)));
}

void Contraction::SumStore::emit(ValueRange sums) {
  for (int64_t i = 0; i < c.tile.threadM; ++i)
    for (int64_t j = 0; j < c.tile.threadN; j += run) {
      OpBuilder::InsertionGuard guard(b);
      Value inside = down[i].inside;
      if (Value other = across[j].inside)
        inside = inside ? arith::AndIOp::create(b, loc, inside, other).getResult() : other;
      if (inside) {
        auto branch = scf::IfOp::create(b, loc, inside, /*withElseRegion=*/false);
        b.setInsertionPointToStart(branch.thenBlock());
      }
      emitRun(SmallVector<Value>(sums.slice(i * c.tile.threadN + j, run)), i, j);
    }
}

void Contraction::SumStore::emitRun(SmallVector<Value> values, int64_t i, int64_t j) {
  if (!fresh) {
    Value known = c.init[0];
    SmallVector<Value> old = known ? SmallVector<Value>(run, known) : own->read(kernel, i, j, run);
    for (auto [v, start] : llvm::zip_equal(values, old))
      v = isa<FloatType>(c.type) ? arith::AddFOp::create(b, loc, start, v).getResult()
                                 : arith::AddIOp::create(b, loc, start, v).getResult();
  }
  if (!epilogue || epilogue->keepsSums)
    own->write(kernel, values, i, j);
  if (epilogue)
    emitEpilogue(values, i, j);
}

void Contraction::SumStore::emitEpilogue(ArrayRef<Value> values, int64_t i, int64_t j) {
  SmallVector<SmallVector<Value>> elements;
  for (auto [n, lines] : llvm::enumerate(read))
    elements.push_back(n == epilogue->sum ? SmallVector<Value>(values)
                       : lines.access     ? lines.read(kernel, i, j, run)
                                          : SmallVector<Value>(run));
  SmallVector<SmallVector<Value>> results(written.size());
  for (int64_t n = 0; n < run; ++n) {
    SmallVector<Value> inputs;
    for (const SmallVector<Value> &each : elements)
      inputs.push_back(each[n]);
    SmallVector<Value> made = after->apply(inputs, {}, SmallVector<Value>(written.size()));
    for (auto [all, v] : llvm::zip_equal(results, made))
      all.push_back(v);
  }
  for (auto [lines, all] : llvm::zip_equal(written, results))
    lines.write(kernel, all, i, j);
}

void Contraction::store(ValueRange sums, Value firstM, Value firstN, Value batch,
                        OpFoldResult partOffset, bool fresh) {
  SumStore(*this, firstM, firstN, batch, partOffset, fresh).emit(sums);
}
