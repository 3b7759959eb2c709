// The state of lowering one function: where each array is found, as a view, and how to build
// linalg ops that read views. The op families (Elementwise, Reduce, Contract, Shape, Index) say
// what is computed.
#ifndef XTENSOR_TOLINALG_LOWERING_H
#define XTENSOR_TOLINALG_LOWERING_H

#include "ToLinalg/TypeConversion.h"
#include "mlir/Dialect/Utils/StructuredOpsUtils.h"
#include "mlir/IR/AffineMap.h"

namespace xtensor {

using Names = llvm::SmallVector<mlir::StringAttr>;

/// How to get at the elements of an array. `map` goes from the array's dims, in order, to the
/// axes of a tensor, or (iota) to the element itself; a scalar is one value for all elements.
/// Renames, broadcasts, slices, reversals and new orders only change the map.
struct View {
  enum Kind { Tensor, Scalar, Iota } kind = Tensor;
  mlir::Value source; // null for iota
  mlir::AffineMap map;
  mlir::Type element; // as in the array's type

  /// The same elements at `access`(loops).
  View at(mlir::AffineMap access) const;
  /// Every axis is a dim of its own and every dim an axis.
  bool isPermutation() const { return kind == Tensor && map.isPermutation(); }
};

/// A tensor whose axes are an array's dims in some order.
struct Stored {
  mlir::Value tensor;
  Names order;
};

class Lowering {
public:
  Lowering(mlir::func::FuncOp func, mlir::ArrayAttr &sites)
      : b(func.getContext()), func(func), sites(sites) {}

  mlir::OpBuilder b;
  /// Parts of the target that an update by position is done in at most: more than CPUs have use for
  /// where workgroups of a device share it.
  int64_t updateBlocks = 8;
  bool isForDevice() const { return updateBlocks >= 64; }
  /// Bits of the numbers that a device's threads can update side by side; 0: none.
  int64_t atomicBits = 0;
  /// Sums and products of floats are taken in the order of the indices all the same.
  bool inOrder = false;
  /// The runtime multiplies matrices of bfloat16.
  bool bfloat16Products = false;
  mlir::Location loc() const { return location; }
  void at(mlir::Operation *op) {
    b.setInsertionPoint(op);
    location = op->getLoc();
  }

  //===- where arrays are ---===//
  void set(mlir::Value array, View view) { views[array] = view; }
  void setTensor(mlir::Value array, mlir::Value tensor);
  void setScalar(mlir::Value array, mlir::Value scalar);
  /// `tensor` has the array's dims in `order`.
  void setStored(mlir::Value array, mlir::Value tensor, llvm::ArrayRef<mlir::StringAttr> order);
  View view(mlir::Value array) const { return views.lookup(array); }
  /// Read in loops over `loops`, among them all of the array's dims.
  View access(mlir::Value array, llvm::ArrayRef<mlir::StringAttr> loops) const;
  /// The array as a tensor of its converted type.
  mlir::Value tensor(mlir::Value array);
  /// The array as a tensor in the order in which it is stored. A slice becomes a
  /// tensor.extract_slice. Any other view that is not a permutation is copied.
  Stored stored(mlir::Value array);
  /// Which axes of a tensor that has dims in `order` are those of `dims`: what a routine is told.
  mlir::Attribute axes(llvm::ArrayRef<mlir::StringAttr> order,
                       llvm::ArrayRef<mlir::StringAttr> dims);
  /// A copy with the dims in `order` and `element` in memory (null: the array's own).
  mlir::Value packed(mlir::Value array, llvm::ArrayRef<mlir::StringAttr> order,
                     mlir::Type element = {});

  /// A tensor that the body does not read. It gives the range of a loop that appears only in sums.
  View range(mlir::StringAttr loop, ArrayType type, llvm::ArrayRef<mlir::StringAttr> loops);

  //===- sizes ---===//
  void noteSize(mlir::StringAttr name, mlir::Value index) {
    if (sizes.try_emplace(name, index).second)
      frames.back().sizes.push_back(name);
  }
  /// The size of `name`, or null while nothing that has it was met.
  mlir::Value knownSize(mlir::StringAttr name) const { return sizes.lookup(name); }
  void noteSizes(mlir::Value tensor, ArrayType type);
  mlir::OpFoldResult sizeOf(mlir::StringAttr name, ArrayType type);
  mlir::Value sizeValue(mlir::StringAttr name, ArrayType type);
  /// The value of a size operand (an i64 array without dims) as an index.
  mlir::Value indexOf(mlir::Value sizeArray);
  mlir::Value index(int64_t value);

