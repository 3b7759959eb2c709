// Kernels, their memory, loads and stores in the LLVM dialect.
#include "NVVM/KernelPatterns.h"

#include "mlir/Conversion/LLVMCommon/Pattern.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/NVGPU/IR/NVGPUDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

/// The driver's allocations and the arena's parts begin at multiples of more; the runtime refuses
/// others.
static constexpr int64_t kAlignment = 16;

/// The address space of PTX that a memref is in: .global, or .shared of a workgroup.
static unsigned spaceOf(MemRefType type) {
  auto memory = dyn_cast_or_null<gpu::AddressSpaceAttr>(type.getMemorySpace());
  bool shared = memory && memory.getValue() == gpu::AddressSpace::Workgroup;
  return static_cast<unsigned>(shared ? NVVM::NVVMMemorySpace::Shared
                                      : NVVM::NVVMMemorySpace::Global);
}

void xtensor::nvvm::addFlatMemory(LLVMTypeConverter &types) {
  types.addConversion([](MemRefType type) -> Type {
    if (type.getRank() != 1 || !type.getLayout().isIdentity())
      return {};
    return LLVM::LLVMPointerType::get(type.getContext(), spaceOf(type));
  });
}

namespace {

/// Buffers come as 64-bit addresses, numbers as 32-bit words, in the order of runtime/Device.h.
/// Memory of the workgroup is a variable of the module.
struct KernelFunction : ConvertOpToLLVMPattern<gpu::GPUFuncOp> {
  using ConvertOpToLLVMPattern::ConvertOpToLLVMPattern;

  LogicalResult matchAndRewrite(gpu::GPUFuncOp op, OpAdaptor,
                                ConversionPatternRewriter &b) const override {
    if (!op.isKernel())
      return failure();
    Location loc = op.getLoc();
    Block &entry = op.getBody().front();
    TypeConverter::SignatureConversion signature(entry.getNumArguments());
    SmallVector<Type> arguments;
    for (auto [i, type] : llvm::enumerate(op.getArgumentTypes())) {
      Type converted = getTypeConverter()->convertType(type);
      if (!converted)
        return op.emitError() << "no type of PTX for " << type;
      signature.addInputs(i, converted);
      arguments.push_back(converted);
    }
    auto type = LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(getContext()), arguments);
    auto func = LLVM::LLVMFuncOp::create(b, loc, op.getName(), type);
    func->setAttr(NVVM::NVVMDialect::getKernelFuncAttrName(), b.getUnitAttr());
    if (auto size = op.getKnownBlockSizeAttr())
      func->setAttr(NVVM::NVVMDialect::getReqntidAttrName(), size);
    for (auto [i, argument] : llvm::enumerate(arguments))
      if (isa<LLVM::LLVMPointerType>(argument))
        func.setArgAttr(i, LLVM::LLVMDialect::getAlignAttrName(), b.getI64IntegerAttr(kAlignment));

    b.setInsertionPoint(func);
    SmallVector<LLVM::GlobalOp> shared;
    for (BlockArgument memory : op.getWorkgroupAttributions()) {
      auto memref = cast<MemRefType>(memory.getType());
      auto array = LLVM::LLVMArrayType::get(
          getTypeConverter()->convertType(memref.getElementType()), memref.getNumElements());
      std::string name = (op.getName() + "_memory" + Twine(memory.getArgNumber())).str();
      shared.push_back(LLVM::GlobalOp::create(b, loc, array, /*isConstant=*/false,
                                              LLVM::Linkage::Internal, name, Attribute(),
                                              /*alignment=*/kAlignment, spaceOf(memref)));
    }
    b.setInsertionPointToStart(&entry);
    for (auto [memory, global] : llvm::zip_equal(op.getWorkgroupAttributions(), shared))
      signature.remapInput(memory.getArgNumber(),
                           LLVM::AddressOfOp::create(b, loc, global).getResult());
    b.inlineRegionBefore(op.getBody(), func.getBody(), func.end());
    if (failed(b.convertRegionTypes(&func.getBody(), *getTypeConverter(), &signature)))
      return failure();
    b.eraseOp(op);
    return success();
  }
};

