#include "compiler/Export.h"

#include "Pipelines.h"
#include "Sha256.h"
#include "XTensor/XTensor.h"
#include "Zip.h"
#include "compiler/Library.h"
#include "compiler/Locations.h"
#include "compiler/Recording.h"
#include "compiler/Sizes.h"
#include "mlir/Bytecode/BytecodeWriter.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/Support/ConvertUTF.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/Unicode.h"

using namespace mlir;
using namespace xtensor;
namespace json = llvm::json;

namespace {

/// What Python's str.isprintable says of a character: no controls, and no space but ' '.
bool isPrintable(llvm::UTF32 c) {
  bool isSpace = c == 0xa0 || c == 0x1680 || (c >= 0x2000 && c <= 0x200a) || c == 0x202f ||
                 c == 0x205f || c == 0x3000;
  return !isSpace && c != 0xad && llvm::sys::unicode::isPrintable(static_cast<int>(c));
}

/// Whether a name is a line of text.
bool isLine(StringRef name) {
  auto *at = reinterpret_cast<const llvm::UTF8 *>(name.bytes_begin()), *end = at + name.size();
  while (at != end) {
    llvm::UTF32 c;
    if (llvm::convertUTF8Sequence(&at, end, &c, llvm::strictConversion) != llvm::conversionOK ||
        !isPrintable(c))
      return false;
  }
  return !name.empty();
}

class Exporter {
public:
  Exporter(ModuleOp module, const ExportOptions &options) : module(module), options(options) {}

  FailureOr<std::string> run() {
    if (failed(describe()))
      return failure();
    std::string bytecode;
    llvm::raw_string_ostream os(bytecode);
    if (failed(writeBytecodeToFile(module, os)))
      return module.emitError("the program cannot be written as bytecode");
    std::string hashes = bundle::sha256(bytecode);
    for (const std::string &bytes : options.weights)
      hashes += bundle::sha256(bytes);
    hashes += bundle::sha256(options.python);
    library.contents = bundle::sha256(hashes);
    json::Array targets;
    for (const std::string &target : options.targets) {
      FailureOr<json::Object> added = add(target);
      if (failed(added))
        return failure();
      targets.push_back(std::move(*added));
    }
    keep("module.mlirbc", std::move(bytecode));
    json::Array weights;
    for (auto [i, bytes] : llvm::enumerate(options.weights)) {
      std::string member = "weights/" + std::to_string(i) + ".bin";
      json::Object weight = toJson(inputs()[passed() + i]);
      weight["member"] = member;
      weights.push_back(std::move(weight));
      keep(member, bytes);
    }
    if (hasC)
      keep(library.prefix + ".h", headerOf(library));
    return file(std::move(targets), std::move(weights));
  }

private:
  const std::vector<Parameter> &inputs() const { return library.interface.inputs; }
  size_t passed() const { return inputs().size() - options.weights.size(); }

  /// What readers rely on: the program is one function of traced ops, whose attributes say what
  /// they are to say.
  LogicalResult checkProgram() {
    auto main = module.lookupSymbol<func::FuncOp>("main");
    for (Operation &op : *module.getBody())
      if (&op != main.getOperation())
        return op.emitError("a bundle holds the function @main and nothing else. Inline what it "
                            "calls (mlir-opt --inline --symbol-dce), and remove the rest");
    WalkResult traced = main.walk([](Operation *op) {
      if (op->getName().getDialectNamespace() != "llvm")
        return WalkResult::advance();
      op->emitError("ops of LLVM are no part of a program that is exported");
      return WalkResult::interrupt();
    });
    if (traced.wasInterrupted())
      return failure();
    Attribute nonempty = main->getAttr(kNonempty);
    auto isText = [](DictionaryAttr entry, StringRef key) {
      return entry.getAs<StringAttr>(key) != nullptr;
    };
    auto list = dyn_cast_or_null<mlir::ArrayAttr>(nonempty);
    if (nonempty && (!list || !llvm::all_of(list, [&](Attribute attribute) {
          auto entry = dyn_cast<DictionaryAttr>(attribute);
          return entry && isText(entry, "dim") && isText(entry, "message") &&
                 isText(entry, "where");
        })))
      return main.emitError("attribute ") << kNonempty << " is no list of {dim, message, where}";
    return success();
  }

