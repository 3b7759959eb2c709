// SPIRV-Cross, loaded when it is first needed.
#ifndef XTENSOR_PASSES_METAL_SPIRVCROSS_H
#define XTENSOR_PASSES_METAL_SPIRVCROSS_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"
#include <string>

namespace xtensor::metal {

/// The kernel of a SPIR-V binary in Metal's shading language. Buffer `i` of `buffers` has index
/// `i`, the push constants the one after them.
llvm::Expected<std::string> translate(llvm::ArrayRef<uint32_t> binary, unsigned buffers);

} // namespace xtensor::metal

#endif // XTENSOR_PASSES_METAL_SPIRVCROSS_H
