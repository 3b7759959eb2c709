#include "compiler/Export.h"

#include "Pipelines.h"
#include "XTensor/Fault.h"
#include "XTensor/XTensor.h"
#include "compiler/ExportChecks.h"
#include "compiler/Library.h"
#include "compiler/Locations.h"
#include "compiler/Manifest.h"
#include "compiler/Members.h"
#include "compiler/Recording.h"
#include "compiler/Sizes.h"
#include "mlir/Bytecode/BytecodeWriter.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/JSON.h"

using namespace mlir;
using namespace xtensor;
namespace json = llvm::json;

namespace {

/// While it lives, errors say which of several functions they are of.
class Naming {
public:
  Naming(MLIRContext *context, const std::string &name)
      : handler(context, [end = " (in function '" + (isLine(name) ? name : "..") +
                                "')"](Diagnostic &diagnostic) {
          // One that is told again, at another place, says it already.
          if (!StringRef(diagnostic.str()).ends_with(end))
            diagnostic << end;
          return failure(); // others tell it
        }) {}

private:
  ScopedDiagnosticHandler handler;
};

/// A function on its way into a bundle.
struct Exported {
  const ExportFunction &asked;
  OwningOpRef<ModuleOp> module; // without folders
  std::optional<json::Value> python;
  std::string program = {}; // the member that holds it
};

class Exporter {
public:
  Exporter(std::vector<Exported> functions, const ExportOptions &options)
      : functions(std::move(functions)), options(options) {}

  FailureOr<std::string> run() {
    if (failed(describe()))
      return failure();
    json::Array targets;
    for (const std::string &target : options.targets) {
      FailureOr<json::Object> added = add(target);
      if (failed(added))
        return failure();
      targets.push_back(std::move(*added));
    }
    if (hasC)
      members.keep(library.prefix + ".h", headerOf(library));
    std::vector<json::Value> described;
    for (auto [f, function] : llvm::zip_equal(functions, library.functions))
      described.push_back(toJson(f.asked, function, places, f.program, std::move(f.python), hasC));
    std::string manifest = manifestOf(options, library, json::Array(std::move(described)),
                                      std::move(targets), members, hasC);
    if (manifest.size() > kLongestManifest)
      return error() << Fault::Argument << "no bundle can be made whose manifest has "
                     << manifest.size() << " bytes: " << kLongestManifest
                     << " at most. Make several bundles";
    std::string wrong, file = members.zip(manifest, wrong);
    if (!wrong.empty())
      return error() << wrong;
    return file;
  }

private:
  /// Errors that are not about one function are emitted here.
  ModuleOp first() { return *functions.front().module; }
  InFlightDiagnostic error() { return first().emitError(); }

  std::optional<Naming> named(size_t i) {
    const Exported &f = functions[i];
    return functions.size() == 1
               ? std::nullopt
               : std::make_optional<Naming>((*f.module)->getContext(), f.asked.name);
  }

  LogicalResult describe() {
    library.prefix = libraryName(options.name);
    if (failed(checkOptions(options, functions.size(), library.prefix, first())))
      return failure();
    Names taken;
    library.message = taken.fresh(library.prefix + "_message");
    library.blas = options.blas;
    library.forC = options.forC;
    // Hosts of devices read weights from files; libraries for C have them inside.
    hasWeightFiles = !options.forC || llvm::any_of(options.targets, isDevice);
    for (auto [i, f] : llvm::enumerate(functions)) {
      std::optional<Naming> naming = named(i);
      if (failed(describe(f, i)))
        return failure();
      LibraryFunction &described = library.functions.back();
      described.symbols = FunctionSymbols(taken, library.prefix, f.asked.name);
      described.symbols.layout = layoutOf(described);
    }
    return success();
  }

