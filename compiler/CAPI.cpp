#include "compiler/CAPI.h"

#include "Machine.h"
#include "Pipelines.h"
#include "XTensor/Dims.h"
#include "XTensor/Fault.h"
#include "XTensor/Place.h"
#include "compiler/Compiler.h"
#include "compiler/Cost.h"
#include "compiler/EveryPhase.h"
#include "compiler/Export.h"
#include "compiler/Foreign.h"
#include "compiler/Interface.h"
#include "compiler/Profiled.h"
#include "compiler/WarmUp.h"
#include "mlir/CAPI/Diagnostics.h"
#include "mlir/CAPI/IR.h"
#include "mlir/CAPI/Registration.h"
#include "mlir/CAPI/Support.h"
#include "mlir/CAPI/Utils.h"
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
                                         ArrayRef<StringAttr>(dims), ArrayRef<int64_t>(sizes, rank),
                                         unwrap(element))));
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
  return wrap(Type(LinearType::get(unwrap(context), FunctionType::get(unwrap(context), in, out))));
}

void xtensorHostCaches(int64_t *level1, int64_t *level2) {
  xtensor::Caches caches = xtensor::cachesOfHost();
  *level1 = caches.level1;
  *level2 = caches.level2;
}

template <typename E>
static int64_t number(std::optional<E> value) {
  return value ? static_cast<int64_t>(*value) : -1;
}
int64_t xtensorEnumCase(MlirStringRef name, MlirStringRef spelling) {
  StringRef text = unwrap(spelling);
  if (unwrap(name) == "AccumulateKind")
    return number(xtensor::symbolizeAccumulateKind(text));
  if (unwrap(name) == "ComparePredicate")
    return number(xtensor::symbolizeComparePredicate(text));
  if (unwrap(name) == "ComplexFactorKind")
    return number(xtensor::symbolizeComplexFactorKind(text));
  if (unwrap(name) == "CumulativeKind")
    return number(xtensor::symbolizeCumulativeKind(text));
  if (unwrap(name) == "FourierKind")
    return number(xtensor::symbolizeFourierKind(text));
  if (unwrap(name) == "IndexMode")
    return number(xtensor::symbolizeIndexMode(text));
  if (unwrap(name) == "ReduceKind")
    return number(xtensor::symbolizeReduceKind(text));
  if (unwrap(name) == "ScatterKind")
    return number(xtensor::symbolizeScatterKind(text));
  return -1;
}

void xtensorContextSetErrorsWithoutOps(MlirContext context) {
  unwrap(context)->printOpOnDiagnostic(false);
}
MlirStringRef xtensorDiagnosticGetFault(MlirDiagnostic diagnostic) {
  return wrap(xtensor::faultOf(unwrap(diagnostic)));
}
void xtensorLocationPrintPlace(MlirLocation location, MlirStringCallback callback, void *data) {
  callback(wrap(StringRef(xtensor::placeOf(unwrap(location)))), data);
}

/// A compiled program, and what is told of its kernels if it is profiled.
struct Kept : xtensor::Compiled {
  std::string kernels;
};

static Kept &get(XTensorCompiled compiled) { return *static_cast<Kept *>(compiled.ptr); }
static MlirStringRef wrapped(const std::string &text) { return wrap(StringRef(text)); }

XTensorCompiled xtensorCompile(MlirModule module, MlirStringRef cacheFolder, uint64_t cacheLimit,
                               MlirStringRef dumpFolder, MlirStringRef target, int64_t profile) {
  xtensor::CompilerOptions options = {unwrap(cacheFolder).str(), cacheLimit,
                                      unwrap(dumpFolder).str(), unwrap(target).str()};
  std::string kernels;
  auto compiled = profile ? xtensor::compileProfiled(unwrap(module), options, profile, kernels)
                          : xtensor::compile(unwrap(module), options);
  return {failed(compiled) ? nullptr : new Kept{{*compiled}, std::move(kernels)}};
}
void xtensorCompiledDestroy(XTensorCompiled compiled) { delete &get(compiled); }
void *xtensorCompiledGetEntry(XTensorCompiled compiled) { return get(compiled).entry; }
bool xtensorCompiledIsLong(XTensorCompiled compiled) { return get(compiled).isLong; }
intptr_t xtensorCompiledGetNumReused(XTensorCompiled compiled) {
  return get(compiled).reused.size();
}
int64_t xtensorCompiledGetReused(XTensorCompiled compiled, intptr_t i) {
  return get(compiled).reused[i];
}
intptr_t xtensorCompiledGetNumPhases(XTensorCompiled compiled) {
  return get(compiled).seconds.size();
}
MlirStringRef xtensorCompiledGetPhase(XTensorCompiled compiled, intptr_t i, double *seconds) {
  const auto &[name, taken] = get(compiled).seconds[i];
  *seconds = taken;
  return wrapped(name);
}
bool xtensorCompiledIsFromCache(XTensorCompiled compiled) { return get(compiled).fromCache; }
MlirStringRef xtensorCompiledGetKey(XTensorCompiled compiled) { return wrapped(get(compiled).key); }
MlirStringRef xtensorCompiledGetKernels(XTensorCompiled compiled) {
  return wrapped(get(compiled).kernels);
}
intptr_t xtensorCompiledGetNumSites(XTensorCompiled compiled) { return get(compiled).sites.size(); }
MlirStringRef xtensorCompiledGetSiteDim(XTensorCompiled compiled, intptr_t i) {
  return wrapped(get(compiled).sites[i].dim);
}
MlirStringRef xtensorCompiledGetSiteLocation(XTensorCompiled compiled, intptr_t i) {
  return wrapped(get(compiled).sites[i].location);
}
MlirStringRef xtensorCompiledGetSiteOp(XTensorCompiled compiled, intptr_t i) {
  return wrapped(get(compiled).sites[i].op);
}
void xtensorCompiledObject(MlirStringRef key, MlirStringRef cacheFolder,
                           MlirStringCallback callback, void *userData) {
  std::string file = xtensor::compiledObject(unwrap(key), unwrap(cacheFolder));
  if (!file.empty())
    callback(wrapped(file), userData);
}
void xtensorTakeCompiledObject(MlirStringRef key, MlirStringRef file) {
  xtensor::takeCompiledObject(unwrap(key), unwrap(file));
}

