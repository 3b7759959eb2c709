// Loads the compiler's shared libraries while Python is still importing.
#ifndef XTENSOR_NATIVE_PRELOAD_H
#define XTENSOR_NATIVE_PRELOAD_H

namespace xtensor {

/// Starts to load the extension that holds the compiler, if it is installed beside this one, and
/// to compile a small program (compiler/WarmUp.h), on a thread of its own. Its libraries take tens
/// of milliseconds to relocate, which the first trace would wait for.
void startLoadingCompiler();

} // namespace xtensor

#endif // XTENSOR_NATIVE_PRELOAD_H
