// A number on collectives of processes whose parts differ in size.
#ifndef XTENSOR_DISTRIBUTE_ORDER_H
#define XTENSOR_DISTRIBUTE_ORDER_H

#include "llvm/ADT/StringRef.h"

namespace xtensor {
/// Each process has a program of its own, in which no pass may merge collectives that the programs
/// of other processes keep apart. Two collectives with different numbers stay two.
constexpr llvm::StringLiteral kOrderAttr = "xtensor.order";
} // namespace xtensor

#endif // XTENSOR_DISTRIBUTE_ORDER_H
