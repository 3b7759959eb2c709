// The C header of a library: one typed function per exported function, a structure per array.
#include "compiler/Library.h"

#include "Bytes.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;
using namespace xtensor;

namespace {

/// The types of complex numbers: those of C and of C++ have one layout.
constexpr StringLiteral kComplex = R"(
#ifndef XT_COMPLEX
#define XT_COMPLEX
#ifdef __cplusplus
#include <complex>
typedef std::complex<float> xt_complex64;
typedef std::complex<double> xt_complex128;
#else
typedef float _Complex xt_complex64;
typedef double _Complex xt_complex128;
#endif
#endif
)";

bool hasComplex(const LibraryDescription &library) {
  auto isComplex = [](const Parameter &p) { return StringRef(p.dtype).starts_with("complex"); };
  return any_of(library.functions, [&](const LibraryFunction &f) {
    return any_of(f.interface.inputs, isComplex) || any_of(f.interface.outputs, isComplex);
  });
}

std::string cType(StringRef dtype) {
  if (dtype == "float32")
    return "float";
  if (dtype == "float64")
    return "double";
  if (dtype == "complex64")
    return "xt_complex64";
  if (dtype == "complex128")
    return "xt_complex128";
  if (dtype == "bool")
    return "uint8_t";
  if (dtype == "float16" || dtype == "bfloat16")
    return "uint16_t";
  return (dtype + "_t").str();
}

/// Text for a comment: nothing that begins or ends one, no trigraph, and no character that turns
/// the order of others around.
std::string commented(StringRef text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    unsigned char c = text[i];
    char before = out.empty() ? ' ' : out.back();
    bool ends = (c == '/' && before == '*') || (c == '*' && before == '/') ||
                (c == '?' && before == '?') || c == '\\';
    // General punctuation, and the Arabic letter mark.
    size_t skipped =
        text.substr(i).starts_with("\xE2\x80") || text.substr(i).starts_with("\xE2\x81") ? 2
        : text.substr(i).starts_with("\xD8\x9C")                                         ? 1
                                                                                         : 0;
    i += skipped;
    out += ends ? ' ' : skipped ? '?' : isPrint(c) || c >= 128 ? static_cast<char>(c) : '?';
  }
  return out;
}

std::string sizeText(const SizeProduct &s) {
  std::string text = s.factor == 1 && !s.open.empty() ? "" : std::to_string(s.factor);
  for (const std::string &name : s.open)
    text += (text.empty() ? "" : " * ") + name;
  return text;
}

/// `x: float32 (i: any, j: 3)`
std::string arrayText(const Parameter &p, bool isInput) {
  std::string text = p.name + ": " + p.dtype + " (";
  StringRef comma;
  for (auto [dim, size] : zip_equal(p.dims, p.sizes)) {
    text += (comma + dim + ": " + (isInput && !size.open.empty() ? "any" : sizeText(size))).str();
    comma = ", ";
  }
  return text + ")";
}

/// The arguments and results of a function, for readers of the header. Weights are not arguments in
/// C.
std::string summaryOf(const LibraryFunction &function) {
  size_t weights = function.weights.size();
  std::string text = function.symbols.function + "(";
  StringRef comma;
  for (const Parameter &p : function.passed()) {
    text += (comma + arrayText(p, true)).str();
    comma = ", ";
  }
  text += ") -> (";
  comma = "";
  for (const Parameter &p : function.interface.outputs) {
    text += (comma + arrayText(p, false)).str();
    comma = ", ";
  }
  text += ")";
  if (weights)
    text += weights == 1 ? ", with a weight inside"
                         : ", with " + std::to_string(weights) + " weights inside";
  return text;
}

/// What a program is linked with: `libopenblas.so.0` is -lopenblas.
std::string linksOf(const LibraryDescription &library) {
  std::string flags = "-lm";
  auto add = [&](StringRef file) {
    if (file.consume_front("lib"))
      flags += (" -l" + file.split(".so").first).str();
  };
  if (const Blas *blas = blasNamed(library.blas)) {
    add(blas->file);
    if (library.callsLapack())
      add(blas->lapack);
  }
  return flags;
}

/// `sample_size`
std::string fieldFor(StringRef dim) {
  std::string word = wordFor(dim);
  if (word.empty() || isDigit(word[0]))
    word = word.empty() ? "dim" : "dim_" + word;
  return word + "_size";
}

