# What `cmake --install` lays down: command, libraries, headers, data, a CMake package (find_package(heptane)) and two
# pkg-config files: heptane (the compiler) and heptane_rt (the runtime alone).
include(CMakePackageConfigHelpers)
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/heptane)

install(TARGETS heptane_command)
install(TARGETS heptane heptane_core heptane_rt heptane_flint EXPORT heptane)
install(EXPORT heptane NAMESPACE heptane:: DESTINATION ${package_dir})
configure_package_config_file(cmake/heptane-config.cmake.in ${PROJECT_BINARY_DIR}/heptane-config.cmake
  INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/heptane-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/heptane-config.cmake ${PROJECT_BINARY_DIR}/heptane-config-version.cmake
  DESTINATION ${package_dir})

# relative, so that `cmake --install --prefix` and moved trees work
file(RELATIVE_PATH pkgconfig_to_prefix /p/${CMAKE_INSTALL_LIBDIR}/pkgconfig /p)
foreach(library heptane heptane_rt)
  configure_file(cmake/${library}.pc.in ${PROJECT_BINARY_DIR}/${library}.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/${library}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endforeach()

install(DIRECTORY compiler/include/heptane runtime/include/heptane DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(DIRECTORY templates schemes DESTINATION ${CMAKE_INSTALL_DATADIR}/heptane)
