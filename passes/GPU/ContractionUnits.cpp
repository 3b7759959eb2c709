// Matrix products (Contraction) by matrix units for half precision, which a subgroup uses
// together: NVIDIA's through PTX, others through Vulkan's cooperative matrices.
#include "GPU/Contraction.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/NVGPU/IR/NVGPUDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace xtensor::gpu;

//===- whose sums are whose --------------------------------------------------===//

/// The first row or column of a subgroup's part of the tile.
Value Contraction::blockOf(Value subgroup, bool ofRows) {
  const Unit &unit = *kernel.limits.unit;
  Value across = kernel.index(tile.n / (unit.across * tile.threadN));
  Value block = ofRows ? arith::DivUIOp::create(b, loc, subgroup, across).getResult()
                       : arith::RemUIOp::create(b, loc, subgroup, across).getResult();
  const int64_t each = ofRows ? unit.down * tile.threadM : unit.across * tile.threadN;
  return kernel.index(kernel.mul(block, kernel.fixed(each)));
}

/// A subgroup has a block of the tile, made of the unit's results. In each of those a thread has a
/// run of columns, of its own row and of every `down`-th behind it.
Contraction::Spread Contraction::spreadOfUnits(bool ofRows) {
  const Unit &unit = *kernel.limits.unit;
  auto part = [&](Value x, int64_t by, bool high) -> Value {
    if (high)
      return arith::DivUIOp::create(b, loc, x, kernel.index(by));
    return arith::RemUIOp::create(b, loc, x, kernel.index(by));
  };
  Value thread = kernel.threadId();
  Value lane = part(thread, unit.lanes(), false), subgroup = part(thread, unit.lanes(), true);
  Spread result;
  result.run = ofRows ? 1 : unit.n / unit.across;
  OpFoldResult inside = kernel.mul(part(lane, unit.across, ofRows), kernel.fixed(result.run));
  result.base = kernel.index(kernel.add(blockOf(subgroup, ofRows), inside));
  const int64_t inUnit = ofRows ? unit.m / unit.down : result.run;
  for (int64_t i = 0; i < (ofRows ? tile.threadM : tile.threadN); ++i)
    result.further.push_back(ofRows ? i / inUnit * unit.m + i % inUnit * unit.down
                                    : i / inUnit * unit.n + i % inUnit);
  return result;
}

//===- cooperative matrices --------------------------------------------------===//

static Type matrixOf(ArrayRef<int64_t> shape, Type type, StringRef role) {
  return mlir::gpu::MMAMatrixType::get(shape, type, role);
}

/// Results of the unit that a subgroup sums: zeros.
SmallVector<Value> Contraction::noMatrices() {
  const Unit &unit = *kernel.limits.unit;
  const int64_t count = tile.threadM * tile.threadN * unit.lanes() / (unit.m * unit.n);
  Value zero = arith::ConstantOp::create(b, loc, b.getZeroAttr(type));
  Value none = mlir::gpu::SubgroupMmaConstantMatrixOp::create(
      b, loc, matrixOf({unit.m, unit.n}, type, "COp"), zero);
  return SmallVector<Value>(count, none);
}

/// Which subgroup this is, its driver says: all its threads have to load the same.
void Contraction::multiplyMatrices(Value buffer, SmallVectorImpl<Value> &sums) {
  const Unit &unit = *kernel.limits.unit;
  Value subgroup = mlir::gpu::SubgroupIdOp::create(b, loc, b.getIndexType(), IntegerAttr());
  auto load = [&](const Loads &loads, bool ofRows, int64_t side, int64_t k) -> Value {
    OpFoldResult at = kernel.mul(buffer, kernel.fixed(loads.elements));
    at = kernel.add(at, kernel.mul(blockOf(subgroup, ofRows), kernel.fixed(loads.sideStep)));
    at = kernel.add(at, kernel.fixed(side * loads.sideStep + k * loads.depthStep));
    auto matrix =
        ofRows ? matrixOf({unit.m, unit.k}, half, "AOp") : matrixOf({unit.k, unit.n}, half, "BOp");
    // Rows of the left factor lie along the depth, those of the right one across.
    bool transposed = loads.deep != ofRows;
    return mlir::gpu::SubgroupMmaLoadMatrixOp::create(
        b, loc, matrix, loads.memory.flat, kernel.index(at),
        b.getIndexAttr(loads.deep ? loads.sideStep : loads.depthStep),
        transposed ? b.getUnitAttr() : UnitAttr());
  };
  const int64_t down = unit.down * tile.threadM / unit.m,
                across = unit.across * tile.threadN / unit.n;
  for (int64_t k = 0; k < tile.k; k += unit.k) {
    SmallVector<Value> x, y;
    for (int64_t i = 0; i < down; ++i)
      x.push_back(load(left, true, i * unit.m, k));
    for (int64_t j = 0; j < across; ++j)
      y.push_back(load(right, false, j * unit.n, k));
    for (int64_t i = 0; i < down; ++i)
      for (int64_t j = 0; j < across; ++j) {
        Value &sum = sums[i * across + j];
        sum = mlir::gpu::SubgroupMmaComputeOp::create(b, loc, sum.getType(), x[i], y[j], sum,
                                                      UnitAttr(), UnitAttr());
      }
  }
}

