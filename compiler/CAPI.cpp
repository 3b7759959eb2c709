#include "compiler/CAPI.h"

#include "Pipelines.h"
#include "XTensor/Dims.h"
#include "mlir/CAPI/IR.h"
#include "mlir/CAPI/Registration.h"
#include "mlir/CAPI/Support.h"
#include "mlir/CAPI/Wrap.h"

using namespace mlir;
using xtensor::ArrayType;
using xtensor::LinearType;

MLIR_DEFINE_CAPI_DIALECT_REGISTRATION(XTensor, xtensor, xtensor::XTensorDialect)

static_assert(XTENSOR_DYNAMIC == ArrayType::kDynamic, "the C API states what `?` is");

static ArrayType arrayOf(MlirType type) { return cast<ArrayType>(unwrap(type)); }

bool xtensorTypeIsAArray(MlirType type) { return isa<ArrayType>(unwrap(type)); }
MlirTypeID xtensorArrayTypeGetTypeID() { return wrap(ArrayType::getTypeID()); }

MlirType xtensorArrayTypeGet(MlirLocation location, intptr_t rank, const MlirStringRef *names,
                             const int64_t *sizes, MlirType element) {
  Location loc = unwrap(location);
  loc.getContext()->getOrLoadDialect<xtensor::XTensorDialect>();
  SmallVector<StringAttr> dims;
  for (intptr_t i = 0; i < rank; ++i)
    dims.push_back(StringAttr::get(loc.getContext(), unwrap(names[i])));
  return wrap(Type(ArrayType::getChecked([&] { return emitError(loc); }, loc.getContext(),
                                         ArrayRef<StringAttr>(dims),
                                         ArrayRef<int64_t>(sizes, rank), unwrap(element))));
}

intptr_t xtensorArrayTypeGetRank(MlirType type) { return arrayOf(type).getRank(); }
MlirStringRef xtensorArrayTypeGetName(MlirType type, intptr_t i) {
  return wrap(arrayOf(type).getDimNames()[i].getValue());
}
int64_t xtensorArrayTypeGetSize(MlirType type, intptr_t i) { return arrayOf(type).getShape()[i]; }
MlirType xtensorArrayTypeGetElementType(MlirType type) {
  return wrap(arrayOf(type).getElementType());
}

bool xtensorTypeIsALinear(MlirType type) { return isa<LinearType>(unwrap(type)); }
MlirTypeID xtensorLinearTypeGetTypeID() { return wrap(LinearType::getTypeID()); }
MlirType xtensorLinearTypeGet(MlirContext context, intptr_t inputs, const MlirType *inputTypes,
                              intptr_t results, const MlirType *resultTypes) {
  unwrap(context)->getOrLoadDialect<xtensor::XTensorDialect>();
  SmallVector<Type> in, out;
  (void)unwrapList(inputs, inputTypes, in);
  (void)unwrapList(results, resultTypes, out);
  return wrap(Type(LinearType::get(unwrap(context),
                                   FunctionType::get(unwrap(context), in, out))));
}

void xtensorRegisterPasses() { xtensor::registerAllXTensorPasses(); }
