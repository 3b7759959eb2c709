// The dialect object, its types, and the parts of the assembly format that names need.
#include "XTensor/XTensor.h"

#include "XTensor/Fault.h"
#include "XTensor/TypeInference.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace xtensor;

#include "XTensor/XTensorDialect.cpp.inc"
#include "XTensor/XTensorEnums.cpp.inc"
#define GET_TYPEDEF_CLASSES
#include "XTensor/XTensorTypes.cpp.inc"

//===- names in the assembly format ----------------------------------------===//

/// Whether `name` lexes as a builtin type, which would end the list of dims.
static bool looksLikeType(StringRef name) {
  if (llvm::StringSwitch<bool>(name)
          .Cases({"index", "none", "complex", "memref", "tensor", "tuple", "vector"}, true)
          .Cases({"tf32", "bf16", "f16", "f32", "f64", "f80", "f128"}, true)
          .Default(false))
    return true;
  if (name.starts_with("f4E") || name.starts_with("f6E") || name.starts_with("f8E"))
    return true;
  if (name.consume_front("si") || name.consume_front("ui") || name.consume_front("i"))
    return !name.empty() && llvm::all_of(name, llvm::isDigit);
  return false;
}

static void printDimName(AsmPrinter &p, StringRef name) {
  if (!looksLikeType(name))
    return p.printKeywordOrString(name);
  p << '"' << name << '"';
}

static ParseResult parseName(OpAsmParser &p, StringAttr &name) {
  std::string text;
  if (p.parseKeywordOrString(&text))
    return failure();
  name = p.getBuilder().getStringAttr(text);
  return success();
}
static void printName(OpAsmPrinter &p, Operation *, StringAttr name) {
  printDimName(p, name.getValue());
}

static ParseResult parseNames(OpAsmParser &p, ArrayAttr &names) {
  SmallVector<Attribute> list;
  auto parseOne = [&]() -> ParseResult {
    StringAttr name;
    if (parseName(p, name))
      return failure();
    list.push_back(name);
    return success();
  };
  if (p.parseCommaSeparatedList(OpAsmParser::Delimiter::Square, parseOne))
    return failure();
  names = p.getBuilder().getArrayAttr(list);
  return success();
}
static void printNames(OpAsmPrinter &p, Operation *op, ArrayAttr names) {
  p << '[';
  llvm::interleaveComma(names.getAsRange<StringAttr>(), p,
                        [&](StringAttr name) { printName(p, op, name); });
  p << ']';
}

#define GET_OP_CLASSES
#include "XTensor/XTensorOps.cpp.inc"

//===- dialect -------------------------------------------------------------===//

void XTensorDialect::initialize() {
  registerTypes();
  addOperations<
#define GET_OP_LIST
#include "XTensor/XTensorOps.cpp.inc"
      >();
}

void XTensorDialect::registerTypes() {
  addTypes<
#define GET_TYPEDEF_LIST
#include "XTensor/XTensorTypes.cpp.inc"
      >();
}

Operation *XTensorDialect::materializeConstant(OpBuilder &b, Attribute value, Type type,
                                               Location loc) {
  return ConstantOp::create(b, loc, type, cast<ElementsAttr>(value));
}

//===- array type ----------------------------------------------------------===//

int64_t ArrayType::find(Attribute name) const {
  ArrayRef<StringAttr> names = getDimNames();
  auto it = llvm::find(names, name);
  return it == names.end() ? -1 : it - names.begin();
}

Type ArrayType::parse(AsmParser &p) {
  SmallVector<StringAttr> names;
  SmallVector<int64_t> shape;
  Type element;
  if (p.parseLess())
    return {};
  llvm::SMLoc start = p.getCurrentLocation();
  while (true) {
    OptionalParseResult parsed = p.parseOptionalType(element);
    if (parsed.has_value()) {
      if (failed(*parsed))
        return {};
      break;
    }
    std::string name;
    if (p.parseKeywordOrString(&name) || p.parseColon())
      return {};
    names.push_back(StringAttr::get(p.getContext(), name));
    int64_t size = kDynamic;
    if (failed(p.parseOptionalQuestion()) && p.parseInteger(size))
      return {};
    shape.push_back(size);
    if (p.parseComma())
      return {};
  }
  if (p.parseGreater())
    return {};
  return getChecked([&] { return p.emitError(start); }, p.getContext(), ArrayRef<StringAttr>(names),
                    ArrayRef<int64_t>(shape), element);
}

void ArrayType::print(AsmPrinter &p) const {
  p << "<";
  for (auto [name, size] : llvm::zip_equal(getDimNames(), getShape())) {
    printDimName(p, name.getValue());
    p << ": ";
    if (size == kDynamic)
      p << '?';
    else
      p << size;
    p << ", ";
  }
  p << getElementType() << ">";
}

static bool isElementType(Type type) {
  if (isa<Float16Type, BFloat16Type, Float32Type, Float64Type>(type))
    return true;
  auto integer = dyn_cast<IntegerType>(type);
  if (!integer || integer.isSigned())
    return false;
  unsigned width = integer.getWidth();
  return width == 8 || width == 16 || width == 32 || width == 64 ||
         (width == 1 && integer.isSignless());
}

LogicalResult ArrayType::verify(function_ref<InFlightDiagnostic()> emitError,
                                ArrayRef<StringAttr> names, ArrayRef<int64_t> shape, Type element) {
  if (names.size() != shape.size())
    return emitError() << Fault::Dimension << names.size() << " dim names for " << shape.size()
                       << " sizes";
  llvm::SmallPtrSet<Attribute, 8> seen;
  for (StringAttr name : names) {
    if (name.empty())
      return emitError() << Fault::Dimension << "a dim name is empty";
    if (!seen.insert(name).second)
      return emitError() << Fault::Dimension << "dim " << name << " is named twice";
  }
  for (auto [name, size] : llvm::zip_equal(names, shape))
    if (size < 0 && size != kDynamic)
      return emitError() << Fault::Size << "dim " << name << " has negative size " << size;
  if (!isElementType(element))
    return emitError() << Fault::DType << "no element type: " << element
                       << "; there are f16, bf16, f32, f64, i1, i8 to i64 and ui8 to ui64";
  return success();
}
