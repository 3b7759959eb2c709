// xtensor-make-entry: the function that a caller reaches through a plain pointer.
//
//   func.func @main(%x: memref<?x4xf32> {xtensor.type = ...}, %out: memref<4xf32>)
//   ==>
//   func.func @entry(%buffers: !llvm.ptr, %sizes: !llvm.ptr, %status: !llvm.ptr)
//
// loads each buffer's address, makes a memref of it with the sizes of its dynamic dims, and goes on
// as @main does: called, @main would get seven numbers for each matrix. Upstream's C interface
// wants one descriptor in memory per memref, made by the caller.
// Where kernels of a device do the work, the call is asked for first: the runtime may have its
// commands on record. @main stays a function there, that the end of the call follows in any case.
#include "Pipelines.h"

#include "Buffers/Passes.h"
#include "CPU/MemRefPointers.h"
#include "CPU/Passes.h"
#include "Routines.h"
#include "XTensor/Dims.h"
#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/Pass/Pass.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace xtensor;

namespace {

/// Makes the arguments of @main from the addresses and sizes that the caller passes.
class ArgumentReader {
public:
  ArgumentReader(ImplicitLocOpBuilder &b, func::FuncOp main, Value buffers, Value sizes);

  SmallVector<Value> read() {
    SmallVector<Value> arguments;
    for (unsigned i = 0; i < main.getNumArguments(); ++i)
      arguments.push_back(argument(i));
    return arguments;
  }
  /// Sizes that the caller passes, once all arguments are read.
  int64_t numSizes() const { return count; }

private:
  /// The type of an input, which has the names of its dims; null for an output.
  TypeAttr namedType(unsigned i) {
    auto inputs = main->getAttrOfType<IntegerAttr>("xtensor.inputs");
    return !inputs || i < inputs.getInt() ? main.getArgAttrOfType<TypeAttr>(i, "xtensor.type")
                                          : TypeAttr();
  }
  Value sizeAt(int64_t k);
  Value argument(unsigned i);

  ImplicitLocOpBuilder &b;
  func::FuncOp main;
  Value buffers, sizes;
  LowerToLLVMOptions options;
  LLVMTypeConverter types;
  Type pointer, i64;
  /// Dynamic dims by name over the inputs; those of the outputs follow, one by one.
  llvm::MapVector<Attribute, int64_t> names;
  int64_t count = 0;
};

} // namespace

ArgumentReader::ArgumentReader(ImplicitLocOpBuilder &b, func::FuncOp main, Value buffers,
                               Value sizes)
    : b(b), main(main), buffers(buffers), sizes(sizes), options(b.getContext()),
      types(b.getContext(), options), pointer(LLVM::LLVMPointerType::get(b.getContext())),
      i64(b.getI64Type()) {
  for (unsigned i = 0; i < main.getNumArguments(); ++i)
    if (TypeAttr named = namedType(i))
      for (StringAttr dim : dynamicDims(cast<ArrayType>(named.getValue())))
        if (names.insert({dim, count}).second)
          ++count;
}

Value ArgumentReader::sizeAt(int64_t k) {
  Value address =
      LLVM::GEPOp::create(b, pointer, i64, sizes, ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(k)});
  return LLVM::LoadOp::create(b, i64, address);
}

Value ArgumentReader::argument(unsigned i) {
  auto type = cast<MemRefType>(main.getArgument(i).getType());
  TypeAttr named = namedType(i);
  Value slot = LLVM::GEPOp::create(b, pointer, pointer, buffers,
                                   ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(i)});
  SmallVector<Value> parts = {LLVM::LoadOp::create(b, pointer, slot)};
  for (int64_t d = 0; d < type.getRank(); ++d)
    if (type.isDynamicDim(d))
      parts.push_back(
          sizeAt(named ? names[cast<ArrayType>(named.getValue()).getDimNames()[d]] : count++));
  return cpu::memrefFrom(b, b.getLoc(), types, type, parts);
}

