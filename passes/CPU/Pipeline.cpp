// The phases "cpu" and "llvm" as pipelines.
#include "CPU/Passes.h"

#include "Buffers/Passes.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"
#include "llvm/TargetParser/Host.h"

using namespace mlir;

int64_t xtensor::hostVectorBits() {
  static const int64_t bits = [] {
    llvm::StringMap<bool> features = llvm::sys::getHostCPUFeatures();
    return features.lookup("avx512f") ? 512 : features.lookup("avx2") ? 256 : 128;
  }();
  return bits;
}

void xtensor::buildCPUPipeline(OpPassManager &pm) {
  pm.addPass(createEstimateWork());
  pm.addPass(createEmitVectors());
  // After the emitter: what it keeps in registers needs no memory, and lifetimes are final.
  pm.addNestedPass<func::FuncOp>(createArena());
  // Before all that works on single ops: a nest that is there many times is worked on once.
  pm.addPass(createOutlineNests());
  auto &func = pm.nest<func::FuncOp>();
  func.addPass(createCSEPass());
  func.addPass(createExpandMath());
  func.addPass(createCSEPass());
  pm.addPass(createCallVectorLibrary());
  pm.addPass(createOutlineParallel());
  pm.addPass(createCallLibrary());
  // The last one: what is inside of a loop stays as it was written.
  pm.addPass(createPollLoops());
}

void xtensor::buildToLLVMPipeline(OpPassManager &pm) {
  pm.addPass(createConvertToLLVM());
  pm.addPass(createVerifyLLVM());
}
