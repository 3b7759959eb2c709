#include "compiler/Linker.h"

#include "llvm/Object/ArchiveWriter.h"
#include "llvm/Object/ELFObjectFile.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/raw_ostream.h"
#include <dlfcn.h>

using namespace llvm;
using namespace xtensor;

/// The one that wheels bring along (cmake/XTensorWheel.cmake): this code is in
/// xtensor/mlir/_mlir_libs then, and the program in xtensor/bin.
static std::string ownLinker() {
  Dl_info self;
  if (!dladdr(reinterpret_cast<void *>(&ownLinker), &self))
    return "";
  SmallString<128> path(sys::path::parent_path(self.dli_fname));
  sys::path::append(path, "..", "..", "bin", "ld.lld");
  return sys::fs::can_execute(path) ? std::string(path) : "";
}

static std::string linkerPath() {
  if (std::string own = ownLinker(); !own.empty())
    return own;
  for (const char *name : {"ld.lld-22", "ld.lld"}) {
    if (auto found = sys::findProgramByName(name))
      return *found;
    if (auto found = sys::findProgramByName(name, {XTENSOR_LLVM_TOOLS}))
      return *found;
  }
  return "";
}

SharedLinker::SharedLinker(StringRef object, StringRef empty) : object(object.str()) {
  if (std::error_code error = sys::fs::createUniqueDirectory("xtensor", folder)) {
    message = "no temporary folder can be made: " + error.message();
    return;
  }
  write("code.o", object) && write("empty.o", empty);
}

SharedLinker::~SharedLinker() {
  if (!folder.empty())
    sys::fs::remove_directories(folder);
}

std::string SharedLinker::at(StringRef name) const {
  SmallString<128> path(folder);
  sys::path::append(path, name);
  return std::string(path);
}

bool SharedLinker::write(StringRef name, StringRef bytes) {
  std::error_code error;
  raw_fd_ostream os(at(name), error);
  os << bytes;
  os.close();
  if (!error)
    error = os.error();
  os.clear_error();
  if (error)
    message = "a temporary file cannot be written: " + error.message();
  return !error;
}

bool SharedLinker::run(ArrayRef<std::string> arguments) {
  static const std::string linker = linkerPath();
  if (linker.empty()) {
    message = "the linker ld.lld is not there (Debian: lld-22): shared libraries cannot be made";
    return false;
  }
  SmallVector<StringRef> words = {"ld.lld", "-shared", "--build-id=none", "--hash-style=gnu",
                                  "--gc-sections", "--strip-all", "-z", "max-page-size=4096", "-z",
                                  "noseparate-code", "--no-as-needed",
                                  // What is not bound at once is bound in the middle of a call.
                                  "-z", "now"};
  words.append(arguments.begin(), arguments.end());
  std::string log = at("log");
  int status =
      sys::ExecuteAndWait(linker, words, std::nullopt, {"", StringRef(log), StringRef(log)});
  if (status == 0)
    return true;
  message = "ld.lld failed";
  if (auto text = MemoryBuffer::getFile(log))
    message += ": " + (*text)->getBuffer().str();
  return false;
}

std::optional<std::string> SharedLinker::stub(const std::string &name) {
  std::string path = at(name);
  if (sys::fs::exists(path) || run({"-soname", name, "-o", path, at("empty.o")}))
    return path;
  return std::nullopt;
}

std::optional<std::string> SharedLinker::link(const std::string &name,
                                              ArrayRef<std::string> symbols,
                                              ArrayRef<std::string> needed) {
  if (!message.empty())
    return std::nullopt;
  std::string script = "{ global:";
  for (const std::string &symbol : symbols)
    script += " " + symbol + ";";
  if (!write("symbols", script + " local: *; };\n"))
    return std::nullopt;
  std::string out = at("out-" + name);
  std::vector<std::string> arguments = {"-soname", name, "--version-script=" + at("symbols"),
                                        "-o",      out,  at("code.o")};
  std::vector<std::string> libraries(needed.begin(), needed.end());
  libraries.push_back("libm.so.6");
  if (StringRef(object).contains("_ZGV"))
    libraries.push_back("libmvec.so.1");
  libraries.push_back("libc.so.6");
  for (const std::string &library : libraries) {
    std::optional<std::string> path = stub(library);
    if (!path)
      return std::nullopt;
    arguments.push_back(*path);
  }
  if (!run(arguments))
    return std::nullopt;
  auto file = MemoryBuffer::getFile(out);
  if (!file) {
    message = "what ld.lld wrote cannot be read: " + file.getError().message();
    return std::nullopt;
  }
  return (*file)->getBuffer().str();
}

StringMap<size_t> xtensor::placesOf(StringRef object, StringRef prefix) {
  StringMap<size_t> places;
  auto file = expectedToOptional(
      object::ObjectFile::createObjectFile(MemoryBufferRef(object, "the library")));
  if (!file)
    return places;
  for (const object::SymbolRef &symbol : (*file)->symbols()) {
    auto name = expectedToOptional(symbol.getName());
    auto section = expectedToOptional(symbol.getSection());
    if (!name || !name->starts_with(prefix) || !section || *section == (*file)->section_end())
      continue;
    auto bytes = expectedToOptional((*section)->getContents());
    auto offset = expectedToOptional(symbol.getValue());
    if (bytes && offset)
      places[*name] = bytes->data() - object.data() + *offset;
  }
  return places;
}

std::optional<std::string> xtensor::archiveOf(StringRef object, const std::string &name,
                                              SharedLinker &linker) {
  NewArchiveMember member(MemoryBufferRef(object, name));
  std::vector<NewArchiveMember> members;
  members.push_back(std::move(member));
  auto archive = writeArchiveToBuffer(members, SymtabWritingMode::NormalSymtab,
                                      object::Archive::K_GNU, /*Deterministic=*/true,
                                      /*Thin=*/false);
  if (archive)
    return (*archive)->getBuffer().str();
  linker.fail("an archive cannot be made: " + toString(archive.takeError()));
  return std::nullopt;
}
