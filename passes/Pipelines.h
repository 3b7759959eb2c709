// The phases from a traced program to the LLVM dialect, defined once for every tool.
#ifndef XTENSOR_PIPELINES_H
#define XTENSOR_PIPELINES_H

#include "XTensor/XTensor.h"

namespace xtensor {

/// Makes every pass and pipeline of this project known by name.
void registerAllXTensorPasses();

} // namespace xtensor

#endif // XTENSOR_PIPELINES_H
