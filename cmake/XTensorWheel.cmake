# What a wheel holds in place of Debian's LLVM. Its libXTensorPythonCAPI.so has all of LLVM, MLIR and
# LLD that is used beside our compiler, and the tools' main functions. Only C functions leave it, so
# that another LLVM in the process is no concern of it. All else in a wheel is as in any build, whose
# objects and extensions are taken.
#
# Archives are named by file: Debian's targets of MLIR's archives ask for the shared libLLVM.

# Of LLVM's back ends, those that compiler/ and passes/NVVM name. (SPIR-V is written by MLIR.)
set(XTENSOR_BACK_ENDS X86 AArch64 RISCV NVPTX)

# What registers every back end (LLD, MLIR's targets) calls functions of each by name. Here they are
# empty functions for back ends that are not used, and for parsers of assembly, so that the linker
# takes nothing of them from the archives.
function(xtensor_write_left_out file)
  set(text "/* Written by cmake/XTensorWheel.cmake, which says why. */\n")
  foreach(back_end ${LLVM_TARGETS_TO_BUILD})
    set(kinds AsmParser Disassembler)
    if(NOT back_end IN_LIST XTENSOR_BACK_ENDS)
      list(APPEND kinds Target TargetInfo TargetMC AsmPrinter)
    endif()
    foreach(kind ${kinds})
      string(APPEND text "void LLVMInitialize${back_end}${kind}(void) {}\n")
    endforeach()
  endforeach()
  file(CONFIGURE OUTPUT ${file} CONTENT "${text}" @ONLY)
endfunction()

# xtensor_needed_libraries(OUT REGEX ROOT ..): the roots, and what they need in turn, of names that match.
function(xtensor_needed_libraries out regex)
  set(found ${ARGN})
  set(pending ${ARGN})
  while(pending)
    list(POP_FRONT pending library)
    get_target_property(needs ${library} INTERFACE_LINK_LIBRARIES)
    foreach(need ${needs})
      string(REGEX REPLACE "^\\$<LINK_ONLY:(.+)>$" "\\1" need "${need}")
      if(need MATCHES "${regex}" AND NOT need IN_LIST found)
        list(APPEND found ${need})
        list(APPEND pending ${need})
      endif()
    endforeach()
  endwhile()
  set(${out} ${found} PARENT_SCOPE)
endfunction()

# The target XTensorWheel: the library of C API archives `files`, and programs that call its tools.
function(xtensor_add_wheel files destination)
  find_library(XTENSOR_LLD_ELF lldELF PATHS ${LLVM_LIBRARY_DIR} NO_DEFAULT_PATH)
  find_library(XTENSOR_LLD_COMMON lldCommon PATHS ${LLVM_LIBRARY_DIR} NO_DEFAULT_PATH)
  find_library(XTENSOR_ZSTD libzstd.a)
  if(NOT XTENSOR_LLD_ELF OR NOT XTENSOR_LLD_COMMON OR NOT XTENSOR_ZSTD OR XTENSOR_SANITIZE)
    message(STATUS "Wheels: no (Debian: liblld-22-dev libzstd-dev)")
    return()
  endif()
  message(STATUS "Wheels: yes (target XTensorWheel)")
  find_package(Threads REQUIRED)
  find_package(ZLIB REQUIRED)
  set(left_out ${PROJECT_BINARY_DIR}/cmake/LeftOut.c)
  xtensor_write_left_out(${left_out})
  set(folder ${PROJECT_BINARY_DIR}/wheel)
  add_library(XTensorWheelCAPI SHARED EXCLUDE_FROM_ALL
    ${left_out} ${PROJECT_SOURCE_DIR}/cmake/StandIns.cpp)
  llvm_update_compile_flags(XTensorWheelCAPI)
  add_custom_target(XTensorWheel DEPENDS XTensorWheelCAPI)
  foreach(tool ${XTENSOR_TOOLS} ld.lld)
    string(MAKE_C_IDENTIFIER "${tool}_main" main)
    add_library(${tool}.main OBJECT EXCLUDE_FROM_ALL ${PROJECT_SOURCE_DIR}/tools/${tool}/${tool}.cpp)
    llvm_update_compile_flags(${tool}.main)
    target_compile_definitions(${tool}.main PRIVATE main=${main})
    set_target_properties(${tool}.main PROPERTIES CXX_VISIBILITY_PRESET default)
    add_dependencies(${tool}.main XTensorPipelines) # which has made the headers
    target_sources(XTensorWheelCAPI PRIVATE $<TARGET_OBJECTS:${tool}.main>)
    add_executable(${tool}.wheel EXCLUDE_FROM_ALL ${PROJECT_SOURCE_DIR}/tools/wheel/tool.cpp)
    target_compile_definitions(${tool}.wheel PRIVATE XTENSOR_TOOL_MAIN=${main})
    target_link_libraries(${tool}.wheel PRIVATE XTensorWheelCAPI)
    set_target_properties(${tool}.wheel PROPERTIES OUTPUT_NAME ${tool}
      RUNTIME_OUTPUT_DIRECTORY ${folder} INSTALL_RPATH "$ORIGIN/../mlir/_mlir_libs")
    install(TARGETS ${tool}.wheel COMPONENT XTensorWheel RUNTIME DESTINATION xtensor/bin)
    add_dependencies(XTensorWheel ${tool}.wheel)
  endforeach()
  xtensor_needed_libraries(ours "^(XTensor|xtensor_(aot|bundle)$)" XTensorCompiler)
  add_dependencies(XTensorWheelCAPI ${ours})
  list(TRANSFORM ours REPLACE "(.+)" "$<TARGET_FILE:\\1>" OUTPUT_VARIABLE our_files)
  file(GLOB archives ${LLVM_LIBRARY_DIR}/libMLIR*.a ${LLVM_LIBRARY_DIR}/libLLVM*.a)
  list(FILTER archives EXCLUDE REGEX "Test|/libMLIRCAPI")
  target_link_options(XTensorWheelCAPI PRIVATE
    ${XTENSOR_EXPORTS} -Wl,-Bsymbolic -Wl,--gc-sections -Wl,--icf=all -Wl,-O2 -Wl,-z,defs -Wl,--build-id
    -Wl,--whole-archive ${files} $<TARGET_FILE:XTensorCompiler> -Wl,--no-whole-archive)
  target_link_libraries(XTensorWheelCAPI PRIVATE ${our_files} ${archives} ${XTENSOR_LLD_ELF}
    ${XTENSOR_LLD_COMMON} ${XTENSOR_ZSTD} ZLIB::ZLIB xtensor_runtime Threads::Threads ${CMAKE_DL_LIBS})
  set_target_properties(XTensorWheelCAPI PROPERTIES OUTPUT_NAME XTensorPythonCAPI
    LIBRARY_OUTPUT_DIRECTORY ${folder} INSTALL_RPATH "$ORIGIN;$ORIGIN/../..")
  install(TARGETS XTensorWheelCAPI COMPONENT XTensorWheel LIBRARY DESTINATION ${destination})
  # It is loaded by name, by passes/Metal, and found beside the library that holds them.
  find_library(XTENSOR_SPIRV_CROSS libspirv-cross-c-shared.so.0)
  if(XTENSOR_SPIRV_CROSS)
    file(REAL_PATH ${XTENSOR_SPIRV_CROSS} real)
    install(FILES ${real} COMPONENT XTensorWheel DESTINATION ${destination}
      RENAME libspirv-cross-c-shared.so.0)
  endif()
endfunction()
