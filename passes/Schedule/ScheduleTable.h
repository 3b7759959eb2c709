// Schedules are data: a table lookup by target, kind of op and element type, with a fallback. The
// rows are in library/<target>.def.

#ifndef XTENSOR_PASSES_SCHEDULE_SCHEDULETABLE_H
#define XTENSOR_PASSES_SCHEDULE_SCHEDULETABLE_H

#include "mlir/IR/Types.h"
#include "llvm/ADT/StringRef.h"

namespace xtensor {

enum class Kind { Elementwise, Math, RowReduction, ColumnReduction, Contraction, Other };
llvm::StringRef toString(Kind kind);

struct Schedule {
  int64_t unroll = 1;
  llvm::StringRef library; // the call that does it; empty: loops
  int64_t libraryWork = 0; // below this work: loops all the same
};

class ScheduleTable {
public:
  /// The table of `target`; null for an unknown target.
  static const ScheduleTable *of(llvm::StringRef target);
  virtual ~ScheduleTable() = default;
  virtual Schedule find(Kind kind, mlir::Type elementType) const = 0;
  virtual int64_t grainWork() const = 0;
};

} // namespace xtensor

#endif // XTENSOR_PASSES_SCHEDULE_SCHEDULETABLE_H
