#include "compiler/Library.h"

#include "Analyses.h"
#include "Bytes.h"
#include "CPU/Passes.h"
#include "compiler/CodeGenerator.h"
#include "compiler/Linker.h"
#include "compiler/Workspace.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/PassManager.h"
#include "llvm/Linker/Linker.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/Transforms/IPO/GlobalDCE.h"
#include "llvm/Transforms/Scalar/SimplifyCFG.h"

using namespace mlir;
using namespace xtensor;

static constexpr Blas kBlas[] = {
    {"openblas", "libopenblas.so.0", "", ""},
    {"blas", "libblas.so.3", "", "liblapack.so.3"},
    {"scipy-openblas", "libscipy_openblas.so", "scipy_", ""},
};

const Blas *xtensor::blasNamed(StringRef name) {
  auto it = llvm::find_if(kBlas, [&](const Blas &b) { return b.name == name; });
  return it == std::end(kBlas) ? nullptr : it;
}

LibrarySymbols::LibrarySymbols(StringRef prefix, StringRef name) {
  Names names;
  std::string word = wordFor(name);
  message = names.fresh((prefix + "_message").str());
  function = names.fresh((prefix + "_" + (word.empty() ? "function" : word)).str());
  any = names.fresh(function + "_any");
  workspace = names.fresh(function + "_workspace");
}

std::string xtensor::entrySymbol(const LibraryDescription &l) {
  return l.symbols.function + "_entry";
}
std::string xtensor::signatureSymbol(const LibraryDescription &l) {
  return l.symbols.function + "_signature";
}

namespace {

/// The tables of aot/tables.h and the functions that hand them over.
class TableWriter {
public:
  TableWriter(llvm::Module &module, const LibraryDescription &library, Workspace workspace)
      : module(module), context(module.getContext()), library(library), workspace(workspace),
        i32(llvm::Type::getInt32Ty(context)), i64(llvm::Type::getInt64Ty(context)),
        pointer(llvm::PointerType::getUnqual(context)) {}

  void addSignature() {
    // Code for something else is found out as well.
    auto *text = llvm::ConstantDataArray::getString(
        context, library.target + " " + library.signature + " " + library.contents);
    auto *global =
        new llvm::GlobalVariable(module, text->getType(), true, llvm::GlobalValue::ExternalLinkage,
                                 text, signatureSymbol(library));
    global->setAlignment(llvm::Align(1));
  }

