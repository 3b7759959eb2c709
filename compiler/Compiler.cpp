#include "compiler/Compiler.h"

#include "Buffers/Passes.h"
#include "CPU/Passes.h"
#include "GPU/KernelCode.h"
#include "KernelCalls.h"
#include "Machine.h"
#include "Pipelines.h"
#include "Version.h"
#include "XTensor/Fault.h"
#include "compiler/EveryPhase.h"
#include "compiler/Jit.h"
#include "compiler/ObjectCache.h"
#include "compiler/Profiled.h"
#include "compiler/Sizes.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/IR/DialectInterface.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/Pass/PassManager.h"
#include "runtime.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/BLAKE3.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include <dlfcn.h>
#ifdef __linux__
#include <link.h>
#endif
#include <mutex>
#include <optional>

using namespace mlir;
using namespace xtensor;

StringRef xtensor::compilerVersion() {
  static const std::string version = std::string("xtensor ") + xt_version();
  return version;
}

#ifdef __linux__
/// The bytes that the linker derived from the contents of the library at this address, as its
/// program headers tell them; empty if there are none.
static std::string buildId(const void *base) {
  struct Search {
    uintptr_t base;
    std::string found;
  } search = {reinterpret_cast<uintptr_t>(base), ""};
  auto visit = [](dl_phdr_info *info, size_t, void *data) -> int {
    auto &search = *static_cast<Search *>(data);
    if (info->dlpi_addr != search.base)
      return 0;
    for (const auto &header : ArrayRef(info->dlpi_phdr, info->dlpi_phnum)) {
      if (header.p_type != PT_NOTE)
        continue;
      auto *at = reinterpret_cast<const char *>(info->dlpi_addr + header.p_vaddr);
      for (const char *end = at + header.p_memsz; at + sizeof(ElfW(Nhdr)) <= end;) {
        auto *note = reinterpret_cast<const ElfW(Nhdr) *>(at);
        StringRef name(at + sizeof(*note), note->n_namesz);
        const char *contents = name.data() + llvm::alignTo(note->n_namesz, 4);
        if (note->n_type == NT_GNU_BUILD_ID && name == StringRef("GNU\0", 4))
          search.found = llvm::toHex(StringRef(contents, note->n_descsz), /*LowerCase=*/true);
        at = contents + llvm::alignTo(note->n_descsz, 4);
      }
    }
    return 1;
  };
  dl_iterate_phdr(visit, &search);
  return search.found;
}
#else
static std::string buildId(const void *) { return ""; }
#endif

/// Which compiler this is: another build may generate other code for the same program. A build is
/// told by the library that holds this function: by its build ID, which is the same on all machines
/// that have the library, else by size and time of its file.
static const std::string &compilerIdentity() {
  static const std::string identity = [] {
    std::string text = compilerVersion().str();
    Dl_info self;
    llvm::sys::fs::file_status status;
    if (!dladdr(reinterpret_cast<void *>(&compilerIdentity), &self))
      return text;
    if (std::string id = buildId(self.dli_fbase); !id.empty())
      text += " " + id;
    else if (!llvm::sys::fs::status(self.dli_fname, status))
      text += " " + std::to_string(status.getSize()) + " " +
              std::to_string(status.getLastModificationTime().time_since_epoch().count());
    return text;
  }();
  return identity;
}

//===- phases --------------------------------------------------------------===//

namespace {

/// The passes between two phases, kept as long as their context: building their patterns takes as
/// long as running them over a small program.
struct KeptPasses : DialectInterface::Base<KeptPasses> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(KeptPasses)
  explicit KeptPasses(Dialect *dialect) : Base(dialect) {}

  static PassManager &get(MLIRContext *context, StringRef from, StringRef to, StringRef target) {
    auto *dialect = context->getOrLoadDialect<XTensorDialect>();
    auto *kept = dialect->getRegisteredInterface<KeptPasses>();
    if (!kept) {
      dialect->addInterface(std::make_unique<KeptPasses>(dialect));
      kept = dialect->getRegisteredInterface<KeptPasses>();
    }
    auto &passes = kept->managers[(from + " " + to + " " + target).str()];
    if (!passes) {
      passes = std::make_unique<PassManager>(context);
      addPhases(*passes, from, to, "", target);
    }
    return *passes;
  }

  llvm::StringMap<std::unique_ptr<PassManager>> managers;
};

} // namespace

/// Whether the IR is verified after each pass: for tests, $XTENSOR_VERIFY=1.
static bool verifies() {
  const char *wanted = getenv("XTENSOR_VERIFY");
  return wanted && *wanted == '1';
}

