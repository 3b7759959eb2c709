// xtensor-opt: mlir-opt with this project's dialect, passes and phases.
#include "Pipelines.h"
#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/InitAllPasses.h"
#include "mlir/Target/LLVMIR/Dialect/All.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MemoryBuffer.h"

/// --compile-to=P --compile-from=P --dump-phases=DIR --target=T, in short for the pipeline
/// --xtensor-compile="to=P from=P dump=DIR"; a value may be the next word, too. No global options:
/// words are rewritten before anything reads them.
static std::vector<std::string> withPhases(int argc, char **argv) {
  static constexpr std::pair<llvm::StringLiteral, llvm::StringLiteral> kShort[] = {
      {"compile-to", "to"},
      {"compile-from", "from"},
      {"dump-phases", "dump"},
      {"target", "target"}};
  std::vector<std::string> words;
  std::string options;
  for (int i = 0; i < argc; ++i) {
    llvm::StringRef word(argv[i]);
    auto [name, value] = word.split('=');
    bool taken = false;
    if (i > 0 && name.consume_front("-")) {
      name.consume_front("-");
      for (const auto &[from, to] : kShort)
        if (name == from) {
          if (!word.contains('=') && i + 1 < argc)
            value = argv[++i];
          if (value.empty()) {
            llvm::errs() << "--" << name << " needs a value: --" << name << "="
                         << (to == "dump"     ? "DIR"
                             : to == "target" ? "TARGET"
                                              : "PHASE")
                         << '\n';
            std::exit(1);
          }
          options += (options.empty() ? "" : " ") + (to + "=" + value).str();
          taken = true;
          break;
        }
    }
    if (!taken)
      words.push_back(word.str());
  }
  if (!options.empty())
    words.push_back("--xtensor-compile=" + options);
  return words;
}

static std::string help() {
  std::string text =
      "xtensor's passes on text\n\n"
      "  --compile-to=PHASE --compile-from=PHASE --dump-phases=DIR run whole phases; "
      "a PHASE is\n  ";
  llvm::raw_string_ostream os(text);
  llvm::interleaveComma(xtensor::phaseNames(), os);
  os << '\n';
  return text;
}

/// The file that upstream writes if a pass fails, or empty.
static std::string reproducerOf(const std::vector<std::string> &words) {
  for (size_t i = 1; i < words.size(); ++i) {
    auto [name, value] = llvm::StringRef(words[i]).split('=');
    if (name.ltrim('-') != "mlir-pass-pipeline-crash-reproducer" || !name.starts_with("-"))
      continue;
    return !value.empty() ? value.str() : i + 1 < words.size() ? words[i + 1] : std::string();
  }
  return {};
}

/// As a shell reads it.
static std::string quoted(llvm::StringRef word) {
  if (!word.empty() && llvm::all_of(word, [](char c) {
        return llvm::isAlnum(c) || llvm::StringRef("_-+=:,./@%").contains(c);
      }))
    return word.str();
  std::string text = "'";
  for (char c : word)
    text += c == '\'' ? std::string("'\\''") : std::string(1, c == '\n' ? ' ' : c);
  return text + "'";
}

/// The first lines of a reproducer say which command has failed, and which one fails alike.
static void nameCommands(const std::string &file, llvm::ArrayRef<char *> words) {
  static constexpr llvm::StringLiteral kHead = "// This failed: ";
  auto content = llvm::MemoryBuffer::getFile(file);
  if (!content || (*content)->getBuffer().starts_with(kHead))
    return;
  std::string text = (*content)->getBuffer().str();
  std::error_code error;
  llvm::raw_fd_ostream os(file, error);
  if (error)
    return;
  std::string again = "xtensor-opt --run-reproducer " + quoted(file);
  os << kHead << "xtensor-opt";
  for (const char *word : words.drop_front())
    os << ' ' << quoted(word);
  os << "\n// To run it again: " << again << '\n' << text;
  llvm::errs() << "to run what failed again: " << again << '\n';
}

int main(int argc, char **argv) {
  mlir::registerAllPasses();
  xtensor::registerAllXTensorPasses();
  mlir::DialectRegistry registry;
  mlir::registerAllDialects(registry);
  mlir::registerAllExtensions(registry);
  mlir::registerAllToLLVMIRTranslations(registry);
  xtensor::registerAllXTensorDialects(registry);
  std::vector<std::string> words = withPhases(argc, argv);
  std::vector<char *> pointers;
  for (std::string &word : words)
    pointers.push_back(word.data());
  llvm::LogicalResult result =
      mlir::MlirOptMain(static_cast<int>(pointers.size()), pointers.data(), help(), registry);
  if (std::string file = reproducerOf(words); failed(result) && !file.empty())
    nameCommands(file, {argv, argv + argc});
  return mlir::asMainReturnCode(result);
}
