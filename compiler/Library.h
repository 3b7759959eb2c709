// Ahead-of-time compilation: from a module in phase `llvm` to an object, and from that to the
// files that programs link or load.
#ifndef XTENSOR_COMPILER_LIBRARY_H
#define XTENSOR_COMPILER_LIBRARY_H

#include "CPU/Processor.h"
#include "compiler/Compiler.h"
#include "compiler/Interface.h"
#include "compiler/Names.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/ADT/STLExtras.h"
#include <string>

namespace xtensor {

/// What a library shows of one of its functions.
struct FunctionSymbols {
  FunctionSymbols() = default;
  /// `prefix` is what the bundle is called in C; `taken` are the names that it has so far.
  FunctionSymbols(Names &taken, llvm::StringRef prefix, llvm::StringRef function);
  std::vector<std::string> inC() const { return {function, any, workspace}; }
  /// What the header has programs ask for: another name where arrays are laid out in another way,
  /// so that no program runs with a library of another header than its own.
  std::string checked(llvm::StringRef symbol) const { return (symbol + "__" + layout).str(); }

  std::string function, any, workspace;
  /// A hash of what callers in C presume.
  std::string layout;
  /// What `xt.load` calls. These names contain two underscores, so they differ from all names in C.
  std::string entry, signature;
};

/// An input, one int64, whose value must be one that `dtype` holds: it becomes that at `where`.
struct NumberRange {
  int64_t input;
  std::string dtype, where;
};

/// What is known of a function of a library, whatever it is compiled for.
struct LibraryFunction {
  FunctionSymbols symbols;
  Interface interface;
  std::string signature;
  /// SHA-256 of what goes with the code in a bundle, the program and its weights: the code contains
  /// it, so a change of either without new code is found.
  std::string contents;
  /// The last inputs, which callers do not pass: places in the library's list of weights.
  std::vector<size_t> weights;
  llvm::ArrayRef<Parameter> passed() const {
    return llvm::ArrayRef(interface.inputs).drop_back(weights.size());
  }
  std::vector<Site> sites;
  std::vector<NumberRange> ranges;
  /// Whether loops have temporaries that the workspace is not made for. Found out by makeLibrary.
  bool loopsTakeMore = false;
};

/// A hash of a function's arrays as callers in C lay them out, in the order in which they are
/// passed.
std::string layoutOf(const LibraryFunction &function);

/// The SHA-256 digest of some bytes, in hexadecimal digits.
std::string sha256(llvm::StringRef bytes);

struct LibraryDescription {
  std::string prefix;  // of every symbol: "model"
  std::string message; // the function that says what a code means
  std::vector<LibraryFunction> functions;
  std::string target; // what the code is for, "cpu:x86-64-v3" or a device's profile
  /// Values that functions have as weights, each once.
  std::vector<llvm::StringRef> weights;
  /// The library that matrix products are calls of, see `blasNamed`; empty: none.
  std::string blas;
  /// The routines that the code calls, by their names in Routines.def.
  std::vector<std::string> routines;
  bool callsLapack() const {
    return llvm::any_of(routines, [](llvm::StringRef name) {
      return name != "xt_argsort" && name != "xt_sort" && name != "xt_top_k" && name != "xt_select";
    });
  }
  /// Functions for C, besides the entries for callers that check arguments themselves.
  bool forC = true;
};

/// A BLAS by the name that options use: the file that programs load, and what its symbols begin
/// with.
struct Blas {
  llvm::StringLiteral name, file, symbols;
  llvm::StringLiteral lapack; // the file with factorisations, where that is another one
};
const Blas *blasNamed(llvm::StringRef name);

struct Library {
  std::vector<std::string> kernels; // shared: each function's entry and signature, for `xt.load`
  std::string shared;               // for C; empty without
  std::string archive;              // the same, to be linked statically
  /// Where in the archive the values of each weight are; a large number: nowhere.
  std::vector<size_t> weights;
};

/// `modules`, one for each function, are in phase `llvm` and are used up. Fails with diagnostics at
/// their locations.
mlir::FailureOr<Library> makeLibrary(llvm::ArrayRef<mlir::OwningOpRef<mlir::ModuleOp>> modules,
                                     LibraryDescription &description, const Processor &processor);

/// The host of the kernels of one of the library's functions: a shared library that calls the
/// runtime of the process that loads it.
mlir::FailureOr<std::string> makeHost(mlir::ModuleOp module, const LibraryDescription &description,
                                      const LibraryFunction &function, const Processor &processor);

/// The C header of a library.
std::string headerOf(const LibraryDescription &library);

} // namespace xtensor

#endif // XTENSOR_COMPILER_LIBRARY_H