  /// Names are on one line wherever they are printed, and arrays fit memory: readers see to it.
  LogicalResult checkNames() {
    if (!isLine(options.function))
      return module.emitError("no bundle can be made of a function with such a name: it is empty, "
                              "or has characters that cannot be printed");
    for (const auto &parameters : {inputs(), library.interface.outputs})
      for (const Parameter &p : parameters) {
        if (!isLine(p.name) || !llvm::all_of(p.dims, isLine))
          return module.emitError("no bundle can be made where the name of an array or a dim is "
                                  "empty, or has characters that cannot be printed");
        int64_t count = 1;
        for (const SizeProduct &size : p.sizes)
          if (llvm::MulOverflow(count, std::max<int64_t>(size.factor, 1), count) ||
              count >= int64_t(1) << 59)
            return module.emitError("no bundle can be made with an array that is larger than "
                                    "memory: '")
                   << p.name << "'";
      }
    return success();
  }

  LogicalResult describe() {
    auto interface = interfaceOf(module);
    if (failed(interface) || failed(checkProgram()))
      return failure();
    if (options.targets.empty())
      return module.emitError("a bundle is for one target at least");
    if (!options.blas.empty() && !blasNamed(options.blas))
      return module.emitError("there is no BLAS called '")
             << options.blas << "': openblas, blas or scipy-openblas, or none";
    if (options.weights.size() > interface->inputs.size())
      return module.emitError("there are more weights than inputs");
    library.prefix = libraryName(options.name);
    if (constexpr size_t most = 128; library.prefix.size() > most)
      return module.emitError("no bundle can be made with a name of ")
             << library.prefix.size() << " characters: " << most << " at most";
    library.symbols = LibrarySymbols(library.prefix, options.function);
    library.interface = std::move(*interface);
    auto rename = [](std::vector<Parameter> &parameters, const std::vector<std::string> &names) {
      for (auto [p, name] : llvm::zip(parameters, names))
        p.name = name;
    };
    rename(library.interface.inputs, options.inputs);
    rename(library.interface.outputs, options.outputs);
    if (failed(checkNames()))
      return failure();
    library.signature = signatureOf(options.function, library.interface);
    for (auto [i, bytes] : llvm::enumerate(options.weights)) {
      library.weights.push_back(bytes);
      const Parameter &p = inputs()[passed() + i];
      auto main = module.lookupSymbol<func::FuncOp>("main");
      auto type = cast<ArrayType>(main.getArgumentTypes()[passed() + i]);
      int64_t expected = std::max<int64_t>(type.getElementType().getIntOrFloatBitWidth() / 8, 1);
      for (const SizeProduct &size : p.sizes)
        expected *= size.factor;
      if (p.isOpen() || static_cast<int64_t>(bytes.size()) != expected)
        return module.emitError("the values of weight ")
               << i << " are not as many as its type says";
    }
    library.blas = options.blas;
    library.forC = options.forC;
    if (options.python.empty())
      return success();
    auto parsed = json::parse(options.python);
    if (!parsed)
      return module.emitError("what Python says of the function is no JSON: ")
             << llvm::toString(parsed.takeError());
    python = std::move(*parsed);
    // [argument, dtype, FILE:LINE, op]
    if (const json::Object *said = python->getAsObject())
      if (const json::Array *ranges = said->getArray("ranges"))
        for (const json::Value &range : *ranges) {
          const json::Array *r = range.getAsArray();
          if (r && r->size() >= 3 && (*r)[0].getAsInteger())
            library.ranges.push_back({*(*r)[0].getAsInteger(),
                                      (*r)[1].getAsString().value_or("").str(),
                                      (*r)[2].getAsString().value_or("").str()});
        }
    return success();
  }