bool xtensorPrintAfter(MlirModule module, MlirStringRef phase, bool locations, MlirStringRef target,
                       MlirStringCallback callback, void *userData) {
  auto text = xtensor::textAfter(unwrap(module), unwrap(phase), locations, unwrap(target));
  if (failed(text))
    return false;
  callback(wrapped(*text), userData);
  return true;
}

bool xtensorPrintEveryPhase(MlirModule module, MlirStringRef target, MlirStringCallback callback,
                            void *userData) {
  auto text = xtensor::everyPhase(unwrap(module), unwrap(target));
  if (failed(text))
    return false;
  callback(wrapped(*text), userData);
  return true;
}

static std::vector<std::string> strings(intptr_t count, const MlirStringRef *texts) {
  std::vector<std::string> out;
  for (intptr_t i = 0; i < count; ++i)
    out.push_back(unwrap(texts[i]).str());
  return out;
}

bool xtensorExport(const XTensorExportOptions *o, MlirStringCallback callback, void *userData) {
  xtensor::ExportOptions options;
  options.name = unwrap(o->name).str();
  options.blas = unwrap(o->blas).str();
  options.forC = o->forC;
  options.targets = strings(o->numTargets, o->targets);
  std::vector<xtensor::ExportFunction> functions;
  for (const XTensorExportFunction &f : llvm::ArrayRef(o->functions, o->numFunctions))
    functions.push_back({unwrap(f.module), unwrap(f.name).str(), unwrap(f.doc).str(),
                         strings(f.numInputs, f.inputs), strings(f.numOutputs, f.outputs),
                         strings(f.numWeights, f.weights), unwrap(f.python).str()});
  auto bundle = xtensor::exportBundle(functions, options);
  if (failed(bundle))
    return false;
  callback(wrapped(*bundle), userData);
  return true;
}

bool xtensorSizes(MlirModule module, MlirStringCallback callback, void *userData) {
  auto interface = xtensor::interfaceOf(unwrap(module));
  if (failed(interface))
    return false;
  std::string text;
  llvm::raw_string_ostream(text) << llvm::json::Value(xtensor::toJson(*interface));
  callback(wrapped(text), userData);
  return true;
}

static llvm::StringMap<int64_t> byName(intptr_t count, const MlirStringRef *names,
                                       const int64_t *sizes) {
  llvm::StringMap<int64_t> given;
  for (intptr_t i = 0; i < count; ++i)
    given[unwrap(names[i])] = sizes[i];
  return given;
}

bool xtensorFixSizes(MlirModule module, intptr_t count, const MlirStringRef *names,
                     const int64_t *sizes) {
  return succeeded(xtensor::fixSizes(unwrap(module), byName(count, names, sizes)));
}

bool xtensorCost(MlirModule module, MlirStringRef target, intptr_t count,
                 const MlirStringRef *names, const int64_t *sizes, XTensorCost *cost,
                 XTensorRoutineCallback onHost, void *userData) {
  auto found = xtensor::costOf(unwrap(module), unwrap(target), byName(count, names, sizes));
  if (failed(found))
    return false;
  *cost = {found->flops, found->arena, found->reused, found->launches};
  for (const auto &[name, times] : found->onHost)
    onHost(wrapped(name), times, userData);
  return true;
}

bool xtensorKernels(MlirModule module, intptr_t count, const MlirStringRef *names,
                    const int64_t *sizes, MlirStringCallback callback, void *userData) {
  auto text = xtensor::kernelsOfCall(unwrap(module), byName(count, names, sizes));
  if (failed(text))
    return false;
  callback(wrapped(*text), userData);
  return true;
}

bool xtensorMemory(MlirModule module, MlirStringRef target, intptr_t count,
                   const MlirStringRef *names, const int64_t *sizes, MlirStringCallback callback,
                   void *userData) {
  auto text = xtensor::memoryOf(unwrap(module), unwrap(target), byName(count, names, sizes));
  if (failed(text))
    return false;
  callback(wrapped(*text), userData);
  return true;
}

void xtensorWhyNotForeign(MlirStringRef bytes, MlirStringCallback callback, void *userData) {
  callback(wrapped(xtensor::whyNotForeign(unwrap(bytes))), userData);
}

void xtensorWarmUp(bool (*wanted)(void)) { xtensor::warmUp(wanted); }
MlirContext xtensorTakeWarmContext() { return wrap(xtensor::takeWarmContext().release()); }

void xtensorRegisterDialects(MlirDialectRegistry registry) {
  xtensor::registerAllXTensorDialects(*unwrap(registry));
}
void xtensorRegisterPasses() { xtensor::registerAllXTensorPasses(); }
