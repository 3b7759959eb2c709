# MLIR's C API and ours, with our compiler, as one shared library for the Python extensions.
#
# Debian's libMLIR.so holds no C API and its MLIR comes without aggregate objects, so that upstream's
# add_mlir_python_common_capi_library() cannot work. The libMLIRCAPI*.a archives are
# position-independent: they are embedded whole into one library that links the shared libMLIR.
# Archives are named by file, never by target: a target's link interface would pull in static
# copies of MLIR, and with them a second set of type ids.
set(XTENSOR_EXPORTS -Wl,--version-script=${PROJECT_SOURCE_DIR}/cmake/exports.map)

function(xtensor_add_python_capi name)
  cmake_parse_arguments(ARG "" "INSTALL_DESTINATION;OUTPUT_DIRECTORY"
    "DECLARED_SOURCES" ${ARGN})
  if(TARGET ${name}) # taken from another build
    return()
  endif()
  set(archives)
  _flatten_mlir_python_targets(flat ${ARG_DECLARED_SOURCES})
  foreach(target ${flat})
    get_target_property(libs ${target} mlir_python_EMBED_CAPI_LINK_LIBS)
    if(libs)
      list(APPEND archives ${libs})
    endif()
  endforeach()
  list(REMOVE_DUPLICATES archives)
  # C API archives call each other: close over that.
  xtensor_needed_libraries(archives "^MLIRCAPI" ${archives})
  list(FILTER archives INCLUDE REGEX "^MLIRCAPI")
  set(files)
  foreach(archive ${archives})
    list(APPEND files $<TARGET_FILE:${archive}>)
  endforeach()
  add_library(${name} SHARED ${PROJECT_SOURCE_DIR}/cmake/empty.cpp)
  target_link_options(${name} PRIVATE ${XTENSOR_EXPORTS}
    "-Wl,--whole-archive" ${files} $<TARGET_FILE:XTensorCompiler> "-Wl,--no-whole-archive" "-Wl,-z,defs")
  add_dependencies(${name} XTensorCompiler)
  target_link_libraries(${name} PRIVATE XTensorCompiler MLIR LLVM)
  set_target_properties(${name} PROPERTIES LIBRARY_OUTPUT_DIRECTORY "${ARG_OUTPUT_DIRECTORY}")
  mlir_python_setup_extension_rpath(${name})
  set_property(TARGET ${name} APPEND PROPERTY INSTALL_RPATH "$ORIGIN/../..;${LLVM_LIBRARY_DIR}")
  install(TARGETS ${name} COMPONENT XTensorShared LIBRARY DESTINATION "${ARG_INSTALL_DESTINATION}")
  xtensor_add_wheel("${files}" "${ARG_INSTALL_DESTINATION}")
endfunction()
