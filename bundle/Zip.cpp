#include "Zip.h"

#include <array>
#include <cstdint>
#include <set>

using namespace xtensor::bundle;

namespace {

constexpr uint32_t kLocal = 0x04034b50, kCentral = 0x02014b50, kEnd = 0x06054b50;
constexpr size_t kLocalBytes = 30, kCentralBytes = 46, kEndBytes = 22;
constexpr size_t kMostMembers = 4096, kLongestName = 255;
// Midnight of the first day that a zip can tell: what is written when is nobody's business.
constexpr uint16_t kVersion = 20, kTime = 0, kDate = 0x21;

using Tables = std::array<std::array<uint32_t, 256>, 8>;

constexpr Tables makeTables() {
  Tables t{};
  for (uint32_t i = 0; i < 256; ++i) {
    uint32_t c = i;
    for (int bit = 0; bit < 8; ++bit)
      c = c & 1 ? 0xedb88320u ^ c >> 1 : c >> 1;
    t[0][i] = c;
  }
  for (uint32_t i = 0; i < 256; ++i)
    for (int k = 1; k < 8; ++k)
      t[k][i] = t[k - 1][i] >> 8 ^ t[0][t[k - 1][i] & 255];
  return t;
}

/// Eight bytes at a time, by as many tables.
uint32_t crc32(std::string_view bytes) {
  static constexpr Tables t = makeTables();
  uint32_t c = ~0u;
  auto *p = reinterpret_cast<const unsigned char *>(bytes.data());
  size_t left = bytes.size();
  for (; left >= 8; p += 8, left -= 8)
    c = t[7][(c ^ p[0]) & 255] ^ t[6][(c >> 8 ^ p[1]) & 255] ^ t[5][(c >> 16 ^ p[2]) & 255] ^
        t[4][(c >> 24 ^ p[3]) & 255] ^ t[3][p[4]] ^ t[2][p[5]] ^ t[1][p[6]] ^ t[0][p[7]];
  for (; left; ++p, --left)
    c = t[0][(c ^ *p) & 255] ^ c >> 8;
  return ~c;
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
  for (const Member &m : members) {
    if (!isSafeName(m.name)) {
      error = "a member cannot be called '" + m.name + "'";
      return "";
    }
    if (m.data.size() >= 0xffffffffu || file.size() + m.data.size() >= 0xfffff000u) {
      error = "a bundle holds 4 GiB at most: pass large weights as arguments";
      return "";
    }
    std::string shared = description(m, crc32(m.data));
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

bool xtensor::bundle::readZip(std::string_view file, std::vector<Member> &members,
                              std::string &error) {
  members.clear();
  auto refuse = [&](std::string why) {
    error = std::move(why);
    members.clear();
    return false;
  };
  if (file.size() < kEndBytes)
    return refuse("it is no zip: too short");
  size_t end = file.size() - kEndBytes;
  if (get(file, end, 4) != kEnd)
    return refuse(get(file, 0, 4) == kLocal
                      ? "the directory at its end is missing: it was cut off or added to"
                      : "it is no zip");
  uint64_t count = get(file, end + 10, 2), bytes = get(file, end + 12, 4),
           at = get(file, end + 16, 4);
  if (get(file, end + 4, 4) || get(file, end + 8, 2) != count || get(file, end + 20, 2) ||
      count > kMostMembers || at + bytes != end)
    return refuse("the zip's directory does not add up");
  std::set<std::string_view> names;
  uint64_t next = 0, directory = at; // where the next member must begin
  for (uint64_t i = 0; i < count; ++i) {
    if (end - at < kCentralBytes || get(file, at, 4) != kCentral)
      return refuse("the zip's directory does not add up");
    uint64_t method = get(file, at + 10, 2), crc = get(file, at + 16, 4),
             stored = get(file, at + 20, 4), size = get(file, at + 24, 4),
             length = get(file, at + 28, 2), local = get(file, at + 42, 4);
    if (end - at - kCentralBytes < length)
      return refuse("the zip's directory does not add up");
    std::string_view name = file.substr(at + kCentralBytes, length);
    if (!isSafeName(name) || !names.insert(name).second)
      return refuse("a member's name leads out of the bundle, or is there twice");
    if (method != 0)
      return refuse("member " + std::string(name) +
                    " is compressed: members of a bundle are stored as they are");
    // A link, a folder or a file of another disk is what unzip makes of these.
    if (get(file, at + 4, 2) != kVersion || get(file, at + 34, 2) || get(file, at + 36, 2) ||
        get(file, at + 38, 4))
      return refuse("member " + std::string(name) +
                    " is no plain file: its version, disk or attributes are not what is written");
    if (get(file, at + 30, 2) || get(file, at + 32, 2) || stored != size || local != next ||
        directory - next < kLocalBytes + length || directory - next - kLocalBytes - length < size)
      return refuse("member " + std::string(name) + " is not where the zip's directory says");
    if (get(file, next, 4) != kLocal ||
        file.substr(next + 4, kLocalBytes - 4) != file.substr(at + 6, kLocalBytes - 4) ||
        file.substr(next + kLocalBytes, length) != name)
      return refuse("member " + std::string(name) + " is not what the zip's directory says");
    std::string_view data = file.substr(next + kLocalBytes + length, size);
    if (crc32(data) != crc)
      return refuse("member " + std::string(name) + " is damaged: its checksum is another one");
    members.push_back({std::string(name), data});
    next += kLocalBytes + length + size;
    at += kCentralBytes + length;
  }
  if (at != end || next != directory)
    return refuse("there is something between the zip's members");
  return true;
}