  LogicalResult describe(Exported &f, size_t place) {
    ModuleOp module = *f.module;
    auto interface = interfaceOf(module);
    if (failed(interface) || failed(checkProgram(module)))
      return failure();
    if (f.asked.weights.size() > interface->inputs.size())
      return module.emitError("there are more weights than inputs");
    auto rename = [](std::vector<Parameter> &parameters, const std::vector<std::string> &names) {
      for (auto [p, name] : llvm::zip(parameters, names))
        p.name = name;
    };
    rename(interface->inputs, f.asked.inputs);
    rename(interface->outputs, f.asked.outputs);
    if (failed(checkNames(module, f.asked.name, *interface)))
      return failure();
    LibraryFunction &described = library.functions.emplace_back();
    described.interface = std::move(*interface);
    described.signature = signatureOf(f.asked.name, described.interface);
    std::string bytecode;
    llvm::raw_string_ostream os(bytecode);
    if (failed(writeBytecodeToFile(module, os)))
      return module.emitError("the program cannot be written as bytecode");
    std::string hashes = sha256(bytecode);
    f.program = "module" + std::to_string(place) + ".mlirbc";
    members.keep(f.program, std::move(bytecode));
    if (failed(addWeights(f, described, hashes)))
      return failure();
    hashes += sha256(f.asked.python);
    described.contents = sha256(hashes);
    return readPython(f, described);
  }

  /// Equal values are one member, whichever functions have them.
  LogicalResult addWeights(Exported &f, LibraryFunction &described, std::string &hashes) {
    size_t passed = described.interface.inputs.size() - f.asked.weights.size();
    for (auto [i, bytes] : llvm::enumerate(f.asked.weights)) {
      const Parameter &p = described.interface.inputs[passed + i];
      int64_t expected = p.elementBytes();
      for (const SizeProduct &size : p.sizes)
        expected *= size.factor;
      if (p.isOpen() || static_cast<int64_t>(bytes.size()) != expected)
        return f.module->emitError("the values of weight ")
               << i << " are not as many as its type says";
      std::string hash = sha256(bytes);
      auto [known, isNew] = weightNumbers.try_emplace(hash, library.weights.size());
      if (isNew) {
        library.weights.push_back(bytes);
        places.push_back({hash, "weights/" + std::to_string(known->second) + ".bin"});
        if (hasWeightFiles)
          members.keep(places.back().member, bytes);
      }
      hashes += hash;
      described.weights.push_back(known->second);
    }
    return success();
  }

  /// Weights are read from the first library for C, which has them anyway.
  void findWeights(const std::string &member, const Library &made) {
    for (auto [place, bytes, offset] : llvm::zip_equal(places, library.weights, made.weights)) {
      if (StringRef(made.archive).substr(offset, bytes.size()) != bytes) {
        members.keep(place.member, bytes.str());
        continue;
      }
      place.member = member;
      place.offset = static_cast<int64_t>(offset);
    }
  }

  static bool isDevice(StringRef target) {
    std::optional<Backend> backend = backendOf(target);
    return backend && *backend != Backend::cpu;
  }

  static LogicalResult readPython(Exported &f, LibraryFunction &described) {
    if (f.asked.python.empty())
      return success();
    auto parsed = json::parse(f.asked.python);
    if (!parsed)
      return f.module->emitError("what Python says of the function is no JSON: ")
             << llvm::toString(parsed.takeError());
    f.python = std::move(*parsed);
    // [argument, dtype, FILE:LINE, op]
    if (const json::Object *said = f.python->getAsObject())
      if (const json::Array *ranges = said->getArray("ranges"))
        for (const json::Value &range : *ranges) {
          const json::Array *r = range.getAsArray();
          if (r && r->size() >= 3 && (*r)[0].getAsInteger())
            described.ranges.push_back({*(*r)[0].getAsInteger(),
                                        (*r)[1].getAsString().value_or("").str(),
                                        (*r)[2].getAsString().value_or("").str()});
        }
    return success();
  }

