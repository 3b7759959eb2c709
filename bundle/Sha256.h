// SHA-256 (FIPS 180-4): what the manifest of a bundle says about each member. Here and not from a
// library: a program that loads a bundle has neither LLVM nor OpenSSL.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace xtensor::bundle {

/// 64 lowercase hexadecimal digits.
std::string sha256(std::string_view bytes);

} // namespace xtensor::bundle
