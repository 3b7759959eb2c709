#include "compiler/ObjectCache.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/BLAKE3.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"
#include <chrono>
#include <vector>

using namespace llvm;

// A file is this word, the hash of its key and of what follows, and the object. With the key: a
// file that has another one's place is not taken for it.
static constexpr StringLiteral kMagic = "xtobj2\n\n";

static std::string digest(StringRef key, StringRef bytes) {
  BLAKE3 hasher;
  hasher.update(key);
  hasher.update(bytes);
  auto hash = hasher.final<32>();
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
      bytes.take_front(32) != digest(key, bytes.drop_front(32)))
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
    os << kMagic << digest(key, object) << object;
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
  if (isDue(kMagic.size() + 32 + object.size()))
    trim();
}

bool xtensor::ObjectCache::isDue(uint64_t size) const {
  // Listing a folder of thousands of files takes longer than writing one. What all processes wrote
  // since one of them did is the length of a file: a byte for each 256, with no lock.
  constexpr uint64_t unit = 256;
  SmallString<128> grown(folder);
  sys::path::append(grown, "grown");
  int fd;
  sys::fs::file_status status; // to open a pipe would wait for its reader
  if (!sys::fs::status(grown, status) && status.type() != sys::fs::file_type::regular_file)
    return false;
  if (sys::fs::openFileForWrite(grown, fd, sys::fs::CD_OpenAlways, sys::fs::OF_Append))
    return false;
  {
    raw_fd_ostream os(fd, /*shouldClose=*/true);
    os << std::string(divideCeil(size, unit), '.');
    os.close();
    os.clear_error();
  }
  uint64_t length;
  if (sys::fs::file_size(grown, length) || length * unit <= limit / 16)
    return false;
  // Of those that see it, the one that removes it lists.
  return !sys::fs::remove(grown, /*IgnoreNonExisting=*/false);
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

xtensor::ObjectsInMemory &xtensor::ObjectsInMemory::get() {
  static auto *made = new ObjectsInMemory; // programs are compiled while the process exits, too
  return *made;
}

std::unique_ptr<MemoryBuffer> xtensor::ObjectsInMemory::find(StringRef key) {
  std::lock_guard<std::mutex> guard(lock);
  auto found = objects.find(key);
  return found == objects.end() ? nullptr
                                : MemoryBuffer::getMemBufferCopy(found->second, found->first());
}

void xtensor::ObjectsInMemory::store(StringRef key, StringRef object) {
  constexpr uint64_t most = uint64_t(64) << 20;
  std::lock_guard<std::mutex> guard(lock);
  if (object.size() > most || !objects.try_emplace(key, object.str()).second)
    return;
  order.push_back(key.str());
  for (size += object.size(); size > most; order.pop_front()) {
    auto oldest = objects.find(order.front());
    size -= oldest->second.size();
    objects.erase(oldest);
  }
}
