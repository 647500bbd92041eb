# What `cmake --install` takes along beside the targets, which moe_install names:
#
#   include/moe           headers, those made by TableGen, and the .td files
#   lib/cmake/MoE         find_package(MoE)
#   share/doc/moe         the licence
include(CMakePackageConfigHelpers)

install(DIRECTORY ${CMAKE_SOURCE_DIR}/include/moe
        DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
        FILES_MATCHING PATTERN "*.h")
install(DIRECTORY ${CMAKE_BINARY_DIR}/include/moe
        DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
        FILES_MATCHING PATTERN "*.inc" PATTERN CMakeFiles EXCLUDE)
foreach(dialect MoE CTA)
  install(DIRECTORY ${CMAKE_SOURCE_DIR}/dialect/${dialect}
          DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/moe
          FILES_MATCHING PATTERN "*.td")
endforeach()
install(FILES ${CMAKE_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/MoE)
get_property(MOE_LIBRARIES GLOBAL PROPERTY MOE_LIBRARIES)
list(TRANSFORM MOE_LIBRARIES PREPEND MoE::)
configure_package_config_file(${CMAKE_SOURCE_DIR}/cmake/MoEConfig.cmake.in
  ${CMAKE_BINARY_DIR}/cmake/MoEConfig.cmake
  INSTALL_DESTINATION ${package_dir}
  PATH_VARS CMAKE_INSTALL_INCLUDEDIR)
# Until 1.0 a minor version may change anything.
write_basic_package_version_file(
  ${CMAKE_BINARY_DIR}/cmake/MoEConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/cmake/MoEConfig.cmake
              ${CMAKE_BINARY_DIR}/cmake/MoEConfigVersion.cmake
        DESTINATION ${package_dir})
install(EXPORT MoETargets NAMESPACE MoE:: DESTINATION ${package_dir})

# Everything that is installed, built.
get_property(installed GLOBAL PROPERTY MOE_INSTALLED)
add_custom_target(moe-installed)
add_dependencies(moe-installed ${installed})
