// The container of a bundle: a zip whose members are stored one behind the other, without
// compression, so that a reader knows every byte's place before it trusts any number, and so that
// equal members are equal files. Any unzip reads it. Writer and reader are here and nowhere else.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace xtensor::bundle {

struct Member {
  std::string name;
  std::string_view data;
};

/// Folders, letters, digits and `._-`: nothing that leads out of a folder.
bool isSafeName(std::string_view name);

/// The file; empty, with `error` set, where a zip cannot hold the members.
std::string writeZip(const std::vector<Member> &members, std::string &error);
/// The members of `file`, which they refer to. False, with `error` set, for what `writeZip` does
/// not write: whatever is compressed, overlaps, leaves gaps, or does not have its checksum.
bool readZip(std::string_view file, std::vector<Member> &members, std::string &error);

} // namespace xtensor::bundle
