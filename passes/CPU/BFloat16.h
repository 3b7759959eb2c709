// bfloat16 in the LLVM dialect.
#pragma once

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/PatternMatch.h"

namespace xtensor::cpu {

/// Holds every bfloat16 of functions in the LLVM dialect as an integer of its 16 bits.
///
/// The x86 back end moves a scalar of bfloat16 from one block to another as float. With AVX512-BF16
/// it goes back by an instruction that takes subnormal numbers for 0, and ends the process for some
/// comparisons of vectors (docs/upstream.md). No code computes in bfloat16: operands are extended
/// to float, and results are rounded to bits.
void holdBFloat16AsBits(mlir::ModuleOp module);

/// On processors with AVX512-BF16, rounds 16 lanes of f32 to bfloat16 by one instruction. It takes
/// subnormal numbers for 0: integer arithmetic rounds vectors with such lanes, and other shapes.
void populateBFloat16RoundingPatterns(mlir::RewritePatternSet &patterns);

} // namespace xtensor::cpu
