// Functions in one version per generation of vector instructions, chosen when the library is
// loaded.
#pragma once

#if defined(__x86_64__) && defined(__linux__) && defined(__clang__)
#define XT_CLONES __attribute__((target_clones("default", "arch=x86-64-v3", "arch=x86-64-v4")))
#else
#define XT_CLONES
#endif
/// What such functions call is compiled as a part of each version.
#define XT_INLINE inline __attribute__((always_inline))
