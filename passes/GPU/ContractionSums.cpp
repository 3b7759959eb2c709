// Matrix products (Contraction): how a workgroup multiplies what it holds, and what becomes of the
// sums of a thread.
#include "GPU/Contraction.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/NVGPU/IR/NVGPUDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace xtensor::gpu;

/// Threads of a subgroup that has a unit, and the product that it makes at once.
constexpr int64_t kLanes = 32, kUnitRows = 16, kUnitColumns = 8;

//===- a thread's rows and columns -------------------------------------------===//

/// By threads: rows or columns come in runs of four, runs of all threads after each other: a
/// thread's reads of a run are one load, and those of its neighbours lie beside it. A subgroup of
/// 32 has 4 x 8 threads, where lanes that differ in bit 0 have the same columns, in bit 1 the same
/// rows: so its loads bring few different bytes, and those of neighbours are one.
///
/// By units: a subgroup has a block of 16 x 8 for each, in which a thread has, of rows lane / 4 and
/// 8 further, the columns 2 * (lane % 4) and the next.
Contraction::Spread Contraction::spread(bool ofRows) {
  const int64_t each = ofRows ? tile.threadM : tile.threadN, side = ofRows ? tile.m : tile.n;
  Value thread = kernel.threadId();
  auto digit = [&](Value x, int64_t by, bool high) -> Value {
    if (high)
      return arith::DivUIOp::create(b, loc, x, kernel.index(by));
    return arith::RemUIOp::create(b, loc, x, kernel.index(by));
  };
  Spread result;
  if (!half) {
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
    result.run = run;
    result.base = kernel.index(kernel.mul(place, kernel.fixed(run)));
    for (int64_t i = 0; i < each; ++i)
      result.further.push_back(i / run * run * (side / each) + i % run);
    return result;
  }
  const int64_t block = ofRows ? 8 * each : 4 * each; // of a subgroup
  const int64_t across = tile.n / (4 * tile.threadN);
  Value lane = digit(thread, kLanes, false), subgroup = digit(thread, kLanes, true);
  Value first = kernel.index(kernel.mul(digit(subgroup, across, ofRows), kernel.fixed(block)));
  Value inside = digit(lane, 4, ofRows);
  result.run = ofRows ? 1 : 2;
  result.base = kernel.index(kernel.add(first, kernel.mul(inside, kernel.fixed(result.run))));
  for (int64_t i = 0; i < each; ++i)
    result.further.push_back(ofRows ? i * 8 : i / 2 * kUnitColumns + i % 2);
  return result;
}

//===- products --------------------------------------------------------------===//

