#include "GPU/Profile.h"

#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace xtensor;

static constexpr StringRef kMakers[] = {
#define DEVICE(VENDOR, ...) #VENDOR,
#define TILE(...)
#include "GPU/library/devices.def"
#undef DEVICE
#undef TILE
};
static constexpr StringRef kFeatures[] = {
#define FEATURE(WORD) #WORD,
#define NUMBER(WORD)
#include "GPU/library/profile.def"
#undef FEATURE
#undef NUMBER
};
static constexpr StringRef kNumbers[] = {
#define FEATURE(WORD)
#define NUMBER(WORD) #WORD,
#include "GPU/library/profile.def"
#undef FEATURE
#undef NUMBER
};

/// What is wrong with a word of a profile; empty if nothing is.
static std::string problemOf(StringRef word) {
  auto [name, value] = word.split('=');
  if (llvm::is_contained(kNumbers, name)) {
    int64_t number = 0;
    if (word.contains('=') && !value.getAsInteger(10, number) && number > 0)
      return "";
    return ("the device's profile says '" + word + "': a number of 1 or more is needed").str();
  }
  bool known = llvm::is_contained(kFeatures, word) || llvm::is_contained(kMakers, word);
  if (known)
    return "";
  return ("the device's profile says '" + word + "', which means nothing; there are makers (" +
          llvm::join(ArrayRef(kMakers), ", ") + "), features (" +
          llvm::join(ArrayRef(kFeatures), ", ") + ") and numbers (" +
          llvm::join(ArrayRef(kNumbers), "=, ") + "=)")
      .str();
}

Profile::Profile(StringRef text) : isWhole(!text.contains(',')) {
  SmallVector<StringRef> words;
  text.split(words, ',');
  name = words.front().str();
  for (StringRef word : llvm::drop_begin(words)) {
    auto [name, value] = word.split('=');
    int64_t number = 0;
    if (wrong.empty())
      wrong = problemOf(word);
    if (value.getAsInteger(10, number))
      number = 0;
    features[name] = number;
  }
}

Profile Profile::of(ModuleOp module) {
  auto text = module->getAttrOfType<StringAttr>(kTargetAttr);
  return Profile(text ? text.getValue() : "vulkan");
}

bool Profile::has(StringRef feature) const {
  if (!isWhole)
    return features.contains(feature);
  if (feature == "in_order")
    return false;
  // Metal's language has no double and no atomics of 64 bits, and says nothing of how floats are
  // kept.
  return name != "metal" || !(feature == "f64" || feature.starts_with("atomic") ||
                              feature.starts_with("specials") || feature.starts_with("subnormals"));
}

StringRef Profile::vendor() const {
  if (name == "cuda")
    return "nvidia";
  if (name == "metal")
    return "apple";
  for (StringRef known : {"nvidia", "amd", "intel", "software"})
    if (features.contains(known))
      return known;
  return "any";
}

int64_t Profile::number(StringRef name, int64_t otherwise) const {
  auto it = features.find(name);
  return it == features.end() ? otherwise : it->second;
}
