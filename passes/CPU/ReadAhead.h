// Prefetches what the next iteration of a parallel loop will read, while this iteration works on
// data in cache. The hardware prefetcher follows one contiguous run and stops at its end.
#ifndef XTENSOR_PASSES_CPU_READAHEAD_H
#define XTENSOR_PASSES_CPU_READAHEAD_H

#include "CPU/Stage.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

namespace xtensor::cpu {

/// Marks the accesses of the kernels of one body, which come in program order: the first that reads
/// again what a kernel before it has read fetches ahead.
class ReadAhead {
public:
  /// `forall`: that whose body it is, or null.
  explicit ReadAhead(mlir::scf::ForallOp forall) : forall(forall) {}
  void mark(Kernel &kernel);

private:
  /// A part that is read; `fetches`: some kernel fetches that of the next iteration.
  struct Part {
    mlir::Value base;
    Offset offset;
    bool fetches = false;
  };
  /// How far it is to the part of the next iteration; 0: it is the same, or unknown.
  int64_t distance(const Access &access);

  mlir::scf::ForallOp forall;
  llvm::SmallVector<Part> parts;
};

} // namespace xtensor::cpu

#endif // XTENSOR_PASSES_CPU_READAHEAD_H
