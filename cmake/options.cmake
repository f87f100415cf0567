# Build options and warning flags.
option(TWANG_TESTS "build the tests" ON)
option(TWANG_BENCH "build the benchmarks" ON)
option(TWANG_NATIVE "tune for the processor of this machine" ON)

if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release)
endif()

add_library(twang_flags INTERFACE)
target_compile_options(twang_flags INTERFACE
  -Wall -Wextra -Wshadow -Wpointer-arith -Wvla
  $<$<COMPILE_LANGUAGE:C>:-Wstrict-prototypes -Wmissing-prototypes>
  -fno-math-errno)
if(TWANG_NATIVE)
  target_compile_options(twang_flags INTERFACE -march=native)
endif()
