// Matrix products, in tiles that workgroups hold in their memory.
#ifndef XTENSOR_PASSES_GPU_CONTRACTION_H
#define XTENSOR_PASSES_GPU_CONTRACTION_H

#include "GPU/Leaf.h"

namespace xtensor::gpu {

/// A sum over products of two operands, loops in any number and order: those of both operands and
/// the output are batches, those of one operand and the output rows or columns, the summed ones the
/// depth. Windows (an operand read at the sum of two loops) are loops like others.
class Contraction : public Leaf {
public:
  /// Null unless `op` is one, large enough for tiles to pay.
  static mlir::linalg::GenericOp match(mlir::Operation &op);

  Contraction(Kernel &kernel, mlir::linalg::GenericOp op, const Tile &tile,
              llvm::ArrayRef<mlir::Value> init);

  /// Sizes of the product; kDynamic if unknown.
  struct Shape {
    int64_t batches, m, n, k;
    int64_t bytes; // of what is multiplied
    llvm::SmallVector<unsigned> batchLoops, rows, columns;
  };
  static Shape shapeOf(mlir::linalg::GenericOp op);

  /// Emits what workgroup `group` of `groups` does. The depth is cut into `parts`; where there are
  /// several, the sums of a part are stored `partStep` elements after those of the part before.
  void emit(mlir::Value group, mlir::Value groups, int64_t parts, mlir::OpFoldResult partStep);

private:
  /// One operand's elements that a thread brings to the workgroup's memory.
  struct Loads {
    const Access *access;
    Linear place;
    mlir::Value argument; // of the body
    FlatView memory;
    int64_t side, sideLoops; // rows or columns of the tile
    int64_t row;             // elements between steps of the depth in memory
    bool deep;               // neighbours in memory are neighbours in depth
    llvm::SmallVector<mlir::Value> starts, slots, inside; // per element
    llvm::SmallVector<mlir::Value> depths;
  };

  mlir::OpFoldResult sizeOf(llvm::ArrayRef<unsigned> loops);
  mlir::OpFoldResult along(const Linear &place, llvm::ArrayRef<unsigned> loops, mlir::Value flat);
  void emitTile(mlir::Value number, int64_t parts, mlir::OpFoldResult partStep);
  void plan(Loads &loads, mlir::Value first, mlir::OpFoldResult size,
            llvm::ArrayRef<unsigned> loops, mlir::OpFoldResult batch);
  llvm::SmallVector<mlir::Value> fetch(const Loads &loads, mlir::Value depth, mlir::Value end);
  void keep(const Loads &loads, mlir::ValueRange values, mlir::Value at);
  void multiply(const Loads &a, const Loads &b, mlir::Value at,
                llvm::SmallVectorImpl<mlir::Value> &sums);
  mlir::Value converted(mlir::Value v, mlir::Value argument);
  mlir::Value less(mlir::Value x, mlir::OpFoldResult y);

  const Tile &tile;
  llvm::SmallVector<unsigned> batches, rows, columns, depth;
  Loads left, right; // of the rows, of the columns
  mlir::Type type;   // of what is multiplied
};

} // namespace xtensor::gpu

#endif // XTENSOR_PASSES_GPU_CONTRACTION_H
