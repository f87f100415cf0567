# Build options and warning flags.
include(CMakeDependentOption)
#
# TWANG_NATIVE is on because a build from source is for the machine it is built on: the sparse kernels gain from its
# vector width. Whoever ships binaries turns it off and gets code for the compiler's baseline, which runs everywhere and
# loses little, since the large kernels wait for memory and OpenBLAS picks its own by processor. The sanitizer and
# coverage presets are portable builds, so that both kinds are tested.
option(TWANG_NATIVE "tune for the processor of this machine" ON)
option(TWANG_GPL "call CHOLMOD's supernodal module, which is GPL (see NOTICE); OFF factorises simplicially" ON)
option(TWANG_CVODE "build the rival integrator cvode where SUNDIALS is found" ON)
option(TWANG_TESTS "build the tests and the problems shared with the benchmarks" ${PROJECT_IS_TOP_LEVEL})
cmake_dependent_option(TWANG_BENCH "build the benchmarks" ${PROJECT_IS_TOP_LEVEL} TWANG_TESTS OFF)
option(TWANG_EXAMPLES "build the examples" ${PROJECT_IS_TOP_LEVEL})
option(TWANG_FUZZ "build the fuzz targets (preset fuzz)" OFF)
option(TWANG_WERROR "make every warning an error" OFF)
set(TWANG_SANITIZE "" CACHE STRING "sanitizers to build with: address,undefined or thread; empty for none")

if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release)
endif()

# twang_flags is for everything compiled here and is never installed.
add_library(twang_flags INTERFACE)
target_compile_options(twang_flags INTERFACE
  -Wall -Wextra -Wshadow -Wpointer-arith -Wvla
  $<$<COMPILE_LANGUAGE:C>:-Wstrict-prototypes -Wmissing-prototypes>
  $<$<BOOL:${TWANG_WERROR}>:-Werror>
  $<$<BOOL:${TWANG_NATIVE}>:-march=native>
  -fno-math-errno)
