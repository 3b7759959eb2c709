// Convolutions of padded images that are padded tile by tile.
#ifndef XTENSOR_PASSES_TOLINALG_TILEDWINDOWS_H
#define XTENSOR_PASSES_TOLINALG_TILEDWINDOWS_H

#include "ToLinalg/Lowering.h"

namespace xtensor {

/// A convolution: a contraction of `windows` with a kernel in memory.
struct Convolution {
  mlir::Value windows;
  Stored kernel;
  ArrayType type; // of the result
  Names order;    // of the result in memory
  Names contracted;
  bool slides; // the windows are the first factor
};

/// The result of `conv`, if its windows read an image that is in memory, with zeros around it, and
/// the padded image is large: a parallel loop over tiles, which pads the image of each tile. Else
/// null.
mlir::Value emitTiledWindows(const Convolution &conv, Lowering &to);

} // namespace xtensor

#endif // XTENSOR_PASSES_TOLINALG_TILEDWINDOWS_H
