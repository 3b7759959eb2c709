// The `_xtensor` extension: the dialect's types as Python classes, registration, and the
// compiler. It sits on MLIR's C API and upstream's binding classes only.
#include "compiler/CAPI.h"
#include "mlir-c/Pass.h"
#include "mlir/Bindings/Python/IRCore.h"
#include "mlir/Bindings/Python/IRTypes.h"
#include "mlir/Bindings/Python/Nanobind.h"
#include "mlir/Bindings/Python/NanobindAdaptors.h"
#include <list>
#include <map>
#include <nanobind/stl/map.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

namespace nb = nanobind;
namespace py = mlir::python::MLIR_BINDINGS_PYTHON_DOMAIN;

namespace {

/// A callback of the C API that appends to the std::string behind `text`.
void append(MlirStringRef part, void *text) {
  static_cast<std::string *>(text)->append(part.data, part.length);
}

/// Of a dim of an array type; a size of None is `?`.
nb::str nameOf(MlirType type, intptr_t i) {
  MlirStringRef name = xtensorArrayTypeGetName(type, i);
  return nb::str(name.data, name.length);
}
nb::object sizeOf(MlirType type, intptr_t i) {
  int64_t size = xtensorArrayTypeGetSize(type, i);
  return size == XTENSOR_DYNAMIC ? nb::none() : nb::object(nb::int_(size));
}

struct PyArrayType : py::PyConcreteType<PyArrayType> {
  static constexpr IsAFunctionTy isaFunction = xtensorTypeIsAArray;
  static constexpr GetTypeIDFunctionTy getTypeIdFunction = xtensorArrayTypeGetTypeID;
  static constexpr const char *pyClassName = "ArrayType";
  using PyConcreteType::PyConcreteType;

  using Dims = std::vector<std::pair<std::string, std::optional<int64_t>>>;

  static PyArrayType get(const Dims &dims, py::PyType &element, py::DefaultingPyLocation loc) {
    std::vector<MlirStringRef> names;
    std::vector<int64_t> sizes;
    for (const auto &[name, size] : dims) {
      names.push_back(mlirStringRefCreate(name.data(), name.size()));
      sizes.push_back(size.value_or(XTENSOR_DYNAMIC));
    }
    py::PyMlirContext::ErrorCapture errors(loc->getContext());
    MlirType type = xtensorArrayTypeGet(loc, names.size(), names.data(), sizes.data(), element);
    if (mlirTypeIsNull(type))
      throw py::MLIRError("invalid array type", errors.take());
    return PyArrayType(element.getContext(), type);
  }

  static void bindDerived(ClassTy &c) {
    c.def_static("get", &get, nb::arg("dims"), nb::arg("element_type"),
                 nb::arg("loc").none() = nb::none(),
                 "Array type with (name, size) pairs as dims; a size of None is `?`.");
    c.def_prop_ro("dims", [](PyArrayType &self) {
      nb::list dims;
      for (intptr_t i = 0, e = xtensorArrayTypeGetRank(self); i < e; ++i)
        dims.append(nb::make_tuple(nameOf(self, i), sizeOf(self, i)));
      return dims;
    });
    c.def_prop_ro("element_type",
                  [](PyArrayType &self) { return xtensorArrayTypeGetElementType(self); });
  }
};

struct PyLinearType : py::PyConcreteType<PyLinearType> {
  static constexpr IsAFunctionTy isaFunction = xtensorTypeIsALinear;
  static constexpr GetTypeIDFunctionTy getTypeIdFunction = xtensorLinearTypeGetTypeID;
  static constexpr const char *pyClassName = "LinearType";
  using PyConcreteType::PyConcreteType;

