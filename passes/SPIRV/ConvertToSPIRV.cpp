// xtensor-convert-to-spirv: converts kernels to SPIR-V, next to their gpu.module.
#include "GPU/Profile.h"
#include "SPIRV/BitSelects.h"
#include "SPIRV/CooperativeMatrices.h"
#include "SPIRV/KernelPatterns.h"
#include "SPIRV/NarrowIntegers.h"
#include "SPIRV/Passes.h"
#include "SPIRV/VectorBuffers.h"
#include "SPIRV/WideIntegers.h"

#include "mlir/Conversion/ArithToSPIRV/ArithToSPIRV.h"
#include "mlir/Conversion/FuncToSPIRV/FuncToSPIRV.h"
#include "mlir/Conversion/GPUToSPIRV/GPUToSPIRV.h"
#include "mlir/Conversion/IndexToSPIRV/IndexToSPIRV.h"
#include "mlir/Conversion/MathToSPIRV/MathToSPIRV.h"
#include "mlir/Conversion/MemRefToSPIRV/MemRefToSPIRV.h"
#include "mlir/Conversion/SCFToSPIRV/SCFToSPIRV.h"
#include "mlir/Conversion/UBToSPIRV/UBToSPIRV.h"
#include "mlir/Conversion/VectorToSPIRV/VectorToSPIRV.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/SPIRV/IR/SPIRVDialect.h"
#include "mlir/Dialect/SPIRV/IR/SPIRVOps.h"
#include "mlir/Dialect/SPIRV/IR/TargetAndABI.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Transforms/DialectConversion.h"

namespace xtensor {
#define GEN_PASS_DEF_CONVERTTOSPIRV
#include "SPIRV/Passes.h.inc"
} // namespace xtensor

using namespace mlir;

