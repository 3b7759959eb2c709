// The bitcode of the C part of a library, which the compiler contains.
#pragma once

#include <string_view>

namespace xtensor::aot {

/// Bitcode of library_own.c or library_blas.c for an architecture ("x86_64"); empty for an unknown
/// one.
std::string_view bitcode(std::string_view architecture, bool blas);
/// public.h
std::string_view publicHeader();

} // namespace xtensor::aot
