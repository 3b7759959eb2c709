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
#include "llvm/Support/SHA256.h"
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

FunctionSymbols::FunctionSymbols(Names &taken, StringRef prefix, StringRef name) {
  std::string word = wordFor(name);
  function = taken.fresh((prefix + "_" + (word.empty() ? "function" : word)).str());
  any = taken.fresh(function + "_any");
  workspace = taken.fresh(function + "_workspace");
  entry = function + "__entry";
  signature = function + "__signature";
}

std::string xtensor::layoutOf(const LibraryFunction &function) {
  // 1: the structures of aot/public.h. Sizes are checked at each call.
  std::string text = "1";
  auto add = [&](llvm::ArrayRef<Parameter> arrays) {
    for (const Parameter &p : arrays) {
      text += "\n" + p.name + "\t" + p.dtype;
      for (const std::string &dim : p.dims)
        text += "\t" + dim;
    }
    text += "\n";
  };
  add(function.passed());
  add(function.interface.outputs);
  for (const std::string &name : function.interface.open)
    text += "\n" + name;
  return sha256(text).substr(0, 12);
}

std::string xtensor::sha256(StringRef bytes) {
  return llvm::toHex(llvm::SHA256::hash(llvm::arrayRefFromStringRef(bytes)), /*LowerCase=*/true);
}

namespace {

constexpr llvm::StringLiteral kWeight = "xta_weight_";
std::string weightName(size_t number) { return (kWeight + Twine(number)).str(); }

/// The tables of aot/tables.h and the functions that hand them over.
class TableWriter {
public:
  TableWriter(llvm::Module &module, const LibraryDescription &library)
      : module(module), context(module.getContext()), library(library),
        i32(llvm::Type::getInt32Ty(context)), i64(llvm::Type::getInt64Ty(context)),
        pointer(llvm::PointerType::getUnqual(context)) {}

  void addSignature(const LibraryFunction &f) {
    // Code for something else is found out as well.
    auto *text = llvm::ConstantDataArray::getString(context, library.target + " " + f.signature +
                                                                 " " + f.contents);
    auto *global =
        new llvm::GlobalVariable(module, text->getType(), true, llvm::GlobalValue::ExternalLinkage,
                                 text, f.symbols.signature);
    global->setAlignment(llvm::Align(1));
  }

  /// What C calls.
  void addFunctions(const LibraryFunction &f, Workspace temporaries) {
    llvm::Constant *table = functionTable(f, temporaries);
    int64_t arrays = f.passed().size() + f.interface.outputs.size();
    // int32_t f(const f_x *x, .., const f_result *result, xt_context *context)
    llvm::SmallVector<llvm::Type *> types(arrays + 1, pointer);
    llvm::Function *typed = function(f.symbols.function, types);
    llvm::IRBuilder<> b(&typed->getEntryBlock());
    llvm::Value *given =
        b.CreateAlloca(llvm::ArrayType::get(pointer, std::max<int64_t>(arrays, 1)));
    for (int64_t i = 0; i < arrays; ++i)
      b.CreateStore(typed->getArg(i), b.CreateConstInBoundsGEP1_64(pointer, given, i));
    call(b, "xta_run", {table, given, typed->getArg(arrays)});
    // int32_t f_any(const xt_any *arrays, int64_t count, xt_context *context)
    llvm::Function *any = function(f.symbols.any, {pointer, i64, pointer});
    b.SetInsertPoint(&any->getEntryBlock());
    call(b, "xta_run_any", {table, any->getArg(0), any->getArg(1), any->getArg(2)});
    // int64_t f_workspace(int64_t n, ..)
    int64_t open = f.interface.open.size();
    llvm::Function *bytes =
        function(f.symbols.workspace, llvm::SmallVector<llvm::Type *>(open, i64), i64);
    b.SetInsertPoint(&bytes->getEntryBlock());
    llvm::Value *sizes = b.CreateAlloca(llvm::ArrayType::get(i64, std::max<int64_t>(open, 1)));
    for (int64_t i = 0; i < open; ++i)
      b.CreateStore(bytes->getArg(i), b.CreateConstInBoundsGEP1_64(i64, sizes, i));
    call(b, "xta_workspace", {table, sizes}, i64);
    for (llvm::Function *checked : {typed, bytes})
      llvm::GlobalAlias::create(f.symbols.checked(checked->getName()), checked);
  }

