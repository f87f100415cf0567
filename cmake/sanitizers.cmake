# Builds under ASan+UBSan (any compiler) or TSan (clang: only its OpenMP runtime tells TSan about barriers, by libarcher).
set(twang_test_environment)
if(TWANG_SANITIZE)
  add_compile_options(-fsanitize=${TWANG_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${TWANG_SANITIZE})
endif()
# A test case may take four seconds times this: enough for a loaded machine, and for checked builds on one. Checked
# builds take a sample of the generated phi-cases and of the dear contacts, release builds all of them.
if(CMAKE_BUILD_TYPE STREQUAL "Release")
  list(APPEND twang_test_environment CK_TIMEOUT_MULTIPLIER=20)
else()
  list(APPEND twang_test_environment CK_TIMEOUT_MULTIPLIER=100 TWANG_PHI_CASES=150 TWANG_SAMPLE=1)
endif()

if(TWANG_SANITIZE MATCHES "thread")
  if(NOT CMAKE_C_COMPILER_ID STREQUAL "Clang")
    message(FATAL_ERROR "TWANG_SANITIZE=thread needs clang: gcc's OpenMP runtime looks like a race to TSan")
  endif()
  file(REAL_PATH ${CMAKE_C_COMPILER} clang)
  cmake_path(GET clang PARENT_PATH clang_directory)
  find_library(ARCHER_LIBRARY archer HINTS ${clang_directory}/../lib)
  mark_as_advanced(ARCHER_LIBRARY)
  if(NOT ARCHER_LIBRARY)
    message(FATAL_ERROR "TWANG_SANITIZE=thread needs libarcher.so (Debian: libomp-dev)")
  endif()
  # OpenBLAS and CHOLMOD are not instrumented: without the second option their own locks are invisible and all they do
  # looks racy.
  list(APPEND twang_test_environment OMP_TOOL_LIBRARIES=${ARCHER_LIBRARY} TSAN_OPTIONS=ignore_noninstrumented_modules=1)
endif()
