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

/// Elements of this operand at a row and at columns from `j` on.
SmallVector<Value> Contraction::read(Lines &lines, int64_t i, int64_t j, int64_t run) {
  SmallVector<Value> values;
  if (!lines.kept.empty()) {
    for (int64_t n = 0; n < run; ++n)
      values.push_back(lines.kept[lines.byColumn ? j + n : lines.byRow ? i : 0]);
    return values;
  }
  auto at = [&](int64_t j) {
    return kernel.index(kernel.add(kernel.add(lines.base, lines.rows[i]), lines.columns[j]));
  };
  if (run > 1 && lines.run == run)
    return kernel.loadRun(lines.access->view, at(j), run);
  for (int64_t n = 0; n < run; ++n)
    values.push_back(kernel.load(lines.access->view, at(j + n)));
  return values;
}

void Contraction::write(ArrayRef<Value> run, const Lines &lines, int64_t i, int64_t j) {
  auto at = [&](int64_t j) {
    return kernel.index(kernel.add(kernel.add(lines.base, lines.rows[i]), lines.columns[j]));
  };
  if (run.size() > 1 && lines.run == static_cast<int64_t>(run.size()))
    return kernel.storeRun(run, lines.access->view, at(j));
  for (auto [n, v] : llvm::enumerate(run))
    kernel.store(v, lines.access->view, at(j + n));
}

void Contraction::store(ValueRange sums, Value firstM, Value firstN, Value batch,
                        OpFoldResult partOffset, bool fresh) {
  // Places in the product, outside ones null where all are inside.
  struct Line {
    Value at, inside;
  };
  auto lines = [&](const Spread &spread, Value first, int64_t side, OpFoldResult size) {
    auto known = getConstantIntValue(size);
    bool whole = known && *known % side == 0;
    OpFoldResult from = kernel.add(first, spread.base);
    SmallVector<Line> result;
    for (int64_t further : spread.further) {
      Value at = kernel.index(kernel.add(from, kernel.fixed(further)));
      result.push_back({at, whole ? Value() : less(at, size)});
    }
    return result;
  };
  Spread ofRows = spread(true), ofColumns = spread(false);
  SmallVector<Line> down = lines(ofRows, firstM, tile.m, sizeOf(rows)),
                    across = lines(ofColumns, firstN, tile.n, sizeOf(columns));
  // Neighbours are stored at once where none of them can be outside alone.
  int64_t run = ofColumns.run;
  auto last = columns.empty() ? std::nullopt : getConstantIntValue(ranges[columns.back()]);
  if (!last || *last % run)
    run = 1;

  auto operand = [&](const Access &access, OpFoldResult offset) {
    Linear place = *linear(access);
    auto depends = [&](ArrayRef<unsigned> loops) {
      return llvm::any_of(loops,
                          [&](unsigned i) { return getConstantIntValue(place.steps[i]) != 0; });
    };
    Lines result{&access,
                 kernel.add(kernel.add(place.base, along(place, batches, batch)), offset),
                 {},
                 {},
                 depends(rows),
                 depends(columns),
                 1,
                 {}};
    for (const Line &line : down)
      result.rows.push_back(along(place, rows, line.at));
    for (const Line &line : across)
      result.columns.push_back(along(place, columns, line.at));
    const int64_t bits = Kernel::stored(access.view.element).getIntOrFloatBitWidth();
    if (run > 1 && bits >= 8 && run * bits / 8 <= kernel.limits.vectorBytes &&
        isRun(access, columns.back(), run) && isRun(outs[0], columns.back(), run))
      result.run = run;
    return result;
  };
  // What depends on rows or on columns alone is loaded once for each. What lies outside has the
  // first element's address.
  auto loadOnce = [&](Lines &operand) {
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
  };
  std::optional<Points> after;
  SmallVector<Lines> read, written;
  if (epilogue) {
    after.emplace(kernel, epilogue->op);
    for (size_t n = 2; n < ins.size(); ++n) {
      read.push_back(ins[n].map ? operand(ins[n], kernel.fixed(0)) : Lines());
      if (ins[n].map)
        loadOnce(read.back());
    }
    for (size_t n = 1; n < outs.size(); ++n)
      written.push_back(operand(outs[n], kernel.fixed(0)));
  }
  bool storesSums = !epilogue || epilogue->keepsSums;
  std::optional<Lines> own;
  if (storesSums || !init[0])
    own = operand(outs[0], partOffset);

  for (int64_t i = 0; i < tile.threadM; ++i)
    for (int64_t j = 0; j < tile.threadN; j += run) {
      OpBuilder::InsertionGuard guard(b);
      Value inside = down[i].inside;
      if (Value other = across[j].inside)
        inside = inside ? arith::AndIOp::create(b, loc, inside, other).getResult() : other;
      if (inside) {
        auto branch = scf::IfOp::create(b, loc, inside, /*withElseRegion=*/false);
        b.setInsertionPointToStart(branch.thenBlock());
      }
      SmallVector<Value> values(sums.slice(i * tile.threadN + j, run));
      if (!fresh) {
        SmallVector<Value> old(run, init[0]);
        if (!init[0])
          old = this->read(*own, i, j, run);
        for (auto [v, start] : llvm::zip_equal(values, old))
          v = isa<FloatType>(type) ? arith::AddFOp::create(b, loc, start, v).getResult()
                                   : arith::AddIOp::create(b, loc, start, v).getResult();
      }
      if (storesSums)
        write(values, *own, i, j);
      if (!epilogue)
        continue;
      SmallVector<SmallVector<Value>> elements;
      for (auto [n, lines] : llvm::enumerate(read))
        elements.push_back(n == epilogue->sum ? values
                           : lines.access     ? this->read(lines, i, j, run)
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
        write(all, lines, i, j);
    }
}
