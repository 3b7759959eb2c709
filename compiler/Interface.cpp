#include "compiler/Interface.h"

#include "XTensor/Dims.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace xtensor;
namespace json = llvm::json;

/// The dim that makes an array of floats one of complex numbers (pyfrontend/xtensor/ir/context.py).
static constexpr llvm::StringLiteral kPair = "complex~";

static std::string dtypeName(Type type) {
  if (type.isInteger(1))
    return "bool";
  if (type.isBF16())
    return "bfloat16";
  std::string bits = std::to_string(type.getIntOrFloatBitWidth());
  if (isa<FloatType>(type))
    return "float" + bits;
  return (type.isUnsignedInteger() ? "uint" : "int") + bits;
}

bool Parameter::isOpen() const {
  return llvm::any_of(sizes, [](const SizeProduct &size) { return !size.open.empty(); });
}

int64_t Parameter::elementBytes() const {
  int64_t bits = 8; // of bool
  StringRef(dtype).drop_until(llvm::isDigit).getAsInteger(10, bits);
  return bits / 8;
}

FailureOr<Interface> xtensor::interfaceOf(ModuleOp module) {
  auto main = module.lookupSymbol<func::FuncOp>("main");
  if (!main || main.isDeclaration())
    return module.emitError("there is no function @main: name the one to compile so");
  auto isArray = [](Type type) { return isa<ArrayType>(type); };
  if (!llvm::all_of(main.getArgumentTypes(), isArray) ||
      !llvm::all_of(main.getResultTypes(), isArray))
    return main.emitError("arguments and results of a function that is exported are arrays: its "
                          "type is ")
           << main.getFunctionType();
  FailureOr<Sizes> sizes = Sizes::of(main);
  if (failed(sizes))
    return failure();
  Interface interface;
  interface.open = sizes->open;
  interface.equalities = sizes->equalities;
  interface.nonempty = sizes->nonempty;
  auto parameter = [&](Type type, std::string name) -> FailureOr<Parameter> {
    auto array = cast<ArrayType>(type);
    Parameter p{std::move(name), dtypeName(array.getElementType()), {}, {}};
    for (auto [dim, size] : llvm::zip_equal(array.getDimNames(), array.getShape())) {
      if (dim == kPair) {
        p.dtype = p.dtype == "float64" ? "complex128" : "complex64";
        continue;
      }
      p.dims.push_back(dim.str());
      if (size != ArrayType::kDynamic) {
        p.sizes.push_back({size, {}});
        continue;
      }
      auto product = sizes->named(main, dim.getValue());
      if (failed(product))
        return failure();
      p.sizes.push_back(*product);
    }
    return p;
  };
  for (BlockArgument argument : main.getArguments()) {
    std::string name = "arg" + std::to_string(argument.getArgNumber());
    if (auto loc = argument.getLoc()->findInstanceOf<NameLoc>())
      name = loc.getName().str();
    auto p = parameter(argument.getType(), name);
    if (failed(p))
      return failure();
    interface.inputs.push_back(*p);
  }
  for (auto [i, type] : llvm::enumerate(main.getResultTypes())) {
    std::string name = main.getNumResults() == 1 ? "result" : "result" + std::to_string(i);
    auto p = parameter(type, name);
    if (failed(p))
      return failure();
    interface.outputs.push_back(*p);
  }
  return interface;
}

/// A name in which nothing can be taken for the text around it.
static std::string quoted(StringRef name) {
  std::string text;
  for (char c : name) {
    if (StringRef("\\,:{}*()?").contains(c))
      text += '\\';
    text += c;
  }
  return text;
}

static std::string textOf(const SizeProduct &size) {
  std::string text = size.factor == 1 && !size.open.empty() ? "" : std::to_string(size.factor);
  for (const std::string &name : size.open)
    text += (text.empty() ? "?" : "*?") + quoted(name);
  return text;
}

static std::string textOf(const Parameter &p) {
  std::string text = p.dtype + "{";
  for (auto [i, dim] : llvm::enumerate(p.dims))
    text += (i ? ", " : "") + quoted(dim) + ": " + textOf(p.sizes[i]);
  return text + "}";
}

std::string xtensor::signatureOf(StringRef name, const Interface &interface) {
  auto list = [](const std::vector<Parameter> &parameters, bool names) {
    return llvm::join(llvm::map_range(parameters,
                                      [&](const Parameter &p) {
                                        return (names ? quoted(p.name) + ": " : "") + textOf(p);
                                      }),
                      ", ");
  };
  std::string text = quoted(name) + "(" + list(interface.inputs, true) + ") -> (" +
                     list(interface.outputs, false) + ")";
  for (const SizeEquality &e : interface.equalities)
    text += " where " + textOf(e.left) + " = " + textOf(e.right);
  for (const SizeNonempty &e : interface.nonempty)
    text += " where " + textOf(e.size) + " > 0";
  return text;
}

static json::Value toJson(const SizeProduct &size) {
  if (size.open.empty())
    return size.factor;
  if (size.factor == 1 && size.open.size() == 1)
    return size.open[0];
  json::Array factors;
  if (size.factor != 1)
    factors.push_back(size.factor);
  for (const std::string &name : size.open)
    factors.push_back(name);
  return factors;
}

json::Object xtensor::toJson(const Parameter &p) {
  json::Array dims(p.dims), sizes;
  for (const SizeProduct &size : p.sizes)
    sizes.push_back(::toJson(size));
  return json::Object{{"name", p.name},
                      {"dtype", p.dtype},
                      {"dims", std::move(dims)},
                      {"sizes", std::move(sizes)},
                      {"layout", "row-major"}};
}

json::Object xtensor::toJson(const Interface &interface) {
  json::Array results, equal, nonempty;
  for (const Parameter &p : interface.outputs)
    results.push_back(toJson(p));
  for (const SizeEquality &e : interface.equalities)
    equal.push_back(json::Object{{"dim", e.dim},
                                 {"sizes", json::Array{::toJson(e.left), ::toJson(e.right)}},
                                 {"op", e.op},
                                 {"location", e.where}});
  for (const SizeNonempty &e : interface.nonempty)
    nonempty.push_back(json::Object{
        {"dim", e.dim}, {"size", ::toJson(e.size)}, {"message", e.message}, {"location", e.where}});
  return json::Object{{"results", std::move(results)},
                      {"open", json::Array(interface.open)},
                      {"equal", std::move(equal)},
                      {"nonempty", std::move(nonempty)}};
}
