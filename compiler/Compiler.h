// From a traced module to a function that can be called: phases, code generation and the object
// cache.
#ifndef XTENSOR_COMPILER_COMPILER_H
#define XTENSOR_COMPILER_COMPILER_H

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/StringMap.h"
#include <memory>
#include <string>
#include <vector>

namespace xtensor {

struct CompilerOptions {
  /// Folder of compiled objects; empty: none.
  std::string cacheFolder;
  /// How many bytes that folder may hold.
  uint64_t cacheLimit = uint64_t(256) << 20;
  /// Folder for one file per phase; empty: none.
  std::string dumpFolder;
  /// What runs the code: "cpu", or the profile of a device, which is its backend and what it has:
  /// "vulkan,f64,i64,f16,i16,i8,s16,s8,atomic_f32,subgroup=8,workgroup_bytes=32768,max_threads=1024".
  std::string target = "cpu";
  /// The phase that the module is in.
  std::string from = "traced";
};

/// Where an index is read: what an IndexError is told by.
struct Site {
  std::string dim;
  std::string location;
  /// "isel#3": a public function, and which of its ops, if it said so; then "u" where positions
  /// have no sign.
  std::string op;
};

/// A compiled program. Its code can be called as long as any copy of `code` is there.
struct Compiled {
  void *entry = nullptr;
  std::shared_ptr<void> code;
  std::vector<Site> sites;
  std::string key;
  bool fromCache = false;
  /// A call may take longer than about 20 microseconds.
  bool isLong = false;
  /// For each result the argument whose memory it takes, or -1: the caller passes one address for
  /// both. Empty: every result has memory of its own.
  std::vector<int64_t> reused;
  /// What was done for this, and the seconds it took: each phase, then "asm", and "link". Empty
  /// where the program was loaded already.
  std::vector<std::pair<std::string, double>> seconds;
};

/// Takes `module` from one phase to another; a file per phase goes to `dumpFolder` (empty: none).
mlir::LogicalResult runPhases(mlir::ModuleOp module, llvm::StringRef from, llvm::StringRef to,
                              llvm::StringRef dumpFolder = "", llvm::StringRef target = "cpu");

/// Name and version of the compiler, which files name as their writer.
llvm::StringRef compilerVersion();

/// The places where an index is checked, as the lowering left them on the module.
std::vector<Site> sitesOf(mlir::ModuleOp module);

/// Compiles `module`, which is in phase `options.from` and stays as it is.
mlir::FailureOr<Compiled> compile(mlir::ModuleOp module, const CompilerOptions &options);

/// The file of the object cache for a program of this process, for another process to take; empty
/// if it is not kept. `folder`: that of the cache.
std::string compiledObject(llvm::StringRef key, llvm::StringRef folder);
/// Takes such a file of another process. A program with this key then needs no compilation.
void takeCompiledObject(llvm::StringRef key, llvm::StringRef file);

/// `module` as it is after `phase` (a name of `phaseNames`, or `asm`) on its way to `target`.
mlir::FailureOr<std::string> textAfter(mlir::ModuleOp module, llvm::StringRef phase, bool locations,
                                       llvm::StringRef target = "cpu");

/// The kernels of a module in the language of their device, where that is text: in the IR it is a
/// string on one line.
std::string kernelTexts(mlir::ModuleOp module);

} // namespace xtensor

#endif // XTENSOR_COMPILER_COMPILER_H