namespace {

struct MakeEntry : PassWrapper<MakeEntry, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(MakeEntry)
  StringRef getArgument() const final { return "xtensor-make-entry"; }
  StringRef getDescription() const final {
    return "Add the function that takes buffers and sizes through plain pointers";
  }
  void getDependentDialects(DialectRegistry &registry) const final {
    registry.insert<cf::ControlFlowDialect, LLVM::LLVMDialect, func::FuncDialect>();
  }

  void runOnOperation() final {
    auto main = getOperation().lookupSymbol<func::FuncOp>("main");
    if (!main || main.isDeclaration()) {
      getOperation().emitError("there is no function @main");
      return signalPassFailure();
    }
    if (failed(checkBuffers(main)))
      return signalPassFailure();
    for (auto [i, type] : llvm::enumerate(main.getArgumentTypes()))
      if (auto memref = dyn_cast<MemRefType>(type); !memref || !memref.getLayout().isIdentity()) {
        main.emitError() << "argument " << i << " is not a contiguous buffer: " << type;
        return signalPassFailure();
      }
    ImplicitLocOpBuilder b(main.getLoc(), &getContext());
    b.setInsertionPointToEnd(getOperation().getBody());
    auto pointer = LLVM::LLVMPointerType::get(&getContext());
    auto entry =
        func::FuncOp::create(b, "entry", b.getFunctionType({pointer, pointer, pointer}, {}));
    Block *block = entry.addEntryBlock();
    b.setInsertionPointToStart(block);
    const bool onDevice = getOperation()->hasAttr(kDeviceAttr);
    // On a device, only Python's functions report to the host.
    if (onDevice ? getOperation().lookupSymbol("xt_callback") != nullptr : mayReport())
      func::CallOp::create(b, declare(b, "xt_begin_call", {pointer}, {}),
                           ValueRange{block->getArgument(2)});
    ArgumentReader reader(b, main, block->getArgument(0), block->getArgument(1));
    SmallVector<Value> arguments = reader.read();
    if (onDevice) {
      func::CallOp::create(b, main, arguments);
      func::CallOp::create(b, declare(b, "xt_call_end", {}, {}), ValueRange());
      func::ReturnOp::create(b);
      return beginCall(b, entry, main, reader.numSizes());
    }
    tellReused(main);
    Block &body = main.getBody().front();
    assert(main.getBody().hasOneBlock() && "control flow is still in regions");
    for (auto [parameter, argument] : llvm::zip_equal(body.getArguments(), arguments))
      parameter.replaceAllUsesWith(argument);
    block->getOperations().splice(block->end(), body.getOperations());
    main.erase();
  }

  /// Keeps on the module which results take the memory of an argument.
  void tellReused(func::FuncOp main) {
    auto inputs = main->getAttrOfType<IntegerAttr>("xtensor.inputs");
    SmallVector<int64_t> reused;
    for (unsigned i = inputs ? inputs.getInt() : 0; inputs && i < main.getNumArguments(); ++i) {
      auto argument = main.getArgAttrOfType<IntegerAttr>(i, kReusedAttr);
      reused.push_back(argument ? argument.getInt() : -1);
    }
    if (llvm::any_of(reused, [](int64_t argument) { return argument >= 0; }))
      getOperation()->setAttr(kReusedAttr, DenseI64ArrayAttr::get(&getContext(), reused));
  }

  func::FuncOp declare(ImplicitLocOpBuilder &b, StringRef name, TypeRange inputs,
                       TypeRange results) {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(getOperation().getBody());
    auto func = func::FuncOp::create(b, name, b.getFunctionType(inputs, results));
    func.setPrivate();
    return func;
  }

