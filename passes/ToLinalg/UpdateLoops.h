// The loops of updates by position, which what lowers them sets up and reads the results of.
#ifndef XTENSOR_PASSES_TOLINALG_UPDATELOOPS_H
#define XTENSOR_PASSES_TOLINALG_UPDATELOOPS_H

#include "Estimates.h"
#include "ToLinalg/Lowering.h"

#include <functional>

namespace xtensor {

/// A part of a dim: from `offset`, `length` long. The axis of a single place is dropped where rows
/// are read and written.
struct Span {
  mlir::Value offset;
  mlir::OpFoldResult length;
  int64_t size;
  bool single = false;
};
using Spans = llvm::SmallDenseMap<mlir::StringAttr, Span, 4>;

/// The operands of a tensor.extract_slice or insert_slice.
struct Box {
  llvm::SmallVector<mlir::OpFoldResult> offsets, lengths, strides;
  llvm::SmallVector<int64_t> shape;
  Names dims;
};

class UpdateLoops {
public:
  /// What an update makes of the old value, in compute types.
  using Combine = llvm::function_ref<mlir::Value(mlir::OpBuilder &, mlir::Location, mlir::Value old,
                                                 mlir::ValueRange updates)>;

  UpdateLoops(Lowering &to, mlir::Value target, mlir::ValueRange indices, mlir::ArrayAttr along,
              IndexMode mode, llvm::ArrayRef<mlir::Value> updates, Combine combine);

  /// Half precision is kept in f32 until the end: the whole target, or the places of few updates.
  void accumulate();
  /// An extremum of bfloat16 is one of them, so f32 changes nothing. Where elements are updated one
  /// by one, or columns, each is rounded once then, by vectors, and not at each update.
  void widenExtrema();
  /// A maximum of many numbers changes a few times. Where it does not, nothing is stored, and the
  /// next update of the same place does not wait for a store.
  void expectFewChanges(ScatterKind kind);
  void goBackwards() { backwards = true; }

  /// Whether a device's threads may do updates of this kind side by side: what comes out is the
  /// same in any order, but for the rounding of sums and products of floats.
  bool mayTakeAnyOrder(ScatterKind kind) const;
  /// What is narrower than a word is kept in words until the end.
  void takeAnyOrder();

  /// The target after all updates.
  mlir::Value last();

  /// The target after all updates, and what each update found: an array of `view`, which has the
  /// dims of a gather. Where there is `times`, its product with that.
  std::pair<mlir::Value, mlir::Value> lastAndStates(ArrayType view, mlir::Value times = {});

  /// As the array's type has it.
  mlir::Value narrowed(mlir::Value result);

private:
  void prepare();

  /// A tensor that may be written to, or a copy of one; bufferization tells which.
  mlir::Value start();
  bool isWide() const { return memory != storageType(element); }
  /// An element of an array as the tensor that is carried has it.
  mlir::Value inMemory(mlir::OpBuilder &b, mlir::Location loc, mlir::Value stored) const;
  /// Of the numbers that threads update; those of fewer are kept in words.
  int64_t bitsAtOnce() const;

  //===- threads ---===//

  bool isParallel();
  Amount rowSize() const;
  /// A device has workgroups for many blocks.
  bool isShared() const { return to.isForDevice(); }
  /// Every block looks at all positions, so short rows get few, unless most of the work is to copy
  /// or fill the target.
  int64_t numBlocks(mlir::StringAttr dim) const;
  /// The number of blocks, `most` at most, of equal size and without an empty one.
  int64_t filledBlocks(mlir::StringAttr dim, int64_t most) const;

  /// A temporary is updated where it is, anything else is copied part by part.
  bool isTemporary();

  /// A loop whose iterations own the parts `spans` of the target, and of `states` if it is given:
  /// both are the results.
  llvm::SmallVector<mlir::Value> forall(llvm::ArrayRef<mlir::OpFoldResult> ends, Amount work,
                                        llvm::function_ref<Spans(mlir::ValueRange)> spansOf,
                                        mlir::Value states = {});

  /// Updates of different places along these dims never meet.
  mlir::Value alongAligned();

  /// The longest of the dims that are written along, in blocks.
  mlir::Value inBlocks();

  /// All positions for each block of the dim that is stored first, which updates write slices
  /// along.
  mlir::Value inSlices();
  /// The rows of such a block; 0: there are none.
  int64_t rowsOfSlices() const;