  //===- building ---===//
  mlir::Value empty(ArrayType type, mlir::Type element = {});
  /// Of `stored` (in memory form) in every element.
  mlir::Value filled(ArrayType type, mlir::Value stored);
  mlir::Value constant(mlir::TypedAttr attr);
  /// A number in the memory form of `element`.
  mlir::Value number(mlir::Type element, double value);

  /// Elements of the inputs in memory form, old values of the outputs -> new values.
  using Body = llvm::function_ref<llvm::SmallVector<mlir::Value>(
      mlir::OpBuilder &, mlir::Location, mlir::ValueRange, mlir::ValueRange)>;
  llvm::SmallVector<mlir::Value> generic(llvm::ArrayRef<View> inputs, mlir::ValueRange inits,
                                         llvm::ArrayRef<mlir::AffineMap> initMaps,
                                         unsigned reductions, Body body);
  /// A result of `type`, elementwise in loops over its dims.
  mlir::Value elementwise(
      ArrayType type, llvm::ArrayRef<View> inputs,
      llvm::function_ref<mlir::Value(mlir::OpBuilder &, mlir::Location, mlir::ValueRange)> body);
  /// The element at `indices` (index values for the view's dims), in memory form.
  static mlir::Value elementAt(mlir::OpBuilder &b, mlir::Location loc, const View &view,
                               mlir::ValueRange indices);
  /// From `loops` to `dims`.
  mlir::AffineMap mapTo(llvm::ArrayRef<mlir::StringAttr> loops,
                        llvm::ArrayRef<mlir::StringAttr> dims) const;

  //===- regions ---===//
  /// Between the two, code goes into a region of `op`, whose block was `old` before: what is
  /// made there is forgotten at the end. A loop's captured arrays are brought to memory before it.
  void enter(mlir::Operation *op, mlir::Block *old, bool isLoop);
  void leave();
  bool insideRegion() const { return frames.size() > 1; }
  /// The only element of an array without dims, in memory form; of a captured one read once.
  mlir::Value numberOf(mlir::Value array);

  //===- reports of the compiled program ---===//
  /// Number of the place in the source that a report names.
  int32_t addSite(mlir::StringAttr dim, bool isUnsigned = false);
  /// Whether the pair is new: one check per index array and dim's size is enough.
  bool firstCheck(mlir::Value index, mlir::Attribute dim, int64_t size) {
    Check check = {{index.getAsOpaquePointer(), dim.getAsOpaquePointer()}, size};
    if (!checked.insert(check).second)
      return false;
    frames.back().checks.push_back(check);
    return true;
  }
  mlir::func::FuncOp getFunc() const { return func; }
  /// The LU factors of a matrix with given dims (Factors.cpp): solves and determinants share them.
  llvm::DenseMap<std::pair<mlir::Value, mlir::Attribute>, llvm::SmallVector<mlir::Value>> factors;
  /// Ops whose results an op before them has given.
  llvm::DenseSet<mlir::Operation *> lowered;
  /// How many steps a scan takes, where a loop before it ended early (Control.cpp).
  llvm::DenseMap<mlir::Operation *, mlir::Value> stepsTaken;

private:
  using Check = std::pair<std::pair<const void *, const void *>, int64_t>;
  /// What became known since a region was entered; the function itself is the first.
  struct Frame {
    mlir::Operation *op = nullptr;
    mlir::Block *old = nullptr;
    bool isLoop = false;
    llvm::SmallVector<mlir::Value> tensors, numbers;
    llvm::SmallVector<mlir::StringAttr> sizes;
    llvm::SmallVector<Check> checks;
  };

  mlir::Value copied(const View &view, ArrayType type);
  /// Moves the insertion point out of the loops that `array` comes into from outside; returns
  /// the frame that it is in then.
  Frame &leaveLoopsAround(mlir::Value array);

