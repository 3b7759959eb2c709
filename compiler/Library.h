// Code compiled ahead of time: from a module in phase `llvm` to an object, and from that to the
// files that programs link or load.
#ifndef XTENSOR_COMPILER_LIBRARY_H
#define XTENSOR_COMPILER_LIBRARY_H

#include "CPU/Processor.h"
#include "compiler/Compiler.h"
#include "compiler/Interface.h"
#include "compiler/Names.h"
#include "llvm/ADT/STLExtras.h"
#include <string>

namespace xtensor {

/// What a library shows in C.
struct LibrarySymbols {
  LibrarySymbols() = default;
  /// `prefix` is what the bundle is called in C.
  LibrarySymbols(llvm::StringRef prefix, llvm::StringRef function);
  std::vector<std::string> all() const { return {message, function, any, workspace}; }

  std::string message, function, any, workspace;
};

/// An input, one int64, whose value must be one that `dtype` holds: it becomes that at `where`.
struct NumberRange {
  int64_t input;
  std::string dtype, where;
};

/// What is known of a library, whatever it is compiled for.
struct LibraryDescription {
  std::string prefix; // of every symbol: "model"
  LibrarySymbols symbols;
  Interface interface;
  std::string signature;
  std::string target; // what the code is for, "cpu:x86-64-v3" or a device's profile
  /// SHA-256 of what goes with the code in a bundle, the program and its weights: the code carries
  /// it, so that nobody can change them and leave the code as it is.
  std::string contents;
  /// Values of the last inputs, which callers do not pass.
  std::vector<llvm::StringRef> weights;
  std::vector<Site> sites;
  std::vector<NumberRange> ranges;
  /// The library that matrix products are calls of, see `blasNamed`; empty: none.
  std::string blas;
  /// The routines that the code calls, by their names in Routines.def.
  std::vector<std::string> routines;
  bool callsLapack() const {
    return llvm::any_of(
        routines, [](llvm::StringRef name) { return name != "xt_argsort" && name != "xt_top_k"; });
  }
  /// Functions for C beside the entry for those who check arguments themselves.
  bool forC = true;
  /// Whether loops have temporaries that the workspace is not made for. Found out by makeLibrary.
  bool loopsTakeMore = false;
};

/// A BLAS by the name that options use: the file that programs load, and what its symbols begin
/// with.
struct Blas {
  llvm::StringLiteral name, file, symbols;
  llvm::StringLiteral lapack; // the file with factorisations, where that is another one
};
const Blas *blasNamed(llvm::StringRef name);

struct Library {
  std::string kernel;  // shared: the entry and the signature, for `xt.load`
  std::string shared;  // for C; empty without
  std::string archive; // the same, to be linked statically
};

/// The names under which the kernel shows its entry and its signature.
std::string entrySymbol(const LibraryDescription &library);
std::string signatureSymbol(const LibraryDescription &library);

/// `module` is in phase `llvm` and is used up. Null on failure, with diagnostics at its location.
mlir::FailureOr<Library> makeLibrary(mlir::ModuleOp module, LibraryDescription &description,
                                     const Processor &processor);

/// The host of a device's kernels, for this machine.
struct Host {
  std::string object;
  std::string shared; // calls the runtime of the process that loads it
};
mlir::FailureOr<Host> makeHost(mlir::ModuleOp module, const LibraryDescription &description,
                               const Processor &processor);

/// The C header of a library.
std::string headerOf(const LibraryDescription &library);

} // namespace xtensor

#endif // XTENSOR_COMPILER_LIBRARY_H
