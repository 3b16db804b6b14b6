# What `cmake --install` lays down besides the targets: headers, data, a CMake package and pkg-config files.
include(CMakePackageConfigHelpers)
install(DIRECTORY compiler/include/heptane DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(DIRECTORY runtime/include/heptane DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} OPTIONAL)
install(DIRECTORY templates schemes DESTINATION ${CMAKE_INSTALL_DATADIR}/heptane)
