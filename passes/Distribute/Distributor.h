// The walk over a function that several processes run. Values change their types in place, in
// order: when an op is visited, its operands are those of one process, its results still those of
// all.
#ifndef XTENSOR_DISTRIBUTE_DISTRIBUTOR_H
#define XTENSOR_DISTRIBUTE_DISTRIBUTOR_H

#include "Distribute/DistributeRules.h"
#include "XTensor/Dims.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/SmallSet.h"
#include "llvm/Support/MathExtras.h"

namespace xtensor {

/// A dim of the mesh.
struct MeshDim {
  mlir::StringAttr name;
  int64_t processes;
  int64_t communicator;
  /// The blocks of all processes along it, of a program that is the same for any number of them;
  /// else 0.
  int64_t blocks = 0;
  /// The position of this process along it, in a program whose parts may differ in size; else -1.
  int64_t here = -1;

  /// The size of a part of a dim; the last part may be shorter.
  int64_t each(int64_t whole) const { return llvm::divideCeil(whole, processes); }
  /// Whether the last process has a part. Passes drop collectives whose results only empty arrays
  /// need, and they must not do that in one process.
  bool reaches(int64_t whole) const { return (processes - 1) * each(whole) < whole; }
  /// The size of this process's part.
  int64_t own(int64_t whole) const {
    return whole % processes == 0 ? whole / processes
                                  : std::clamp<int64_t>(whole - here * each(whole), 0, each(whole));
  }
  /// What must divide a dim that is split along it.
  int64_t pieces() const { return blocks ? blocks : processes; }
  /// The blocks of one process; 1 where there are none.
  int64_t mine() const { return pieces() / processes; }
};

class Distributor {
public:
  explicit Distributor(mlir::func::FuncOp func) : b(func.getContext()), func(func) {}

  /// The whole function.
  llvm::LogicalResult run();
  /// One op.
  llvm::LogicalResult visit(mlir::Operation *op);
  /// The ops of a block, and its terminator's operands.
  llvm::LogicalResult run(mlir::Block &block);

  //===- layouts ---===//
  /// The dim of the mesh of a dim of arrays, or null.
  const MeshDim *meshDim(mlir::Attribute dim) const;
  llvm::ArrayRef<MeshDim> meshDims() const { return mesh; }
  /// What a dim of a whole array is split along. Null: its name is not split, or its size cannot be
  /// divided and is not that of an argument or result, so that every process has all of it. The
  /// same holds for a size that differs by less than a part from those of arguments and results:
  /// its parts would lie elsewhere.
  const MeshDim *splitOf(ArrayType whole, mlir::Attribute dim) const;
  /// The same for the first of the values that has the dim.
  const MeshDim *splitOf(mlir::ValueRange parts, mlir::Attribute dim) const;
  /// What the dims of a whole array are split along.
  llvm::SmallPtrSet<const MeshDim *, 4> splitsOf(ArrayType whole) const;
  /// Whether results have the same bits for any number of processes.
  bool isDeterministic() const { return !mesh.empty() && mesh.front().blocks; }
  /// The type that one process has of an array; an error names two dims that are split along one
  /// dim of the mesh.
  llvm::FailureOr<ArrayType> partOf(ArrayType whole, mlir::Operation *op);
  /// The type of the array that all processes have together.
  ArrayType wholeOf(mlir::Value part) const;
  /// The same for the arguments of a block.
  llvm::LogicalResult setArguments(mlir::Block &block, mlir::Operation *op);