  static void bindDerived(ClassTy &c) {
    c.def_static(
        "get",
        [](const std::vector<MlirType> &inputs, const std::vector<MlirType> &results,
           py::DefaultingPyMlirContext context) {
          return PyLinearType(context->getRef(),
                              xtensorLinearTypeGet(context->get(), inputs.size(), inputs.data(),
                                                   results.size(), results.data()));
        },
        nb::arg("inputs"), nb::arg("results"), nb::arg("context").none() = nb::none(),
        "Type of a linear map between arrays.");
  }
};

/// (names, sizes, element type as MLIR spells it) of an array type, None for other types. A size of
/// None is `?`. Python's classes of types are not needed for it, so the first trace does not load
/// them.
nb::object partsOf(MlirType type) {
  if (!xtensorTypeIsAArray(type))
    return nb::none();
  nb::list names, sizes;
  for (intptr_t i = 0, e = xtensorArrayTypeGetRank(type); i < e; ++i) {
    names.append(nameOf(type, i));
    sizes.append(sizeOf(type, i));
  }
  std::string element;
  mlirTypePrint(xtensorArrayTypeGetElementType(type), append, &element);
  return nb::make_tuple(nb::tuple(names), nb::tuple(sizes), element);
}

MlirType arrayType(const std::vector<std::string> &names,
                   const std::vector<std::optional<int64_t>> &sizes, MlirType element) {
  std::vector<MlirStringRef> refs;
  for (const std::string &name : names)
    refs.push_back(mlirStringRefCreate(name.data(), name.size()));
  std::vector<int64_t> values;
  for (std::optional<int64_t> size : sizes)
    values.push_back(size.value_or(XTENSOR_DYNAMIC));
  if (values.size() != refs.size())
    throw nb::value_error("one size per name");
  MlirType type = xtensorArrayTypeGet(mlirLocationUnknownGet(mlirTypeGetContext(element)),
                                      refs.size(), refs.data(), values.data(), element);
  if (mlirTypeIsNull(type))
    throw py::MLIRError("invalid array type", {});
  return type;
}

/// A compiled function, kept by whoever calls it.
struct Compiled {
  explicit Compiled(XTensorCompiled compiled) : compiled(compiled) {}
  Compiled(const Compiled &) = delete;
  ~Compiled() { xtensorCompiledDestroy(compiled); }
  XTensorCompiled compiled;
};

MlirStringRef refOf(const std::string &text) {
  return mlirStringRefCreate(text.data(), text.size());
}
nb::str str(MlirStringRef text) { return nb::str(text.data, text.length); }

std::string option(const nb::dict &options, const char *name) {
  nb::object value = options.get(nb::str(name), nb::none());
  return value.is_none() ? std::string() : nb::cast<std::string>(value);
}

/// The exception of a call whose errors have been kept.
py::MLIRError failed(const std::string &what) { return py::MLIRError(what, {}); }

Compiled *compile(py::PyModule &module, const nb::dict &options) {
  std::string cache = option(options, "cache_dir"), dump = option(options, "dump_dir"),
              target = option(options, "target");
  uint64_t limit = nb::cast<uint64_t>(options["cache_limit"]);
  int64_t profile = nb::cast<int64_t>(options["profile"]);
  XTensorCompiled compiled =
      xtensorCompile(module.get(), refOf(cache), limit, refOf(dump), refOf(target), profile);
  if (!compiled.ptr)
    throw failed("compilation failed");
  return new Compiled(compiled);
}

nb::bytes objectOf(const std::string &key, const std::string &cache) {
  std::string bytes;
  xtensorCompiledObject(refOf(key), refOf(cache), append, &bytes);
  return nb::bytes(bytes.data(), bytes.size());
}

void takeObject(const std::string &key, const nb::bytes &object) {
  xtensorTakeCompiledObject(refOf(key), mlirStringRefCreate(object.c_str(), object.size()));
}

std::string textAfter(py::PyModule &module, const std::string &phase, bool locations,
                      const std::string &target) {
  std::string text;
  if (!xtensorPrintAfter(module.get(), refOf(phase), locations, refOf(target), append, &text))
    throw failed("the phases up to " + phase + " failed");
  return text;
}

std::string everyPhase(py::PyModule &module, const std::string &target) {
  std::string text;
  if (!xtensorPrintEveryPhase(module.get(), refOf(target), append, &text))
    throw failed("the phases failed");
  return text;
}

std::string sizesOf(py::PyModule &module) {
  std::string text;
  if (!xtensorSizes(module.get(), append, &text))
    throw failed("sizes do not follow from the arguments'");
  return text;
}

/// Texts and what refers to them.
struct Texts {
  explicit Texts(nb::handle list) {
    for (nb::handle item : list) {
      if (nb::isinstance<nb::bytes>(item)) {
        auto bytes = nb::borrow<nb::bytes>(item);
        texts.emplace_back(bytes.c_str(), bytes.size());
      } else {
        texts.push_back(nb::cast<std::string>(item));
      }
    }
    for (const std::string &text : texts)
      refs.push_back(refOf(text));
  }
  std::vector<std::string> texts;
  std::vector<MlirStringRef> refs;
};

/// A function of a bundle, and the texts that it refers to.
struct Exported {
  explicit Exported(const nb::dict &f)
      : module(nb::cast<py::PyModule *>(f["module"])), name(option(f, "name")),
        doc(option(f, "doc")), python(option(f, "python")), inputs(f["inputs"]),
        outputs(f["outputs"]), weights(f["weights"]) {}
  XTensorExportFunction ref() const {
    return {module->get(),
            refOf(name),
            refOf(doc),
            refOf(python),
            static_cast<intptr_t>(inputs.refs.size()),
            static_cast<intptr_t>(outputs.refs.size()),
            static_cast<intptr_t>(weights.refs.size()),
            inputs.refs.data(),
            outputs.refs.data(),
            weights.refs.data()};
  }
  py::PyModule *module;
  std::string name, doc, python;
  Texts inputs, outputs, weights;
};

nb::bytes exportBundle(const nb::list &list, const nb::dict &options) {
  std::string name = option(options, "name"), blas = option(options, "blas");
  Texts targets(options["targets"]);
  std::list<Exported> functions; // texts stay where they are
  std::vector<XTensorExportFunction> refs;
  for (nb::handle f : list)
    refs.push_back(functions.emplace_back(nb::cast<nb::dict>(f)).ref());
  if (refs.empty())
    throw nb::value_error("a bundle has one function at least");
  XTensorExportOptions o = {refOf(name),
                            refOf(blas),
                            nb::cast<bool>(options["for_c"]),
                            static_cast<intptr_t>(targets.refs.size()),
                            static_cast<intptr_t>(refs.size()),
                            targets.refs.data(),
                            refs.data()};
  std::string bytes;
  if (!xtensorExport(&o, append, &bytes))
    throw failed("export failed");
  return nb::bytes(bytes.data(), bytes.size());
}

/// Sizes of dims by name, as C takes them.
struct NamedSizes {
  explicit NamedSizes(const std::map<std::string, int64_t> &sizes) {
    for (const auto &[name, value] : sizes) {
      names.push_back(refOf(name));
      values.push_back(value);
    }
  }
  std::vector<MlirStringRef> names;
  std::vector<int64_t> values;
};

void fixSizes(py::PyModule &module, const std::map<std::string, int64_t> &sizes) {
  NamedSizes named(sizes);
  if (!xtensorFixSizes(module.get(), named.names.size(), named.names.data(), named.values.data()))
    throw failed("the sizes do not fit");
}

std::string whyNotForeign(const nb::bytes &program) {
  std::string why;
  xtensorWhyNotForeign(mlirStringRefCreate(program.c_str(), program.size()), append, &why);
  return why;
}

nb::tuple cost(py::PyModule &module, const std::string &target,
               const std::map<std::string, int64_t> &sizes) {
  NamedSizes named(sizes);
  XTensorCost cost;
  nb::dict onHost;
  auto add = [](MlirStringRef name, int64_t times, void *onHost) {
    (*static_cast<nb::dict *>(onHost))[str(name).c_str()] = times;
  };
  if (!xtensorCost(module.get(), refOf(target), named.names.size(), named.names.data(),
                   named.values.data(), &cost, add, &onHost))
    throw failed("the program cannot be lowered");
  return nb::make_tuple(cost.flops, cost.arenaBytes, cost.reusedBytes, cost.launches, onHost);
}

std::string kernels(py::PyModule &module, const std::map<std::string, int64_t> &sizes) {
  NamedSizes named(sizes);
  std::string text;
  if (!xtensorKernels(module.get(), named.names.size(), named.names.data(), named.values.data(),
                      append, &text))
    throw failed("the program cannot be lowered");
  return text;
}

std::string memory(py::PyModule &module, const std::string &target,
                   const std::map<std::string, int64_t> &sizes) {
  NamedSizes named(sizes);
  std::string text;
  if (!xtensorMemory(module.get(), refOf(target), named.names.size(), named.names.data(),
                     named.values.data(), append, &text))
    throw failed("the program cannot be lowered");
  return text;
}

void bindCompiler(nb::module_ &m) {
  nb::class_<Compiled>(m, "Compiled", "A compiled function.")
      .def_prop_ro("entry",
                   [](Compiled &self) {
                     return reinterpret_cast<uintptr_t>(xtensorCompiledGetEntry(self.compiled));
                   })
      .def_prop_ro("key", [](Compiled &self) { return str(xtensorCompiledGetKey(self.compiled)); })
      .def_prop_ro("is_long", [](Compiled &self) { return xtensorCompiledIsLong(self.compiled); })
      .def_prop_ro("from_cache",
                   [](Compiled &self) { return xtensorCompiledIsFromCache(self.compiled); })
      .def_prop_ro("reused",
                   [](Compiled &self) {
                     std::vector<int64_t> arguments;
                     for (intptr_t i = 0, e = xtensorCompiledGetNumReused(self.compiled); i < e;
                          ++i)
                       arguments.push_back(xtensorCompiledGetReused(self.compiled, i));
                     return arguments;
                   })
      .def_prop_ro("seconds",
                   [](Compiled &self) {
                     nb::dict seconds;
                     for (intptr_t i = 0, e = xtensorCompiledGetNumPhases(self.compiled); i < e;
                          ++i) {
                       double taken;
                       nb::str phase = str(xtensorCompiledGetPhase(self.compiled, i, &taken));
                       seconds[phase] = taken;
                     }
                     return seconds;
                   })
      .def_prop_ro("kernels",
                   [](Compiled &self) { return str(xtensorCompiledGetKernels(self.compiled)); })
      .def_prop_ro("sites", [](Compiled &self) {
        nb::list sites;
        for (intptr_t i = 0, e = xtensorCompiledGetNumSites(self.compiled); i < e; ++i)
          sites.append(nb::make_tuple(str(xtensorCompiledGetSiteDim(self.compiled, i)),
                                      str(xtensorCompiledGetSiteLocation(self.compiled, i)),
                                      str(xtensorCompiledGetSiteOp(self.compiled, i))));
        return sites;
      });
  m.def(
      "compile", &compile, nb::arg("module"), nb::arg("options"),
      "Compiles a traced module; options: cache_dir and dump_dir, folders or empty, "
      "cache_limit, the bytes that cache_dir may hold, target, \"cpu\" or a device's profile, and "
      "profile, the number of a program that is profiled, or 0.");
  m.def("as_text", &textAfter, nb::arg("module"), nb::arg("phase"), nb::arg("locations") = false,
        nb::arg("target") = "cpu", "The module as it is after a phase on its way to a target.");
  m.def(
      "every_phase", &everyPhase, nb::arg("module"), nb::arg("target") = "cpu",
      "JSON: the module after each of its phases, and which line is made of which of the user's.");
  m.def("export_bundle", &exportBundle, nb::arg("functions"), nb::arg("options"),
        "The bytes of a bundle of traced modules; functions and options are those of "
        "compiler/Export.h.");
  m.def("object_of", &objectOf, nb::arg("key"), nb::arg("cache_dir"),
        "The compiled object of a program of this process, for another process; b\"\" if it is not "
        "kept.");
  m.def("take_object", &takeObject, nb::arg("key"), nb::arg("object"),
        "A compiled object of another process: its program is then not compiled here.");
  m.def("sizes", &sizesOf, nb::arg("module"),
        "JSON: sizes of results in terms of those of the arguments, and what a call must see to.");
  m.def("fix_sizes", &fixSizes, nb::arg("module"), nb::arg("sizes"),
        "Gives dynamic dims their sizes, by name, throughout a traced module.");
  m.def("why_not_foreign", &whyNotForeign, nb::arg("program"),
        "Why this IR is not a program that a trace could have made; \"\" if it is one.");
  m.def("cost", &cost, nb::arg("module"), nb::arg("target") = "cpu",
        nb::arg("sizes") = std::map<std::string, int64_t>(),
        "Flops, bytes of temporaries, launches and routines on the CPU of one call. sizes: of open "
        "dims, by name.");
  m.def("kernels", &kernels, nb::arg("module"), nb::arg("sizes"),
        "JSON: the kernels of a profiled program in a call of these open sizes.");
  m.def("memory", &memory, nb::arg("module"), nb::arg("target") = "cpu",
        nb::arg("sizes") = std::map<std::string, int64_t>(),
        "JSON: where temporaries lie, and when, in a call of these open sizes.");
}

//===- diagnostics ---------------------------------------------------------===//

/// An error or a note: its text, the user's line, and what an error is about (XTensor/Fault.h).
struct Message {
  std::string text, line, fault;
  std::vector<Message> notes;
};

/// The errors of this thread's calls. They are kept here, not handed to Python at once: a handler
/// that waits for the interpreter would hold MLIR's lock on diagnostics meanwhile.
thread_local std::vector<Message> diagnostics;

Message messageOf(MlirDiagnostic diagnostic) {
  Message message;
  mlirDiagnosticPrint(diagnostic, append, &message.text);
  xtensorLocationPrintPlace(mlirDiagnosticGetLocation(diagnostic), append, &message.line);
  MlirStringRef fault = xtensorDiagnosticGetFault(diagnostic);
  message.fault.assign(fault.data, fault.length);
  return message;
}

MlirLogicalResult keepDiagnostic(MlirDiagnostic diagnostic, void *) {
  if (mlirDiagnosticGetSeverity(diagnostic) != MlirDiagnosticError)
    return mlirLogicalResultSuccess();
  Message &kept = diagnostics.emplace_back(messageOf(diagnostic));
  for (intptr_t i = 0, e = mlirDiagnosticGetNumNotes(diagnostic); i < e; ++i)
    kept.notes.push_back(messageOf(mlirDiagnosticGetNote(diagnostic, i)));
  return mlirLogicalResultSuccess();
}

nb::list takeDiagnostics() {
  nb::list taken;
  for (const Message &message : std::exchange(diagnostics, {})) {
    nb::list notes;
    for (const Message &note : message.notes)
      notes.append(nb::make_tuple(note.text, note.line));
    taken.append(nb::make_tuple(message.text, message.line, message.fault, notes));
  }
  return taken;
}

/// Builds the op once more and drops it, so that what its type inference says is kept with its
/// fault: the bindings' own builder hands on the text alone.
void refuse(const std::string &name, const std::vector<MlirValue> &operands,
            const std::map<std::string, MlirAttribute> &attributes, MlirLocation location) {
  MlirOperationState state = mlirOperationStateGet(refOf(name), location);
  mlirOperationStateAddOperands(&state, operands.size(), operands.data());
  std::vector<MlirNamedAttribute> named;
  for (const auto &[key, value] : attributes)
    named.push_back(mlirNamedAttributeGet(
        mlirIdentifierGet(mlirLocationGetContext(location), refOf(key)), value));
  mlirOperationStateAddAttributes(&state, named.size(), named.data());
  mlirOperationStateEnableResultTypeInference(&state);
  MlirOperation made = mlirOperationCreate(&state);
  if (!mlirOperationIsNull(made))
    mlirOperationDestroy(made);
}

bool runPasses(py::PyModule &module, const std::string &pipeline) {
  MlirPassManager passes = mlirPassManagerCreate(mlirModuleGetContext(module.get()));
  std::string wrong;
  bool parsed = mlirLogicalResultIsSuccess(mlirParsePassPipeline(
      mlirPassManagerGetAsOpPassManager(passes), refOf(pipeline), append, &wrong));
  bool done = parsed && mlirLogicalResultIsSuccess(
                            mlirPassManagerRunOnOp(passes, mlirModuleGetOperation(module.get())));
  mlirPassManagerDestroy(passes);
  if (!parsed)
    throw nb::value_error(wrong.c_str());
  return done;
}

void bindDiagnostics(nb::module_ &m) {
  m.def(
      "keep_diagnostics",
      [](MlirContext context) {
        xtensorContextSetErrorsWithoutOps(context);
        mlirContextAttachDiagnosticHandler(context, keepDiagnostic, nullptr, nullptr);
      },
      nb::arg("context"), "From now on its errors are what `take_diagnostics` returns.");
  m.def("take_diagnostics", &takeDiagnostics,
        "(text, FILE:LINE, fault, notes) of the errors that this thread met since it last asked; a "
        "note is (text, FILE:LINE).");
  m.def("refuse", &refuse, nb::arg("name"), nb::arg("operands"), nb::arg("attributes"),
        nb::arg("location"), "Keeps the errors of an op that cannot be built.");
  m.def("run_passes", &runPasses, nb::arg("module"), nb::arg("pipeline"),
        "Runs the passes of `builtin.module(..)`. Whether they succeeded; their errors are kept.");
  m.def(
      "verify",
      [](py::PyModule &m) { return mlirOperationVerify(mlirModuleGetOperation(m.get())); },
      nb::arg("module"), "Whether a module is valid; its errors are kept.");
  m.def(
      "line_of",
      [](MlirLocation location) {
        std::string line;
        xtensorLocationPrintPlace(location, append, &line);
        return line;
      },
      nb::arg("location"), "FILE:LINE of the innermost place that a location holds, or nothing.");
}

} // namespace

