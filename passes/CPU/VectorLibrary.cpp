#include "CPU/VectorLibrary.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/TypeSwitch.h"
#include <dlfcn.h>

using namespace mlir;

/// The name without type and arguments, or empty.
static StringRef libraryName(Operation *op) {
  return llvm::TypeSwitch<Operation *, StringRef>(op)
#define XTENSOR_VECTOR_FUNCTION(Math, name) .Case<math::Math>([](auto) { return name; })
#include "XTensor/XTensorElementwise.inc"
      .Default(StringRef());
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
  StringRef name = libraryName(op);
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
