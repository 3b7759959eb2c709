#include "compiler/ExportChecks.h"

#include "CPU/Processor.h"
#include "XTensor/Fault.h"
#include "XTensor/XTensor.h"
#include "compiler/Library.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/ConvertUTF.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/Unicode.h"

using namespace mlir;
using namespace xtensor;

// As readers have it (manifest.py).
static constexpr size_t kMostFunctions = 1024, kLongestName = 1024;

/// What Python's str.isprintable says of a character: no controls, and no space but ' '.
static bool isPrintable(llvm::UTF32 c) {
  bool isSpace = c == 0xa0 || c == 0x1680 || (c >= 0x2000 && c <= 0x200a) || c == 0x202f ||
                 c == 0x205f || c == 0x3000;
  return !isSpace && c != 0xad && llvm::sys::unicode::isPrintable(static_cast<int>(c));
}

bool xtensor::isLine(StringRef name) {
  size_t characters = 0;
  auto *at = reinterpret_cast<const llvm::UTF8 *>(name.bytes_begin()), *end = at + name.size();
  while (at != end) {
    llvm::UTF32 c;
    if (llvm::convertUTF8Sequence(&at, end, &c, llvm::strictConversion) != llvm::conversionOK ||
        !isPrintable(c) || ++characters > kLongestName)
      return false;
  }
  return !name.empty();
}

/// "; did you mean 'NAME'?" with the nearest of the names, where one is near.
static std::string suggestion(StringRef asked, ArrayRef<std::string> names) {
  auto distance = [&](StringRef name) { return asked.edit_distance(name); };
  StringRef near = *llvm::min_element(
      names, [&](StringRef a, StringRef b) { return distance(a) < distance(b); });
  if (2 * distance(near) > std::max(asked.size(), near.size()))
    return "";
  return ("; did you mean '" + near + "'?").str();
}

LogicalResult xtensor::checkOptions(const ExportOptions &options, size_t functions,
                                    StringRef prefix, ModuleOp at) {
  auto error = [&] { return at.emitError() << Fault::Argument; };
  if (options.targets.empty())
    return error() << "a bundle is for one target at least";
  if (!options.blas.empty() && !blasNamed(options.blas))
    return error() << "there is no BLAS called '" << options.blas
                   << "': openblas, blas or scipy-openblas, or none";
  if (functions > kMostFunctions)
    return error() << "no bundle can be made of " << functions << " functions: " << kMostFunctions
                   << " at most. Make several bundles";
  if (size_t most = 128, found = std::max(options.name.size(), prefix.size()); found > most)
    return error() << "no bundle can be made with a name of " << found << " characters: " << most
                   << " at most";
  if (!isLine(options.name))
    return error() << "no bundle can be made with a name that is empty or has characters that "
                      "cannot be printed";
  return success();
}

LogicalResult xtensor::checkProgram(ModuleOp module) {
  auto main = module.lookupSymbol<func::FuncOp>("main");
  for (Operation &op : *module.getBody())
    if (&op != main.getOperation())
      return op.emitError("a bundle holds public functions and nothing else. Inline what they "
                          "call (mlir-opt --inline --symbol-dce), and remove the rest");
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
        return entry && isText(entry, "dim") && isText(entry, "message") && isText(entry, "where");
      })))
    return main.emitError("attribute ") << kNonempty << " is no list of {dim, message, where}";
  return success();
}

LogicalResult xtensor::checkNames(ModuleOp module, StringRef name, const Interface &interface) {
  if (!isLine(name))
    return module.emitError("no bundle can be made of a function with such a name: it is empty, "
                            "has more than ")
           << Fault::Argument << kLongestName
           << " characters, or some that cannot be printed. Give it another one: "
              "xt.export({\"name\": (f, args)})";
  for (const auto &parameters : {interface.inputs, interface.outputs})
    for (const Parameter &p : parameters) {
      if (!isLine(p.name) || !llvm::all_of(p.dims, isLine))
        return module.emitError("no bundle can be made where the name of an array or a dim is "
                                "empty, has more than ")
               << Fault::Argument << kLongestName << " characters, or some that cannot be printed: "
               << (isLine(p.name) ? "rename the dims of '" + p.name + "'" : "rename the array");
      int64_t count = 1;
      for (const SizeProduct &size : p.sizes)
        if (llvm::MulOverflow(count, std::max<int64_t>(size.factor, 1), count) ||
            count >= int64_t(1) << 59)
          return module.emitError("no bundle can be made with an array that is larger than "
                                  "memory: '")
                 << Fault::Argument << p.name << "'";
    }
  return success();
}

LogicalResult xtensor::refuseTarget(ModuleOp at, StringRef asked) {
  std::vector<std::string> names = processorNames();
  std::string listed = llvm::join(names, ", ");
  llvm::append_range(names, ArrayRef<StringRef>{"cpu", "vulkan", "metal", "cuda"});
  return at.emitError() << Fault::Argument << "no bundle can be made for target '" << asked
                        << "': the targets are cpu (this machine's), " << listed
                        << ", vulkan, metal and cuda" << suggestion(asked, names);
}
