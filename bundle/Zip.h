// The container of a bundle: a zip whose members are stored without compression, one after
// another. A reader knows the place of every byte before it trusts any number, and equal members
// give equal files. Any unzip program reads it. This file holds the only writer and the only
// reader.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace xtensor::bundle {

struct Member {
  std::string name;
  std::string_view data;
};

/// Where a member's bytes are in the file, and their checksum.
struct Place {
  std::string name;
  uint64_t begin, end;
  uint32_t crc;
};

/// The bytes of a bundle: in memory, or in a file of which only what is asked for is read.
class Source {
public:
  explicit Source(std::string_view bytes) : memory(bytes), bytes(bytes.size()) {}
  Source(int descriptor, uint64_t size) : descriptor(descriptor), bytes(size) {}

  uint64_t size() const { return bytes; }
  /// `n` bytes at `at`, which may lie in `room`. Fewer where a file ends before, or cannot be read.
  std::string_view read(uint64_t at, uint64_t n, std::string &room) const;

private:
  std::string_view memory;
  int descriptor = -1;
  uint64_t bytes;
};

/// Folders, letters, digits and `._-`: nothing that leads out of a folder.
bool isSafeName(std::string_view name);

/// The file; empty, with `error` set, where a zip cannot hold the members.
std::string writeZip(const std::vector<Member> &members, std::string &error);
/// Where the members are. False, with `error` set, for what `writeZip` does not write: whatever is
/// compressed, overlaps or leaves gaps. Does not read the members themselves.
bool readZip(const Source &file, std::vector<Place> &places, std::string &error);
/// Whether a member's bytes have the checksum that the zip has. False with `error` set.
bool isWhole(const Source &file, const Place &place, std::string &error);

} // namespace xtensor::bundle
