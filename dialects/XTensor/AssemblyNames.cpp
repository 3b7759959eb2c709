// Names of dims in the assembly format: keywords where they can be, strings where they would be
// read as something else.
#include "XTensor/AssemblyNames.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using namespace xtensor;

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

void xtensor::printDimName(AsmPrinter &p, StringRef name) {
  if (!looksLikeType(name))
    return p.printKeywordOrString(name);
  p << '"' << name << '"';
}

ParseResult xtensor::parseName(OpAsmParser &p, StringAttr &name) {
  std::string text;
  if (p.parseKeywordOrString(&text))
    return failure();
  name = p.getBuilder().getStringAttr(text);
  return success();
}
void xtensor::printName(OpAsmPrinter &p, Operation *, StringAttr name) {
  printDimName(p, name.getValue());
}

ParseResult xtensor::parseNames(OpAsmParser &p, ArrayAttr &names) {
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
void xtensor::printNames(OpAsmPrinter &p, Operation *op, ArrayAttr names) {
  p << '[';
  llvm::interleaveComma(names.getAsRange<StringAttr>(), p,
                        [&](StringAttr name) { printName(p, op, name); });
  p << ']';
}