  /// The functions as they are in front of code generation.
  FailureOr<std::vector<OwningOpRef<ModuleOp>>> lowered(StringRef target) {
    std::vector<OwningOpRef<ModuleOp>> copies;
    for (auto [i, f] : llvm::enumerate(functions)) {
      std::optional<Naming> naming = named(i);
      copies.emplace_back(cast<ModuleOp>((*f.module)->clone()));
      if (failed(runPhases(*copies.back(), "traced", "llvm", "", target)))
        return failure();
      library.functions[i].sites = sitesOf(*copies.back());
    }
    return copies;
  }

  /// What `xt.load` calls of a function.
  static json::Object codeOf(const LibraryFunction &f, const std::string &kernel) {
    return json::Object{
        {"kernel", kernel}, {"entry", f.symbols.entry}, {"signature", f.symbols.signature}};
  }

  /// A device: its kernels, lists of launches where there are such, and their hosts for xt.load.
  FailureOr<json::Object> addDevice(StringRef profile) {
    StringRef backend = profile.split(',').first;
    std::string folder = (backend + "/").str();
    if (members.hasFolder(folder))
      return error() << Fault::Argument << "target '" << backend << "' is there twice";
    auto modules = lowered(profile);
    if (failed(modules))
      return failure();
    // Nothing of the host takes time: any machine of this kind will do.
    std::optional<Processor> here = processorOf(thisProcessor());
    if (here)
      here = processorOf("cpu:" + here->architecture);
    if (!here)
      return error() << "the host of kernels cannot be compiled for this machine";
    library.target = profile.str();
    json::Array code;
    for (size_t i = 0; i < functions.size(); ++i) {
      const LibraryFunction &f = library.functions[i];
      auto host = makeHost(*(*modules)[i], library, f, *here);
      if (failed(host))
        return failure();
      std::string kernel = folder + "host" + std::to_string(i) + ".so";
      json::Object entry = codeOf(f, kernel);
      members.keep(kernel, *host);
      std::string why;
      if (auto recording = record(*(*modules)[i], f.interface, why)) {
        std::string list = folder + "launches" + std::to_string(i) + ".json";
        keepLaunches(list, *recording, f, profile);
        entry["launches"] = list;
      } else {
        entry["why"] = why;
      }
      code.push_back(std::move(entry));
    }
    return json::Object{{"target", backend},
                        {"profile", profile},
                        {"triple", here->triple},
                        {"host", "cpu:" + here->name},
                        {"code", std::move(code)}};
  }

  void keepLaunches(const std::string &list, const Recording &recording, const LibraryFunction &f,
                    StringRef profile) {
    StringRef backend = profile.split(',').first;
    StringRef suffix = backend == "vulkan" ? ".spv" : backend == "metal" ? ".metal" : ".ptx";
    RecordedFiles files;
    for (size_t number : f.weights)
      files.weights.push_back(places[number].member);
    for (const RecordedKernel &k : recording.kernels) {
      // Texts end with a zero for drivers; files do not.
      StringRef code = k.code;
      files.kernels.push_back(
          members.keepOnce((backend + "/kernel").str(), suffix,
                           (backend == "vulkan" ? code : code.rtrim('\0')).str()));
    }
    for (const std::string &bytes : recording.constants)
      files.constants.push_back(members.keepOnce((backend + "/constant").str(), ".bin", bytes));
    std::string text;
    llvm::raw_string_ostream os(text);
    json::OStream(os, /*IndentSize=*/1).value(launchesOf(recording, f.interface, profile, files));
    os << '\n';
    members.keep(list, text);
  }

