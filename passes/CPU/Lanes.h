// One element, or one vector of elements, of a kernel: reads operands, evaluates bodies and writes
// results.
#ifndef XTENSOR_PASSES_CPU_LANES_H
#define XTENSOR_PASSES_CPU_LANES_H

#include "CPU/Stage.h"

namespace xtensor::cpu {

/// A value of the body for all lanes at once.
struct Lane {
  enum Kind { Uniform, Iota, Vector }; // the same, first + lane number, any
  mlir::Value value;
  Kind kind = Uniform;
};

/// A mask that is on from lane `from` to before lane `to`.
mlir::Value maskOfLanes(mlir::OpBuilder &b, mlir::Location loc, int64_t width, int64_t from,
                        int64_t to);

/// A distinct access of the kernel; stages that read and write the same element share it.
struct Place {
  Access access;
  bool written = false;
  bool hoistable = false; // nothing in the kernel writes to its buffer
  bool isDead = false;    // nothing outside of the kernel reads what is written
  mlir::Value linear;     // index of the element, for the loops entered so far
};

/// The state at the insertion point: which loops are entered, which values are at hand.
class LaneEmitter {
public:
  LaneEmitter(mlir::OpBuilder &b, Kernel &kernel, Views &views, int vectorLoop, int64_t width);

  /// Lanes from here on; 1: a single element.
  int64_t width;
  int vectorLoop;
  mlir::Value mask; // of the lanes; null: all
  /// A point is computed for several vectors u: the first `perRow` follow each other along the
  /// vector loop, and the next ones do so one step further along `rowLoop`, and so on. -1: there
  /// are no rows.
  int rowLoop = -1;
  int64_t perRow = 1;

  bool isWide() const { return width > 1; }
  mlir::Type wide(mlir::Type type) const;

  /// Opens loop `loop` at `iv`. `State` puts things back as they were.
  void enter(unsigned loop, mlir::Value iv);
  /// Goes `by` steps further in a loop that is entered.
  void advance(unsigned loop, int64_t by);
  mlir::Value ivOf(unsigned loop) const { return ivs[loop]; }
  struct State {
    llvm::SmallVector<mlir::Value> linear, ivs;
    llvm::DenseMap<std::pair<unsigned, int64_t>, Lane> loaded;
  };
  State save() const;
  void restore(State state);

  /// Loads now what no loop of `remaining` changes.
  void preload(llvm::ArrayRef<unsigned> remaining, int64_t unroll);
  /// Forgets what was written and read at the last element.
  void beginPoint() { point.clear(); }

  unsigned placeOf(const Stage &stage, unsigned operand) const {
    return placeIds.lookup({&stage, operand});
  }
  Place &place(unsigned id) { return places[id]; }
  Lane read(unsigned place, int64_t u);
  void write(unsigned place, int64_t u, Lane value);

  /// The elements of a place at `steps` steps along a loop in which it is contiguous, for `rows`
  /// lanes: a vector of lanes for each step.
  llvm::SmallVector<mlir::Value> readSquare(unsigned place, int64_t rows, int64_t steps);
  /// The elements of a contiguous row of `strip` elements per lane: a vector for each of these.
  llvm::SmallVector<mlir::Value> readStrip(unsigned place, unsigned across, int64_t strip);
  /// What the place holds at this element.
  void give(unsigned place, mlir::Value value) { point[{place, 0}] = {value, Lane::Vector}; }
  /// Keeps what is written to a place, up to `writeStrip`; `backwards`: the last step came first.
  void hold(unsigned place) { held[place]; }
  void writeStrip(unsigned place, bool backwards);
  unsigned numPlaces() const { return places.size(); }
  /// The yielded values of `stage` in vector `u`; `old` are the values of its outputs, or null
  /// where the body shall read memory.
  llvm::SmallVector<Lane> evaluate(Stage &stage, int64_t u, llvm::ArrayRef<mlir::Value> old);
  /// Values of the body of `stage`, worked out from those in `values` and from the inputs; what
  /// is worked out on the way is added.
  llvm::SmallVector<Lane> evaluateSome(Stage &stage, int64_t u, mlir::ValueRange wanted,
                                       llvm::DenseMap<mlir::Value, Lane> &values);
  /// The operand that a reduction combines with the old value.
  mlir::Value vectorOf(Lane lane);

  mlir::Value constant(int64_t value);
  mlir::Value constantOf(mlir::TypedAttr attribute, bool vector);

private:
  int64_t rowOf(int64_t u) const { return rowLoop < 0 ? 0 : u / perRow; }
  int64_t alongOf(int64_t u) const { return rowLoop < 0 ? u : u % perRow; }
  std::pair<unsigned, int64_t> keyOf(unsigned place, int64_t u) const;
  mlir::Value elementIndex(const Place &place, int64_t u);
  mlir::Value allLanes();
  mlir::Value laneNumbers(mlir::Type type);
  mlir::Value harmlessLanes(mlir::Type elementType);
  Lane loadWide(mlir::Value base, mlir::Value index, mlir::Type elementType);
  bool startsLine(mlir::Type elementType, int64_t u) const;
  void fetchAhead(const Access &access, mlir::Value index);
  Lane readBackwards(mlir::Value base, mlir::Value index, mlir::Type elementType);
  Lane gather(mlir::Value base, mlir::Value first, mlir::Value offsets, mlir::Type elementType);
  Lane loadLanes(mlir::Value base, mlir::Value first, mlir::Value offsets, mlir::Type elementType);
  Lane fromBits(mlir::Value bits, mlir::Type elementType);
  Lane gatherFromWords(mlir::Value base, mlir::Value first, mlir::Value offsets,
                       mlir::Type elementType);
  Lane permuted(mlir::Value base, mlir::Value first, mlir::Value places, int64_t size,
                mlir::Type elementType);
  Lane inSteps(mlir::Value base, mlir::Value first, int64_t step, mlir::Type elementType);
  void scatter(mlir::Value base, mlir::Value first, mlir::Value offsets, mlir::Value value);
  mlir::Value stridedOffsets(const Extent &stride);
  Lane evaluate(mlir::Operation &op, Stage &stage, int64_t u,
                llvm::DenseMap<mlir::Value, Lane> &values);
  Lane readByIndex(mlir::memref::LoadOp load, llvm::ArrayRef<Lane> indices);
  static bool writesFirst(Stage &stage, unsigned operand);
  static bool isUsedBy(mlir::Value base, const llvm::SmallPtrSetImpl<mlir::Operation *> &ops);

  mlir::OpBuilder &b;
  mlir::Location loc;
  Views &views;
  bool hasGathers;     // of words, in one instruction
  bool hasSlowGathers; // slower than lane by lane
  bool hasPermutes;    // of all lanes of a vector by those of another
  llvm::SmallVector<Place, 0> places;
  llvm::DenseMap<std::pair<const Stage *, unsigned>, unsigned> placeIds;
  llvm::SmallVector<mlir::Value> ivs;
  llvm::DenseMap<std::pair<unsigned, int64_t>, Lane> loaded, point;
  llvm::DenseMap<unsigned, llvm::SmallVector<mlir::Value>> held;
};

} // namespace xtensor::cpu

#endif // XTENSOR_PASSES_CPU_LANES_H