  /// A device: its kernels, the list of launches where there is one, and their host for xt.load.
  FailureOr<json::Object> addDevice(StringRef profile) {
    StringRef backend = profile.split(',').first;
    std::string folder = (backend + "/").str();
    if (llvm::any_of(kept, [&](const auto &m) { return StringRef(m.first).starts_with(folder); }))
      return module.emitError("target '") << backend << "' is there twice";
    OwningOpRef<ModuleOp> copy = cast<ModuleOp>(module->clone());
    if (failed(runPhases(*copy, "traced", "llvm", "", profile)))
      return failure();
    library.sites = sitesOf(*copy);
    // Nothing of the host takes time: any machine of this kind will do.
    std::optional<Processor> here = processorOf(thisProcessor());
    if (here)
      here = processorOf("cpu:" + here->architecture);
    if (!here)
      return module.emitError("the host of kernels cannot be compiled for this machine");
    library.target = profile.str();
    auto host = makeHost(*copy, library, *here);
    if (failed(host))
      return failure();
    json::Object entry{{"target", backend},
                       {"profile", profile},
                       {"triple", here->triple},
                       {"host", "cpu:" + here->name},
                       {"kernel", folder + "host.so"},
                       {"entry", entrySymbol(library)},
                       {"signature", signatureSymbol(library)}};
    keep(folder + "host.so", host->shared);
    std::string why;
    auto recording = record(host->object, entrySymbol(library), library.interface, why);
    if (!recording) {
      entry["why"] = why;
      return entry;
    }
    StringRef suffix = backend == "vulkan" ? ".spv" : backend == "metal" ? ".metal" : ".ptx";
    auto file = [&](bool isKernel, size_t i) {
      return folder + (isKernel ? "kernel" : "constant") + std::to_string(i) +
             (isKernel ? suffix.str() : ".bin");
    };
    std::string text;
    llvm::raw_string_ostream os(text);
    json::OStream(os, /*IndentSize=*/1)
        .value(launchesOf(*recording, library.interface, options.weights.size(), profile, file));
    os << '\n';
    entry["launches"] = folder + "launches.json";
    keep(folder + "launches.json", text);
    for (auto [i, k] : llvm::enumerate(recording->kernels)) {
      // Texts end with a zero for drivers; files do not.
      StringRef code = k.code;
      keep(file(true, i), (backend == "vulkan" ? code : code.rtrim('\0')).str());
    }
    for (auto [i, bytes] : llvm::enumerate(recording->constants))
      keep(file(false, i), bytes);
    return entry;
  }

  FailureOr<json::Object> add(StringRef asked) {
    if (std::optional<Backend> backend = backendOf(asked); backend && *backend != Backend::cpu)
      return addDevice(asked);
    std::string target = asked == "cpu" ? thisProcessor() : asked.str();
    std::optional<Processor> processor = processorOf(target);
    if (!processor)
      return module.emitError("no bundle can be made for target '")
             << asked << "': there are cpu (this machine's), " << processorNames()
             << ", and vulkan, metal and cuda";
    std::string folder = "cpu/" + processor->name + "/";
    if (llvm::any_of(kept, [&](const auto &m) { return StringRef(m.first).starts_with(folder); }))
      return module.emitError("target '") << asked << "' is there twice";
    OwningOpRef<ModuleOp> copy = cast<ModuleOp>(module->clone());
    if (failed(runPhases(*copy, "traced", "llvm", "", target)))
      return failure();
    library.sites = sitesOf(*copy);
    library.routines = routinesOf(*copy);
    if (options.forC && options.blas.empty() && library.callsLapack())
      return module.emitError("a library for C without a BLAS has no factorisations, and this "
                              "function calls '")
             << StringRef(library.routines.back()).drop_front(3)
             << "': name a BLAS, with which LAPACK comes (openblas, blas, scipy-openblas), or make "
                "a bundle for Python alone (c=False, --no-c)";
    // Who calls nothing of a library needs none.
    library.blas = options.blas;
    if (!copy->lookupSymbol("xt_gemm_f32") && !copy->lookupSymbol("xt_gemm_f64") &&
        !library.callsLapack())
      library.blas.clear();
    library.target = "cpu:" + processor->name;
    auto made = makeLibrary(*copy, library, *processor);
    if (failed(made))
      return failure();
    json::Array features;
    llvm::SmallVector<StringRef> parts;
    StringRef(processor->features).split(parts, ',', -1, false);
    for (StringRef part : parts)
      features.push_back(part.str()); // JSON refers to a StringRef
    json::Object entry{{"target", "cpu:" + processor->name},
                       {"triple", processor->triple},
                       {"cpu", processor->cpu},
                       {"features", std::move(features)},
                       {"kernel", folder + "kernel.so"},
                       {"entry", entrySymbol(library)},
                       {"signature", signatureSymbol(library)}};
    keep(folder + "kernel.so", std::move(made->kernel));
    if (options.forC) {
      hasC = true;
      entry["shared"] = folder + "lib" + library.prefix + ".so";
      entry["archive"] = folder + "lib" + library.prefix + ".a";
      keep(folder + "lib" + library.prefix + ".so", std::move(made->shared));
      keep(folder + "lib" + library.prefix + ".a", std::move(made->archive));
    }
    return entry;
  }

