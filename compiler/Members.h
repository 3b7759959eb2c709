// The files inside of a bundle, in memory until all are there.
#ifndef XTENSOR_COMPILER_MEMBERS_H
#define XTENSOR_COMPILER_MEMBERS_H

#include "llvm/ADT/StringRef.h"
#include <string>
#include <utility>
#include <vector>

namespace xtensor {

class Members {
public:
  void keep(std::string name, std::string bytes) {
    kept.emplace_back(std::move(name), std::move(bytes));
  }
  /// The member that holds these bytes; equal bytes are kept once. A new member is numbered among
  /// those whose names begin with `kind`.
  std::string keepOnce(const std::string &kind, llvm::StringRef suffix, std::string bytes);

  bool hasFolder(llvm::StringRef folder) const;
  const std::vector<std::pair<std::string, std::string>> &all() const { return kept; }

  /// The bundle: the manifest, then the members. Empty, with `error` set, where a zip cannot hold
  /// them.
  std::string zip(const std::string &manifest, std::string &error) const;

private:
  std::vector<std::pair<std::string, std::string>> kept;
};

} // namespace xtensor

#endif // XTENSOR_COMPILER_MEMBERS_H
