#include "compiler/Names.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;
using namespace xtensor;

static constexpr StringLiteral kSystemWords =
#include "compiler/SystemWords.inc"
    ;

static bool isSystems(StringRef word) {
  static const StringSet<> words = [] {
    StringSet<> found;
    SmallVector<StringRef> list;
    SplitString(kSystemWords, list);
    for (StringRef word : list)
      found.insert(word);
    return found;
  }();
  return words.contains(word);
}

std::string xtensor::wordFor(StringRef text) {
  std::string name;
  for (char c : text)
    if (isAlnum(c))
      name += c;
    else if (!name.empty() && name.back() != '_')
      name += '_';
  return StringRef(name).rtrim('_').str();
}

std::string xtensor::libraryName(StringRef name) {
  std::string word = wordFor(name);
  if (word.empty())
    word = "model";
  bool isOurs = !isDigit(word[0]) && !isSystems(StringRef(word).split('_').first);
  return isOurs ? word : "xtb_" + word;
}

std::string Names::fresh(const std::string &wanted) {
  std::string found = wanted;
  for (int i = 2; !taken.insert(found).second; ++i)
    found = wanted + "_" + std::to_string(i);
  return found;
}
