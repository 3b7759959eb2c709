// The C header of a library: one typed function per exported function, a structure per array.
#include "compiler/Library.h"

#include "Bytes.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/ADT/StringSwitch.h"

using namespace llvm;
using namespace xtensor;

static constexpr StringLiteral kKeywords[] = {
    "alignas",   "alignof",  "and",       "asm",      "auto",    "bool",     "break",  "case",
    "catch",     "char",     "class",     "const",    "context", "continue", "data",   "default",
    "delete",    "do",       "double",    "else",     "enum",    "explicit", "export", "extern",
    "false",     "float",    "for",       "friend",   "goto",    "if",       "inline", "int",
    "long",      "mutable",  "namespace", "new",      "not",     "operator", "or",     "private",
    "protected", "public",   "register",  "restrict", "return",  "short",    "signed", "sizeof",
    "static",    "struct",   "switch",    "template", "this",    "throw",    "true",   "try",
    "typedef",   "typename", "union",     "unsigned", "using",   "virtual",  "void",   "volatile",
    "while",     "xor"};

std::string xtensor::identifier(StringRef text) {
  std::string name;
  for (char c : text)
    name += isAlnum(c) || c == '_' ? c : '_';
  if (name.empty() || isDigit(name[0]))
    name = "_" + name;
  if (is_contained(kKeywords, name))
    name += "_";
  return name;
}

namespace {

std::string cType(StringRef dtype) {
  if (dtype == "float32")
    return "float";
  if (dtype == "float64")
    return "double";
  if (dtype == "bool")
    return "uint8_t";
  if (dtype == "float16" || dtype == "bfloat16")
    return "uint16_t";
  return (dtype + "_t").str();
}

/// Identifiers that differ from each other.
class Names {
public:
  std::string fresh(StringRef text) {
    std::string name = identifier(text), found = name;
    for (int i = 1; !taken.insert(found).second; ++i)
      found = name + "_" + std::to_string(i);
    return found;
  }

private:
  StringSet<> taken;
};

/// Comments cannot hold what ends them.
std::string commented(StringRef text) {
  std::string out;
  for (char c : text) {
    bool ends = c == '/' && !out.empty() && out.back() == '*';
    out += ends ? ' ' : isPrint(c) || static_cast<unsigned char>(c) >= 128 ? c : '?';
  }
  return out;
}

std::string sizeText(const SizeProduct &s) {
  std::string text = s.factor == 1 && !s.open.empty() ? "" : std::to_string(s.factor);
  for (const std::string &name : s.open)
    text += (text.empty() ? "" : " * ") + name;
  return text;
}

} // namespace

std::string xtensor::headerOf(const LibraryDescription &library) {
  std::string out;
  raw_string_ostream os(out);
  std::string guard = StringRef(library.prefix).upper() + "_H";
  os << "/* " << commented(library.signature) << "\n * Made by " << compilerVersion()
     << "; arrays are row-major, and results share no memory with arguments. */\n"
     << "#ifndef " << guard << "\n#define " << guard << "\n\n"
     << StringRef(aot::publicHeader().data(), aot::publicHeader().size())
     << "\n#ifdef __cplusplus\nextern \"C\" {\n#endif\n\n";
  const Interface &f = library.interface;
  Names types, parameters;
  std::string list;
  size_t passed = f.inputs.size() - library.weights.size();
  auto add = [&](const Parameter &p, bool isInput) {
    std::string type = types.fresh(library.function + "_" + identifier(p.name));
    std::string parameter = parameters.fresh(p.name);
    Names fields;
    (void)fields.fresh("data");
    os << "/* " << (isInput ? "argument " : "result ") << commented(p.name) << ": " << p.dtype
       << (p.dtype == "float16" || p.dtype == "bfloat16" ? " (its bits)" : "") << " */\n"
       << "typedef struct " << type << " {\n  " << (isInput ? "const " : "") << cType(p.dtype)
       << " *data;\n";
    for (auto [dim, size] : zip_equal(p.dims, p.sizes)) {
      bool isAny = isInput && size.open.size() == 1;
      os << "  int64_t " << fields.fresh(dim) << "; /* "
         << (isAny ? "any size" : commented(sizeText(size))) << " */\n";
    }
    os << "} " << type << ";\n\n";
    list += "const " + type + " *" + parameter + ", ";
  };
  for (size_t i = 0; i < passed; ++i)
    add(f.inputs[i], true);
  for (const Parameter &p : f.outputs)
    add(p, false);
  os << "/* Returns XT_OK or another code of the list above. `context` may be null. */\n"
     << "int32_t " << library.function << "(" << list << "xt_context *context);\n\n"
     << "/* The same for arrays that say what they are: " << passed << " arguments, then "
     << f.outputs.size() << " results. */\n"
     << "int32_t " << library.function
     << "_any(const xt_any *arrays, int64_t count, xt_context *context);\n\n"
     << "/* What a code means: what `context` tells of its last call, or in general where it is "
        "null. */\n"
     << "const char *" << library.prefix << "_message(const xt_context *context, int32_t code);\n\n"
     << "#ifdef __cplusplus\n}\n#endif\n\n#endif /* " << guard << " */\n";
  return out;
}