  //===- values, made before the op that is visited ---===//
  /// The array with all elements along those of `dims` that are split.
  mlir::Value whole(mlir::Value part, llvm::ArrayRef<mlir::Attribute> dims);
  /// Whether this process has computed all of a part along the dim.
  bool isTaken(mlir::Value part, mlir::Attribute dim) const;
  /// The array with all elements along `from`, `size` of which are split, and the part of this
  /// process along `to`, which is not; whether nothing needs to be sent for it.
  mlir::Value moved(mlir::Value part, mlir::StringAttr from, int64_t size, mlir::StringAttr to);
  bool isMoved(mlir::Value part, mlir::StringAttr from, mlir::StringAttr to) const;
  /// The part that the names say, of an array that is split along `from` and has all elements along
  /// `to`.
  mlir::Value movedBack(mlir::Value x, mlir::StringAttr from, mlir::StringAttr to);
  /// The array with zeros added at the end of a dim, up to `size`.
  mlir::Value padded(mlir::Value x, mlir::StringAttr dim, int64_t size);
  /// This process's elements along `dim` of an array that has all.
  mlir::Value part(mlir::Value whole, mlir::StringAttr dim);
  mlir::Value part(mlir::Value whole, ArrayType wanted);
  /// The position in the whole array of the first element that this process has, of `size`.
  mlir::Value firstOf(const MeshDim &along, int64_t size, mlir::Type element);
  /// The array with elements of this type.
  mlir::Value as(mlir::Value x, mlir::Type element);
  /// Floats of 16 bits as 32: sums of parts are rounded once, after they are combined.
  mlir::Value widened(mlir::Value part);
  /// Partial results of each process, combined across dims of the mesh, as arrays of `element`.
  mlir::Value combined(ReduceKind kind, mlir::Value partial, llvm::ArrayRef<const MeshDim *> across,
                       mlir::Type element);

  //===- ops ---===//
  /// Infers the types of an op's results again, where they follow from its operands.
  llvm::LogicalResult infer(mlir::Operation *op);
  /// Works on arrays that are whole along `touched`, and takes the parts of the results.
  llvm::LogicalResult onWhole(mlir::Operation *op, llvm::ArrayRef<mlir::Attribute> touched);
  /// After the types of results were inferred: what used those that are whole uses their parts.
  void takeParts(mlir::Operation *op, llvm::ArrayRef<ArrayType> wanted);
  /// What uses `whole` gets this process's part of it, which is made here.
  void usePart(mlir::Value whole, ArrayType wanted);
  /// What uses `old` gets what `make` makes here, a part of the same array.
  void replaceUses(mlir::Value old, llvm::function_ref<mlir::Value()> make);
  /// The types of the results of an op that was not changed yet.
  llvm::FailureOr<llvm::SmallVector<ArrayType>> wantedOf(mlir::Operation *op);

  mlir::OpBuilder b;
  mlir::Location loc() const { return location; }

private:
  mlir::Value exchanged(mlir::Value x, const MeshDim &along, mlir::StringAttr from, int64_t size,
                        mlir::StringAttr to);
  bool isBetween(mlir::Attribute dim, int64_t size, const MeshDim &along) const;
  llvm::LogicalResult read();
  llvm::LogicalResult readBlocks();
  llvm::LogicalResult checkShape();
  llvm::LogicalResult checkSplit(mlir::TypeRange types, llvm::StringRef what);

  mlir::func::FuncOp func;
  mlir::Location location = func.getLoc();
  llvm::SmallVector<MeshDim> mesh;
  llvm::DenseMap<mlir::Attribute, unsigned> split; ///< dims of arrays -> places in `mesh`
  llvm::DenseMap<mlir::Attribute, llvm::SmallSet<int64_t, 4>> sizes; ///< of arguments, results
  llvm::DenseMap<mlir::Value, ArrayType> wholes; ///< the types of values before the pass
  /// Parts that `part` took, with the array and the dim.
  llvm::DenseMap<mlir::Value, std::pair<mlir::Value, mlir::StringAttr>> taken;
  llvm::SmallVector<GatherOp> parts; ///< the same, in order
  /// An array whose split has moved from one dim to another.
  struct MovedArray {
    mlir::StringAttr from, to;
    mlir::Value x;
    mlir::Block *block; ///< where `x` may be used
  };
  llvm::DenseMap<mlir::Value, llvm::SmallVector<MovedArray, 1>> moves; ///< by parts
  /// Arrays with zeros at the end of a dim: the same array for all that reads it in a block.
  llvm::DenseMap<std::tuple<mlir::Value, mlir::Attribute, mlir::Block *>, mlir::Value> longer;
};

} // namespace xtensor

#endif // XTENSOR_DISTRIBUTE_DISTRIBUTOR_H