  void addFunctions() {
    llvm::Constant *table = functionTable();
    routineTable();
    const Interface &f = library.interface;
    int64_t arrays = f.inputs.size() + f.outputs.size() - library.weights.size();
    // int32_t f(const f_x *x, .., const f_result *result, xt_context *context)
    llvm::SmallVector<llvm::Type *> types(arrays + 1, pointer);
    llvm::Function *typed = function(library.symbols.function, types);
    llvm::IRBuilder<> b(&typed->getEntryBlock());
    llvm::Value *given =
        b.CreateAlloca(llvm::ArrayType::get(pointer, std::max<int64_t>(arrays, 1)));
    for (int64_t i = 0; i < arrays; ++i)
      b.CreateStore(typed->getArg(i), b.CreateConstInBoundsGEP1_64(pointer, given, i));
    call(b, "xta_run", {table, given, typed->getArg(arrays)});
    // int32_t f_any(const xt_any *arrays, int64_t count, xt_context *context)
    llvm::Function *any = function(library.symbols.any, {pointer, i64, pointer});
    b.SetInsertPoint(&any->getEntryBlock());
    call(b, "xta_run_any", {table, any->getArg(0), any->getArg(1), any->getArg(2)});
    // int64_t f_workspace(int64_t n, ..)
    int64_t open = library.interface.open.size();
    llvm::Function *bytes =
        function(library.symbols.workspace, llvm::SmallVector<llvm::Type *>(open, i64), i64);
    b.SetInsertPoint(&bytes->getEntryBlock());
    llvm::Value *sizes = b.CreateAlloca(llvm::ArrayType::get(i64, std::max<int64_t>(open, 1)));
    for (int64_t i = 0; i < open; ++i)
      b.CreateStore(bytes->getArg(i), b.CreateConstInBoundsGEP1_64(i64, sizes, i));
    call(b, "xta_workspace", {table, sizes}, i64);
    // const char *model_message(const xt_context *context, int32_t code)
    auto *type = llvm::FunctionType::get(pointer, {pointer, i32}, false);
    auto *message = llvm::Function::Create(type, llvm::GlobalValue::ExternalLinkage,
                                           library.symbols.message, module);
    b.SetInsertPoint(llvm::BasicBlock::Create(context, "", message));
    b.CreateRet(b.CreateCall(module.getOrInsertFunction("xta_message", type),
                             {message->getArg(0), message->getArg(1)}));
  }

private:
  llvm::Function *function(const std::string &name, llvm::ArrayRef<llvm::Type *> types,
                           llvm::Type *result = nullptr) {
    auto *f = llvm::Function::Create(llvm::FunctionType::get(result ? result : i32, types, false),
                                     llvm::GlobalValue::ExternalLinkage, name, module);
    llvm::BasicBlock::Create(context, "", f);
    return f;
  }
  void call(llvm::IRBuilder<> &b, StringRef name, llvm::ArrayRef<llvm::Value *> arguments,
            llvm::Type *result = nullptr) {
    llvm::SmallVector<llvm::Type *> types;
    for (llvm::Value *v : arguments)
      types.push_back(v->getType());
    b.CreateRet(
        b.CreateCall(module.getOrInsertFunction(
                         name, llvm::FunctionType::get(result ? result : i32, types, false)),
                     arguments));
  }

  llvm::Constant *number(int64_t n) { return llvm::ConstantInt::get(i64, n); }
  llvm::Constant *null() { return llvm::ConstantPointerNull::get(pointer); }
  llvm::Constant *global(llvm::Constant *value, unsigned alignment = 8) {
    auto *g = new llvm::GlobalVariable(module, value->getType(), true,
                                       llvm::GlobalValue::PrivateLinkage, value);
    g->setAlignment(llvm::Align(alignment));
    return g;
  }
  llvm::Constant *text(StringRef s) {
    return global(llvm::ConstantDataArray::getString(context, s), 1);
  }
  llvm::Constant *list(llvm::ArrayRef<llvm::Constant *> values) {
    if (values.empty())
      return null();
    return global(llvm::ConstantArray::get(
        llvm::ArrayType::get(values[0]->getType(), values.size()), values));
  }
  llvm::Constant *structure(llvm::ArrayRef<llvm::Constant *> fields) {
    return llvm::ConstantStruct::getAnon(context, fields);
  }

  llvm::Constant *size(const SizeProduct &s) {
    llvm::SmallVector<llvm::Constant *> open;
    for (const std::string &name : s.open)
      open.push_back(
          number(llvm::find(library.interface.open, name) - library.interface.open.begin()));
    return structure({number(s.factor), number(open.size()), list(open)});
  }

  llvm::Constant *array(const Parameter &p, llvm::Constant *data) {
    static constexpr llvm::StringLiteral kDtypes[] = {
        "bool",   "int8",   "int16",   "int32",    "int64",   "uint8",  "uint16",
        "uint32", "uint64", "float16", "bfloat16", "float32", "float64"};
    llvm::SmallVector<llvm::Constant *> dims, sizes;
    for (const std::string &dim : p.dims)
      dims.push_back(text(dim));
    for (const SizeProduct &s : p.sizes)
      sizes.push_back(size(s));
    return structure({text(p.name), number(llvm::find(kDtypes, p.dtype) - std::begin(kDtypes)),
                      number(p.dims.size()), list(dims), list(sizes), data});
  }

