// Formulas over the open sizes of a program. A list of launches is made of them.
#ifndef XTENSOR_COMPILER_FORMULAS_H
#define XTENSOR_COMPILER_FORMULAS_H

#include "compiler/Sizes.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include <map>
#include <tuple>
#include <vector>

namespace xtensor {

/// A constant, or one of the values of `Formulas`.
struct Number {
  int64_t value = 0;
  bool isOpen = false; // then `value` is an index

  Number() = default;
  Number(int64_t value) : value(value) {}
  static Number at(int64_t index);
  bool is(int64_t constant) const { return !isOpen && value == constant; }
  bool operator==(const Number &other) const {
    return value == other.value && isOpen == other.isOpen;
  }
  bool operator<(const Number &other) const {
    return std::tie(isOpen, value) < std::tie(other.isOpen, other.value);
  }
};

/// The open sizes, in order, and what is computed from them, each value from those before it. Sizes
/// and what follows from them are not negative and fit into 64 bits: what overflows is far beyond
/// any memory.
class Formulas {
public:
  enum Operation { add, sub, mul, div, rem, min, max, equal, less, choose, real };
  /// "+", "-", "*", "/", "%", "min", "max", "==", "<", "?" (a ? b : c), "f32" (a as float32: its
  /// bits).
  static llvm::StringRef nameOf(Operation operation);

  struct Value {
    Operation operation;
    std::vector<Number> operands;
  };

  Formulas() = default;
  explicit Formulas(llvm::ArrayRef<std::string> open) : open(open) {}

  Number named(llvm::StringRef name) const;
  Number of(const SizeProduct &size);
  /// Computed at once if possible. The divisor must not be the constant 0.
  Number make(Operation operation, llvm::ArrayRef<Number> operands);

  /// Drops values that no number of `used` needs, and gives those of `used` their new places.
  void keep(llvm::ArrayRef<Number *> used);

  std::vector<std::string> open;
  std::vector<Value> values; // number open.size() + i

private:
  const Value *madeBy(Operation operation, Number number) const;
  Number chosen(Number a, Number b, Number c);
  Number kept(Operation operation, llvm::ArrayRef<Number> operands);

  std::map<std::pair<Operation, std::vector<Number>>, int64_t> known;
};

} // namespace xtensor

#endif // XTENSOR_COMPILER_FORMULAS_H