/// The sums of a thread, from where their subgroup leaves them: one result of the unit after the
/// other, in two places in turn. A thread that waits for one has read the one before the last.
SmallVector<Value> Contraction::sumsOf(ValueRange matrices) {
  const Unit &unit = *kernel.limits.unit;
  const int64_t down = unit.m / unit.down, run = unit.n / unit.across,
                across = unit.across * tile.threadN / unit.n, size = unit.m * unit.n,
                subgroups = tile.threads() / unit.lanes();
  SmallVector<Value> sums(tile.threadM * tile.threadN);
  Value thread = kernel.threadId();
  auto part = [&](Value x, int64_t by, bool high) -> OpFoldResult {
    if (high)
      return arith::DivUIOp::create(b, loc, x, kernel.index(by)).getResult();
    return arith::RemUIOp::create(b, loc, x, kernel.index(by)).getResult();
  };
  auto times = [&](OpFoldResult x, int64_t by) { return kernel.mul(x, kernel.fixed(by)); };
  Value id = mlir::gpu::SubgroupIdOp::create(b, loc, b.getIndexType(), IntegerAttr());
  OpFoldResult to = times(id, size);
  Value lane = kernel.index(part(thread, unit.lanes(), false));
  OpFoldResult from = kernel.add(times(part(thread, unit.lanes(), true), size),
                                 kernel.add(times(part(lane, unit.across, true), unit.n),
                                            times(part(lane, unit.across, false), run)));
  for (auto [number, matrix] : llvm::enumerate(matrices)) {
    const int64_t n = static_cast<int64_t>(number), turn = n % 2 * subgroups * size;
    mlir::gpu::SubgroupMmaStoreMatrixOp::create(b, loc, matrix, passage.flat,
                                                kernel.index(kernel.add(to, kernel.fixed(turn))),
                                                b.getIndexAttr(unit.n), UnitAttr());
    mlir::gpu::BarrierOp::create(b, loc);
    for (int64_t i = 0; i < down; ++i)
      for (int64_t j = 0; j < run; ++j)
        sums[(n / across * down + i) * tile.threadN + n % across * run + j] = kernel.load(
            passage,
            kernel.index(kernel.add(from, kernel.fixed(turn + i * unit.down * unit.n + j))));
  }
  return sums;
}

//===- mma.sync --------------------------------------------------------------===//

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
  Value subgroup =
      arith::DivUIOp::create(b, loc, thread, kernel.index(kernel.limits.unit->lanes()));
  auto times = [&](Value x, int64_t by) { return kernel.mul(x, kernel.fixed(by)); };
  OpFoldResult side = kernel.add(blockOf(subgroup, ofRows), times(ofRows ? odd : upper, 8));
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
  const Unit &unit = *kernel.limits.unit;
  for (int64_t k = 0; k < tile.k; k += unit.k) {
    SmallVector<SmallVector<Value>> x, y;
    for (int64_t i = 0; i < tile.threadM / 2; ++i)
      x.push_back(fragments(left, atA, i * unit.m, k));
    for (int64_t j = 0; j < tile.threadN / 4; ++j)
      y.push_back(fragments(right, atB, j * 2 * unit.n, k));
    for (int64_t i = 0; i < tile.threadM / 2; ++i)
      for (int64_t j = 0; j < tile.threadN / 2; ++j) {
        SmallVector<Value *> places;
        for (int64_t e = 0; e < 4; ++e)
          places.push_back(&sums[(2 * i + e / 2) * tile.threadN + 2 * j + e % 2]);
        SmallVector<Value> old;
        for (Value *place : places)
          old.push_back(*place);
        ValueRange factor = ValueRange(y[j / 2]).slice(j % 2 * 2, 2);
        Value sum = NVVM::MmaOp::create(b, loc, four, x[i], factor, old,
                                        ArrayRef<int64_t>{unit.m, unit.n, unit.k}, std::nullopt,
                                        std::nullopt, std::array{kind, kind},
                                        std::array{NVVM::MMALayout::row, NVVM::MMALayout::col});
        for (auto [e, place] : llvm::enumerate(places))
          *place = LLVM::ExtractValueOp::create(b, loc, sum, static_cast<int64_t>(e));
      }
  }
}
