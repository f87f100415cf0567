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
option(TWANG_HARDEN "stack protector, FORTIFY and full RELRO in release builds" ON)
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

# Release builds read files of others, and are hardened: overflows of arrays on the stack and of calls of the C
# library end the program, and the tables of the linker cannot be written. Sanitizers do more, and do not go with FORTIFY.
if(TWANG_HARDEN AND CMAKE_BUILD_TYPE STREQUAL "Release" AND NOT TWANG_SANITIZE)
  set(fortify 2)
  if(CMAKE_C_COMPILER_ID STREQUAL "GNU" AND CMAKE_C_COMPILER_VERSION VERSION_GREATER_EQUAL 12)
    set(fortify 3)
  endif()
  target_compile_options(twang_flags INTERFACE -fstack-protector-strong -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=${fortify})
  set(twang_hardened_link LINKER:-z,relro,-z,now)
  target_link_options(twang_flags INTERFACE ${twang_hardened_link})
endif()
