// A linalg op as a loop nest over strided accesses, and several such ops in one nest.
#ifndef XTENSOR_PASSES_CPU_STAGE_H
#define XTENSOR_PASSES_CPU_STAGE_H

#include "CPU/Strided.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/ADT/MapVector.h"

namespace xtensor::cpu {

/// How a reduction's body joins the old value of its output with a new one.
struct Combiner {
  mlir::Operation *op = nullptr; // null: the body is no plain reduction
  mlir::vector::CombiningKind kind = mlir::vector::CombiningKind::ADD;
  mlir::TypedAttr neutral;          // of the type that is accumulated
  unsigned newOperand = 0;          // of `op`
  mlir::Operation *widen = nullptr; // f16 and bf16 accumulate as f32:
  mlir::Operation *narrow = nullptr;

  explicit operator bool() const { return op; }
  mlir::Type type() const { return op->getResult(0).getType(); }
};

/// A running combination (`xtensor.scan`): its reduced loop is walked in order. Output 0 has an
/// element for each step, output 1 is the running value.
struct Scan {
  bool reverse = false;
  mlir::Value running, next; // before and after a step, in the body
  /// What is known of next = element + decay * running, or = combine(running, element), so that
  /// several steps can be taken at once.
  bool known = false;
  mlir::vector::CombiningKind kind = mlir::vector::CombiningKind::ADD;
  mlir::TypedAttr neutral;
  mlir::Value element, decay; // no decay: 1
  bool decaysElement = false; // next = decay * (running + element)
};

/// A search: output 0 is the best element so far, output 1 its place. The two are replaced where an
/// element is better.
struct Search {
  mlir::Value better;      // whether the element replaces the best
  mlir::Value element, at; // what replaces the two
};

struct Stage {
  mutable mlir::linalg::LinalgOp op;        // a handle: MLIR's accessors are not const
  llvm::SmallVector<Access, 4> operands;    // inputs, then outputs
  llvm::SmallVector<mlir::Value, 1> inits;  // per output: the scalar it starts from, or null
  llvm::SmallVector<Combiner, 1> combiners; // per output
  std::optional<Scan> scan;
  std::optional<Search> search;
  llvm::SmallVector<bool, 4> reduced;         // per loop
  llvm::SmallVector<int, 4> loopOf;           // of the op's loops: ours, or -1 (a loop of one)
  llvm::SmallVector<mlir::Value, 1> gathered; // buffers that the body reads by index
  unsigned inputs = 0;
  bool vectorizable = true;

  unsigned numInputs() const { return inputs; }
  unsigned numOutputs() const { return operands.size() - inputs; }
  Access &output(unsigned i) { return operands[numInputs() + i]; }
  const Access &output(unsigned i) const { return operands[numInputs() + i]; }
  mlir::BlockArgument outputArgument(unsigned i) {
    return op.getBlock()->getArgument(numInputs() + i);
  }
  /// True if vectors may run along `loop`, which is reduced: each lane combines its own elements.
  bool joinsLanes(unsigned loop) const;
  bool isReduction() const { return llvm::is_contained(reduced, true); }
  /// True if each output combines all of what it is made of in any order.
  bool isCombined() const {
    return isReduction() && !scan && !search &&
           llvm::all_of(combiners, [](const Combiner &c) { return bool(c); });
  }
  /// True if loops carry output `i`; the others are written at every step.
  bool isCarried(unsigned i) const { return isReduction() && (!scan || i == 1); }
  /// True if the body reads the old value of output `i`.
  bool readsOutput(unsigned i) { return !outputArgument(i).use_empty(); }
};

/// What the stages of a kernel do with one buffer; equal accesses are there once.
struct Uses {
  llvm::SmallVector<Access, 1> reads, writes;
  bool isGathered = false;
};

/// Stages that run together, element by element, in one loop nest. What is asked of them all is
/// kept for them all: there may be thousands.
struct Kernel {
  llvm::SmallVector<Extent, 4> ranges;
  llvm::SmallVector<Stage, 4> stages;
  bool isCall = false; // a product in loops of its own, or a library's: shared with nothing

  /// Takes in the stages of `other`, after its own.
  void add(Kernel other);
  void add(Stage stage);
  /// Erases the op of `stage`, too.
  void remove(Stage *stage);

  bool isReduced(unsigned loop) const {
    return llvm::any_of(stages, [&](const Stage &s) { return s.reduced[loop]; });
  }
  /// The first stage that is a scan, or null. All scans of a kernel walk the same way.
  const Scan *scan() const {
    for (const Stage &stage : stages)
      if (stage.scan)
        return &*stage.scan;
    return nullptr;
  }
  bool touches(mlir::Value base) const;
  bool writes(mlir::Value base) const;

private:
  friend bool canFuse(const Kernel &earlier, const Kernel &later);
  friend bool conflict(const Kernel &a, const Kernel &b);
  void note(mlir::Value base, llvm::function_ref<void(Uses &)> change);
  /// Calls `f` with the uses of every buffer that may share elements with `base`, until it says
  /// true; whether it did.
  bool anyUse(mlir::Value base, llvm::function_ref<bool(const Uses &)> f) const;

  llvm::MapVector<mlir::Value, Uses> uses;
  llvm::SmallVector<mlir::Value, 1> unidentified; // of `uses`: these may be parts of others
  bool vectorizable = true, hasScan = false, scansBack = false;
  bool hasReduction = false; // that is no scan
};

/// The loop nest of `op`: unit loops dropped, loops in storage order of the output, neighbours
/// that all operands walk as one merged. Fails with a diagnostic where a map is not linear.
mlir::FailureOr<Kernel> buildKernel(mlir::linalg::LinalgOp op, Views &views);

/// True if running `later` inside the loops of `earlier` computes the same.
bool canFuse(const Kernel &earlier, const Kernel &later);
/// True if the two may not change places.
bool conflict(const Kernel &a, const Kernel &b);

/// Puts the kernels of a block, given in program order, into as few loop nests as can be, and lets
/// reductions start from the scalar that their output was filled with.
llvm::SmallVector<Kernel, 0> fuseKernels(llvm::SmallVector<Kernel, 0> kernels);

} // namespace xtensor::cpu

#endif // XTENSOR_PASSES_CPU_STAGE_H
