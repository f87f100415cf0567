# twang::link_libraries: what a program with libtwang.a must link besides. Used by the build and, installed, by
# find_package(twang COMPONENTS static), so that no path of the building machine is written into the package.
if(NOT TARGET twang::link_libraries)
  add_library(twang::link_libraries INTERFACE IMPORTED)
  foreach(name cholmod suitesparseconfig lapacke openblas)
    find_library(TWANG_${name}_LIBRARY ${name} REQUIRED)
    mark_as_advanced(TWANG_${name}_LIBRARY)
    target_link_libraries(twang::link_libraries INTERFACE ${TWANG_${name}_LIBRARY})
  endforeach()
  target_link_libraries(twang::link_libraries INTERFACE m)
endif()
