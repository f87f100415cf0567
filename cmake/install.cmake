# Headers, both libraries, the CMake package `twang` and `twang.pc`.
include(CMakePackageConfigHelpers)
set(package_directory ${CMAKE_INSTALL_LIBDIR}/cmake/twang)
set(package_build ${PROJECT_BINARY_DIR}/package)

install(DIRECTORY include/twang DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.h")
foreach(kind shared static)
  install(TARGETS twang_${kind} EXPORT twang-${kind}-targets DESTINATION ${CMAKE_INSTALL_LIBDIR})
  install(EXPORT twang-${kind}-targets NAMESPACE twang:: DESTINATION ${package_directory})
endforeach()

configure_package_config_file(cmake/twang-config.cmake.in ${package_build}/twang-config.cmake
                              INSTALL_DESTINATION ${package_directory})
write_basic_package_version_file(${package_build}/twang-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${package_build}/twang-config.cmake ${package_build}/twang-config-version.cmake
              cmake/link_libraries.cmake DESTINATION ${package_directory})

# The prefix is written relative to the file, so that an installed tree can be moved.
file(RELATIVE_PATH pc_to_prefix /prefix/${CMAKE_INSTALL_LIBDIR}/pkgconfig /prefix)
string(REGEX REPLACE "/$" "" pc_to_prefix "${pc_to_prefix}")
configure_file(cmake/twang.pc.in ${package_build}/twang.pc @ONLY)
install(FILES ${package_build}/twang.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
install(FILES LICENSE NOTICE DESTINATION ${CMAKE_INSTALL_DOCDIR})