/// What Preload.cpp of `_native` looks up by its name: it runs before Python has imported this
/// module.
extern "C" MLIR_CAPI_EXPORTED void xtensor_warm_up(bool (*wanted)()) { xtensorWarmUp(wanted); }

NB_MODULE(_xtensor, m) {
  PyArrayType::bind(m);
  PyLinearType::bind(m);
  m.def(
      "enum_case",
      [](const std::string &name, const std::string &spelling) {
        int64_t number = xtensorEnumCase(refOf(name), refOf(spelling));
        if (number < 0)
          throw nb::key_error((name + "." + spelling).c_str());
        return number;
      },
      nb::arg("name"), nb::arg("spelling"), "The number of a case of an enum of the dialect.");
  m.def(
      "host_caches",
      [] {
        int64_t level1, level2;
        xtensorHostCaches(&level1, &level2);
        return nb::make_tuple(level1, level2);
      },
      "Bytes of the first and second level of the data caches of one core of this machine.");
  m.def("array_type", &arrayType, nb::arg("names"), nb::arg("sizes"), nb::arg("element_type"),
        "The array type of these parts; a size of None is `?`.");
  m.def("array_parts", &partsOf, nb::arg("type"),
        "(names, sizes, element type) of an array type, None for others; a size of None is `?`.");
  bindCompiler(m);
  bindDiagnostics(m);
  m.def("register_dialects",
        [](MlirDialectRegistry registry) { xtensorRegisterDialects(registry); });
  m.def(
      "load_dialects",
      [](MlirContext context) {
        for (const char *name : {"func", "xtensor"})
          mlirContextGetOrLoadDialect(context, mlirStringRefCreateFromCString(name));
      },
      nb::arg("context"), "Loads what a trace is made of, without the dialects' Python modules.");
  m.def(
      "take_warm_context",
      []() -> nb::object {
        MlirContext context = xtensorTakeWarmContext();
        if (mlirContextIsNull(context))
          return nb::none();
        return py::PyMlirContext::forContext(context).releaseObject();
      },
      "A context that has compiled a program before, with every dialect; None where there is "
      "none.");
  xtensorRegisterPasses();
}