  /// The longest of the dims that updates write slices along; none if it is short.
  mlir::StringAttr columns() const;
  /// All positions for each block of columns.
  llvm::SmallVector<mlir::Value> inColumns(mlir::StringAttr dim, mlir::Value states);

  /// The part of `dim` that a block has. `merges`: a thread may take neighbouring blocks as one.
  std::function<Spans(mlir::ValueRange)> blocksOf(mlir::StringAttr dim, int64_t blocks,
                                                  bool merges = false);

  //===- the loops ---===//

  static llvm::SmallVector<mlir::Attribute> attributes(llvm::ArrayRef<mlir::StringAttr> names);

  /// Makes one update, at a place of the target, of what is carried.
  using Update = llvm::function_ref<llvm::SmallVector<mlir::Value>(mlir::ValueRange carried,
                                                                   const Spans &place)>;

  /// All updates of what is carried: the target, or a part of it, and the states.
  llvm::SmallVector<mlir::Value> updated(mlir::ValueRange carried);
  /// Where no thread has its part, dims that are aligned are looped over like the others.
  Names looped() const;
  llvm::SmallVector<mlir::Value> loop(unsigned depth, mlir::ValueRange carried, Update update);

  llvm::SmallVector<mlir::Value> positionsOf(llvm::ArrayRef<mlir::StringAttr> dims);

  llvm::SmallVector<mlir::Value> step(mlir::ValueRange carried, Update update);

  mlir::Value getValue(mlir::OpFoldResult size);

  /// The value that `old` has after an update, both as in memory.
  mlir::Value combined(mlir::OpBuilder &b, mlir::Location loc, mlir::Value old,
                       mlir::ValueRange inputs) const;
  /// The value of a state as the array of states holds it.
  mlir::Value asState(mlir::OpBuilder &b, mlir::Location loc, mlir::Value old,
                      mlir::ValueRange inputs) const;

  /// This update's elements of the updates, or their rows along the dims that are sliced.
  llvm::SmallVector<mlir::Value> numbers();
  llvm::SmallVector<View> rows();

  llvm::SmallVector<mlir::Value> updateNumber(mlir::ValueRange carried, const Spans &place);

  /// What is carried, with the update unless `old` is beyond it already.
  mlir::Value insertedIfBeyond(mlir::Value old, mlir::ValueRange values, mlir::Value carried,
                               mlir::ValueRange at);

  llvm::SmallVector<mlir::Value> updateSlice(mlir::ValueRange carried, const Spans &place);

  /// This update's place among `dims`; of the sliced ones the part that this thread has.
  Spans spansOf(llvm::ArrayRef<mlir::StringAttr> dims);

  //===- few updates (FewUpdates.cpp) ---===//

  /// So few that widening their places pays, not the whole target.
  bool areFew() const;
  /// The target, or the part of a thread, after updates that are combined in a scratch.
  mlir::Value updatedInScratch(mlir::Value part);
  /// The number of this update among those of a thread.
  mlir::Value number();

  //===- slices ---===//

  /// The axes of `order` cut to `spans`; those of single places are dropped if asked for.
  Box box(llvm::ArrayRef<mlir::StringAttr> order, ArrayType of, const Spans &spans, bool drop);
  mlir::Value extract(mlir::Value tensor, const Box &box);
  mlir::Value insert(mlir::Value part, mlir::Value whole, const Box &box);

  Lowering &to;
  mlir::OpBuilder &b;
  mlir::Location loc;
  mlir::Value target;
  ArrayType type;
  mlir::ArrayAttr along;
  llvm::SmallVector<mlir::Value> indices;
  IndexMode mode;
  llvm::SmallVector<mlir::Value> updates;
  Combine combine;
  mlir::Type element, memory; // memory: of the tensor that is carried
  bool backwards = false, anyOrder = false, inScratch = false;
  std::optional<ScatterKind> rarely; // max or min, whose updates are mostly without effect
  bool multiplied = false;           // the last of the updates is a factor of the states

  ArrayType written;                    // the dims of all indices
  Names aligned, inOrder, sliced;       // dims of both; of indices alone; of the target alone
  ArrayType found;                      // of the states, if they are asked for
  llvm::SmallVector<Stored> stored;     // the updates, where slices of them are read
  llvm::SmallVector<mlir::Value> sizes; // of the dims along which is written, as i64
  Spans owned;                          // the part of the target that this thread has
  llvm::SmallDenseMap<mlir::StringAttr, mlir::Value> position;
};

} // namespace xtensor

#endif // XTENSOR_PASSES_TOLINALG_UPDATELOOPS_H
