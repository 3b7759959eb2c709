#include "Zip.h"

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <set>
#include <unistd.h>
#include <zlib.h>

using namespace xtensor::bundle;

namespace {

constexpr uint32_t kLocal = 0x04034b50, kCentral = 0x02014b50, kEnd = 0x06054b50;
constexpr size_t kLocalBytes = 30, kCentralBytes = 46, kEndBytes = 22;
constexpr size_t kMostMembers = 4096, kLongestName = 255;
// Midnight of the first day that a zip can represent, so that a bundle does not depend on the time.
constexpr uint16_t kVersion = 20, kTime = 0, kDate = 0x21;

/// `before`: the checksum of what stands before.
uint32_t checksum(std::string_view bytes, uint32_t before = 0) {
  return static_cast<uint32_t>(
      crc32_z(before, reinterpret_cast<const unsigned char *>(bytes.data()), bytes.size()));
}

void put(std::string &out, uint64_t value, int bytes) {
  for (int i = 0; i < bytes; ++i)
    out += static_cast<char>(value >> (8 * i));
}

uint64_t get(std::string_view file, size_t at, int bytes) {
  uint64_t value = 0;
  for (int i = 0; i < bytes; ++i)
    value |= uint64_t(static_cast<unsigned char>(file[at + i])) << (8 * i);
  return value;
}

/// The fields that a local header and the directory have in common, up to the length of the name.
std::string description(const Member &m, uint32_t crc) {
  std::string out;
  put(out, kVersion, 2);
  put(out, 0, 2); // flags
  put(out, 0, 2); // stored
  put(out, kTime, 2);
  put(out, kDate, 2);
  put(out, crc, 4);
  put(out, m.data.size(), 4);
  put(out, m.data.size(), 4);
  put(out, m.name.size(), 2);
  put(out, 0, 2); // extra
  return out;
}

} // namespace

bool xtensor::bundle::isSafeName(std::string_view name) {
  if (name.empty() || name.size() > kLongestName)
    return false;
  size_t begin = 0;
  while (true) {
    size_t end = name.find('/', begin);
    std::string_view part = name.substr(begin, end == name.npos ? end : end - begin);
    if (part.empty() || part == "." || part == "..")
      return false;
    for (char c : part)
      if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
            c == '.' || c == '_' || c == '-'))
        return false;
    if (end == name.npos)
      return true;
    begin = end + 1;
  }
}

std::string xtensor::bundle::writeZip(const std::vector<Member> &members, std::string &error) {
  std::string file, directory;
  if (members.size() > kMostMembers) {
    error = "no bundle can be made of " + std::to_string(members.size()) +
            " members: " + std::to_string(kMostMembers) +
            " at most. Pass weights as arguments, or join them";
    return "";
  }
  for (const Member &m : members) {
    if (!isSafeName(m.name)) {
      error = "a member cannot be called '" + m.name + "'";
      return "";
    }
    if (m.data.size() >= 0xffffffffu || file.size() + m.data.size() >= 0xfffff000u) {
      error = "no bundle can be made of more than 4 GiB: pass large weights as arguments";
      return "";
    }
    std::string shared = description(m, checksum(m.data));
    put(directory, kCentral, 4);
    put(directory, kVersion, 2);
    directory += shared;
    put(directory, 0, 2); // comment
    put(directory, 0, 2); // disk
    put(directory, 0, 2); // internal attributes
    put(directory, 0, 4); // external attributes
    put(directory, file.size(), 4);
    directory += m.name;
    put(file, kLocal, 4);
    file += shared;
    file += m.name;
    file += m.data;
  }
  size_t start = file.size();
  file += directory;
  put(file, kEnd, 4);
  put(file, 0, 4); // disks
  put(file, members.size(), 2);
  put(file, members.size(), 2);
  put(file, directory.size(), 4);
  put(file, start, 4);
  put(file, 0, 2); // comment
  return file;
}

std::string_view xtensor::bundle::Source::read(uint64_t at, uint64_t n, std::string &room) const {
  if (descriptor < 0)
    return at <= memory.size() ? memory.substr(at, n) : std::string_view();
  room.resize(n);
  size_t done = 0;
  while (done < n) {
    ssize_t got = pread(descriptor, room.data() + done, n - done, static_cast<off_t>(at + done));
    if (got < 0 && errno == EINTR)
      continue;
    if (got <= 0)
      break;
    done += got;
  }
  return std::string_view(room).substr(0, done);
}

