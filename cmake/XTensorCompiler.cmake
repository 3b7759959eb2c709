# MLIR knows traits and interfaces by the names that a compiler prints for their classes, and Clang
# and GCC print them differently: what is built with the other one loads, and finds no op's traits.
# Asks a library that is not known to be Clang's, as Debian's is.
if(NOT (CMAKE_CXX_COMPILER_ID STREQUAL "Clang" AND MLIR_DIR MATCHES "^${CMAKE_SYSROOT}/usr/lib/llvm-"))
  include(CheckCXXSourceRuns)
  include(CMakePushCheckState)
  cmake_push_check_state()
  set(CMAKE_REQUIRED_INCLUDES ${LLVM_INCLUDE_DIRS} ${MLIR_INCLUDE_DIRS})
  set(CMAKE_REQUIRED_FLAGS "-std=c++17 -fno-rtti -fvisibility=hidden")
  set(CMAKE_REQUIRED_LIBRARIES MLIR LLVM)
  check_cxx_source_runs("
    #include <mlir/IR/BuiltinOps.h>
    #include <mlir/IR/MLIRContext.h>
    int main() {
      mlir::MLIRContext context;
      mlir::OperationName name(\"builtin.module\", &context);
      return name.hasTrait<mlir::OpTrait::SymbolTable>() ? 0 : 1;
    }" XTENSOR_SAME_TYPE_NAMES)
  cmake_pop_check_state()
  if(NOT XTENSOR_SAME_TYPE_NAMES)
    message(FATAL_ERROR
      "What ${CMAKE_CXX_COMPILER} builds does not work with this MLIR (${MLIR_DIR}), which another "
      "kind of compiler has built: types have other names there. With Clang: "
      "CC=clang-22 CXX=clang++-22 pip install .")
  endif()
endif()
