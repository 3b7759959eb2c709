#include "SPIRV/CooperativeMatrices.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

bool xtensor::spirv::multipliesMatrices(gpu::GPUModuleOp kernel) {
  return kernel.walk([](gpu::SubgroupMmaComputeOp) { return WalkResult::interrupt(); })
      .wasInterrupted();
}

void xtensor::spirv::orderMemory(mlir::spirv::ModuleOp code) {
  using mlir::spirv::MemoryAccess;
  using mlir::spirv::MemorySemantics;
  code.setMemoryModel(mlir::spirv::MemoryModel::Vulkan);
  auto shared =
      mlir::spirv::MemoryAccessAttr::get(code.getContext(), MemoryAccess::NonPrivatePointer);
  auto ofWorkgroup = [](Value pointer) {
    return cast<mlir::spirv::PointerType>(pointer.getType()).getStorageClass() ==
           mlir::spirv::StorageClass::Workgroup;
  };
  code.walk([&](Operation *op) {
    llvm::TypeSwitch<Operation *>(op)
        .Case<mlir::spirv::LoadOp, mlir::spirv::StoreOp>([&](auto access) {
          if (ofWorkgroup(access.getPtr()))
            access.setMemoryAccessAttr(shared);
        })
        .Case<mlir::spirv::KHRCooperativeMatrixLoadOp, mlir::spirv::KHRCooperativeMatrixStoreOp>(
            [&](auto access) {
              if (ofWorkgroup(access.getPointer()))
                access.setMemoryOperandAttr(shared);
            })
        .Case<mlir::spirv::ControlBarrierOp>([&](auto barrier) {
          barrier.setMemorySemantics(barrier.getMemorySemantics() | MemorySemantics::MakeAvailable |
                                     MemorySemantics::MakeVisible);
        });
  });
}