bool xtensor::bundle::readZip(const Source &file, std::vector<Place> &places, std::string &error) {
  places.clear();
  auto refuse = [&](std::string why) {
    error = std::move(why);
    places.clear();
    return false;
  };
  if (file.size() < kEndBytes)
    return refuse("it is not a zip file: too short");
  uint64_t end = file.size() - kEndBytes;
  std::string room, other;
  std::string_view last = file.read(end, kEndBytes, room);
  if (last.size() != kEndBytes || get(last, 0, 4) != kEnd) {
    std::string_view first = file.read(0, 4, other);
    return refuse(first.size() == 4 && get(first, 0, 4) == kLocal
                      ? "the directory at its end is missing: it was cut off or added to"
                      : "it is not a zip file");
  }
  uint64_t count = get(last, 10, 2), bytes = get(last, 12, 4), directory = get(last, 16, 4);
  if (get(last, 4, 4) || get(last, 8, 2) != count || get(last, 20, 2) || count > kMostMembers ||
      directory + bytes != end || bytes > count * (kCentralBytes + kLongestName))
    return refuse("the zip's directory does not add up");
  std::string_view listed = file.read(directory, bytes, room);
  if (listed.size() != bytes)
    return refuse("it was cut off while it was read");
  std::set<std::string_view> names;
  uint64_t next = 0, at = 0; // where the next member must begin, and what tells of it
  for (uint64_t i = 0; i < count; ++i) {
    if (bytes - at < kCentralBytes || get(listed, at, 4) != kCentral)
      return refuse("the zip's directory does not add up");
    uint64_t method = get(listed, at + 10, 2), crc = get(listed, at + 16, 4),
             stored = get(listed, at + 20, 4), size = get(listed, at + 24, 4),
             length = get(listed, at + 28, 2), local = get(listed, at + 42, 4);
    if (bytes - at - kCentralBytes < length)
      return refuse("the zip's directory does not add up");
    std::string_view name = listed.substr(at + kCentralBytes, length);
    if (!isSafeName(name) || !names.insert(name).second)
      return refuse("a member's name leads out of the bundle, or is there twice");
    if (method != 0)
      return refuse("member " + std::string(name) +
                    " is compressed: members of a bundle are stored as they are");
    // A link, a folder, a file of another disk or one with a key is what unzip makes of these.
    if (get(listed, at + 4, 2) != kVersion || get(listed, at + 6, 2) != kVersion ||
        get(listed, at + 8, 2) || get(listed, at + 12, 2) != kTime ||
        get(listed, at + 14, 2) != kDate || get(listed, at + 34, 2) || get(listed, at + 36, 2) ||
        get(listed, at + 38, 4))
      return refuse(
          "member " + std::string(name) +
          " is not a plain file: its version, flags, time, disk or attributes are not what "
          "is written");
    if (get(listed, at + 30, 2) || get(listed, at + 32, 2) || stored != size || local != next ||
        directory - next < kLocalBytes + length || directory - next - kLocalBytes - length < size)
      return refuse("member " + std::string(name) + " is not where the zip's directory says");
    std::string_view header = file.read(next, kLocalBytes + length, other);
    if (header.size() != kLocalBytes + length || get(header, 0, 4) != kLocal ||
        header.substr(4, kLocalBytes - 4) != listed.substr(at + 6, kLocalBytes - 4) ||
        header.substr(kLocalBytes) != name)
      return refuse("member " + std::string(name) + " is not what the zip's directory says");
    next += kLocalBytes + length;
    places.push_back({std::string(name), next, next + size, static_cast<uint32_t>(crc)});
    next += size;
    at += kCentralBytes + length;
  }
  if (at != bytes || next != directory)
    return refuse("there is something between the zip's members");
  return true;
}

bool xtensor::bundle::isWhole(const Source &file, const Place &place, std::string &error) {
  constexpr uint64_t kPiece = 1 << 20;
  uint32_t crc = 0;
  std::string room;
  for (uint64_t at = place.begin; at < place.end;) {
    std::string_view piece = file.read(at, std::min(kPiece, place.end - at), room);
    if (piece.empty())
      break;
    crc = checksum(piece, crc);
    at += piece.size();
  }
  if (crc == place.crc)
    return true;
  error = "member " + place.name + " is damaged: its checksum differs";
  return false;
}
