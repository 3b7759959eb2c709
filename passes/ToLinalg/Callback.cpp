// Calls of functions of the process are a routine of the runtime. Its options say which function it
// is, and hold the names and types of the arrays as text.
#include "ToLinalg/Lowering.h"

#include "llvm/Support/Endian.h"

using namespace mlir;
using namespace xtensor;

/// As NumPy names it.
static std::string nameOf(Type element) {
  if (element.isInteger(1))
    return "bool";
  if (isa<BFloat16Type>(element))
    return "bfloat16";
  StringRef kind = isa<FloatType>(element) ? "float" : element.isUnsignedInteger() ? "uint" : "int";
  return (kind + Twine(element.getIntOrFloatBitWidth())).str();
}

/// Names of the instances' dims, then of each array the dtype and the dims; each ends with a 0.
static std::string describe(CallbackOp op) {
  std::string text;
  auto add = [&](StringRef name) { text.append(name).push_back('\0'); };
  if (op.getInstances())
    for (StringRef name : op.getInstances()->getAsValueRange<StringAttr>())
      add(name);
  for (ValueRange values : {ValueRange(op.getArgs()), ValueRange(op.getResults())})
    for (Value v : values) {
      add(nameOf(arrayType(v).getElementType()));
      for (StringAttr dim : arrayType(v).getDimNames())
        add(dim);
    }
  return text;
}

void xtensor::lowerCallback(CallbackOp op, Lowering &to) {
  std::string text = describe(op);
  SmallVector<int64_t> options{static_cast<int64_t>(op.getNumber()),
                               static_cast<int64_t>(op.getArgs().size()),
                               static_cast<int64_t>(op.getResults().size()), op.getNumInstances(),
                               static_cast<int64_t>(text.size())};
  text.resize(llvm::alignTo(text.size(), sizeof(int64_t)));
  for (size_t at = 0; at < text.size(); at += sizeof(int64_t))
    options.push_back(llvm::support::endian::read64le(text.data() + at));
  SmallVector<Value> ins, outs;
  for (Value arg : op.getArgs())
    ins.push_back(to.tensor(arg));
  for (Value result : op.getResults())
    outs.push_back(to.empty(arrayType(result)));
  auto call = LibraryOp::create(to.b, to.loc(), "xt_callback", ins, outs, ArrayAttr(), options,
                                /*contiguous=*/false, op.getOrdered());
  for (auto [result, made] : llvm::zip_equal(op.getResults(), call.getResults()))
    to.setTensor(result, made);
}