namespace {

mlir::spirv::StorageClass storageOf(Attribute space) {
  if (auto memory = dyn_cast_or_null<gpu::AddressSpaceAttr>(space))
    if (memory.getValue() == gpu::AddressSpace::Workgroup)
      return mlir::spirv::StorageClass::Workgroup;
  return mlir::spirv::StorageClass::StorageBuffer;
}

/// What the module's device offers to shaders; `matrices`: to those that multiply matrices.
mlir::spirv::TargetEnvAttr targetOf(ModuleOp module, bool matrices) {
  using mlir::spirv::Capability;
  using mlir::spirv::Extension;
  MLIRContext *context = module.getContext();
  xtensor::Profile device = xtensor::Profile::of(module);
  SmallVector<Capability> capabilities = {Capability::Shader, Capability::GroupNonUniform};
  std::pair<StringRef, Capability> optional[] = {
      {"f64", Capability::Float64},
      {"i64", Capability::Int64},
      {"f16", Capability::Float16},
      {"i16", Capability::Int16},
      {"i8", Capability::Int8},
      {"s16", Capability::StorageBuffer16BitAccess},
      {"s8", Capability::StorageBuffer8BitAccess},
      {"subgroup", Capability::GroupNonUniformArithmetic},
      {"shuffle", Capability::GroupNonUniformShuffle},
      {"atomic_f32", Capability::AtomicFloat32AddEXT},
      {"atomic_f64", Capability::AtomicFloat64AddEXT},
      {"atomic_i64", Capability::Int64Atomics}};
  for (auto [feature, capability] : optional)
    if (device.has(feature))
      capabilities.push_back(capability);
  // A device may have them of some widths only.
  std::pair<StringRef, Capability> ofAnyWidth[] = {
      {"specials", Capability::SignedZeroInfNanPreserve},
      {"subnormals", Capability::DenormPreserve}};
  for (auto [feature, capability] : ofAnyWidth)
    if (llvm::any_of(ArrayRef<int>{16, 32, 64}, [&, feature = feature](int width) {
          return device.has((feature + Twine(width)).str());
        }))
      capabilities.push_back(capability);
  SmallVector<Extension> extensions = {
      Extension::SPV_KHR_storage_buffer_storage_class, Extension::SPV_KHR_16bit_storage,
      Extension::SPV_KHR_8bit_storage, Extension::SPV_EXT_shader_atomic_float_add,
      Extension::SPV_KHR_float_controls};
  if (matrices) {
    capabilities.append({Capability::CooperativeMatrixKHR, Capability::VulkanMemoryModel});
    extensions.append(
        {Extension::SPV_KHR_cooperative_matrix, Extension::SPV_KHR_vulkan_memory_model});
  }
  auto triple = mlir::spirv::VerCapExtAttr::get(matrices ? mlir::spirv::Version::V_1_6
                                                         : mlir::spirv::Version::V_1_3,
                                                capabilities, extensions, context);
  // Upstream converts shuffles of whole subgroups only, and asks here how large these are.
  auto usual = mlir::spirv::getDefaultResourceLimits(context);
  auto limits = mlir::spirv::ResourceLimitsAttr::get(
      context, usual.getMaxComputeSharedMemorySize(), usual.getMaxComputeWorkgroupInvocations(),
      usual.getMaxComputeWorkgroupSize(), static_cast<int>(device.number("subgroup", 1)),
      std::nullopt, std::nullopt, usual.getCooperativeMatrixPropertiesKhr(),
      usual.getCooperativeMatrixPropertiesNv());
  return mlir::spirv::TargetEnvAttr::get(
      triple, limits, mlir::spirv::ClientAPI::Vulkan, mlir::spirv::Vendor::Unknown,
      mlir::spirv::DeviceType::Unknown, mlir::spirv::TargetEnvAttr::kUnknownDeviceID);
}

struct ConvertToSPIRVPass : xtensor::impl::ConvertToSPIRVBase<ConvertToSPIRVPass> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    xtensor::Profile device = xtensor::Profile::of(module);
    SmallVector<gpu::GPUModuleOp> kernels(module.getOps<gpu::GPUModuleOp>());
    OpBuilder b(&getContext());
    for (gpu::GPUModuleOp original : kernels) {
      if (failed(checkFloats(original, device)))
        return signalPassFailure();
      // The launch still names the original.
      b.setInsertionPointAfter(original);
      auto copy = cast<gpu::GPUModuleOp>(b.clone(*original));
      const bool matrices = xtensor::spirv::multipliesMatrices(copy);
      mlir::spirv::TargetEnvAttr env = targetOf(module, matrices);
      if (device.has("software"))
        xtensor::spirv::selectBeforeBits(copy);
      if (!device.has("i64") && failed(xtensor::spirv::splitWideIntegers(copy)))
        return signalPassFailure();
      if (failed(xtensor::spirv::widenNarrowIntegers(copy, device)))
        return signalPassFailure();
      xtensor::spirv::convertVectorBuffers(copy, device);
      if (failed(convert(copy, env)))
        return signalPassFailure();
      auto code = cast<mlir::spirv::ModuleOp>(original->getNextNode());
      code->setAttr(mlir::spirv::getTargetEnvAttrName(), env);
      keepArithmetic(code);
      relaxAtomics(code);
      if (matrices)
        xtensor::spirv::orderMemory(code);
      keepSpecials(code, device);
    }
  }

  /// Integers that are not there fail to be converted. Floats become float32, and buffers of them
  /// hold half as many.
  static LogicalResult checkFloats(gpu::GPUModuleOp kernel, const xtensor::Profile &device) {
    // What it uses of what it lacks; empty: nothing.
    auto lacking = [&](Type type) -> StringRef {
      type = getElementTypeOrSelf(type);
      if (type.isF64() && !device.has("f64"))
        return "f64";
      if (type.isF16() && !device.has("f16"))
        return "f16";
      return "";
    };
    auto check = [&](Operation *op) {
      SmallVector<Type> types(op->getResultTypes());
      llvm::append_range(types, op->getOperandTypes());
      for (Type type : types)
        if (StringRef what = lacking(type); !what.empty()) {
          op->emitError() << "a kernel uses '" << what << "', which " << device.backend()
                          << " does not have";
          return WalkResult::interrupt();
        }
      return WalkResult::advance();
    };
    return failure(kernel.walk(check).wasInterrupted());
  }

  /// Drivers may compute as if numbers were real, (x + y) - y as x, where this is not said.
  /// Mesa also leaves out the rounding to float16 of what is widened again.
  static void keepArithmetic(mlir::spirv::ModuleOp code) {
    auto yes = UnitAttr::get(code.getContext());
    code.walk([&](Operation *op) {
      if (isa<mlir::spirv::FAddOp, mlir::spirv::FSubOp, mlir::spirv::FMulOp, mlir::spirv::FDivOp,
              mlir::spirv::FNegateOp, mlir::spirv::FRemOp, mlir::spirv::GLFmaOp,
              mlir::spirv::FConvertOp>(op))
        op->setAttr("no_contraction", yes);
    });
  }

  /// Atomics change bits of a word that are their thread's own, or numbers that no other thread
  /// reads in the same kernel: barriers and launches order them. llvmpipe makes a barrier of all
  /// threads of what is ordered, loops of few threads included.
  static void relaxAtomics(mlir::spirv::ModuleOp code) {
    auto none = mlir::spirv::MemorySemantics::None;
    code.walk([&](Operation *op) {
      llvm::TypeSwitch<Operation *>(op)
          .Case<mlir::spirv::AtomicAndOp, mlir::spirv::AtomicOrOp, mlir::spirv::AtomicIAddOp,
                mlir::spirv::AtomicSMaxOp, mlir::spirv::AtomicSMinOp, mlir::spirv::AtomicUMaxOp,
                mlir::spirv::AtomicUMinOp>([&](auto atomic) { atomic.setSemantics(none); });
    });
  }

  /// Nor need they know infinities, NaN and signed zeros.
  static void keepSpecials(mlir::spirv::ModuleOp code, const xtensor::Profile &device) {
    llvm::SmallSetVector<unsigned, 4> widths;
    code.walk([&](Operation *op) {
      for (Type type : op->getResultTypes())
        if (auto number = dyn_cast<FloatType>(getElementTypeOrSelf(type)))
          widths.insert(number.getWidth());
    });
    OpBuilder b = OpBuilder::atBlockEnd(code.getBody());
    for (auto func : code.getOps<mlir::spirv::FuncOp>()) {
      if (!func->hasAttr(mlir::spirv::getEntryPointABIAttrName()))
        continue;
      auto mode = [&](mlir::spirv::ExecutionMode kind, unsigned width) {
        mlir::spirv::ExecutionModeOp::create(b, func.getLoc(), func, kind,
                                             ArrayRef<int32_t>{static_cast<int32_t>(width)});
      };
      for (unsigned width : widths) {
        if (device.has(("specials" + Twine(width)).str()))
          mode(mlir::spirv::ExecutionMode::SignedZeroInfNanPreserve, width);
        if (device.has(("subnormals" + Twine(width)).str()))
          mode(mlir::spirv::ExecutionMode::DenormPreserve, width);
      }
    }
  }

  LogicalResult convert(gpu::GPUModuleOp kernel, mlir::spirv::TargetEnvAttr env) {
    MLIRContext *context = &getContext();
    mlir::spirv::MemorySpaceToStorageClassConverter spaces(
        [](Attribute space) -> std::optional<mlir::spirv::StorageClass> {
          return storageOf(space);
        });
    mlir::spirv::convertMemRefTypesAndAttrs(kernel, spaces);
    auto target = SPIRVConversionTarget::get(env);
    SPIRVConversionOptions options;
    options.use64bitIndex = false;
    SPIRVTypeConverter types(env, options);
    types.addConversion([](BFloat16Type type) { return IntegerType::get(type.getContext(), 16); });
    populateMMAToSPIRVCoopMatrixTypeConversion(types);
    ScfToSPIRVContext flow;
    RewritePatternSet patterns(context);
    populateGPUToSPIRVPatterns(types, patterns);
    populateGpuWMMAToSPIRVCoopMatrixKHRConversionPatterns(types, patterns);
    arith::populateCeilFloorDivExpandOpsPatterns(patterns);
    arith::populateArithToSPIRVPatterns(types, patterns);
    populateMathToSPIRVPatterns(types, patterns);
    populateMemRefToSPIRVPatterns(types, patterns);
    populateBuiltinFuncToSPIRVPatterns(types, patterns);
    populateFuncToSPIRVPatterns(types, patterns);
    populateVectorToSPIRVPatterns(types, patterns);
    populateSCFToSPIRVPatterns(types, flow, patterns);
    ub::populateUBToSPIRVConversionPatterns(types, patterns);
    index::populateIndexToSPIRVPatterns(types, patterns);
    xtensor::spirv::populateKernelPatterns(types, patterns);
    return applyFullConversion(kernel, *target, std::move(patterns));
  }
};

} // namespace