  /// xta_routines: what check.c finds routines in.
  void routineTable() {
    llvm::SmallVector<llvm::Constant *> rows;
    auto *type =
        llvm::FunctionType::get(llvm::Type::getVoidTy(context), {pointer, pointer, pointer}, false);
    for (const std::string &name : library.routines) {
      auto own = module.getOrInsertFunction("xta_own_" + name, type);
      rows.push_back(structure({text(name), cast<llvm::Constant>(own.getCallee())}));
    }
    rows.push_back(structure({null(), null()}));
    llvm::Constant *all =
        llvm::ConstantArray::get(llvm::ArrayType::get(rows[0]->getType(), rows.size()), rows);
    new llvm::GlobalVariable(module, all->getType(), true, llvm::GlobalValue::ExternalLinkage, all,
                             "xta_routines");
  }

  /// What an integer dtype holds of int64.
  static std::optional<std::pair<int64_t, int64_t>> integersOf(StringRef dtype) {
    bool isUnsigned = dtype.consume_front("u");
    unsigned bits;
    if (!dtype.consume_front("int") || dtype.getAsInteger(10, bits) || bits < 8 || bits > 64)
      return std::nullopt;
    if (isUnsigned)
      return std::make_pair(int64_t(0), bits == 64 ? INT64_MAX : (int64_t(1) << bits) - 1);
    return std::make_pair(llvm::minIntN(bits), llvm::maxIntN(bits));
  }

  llvm::Constant *functionTable() {
    const Interface &f = library.interface;
    llvm::SmallVector<llvm::Constant *> arrays, equal, nonempty, sites, ranges;
    size_t passed = f.inputs.size() - library.weights.size();
    for (auto [i, p] : llvm::enumerate(f.inputs)) {
      llvm::Constant *data = null();
      if (i >= passed) {
        StringRef bytes = library.weights[i - passed];
        data = global(llvm::ConstantDataArray::getString(context, bytes, bytes.empty()), 64);
      }
      arrays.push_back(array(p, data));
    }
    int64_t openResults = 0;
    for (const Parameter &p : f.outputs) {
      arrays.push_back(array(p, null()));
      openResults += llvm::count_if(p.sizes, [](const SizeProduct &s) { return !s.open.empty(); });
    }
    for (const SizeEquality &e : f.equalities)
      equal.push_back(structure({size(e.left), size(e.right), text(e.dim)}));
    for (const SizeNonempty &e : f.nonempty)
      nonempty.push_back(structure({size(e.size), text(e.dim), text(e.message)}));
    for (const Site &site : library.sites)
      sites.push_back(structure({text(site.dim), text(site.location)}));
    for (const NumberRange &r : library.ranges)
      if (auto holds = integersOf(r.dtype))
        ranges.push_back(structure({number(r.input), number(holds->first), number(holds->second),
                                    text(r.dtype), text(r.where)}));
    return global(
        structure({text(library.symbols.function), module.getFunction(entrySymbol(library)),
                   number(f.inputs.size()), number(f.outputs.size()), number(f.open.size()),
                   number(openResults), list(arrays), number(equal.size()), list(equal),
                   number(nonempty.size()), list(nonempty), number(sites.size()), list(sites),
                   workspace.bytes ? workspace.bytes : null(), number(workspace.fixed),
                   number(ranges.size()), list(ranges)}));
  }