void Contraction::multiply(Value buffer, SmallVectorImpl<Value> &sums) {
  return half ? multiplyFragments(buffer, sums) : multiplyElements(buffer, sums);
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

/// Where a thread's address for `ldmatrix` is in a block of 16 x 16 at the subgroup's first row or
/// column: lanes 8 * q to 8 * q + 7 have the addresses of the q-th quarter's eight runs of 16
/// bytes. Quarters go down the rows first for the left factor, down the depth first for the right
/// one, as the unit wants its operands.
Value Contraction::fragmentBase(const Loads &loads, Value buffer, bool ofRows) {
  auto part = [&](Value x, int64_t by, int64_t modulo) -> Value {
    Value high = arith::DivUIOp::create(b, loc, x, kernel.index(by));
    return arith::RemUIOp::create(b, loc, high, kernel.index(modulo));
  };
  Value thread = kernel.threadId();
  Value run = part(thread, 1, 8), odd = part(thread, 8, 2), upper = part(thread, 16, 2);
  Value subgroup = arith::DivUIOp::create(b, loc, thread, kernel.index(kLanes));
  Value across = kernel.index(tile.n / (4 * tile.threadN));
  Value block = ofRows ? arith::DivUIOp::create(b, loc, subgroup, across).getResult()
                       : arith::RemUIOp::create(b, loc, subgroup, across).getResult();
  const int64_t rowsOfBlock = ofRows ? 8 * tile.threadM : 4 * tile.threadN;
  auto times = [&](Value x, int64_t by) { return kernel.mul(x, kernel.fixed(by)); };
  OpFoldResult side = kernel.add(times(block, rowsOfBlock), times(ofRows ? odd : upper, 8));
  OpFoldResult deep = times(ofRows ? upper : odd, 8);
  (loads.deep ? side : deep) = kernel.add(loads.deep ? side : deep, run);
  OpFoldResult at = times(buffer, loads.elements);
  at = kernel.add(at, kernel.mul(side, kernel.fixed(loads.sideStep)));
  return kernel.index(kernel.add(at, kernel.mul(deep, kernel.fixed(loads.depthStep))));
}

/// The four quarters of a block of 16 x 16, as the unit wants them.
SmallVector<Value> Contraction::fragments(const Loads &loads, Value base, int64_t side,
                                          int64_t depth) {
  Value at =
      kernel.index(kernel.add(base, kernel.fixed(side * loads.sideStep + depth * loads.depthStep)));
  auto quarters = VectorType::get({4, 2}, b.getI16Type());
  Value all = nvgpu::LdMatrixOp::create(b, loc, quarters, loads.memory.flat, at,
                                        /*transpose=*/!loads.deep, /*numTiles=*/4);
  SmallVector<Value> result;
  Type word =
      half.isBF16() ? Type(VectorType::get({1}, b.getI32Type())) : Type(VectorType::get({2}, half));
  for (int64_t q = 0; q < 4; ++q) {
    Value quarter = vector::ExtractOp::create(b, loc, all, q);
    quarter = vector::BitCastOp::create(b, loc, cast<VectorType>(word), quarter);
    result.push_back(half.isBF16() ? vector::ExtractOp::create(b, loc, quarter, 0).getResult()
                                   : quarter);
  }
  return result;
}

void Contraction::multiplyFragments(Value buffer, SmallVectorImpl<Value> &sums) {
  Value atA = fragmentBase(left, buffer, true), atB = fragmentBase(right, buffer, false);
  const auto kind = half.isBF16() ? NVVM::MMATypes::bf16 : NVVM::MMATypes::f16;
  Type f32 = b.getF32Type();
  auto four = LLVM::LLVMStructType::getLiteral(b.getContext(), {f32, f32, f32, f32});
  for (int64_t k = 0; k < tile.k; k += Tile::kUnitDepth) {
    SmallVector<SmallVector<Value>> x, y;
    for (int64_t i = 0; i < tile.threadM / 2; ++i)
      x.push_back(fragments(left, atA, i * kUnitRows, k));
    for (int64_t j = 0; j < tile.threadN / 4; ++j)
      y.push_back(fragments(right, atB, j * 2 * kUnitColumns, k));
    for (int64_t i = 0; i < tile.threadM / 2; ++i)
      for (int64_t j = 0; j < tile.threadN / 2; ++j) {
        SmallVector<Value *> places;
        for (int64_t e = 0; e < 4; ++e)
          places.push_back(&sums[(2 * i + e / 2) * tile.threadN + 2 * j + e % 2]);
        SmallVector<Value> old;
        for (Value *place : places)
          old.push_back(*place);
        ValueRange factor = ValueRange(y[j / 2]).slice(j % 2 * 2, 2);
        Value sum =
            NVVM::MmaOp::create(b, loc, four, x[i], factor, old,
                                ArrayRef<int64_t>{kUnitRows, kUnitColumns, Tile::kUnitDepth},
                                std::nullopt, std::nullopt, std::array{kind, kind},
                                std::array{NVVM::MMALayout::row, NVVM::MMALayout::col});
        for (auto [e, place] : llvm::enumerate(places))
          *place = LLVM::ExtractValueOp::create(b, loc, sum, static_cast<int64_t>(e));
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
  std::optional<Leaf> after;
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
