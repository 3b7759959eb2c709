#include "compiler/ObjectCache.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/BLAKE3.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

// A file is this word, the hash of what follows, and the object.
static constexpr StringLiteral kMagic = "xtobj1\n\n";

static std::string digest(StringRef bytes) {
  auto hash = BLAKE3::hash<32>(arrayRefFromStringRef(bytes));
  return std::string(hash.begin(), hash.end());
}

std::string xtensor::ObjectCache::path(StringRef key) const {
  SmallString<128> file(folder);
  sys::path::append(file, key + ".o");
  return std::string(file);
}

std::unique_ptr<MemoryBuffer> xtensor::ObjectCache::find(StringRef key) const {
  if (folder.empty())
    return nullptr;
  auto file = MemoryBuffer::getFile(path(key), /*IsText=*/false, /*RequiresNullTerminator=*/false);
  if (!file)
    return nullptr;
  StringRef bytes = (*file)->getBuffer();
  if (!bytes.consume_front(kMagic) || bytes.size() < 32 ||
      bytes.take_front(32) != digest(bytes.drop_front(32)))
    return nullptr;
  return MemoryBuffer::getMemBufferCopy(bytes.drop_front(32), key);
}

void xtensor::ObjectCache::store(StringRef key, StringRef object) const {
  if (folder.empty() || sys::fs::create_directories(folder))
    return;
  SmallString<128> scratch;
  int fd;
  if (sys::fs::createUniqueFile(Twine(folder) + "/write-%%%%%%%%.tmp", fd, scratch))
    return;
  {
    raw_fd_ostream os(fd, /*shouldClose=*/true);
    os << kMagic << digest(object) << object;
    os.close();
    if (os.has_error()) {
      os.clear_error();
      sys::fs::remove(scratch);
      return;
    }
  }
  if (sys::fs::rename(scratch, path(key)))
    sys::fs::remove(scratch);
}