  llvm::Module &module;
  llvm::LLVMContext &context;
  const LibraryDescription &library;
  Workspace workspace;
  llvm::IntegerType *i32, *i64;
  llvm::PointerType *pointer;
};

std::unique_ptr<llvm::TargetMachine> machineFor(const Processor &processor, std::string &error) {
  static const bool initialized = [] {
    llvm::InitializeAllTargetInfos();
    llvm::InitializeAllTargets();
    llvm::InitializeAllTargetMCs();
    llvm::InitializeAllAsmPrinters();
    return true;
  }();
  (void)initialized;
  llvm::Triple triple(processor.triple);
  const llvm::Target *target = llvm::TargetRegistry::lookupTarget(triple, error);
  if (!target)
    return nullptr;
  llvm::TargetOptions options;
  options.AllowFPOpFusion = llvm::FPOpFusion::Fast; // as under jit
  options.FunctionSections = options.DataSections = true;
  options.MCOptions.ABIName = processor.abi;
  return std::unique_ptr<llvm::TargetMachine>(
      target->createTargetMachine(triple, processor.cpu, processor.features, options,
                                  llvm::Reloc::PIC_, std::nullopt, llvm::CodeGenOptLevel::Default));
}

/// Kernels, tables and the C part in one module; what `keep` does not hold becomes internal.
bool link(llvm::Module &code, const LibraryDescription &library, const Processor &processor,
          std::string &error) {
  std::string_view bytes = aot::bitcode(processor.architecture, !library.blas.empty());
  if (bytes.empty()) {
    error = "there is no C part for " + processor.architecture;
    return false;
  }
  auto support = llvm::parseBitcodeFile(
      llvm::MemoryBufferRef(StringRef(bytes.data(), bytes.size()), "aot"), code.getContext());
  if (!support) {
    error = llvm::toString(support.takeError());
    return false;
  }
  (*support)->setDataLayout(code.getDataLayout());
  (*support)->setTargetTriple(code.getTargetTriple());
  for (llvm::Function &f : **support)
    for (StringRef name : {"target-cpu", "target-features", "tune-cpu"})
      f.removeFnAttr(name);
  if (llvm::Linker::linkModules(code, std::move(*support))) {
    error = "the C part does not fit the kernels";
    return false;
  }
  if (const Blas *blas = blasNamed(library.blas))
    for (StringRef name : {"cblas_sgemm", "cblas_dgemm", "cblas_sgemv", "cblas_dgemv", "spotrf_",
                           "dpotrf_", "sgetrf_", "dgetrf_", "sgeqrf_", "dgeqrf_", "sorgqr_",
                           "dorgqr_", "ssyevd_", "dsyevd_", "sgesdd_", "dgesdd_"})
      if (llvm::Function *f = code.getFunction(name))
        f->setName(blas->symbols + name);
  return true;
}

LogicalResult emit(llvm::Module &code, llvm::TargetMachine &machine, std::string &object) {
  optimize(code, machine);
  {
    Analyses analyses(machine);
    llvm::ModulePassManager passes;
    passes.addPass(llvm::createModuleToFunctionPassAdaptor(llvm::SimplifyCFGPass()));
    passes.addPass(llvm::GlobalDCEPass());
    passes.run(code, analyses.modules);
  }
  llvm::SmallVector<char, 0> bytes;
  llvm::raw_svector_ostream os(bytes);
  llvm::legacy::PassManager emitter;
  if (!addEmission(emitter, machine, os, llvm::CodeGenFileType::ObjectFile))
    return failure();
  emitter.run(code);
  object.assign(bytes.begin(), bytes.end());
  return success();
}

/// To make the names of libraries out of that are there on the target only.
std::string emptyObject(const llvm::Module &like, llvm::TargetMachine &machine,
                        const Processor &processor) {
  llvm::Module nothing("empty", like.getContext());
  nothing.setDataLayout(like.getDataLayout());
  nothing.setTargetTriple(like.getTargetTriple());
  if (!processor.abi.empty())
    nothing.addModuleFlag(llvm::Module::Error, "target-abi",
                          llvm::MDString::get(like.getContext(), processor.abi));
  std::string object;
  (void)emit(nothing, machine, object); // an object of the same machine was emitted before
  return object;
}

} // namespace

/// LLVM IR of a program's function, under its name in the bundle. Null, with an error, on failure.
static std::unique_ptr<llvm::Module> translated(ModuleOp module, const LibraryDescription &library,
                                                llvm::TargetMachine &machine,
                                                llvm::LLVMContext &context) {
  auto code = mlir::translateModuleToLLVMIR(module, context, library.prefix);
  if (!code)
    return nullptr;
  code->setDataLayout(machine.createDataLayout());
  code->setTargetTriple(machine.getTargetTriple());
  code->getFunction("entry")->setName(entrySymbol(library));
  return code;
}

