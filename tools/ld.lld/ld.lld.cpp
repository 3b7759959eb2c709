// ld.lld: the linker of the libraries in bundles, for wheels, which hold LLVM themselves.
#include "lld/Common/Driver.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/raw_ostream.h"

LLD_HAS_DRIVER(elf)

int main(int argc, char **argv) {
  llvm::SmallVector<const char *> words(argv, argv + argc);
  return lld::lldMain(words, llvm::outs(), llvm::errs(), {{lld::Gnu, &lld::elf::link}}).retCode;
}
