// Loops that stop when nothing changes any more: what is known of them before they are lowered.
#ifndef XTENSOR_TOLINALG_ENDING_H
#define XTENSOR_TOLINALG_ENDING_H

#include "XTensor/XTensor.h"
#include <optional>

namespace xtensor {

/// What is known of a scan of which the steps after some first one change nothing: those of a
/// while loop with max_steps, which a switch in the body skips. It stops at the first one, and the
/// loops that read what it stacked go over the steps that were taken, so that nothing is written
/// for the others.
struct Ending {
  SwitchOp choice;                          ///< takes steps or skips them
  mlir::Value selector;                     ///< of the switch
  llvm::SmallVector<mlir::Operation *> ops; ///< of the body, which work it out from the carries
  llvm::SmallVector<ScanOp> readers;
};

/// The op that ends a region of one block.
inline YieldOp yieldOf(mlir::Block &block) { return mlir::cast<YieldOp>(block.back()); }

/// None: all steps have to be taken.
std::optional<Ending> endingOf(ScanOp op);
/// Each step that is come to is taken: no choice is left in the loop, nor, where it is known to be
/// the same, in its readers.
void takeSteps(ScanOp op, const Ending &ending);

} // namespace xtensor

#endif // XTENSOR_TOLINALG_ENDING_H
