# Found, never vendored. Debian 12: libgmp-dev libflint-dev liblua5.4-dev libjansson-dev libzip-dev zlib1g-dev libmd-dev
# libcmocka-dev. CUDA is not here: libnvrtc and libcuda are opened at run time, without their headers.
find_package(PkgConfig REQUIRED)
foreach(pair "GMP gmp" "LUA lua5.4" "JANSSON jansson" "ZIP libzip" "ZLIB zlib" "MD libmd")
  separate_arguments(pair)
  list(GET pair 0 name)
  list(GET pair 1 module)
  pkg_check_modules(${name} REQUIRED IMPORTED_TARGET ${module})
endforeach()
# FLINT 2.9, 3.0.1 and 3.6.0 pass the tests. 2.9 has no pkg-config file and 3.x's CMake package is for Windows only
find_library(FLINT_LIBRARY flint REQUIRED)
find_path(FLINT_INCLUDE_DIR flint/fmpq_poly.h REQUIRED)
add_library(heptane_flint INTERFACE)
target_include_directories(heptane_flint SYSTEM INTERFACE ${FLINT_INCLUDE_DIR})
target_link_libraries(heptane_flint INTERFACE ${FLINT_LIBRARY} PkgConfig::GMP)
