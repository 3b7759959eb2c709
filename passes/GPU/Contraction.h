// Matrix products, in tiles that a workgroup holds in its memory.
#ifndef XTENSOR_PASSES_GPU_CONTRACTION_H
#define XTENSOR_PASSES_GPU_CONTRACTION_H

#include "GPU/Epilogue.h"

namespace xtensor::gpu {

/// A sum over products of two operands, loops in any number and order: those of both operands and
/// the output are batches, those of one operand and the output rows or columns, the summed ones the
/// depth. Windows (an operand read at the sum of two loops) are loops like others.
class Contraction : public Points {
public:
  /// Null unless `op` is one, large enough for tiles to pay.
  static mlir::linalg::GenericOp match(mlir::Operation &op);

  /// `epilogue`: what is done with the sums; null: they are stored.
  Contraction(Kernel &kernel, mlir::linalg::GenericOp op, const Tile &tile,
              llvm::ArrayRef<mlir::Value> init, const Epilogue *epilogue = nullptr);

  /// Sizes of the product; kDynamic if unknown.
  struct Shape {
    int64_t batches, m, n, k;
    int64_t bytes;   // of what is multiplied
    mlir::Type half; // of both factors, if it is half precision and summed in f32
    llvm::SmallVector<unsigned> batchLoops, rows, columns;
  };
  static Shape shapeOf(mlir::linalg::GenericOp op);
  /// The tile for a product of this shape, by the device's units where it has them; null if none
  /// fits.
  static const Tile *tileFor(const Shape &shape, const KernelLimits &limits);

  /// Emits what workgroup `group` of `groups` does. The depth is cut into `parts`; where there are
  /// several, the sums of a part are stored `partStep` elements after those of the part before.
  void emit(mlir::Value group, mlir::Value groups, int64_t parts, mlir::OpFoldResult partStep);

private:
  /// One operand's elements that a thread brings to the workgroup's memory, `width` at once.
  struct Loads {
    const Access *access;
    Linear place;
    mlir::Value argument; // of the body
    FlatView memory;
    int64_t side;                // rows or columns of the tile
    int64_t sideStep, depthStep; // between neighbours in the workgroup's memory
    int64_t elements;            // there, of a step
    bool deep;                   // neighbours in memory are neighbours in depth
    int64_t width;
    llvm::SmallVector<mlir::Value> starts, slots, inside; // per load
    llvm::SmallVector<mlir::Value> depths;
  };
  /// A row or a column of a thread's sums: how far it is from the first of the tile.
  struct Spread {
    mlir::Value base;
    llvm::SmallVector<int64_t> further;
    int64_t run; // neighbours
  };

  mlir::OpFoldResult sizeOf(llvm::ArrayRef<unsigned> loops);
  mlir::OpFoldResult along(const Linear &place, llvm::ArrayRef<unsigned> loops, mlir::Value flat);
  void emitTile(mlir::Value number, int64_t parts, mlir::OpFoldResult partStep);
  int64_t widthOf(const Loads &loads);
  void plan(Loads &loads, mlir::Value first, mlir::OpFoldResult size,
            llvm::ArrayRef<unsigned> loops, mlir::OpFoldResult batch);
  llvm::SmallVector<mlir::Value> fetch(const Loads &loads, mlir::Value depth, mlir::Value end);
  void keep(const Loads &loads, mlir::ValueRange values, mlir::Value at);
  llvm::SmallVector<mlir::Value> fetchRaw(const Loads &loads, mlir::Value at, mlir::Value there);
  void keepRaw(const Loads &loads, mlir::ValueRange values, mlir::Value slot);
  /// Values that a thread loads per step.
  int64_t valuesOf(const Loads &loads) const;
  mlir::Type typeOfLoads(const Loads &loads) const;
  mlir::Value converted(mlir::Value v, mlir::Value argument);
  mlir::Value less(mlir::Value x, mlir::OpFoldResult y);

  // ContractionSums.cpp
  Spread spread(bool ofRows);
  void multiply(mlir::Value buffer, llvm::SmallVectorImpl<mlir::Value> &sums);
  void multiplyElements(mlir::Value buffer, llvm::SmallVectorImpl<mlir::Value> &sums);

  // ContractionUnits.cpp
  Spread spreadOfUnits(bool ofRows);
  mlir::Value blockOf(mlir::Value subgroup, bool ofRows);
  llvm::SmallVector<mlir::Value> noMatrices();
  void multiplyMatrices(mlir::Value buffer, llvm::SmallVectorImpl<mlir::Value> &sums);
  llvm::SmallVector<mlir::Value> sumsOf(mlir::ValueRange matrices);
  void multiplyFragments(mlir::Value buffer, llvm::SmallVectorImpl<mlir::Value> &sums);
  mlir::Value fragmentBase(const Loads &loads, mlir::Value buffer, bool ofRows);
  llvm::SmallVector<mlir::Value> fragments(const Loads &loads, mlir::Value base, int64_t side,
                                           int64_t depth);

  // ContractionSums.cpp
  class SumStore;
  void store(mlir::ValueRange sums, mlir::Value firstM, mlir::Value firstN, mlir::Value batch,
             mlir::OpFoldResult partOffset, bool fresh);

  const Tile &tile;
  const Epilogue *epilogue;
  llvm::SmallVector<unsigned> batches, rows, columns, depth;
  Loads left, right; // of the rows, of the columns
  mlir::Type type;   // of what is summed
  mlir::Type half;   // of what the units multiply; null: threads multiply
  bool opaque;       // which thread holds which sum of a unit is unknown
  FlatView passage;  // of sums of opaque units, on their way to threads
};

} // namespace xtensor::gpu

#endif // XTENSOR_PASSES_GPU_CONTRACTION_H
