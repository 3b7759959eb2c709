#include "CPU/VectorLibrary.h"

#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSwitch.h"
#include <dlfcn.h>

using namespace mlir;

/// The name without type and arguments, or empty.
static StringRef libraryName(StringRef op) {
  return llvm::StringSwitch<StringRef>(op)
      .Case("math.acos", "acos")
      .Case("math.acosh", "acosh")
      .Case("math.asin", "asin")
      .Case("math.asinh", "asinh")
      .Case("math.atan", "atan")
      .Case("math.atan2", "atan2")
      .Case("math.atanh", "atanh")
      .Case("math.cbrt", "cbrt")
      .Case("math.cos", "cos")
      .Case("math.cosh", "cosh")
      .Case("math.erf", "erf")
      .Case("math.erfc", "erfc")
      .Case("math.exp", "exp")
      .Case("math.exp2", "exp2")
      .Case("math.expm1", "expm1")
      .Case("math.log", "log")
      .Case("math.log10", "log10")
      .Case("math.log1p", "log1p")
      .Case("math.log2", "log2")
      .Case("math.powf", "pow")
      .Case("math.sin", "sin")
      .Case("math.sinh", "sinh")
      .Case("math.tan", "tan")
      .Case("math.tanh", "tanh")
      .Default("");
}

/// Whether the process has this function. Opened for all: compiled code links to it by name.
static bool isThere(const std::string &symbol) {
  static void *library = dlopen("libmvec.so.1", RTLD_NOW | RTLD_GLOBAL);
  static llvm::StringMap<bool> known;
  auto [it, isNew] = known.try_emplace(symbol, false);
  if (isNew)
    it->second = library && dlsym(library, symbol.c_str());
  return it->second;
}

xtensor::VectorFunction xtensor::vectorFunctionFor(Operation *op, Type element, int64_t bits) {
#if defined(__x86_64__) && defined(__GLIBC__)
  StringRef name = libraryName(op->getName().getStringRef());
  if (name.empty() || !(element.isF32() || element.isF64()))
    return {};
  int64_t lanes = bits / element.getIntOrFloatBitWidth();
  // The vector ABI: instruction set, unmasked, lanes, one v per argument.
  std::string symbol = "_ZGV";
  symbol += bits == 512 ? 'e' : bits == 256 ? 'd' : 'b';
  symbol += "N" + std::to_string(lanes) + std::string(op->getNumOperands(), 'v') + "_";
  symbol += name;
  if (element.isF32())
    symbol += 'f';
  if (isThere(symbol))
    return {symbol, lanes};
#endif
  return {};
}