/// Whether an array of the program has no elements. Upstream's verifiers refuse slices of nothing,
/// and loops over them, which are right.
static bool hasEmptyArrays(ModuleOp module) {
  auto isEmpty = [](Type type) {
    if (auto array = dyn_cast<ArrayType>(type))
      return llvm::is_contained(array.getShape(), 0);
    auto stored = dyn_cast<ShapedType>(type);
    return stored && stored.hasRank() && llvm::is_contained(stored.getShape(), 0);
  };
  return module
      .walk([&](Operation *op) {
        bool found = llvm::any_of(op->getOperandTypes(), isEmpty) ||
                     llvm::any_of(op->getResultTypes(), isEmpty);
        return found ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

LogicalResult xtensor::runPhases(ModuleOp module, StringRef from, StringRef to,
                                 StringRef dumpFolder, StringRef target) {
  MLIRContext *context = module.getContext();
  auto run = [&](PassManager &pm, bool verify) {
#ifdef NDEBUG
    pm.enableVerifier(verify);
#endif
    return pm.run(module);
  };
  if (!dumpFolder.empty()) {
    PassManager pm(context);
    addPhases(pm, from, to, dumpFolder, target);
    return run(pm, false);
  }
  bool verify = verifies();
  if (verify && hasEmptyArrays(module)) {
    constexpr StringRef named = "distributed"; // the last phase of named arrays
    Backend backend = *backendOf(target);
    int last = phaseIndex(named, backend);
    verify = phaseIndex(to, backend) <= last;
    if (!verify && phaseIndex(from, backend) < last) {
      if (failed(run(KeptPasses::get(context, from, named, target), true)))
        return failure();
      from = named;
    }
  }
  return run(KeptPasses::get(context, from, to, target), verify);
}

/// Phases of this module only: the caller keeps its own.
static OwningOpRef<ModuleOp> copyOf(ModuleOp module) { return cast<ModuleOp>(module->clone()); }

/// Whether code is generated for `target`, with an error where it is not.
static LogicalResult checkTarget(ModuleOp module, StringRef target) {
  if (backendOf(target))
    return success();
  return module.emitError("this build generates no code for ") << target.split(',').first;
}

std::string xtensor::kernelTexts(ModuleOp module) {
  std::string text;
  for (auto kernel : module.getOps<mlir::gpu::GPUModuleOp>())
    if (auto code = kernel->getAttrOfType<StringAttr>(xtensor::gpu::kCodeAttr))
      text += "// " + kernel.getName().str() + "\n\n" + code.getValue().rtrim('\0').str() + '\n';
  return text;
}

FailureOr<std::string> xtensor::textAfter(ModuleOp module, StringRef phase, bool locations,
                                          StringRef target) {
  if (failed(checkTarget(module, target)))
    return failure();
  OwningOpRef<ModuleOp> copy = copyOf(module);
  bool assembly = phase == "asm";
  if (failed(runPhases(*copy, "traced", assembly ? "llvm" : phase, "", target)))
    return failure();
  if (assembly)
    return Jit::get().assembly(*copy, "entry");
  if (phase == "msl" || phase == "ptx")
    return kernelTexts(*copy);
  std::string text;
  llvm::raw_string_ostream os(text);
  OpPrintingFlags flags;
  // In place, as loc(..): so a reader sees them, and the text can be parsed.
  flags.enableDebugInfo(locations);
  if (locations)
    flags.useLocalScope();
  // To the verifier, a slice of an array without elements is an error, for which the text would be
  // in the generic form.
  flags.assumeVerified();
  (*copy)->print(os, flags);
  return text;
}

//===- objects -------------------------------------------------------------===//

std::vector<Site> xtensor::sitesOf(ModuleOp module) {
  std::vector<Site> sites;
  if (auto list = module->getAttrOfType<ArrayAttr>("xtensor.sites"))
    for (auto site : list.getAsRange<DictionaryAttr>()) {
      auto text = [&](StringRef name) {
        auto attribute = site.getAs<StringAttr>(name);
        return attribute ? attribute.str() : std::string();
      };
      sites.push_back({text("dim"), text("loc"), text("op")});
    }
  return sites;
}

/// As compileProfiled tells it.
static std::string kernelsOf(ModuleOp module) {
  auto list = module->getAttrOfType<ArrayAttr>(kKernelsAttr);
  if (!list)
    return "";
  llvm::json::Array kernels;
  for (auto kernel : list.getAsRange<DictionaryAttr>()) {
    auto number = [&](StringRef name) { return kernel.getAs<FloatAttr>(name).getValueAsDouble(); };
    auto memory = [&](StringRef name) {
      return llvm::json::Array(kernel.getAs<DenseI64ArrayAttr>(name).asArrayRef());
    };
    kernels.push_back(llvm::json::Object{{"kind", kernel.getAs<StringAttr>("kind").getValue()},
                                         {"flops", number("flops")},
                                         {"bytes", number("bytes")},
                                         {"reads", memory("reads")},
                                         {"writes", memory("writes")},
                                         {"loc", originOf(cast<LocationAttr>(kernel.get("loc")))}});
  }
  return llvm::formatv("{0}", llvm::json::Value(std::move(kernels)));
}

/// Hash of everything that the object depends on. Locations count only where an error would
/// tell them: at reads by index, at matrices that must be square, and in programs of several
/// processes, whose collectives tell where they wait.
static std::string keyOf(ModuleOp module, const CompilerOptions &options, int64_t profile) {
  std::string text;
  llvm::raw_string_ostream os(text);
  os << compilerIdentity() << '\n' << hostDescription() << '\n' << options.from << '\n';
  os << options.target << ' ' << hasBFloat16ProductsOfHost() << '\n';
  if (profile)
    os << "profile " << profile << '\n';
  // The checks of a call before it runs code are not part of that, and neither are their lines.
  Operation *main = module.lookupSymbol("main");
  Attribute nonempty = main ? main->removeDiscardableAttr(kNonempty) : Attribute();
  module->print(os);
  if (nonempty)
    main->setDiscardableAttr(kNonempty, nonempty);
  bool isOfSeveral = main && main->hasAttr("xtensor.mesh");
  module->walk([&](Operation *op) {
    if (isOfSeveral ||
        isa<AccumulateOp, CholeskyOp, CholeskyTangentOp, ComplexFactorOp, EighOp, GatherOp, LuOp,
            LuTangentOp, ScatterOp, SolveOp, TriangularContractOp, TriangularSolveOp>(op))
      os << op->getLoc() << '\n';
  });
  auto hash = llvm::BLAKE3::hash<16>(llvm::arrayRefFromStringRef(text));
  return llvm::toHex(hash, /*LowerCase=*/true);
}

/// A cached file: how long calls take and which arguments results reuse, the sites, one line for
/// each, an empty line, and each object after a line with its length.
static std::string packed(const Compiled &compiled, const Objects &objects) {
  std::string file;
  llvm::raw_string_ostream os(file);
  os << (compiled.isLong ? "long" : "short");
  for (int64_t argument : compiled.reused)
    os << ' ' << argument;
  os << '\n';
  for (const Site &site : compiled.sites)
    os << site.dim << '\t' << site.location << '\t' << site.op << '\n';
  os << '\n';
  for (auto &object : objects)
    os << object->getBufferSize() << '\n' << object->getBuffer();
  return file;
}

static std::vector<Site> unpackedSites(StringRef &file) {
  std::vector<Site> sites;
  while (true) {
    auto [line, rest] = file.split('\n');
    file = rest;
    if (line.empty())
      return sites;
    auto [dim, where] = line.split('\t');
    auto [location, op] = where.split('\t');
    sites.push_back({dim.str(), location.str(), op.str()});
  }
}

static Objects unpackedObjects(StringRef file, StringRef name) {
  Objects objects;
  while (!file.empty()) {
    size_t size = 0;
    auto [line, rest] = file.split('\n');
    (void)line.getAsInteger(10, size);
    objects.push_back(llvm::MemoryBuffer::getMemBufferCopy(rest.take_front(size), name));
    file = rest.drop_front(std::min(size, rest.size()));
  }
  return objects;
}

namespace {

/// What is loaded, by key: a program that is compiled twice is there once. Entries are named by
/// key, and the linker refuses a second one of a name.
class LoadedPrograms {
public:
  static LoadedPrograms &get() {
    static auto *made = new LoadedPrograms; // programs go while the process exits, too
    return *made;
  }

  /// The program, with a use of its code, if it is loaded.
  std::optional<Compiled> find(StringRef key) {
    std::lock_guard<std::mutex> guard(lock);
    return used(key);
  }

  /// The same for an object that is loaded now, unless it is loaded already.
  llvm::Expected<Compiled> load(Compiled compiled, Objects objects, StringRef entry) {
    std::lock_guard<std::mutex> guard(lock);
    if (auto found = used(compiled.key))
      return *found;
    auto loaded = Jit::get().link(std::move(objects), entry);
    if (!loaded)
      return loaded.takeError();
    compiled.entry = loaded->entry;
    compiled.code = std::move(loaded->code);
    programs[compiled.key] = {compiled, 0};
    return *used(compiled.key);
  }

private:
  struct Program {
    Compiled compiled;
    size_t users = 0;
  };

  std::optional<Compiled> used(StringRef key) {
    auto found = programs.find(key);
    if (found == programs.end())
      return std::nullopt;
    ++found->second.users;
    Compiled result = found->second.compiled;
    result.code = std::shared_ptr<void>(result.entry, [this, key = result.key](void *) {
      std::lock_guard<std::mutex> guard(lock);
      auto found = programs.find(key);
      if (--found->second.users == 0)
        programs.erase(found);
    });
    return result;
  }

  std::mutex lock;
  llvm::StringMap<Program> programs;
};

} // namespace

/// The file of a program that was compiled before, by this process or another, or null.
static std::unique_ptr<llvm::MemoryBuffer> kept(StringRef key, const ObjectCache &cache) {
  auto file = ObjectsInMemory::get().find(key);
  return file ? std::move(file) : cache.find(key);
}

std::string xtensor::compiledObject(StringRef key, StringRef folder) {
  auto file = kept(key, ObjectCache(folder, /*limit=*/0));
  return file ? file->getBuffer().str() : std::string();
}

void xtensor::takeCompiledObject(StringRef key, StringRef file) {
  ObjectsInMemory::get().store(key, file);
}

/// profile: the number of a program that is profiled, or 0.
static FailureOr<Compiled> compileAs(ModuleOp module, const CompilerOptions &options,
                                     int64_t profile, std::string &kernels) {
  if (failed(checkTarget(module, options.target)))
    return failure();
  Compiled compiled;
  compiled.key = keyOf(module, options, profile);
  if (options.dumpFolder.empty())
    if (auto found = LoadedPrograms::get().find(compiled.key))
      return *found;
  PhaseTimes times;
  std::string entry = "xt_" + compiled.key;
  ObjectCache cache(profile ? std::string() : options.cacheFolder, options.cacheLimit);
  Objects objects;
  if (options.dumpFolder.empty())
    if (auto file = kept(compiled.key, cache)) {
      auto [head, bytes] = file->getBuffer().split('\n');
      auto [length, reused] = head.split(' ');
      compiled.isLong = length == "long";
      for (StringRef argument : llvm::split(reused, ' '))
        if (int64_t number; !argument.getAsInteger(10, number))
          compiled.reused.push_back(number);
      compiled.sites = unpackedSites(bytes);
      compiled.fromCache = true;
      objects = unpackedObjects(bytes, entry);
    }
  if (!compiled.fromCache) {
    OwningOpRef<ModuleOp> copy = copyOf(module);
    if (profile)
      (*copy)->setAttr(kProfileAttr, Builder(module.getContext()).getI64IntegerAttr(profile));
    if (failed(runPhases(*copy, options.from, "llvm", options.dumpFolder, options.target)))
      return failure();
    compiled.sites = sitesOf(*copy);
    kernels = kernelsOf(*copy);
    compiled.isLong = (*copy)->hasAttr(kLongAttr);
    if (auto reused = (*copy)->getAttrOfType<DenseI64ArrayAttr>(kReusedAttr))
      compiled.reused = reused.asArrayRef().vec();
    if (Operation *function = copy->lookupSymbol("entry"))
      SymbolTable::setSymbolName(function, entry);
    auto generated = Jit::get().generate(*copy, entry, xt_num_threads());
    if (failed(generated))
      return failure();
    objects = std::move(*generated);
    times.add("asm");
    std::string file = packed(compiled, objects);
    cache.store(compiled.key, file);
    if (options.cacheFolder.empty() && !profile)
      ObjectsInMemory::get().store(compiled.key, file);
  }
  auto loaded = LoadedPrograms::get().load(std::move(compiled), std::move(objects), entry);
  if (llvm::Error error = loaded.takeError()) {
    llvm::handleAllErrors(std::move(error), [&](const llvm::ErrorInfoBase &info) {
      if (info.convertToErrorCode() == std::errc::not_enough_memory)
        module.emitError("no memory for the code of this program") << Fault::Memory;
      else
        module.emitError("the compiled object cannot be loaded: ") << info.message();
    });
    return failure();
  }
  times.add("link");
  loaded->seconds = std::move(times.seconds);
  return *loaded;
}

FailureOr<Compiled> xtensor::compile(ModuleOp module, const CompilerOptions &options) {
  std::string kernels;
  return compileAs(module, options, /*profile=*/0, kernels);
}

FailureOr<Compiled> xtensor::compileProfiled(ModuleOp module, const CompilerOptions &options,
                                             int64_t number, std::string &kernels) {
  return compileAs(module, options, number, kernels);
}

FailureOr<std::string> xtensor::kernelsOfCall(ModuleOp module,
                                              const llvm::StringMap<int64_t> &sizes) {
  OwningOpRef<ModuleOp> copy = copyOf(module);
  (*copy)->setAttr(kProfileAttr, Builder(module.getContext()).getI64IntegerAttr(0));
  if (failed(noteSizes(*copy, sizes)) || failed(runPhases(*copy, "traced", "cpu")))
    return failure();
  return kernelsOf(*copy);
}