struct Return : ConvertOpToLLVMPattern<gpu::ReturnOp> {
  using ConvertOpToLLVMPattern::ConvertOpToLLVMPattern;
  LogicalResult matchAndRewrite(gpu::ReturnOp op, OpAdaptor,
                                ConversionPatternRewriter &b) const override {
    b.replaceOpWithNewOp<LLVM::ReturnOp>(op, ValueRange());
    return success();
  }
};

/// The address of one element. Offsets are never negative.
Value element(ConversionPatternRewriter &b, Location loc, Type type, Value base, ValueRange at) {
  return LLVM::GEPOp::create(b, loc, base.getType(), type, base, at);
}

struct Load : ConvertOpToLLVMPattern<memref::LoadOp> {
  using ConvertOpToLLVMPattern::ConvertOpToLLVMPattern;
  LogicalResult matchAndRewrite(memref::LoadOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &b) const override {
    Type type = getTypeConverter()->convertType(op.getType());
    Value place = element(b, op.getLoc(), type, adaptor.getMemref(), adaptor.getIndices());
    b.replaceOpWithNewOp<LLVM::LoadOp>(op, type, place);
    return success();
  }
};

struct Store : ConvertOpToLLVMPattern<memref::StoreOp> {
  using ConvertOpToLLVMPattern::ConvertOpToLLVMPattern;
  LogicalResult matchAndRewrite(memref::StoreOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &b) const override {
    Value v = adaptor.getValue();
    Value place = element(b, op.getLoc(), v.getType(), adaptor.getMemref(), adaptor.getIndices());
    b.replaceOpWithNewOp<LLVM::StoreOp>(op, v, place);
    return success();
  }
};

/// Nobody but threads of the device is looking.
constexpr llvm::StringLiteral kScope = "device";

struct AtomicUpdate : ConvertOpToLLVMPattern<memref::AtomicRMWOp> {
  using ConvertOpToLLVMPattern::ConvertOpToLLVMPattern;
  LogicalResult matchAndRewrite(memref::AtomicRMWOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &b) const override {
    std::optional<LLVM::AtomicBinOp> kind;
    switch (op.getKind()) {
    case arith::AtomicRMWKind::addf:
      kind = LLVM::AtomicBinOp::fadd;
      break;
    case arith::AtomicRMWKind::addi:
      kind = LLVM::AtomicBinOp::add;
      break;
    case arith::AtomicRMWKind::maxs:
      kind = LLVM::AtomicBinOp::max;
      break;
    case arith::AtomicRMWKind::maxu:
      kind = LLVM::AtomicBinOp::umax;
      break;
    case arith::AtomicRMWKind::mins:
      kind = LLVM::AtomicBinOp::min;
      break;
    case arith::AtomicRMWKind::minu:
      kind = LLVM::AtomicBinOp::umin;
      break;
    default:
      return failure();
    }
    Value v = adaptor.getValue();
    Value place = element(b, op.getLoc(), v.getType(), adaptor.getMemref(), adaptor.getIndices());
    b.replaceOpWithNewOp<LLVM::AtomicRMWOp>(op, *kind, place, v, LLVM::AtomicOrdering::monotonic,
                                            kScope);
    return success();
  }
};

/// Retries until no other thread has changed the number in between. The result has no users.
///
///   old = load; do { now = cmpxchg(old, f(old)) } while (now != old and old = now)
struct CompareAndExchange : ConvertOpToLLVMPattern<memref::GenericAtomicRMWOp> {
  using ConvertOpToLLVMPattern::ConvertOpToLLVMPattern;
  LogicalResult matchAndRewrite(memref::GenericAtomicRMWOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &b) const override {
    if (!op->use_empty())
      return failure();
    Location loc = op.getLoc();
    Type type = op.getCurrentValue().getType();
    Value place = element(b, loc, type, adaptor.getMemref(), adaptor.getIndices());
    Value first = LLVM::LoadOp::create(b, loc, type, place);
    Block *before = b.getInsertionBlock();
    Block *after = b.splitBlock(before, op->getIterator());
    Block *loop = b.createBlock(before->getParent(), after->getIterator(), type, loc);
    b.setInsertionPointToEnd(before);
    LLVM::BrOp::create(b, loc, first, loop);

    auto yield = cast<memref::AtomicYieldOp>(op.getBody()->getTerminator());
    Value next = yield.getResult(), old = loop->getArgument(0);
    b.eraseOp(yield);
    b.inlineBlockBefore(op.getBody(), loop, loop->end(), old);
    b.setInsertionPointToEnd(loop);
    Value both =
        LLVM::AtomicCmpXchgOp::create(b, loc, place, old, next, LLVM::AtomicOrdering::monotonic,
                                      LLVM::AtomicOrdering::monotonic, kScope);
    Value now = LLVM::ExtractValueOp::create(b, loc, both, 0);
    Value done = LLVM::ExtractValueOp::create(b, loc, both, 1);
    LLVM::CondBrOp::create(b, loc, done, after, ValueRange(), loop, ValueRange(now));
    b.eraseOp(op);
    return success();
  }
};

