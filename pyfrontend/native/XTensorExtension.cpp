// The `_xtensor` extension: the dialect's types as Python classes, registration, and the
// compiler. It sits on MLIR's C API and upstream's binding classes only.
#include "compiler/CAPI.h"
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
      for (intptr_t i = 0, e = xtensorArrayTypeGetRank(self); i < e; ++i) {
        MlirStringRef name = xtensorArrayTypeGetName(self, i);
        int64_t size = xtensorArrayTypeGetSize(self, i);
        dims.append(
            nb::make_tuple(nb::str(name.data, name.length),
                           size == XTENSOR_DYNAMIC ? nb::none() : nb::object(nb::int_(size))));
      }
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

Compiled *compile(py::PyModule &module, const nb::dict &options) {
  std::string cache = option(options, "cache_dir"), dump = option(options, "dump_dir"),
              target = option(options, "target");
  uint64_t limit = nb::cast<uint64_t>(options["cache_limit"]);
  py::PyMlirContext::ErrorCapture errors(module.getContext());
  XTensorCompiled compiled =
      xtensorCompile(module.get(), refOf(cache), limit, refOf(dump), refOf(target));
  if (!compiled.ptr)
    throw py::MLIRError("compilation failed", errors.take());
  return new Compiled(compiled);
}

std::string textAfter(py::PyModule &module, const std::string &phase, bool locations,
                      const std::string &target) {
  py::PyMlirContext::ErrorCapture errors(module.getContext());
  std::string text;
  auto append = [](MlirStringRef part, void *text) {
    static_cast<std::string *>(text)->append(part.data, part.length);
  };
  if (!xtensorPrintAfter(module.get(), refOf(phase), locations, refOf(target), append, &text))
    throw py::MLIRError("the phases up to " + phase + " failed", errors.take());
  return text;
}

std::string sizesOf(py::PyModule &module) {
  py::PyMlirContext::ErrorCapture errors(module.getContext());
  std::string text;
  auto append = [](MlirStringRef part, void *text) {
    static_cast<std::string *>(text)->append(part.data, part.length);
  };
  if (!xtensorSizes(module.get(), append, &text))
    throw py::MLIRError("sizes do not follow from the arguments'", errors.take());
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
  py::PyMlirContext::ErrorCapture errors(functions.front().module->getContext());
  std::string bytes;
  auto take = [](MlirStringRef part, void *out) {
    static_cast<std::string *>(out)->append(part.data, part.length);
  };
  if (!xtensorExport(&o, take, &bytes))
    throw py::MLIRError("export failed", errors.take());
  return nb::bytes(bytes.data(), bytes.size());
}

void fixSizes(py::PyModule &module, const std::map<std::string, int64_t> &sizes) {
  std::vector<MlirStringRef> names;
  std::vector<int64_t> values;
  for (const auto &[name, value] : sizes) {
    names.push_back(refOf(name));
    values.push_back(value);
  }
  py::PyMlirContext::ErrorCapture errors(module.getContext());
  if (!xtensorFixSizes(module.get(), names.size(), names.data(), values.data()))
    throw py::MLIRError("the sizes do not fit", errors.take());
}

std::string whyNotForeign(const nb::bytes &program) {
  std::string why;
  auto append = [](MlirStringRef part, void *why) {
    static_cast<std::string *>(why)->append(part.data, part.length);
  };
  xtensorWhyNotForeign(mlirStringRefCreate(program.c_str(), program.size()), append, &why);
  return why;
}

nb::tuple cost(py::PyModule &module, const std::string &target) {
  py::PyMlirContext::ErrorCapture errors(module.getContext());
  XTensorCost cost;
  nb::dict onHost;
  auto add = [](MlirStringRef name, int64_t times, void *onHost) {
    (*static_cast<nb::dict *>(onHost))[str(name).c_str()] = times;
  };
  if (!xtensorCost(module.get(), refOf(target), &cost, add, &onHost))
    throw py::MLIRError("the program cannot be lowered", errors.take());
  return nb::make_tuple(cost.flops, cost.arenaBytes, cost.launches, onHost);
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
      "cache_limit, the bytes that cache_dir may hold, and target, \"cpu\" or a device's profile.");
  m.def("as_text", &textAfter, nb::arg("module"), nb::arg("phase"), nb::arg("locations") = false,
        nb::arg("target") = "cpu", "The module as it is after a phase on its way to a target.");
  m.def("export_bundle", &exportBundle, nb::arg("functions"), nb::arg("options"),
        "The bytes of a bundle of traced modules; functions and options are those of "
        "compiler/Export.h.");
  m.def("sizes", &sizesOf, nb::arg("module"),
        "JSON: sizes of results in terms of those of the arguments, and what a call must see to.");
  m.def("fix_sizes", &fixSizes, nb::arg("module"), nb::arg("sizes"),
        "Gives dynamic dims their sizes, by name, throughout a traced module.");
  m.def("why_not_foreign", &whyNotForeign, nb::arg("program"),
        "Why this IR is not a program that a trace could have made; \"\" if it is one.");
  m.def("cost", &cost, nb::arg("module"), nb::arg("target") = "cpu",
        "Flops, bytes of temporaries, launches and routines on the CPU of one call.");
}

//===- diagnostics ---------------------------------------------------------===//

/// Errors with their notes, and where: those of this thread's calls. Kept here, not handed to
/// Python at once: a handler that waits for the interpreter would hold MLIR's lock on diagnostics
/// meanwhile.
thread_local std::vector<std::pair<std::string, std::string>> diagnostics;

template <typename Print>
std::string printed(Print print) {
  std::string text;
  print([](MlirStringRef part,
           void *text) { static_cast<std::string *>(text)->append(part.data, part.length); },
        &text);
  return text;
}

MlirLogicalResult keepDiagnostic(MlirDiagnostic diagnostic, void *) {
  if (mlirDiagnosticGetSeverity(diagnostic) != MlirDiagnosticError)
    return mlirLogicalResultSuccess();
  auto message = [](MlirDiagnostic of) {
    return printed([&](auto part, void *text) { mlirDiagnosticPrint(of, part, text); });
  };
  std::string text = message(diagnostic);
  for (intptr_t i = 0, e = mlirDiagnosticGetNumNotes(diagnostic); i < e; ++i)
    text += "\n  note: " + message(mlirDiagnosticGetNote(diagnostic, i));
  MlirLocation at = mlirDiagnosticGetLocation(diagnostic);
  std::string where = printed([&](auto part, void *text) { mlirLocationPrint(at, part, text); });
  diagnostics.emplace_back(std::move(text), std::move(where));
  return mlirLogicalResultSuccess();
}

void bindDiagnostics(nb::module_ &m) {
  m.def(
      "keep_diagnostics",
      [](MlirContext context) {
        mlirContextAttachDiagnosticHandler(context, keepDiagnostic, nullptr, nullptr);
      },
      nb::arg("context"), "From now on its errors are what `take_diagnostics` returns.");
  m.def(
      "take_diagnostics", [] { return std::exchange(diagnostics, {}); },
      "(message with notes, location) of the errors that this thread met since it last asked.");
}

} // namespace

/// What Preload.cpp of `_native` looks up by its name: it runs before Python has imported this
/// module.
extern "C" MLIR_CAPI_EXPORTED void xtensor_warm_up(bool (*wanted)()) { xtensorWarmUp(wanted); }

NB_MODULE(_xtensor, m) {
  PyArrayType::bind(m);
  PyLinearType::bind(m);
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
