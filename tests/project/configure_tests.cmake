# The program configures without the tests' packages.
add_test(NAME Configure.WithoutTheTestsPackages
         COMMAND ${CMAKE_COMMAND} --fresh -S ${PROJECT_SOURCE_DIR} -B ${PROJECT_BINARY_DIR}/configure -G ${CMAKE_GENERATOR}
                 -DCMAKE_CXX_COMPILER=${CMAKE_CXX_COMPILER} -DCMAKE_DISABLE_FIND_PACKAGE_GTest=ON)
set_tests_properties(Configure.WithoutTheTestsPackages PROPERTIES TIMEOUT 7200)
