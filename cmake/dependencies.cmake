# The parts we build on: all in Debian 12 (tools/install_packages gets them).
find_package(PkgConfig REQUIRED)
find_package(OpenMP REQUIRED COMPONENTS C)
pkg_check_modules(OPENBLAS REQUIRED IMPORTED_TARGET openblas)
find_library(LAPACKE_LIBRARY lapacke REQUIRED)
find_path(CHOLMOD_INCLUDE cholmod.h PATH_SUFFIXES suitesparse REQUIRED)
find_library(CHOLMOD_LIBRARY cholmod REQUIRED)
find_library(SUITESPARSECONFIG_LIBRARY suitesparseconfig REQUIRED)
