# lit's configuration: every .mlir under test/ is a test, run with the xtensor-opt of this build.
import ctypes.util
import os
import platform
import sys

import lit.formats

config.name = "xtensor"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir"]
config.excludes = ["python"]
config.test_source_root = os.path.dirname(__file__)
root = os.path.dirname(config.test_source_root)
build = os.environ.get("XTENSOR_BUILD", os.path.join(root, "build", "Release"))
config.test_exec_root = os.path.join(build, "test")
os.makedirs(config.test_exec_root, exist_ok=True)
llvm = os.environ.get("XTENSOR_LLVM_BIN", "/usr/lib/llvm-22/bin")
config.environment["PATH"] = os.pathsep.join([os.path.join(build, "bin"), llvm, os.environ.get("PATH", "")])
# How loops are grouped depends on the caches of the machine; the texts in the tests are of these.
config.environment["XTENSOR_CACHES"] = "32768,524288"
for name in ("LD_PRELOAD", "ASAN_OPTIONS", "UBSAN_OPTIONS", "PYTHONPATH"):
    if name in os.environ:
        config.environment[name] = os.environ[name]
config.available_features.add(platform.machine())
if ctypes.util.find_library("spirv-cross-c-shared"):
    config.available_features.add("spirv-cross")
else:
    lit_config.note("no SPIRV-Cross here (Debian: libspirv-cross-c-shared0): kernels for Metal are not tested")
config.substitutions.append(("%python", sys.executable))