  /// Those of the runtime that the code calls.
  static std::vector<std::string> routinesOf(ModuleOp code) {
    std::vector<std::string> found;
    for (StringRef name : {
#define XT_ROUTINE(name) #name,
#include "Routines.def"
         })
      if (code.lookupSymbol(name))
        found.push_back(name.str());
    return found;
  }

  void keep(std::string name, std::string bytes) {
    kept.emplace_back(std::move(name), std::move(bytes));
  }

  FailureOr<std::string> file(json::Array targets, json::Array weights) {
    json::Array arguments, sites;
    for (const Parameter &p : llvm::ArrayRef(inputs()).take_front(passed()))
      arguments.push_back(toJson(p));
    for (const Site &site : library.sites)
      sites.push_back(
          json::Object{{"dim", site.dim}, {"location", site.location}, {"op", site.op}});
    json::Object function = toJson(library.interface);
    function["name"] = options.function;
    function["doc"] = options.doc;
    function["signature"] = library.signature;
    function["arguments"] = std::move(arguments);
    function["weights"] = std::move(weights);
    function["sites"] = std::move(sites);
    if (hasC)
      function["symbol"] = library.symbols.function;
    if (python)
      function["python"] = std::move(*python);
    json::Object members;
    for (const auto &[name, bytes] : kept)
      members[name] = json::Object{{"bytes", static_cast<int64_t>(bytes.size())},
                                   {"sha256", bundle::sha256(bytes)}};
    json::Object manifest{
        {"schema", kManifestSchema},     {"compiler", compilerVersion()},
        {"name", options.name},          {"functions", json::Array{std::move(function)}},
        {"targets", std::move(targets)}, {"module", "module.mlirbc"},
        {"members", std::move(members)}};
    manifest["blas"] = library.blas.empty() ? json::Value(nullptr) : json::Value(library.blas);
    if (hasC)
      manifest["header"] = library.prefix + ".h";
    std::string text;
    llvm::raw_string_ostream os(text);
    json::OStream(os, /*IndentSize=*/1).value(json::Value(std::move(manifest)));
    os << '\n';
    std::vector<bundle::Member> all = {{"manifest.json", text}};
    for (const auto &[name, bytes] : kept)
      all.push_back({name, bytes});
    std::string error, zip = bundle::writeZip(all, error);
    if (!error.empty())
      return module.emitError(error);
    return zip;
  }

  ModuleOp module;
  const ExportOptions &options;
  LibraryDescription library;
  std::optional<json::Value> python; // what it says of the function
  bool hasC = false;                 // a library for C: devices have none
  std::vector<std::pair<std::string, std::string>> kept;
};

} // namespace

FailureOr<std::string> xtensor::exportBundle(ModuleOp module, const ExportOptions &options) {
  FoldersStripped folders(module.getContext());
  OwningOpRef<ModuleOp> copy = cast<ModuleOp>(module->clone());
  folders.strip(*copy);
  return Exporter(*copy, options).run();
}
