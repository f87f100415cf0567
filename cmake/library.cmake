# libtwang, static and shared, from one set of objects.
file(GLOB twang_sources CONFIGURE_DEPENDS src/*/*.c)

add_library(twang_objects OBJECT ${twang_sources})
set_target_properties(twang_objects PROPERTIES POSITION_INDEPENDENT_CODE ON)
target_include_directories(twang_objects PUBLIC include src PRIVATE ${CHOLMOD_INCLUDE})
target_link_libraries(twang_objects PUBLIC OpenMP::OpenMP_C PRIVATE twang_flags PkgConfig::OPENBLAS)

set(twang_private_libraries ${CHOLMOD_LIBRARY} ${SUITESPARSECONFIG_LIBRARY} ${LAPACKE_LIBRARY} PkgConfig::OPENBLAS m)

foreach(kind STATIC SHARED)
  string(TOLOWER twang_${kind} target)
  add_library(${target} ${kind} $<TARGET_OBJECTS:twang_objects>)
  target_include_directories(${target} PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
                                              $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  target_link_libraries(${target} PRIVATE ${twang_private_libraries} OpenMP::OpenMP_C)
  set_target_properties(${target} PROPERTIES OUTPUT_NAME twang VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR})
endforeach()

# Tests and benchmarks may look inside the library's rooms.
add_library(twang_objects_headers INTERFACE)
target_include_directories(twang_objects_headers INTERFACE ${PROJECT_SOURCE_DIR}/src)
