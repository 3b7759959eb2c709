# XTENSOR_VERSION: setuptools-scm derives it from git's tags, as pyproject.toml says. pip asks before
# it calls CMake, and hands the answer on.
if(SKBUILD_PROJECT_VERSION_FULL)
  set(XTENSOR_VERSION ${SKBUILD_PROJECT_VERSION_FULL})
else()
  find_package(Python3 COMPONENTS Interpreter REQUIRED)
  execute_process(COMMAND ${Python3_EXECUTABLE} -m setuptools_scm
    WORKING_DIRECTORY ${PROJECT_SOURCE_DIR}
    OUTPUT_VARIABLE XTENSOR_VERSION OUTPUT_STRIP_TRAILING_WHITESPACE
    ERROR_VARIABLE said RESULT_VARIABLE failed)
  if(failed)
    message(WARNING "No version (pip install setuptools-scm): ${said}")
    set(XTENSOR_VERSION "0+unknown")
  endif()
endif()