  /// The entry returns at once if the runtime has sent the commands of this very call again.
  void beginCall(ImplicitLocOpBuilder &b, func::FuncOp entry, func::FuncOp main, int64_t sizes) {
    Type i32 = b.getI32Type();
    auto pointer = LLVM::LLVMPointerType::get(b.getContext());
    LLVM::GlobalOp program = programOf(b, main, sizes);
    Block *first = &entry.getBody().front();
    Block *rest = first->splitBlock(first->begin());
    Block *leave = b.createBlock(&entry.getBody(), entry.getBody().end());
    func::ReturnOp::create(b);
    auto begin = declare(b, "xt_call_begin", {pointer, pointer, pointer, pointer}, {i32});
    b.setInsertionPointToEnd(first);
    Value address = LLVM::AddressOfOp::create(b, program);
    SmallVector<Value> arguments = {address};
    llvm::append_range(arguments, first->getArguments());
    Value sent = func::CallOp::create(b, begin, arguments).getResult(0);
    Value zero = LLVM::ConstantOp::create(b, i32, b.getI32IntegerAttr(0));
    Value done = LLVM::ICmpOp::create(b, LLVM::ICmpPredicate::ne, sent, zero);
    cf::CondBranchOp::create(b, done, leave, rest);
  }

  /// xt_program of runtime/Device.h.
  LLVM::GlobalOp programOf(ImplicitLocOpBuilder &b, func::FuncOp main, int64_t sizes) {
    OpBuilder::InsertionGuard guard(b);
    ModuleOp module = getOperation();
    b.setInsertionPointToEnd(module.getBody());
    Type i32 = b.getI32Type();
    auto pointer = LLVM::LLVMPointerType::get(b.getContext());
    auto name = LLVM::GlobalOp::create(b, LLVM::LLVMArrayType::get(b.getI8Type(), 5), true,
                                       LLVM::Linkage::Internal, "program_name",
                                       b.getStringAttr(StringRef("main", 5)));
    auto type = LLVM::LLVMStructType::getLiteral(b.getContext(),
                                                 {pointer, i32, i32, i32, i32, i32, i32, pointer});
    auto program = LLVM::GlobalOp::create(b, type, false, LLVM::Linkage::Internal, "program",
                                          Attribute(), /*alignment=*/8);
    b.createBlock(&program.getInitializerRegion());
    auto inputs = main->getAttrOfType<IntegerAttr>("xtensor.inputs");
    int64_t arguments = main.getNumArguments(), ins = inputs ? inputs.getInt() : arguments;
    // What the host reads or computes itself happens once per call.
    bool replayable = !module.lookupSymbol("xt_call_map") && !module.lookupSymbol("xt_callback");
    bool reports = module->hasAttr("xtensor.sites") || module->hasAttr("xtensor.limited");
    int64_t fields[] = {ins, arguments - ins, sizes, reports, replayable, 0};
    Value s = LLVM::UndefOp::create(b, type);
    s = LLVM::InsertValueOp::create(b, s, LLVM::AddressOfOp::create(b, name), ArrayRef<int64_t>{0});
    for (auto [i, v] : llvm::enumerate(fields))
      s = LLVM::InsertValueOp::create(b, s,
                                      LLVM::ConstantOp::create(b, i32, b.getI32IntegerAttr(v)),
                                      ArrayRef<int64_t>{int64_t(i) + 1});
    s = LLVM::InsertValueOp::create(b, s, LLVM::ZeroOp::create(b, pointer), ArrayRef<int64_t>{7});
    LLVM::ReturnOp::create(b, s);
    return program;
  }

  /// Whether anything in the module reports to the call's status or asks for it: an index, an
  /// arena, a loop, or a routine.
  bool mayReport() {
    return getOperation()->hasAttr("xtensor.sites") || getOperation().lookupSymbol(kPollFunction) ||
           llvm::any_of(getOperation().getOps<SymbolOpInterface>(), reports) ||
           getOperation()
               ->walk([](memref::AllocOp) { return WalkResult::interrupt(); })
               .wasInterrupted();
  }

  static bool reports(SymbolOpInterface symbol) {
    const Routine *routine = routineNamed(symbol.getName());
    return routine && routine->reports;
  }
};

} // namespace

std::unique_ptr<Pass> xtensor::createMakeEntryPass() { return std::make_unique<MakeEntry>(); }