  FailureOr<json::Object> add(StringRef asked) {
    if (isDevice(asked))
      return addDevice(asked);
    std::string target = asked == "cpu" ? thisProcessor() : asked.str();
    std::optional<Processor> processor = processorOf(target);
    if (!processor)
      return refuseTarget(first(), asked);
    std::string folder = "cpu/" + processor->name + "/";
    if (members.hasFolder(folder))
      return error() << Fault::Argument << "target '" << asked << "' is there twice";
    auto modules = lowered(target);
    if (failed(modules))
      return failure();
    library.routines = routinesOf(*modules);
    if (options.forC && options.blas.empty() && library.callsLapack()) {
      StringRef called = library.routines.back();
      size_t i = llvm::find_if(*modules, [&](auto &m) { return (*m).lookupSymbol(called); }) -
                 modules->begin();
      std::optional<Naming> naming = named(i);
      return error() << Fault::Unsupported
                     << "a library for C without a BLAS has no factorisations, and this "
                        "function calls '"
                     << called.drop_front(3)
                     << "': name a BLAS, with which LAPACK comes (openblas, blas, "
                        "scipy-openblas), or make a bundle for Python alone (c=False, --no-c)";
    }
    // Who calls nothing of a library needs none.
    library.blas = options.blas;
    if (!callsAny(*modules, "xt_gemm_f32") && !callsAny(*modules, "xt_gemm_f64") &&
        !library.callsLapack())
      library.blas.clear();
    library.target = "cpu:" + processor->name;
    auto made = makeLibrary(*modules, library, *processor);
    if (failed(made))
      return failure();
    json::Array features, code;
    llvm::SmallVector<StringRef> parts;
    StringRef(processor->features).split(parts, ',', -1, false);
    for (StringRef part : parts)
      features.push_back(part.str()); // JSON refers to a StringRef
    for (auto [i, kernel] : llvm::enumerate(made->kernels)) {
      std::string member = folder + "kernel" + std::to_string(i) + ".so";
      code.push_back(codeOf(library.functions[i], member));
      members.keep(member, std::move(kernel));
    }
    json::Object entry{{"target", "cpu:" + processor->name},
                       {"triple", processor->triple},
                       {"cpu", processor->cpu},
                       {"features", std::move(features)},
                       {"code", std::move(code)}};
    if (options.forC) {
      std::string archive = folder + "lib" + library.prefix + ".a";
      if (!hasWeightFiles && !hasC)
        findWeights(archive, *made);
      hasC = true;
      entry["shared"] = folder + "lib" + library.prefix + ".so";
      entry["archive"] = archive;
      members.keep(folder + "lib" + library.prefix + ".so", std::move(made->shared));
      members.keep(archive, std::move(made->archive));
    }
    return entry;
  }

  static bool callsAny(llvm::ArrayRef<OwningOpRef<ModuleOp>> code, StringRef name) {
    return llvm::any_of(code, [&](const auto &module) { return (*module).lookupSymbol(name); });
  }

  /// Those of the runtime that the code calls.
  static std::vector<std::string> routinesOf(llvm::ArrayRef<OwningOpRef<ModuleOp>> code) {
    std::vector<std::string> found;
    for (StringRef name : {
#define XT_ROUTINE(name, reports, work) #name,
#include "Routines.def"
         })
      if (callsAny(code, name))
        found.push_back(name.str());
    return found;
  }

  std::vector<Exported> functions;
  const ExportOptions &options;
  LibraryDescription library;
  llvm::StringMap<size_t> weightNumbers; // by their SHA-256
  std::vector<WeightPlace> places;       // of the library's weights
  bool hasWeightFiles = true;            // a member for each
  bool hasC = false;                     // a library for C: devices have none
  Members members;
};

} // namespace

FailureOr<std::string> xtensor::exportBundle(llvm::ArrayRef<ExportFunction> functions,
                                             const ExportOptions &options) {
  FoldersStripped folders(functions.front().module->getContext());
  std::vector<Exported> copies;
  for (const ExportFunction &f : functions) {
    copies.push_back({f, cast<ModuleOp>(f.module->clone()), std::nullopt});
    folders.strip(*copies.back().module);
  }
  return Exporter(std::move(copies), options).run();
}
