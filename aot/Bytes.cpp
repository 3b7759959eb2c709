#include "Bytes.h"

#include <string>

// clang-format off
#define BYTES(name, path)                                                                          \
  asm(".section .rodata\n"                                                                         \
      ".global xtensor_bytes_" #name "\n"                                                          \
      ".hidden xtensor_bytes_" #name "\n"                                                          \
      ".balign 16\n"                                                                               \
      "xtensor_bytes_" #name ":\n"                                                                 \
      ".incbin \"" path "\"\n"                                                                     \
      ".global xtensor_bytes_end_" #name "\n"                                                      \
      ".hidden xtensor_bytes_end_" #name "\n"                                                      \
      "xtensor_bytes_end_" #name ":\n"                                                             \
      ".text\n");                                                                                  \
  extern "C" __attribute__((visibility("hidden"))) const char xtensor_bytes_##name[];              \
  extern "C" __attribute__((visibility("hidden"))) const char xtensor_bytes_end_##name[];          \
  static std::string_view name() {                                                                 \
    return {xtensor_bytes_##name, size_t(xtensor_bytes_end_##name - xtensor_bytes_##name)};        \
  }
// clang-format on

BYTES(x86_64_own, XTENSOR_AOT_BITCODE "x86_64_own.bc")
BYTES(x86_64_blas, XTENSOR_AOT_BITCODE "x86_64_blas.bc")
BYTES(aarch64_own, XTENSOR_AOT_BITCODE "aarch64_own.bc")
BYTES(aarch64_blas, XTENSOR_AOT_BITCODE "aarch64_blas.bc")
BYTES(riscv64_own, XTENSOR_AOT_BITCODE "riscv64_own.bc")
BYTES(riscv64_blas, XTENSOR_AOT_BITCODE "riscv64_blas.bc")
BYTES(public_header, XTENSOR_AOT_SOURCE "public.h")

std::string_view xtensor::aot::bitcode(std::string_view architecture, bool blas) {
  if (architecture == "x86_64")
    return blas ? x86_64_blas() : x86_64_own();
  if (architecture == "aarch64")
    return blas ? aarch64_blas() : aarch64_own();
  if (architecture == "riscv64")
    return blas ? riscv64_blas() : riscv64_own();
  return {};
}

std::string_view xtensor::aot::publicHeader() { return public_header(); }
