# libtwang, static and shared, from one set of objects.
file(GLOB twang_sources CONFIGURE_DEPENDS src/*/*.c src/*/*/*.c)

add_library(twang_objects OBJECT ${twang_sources})
set_target_properties(twang_objects PROPERTIES POSITION_INDEPENDENT_CODE ON)
target_include_directories(twang_objects PUBLIC include src PRIVATE ${CHOLMOD_INCLUDE})
target_link_libraries(twang_objects PUBLIC OpenMP::OpenMP_C PRIVATE twang_flags PkgConfig::OPENBLAS)
target_compile_definitions(twang_objects PRIVATE $<$<BOOL:${TWANG_GPL}>:TWANG_GPL>
                           $<$<BOOL:${TWANG_WITH_CVODE}>:TW_WITH_CVODE>)

# Before 1.0 every minor version may break the binary interface, so the minor number is part of the soname.
if(PROJECT_VERSION_MAJOR EQUAL 0)
  set(twang_soversion 0.${PROJECT_VERSION_MINOR})
else()
  set(twang_soversion ${PROJECT_VERSION_MAJOR})
endif()

foreach(kind STATIC SHARED)
  string(TOLOWER ${kind} name)
  add_library(twang_${name} ${kind} $<TARGET_OBJECTS:twang_objects>)
  target_include_directories(twang_${name} PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
                                                  $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  set_target_properties(twang_${name} PROPERTIES OUTPUT_NAME twang EXPORT_NAME ${name}
                        VERSION ${PROJECT_VERSION} SOVERSION ${twang_soversion})
endforeach()
target_link_libraries(twang_shared PRIVATE twang::link_libraries OpenMP::OpenMP_C)
# Workers of parallel loops run in the library for as long as their thread lives: dlclose must not unmap it.
target_link_options(twang_shared PRIVATE LINKER:-z,nodelete)
target_link_libraries(twang_static PRIVATE twang::link_libraries $<BUILD_INTERFACE:OpenMP::OpenMP_C>)
target_link_options(twang_static INTERFACE $<INSTALL_INTERFACE:${OpenMP_C_FLAGS}>)
if(NOT TWANG_SANITIZE)
  target_link_options(twang_shared PRIVATE LINKER:--no-undefined ${twang_hardened_link})
endif()
add_library(twang::twang ALIAS twang_shared)
add_library(twang::static ALIAS twang_static)

# Tests and benchmarks may look inside the library's rooms.
add_library(twang_objects_headers INTERFACE)
target_include_directories(twang_objects_headers INTERFACE ${PROJECT_SOURCE_DIR}/src ${CHOLMOD_INCLUDE})
target_compile_definitions(twang_objects_headers INTERFACE $<$<BOOL:${TWANG_GPL}>:TWANG_GPL>)