  /// What all functions share.
  void addShared() {
    routineTable();
    // const char *model_message(const xt_context *context, int32_t code)
    auto *type = llvm::FunctionType::get(pointer, {pointer, i32}, false);
    auto *message =
        llvm::Function::Create(type, llvm::GlobalValue::ExternalLinkage, library.message, module);
    llvm::IRBuilder<> b(llvm::BasicBlock::Create(context, "", message));
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

  llvm::Constant *size(const Interface &f, const SizeProduct &s) {
    llvm::SmallVector<llvm::Constant *> open;
    for (const std::string &name : s.open)
      open.push_back(number(llvm::find(f.open, name) - f.open.begin()));
    return structure({number(s.factor), number(open.size()), list(open)});
  }

  llvm::Constant *array(const Interface &f, const Parameter &p, llvm::Constant *data) {
    static constexpr llvm::StringLiteral kDtypes[] = {
        "bool",   "int8",    "int16",    "int32",   "int64",   "uint8",     "uint16",    "uint32",
        "uint64", "float16", "bfloat16", "float32", "float64", "complex64", "complex128"};
    llvm::SmallVector<llvm::Constant *> dims, sizes;
    for (const std::string &dim : p.dims)
      dims.push_back(text(dim));
    for (const SizeProduct &s : p.sizes)
      sizes.push_back(size(f, s));
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

  /// The values of a weight: functions that share it refer to one place.
  llvm::Constant *weight(size_t number) {
    std::string name = weightName(number);
    if (llvm::GlobalVariable *known = module.getGlobalVariable(name))
      return known;
    StringRef bytes = library.weights[number];
    auto *values = llvm::ConstantDataArray::getString(context, bytes, bytes.empty());
    auto *g = new llvm::GlobalVariable(module, values->getType(), true,
                                       llvm::GlobalValue::LinkOnceODRLinkage, values, name);
    g->setAlignment(llvm::Align(64));
    return g;
  }

  llvm::Constant *functionTable(const LibraryFunction &function, Workspace temporaries) {
    const Interface &f = function.interface;
    llvm::SmallVector<llvm::Constant *> arrays, equal, nonempty, sites, ranges;
    size_t passed = function.passed().size();
    for (auto [i, p] : llvm::enumerate(f.inputs))
      arrays.push_back(array(f, p, i < passed ? null() : weight(function.weights[i - passed])));
    int64_t openResults = 0;
    for (const Parameter &p : f.outputs) {
      arrays.push_back(array(f, p, null()));
      openResults += llvm::count_if(p.sizes, [](const SizeProduct &s) { return !s.open.empty(); });
    }
    for (const SizeEquality &e : f.equalities)
      equal.push_back(structure({size(f, e.left), size(f, e.right), text(e.dim)}));
    for (const SizeNonempty &e : f.nonempty)
      nonempty.push_back(structure({size(f, e.size), text(e.dim), text(e.message)}));
    for (const Site &site : function.sites) {
      // Its negative labels lie a size lower, so that they are outside (nn.py).
      bool labels = StringRef(site.op).split('#').first.ends_with("cross_entropy");
      sites.push_back(structure({text(site.dim), text(site.location), number(labels)}));
    }
    for (const NumberRange &r : function.ranges)
      if (auto holds = integersOf(r.dtype))
        ranges.push_back(structure({number(r.input), number(holds->first), number(holds->second),
                                    text(r.dtype), text(r.where)}));
    return global(
        structure({text(function.symbols.function), module.getFunction(function.symbols.entry),
                   number(f.inputs.size()), number(f.outputs.size()), number(f.open.size()),
                   number(openResults), list(arrays), number(equal.size()), list(equal),
                   number(nonempty.size()), list(nonempty), number(sites.size()), list(sites),
                   temporaries.bytes ? temporaries.bytes : null(), number(temporaries.fixed),
                   number(ranges.size()), list(ranges)}));
  }

  llvm::Module &module;
  llvm::LLVMContext &context;
  const LibraryDescription &library;
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
  options.AllowFPOpFusion = llvm::FPOpFusion::Standard; // as under jit
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
    for (StringRef name :
         {"cblas_sgemm", "cblas_dgemm", "cblas_sgemv", "cblas_dgemv", "cblas_strsm", "cblas_dtrsm",
          "spotrf_",     "dpotrf_",     "sgetrf_",     "dgetrf_",     "sgeqrf_",     "dgeqrf_",
          "sorgqr_",     "dorgqr_",     "ssyevd_",     "dsyevd_",     "sgesdd_",     "dgesdd_",
          "sgeev_",      "dgeev_",      "cgeev_",      "zgeev_",      "cgetrf_",     "zgetrf_",
          "cpotrf_",     "ctrsm_",      "ztrsm_",      "zpotrf_",     "cgeqrf_",     "zgeqrf_",
          "cungqr_",     "zungqr_",     "cheevd_",     "zheevd_",     "cgesdd_",     "zgesdd_"})
      if (llvm::Function *f = code.getFunction(name)) {
        std::string called = (blas->symbols + name).str();
        f->setName(called);
        if (f->getName() != called) { // LLVM makes a second one of a name another name
          error = "a function of the bundle is called '" + called + "' in C, as one of the BLAS";
          return false;
        }
      }
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

/// LLVM IR of a program's function under its name in the bundle, with its signature. Nothing else
/// of it has a name outside. Null, with an error, on failure.
static std::unique_ptr<llvm::Module> translated(ModuleOp module, const LibraryDescription &library,
                                                const LibraryFunction &function,
                                                llvm::TargetMachine &machine,
                                                llvm::LLVMContext &context) {
  auto code = mlir::translateModuleToLLVMIR(module, context, library.prefix);
  if (!code)
    return nullptr;
  code->setDataLayout(machine.createDataLayout());
  code->setTargetTriple(machine.getTargetTriple());
  code->getFunction("entry")->setName(function.symbols.entry);
  for (llvm::GlobalValue &value : code->global_values())
    if (!value.isDeclaration() && !value.getName().starts_with("llvm.") &&
        value.getName() != function.symbols.entry)
      value.setLinkage(llvm::GlobalValue::InternalLinkage);
  TableWriter(*code, library).addSignature(function);
  return code;
}

FailureOr<Library> xtensor::makeLibrary(llvm::ArrayRef<OwningOpRef<ModuleOp>> modules,
                                        LibraryDescription &library, const Processor &processor) {
  ModuleOp first = *modules.front();
  std::string error;
  std::unique_ptr<llvm::TargetMachine> machine = machineFor(processor, error);
  if (!machine)
    return first.emitError("no code can be generated for ") << processor.name << ": " << error;
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> code;
  std::vector<std::string> names = {library.message}, kernelNames;
  for (auto [module, f] : llvm::zip_equal(modules, library.functions)) {
    PassManager pm(first.getContext());
    pm.addPass(createPassCall());
    if (failed(pm.run(*module)))
      return failure();
    auto part = translated(*module, library, f, *machine, context);
    if (!part)
      return failure();
    for (llvm::Function &function : *part) {
      if (function.isDeclaration())
        continue;
      markCompiled(function);
      if (!processor.tune.empty())
        function.addFnAttr("tune-cpu", processor.tune);
    }
    Workspace workspace = workspaceOf(*part->getFunction(f.symbols.entry));
    f.loopsTakeMore |= workspace.loopsTakeMore;
    if (library.forC)
      TableWriter(*part, library).addFunctions(f, workspace);
    if (!code)
      code = std::move(part);
    else if (llvm::Linker::linkModules(*code, std::move(part)))
      return (*module).emitError("the functions of the library do not fit together");
    llvm::append_range(names, f.symbols.inC());
    for (const std::string &symbol : {f.symbols.function, f.symbols.workspace})
      names.push_back(f.symbols.checked(symbol));
    llvm::append_range(kernelNames, std::vector{f.symbols.entry, f.symbols.signature});
  }
  if (library.forC)
    TableWriter(*code, library).addShared();
  if (!link(*code, library, processor, error))
    return first.emitError(error);
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
    return first.emitError("the code generator cannot emit an object for ") << processor.name;

  std::string empty = emptyObject(*code, *machine, processor);
  SharedLinker linker(object, empty);
  auto fail = [&] { return first.emitError(linker.error()); };
  Library made;
  for (const LibraryFunction &f : library.functions) {
    auto kernel =
        linker.link(library.prefix + "-kernel.so", {f.symbols.entry, f.symbols.signature});
    if (!kernel)
      return fail();
    made.kernels.push_back(*kernel);
  }
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
  // Searching takes time: one weight may have much in common with another.
  llvm::StringMap<size_t> places = placesOf(object, kWeight);
  size_t start = StringRef(made.archive).find(object);
  for (size_t i = 0; i < library.weights.size(); ++i) {
    auto place = places.find(weightName(i));
    made.weights.push_back(place == places.end() ? StringRef::npos : start + place->second);
  }
  return made;
}

FailureOr<std::string> xtensor::makeHost(ModuleOp module, const LibraryDescription &library,
                                         const LibraryFunction &function,
                                         const Processor &processor) {
  std::string error;
  std::unique_ptr<llvm::TargetMachine> machine = machineFor(processor, error);
  if (!machine)
    return module.emitError("no code can be generated for ") << processor.name << ": " << error;
  llvm::LLVMContext context;
  auto code = translated(module, library, function, *machine, context);
  if (!code)
    return failure();
  std::string object;
  if (failed(emit(*code, *machine, object)))
    return module.emitError("the code generator cannot emit an object for ") << processor.name;
  SharedLinker linker(object, emptyObject(*code, *machine, processor));
  auto shared =
      linker.link(library.prefix + "-host.so", {function.symbols.entry, function.symbols.signature},
                  {"libxtensor_runtime.so"});
  if (!shared)
    return module.emitError(linker.error());
  return *shared;
}
