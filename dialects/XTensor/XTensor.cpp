// The dialect object and its types. The classes of ops are in XTensorOps.cpp.
#include "XTensor/XTensor.h"

#include "XTensor/AssemblyNames.h"
#include "XTensor/Fault.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace xtensor;

#include "XTensor/XTensorDialect.cpp.inc"
#include "XTensor/XTensorEnums.cpp.inc"
#define GET_TYPEDEF_CLASSES
#include "XTensor/XTensorTypes.cpp.inc"

//===- dialect -------------------------------------------------------------===//

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
