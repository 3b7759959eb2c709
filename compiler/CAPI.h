/* The C API of the dialect and the compiler: what the Python extension is written against. */
#ifndef XTENSOR_COMPILER_CAPI_H
#define XTENSOR_COMPILER_CAPI_H

#include "mlir-c/Diagnostics.h"
#include "mlir-c/IR.h"
#include "mlir-c/Support.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The size that stands for `?`. */
#define XTENSOR_DYNAMIC INT64_MIN

MLIR_DECLARE_CAPI_DIALECT_REGISTRATION(XTensor, xtensor);

MLIR_CAPI_EXPORTED bool xtensorTypeIsAArray(MlirType type);
MLIR_CAPI_EXPORTED MlirTypeID xtensorArrayTypeGetTypeID(void);
/* Null, with a diagnostic at `location`, where the type would be invalid. */
MLIR_CAPI_EXPORTED MlirType xtensorArrayTypeGet(MlirLocation location, intptr_t rank,
                                                const MlirStringRef *names, const int64_t *sizes,
                                                MlirType element);
MLIR_CAPI_EXPORTED intptr_t xtensorArrayTypeGetRank(MlirType type);
MLIR_CAPI_EXPORTED MlirStringRef xtensorArrayTypeGetName(MlirType type, intptr_t i);
MLIR_CAPI_EXPORTED int64_t xtensorArrayTypeGetSize(MlirType type, intptr_t i);
MLIR_CAPI_EXPORTED MlirType xtensorArrayTypeGetElementType(MlirType type);

MLIR_CAPI_EXPORTED bool xtensorTypeIsALinear(MlirType type);
MLIR_CAPI_EXPORTED MlirTypeID xtensorLinearTypeGetTypeID(void);
MLIR_CAPI_EXPORTED MlirType xtensorLinearTypeGet(MlirContext context, intptr_t inputs,
                                                 const MlirType *inputTypes, intptr_t results,
                                                 const MlirType *resultTypes);

/* The data caches of one core of this machine, in bytes, as the compiler takes them to be. */
MLIR_CAPI_EXPORTED void xtensorHostCaches(int64_t *level1, int64_t *level2);

/* The number of a case of an enum of the dialect, "sum" of "ReduceKind"; -1 where there is none. */
MLIR_CAPI_EXPORTED int64_t xtensorEnumCase(MlirStringRef name, MlirStringRef spelling);

/* Errors do not print the op that they are about: they say its name and the user's line. */
MLIR_CAPI_EXPORTED void xtensorContextSetErrorsWithoutOps(MlirContext context);

/* What an error is about, as XTensor/Fault.h names it; empty where nothing says it. */
MLIR_CAPI_EXPORTED MlirStringRef xtensorDiagnosticGetFault(MlirDiagnostic diagnostic);
/* FILE:LINE of the first place that `location` holds; empty where it holds none. */
MLIR_CAPI_EXPORTED void xtensorLocationPrintPlace(MlirLocation location,
                                                  MlirStringCallback callback, void *data);

/* A compiled function. `entry` is an xt_entry (runtime.h); its code goes with the last of those
 * that were compiled from one program. */
typedef struct XTensorCompiled {
  void *ptr;
} XTensorCompiled;

/* Compiles the module, which is in phase `traced` and stays as it is. Null on failure, with
 * diagnostics. Empty folders: no cache, no dump. The cache holds `cacheLimit` bytes. `target` is
 * "cpu" or a device's profile (Compiler.h). profile: the number of a program that is profiled, or
 * 0. */
MLIR_CAPI_EXPORTED XTensorCompiled xtensorCompile(MlirModule module, MlirStringRef cacheFolder,
                                                  uint64_t cacheLimit, MlirStringRef dumpFolder,
                                                  MlirStringRef target, int64_t profile);
MLIR_CAPI_EXPORTED void xtensorCompiledDestroy(XTensorCompiled compiled);
MLIR_CAPI_EXPORTED void *xtensorCompiledGetEntry(XTensorCompiled compiled);
/* Whether a call may take longer than about 20 microseconds. */
MLIR_CAPI_EXPORTED bool xtensorCompiledIsLong(XTensorCompiled compiled);
/* For each result the argument whose memory it takes, or -1; no numbers: none takes any. */
MLIR_CAPI_EXPORTED intptr_t xtensorCompiledGetNumReused(XTensorCompiled compiled);
MLIR_CAPI_EXPORTED int64_t xtensorCompiledGetReused(XTensorCompiled compiled, intptr_t i);
/// What was done to compile it, in order: a name and the seconds that it took.
MLIR_CAPI_EXPORTED intptr_t xtensorCompiledGetNumPhases(XTensorCompiled compiled);
MLIR_CAPI_EXPORTED MlirStringRef xtensorCompiledGetPhase(XTensorCompiled compiled, intptr_t i,
                                                         double *seconds);
MLIR_CAPI_EXPORTED bool xtensorCompiledIsFromCache(XTensorCompiled compiled);
MLIR_CAPI_EXPORTED MlirStringRef xtensorCompiledGetKey(XTensorCompiled compiled);
/* JSON of the kernels of a program that is profiled; empty of another. */
MLIR_CAPI_EXPORTED MlirStringRef xtensorCompiledGetKernels(XTensorCompiled compiled);
MLIR_CAPI_EXPORTED intptr_t xtensorCompiledGetNumSites(XTensorCompiled compiled);
MLIR_CAPI_EXPORTED MlirStringRef xtensorCompiledGetSiteOp(XTensorCompiled compiled, intptr_t i);
MLIR_CAPI_EXPORTED MlirStringRef xtensorCompiledGetSiteDim(XTensorCompiled compiled, intptr_t i);
MLIR_CAPI_EXPORTED MlirStringRef xtensorCompiledGetSiteLocation(XTensorCompiled compiled,
                                                                intptr_t i);
