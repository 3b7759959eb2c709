// xtensor-opt: mlir-opt with this project's dialect, passes and phases.
#include "Pipelines.h"
#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/InitAllPasses.h"
#include "mlir/Target/LLVMIR/Dialect/All.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"

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
  return mlir::asMainReturnCode(
      mlir::MlirOptMain(static_cast<int>(pointers.size()), pointers.data(), help(), registry));
}
