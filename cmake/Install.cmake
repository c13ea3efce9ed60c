# What `cmake --install` puts where, and the package that find_package(Autopoiesis) finds.

include(CMakePackageConfigHelpers)

set(layers kernels core executor worker runtime implement families evaluate profile research journal reports loop)
foreach(layer ${layers})
  if(TARGET apo_${layer})
    set_target_properties(apo_${layer} PROPERTIES EXPORT_NAME ${layer})
    install(TARGETS apo_${layer} EXPORT AutopoiesisTargets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
  endif()
endforeach()

# The headers keep their paths, so that #include "kernels/family.h" means the same everywhere.
foreach(folder harness kernels journal reports)
  install(DIRECTORY ${folder} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/autopoiesis FILES_MATCHING PATTERN "*.h"
          PATTERN "cli" EXCLUDE PATTERN "harness/applications" EXCLUDE PATTERN "harness/exchange" EXCLUDE PATTERN "harness/fleet" EXCLUDE
          PATTERN "mcp" EXCLUDE)
endforeach()

# What the program reads while it runs; home_folder() of harness/core/system/files.h finds it.
set(home ${CMAKE_INSTALL_DATAROOTDIR}/autopoiesis)
install(DIRECTORY variants DESTINATION ${home})
file(GLOB contracts ${PROJECT_SOURCE_DIR}/kernels/*.h)
install(FILES ${contracts} DESTINATION ${home}/kernels)
install(DIRECTORY kernels/oracle kernels/gradients DESTINATION ${home}/kernels)
install(DIRECTORY harness/executor/device DESTINATION ${home}/harness/executor)
install(FILES harness/implement/compile_triton.py DESTINATION ${home}/harness/implement)
install(DIRECTORY harness/exchange harness/mcp DESTINATION ${home}/harness FILES_MATCHING PATTERN "*.py" PATTERN "*.hpp")
install(FILES harness/core/techniques/techniques.json DESTINATION ${home}/harness/core/techniques)
install(DIRECTORY examples/agent DESTINATION ${home}/examples)
install(FILES experiments/default.json DESTINATION ${home}/experiments)

set(package ${CMAKE_INSTALL_LIBDIR}/cmake/Autopoiesis)
configure_package_config_file(cmake/AutopoiesisConfig.cmake.in ${PROJECT_BINARY_DIR}/AutopoiesisConfig.cmake
                              INSTALL_DESTINATION ${package})
# Before version 1.0 a new minor version may break its users.
write_basic_package_version_file(${PROJECT_BINARY_DIR}/AutopoiesisConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/AutopoiesisConfig.cmake ${PROJECT_BINARY_DIR}/AutopoiesisConfigVersion.cmake
        DESTINATION ${package})
install(EXPORT AutopoiesisTargets NAMESPACE Autopoiesis:: DESTINATION ${package})