/// The structures of a function's arrays, and what is called. `types` are the names so far.
void writeFunction(raw_ostream &os, const LibraryFunction &function, Names &types) {
  const Interface &f = function.interface;
  const FunctionSymbols &symbols = function.symbols;
  std::string list;
  auto add = [&](const Parameter &p, bool isInput) {
    std::string word = wordFor(p.name);
    std::string type = types.fresh(symbols.function + "_" + (word.empty() ? "array" : word));
    Names fields;
    os << "/* " << (isInput ? "argument " : "result ") << commented(p.name) << ": " << p.dtype
       << (p.dtype == "float16" || p.dtype == "bfloat16" ? " (its bits)" : "") << " */\n"
       << "typedef struct " << type << " {\n  " << (isInput ? "const " : "") << cType(p.dtype)
       << " *data;\n";
    for (auto [dim, size] : zip_equal(p.dims, p.sizes)) {
      bool isAny = isInput && size.open.size() == 1;
      os << "  int64_t " << fields.fresh(fieldFor(dim)) << "; /* dim " << commented(dim) << ": "
         << (isAny ? "any size" : commented(sizeText(size))) << " */\n";
    }
    os << "} " << type << ";\n\n";
    list += "const " + type + " *, ";
  };
  for (const Parameter &p : function.passed())
    add(p, true);
  for (const Parameter &p : f.outputs)
    add(p, false);
  os << "/* Returns XT_OK or another code of the list above. The context may be null. */\n"
     << "int32_t " << symbols.function << "(" << list << "xt_context *)\n    XT_SYMBOL(\""
     << symbols.checked(symbols.function) << "\");\n\n"
     << "/* The same for arrays that say what they are: " << function.passed().size()
     << " arguments, then " << f.outputs.size() << " results. */\n"
     << "int32_t " << symbols.any << "(const xt_any *arrays, int64_t count, xt_context *);\n\n"
     << "/* How many bytes of workspace, aligned to 64, a call on one thread takes";
  std::string sizes;
  for (const std::string &name : f.open) {
    os << (sizes.empty() ? ", at these sizes: " : ", ") << commented(name);
    sizes += sizes.empty() ? "int64_t" : ", int64_t";
  }
  os << ". -1: a size is\n * negative, or no memory can hold it.";
  if (function.loopsTakeMore)
    os << " Loops of this function take more, which only they know\n * how much it is: it comes "
          "from context->allocate.";
  os << " */\nint64_t " << symbols.workspace << "(" << (sizes.empty() ? "void" : sizes)
     << ")\n    XT_SYMBOL(\"" << symbols.checked(symbols.workspace) << "\");\n\n";
}

} // namespace

std::string xtensor::headerOf(const LibraryDescription &library) {
  std::string out;
  raw_string_ostream os(out);
  std::string guard = "XTENSOR_BUNDLE_" + library.prefix + "_H";
  os << "/*";
  for (const LibraryFunction &f : library.functions)
    os << " " << commented(summaryOf(f)) << "\n *";
  os << " Made by " << compilerVersion()
     << "; arrays are row-major, and results share no memory with arguments.\n"
     << " * Link with lib" << library.prefix << ".a " << linksOf(library) << ", or with -l"
     << library.prefix << " alone: lib" << library.prefix << ".so\n * names the rest itself.\n"
     << " * Names begin with that of the bundle; a dim's size is the field DIM_size. Of two names\n"
     << " * that would be equal the second one ends in _2; what C does not take in a name is _. "
        "*/\n"
     << "#ifndef " << guard << "\n#define " << guard << "\n\n"
     << StringRef(aot::publicHeader().data(), aot::publicHeader().size())
     << (hasComplex(library) ? kComplex : "") << "\n#ifdef __cplusplus\nextern \"C\" {\n#endif\n\n";
  Names types;
  (void)types.fresh(library.message);
  for (const LibraryFunction &f : library.functions)
    for (const std::string &symbol : f.symbols.inC())
      (void)types.fresh(symbol);
  for (const LibraryFunction &f : library.functions)
    writeFunction(os, f, types);
  os << "/* What a code means: what the context tells of its last call, or in general where it is "
        "null. */\n"
     << "const char *" << library.message << "(const xt_context *, int32_t code);\n\n"
     << "#ifdef __cplusplus\n}\n#endif\n\n#endif /* " << guard << " */\n";
  return out;
}
