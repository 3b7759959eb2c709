# The libraries of another build folder, XTENSOR_TAKE_FROM, that Python extensions link. They do not
# depend on Python: scripts/wheels.sh builds the extensions alone for each further Python.
find_package(ZLIB REQUIRED)

function(xtensor_take target kind file)
  if(NOT EXISTS ${XTENSOR_TAKE_FROM}/${file})
    message(FATAL_ERROR "${XTENSOR_TAKE_FROM} has no ${file}: XTENSOR_TAKE_FROM wants a finished build")
  endif()
  add_library(${target} ${kind} IMPORTED GLOBAL)
  set_target_properties(${target} PROPERTIES IMPORTED_LOCATION ${XTENSOR_TAKE_FROM}/${file})
endfunction()

xtensor_take(xtensor_runtime SHARED lib/libxtensor_runtime.so)
target_include_directories(xtensor_runtime INTERFACE ${PROJECT_SOURCE_DIR}/runtime)
xtensor_take(xtensor_bundle STATIC bundle/libxtensor_bundle.a)
target_include_directories(xtensor_bundle INTERFACE ${PROJECT_SOURCE_DIR}/bundle)
target_link_libraries(xtensor_bundle INTERFACE ZLIB::ZLIB)
xtensor_take(XTensorPythonCAPI SHARED python_packages/xtensor/mlir/_mlir_libs/libXTensorPythonCAPI.so)
