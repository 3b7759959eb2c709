// The manifest of a bundle: JSON that says what each member is (docs/aot.md).
#ifndef XTENSOR_COMPILER_MANIFEST_H
#define XTENSOR_COMPILER_MANIFEST_H

#include "compiler/Export.h"
#include "compiler/Library.h"
#include "compiler/Members.h"
#include "llvm/Support/JSON.h"

namespace xtensor {

// As readers have it (manifest.py).
constexpr size_t kLongestManifest = 1 << 26;

/// The values of a weight: their hash, and where they are in the bundle.
struct WeightPlace {
  std::string sha256, member;
  int64_t offset = 0;
};

/// A function. `program`: the member with its IR; `python`: what the caller says of it.
llvm::json::Object toJson(const ExportFunction &asked, const LibraryFunction &described,
                          llvm::ArrayRef<WeightPlace> places, const std::string &program,
                          std::optional<llvm::json::Value> python, bool hasC);

/// The text of the manifest.
std::string manifestOf(const ExportOptions &options, const LibraryDescription &library,
                       llvm::json::Array functions, llvm::json::Array targets,
                       const Members &members, bool hasC);

} // namespace xtensor

#endif // XTENSOR_COMPILER_MANIFEST_H
