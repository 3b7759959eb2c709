#include "XTensor/Fault.h"

using namespace mlir;
using namespace xtensor;

static StringRef nameOf(Fault fault) {
  switch (fault) {
  case Fault::Argument:
    return "argument";
  case Fault::Dimension:
    return "dimension";
  case Fault::DType:
    return "dtype";
  case Fault::Index:
    return "index";
  case Fault::Memory:
    return "memory";
  case Fault::Rule:
    return "rule";
  case Fault::Size:
    return "size";
  case Fault::Unsupported:
    return "unsupported";
  }
  llvm_unreachable("a fault without a name");
}

Diagnostic &xtensor::operator<<(Diagnostic &diagnostic, Fault fault) {
  diagnostic.getMetadata().push_back(DiagnosticArgument(nameOf(fault)));
  return diagnostic;
}

/// The checks that TableGen writes of the types of operands cannot carry a mark.
static bool isConstraintOfTypes(Diagnostic &diagnostic) {
  std::string text = diagnostic.str();
  return StringRef(text).contains(" must be array of ") ||
         StringRef(text).contains(" must be variadic of array of ");
}

StringRef xtensor::faultOf(Diagnostic &diagnostic) {
  if (diagnostic.getMetadata().empty() && isConstraintOfTypes(diagnostic))
    return nameOf(Fault::DType);
  for (DiagnosticArgument &argument : diagnostic.getMetadata())
    if (argument.getKind() == DiagnosticArgument::DiagnosticArgumentKind::String)
      return argument.getAsString();
  return {};
}

void xtensor::copyFault(Diagnostic &from, Diagnostic &to) {
  to.getMetadata().append(from.getMetadata().begin(), from.getMetadata().end());
}