FailureOr<Library> xtensor::makeLibrary(ModuleOp module, LibraryDescription &library,
                                        const Processor &processor) {
  PassManager pm(module.getContext());
  pm.addPass(createPassCall());
  if (failed(pm.run(module)))
    return failure();
  std::string error;
  std::unique_ptr<llvm::TargetMachine> machine = machineFor(processor, error);
  if (!machine)
    return module.emitError("no code can be generated for ") << processor.name << ": " << error;
  llvm::LLVMContext context;
  auto code = translated(module, library, *machine, context);
  if (!code)
    return failure();
  for (llvm::Function &f : *code)
    if (!f.isDeclaration())
      markCompiled(f);
  // What the module calls a function is nothing to the C part.
  for (llvm::Function &f : *code)
    if (!f.isDeclaration() && f.getName() != entrySymbol(library))
      f.setLinkage(llvm::GlobalValue::InternalLinkage);
  Workspace workspace = workspaceOf(*code->getFunction(entrySymbol(library)));
  library.loopsTakeMore |= workspace.loopsTakeMore;
  TableWriter tables(*code, library, workspace);
  tables.addSignature();
  if (library.forC)
    tables.addFunctions();
  std::vector<std::string> kernelNames = {entrySymbol(library), signatureSymbol(library)};
  std::vector<std::string> names = library.symbols.all();
  if (!link(*code, library, processor, error))
    return module.emitError(error);
  if (!processor.abi.empty() && !code->getModuleFlag("target-abi"))
    code->addModuleFlag(llvm::Module::Error, "target-abi",
                        llvm::MDString::get(context, processor.abi));
  for (llvm::GlobalValue &value : code->global_values())
    // llvm.compiler.used keeps what only generated code calls.
    if (!value.isDeclaration() && !value.getName().starts_with("llvm.") &&
        !llvm::is_contained(kernelNames, value.getName()) &&
        !llvm::is_contained(names, value.getName()))
      value.setLinkage(llvm::GlobalValue::InternalLinkage);
  std::string object;
  if (failed(emit(*code, *machine, object)))
    return module.emitError("the code generator cannot emit an object for ") << processor.name;

  std::string empty = emptyObject(*code, *machine, processor);
  SharedLinker linker(object, empty);
  auto fail = [&] { return module.emitError(linker.error()); };
  Library made;
  auto kernel = linker.link(library.prefix + "-kernel.so", kernelNames);
  if (!kernel)
    return fail();
  made.kernel = *kernel;
  if (!library.forC)
    return made;
  std::vector<std::string> needed;
  if (const Blas *blas = blasNamed(library.blas)) {
    needed.push_back(blas->file.str());
    if (!blas->lapack.empty() && library.callsLapack())
      needed.push_back(blas->lapack.str());
  }
  auto shared = linker.link("lib" + library.prefix + ".so", names, needed);
  auto archive = archiveOf(object, library.prefix + ".o", linker);
  if (!shared || !archive)
    return fail();
  made.shared = *shared;
  made.archive = *archive;
  return made;
}

FailureOr<Host> xtensor::makeHost(ModuleOp module, const LibraryDescription &library,
                                  const Processor &processor) {
  std::string error;
  std::unique_ptr<llvm::TargetMachine> machine = machineFor(processor, error);
  if (!machine)
    return module.emitError("no code can be generated for ") << processor.name << ": " << error;
  llvm::LLVMContext context;
  auto code = translated(module, library, *machine, context);
  if (!code)
    return failure();
  TableWriter(*code, library, {}).addSignature();
  std::vector<std::string> names = {entrySymbol(library), signatureSymbol(library)};
  for (llvm::GlobalValue &value : code->global_values())
    if (!value.isDeclaration() && !llvm::is_contained(names, value.getName()))
      value.setLinkage(llvm::GlobalValue::InternalLinkage);
  Host host;
  if (failed(emit(*code, *machine, host.object)))
    return module.emitError("the code generator cannot emit an object for ") << processor.name;
  SharedLinker linker(host.object, emptyObject(*code, *machine, processor));
  auto shared = linker.link(library.prefix + "-host.so", names, {"libxtensor_runtime.so"});
  if (!shared)
    return module.emitError(linker.error());
  host.shared = *shared;
  return host;
}