/// Several elements from a multiple of their number on: one access of all their bytes.
unsigned alignmentOf(VectorType type) {
  return type.getNumElements() * type.getElementTypeBitWidth() / 8;
}

struct LoadRun : ConvertOpToLLVMPattern<vector::LoadOp> {
  using ConvertOpToLLVMPattern::ConvertOpToLLVMPattern;
  LogicalResult matchAndRewrite(vector::LoadOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &b) const override {
    Type one = getTypeConverter()->convertType(op.getVectorType().getElementType());
    Value place = element(b, op.getLoc(), one, adaptor.getBase(), adaptor.getIndices());
    b.replaceOpWithNewOp<LLVM::LoadOp>(op, getTypeConverter()->convertType(op.getType()), place,
                                       alignmentOf(op.getVectorType()));
    return success();
  }
};

struct StoreRun : ConvertOpToLLVMPattern<vector::StoreOp> {
  using ConvertOpToLLVMPattern::ConvertOpToLLVMPattern;
  LogicalResult matchAndRewrite(vector::StoreOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &b) const override {
    Type one = getTypeConverter()->convertType(op.getVectorType().getElementType());
    Value place = element(b, op.getLoc(), one, adaptor.getBase(), adaptor.getIndices());
    b.replaceOpWithNewOp<LLVM::StoreOp>(op, adaptor.getValueToStore(), place,
                                        alignmentOf(op.getVectorType()));
    return success();
  }
};

/// Fragments of a matrix, two elements of 16 bits in each word.
struct LoadFragments : ConvertOpToLLVMPattern<nvgpu::LdMatrixOp> {
  using ConvertOpToLLVMPattern::ConvertOpToLLVMPattern;
  LogicalResult matchAndRewrite(nvgpu::LdMatrixOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &b) const override {
    Location loc = op.getLoc();
    auto type = cast<VectorType>(op.getRes().getType());
    Type one = getTypeConverter()->convertType(type.getElementType());
    Value place = element(b, loc, one, adaptor.getSrcMemref(), adaptor.getIndices());
    SmallVector<Type> words(type.getDimSize(0), b.getI32Type());
    if (words.size() < 2)
      return failure();
    auto eight = NVVM::LdStMatrixShapeAttr::get(b.getContext(), 8, 8);
    Value all = NVVM::LdMatrixOp::create(
        b, loc, LLVM::LLVMStructType::getLiteral(b.getContext(), words), place, op.getNumTiles(),
        op.getTranspose() ? NVVM::MMALayout::col : NVVM::MMALayout::row, eight,
        NVVM::LdStMatrixEltType::B16);
    Value result = LLVM::PoisonOp::create(b, loc, getTypeConverter()->convertType(type));
    auto pair = VectorType::get({type.getDimSize(1)}, one);
    for (int64_t i = 0; i < type.getDimSize(0); ++i) {
      Value word = LLVM::ExtractValueOp::create(b, loc, all, i);
      result = LLVM::InsertValueOp::create(b, loc, result,
                                           LLVM::BitcastOp::create(b, loc, pair, word), i);
    }
    b.replaceOp(op, result);
    return success();
  }
};

} // namespace

void xtensor::nvvm::populateKernelPatterns(const LLVMTypeConverter &types,
                                           RewritePatternSet &patterns) {
  patterns.add<KernelFunction, Return, Load, Store, AtomicUpdate, CompareAndExchange, LoadRun,
               StoreRun, LoadFragments>(types, /*benefit=*/10);
}
