// The classes of ops, as TableGen generates them, and their registration: by far the longest source
// of the build, and a library of its own (CMakeLists.txt).
#include "XTensor/XTensor.h"

#include "XTensor/AssemblyNames.h"
#include "XTensor/TypeInference.h"

using namespace mlir;
using namespace xtensor;

#define GET_OP_CLASSES
#include "XTensor/XTensorOps.cpp.inc"

template <typename... Ops>
static constexpr bool allCommuteByName() {
  return ((!Ops::template hasTrait<OpTrait::IsCommutative>() ||
           std::is_base_of_v<trait::CommutativeByName<Ops>, Ops>) &&
          ...);
}
static_assert(allCommuteByName<
#define GET_OP_LIST
#include "XTensor/XTensorOps.cpp.inc"
                  >(),
              "list a commutative op in XTensor.h");

void XTensorDialect::initialize() {
  registerTypes();
  addOperations<
#define GET_OP_LIST
#include "XTensor/XTensorOps.cpp.inc"
      >();
}
