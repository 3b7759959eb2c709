// Lookup of schedules in library/*.def (see ScheduleTable.h).

#include "Schedule/ScheduleTable.h"

#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/ErrorHandling.h"

using namespace mlir;

namespace xtensor {

namespace {

enum class Element { any, f16, bf16, f32, f64, integer };

Element elementOf(Type type) {
  if (type.isF16())
    return Element::f16;
  if (type.isBF16())
    return Element::bf16;
  if (type.isF32())
    return Element::f32;
  if (type.isF64())
    return Element::f64;
  return Element::integer;
}

struct LoopRow {
  Kind kind;
  Element element;
  int64_t unroll;
};
struct LibraryRow {
  Kind kind;
  Element element;
  StringRef call;
  int64_t work;
};

template <typename Row>
const Row *findRow(ArrayRef<Row> rows, Kind kind, Element element) {
  const Row *fallback = nullptr;
  for (const Row &row : rows) {
    if (row.kind != kind)
      continue;
    if (row.element == element)
      return &row;
    if (row.element == Element::any)
      fallback = &row;
  }
  return fallback;
}

class CpuTable final : public ScheduleTable {
public:
  Schedule find(Kind kind, Type elementType) const override {
    static constexpr LoopRow loops[] = {
#define SCHEDULE(KIND, ELEMENT, UNROLL) {Kind::KIND, Element::ELEMENT, UNROLL},
#define LIBRARY(KIND, ELEMENT, CALL, WORK)
#define GRAIN(WORK)
#include "Schedule/library/cpu.def"
#undef SCHEDULE
#undef LIBRARY
    };
    static const LibraryRow calls[] = {
#define SCHEDULE(KIND, ELEMENT, UNROLL)
#define LIBRARY(KIND, ELEMENT, CALL, WORK) {Kind::KIND, Element::ELEMENT, CALL, WORK},
#include "Schedule/library/cpu.def"
#undef SCHEDULE
#undef LIBRARY
#undef GRAIN
    };
    Element element = elementOf(elementType);
    Schedule schedule;
    if (const LoopRow *row = findRow<LoopRow>(loops, kind, element))
      schedule.unroll = row->unroll;
    if (const LibraryRow *row = findRow<LibraryRow>(calls, kind, element)) {
      schedule.library = row->call;
      schedule.libraryWork = row->work;
    }
    return schedule;
  }

  int64_t grainWork() const override {
#define SCHEDULE(KIND, ELEMENT, UNROLL)
#define LIBRARY(KIND, ELEMENT, CALL, WORK)
#define GRAIN(WORK) return WORK;
#include "Schedule/library/cpu.def"
#undef SCHEDULE
#undef LIBRARY
#undef GRAIN
  }
};

} // namespace

StringRef toString(Kind kind) {
  switch (kind) {
  case Kind::Elementwise:
    return "elementwise";
  case Kind::Math:
    return "math";
  case Kind::RowReduction:
    return "row-reduction";
  case Kind::ColumnReduction:
    return "column-reduction";
  case Kind::Contraction:
    return "contraction";
  case Kind::Other:
    return "other";
  }
  llvm_unreachable("every kind has a name");
}

const ScheduleTable *ScheduleTable::of(StringRef target) {
  static const CpuTable cpu;
  return target == "cpu" ? &cpu : nullptr;
}

} // namespace xtensor
