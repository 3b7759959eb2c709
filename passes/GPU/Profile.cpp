#include "GPU/Profile.h"

using namespace mlir;
using namespace xtensor;

Profile::Profile(StringRef text) : isWhole(!text.contains(',')) {
  SmallVector<StringRef> words;
  text.split(words, ',');
  name = words.front().str();
  for (StringRef word : llvm::drop_begin(words)) {
    auto [name, value] = word.split('=');
    int64_t number = 0;
    bool isNumber = word.contains('=');
    if (isNumber && (value.getAsInteger(10, number) || number < 1))
      wrong = ("the device's profile says '" + word + "': a number of 1 or more is needed").str();
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
  // Metal's language has no double, and says nothing of how floats are kept.
  return name != "metal" || !(feature == "f64" || feature.starts_with("specials") ||
                              feature.starts_with("subnormals"));
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