/* Hands to `callback` the compiled object of a program of this process, which another process can
 * take; nothing if it is not kept. */
MLIR_CAPI_EXPORTED void xtensorCompiledObject(MlirStringRef key, MlirStringRef cacheFolder,
                                              MlirStringCallback callback, void *userData);
MLIR_CAPI_EXPORTED void xtensorTakeCompiledObject(MlirStringRef key, MlirStringRef file);
/* Prints the module as it is after `phase` on its way to `target`; false on failure, with
 * diagnostics. */
MLIR_CAPI_EXPORTED bool xtensorPrintAfter(MlirModule module, MlirStringRef phase, bool locations,
                                          MlirStringRef target, MlirStringCallback callback,
                                          void *userData);
/* JSON of the module after each of its phases; see EveryPhase.h. False on failure, with
 * diagnostics. */
MLIR_CAPI_EXPORTED bool xtensorPrintEveryPhase(MlirModule module, MlirStringRef target,
                                               MlirStringCallback callback, void *userData);

/* A bundle (compiler/Export.h) of one function or more. Other lists may be empty; `targets` names
 * one at least. */
typedef struct XTensorExportFunction {
  MlirModule module;
  MlirStringRef name, doc, python;
  intptr_t numInputs, numOutputs, numWeights;
  const MlirStringRef *inputs, *outputs, *weights;
} XTensorExportFunction;
typedef struct XTensorExportOptions {
  MlirStringRef name, blas;
  bool forC;
  intptr_t numTargets, numFunctions;
  const MlirStringRef *targets;
  const XTensorExportFunction *functions;
} XTensorExportOptions;
/* Hands the bytes of the bundle to `callback`, once; false on failure, with diagnostics. */
MLIR_CAPI_EXPORTED bool xtensorExport(const XTensorExportOptions *options,
                                      MlirStringCallback callback, void *userData);
/* Hands JSON to `callback`: the keys `results`, `open`, `equal` and `nonempty` of manifests, for a
 * module in phase `traced`; false on failure, with diagnostics. */
MLIR_CAPI_EXPORTED bool xtensorSizes(MlirModule module, MlirStringCallback callback,
                                     void *userData);
/* Gives the dynamic dims of these names their sizes throughout @main, and what follows from them;
 * false on failure, with diagnostics. */
MLIR_CAPI_EXPORTED bool xtensorFixSizes(MlirModule module, intptr_t count,
                                        const MlirStringRef *names, const int64_t *sizes);

/* Hands to `callback` why these bytes are not a program that a trace could have made
 * (compiler/Foreign.h); nothing if they are one. */
MLIR_CAPI_EXPORTED void xtensorWhyNotForeign(MlirStringRef bytes, MlirStringCallback callback,
                                             void *userData);

/* What one call of a module in phase `traced` costs. */
typedef struct {
  int64_t flops, arenaBytes, reusedBytes, launches; /* launches: of a device */
} XTensorCost;
typedef void (*XTensorRoutineCallback)(MlirStringRef name, int64_t times, void *userData);
/* False on failure, with diagnostics. names, sizes: of `count` open dims in the call. `onHost` is
 * told of each routine that runs on the CPU in the midst of a device's program. */
MLIR_CAPI_EXPORTED bool xtensorCost(MlirModule module, MlirStringRef target, intptr_t count,
                                    const MlirStringRef *names, const int64_t *sizes,
                                    XTensorCost *cost, XTensorRoutineCallback onHost,
                                    void *userData);

/* JSON of a profiled program's kernels in a call of these open sizes (Profiled.h). False on
 * failure, with diagnostics. */
MLIR_CAPI_EXPORTED bool xtensorKernels(MlirModule module, intptr_t count,
                                       const MlirStringRef *names, const int64_t *sizes,
                                       MlirStringCallback callback, void *userData);

/* JSON of the places of temporaries in a call of these open sizes (Cost.h). False on failure, with
 * diagnostics. */
MLIR_CAPI_EXPORTED bool xtensorMemory(MlirModule module, MlirStringRef target, intptr_t count,
                                      const MlirStringRef *names, const int64_t *sizes,
                                      MlirStringCallback callback, void *userData);

/* Pays what the first program of a process would, on this thread, for as long as `wanted` says
 * yes. */
MLIR_CAPI_EXPORTED void xtensorWarmUp(bool (*wanted)(void));
/* The context in which it did so, the caller's from now on; null where there is none to take. */
MLIR_CAPI_EXPORTED MlirContext xtensorTakeWarmContext(void);

MLIR_CAPI_EXPORTED void xtensorRegisterPasses(void);
/* Registers the dialects, interfaces and translations that the phases need. */
MLIR_CAPI_EXPORTED void xtensorRegisterDialects(MlirDialectRegistry registry);

#ifdef __cplusplus
}
#endif

#endif /* XTENSOR_COMPILER_CAPI_H */