  mlir::func::FuncOp func;
  mlir::ArrayAttr &sites;
  mlir::Location location = mlir::UnknownLoc::get(func.getContext());
  llvm::DenseMap<mlir::Value, View> views;
  llvm::DenseMap<mlir::Value, mlir::Value> tensors; // in the array's order, made on demand
  llvm::DenseMap<mlir::Value, mlir::Value> numbers; // of arrays without dims that were read
  llvm::DenseMap<mlir::StringAttr, mlir::Value> sizes;
  llvm::DenseSet<Check> checked;
  llvm::SmallVector<Frame, 2> frames = {Frame()};
};

/// Whether every dim that a loop over `type` needs is read plainly by some map: linalg infers
/// loop sizes from those.
bool readsPlainly(const View &view, unsigned loop);
/// Whether an axis is read at a sum of two loops.
bool readsWindows(const View &view);
/// The source without what lies behind the array's end. An axis that is read as a plain dim gives
/// a loop its range, so it must have the dim's size (`x[0:2]` reads nothing else of `x`). Where
/// that is open, it is shorter only if the axis was not read as a plain dim `before`.
mlir::Value cutOff(const View &view, mlir::AffineMap before, ArrayType type, Lowering &to);

//===- op families ---------------------------------------------------------===//

void lowerElementwise(mlir::Operation *op, Lowering &to);
void lowerReduce(ReduceOp op, Lowering &to);
void lowerCumulative(CumulativeOp op, Lowering &to);
void lowerRecurrence(RecurrenceOp op, Lowering &to);
void lowerContract(ContractOp op, Lowering &to);
mlir::LogicalResult lowerFactors(mlir::Operation *op, Lowering &to);
mlir::LogicalResult lowerShape(mlir::Operation *op, Lowering &to);
/// `whole` with the array written into it, whose dims are `type`'s in any order. Written by a
/// generic, so that views need no copy of their own and what computes them can fuse.
mlir::Value inserted(mlir::Value array, mlir::Value whole, llvm::ArrayRef<int64_t> offsets,
                     llvm::ArrayRef<int64_t> strides, ArrayType type, Lowering &to);
void lowerGather(GatherOp op, Lowering &to);
/// Lowers a gather that rolls its source by a number: whether it is one.
bool lowerRoll(GatherOp op, Lowering &to);
/// Lowers what shows a number beyond the ends of a shifted array: whether it does.
bool lowerShift(SelectOp op, Lowering &to);
/// Lowers the derivative of a roll or a shift, which adds to zeros: whether it is one.
bool lowerShiftBack(ScatterOp op, Lowering &to);
/// Whether nothing but such a select reads the gather.
bool isPartOfShift(GatherOp op, Lowering &to);
void lowerCallback(CallbackOp op, Lowering &to);
/// A collective; failure: it is none.
mlir::LogicalResult lowerCollective(mlir::Operation *op, Lowering &to);
void lowerArgsort(ArgsortOp op, Lowering &to);
/// Lowers an order of short rows together with what reads elements at its places: whether it does.
bool lowerSmallSort(ArgsortOp op, Lowering &to);
/// Lowers a gather that sorts its source: whether it is one.
bool lowerSort(GatherOp op, Lowering &to);
void lowerFourier(FourierOp op, Lowering &to);
void lowerAccumulate(AccumulateOp op, Lowering &to);
void lowerScatter(ScatterOp op, Lowering &to);
void lowerWindow(WindowOp op, Lowering &to);
void lowerOverlapAdd(OverlapAddOp op, Lowering &to);
/// The loop or branches; the regions' ops are lowered by `body`.
using LowerBlock = llvm::function_ref<mlir::LogicalResult(mlir::Block &)>;
mlir::LogicalResult lowerControl(mlir::Operation *op, Lowering &to, LowerBlock body);
/// Makes the program report an index outside of `dim` (IndexCheck.cpp).
void checkIndex(mlir::Value index, mlir::StringAttr dim, ArrayType source, Lowering &to);
/// Makes the program report `index` and `size` (i64) for `dim` where the condition holds.
void reportWhere(mlir::Value condition, mlir::StringAttr dim, mlir::Value index, mlir::Value size,
                 Lowering &to, bool isUnsigned = false);
/// An index with negative ones counted from the end, not yet clamped; `size` is an i64.
mlir::Value fromEnd(mlir::OpBuilder &b, mlir::Location loc, mlir::Value index64, mlir::Value size,
                    mlir::Type element);
/// Clamps what `fromEnd` returned to [0, size), as an index; 0 where size is 0. If an index out of
/// range is an error, nobody reads what it gives, and one comparison may do for both ends.
mlir::Value clampedIndex(mlir::OpBuilder &b, mlir::Location loc, mlir::Value index64,
                         mlir::Value size, mlir::Type element, IndexMode mode);

/// What an elementwise op computes of one element, on compute types (NumberRules.cpp); the
/// result may be in memory form already. `element` is the operands' element type.
mlir::Value emitElement(mlir::OpBuilder &b, mlir::Operation *op, mlir::ValueRange x,
                        mlir::Type element, mlir::Type result);

} // namespace xtensor

#endif // XTENSOR_TOLINALG_LOWERING_H
