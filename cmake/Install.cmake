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
install(DIRECTORY kernels/oracle kernels/gradients kernels/rows DESTINATION ${home}/kernels)
install(DIRECTORY harness/executor/device DESTINATION ${home}/harness/executor)
install(DIRECTORY harness/implement/python DESTINATION ${home}/harness/implement FILES_MATCHING PATTERN "*.py")
install(DIRECTORY harness/exchange harness/mcp DESTINATION ${home}/harness FILES_MATCHING PATTERN "*.py" PATTERN "*.hpp")
install(FILES harness/core/techniques/techniques.json DESTINATION ${home}/harness/core/techniques)
install(DIRECTORY examples/agent DESTINATION ${home}/examples)
install(FILES experiments/default.json DESTINATION ${home}/experiments)
install(FILES README.md CHANGELOG.md SECURITY.md LICENSE DESTINATION ${CMAKE_INSTALL_DATAROOTDIR}/doc/autopoiesis)
install(DIRECTORY docs examples DESTINATION ${CMAKE_INSTALL_DATAROOTDIR}/doc/autopoiesis PATTERN "__pycache__" EXCLUDE)

set(package ${CMAKE_INSTALL_LIBDIR}/cmake/Autopoiesis)
configure_package_config_file(cmake/AutopoiesisConfig.cmake.in ${PROJECT_BINARY_DIR}/AutopoiesisConfig.cmake
                              INSTALL_DESTINATION ${package})
# Before version 1.0 a new minor version may break its users.
write_basic_package_version_file(${PROJECT_BINARY_DIR}/AutopoiesisConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/AutopoiesisConfig.cmake ${PROJECT_BINARY_DIR}/AutopoiesisConfigVersion.cmake
        DESTINATION ${package})
install(EXPORT AutopoiesisTargets NAMESPACE Autopoiesis:: DESTINATION ${package})

# `cmake --workflow --preset package` writes a .deb and a relocatable .tar.gz to build/packages. The .deb depends on what
# ./apo installs, but for what only builds the program, and on the libraries as dpkg-shlibdeps finds them.
file(STRINGS cmake/setup.sh packages REGEX "^APO_PACKAGES=")
string(REGEX REPLACE "APO_PACKAGES=|\"|cmake |ninja-build |libcli11-dev " "" packages "${packages}")
string(REPLACE " " ", " CPACK_DEBIAN_PACKAGE_DEPENDS "${packages}")
find_program(dpkg_shlibdeps dpkg-shlibdeps)
if(dpkg_shlibdeps)
  set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
endif()
set(CPACK_GENERATOR DEB TGZ)
set(CPACK_PACKAGE_NAME autopoiesis)
set(CPACK_PACKAGE_CONTACT "The Autopoiesis authors")
set(CPACK_RESOURCE_FILE_LICENSE ${PROJECT_SOURCE_DIR}/LICENSE)
set(CPACK_PACKAGE_DIRECTORY ${PROJECT_SOURCE_DIR}/build/packages)
set(CPACK_THREADS 0)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION devel)
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "cuda-toolkit-13 | cuda-toolkit-12 | nvidia-cuda-toolkit, python3-torch")
include(CPack)
