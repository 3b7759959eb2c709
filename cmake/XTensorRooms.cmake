# One line per room: a folder of passes with its Passes.td becomes the library XTensor<Room>.
#
#   xtensor_add_pass_library(Group SOURCES A.cpp B.cpp LINK XTensorSchedule MLIR MLIRLinalgTransforms)
function(xtensor_add_pass_library room)
  cmake_parse_arguments(ARG "" "" "SOURCES;LINK;MLIR" ${ARGN})
  set(LLVM_TARGET_DEFINITIONS Passes.td)
  mlir_tablegen(Passes.h.inc -gen-pass-decls -name ${room})
  add_public_tablegen_target(XTensor${room}IncGen)
  add_mlir_library(XTensor${room} ${ARG_SOURCES}
    EXCLUDE_FROM_LIBMLIR
    DISABLE_INSTALL
    DEPENDS XTensor${room}IncGen XTensorIncGen)
  target_link_libraries(XTensor${room} PUBLIC XTensorDialect XTensorEstimates ${ARG_LINK})
  mlir_target_link_libraries(XTensor${room} PUBLIC MLIRPass ${ARG_MLIR})
  xtensor_precompile(XTensor${room})
  xtensor_unite(XTensor${room})
endfunction()

# Compile eight sources of `library` as one, which takes half of the time: names of their own must
# differ. (A build that is changed often is faster without: preset dev.)
function(xtensor_unite library)
  if(XTENSOR_UNITY)
    set_target_properties(${library} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 8)
  endif()
endfunction()

# Parse a header once for all sources of `library`: MLIR's headers are most of the time that a source
# takes. Without a header, use the result of the dialect's library, which is cmake/Precompiled.h.
function(xtensor_precompile library)
  if(NOT XTENSOR_PRECOMPILE)
    return()
  endif()
  if(ARGN)
    target_precompile_headers(${library} PRIVATE ${ARGN})
  else()
    target_precompile_headers(${library} REUSE_FROM XTensorDialect)
  endif()
  if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
    # A time in the result would make every build a new one for ccache.
    target_compile_options(${library} PRIVATE "SHELL:-Xclang -fno-pch-timestamp")
  endif()
endfunction()
