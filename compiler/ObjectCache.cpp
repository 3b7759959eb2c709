#include "compiler/ObjectCache.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/BLAKE3.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Support/xxhash.h"
#include <atomic>
#include <chrono>
#include <vector>

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
  // A pipe would wait for its writer, a device never end.
  sys::fs::file_status status;
  if (folder.empty() || sys::fs::status(path(key), status) ||
      status.type() != sys::fs::file_type::regular_file)
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
  if (sys::fs::rename(scratch, path(key))) {
    sys::fs::remove(scratch);
    return;
  }
  // Listing a folder of thousands of files takes longer than writing one: a process looks after
  // each 64th of the limit that it has written, and one process in sixteen after its first file.
  static std::atomic<uint64_t> written{0};
  static std::atomic<bool> first{true};
  uint64_t size = kMagic.size() + 32 + object.size();
  bool chosen = first.exchange(false) && xxh3_64bits(key) % 16 == 0;
  if (chosen || written.fetch_add(size) + size > limit / 64) {
    written = 0;
    trim();
  }
}

void xtensor::ObjectCache::trim() const {
  struct File {
    std::string path;
    uint64_t size;
    sys::TimePoint<> used;
  };
  std::vector<File> files;
  uint64_t total = 0;
  auto hourAgo = std::chrono::system_clock::now() - std::chrono::hours(1);
  std::error_code error;
  for (sys::fs::directory_iterator it(folder, error), end; !error && it != end;
       it.increment(error)) {
    StringRef name = sys::path::extension(it->path());
    sys::fs::file_status status;
    if ((name != ".o" && name != ".tmp") || sys::fs::status(it->path(), status))
      continue;
    // What a process that died left behind.
    if (name == ".tmp" && status.getLastModificationTime() < hourAgo)
      sys::fs::remove(it->path());
    if (name != ".o")
      continue;
    files.push_back({it->path(), status.getSize(),
                     std::max(status.getLastModificationTime(), status.getLastAccessedTime())});
    total += status.getSize();
  }
  if (total <= limit)
    return;
  llvm::sort(files, [](const File &a, const File &b) { return a.used < b.used; });
  for (const File &file : files) {
    if (total <= limit / 4 * 3)
      return;
    sys::fs::remove(file.path);
    total -= file.size;
  }
}
