#include "compiler/Members.h"

#include "Zip.h"
#include "llvm/ADT/STLExtras.h"

using namespace xtensor;
using llvm::StringRef;

std::string Members::keepOnce(const std::string &kind, StringRef suffix, std::string bytes) {
  size_t count = 0;
  for (const auto &[name, known] : kept) {
    if (!StringRef(name).starts_with(kind) || !StringRef(name).ends_with(suffix))
      continue;
    if (known == bytes)
      return name;
    ++count;
  }
  std::string name = kind + std::to_string(count) + suffix.str();
  keep(name, std::move(bytes));
  return name;
}

bool Members::hasFolder(StringRef folder) const {
  return llvm::any_of(kept, [&](const auto &m) { return StringRef(m.first).starts_with(folder); });
}

std::string Members::zip(const std::string &manifest, std::string &error) const {
  std::vector<bundle::Member> members = {{"manifest.json", manifest}};
  for (const auto &[name, bytes] : kept)
    members.push_back({name, bytes});
  return bundle::writeZip(members, error);
}
