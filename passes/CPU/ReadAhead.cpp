#include "CPU/ReadAhead.h"
#include "Machine.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace xtensor::cpu;

int64_t ReadAhead::distance(const Access &access) {
  auto type = cast<MemRefType>(access.base.getType());
  Value base = access.base;
  if (base.getParentRegion() == &forall.getRegion() || !type.hasStaticShape())
    return 0;
  Value index = forall.getInductionVars().back();
  auto step = getConstantIntValue(forall.getMixedStep().back());
  int64_t distance = 0;
  for (const auto &[value, stride] : access.offset.terms)
    if (value == index && step && stride.isConstant())
      distance += *step * stride.constant;
  int64_t bytes = std::abs(distance) * access.elementType.getIntOrFloatBitWidth() / 8;
  return bytes <= cachesFor(forall).roomAhead() ? distance : 0;
}

void ReadAhead::mark(Kernel &kernel) {
  if (!forall)
    return;
  SmallVector<Part> found;
  for (Stage &stage : kernel.stages)
    for (Access &access : MutableArrayRef(stage.operands).take_front(stage.numInputs())) {
      if (!access.base)
        continue;
      auto part = llvm::find_if(
          parts, [&](const Part &p) { return p.base == access.base && p.offset == access.offset; });
      if (part == parts.end()) {
        found.push_back({access.base, access.offset});
      } else if (!part->fetches) {
        access.ahead = distance(access);
        part->fetches = true;
      }
    }
  parts.append(found);
}
